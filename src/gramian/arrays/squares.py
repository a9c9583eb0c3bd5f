"""Accumulating rows'rows in float64, the one product that every scatter and Gram matrix is made of."""

from typing import Any, NamedTuple

import numpy as np

from gramian.arrays.namespace import Array, HostArray, cast, dtype_of, is_numpy, namespace_of, to_host
from gramian.arrays.precision import FLOAT64, eps_of

ABOVE = np.triu(np.ones((64, 64), dtype=bool), k=1)
"""Which entries of a tile lie above the diagonal."""

CHUNK = 4096
"""Rows that are summed at a time: a thin block has a hundred thousand of them, and as many roundings per entry would
cost digits where values round alike."""

NARROW, SHORT = 16, 64
"""Columns under which products are of so few rows, and added in pairs. The rounding that a variance may have grows with
the columns, and for one of them a processor that sums 4,096 products one after the other exceeds it."""

PIECE = 1 << 17
"""Numbers that are copied at a time, 1 MB in float64: the copy stays in a core's cache."""


FEW_NUMBERS = 1 << 14
"""Numbers up to which a product is made in two parts, so that its bound does not grow with the rows: a bound for any
order of summation would be hundreds of times too large for a table of 64 x 16."""

SUM_DEPTH = 15
"""Roundings that a sum of rows goes through at most, in addition to those of their products: few numbers are added in
pairs, up to 2**14 of them, and multiplied by their weights before."""


