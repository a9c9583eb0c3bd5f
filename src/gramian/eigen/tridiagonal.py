"""All eigenpairs of a large dense matrix: to tridiagonal form by LAPACK, and back in blocks wider than its own."""

import numpy as np
import scipy.linalg
from scipy.linalg import blas, lapack

from gramian.arrays.namespace import HostArray

WIDTH = 96
"""Reflectors that are applied at a time; LAPACK takes 32 (4,000 rows: 1.8 s, 1.5 s with 96 to 512).

Wider blocks are no faster, and their small triangles would wake the threads of BLAS."""

LEAST, LARGEST = 1e-280, 1e300
"""Sizes of entries between which nothing has overflowed, or lost digits to underflow."""


def all_pairs(matrix: HostArray) -> tuple[HostArray, HostArray]:
    """Return all eigenvalues of a symmetric matrix, ascending, and its eigenvectors, one column each.

    One triangle is read, whichever lies there by columns: both have to be there.

    Computes  A = Q T Q'  (T tridiagonal, Q a product of m - 2 reflectors),  T = Z diag(lambda) Z'  by divide and
    conquer, and  V = Q Z.  It is what LAPACK's ``syevd`` does, but for the last step: reflectors are applied
    :data:`WIDTH` at a time, as  I - Y U Y',  U a small triangle (4,000 rows: 4.7 s in place of 5.6).

    Cost: 4 m^3 / 3 operations to the tridiagonal form, half of them bound by memory; up to 4 m^3 / 3 for its pairs,
    2 m^3 for the way back; three matrices beside the given one.

    Not for few pairs, nor for matrices so small that threads do not pay: :func:`numpy.linalg.eigh`.

    Examples
    --------
    >>> import numpy as np
    >>> all_pairs(np.array([[2.0, 1.0], [1.0, 2.0]]))[0]
    array([1., 3.])
    """
    m = len(matrix)
    if m == 1 or not hasattr(lapack, "dstevd"):  # older versions of SciPy do not offer it
        return _by_lapack(matrix)
    # A column of zeros before the matrix is a reflector that does nothing; with it, each begins on its own row.
    room = np.zeros((m, m + 1), order="F")
    room[:, 1:] = matrix if matrix.flags.f_contiguous else matrix.T
    size = int(lapack.dsytrd_lwork(m, lower=1)[0])
    _, diagonal, beside, tau, failed = lapack.dsytrd(room[:, 1:], lower=1, lwork=size, overwrite_a=1)
    top = max(np.abs(diagonal).max(), np.abs(beside).max())
    if failed or not LEAST < top < LARGEST:
        return _by_lapack(matrix)
    values, vectors, failed = lapack.dstevd(diagonal, beside)
    if failed:
        return _by_lapack(matrix)
    return values, _rotated_back(room[:, :m], np.concatenate([[0.0], tau]), vectors)


def _by_lapack(matrix: HostArray) -> tuple[HostArray, HostArray]:
    """Return what LAPACK's own driver finds, which scales the matrix first; it raises where it fails."""
    values, vectors = scipy.linalg.eigh(matrix, driver="evd", check_finite=False)
    return values, vectors


def _rotated_back(Y: HostArray, tau: HostArray, vectors: HostArray) -> HostArray:
    """Return  H_1 H_2 ... H_m Z,  H_j = I - tau_j y_j y_j',  in the place of Z; the y_j lie under the diagonal of Y."""
    m, width = len(Y), min(WIDTH, len(Y))
    triangles = np.zeros((width, m), order="F")
    for start in range(0, m, width):
        part = slice(start, min(start + width, m))
        triangle = _triangle(Y[start:, part], tau[part])
        triangles[: len(triangle), part] = triangle
    rotated, _ = lapack.dgemqrt(Y, triangles, vectors, overwrite_c=1)
    return np.asarray(rotated)


def _triangle(Y: HostArray, tau: HostArray) -> HostArray:
    """Return U with  H_1 ... H_w = I - Y U Y':  the inverse of the triangle of Y'Y with 1 / tau on its diagonal.

    Where tau is zero the reflector does nothing, y is e_j, orthogonal to those that follow, and column j of U is zero.
    """
    width = len(tau)
    Y = np.array(Y, order="F")
    Y[:width] = np.tril(Y[:width], -1)
    np.fill_diagonal(Y, 1.0)
    inverse = np.asarray(blas.dsyrk(1.0, Y, trans=1))
    np.fill_diagonal(inverse, 1.0 / np.where(tau == 0, 1.0, tau))
    U = np.asarray(lapack.dtrtri(inverse, overwrite_c=1)[0])
    U[:, tau == 0] = 0.0
    return U
