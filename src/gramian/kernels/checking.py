"""Is a function a kernel? What it gives on sampled points, and what that proves."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.arrays.namespace import Array, HostArray, to_host
from gramian.arrays.precision import FLOAT64, eps_of
from gramian.errors import InputError
from gramian.kernels.blocks import as_block, column_means, named_rows
from gramian.kernels.centering import center_kernel
from gramian.kernels.kernel import Kernel
from gramian.kernels.named import as_kernel
from gramian.kernels.widths import drawn_indices, facts_of


@dataclass(frozen=True)
class KernelCheck:
    """What was found when a kernel was evaluated on sampled points.

    Symmetry and eigenvalues on a sample can disprove a kernel, and never prove it for all points.

    Attributes
    ----------
    kernel : Kernel
        With its parameters resolved.
    n_points : int
    symmetric : bool
        Whether k(x, y) = k(y, x), to rounding.
    asymmetry : float
        Largest |k(x, y) - k(y, x)|, and ``worst_pair``, the rows (of the points given) where it is.
    worst_pair : tuple of two ints
    positive_semidefinite : bool
        Whether it is symmetric and no eigenvalue is below ``-tolerance``.
    smallest_eigenvalue, largest_eigenvalue : float
        Of the matrix on the sample; where that is not symmetric, of (K + K')/2, which is another function's.
    smallest_centered : float
        Smallest eigenvalue of H K H. Kernel PCA needs only this one not to be negative.
    block_independent : bool
        Whether a pair has the same value whatever other rows are in its block.
    block_difference : float
        Largest difference between two such values.
    tolerance : float
        What counts as rounding in an eigenvalue.
    """

    kernel: Kernel
    n_points: int
    symmetric: bool
    asymmetry: float
    worst_pair: tuple[int, int]
    positive_semidefinite: bool
    smallest_eigenvalue: float
    largest_eigenvalue: float
    smallest_centered: float
    block_independent: bool
    block_difference: float
    tolerance: float

    @property
    def passed(self) -> bool:
        """Whether nothing speaks against the kernel."""
        return self.symmetric and self.positive_semidefinite and self.block_independent

    def __str__(self) -> str:
        lines = [f"{self.kernel!r} on {self.n_points} points:", self._about_symmetry()]
        if self.symmetric:
            lines.append(self._about_eigenvalues())
        if not self.block_independent:
            lines.append(
                f"  depends on the block: a pair differs by {self.block_difference:.3g} when other rows stand beside "
                "it. Each value must depend on its own two rows only."
            )
        return "\n".join(lines)

    def _about_symmetry(self) -> str:
        if self.symmetric:
            return "  symmetric"
        i, j = self.worst_pair
        return f"  not symmetric: k(x, y) and k(y, x) differ by {self.asymmetry:.3g} for rows {i} and {j}"

    def _about_eigenvalues(self) -> str:
        smallest, largest = f"{self.smallest_eigenvalue:.3g}", f"{self.largest_eigenvalue:.3g}"
        if self.positive_semidefinite:
            return f"  positive semidefinite on these points: eigenvalues from {smallest} to {largest}"
        line = f"  not positive semidefinite: it has an eigenvalue of {smallest} beside a largest of {largest}"
        if self.smallest_centered >= -self.tolerance:
            return f"{line}; centered, as kernel PCA uses it, it has none below zero"
        return f"{line}. Check its parameters, or choose another kernel"


def check_kernel(
    kernel: str | Kernel | Callable[..., Any], X: Any, *, n_points: int = 200, seed: int = 0, rtol: float = 1e-10
) -> KernelCheck:
    """Tell whether a kernel is symmetric and positive semidefinite on sampled points.

    Computes K on the sample, whole and in pieces, max |K - K'|, and the eigenvalues of (K + K')/2 and of its centered
    form. Cost: 1.25 n_points^2 evaluations and the eigenvalues of two matrices of that size.

    Passing is no proof for all points; failing is one against the kernel.

    Parameters
    ----------
    kernel : str, Kernel or callable
        As :func:`~gramian.kernels.named.as_kernel` takes it; a bare function is one of two points. For a precomputed
        kernel X is the matrix.
    X : (n, d) array or CSR matrix
        Points of the kind the kernel is meant for.
    n_points : int, default=200
        How many of them to draw; all when there are fewer.
    seed : int, default=0
    rtol : float, default=1e-10
        What counts as rounding, relative to the largest entry or eigenvalue. For a function that computes in float32
        pass 1e-5.

    Returns
    -------
    KernelCheck

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).standard_normal((50, 2))
    >>> check_kernel("rbf", X).passed
    True
    >>> def distance(x, y):
    ...     return np.linalg.norm(x - y)
    >>> check = check_kernel(distance, X)
    >>> check.symmetric, check.positive_semidefinite, check.smallest_eigenvalue < -1
    (True, False, True)
    """
    kernel = as_kernel(kernel)
    block = as_block(X, kernel=kernel)
    rows = drawn_indices(block.shape[0], n_points, seed=seed)
    if len(rows) == 0:
        message = f"A kernel is checked on points: X has {block.shape[0]} rows and n_points={n_points}."
        raise InputError(message)
    if kernel.is_precomputed:
        _require_square(block)
        return _judged(kernel, to_host(block)[np.ix_(rows, rows)], rows, 0.0, rtol)
    kernel = kernel.resolved(facts_of(block, seed=seed))
    with named_rows(rows, rows):
        K, difference = _evaluated(kernel, block[rows], column_means(block))
    return _judged(kernel, K, rows, difference, rtol)


def _evaluated(kernel: Kernel, points: Array, origin: Array | None) -> tuple[HostArray, float]:
    """Return K on the points, and how much it changes when a piece of it is evaluated from smaller blocks."""

    def matrix(left: Array, right: Array) -> HostArray:
        # Prepared apart, so that no kernel knows the two sides for the same block and evaluates only half.
        sides = [kernel.prepare(side, dtype=FLOAT64, origin=origin) for side in (left, right)]
        return to_host(kernel.evaluate(*sides))

    K, half = matrix(points, points), points.shape[0] // 2
    piece = matrix(points[:half], points[half:]) if half else np.zeros((0, 1))
    return K, float(np.abs(piece - K[:half, half:]).max(initial=0.0))


def _judged(kernel: Kernel, K: HostArray, rows: HostArray, difference: float, rtol: float) -> KernelCheck:
    gaps = np.abs(K - K.T)
    i, j = np.unravel_index(int(np.argmax(gaps)), gaps.shape)
    even = (K + K.T) / 2.0
    values = np.linalg.eigvalsh(even)
    size, entry = float(np.abs(values).max()), float(np.abs(K).max())
    symmetric = bool(gaps[i, j] <= rtol * entry)
    tolerance = max(rtol, 10 * len(K) * eps_of(FLOAT64)) * size
    return KernelCheck(
        kernel=kernel,
        n_points=len(K),
        symmetric=symmetric,
        asymmetry=float(gaps[i, j]),
        worst_pair=(int(rows[min(i, j)]), int(rows[max(i, j)])),
        positive_semidefinite=symmetric and bool(values[0] >= -tolerance),
        smallest_eigenvalue=float(values[0]),
        largest_eigenvalue=float(values[-1]),
        smallest_centered=float(np.linalg.eigvalsh(center_kernel(even))[0]),
        block_independent=difference <= rtol * entry,
        block_difference=difference,
        tolerance=tolerance,
    )


def _require_square(matrix: Array) -> None:
    if matrix.shape[0] != matrix.shape[1]:
        message = f"A precomputed kernel matrix is square, and X has shape {tuple(matrix.shape)}."
        raise InputError(message)
