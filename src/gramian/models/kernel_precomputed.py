"""Kernel PCA of a kernel matrix that is given instead of rows."""

import numpy as np

from gramian.arrays.namespace import HostArray, to_host
from gramian.arrays.precision import FLOAT64, eps_of
from gramian.errors import InputError
from gramian.kernels.kernel import Kernel
from gramian.models.kernel_projection import KernelCentering
from gramian.models.kernel_solving import Solved, Wish, solve_matrix
from gramian.operators.kernel_centering import center_again
from gramian.sources.finiteness import require_finite
from gramian.sources.rows import RowSource, require_local

ASYMMETRY = 1e-8
"""Largest difference of two mirrored entries, as a share of the largest entry, that counts as rounding."""


def solve_precomputed(source: RowSource, kernel: Kernel, wish: Wish) -> Solved:
    """Find the leading eigenpairs of a given kernel matrix, centered and weighted here.

    Cost: a copy of the matrix, and that of a dense or iterative solve on it.

    Raises
    ------
    InputError
        Where the matrix is not square, not finite, or not symmetric once it is centered.
    """
    if source.n_rows != source.n_columns:
        message = (
            f"A precomputed kernel is a square matrix, k(x_i, x_j) for all pairs of rows, and this one is "
            f"{source.n_rows:,} x {source.n_columns:,}."
        )
        raise InputError(message)
    require_local(source, "A precomputed kernel")
    require_finite(source)
    matrix = np.vstack([to_host(source.block(i).rows) for i in range(source.n_blocks)]).astype(FLOAT64)
    weights = None if source.weights is None else to_host(source.weights).astype(FLOAT64)
    centering, lost = _centering_of(matrix, weights, centered=wish.center), 0.0
    symmetric = np.array_equal(matrix, matrix.T)
    if wish.center:
        # Entries close to their means are subtracted without error: what is left is rounded, and the means were.
        lost = len(matrix) * eps_of(FLOAT64) * float(np.abs(matrix - centering.row_means).max(initial=0.0))
        matrix = centering.rows(matrix)
        center_again(matrix, centering.mean_weights())
    if not symmetric:
        _require_symmetric(matrix)
    matrix = (matrix + matrix.T) / 2
    if weights is not None:
        matrix *= np.sqrt(np.outer(weights, weights))
        lost *= float(weights.max(initial=0.0))
    return solve_matrix(matrix, centering, kernel, wish, lost=lost)


def _centering_of(matrix: HostArray, weights: HostArray | None, *, centered: bool) -> KernelCentering:
    shares = np.full(len(matrix), 1.0 / len(matrix)) if weights is None else weights / weights.sum()
    if not centered:
        return KernelCentering(np.zeros(len(matrix)), 0.0, shares, centered=False)
    means = shares @ matrix
    return KernelCentering(means, float(means @ shares), shares, centered=True)


def _require_symmetric(matrix: HostArray) -> None:
    difference = np.abs(matrix - matrix.T)
    if float(difference.max(initial=0.0)) <= ASYMMETRY * float(np.abs(matrix).max(initial=0.0)):
        return
    i, j = (int(index) for index in np.unravel_index(int(np.argmax(difference)), matrix.shape))
    message = (
        f"The precomputed kernel is not symmetric, also after centering: entries ({i}, {j}) and ({j}, {i}) are then "
        f"{matrix[i, j]:.6g} and {matrix[j, i]:.6g}. Pass (K + K.T) / 2 if the difference is rounding."
    )
    raise InputError(message)
