"""Checks of eigenpairs against a matrix that is held: their residuals, and whether any eigenvalue was passed over."""

import numpy as np
from scipy.linalg import blas, lapack

from gramian.arrays.namespace import Array, HostArray, to_host

EXACT_RESIDUALS = 256
"""Pairs up to which each residual is computed; beyond, all share one bound measured with random probes."""


def measured_residuals(matrix: HostArray, values: HostArray, vectors: HostArray, *, seed: int) -> HostArray:
    """Return |A v - lambda v| for every pair.

    For many pairs E = A V - V diag(lambda) is measured on Gaussian vectors w: |E w|^2 averages |E|_F^2, which bounds
    every column; eight probes are short of it by more than a factor of four with probability below 1e-7.
    """
    k = len(values)
    if k <= EXACT_RESIDUALS:
        difference = matrix @ vectors
        difference -= vectors * values
        difference *= difference
        return np.asarray(np.sqrt(difference.sum(axis=0)))
    probes = np.random.default_rng(seed).standard_normal((k, 8))
    difference = matrix @ (vectors @ probes) - vectors @ (values[:, None] * probes)
    return np.full(k, 4 * np.linalg.norm(difference) / np.sqrt(8))


def none_above(matrix: Array, values: HostArray, vectors: Array, level: float) -> bool:
    """Tell whether the matrix without the given pairs has no eigenvalue above ``level``.

    Computes a Cholesky factorization of  level I - (A - V diag(lambda) V'), which exists when every eigenvalue of the
    deflated matrix lies below ``level`` and breaks down when one lies above (Sylvester's law of inertia).

    Cost: m^3 / 3 + 2 m^2 k operations and one more m x m matrix.

    Examples
    --------
    >>> import numpy as np
    >>> A, e = np.diag([3.0, 2.0, 1.0]), np.eye(3)
    >>> none_above(A, np.array([3.0]), e[:, :1], 2.5), none_above(A, np.array([2.0]), e[:, 1:2], 2.5)
    (True, False)
    """
    V = to_host(vectors)
    held = to_host(matrix)
    # LAPACK wants columns one after the other; the transpose of a symmetric matrix is the matrix.
    shifted = np.asfortranarray(-(held.T if held.flags.c_contiguous else held))
    for sign in (1.0, -1.0):
        part = np.flatnonzero(sign * values > 0)
        scaled = np.asfortranarray(V[:, part] * np.sqrt(sign * values[part]))
        if len(part):
            shifted = blas.dsyrk(sign, scaled, beta=1.0, c=shifted, lower=1, overwrite_c=1)
    shifted.flat[:: len(shifted) + 1] += level
    _, broken_at = lapack.dpotrf(shifted, lower=1, clean=0, overwrite_a=1)
    return bool(broken_at == 0)
