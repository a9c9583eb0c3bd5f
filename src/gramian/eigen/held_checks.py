"""Checks of eigenpairs against a matrix that is held: their residuals, and whether any eigenvalue was passed over."""

import numpy as np
from scipy.linalg import blas, lapack

from gramian.arrays.namespace import Array, HostArray, to_host
from gramian.arrays.precision import FLOAT64, eps_of
from gramian.arrays.squares import completed

EXACT_RESIDUALS = 256
"""Pairs up to which each residual is computed; beyond, all share one bound measured with random probes."""


def measured_residuals(matrix: HostArray, values: HostArray, vectors: HostArray, *, seed: int) -> HostArray:
    """Return |A v - lambda v| for every pair.

    For many pairs E = A V - V diag(lambda) is measured on Gaussian vectors w: |E w|^2 averages |E|_F^2, which bounds
    every column; eight probes are short of it by more than a factor of four with probability below 1e-7.
    """
    k = len(values)
    if k <= EXACT_RESIDUALS:
        difference = _product(matrix, vectors)
        difference -= vectors * values
        difference *= difference
        return np.asarray(np.sqrt(difference.sum(axis=0)))
    probes = np.random.default_rng(seed).standard_normal((k, 8))
    difference = matrix @ (vectors @ probes) - vectors @ (values[:, None] * probes)
    return np.full(k, 4 * np.linalg.norm(difference) / np.sqrt(8))


def _product(matrix: HostArray, vectors: HostArray) -> HostArray:
    """Return their product by SciPy's BLAS, whose threads factorize next: those of NumPy's would spin beside them."""
    if matrix.dtype != FLOAT64 or not matrix.flags.c_contiguous:
        return np.asarray(matrix @ vectors)
    return np.asarray(blas.dgemm(1.0, matrix.T, vectors, trans_a=1))


def none_above(matrix: Array, values: HostArray, vectors: Array, level: float, *, in_place: bool = False) -> bool:
    """Tell whether the matrix without the given pairs has no eigenvalue above ``level``.

    Computes a Cholesky factorization of  level I - (A - V diag(lambda) V'), which exists when every eigenvalue of the
    deflated matrix lies below ``level``, but for :func:`check_rounding`, and breaks down when one lies above
    (Sylvester's law of inertia). A has then no more eigenvalues above it than there are pairs, whatever these are worth
    (Weyl: taking off k pairs lowers eigenvalue k + 1 to no less than the first of the rest).

    Cost: m^3 / 3 + m^2 k operations and one more m x m matrix; with ``in_place`` none: the lower triangle of the matrix
    is worked in, and filled again from the upper one.

    Examples
    --------
    >>> import numpy as np
    >>> A, e = np.diag([3.0, 2.0, 1.0]), np.eye(3)
    >>> none_above(A, np.array([3.0]), e[:, :1], 2.5), none_above(A, np.array([2.0]), e[:, 1:2], 2.5)
    (True, False)
    """
    held = to_host(matrix)
    # LAPACK wants columns one after the other; the transpose of a symmetric matrix is the matrix.
    columns = held.T if held.flags.c_contiguous else held
    if not (in_place and columns.flags.f_contiguous and columns.dtype == FLOAT64):
        return _is_below(np.array(columns, dtype=FLOAT64, order="F"), values, to_host(vectors), level)
    diagonal = columns.diagonal().copy()
    try:
        return _is_below(columns, values, to_host(vectors), level)
    finally:
        completed(columns.T)
        _diagonal(columns)[...] = diagonal


def check_rounding(trace: float, values: HostArray, level: float, size: int) -> float:
    """Return by how much an eigenvalue may exceed the level that :func:`none_above` finds none above.

    A Cholesky factorization that runs to its end proves that the matrix B it was given has no eigenvalue under
    -(m + 1) eps/2 trace(B),  in whatever order it sums (Rump 2006, doi:10.1007/s10543-006-0056-1). B itself has k + 3
    roundings an entry, of numbers that add up to at most  trace(B) + 2 sum |lambda| + 2 level  in the norm.
    """
    given = size * level - trace + float(values.sum())
    sizes = max(given, 0.0) + 2 * float(np.abs(values).sum()) + 2 * abs(level)
    return (size + len(values) + 8) * eps_of(FLOAT64) / 2 * sizes


def _is_below(columns: HostArray, values: HostArray, V: HostArray, level: float) -> bool:
    """Tell whether  level I - (A - V diag(lambda) V')  is positive definite; A is written over by it."""
    beta = -1.0
    for sign in (1.0, -1.0):
        part = np.flatnonzero(sign * values > 0)
        if len(part) or beta < 0:
            # BLAS wants one column at least.
            scaled = V[:, part] * np.sqrt(sign * values[part]) if len(part) else np.zeros((len(V), 1))
            blas.dsyrk(sign, np.asfortranarray(scaled), beta=beta, c=columns, lower=1, overwrite_c=1)
            beta = 1.0
    _diagonal(columns)[...] += level
    _, broken_at = lapack.dpotrf(columns, lower=1, clean=0, overwrite_a=1)
    return bool(broken_at == 0)


def _diagonal(columns: HostArray) -> HostArray:
    """Return the diagonal, to be written, of a matrix whose columns lie one after the other."""
    return columns.T.reshape(-1)[:: len(columns) + 1]