class SquareSum(NamedTuple):
    """A running sum of rows'rows.

    ``matrix`` is float64 (m, m); on the host only its lower triangle counts until :func:`completed` fills the
    other. ``error`` is the rounding of float32 products it was summed from, measured, relative to its largest
    eigenvalue; zero for float64 ones. A float64 product goes through at most ``depth`` roundings, in whatever order it
    is summed: entry (i, j) is wrong by at most  depth eps/2 |x_i||x_j|  for columns x_i and x_j of the rows. ``room``
    is what the last product was written to: the next one uses it again, because fresh memory costs page faults.
    """

    matrix: Array
    error: float
    depth: int
    room: HostArray | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel without the room."""
        return SquareSum, (self.matrix, self.error, self.depth)


def add_squares(total: SquareSum | None, rows: Array) -> SquareSum:
    """Add rows'rows (rows: (b, m)) to a running sum; the sum may be reused.

    Computes  total + rows'rows  in b m^2 operations: NumPy's product knows that it is symmetric. (SciPy's SYRK would
    add in place, but holds Python's lock, so that workers would wait for each other.) Long columns are summed a chunk
    at a time. float32 rows are multiplied in float32 and summed in float64: the error of such a sum is measured on
    sampled columns of its first product.
    """
    m = rows.shape[1]
    if total is None:
        product = _product(rows, None)
        if dtype_of(product) != FLOAT64:
            # What the measured error of a float32 product is multiplied by: other blocks than the first have exceeded
            # it by 30% (1,000,000 x 4 rows, means of thousands of deviations).
            error = max(2.0 * _measured_error(rows, product), eps_of(FLOAT64))
            return SquareSum(cast(product, FLOAT64), error, _depth(rows), product if is_numpy(product) else None)
        found = SquareSum(product, 0.0, _depth(rows))
        return _in_two_parts(rows, found) if is_numpy(rows) and rows.size <= FEW_NUMBERS else found
    room = np.empty((m, m), rows.dtype) if total.room is None and is_numpy(rows) else total.room
    return merge_squares(total, SquareSum(_product(rows, room), 0.0, _depth(rows)))._replace(room=room)


def _product(rows: Array, room: HostArray | None) -> Array:
    """Return rows'rows in the type of the rows, in ``room`` on the host; long columns are summed a chunk at a time.

    The sum of a block is added to those of others as one number, so that few roundings of large sums add up.
    """
    n, m = rows.shape
    if not is_numpy(rows):
        return _batched_product(rows)
    if m < NARROW:
        return _summed_in_pairs(rows, rows)
    if n <= 2 * CHUNK:
        return np.matmul(rows.T, rows, out=room)
    product = np.matmul(rows[:CHUNK].T, rows[:CHUNK], out=room)
    for start in range(CHUNK, n, CHUNK):
        some = rows[start : start + CHUNK]
        product += some.T @ some
    return product


def _batched_product(rows: Array) -> Array:
    """Return rows'rows of another library: the products of all chunks in one call, and their sum."""
    (n, m), chunk = rows.shape, _chunk(rows)
    count = n // chunk
    if count < 2:
        return rows.T @ rows
    xp = namespace_of(rows)
    batch = xp.reshape(rows[: count * chunk, :], (count, chunk, m))
    rest = rows[count * chunk :, :]
    return xp.sum(xp.matmul(xp.permute_dims(batch, (0, 2, 1)), batch), axis=0) + rest.T @ rest


def _chunk(rows: Array) -> int:
    """Return the rows of a chunk: off the host so many that their products take no more room than they do."""
    return CHUNK if is_numpy(rows) else max(CHUNK, rows.shape[1])


def _summed_in_pairs(left: HostArray, right: HostArray) -> HostArray:
    """Return left'right, products of a few rows added in pairs, and those sums in pairs."""
    n = len(left)
    whole = n - n % SHORT
    x, y = (rows[:whole].reshape(-1, SHORT, rows.shape[1]) for rows in (left, right))
    parts = np.matmul(x.transpose(0, 2, 1), y)
    if whole < n:
        parts = np.concatenate([parts, (left[whole:].T @ right[whole:])[None]])
    return _in_pairs(parts)


def _in_pairs(parts: HostArray) -> HostArray:
    """Return the sum of some numbers or matrices: every two are added, and every two of these sums."""
    while len(parts) > 1:
        half = len(parts) // 2
        sums, odd = parts[:half] + parts[half : 2 * half], parts[2 * half :]
        parts = np.concatenate([sums, odd]) if len(odd) else sums
    return np.asarray(parts[0])


def _depth(rows: Array) -> int:
    """Return how many roundings an entry of a product of rows goes through."""
    n: int = rows.shape[0]
    if is_numpy(rows) and rows.shape[1] < NARROW:
        return min(n, SHORT) + (-(-n // SHORT)).bit_length()
    chunk = _chunk(rows)
    return n if n <= 2 * chunk else chunk + -(-n // chunk)


def weighted_sum(weights: Array, rows: Array) -> Array:
    """Return  weights'rows,  summed as products of the rows are, or with ``SUM_DEPTH`` roundings at most."""
    n, m = rows.shape
    if is_numpy(rows) and rows.size <= FEW_NUMBERS:
        return _in_pairs(weights[:, None] * rows)
    if is_numpy(rows) and m < NARROW:
        return _summed_in_pairs(weights[:, None], rows)[0]
    if n <= 2 * CHUNK or not is_numpy(rows):
        return weights @ rows
    parts = [slice(start, start + CHUNK) for start in range(0, n, CHUNK)]
    return np.sum([weights[part] @ rows[part] for part in parts], axis=0)


def merge_squares(left: SquareSum, right: SquareSum) -> SquareSum:
    """Add two running sums; the left one is reused on the host."""
    host = is_numpy(left.matrix)
    matrix = np.add(left.matrix, right.matrix, out=left.matrix) if host else left.matrix + right.matrix
    return SquareSum(matrix, max(left.error, right.error), max(left.depth, right.depth) + 1, left.room)


def _in_two_parts(rows: HostArray, rough: SquareSum) -> SquareSum:
    """Return rows'rows with less than two roundings per entry, in whatever order it is summed (Ozaki et al., 2012).

    Computes  H'H + (C + C')/2,  C = L'(rows + H),  from  rows = H + L.  A column x of H has multiples of a power of
    two, about  2**-26 |x|:  inner products of such columns, and all parts of their sums, are below 2**53 of its square
    and so exact. L is at most half of it per entry, so that the rounding of C is  n^1.5 / 2**25  times that of one
    operation; the last sum has one more. ``rough`` is the same sum to a few digits.
    """
    # Adding a number whose last digit is  2**(e - 26)  for a column  |x| < 2**e,  and taking it off again, rounds.
    coarse = np.ldexp(1.5, (np.frexp(rough.matrix.diagonal())[1] + 1) // 2 + 26)
    high = rows + coarse
    high -= coarse
    crossed = (rows - high).T @ (rows + high)
    matrix: HostArray = crossed + crossed.T
    matrix *= 0.5
    matrix += high.T @ high
    return SquareSum(matrix, 0.0, 2)


def column_norms(block: Array) -> HostArray:
    """Return the length of each column, on the host."""
    if is_numpy(block):
        return np.asarray(np.sqrt(np.einsum("ij,ij->j", block, block)), dtype=FLOAT64)
    return to_host(namespace_of(block).sum(block * block, axis=0) ** 0.5).astype(FLOAT64)


def completed(matrix: Array) -> Array:
    """Copy the lower triangle of a matrix onto the upper one, on the host in place.

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


def _measured_error(rows: Array, part: Array) -> float:
    """Return the error of some rows of a float32  part = rows'rows,  relative to their size."""
    some = slice(None, None, max(1, part.shape[1] // 8))
    exact: Any = 0.0
    step = max(1, PIECE // max(rows.shape[1], 1))
    for start in range(0, rows.shape[0], step):
        piece = cast(rows[start : start + step, :], FLOAT64)
        exact = exact + piece[:, some].T @ piece
    exact = to_host(exact)
    scale = float(np.linalg.norm(exact))
    return float(np.linalg.norm(exact - to_host(part[some, :]))) / scale if scale > 0 else 0.0
