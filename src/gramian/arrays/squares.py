"""Accumulating rows'rows in float64, the one product that every scatter and Gram matrix is made of."""

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import blas

from gramian.arrays.namespace import Array, HostArray, cast, dtype_of, is_numpy, namespace_of, to_host
from gramian.arrays.precision import FLOAT64, eps_of

MATMUL_SIZE = 1500
"""Size up to which a product of its own and a sum beat SYRK in place (NumPy's BLAS is the faster of the two here)."""

ABOVE = np.triu(np.ones((256, 256), dtype=bool), k=1)
"""Which entries of a tile lie above the diagonal."""


PIECE_ROWS = 128
"""Rows that are taken to float64 at a time to measure the error of a float32 product."""


class SquareSum(NamedTuple):
    """A running sum of rows'rows.

    ``matrix`` is float64 (m, m); on the host only its lower triangle counts until :func:`completed` fills the
    other. ``error`` is the rounding of the products it was summed from, relative to its largest eigenvalue.
    """

    matrix: Array
    error: float


def add_squares(total: SquareSum | None, rows: Array) -> SquareSum:
    """Add rows'rows (rows: (b, m)) to a running sum; the sum may be reused.

    Computes  total + rows'rows  in b m^2 operations: NumPy's product knows that it is symmetric, and large float64 sums
    go through SYRK in place. float32 rows are multiplied in float32, one block at a time, and summed in float64: the
    error of such a sum is measured on sampled columns of its first block.
    """
    if not is_numpy(rows):
        part, single = cast(rows.T @ rows, FLOAT64), dtype_of(rows) != FLOAT64
        if total is not None:
            return SquareSum(total.matrix + part, total.error)
        error = _measured_error(rows, part) if single else 0.0
        return SquareSum(part, max(error, 2 * eps_of(FLOAT64)))
    m = rows.shape[1]
    if rows.dtype == FLOAT64 and m > MATMUL_SIZE:
        into = np.zeros((m, m), order="F") if total is None else total.matrix
        return SquareSum(_syrk(rows, into), 0.0)
    part = rows.T @ rows
    if total is None:
        error = 0.0 if part.dtype == FLOAT64 else _measured_error(rows, part)
        return SquareSum(part.T.astype(FLOAT64, copy=False), error)
    return SquareSum(np.add(total.matrix, part.T, out=total.matrix), total.error)


def merge_squares(left: SquareSum, right: SquareSum) -> SquareSum:
    """Add two running sums; the left one is reused on the host."""
    if is_numpy(left.matrix):
        return SquareSum(np.add(left.matrix, right.matrix, out=left.matrix), max(left.error, right.error))
    return SquareSum(left.matrix + right.matrix, max(left.error, right.error))


def completed(matrix: Array) -> Array:
    """Copy the lower triangle of a matrix onto the upper one: on the host in place, by tiles that stay in cache.

    Other libraries fill both triangles, which may differ in the last bit (seen of torch on one processor of two).
    """
    if not is_numpy(matrix):
        xp = namespace_of(matrix)
        return xp.tril(matrix) + xp.tril(matrix, k=-1).T
    m, side = len(matrix), len(ABOVE)
    for i in range(0, m, side):
        stop = min(i + side, m)
        matrix[i:stop, stop:] = matrix[stop:, i:stop].T
        tile = matrix[i:stop, i:stop]
        np.copyto(tile, tile.T, where=ABOVE[: stop - i, : stop - i])
    return matrix


def _syrk(rows: HostArray, into: HostArray) -> HostArray:
    if rows.flags.c_contiguous:
        return blas.dsyrk(1.0, rows.T, beta=1.0, c=into, lower=1, overwrite_c=1)
    return blas.dsyrk(1.0, rows, beta=1.0, c=into, trans=1, lower=1, overwrite_c=1)


def _measured_error(rows: Array, part: Array) -> float:
    """Return the error of some rows of a float32  part = rows'rows,  relative to their size."""
    some = slice(None, None, max(1, part.shape[1] // 8))
    exact: Any = 0.0
    # Some rows at a time: a float64 copy of all of them is fresh memory, dearer than the product.
    for start in range(0, rows.shape[0], PIECE_ROWS):
        piece = cast(rows[start : start + PIECE_ROWS, :], FLOAT64)
        exact = exact + piece[:, some].T @ piece
    exact = to_host(exact)
    scale = float(np.linalg.norm(exact))
    return float(np.linalg.norm(exact - to_host(part[some, :]))) / scale if scale > 0 else 0.0
