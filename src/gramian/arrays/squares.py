"""Accumulating rows'rows in float64, the one product that every scatter and Gram matrix is made of."""

import mmap
from math import frexp, ldexp
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import blas

from gramian.arrays.namespace import Array, HostArray, cast, dtype_of, is_numpy, namespace_of, to_host
from gramian.arrays.precision import FLOAT64, eps_of

MATMUL_SIZE = 1500
"""Size up to which a product of its own and a sum beat SYRK in place (NumPy's BLAS is the faster of the two here)."""

ABOVE = np.triu(np.ones((64, 64), dtype=bool), k=1)
"""Which entries of a tile lie above the diagonal: picking them one by one takes longer than copying others whole, so
that small tiles serve best (300 x 300: 40 microseconds, and 84 by tiles of 256)."""

BESIDE = 512
"""Columns that are copied whole at a time."""


STRETCH = 4096
"""Rows that are summed at a time: a thin block has a hundred thousand of them, and as many roundings of an entry would
cost digits where values round alike."""

MEASURED_CAUTION = 2.0
"""What the measured error of a float32 product is multiplied by: other blocks than the first have exceeded it by 30%
(1,000,000 x 4 rows, means of thousands of deviations)."""

PIECE_ROWS = 128
"""Rows that are taken to float64 at a time to measure the error of a float32 product."""


FEW_NUMBERS = 1 << 14
"""Numbers up to which a product is made in two parts, so that its rounding does not grow with the rows (600 numbers: 8
microseconds more, 2,000: 11, 16,000: 25 to 130)."""

FEW_ROUNDINGS = 2
"""Roundings that an entry of such a product has, at most."""


class SquareSum(NamedTuple):
    """A running sum of rows'rows.

    ``matrix`` is float64 (m, m); on the host only its lower triangle counts until :func:`completed` fills the
    other. ``error`` is the rounding of float32 products it was summed from, measured, relative to its largest
    eigenvalue; zero for float64 ones. A float64 product goes through at most ``depth`` roundings, in whatever order it
    is summed: entry (i, j) is wrong by at most  depth eps/2 |x_i||x_j|  for columns x_i and x_j of the rows.
    """

    matrix: Array
    error: float
    depth: int


def add_squares(total: SquareSum | None, rows: Array) -> SquareSum:
    """Add rows'rows (rows: (b, m)) to a running sum; the sum may be reused.

    Computes  total + rows'rows  in b m^2 operations: NumPy's product knows that it is symmetric, and large float64 sums
    go through SYRK in place. float32 rows are multiplied in float32, one block at a time, and summed in float64: the
    error of such a sum is measured on sampled columns of its first block.
    """
    n, m = rows.shape
    if by_syrk(rows):
        into = _zeros(m) if total is None else total.matrix
        return SquareSum(_syrk(rows, into), 0.0, n + (0 if total is None else total.depth))
    if total is None:
        return squares_of(rows)
    return merge_squares(total, _summed(rows))


def by_syrk(rows: Array) -> bool:
    """Tell whether :func:`add_squares` takes these rows through SciPy's SYRK, in place."""
    return is_numpy(rows) and rows.dtype == FLOAT64 and rows.shape[1] > MATMUL_SIZE


def squares_of(rows: Array) -> SquareSum:
    """Return rows'rows by one product; that of few rows is made again in two parts (see :func:`_in_two_parts`)."""
    found = _summed(rows)
    part = found.matrix
    if dtype_of(part) != FLOAT64:
        error = MEASURED_CAUTION * _measured_error(rows, part)
        return SquareSum(cast(part, FLOAT64), max(error, eps_of(FLOAT64)), found.depth)
    if is_numpy(rows) and rows.size <= FEW_NUMBERS:
        return SquareSum(_in_two_parts(rows, part.diagonal()), 0.0, FEW_ROUNDINGS)
    return found


def weighted_sum(weights: Array, rows: Array) -> Array:
    """Return  weights'rows,  long columns summed a stretch at a time."""
    n = rows.shape[0]
    if n <= 2 * STRETCH or not is_numpy(rows):
        return weights @ rows
    parts = [slice(start, start + STRETCH) for start in range(0, n, STRETCH)]
    return np.sum([weights[part] @ rows[part] for part in parts], axis=0)


def _summed(rows: Array) -> SquareSum:
    """Return rows'rows in the type of the rows, its error not measured; long columns are summed a stretch at a time."""
    n = rows.shape[0]
    if n <= 2 * STRETCH or not is_numpy(rows):
        return SquareSum((rows.T @ rows).T, 0.0, n)
    total = rows[:STRETCH].T @ rows[:STRETCH]
    for start in range(STRETCH, n, STRETCH):
        some = rows[start : start + STRETCH]
        total += some.T @ some
    return SquareSum(total.T, 0.0, STRETCH + -(-n // STRETCH))


def merge_squares(left: SquareSum, right: SquareSum) -> SquareSum:
    """Add two running sums; the left one is reused on the host."""
    host = is_numpy(left.matrix)
    matrix = np.add(left.matrix, right.matrix, out=left.matrix) if host else left.matrix + right.matrix
    return SquareSum(matrix, max(left.error, right.error), max(left.depth, right.depth) + 1)


def _in_two_parts(rows: HostArray, squares: HostArray) -> HostArray:
    """Return rows'rows with less than two roundings an entry, in whatever order it is summed (Ozaki et al., 2012).

    Computes  H'H + (C + C')/2,  C = L'(rows + H),  from  rows = H + L.  A column x of H has multiples of a power of
    two, about  2**-26 |x|:  inner products of such columns, and all parts of their sums, are below 2**53 of its square
    and so exact. L is at most half of it an entry, so that the rounding of C is  n^1.5 / 2**25  times that of one
    operation; the last sum has one more. ``squares`` are those of the columns, to a few digits.
    """
    coarse = _coarse(len(rows), squares)
    high = rows + coarse
    high -= coarse
    crossed = (rows - high).T @ (rows + high)
    out: HostArray = crossed + crossed.T
    out *= 0.5
    out += high.T @ high
    return out


def _coarse(n: int, squares: HostArray) -> float | HostArray:
    """Return numbers whose last digit is  2**(e - 26)  for columns  |x| < 2**e:  adding one and taking it off rounds.

    One for all columns where half a rounding is all that the smallest of them loses by it, because that is faster.
    """
    sizes = squares.tolist()
    largest = max(sizes, default=0.0)
    if min(sizes, default=0.0) * 2.0**48 >= n**3 * largest:
        return ldexp(1.5, (frexp(largest)[1] + 1) // 2 + 26)
    return np.asarray(np.ldexp(1.5, (np.frexp(squares)[1] + 1) // 2 + 26))


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
        for j in range(stop, m, BESIDE):
            matrix[i:stop, j : j + BESIDE] = matrix[j : j + BESIDE, i:stop].T
        tile = matrix[i:stop, i:stop]
        np.copyto(tile, tile.T, where=ABOVE[: stop - i, : stop - i])
    return matrix


def _zeros(m: int) -> HostArray:
    """Return zeros (m, m), columns one after the other, in memory that the system has made ready at once.

    Else every page would be made ready when SYRK first writes to it: 4,000 x 4,000 rows take 0.78 s then, and 0.69 so.
    """
    if not hasattr(mmap, "MAP_POPULATE"):
        return np.zeros((m, m), order="F")
    kind = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE
    room = mmap.mmap(-1, m * m * FLOAT64.itemsize, flags=kind)
    return np.frombuffer(room, dtype=FLOAT64).reshape((m, m), order="F")


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
