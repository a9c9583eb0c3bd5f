"""Products of thin matrices at the rate of thick ones: arrays on cache lines, strips that BLAS takes as they lie.

Packing its operands is most of what BLAS does where one side has few columns. OpenBLAS, on processors with registers of
512 bits, leaves it out for small products, and then wants operands that begin on cache lines. A stack of strips is
multiplied in one call, so that threads do not queue for the interpreter between them.

Measured with ``np.matmul`` in two threads at once, each with its own float32 tile of 528 x 528 that begins on a cache
line, stacks of strips against whole matrices, the fastest of three times 60 calls: inner products over 52 columns at
146 instead of 113 GFLOP/s a core, 16 vectors as rows times a tile at 109 instead of 75, a tile times 16 vectors at 79
instead of 74. What ``python -m benchmarks.kernel_pca product`` records as ``rates`` is the better of both, over several
sides and for two cores together.
"""

from math import prod
from typing import Any

import numpy as np

from gramian.arrays.namespace import HostArray

LINE = 64
"""Bytes of a cache line."""

UNPACKED = 1_000_000
"""Multiplications up to which OpenBLAS does not pack (``sgemm_small_kernel_permit`` of its SkylakeX kernels)."""

SHORTEST = 12
"""Rows below which a strip costs more in calls than it saves."""

FEWEST = 8
"""The same for strips of rows that are read from memory once."""


def empty_on_lines(*shape: int, dtype: np.dtype[Any]) -> HostArray:
    """Return an array in row order, not filled, that begins on a cache line.

    Examples
    --------
    >>> array = empty_on_lines(3, 5, dtype=np.dtype("float32"))
    >>> array.shape, array.ctypes.data % 64
    ((3, 5), 0)
    """
    size = prod(shape) * dtype.itemsize
    room = np.empty(size + LINE, np.uint8)
    begin = -room.ctypes.data % LINE
    return room[begin : begin + size].view(dtype).reshape(shape)


def strip_rows(rows: int, work: int, *, least: int = SHORTEST) -> int:
    """Return how many of ``rows`` rows, each of ``work`` multiplications, make a strip; all where strips do not pay.

    Examples
    --------
    >>> strip_rows(528, 528 * 52), strip_rows(528, 528 * 800)
    (33, 528)
    """
    most = UNPACKED // max(work, 1)
    if most >= rows or most < least:
        return rows
    return next((s for s in range(most, max(most // 2, least - 1), -1) if rows % s == 0), rows)


def product_in_strips(left: HostArray, right: HostArray, *, out: HostArray | None = None) -> HostArray:
    """Return left right, (a, b), made a strip of rows at a time; right should be in row order.

    Examples
    --------
    >>> bool(np.allclose(product_in_strips(np.ones((600, 52)), np.ones((52, 500))), 52))
    True
    """
    (a, k), b = left.shape, right.shape[1]
    s = strip_rows(a, k * b) if right.flags.c_contiguous else a
    if s == a:
        return np.matmul(left, right, out=out)
    out = empty_on_lines(a, b, dtype=np.result_type(left, right)) if out is None else out
    np.matmul(left.reshape(a // s, s, k), right, out=out.reshape(a // s, s, b))
    return out


def is_thin(right: HostArray) -> bool:
    """Tell whether strips of a few rows, each times ``right``, are small enough for BLAS to take them as they lie.

    Examples
    --------
    >>> is_thin(np.empty((4000, 12))), is_thin(np.empty((4000, 32)))
    (True, False)
    """
    return right.flags.c_contiguous and UNPACKED // max(right.size, 1) >= FEWEST


def thin_product(rows: HostArray, right: HostArray, *, out: HostArray | None = None) -> HostArray:
    """Return  rows right  for rows one after the other in memory and few columns (see :func:`is_thin`).

    Strips of equal size are one call, what is left of the rows another. float64, two threads, 4,000 x 4,000 times 8, 12
    and 16 columns: 3.8, 6.4 and 6.9 ms, which for 8 is the time to read the rows; by BLAS 7.1, 8.2 and 9.6. float32, 12
    columns: 3.3 in place of 6.4.

    Examples
    --------
    >>> bool(np.allclose(thin_product(np.ones((37, 4000)), np.ones((4000, 12))), 4000))
    True
    """
    (a, k), b = rows.shape, right.shape[1]
    out = empty_on_lines(a, b, dtype=right.dtype) if out is None else out
    strips = -(-a * k * b // UNPACKED)
    s = a // max(strips, 1)
    np.matmul(rows[: s * strips].reshape(strips, s, k), right, out=out[: s * strips].reshape(strips, s, b))
    if s * strips < a:
        np.matmul(rows[s * strips :], right, out=out[s * strips :])
    return out


def turned_in_strips(V: HostArray, columns: int) -> HostArray:
    """Return V', V being (a, c), cut into strips (q, c, s) for products with tiles of ``columns`` columns."""
    a, c = V.shape
    s = max(strip_rows(a, c * columns, least=32), 1)
    turned = empty_on_lines(a // s, c, s, dtype=V.dtype)
    turned[...] = V.reshape(a // s, s, c).transpose(0, 2, 1)
    return turned


def turned_product(turned: HostArray, tile: HostArray, *, parts: HostArray, out: HostArray) -> HostArray:
    """Return V' tile, (c, b), from the strips of V'; ``parts`` (q, c, b) is written over.

    Examples
    --------
    >>> V, tile = np.ones((528, 16)), np.ones((528, 500))
    >>> turned = turned_in_strips(V, 500)
    >>> turned.shape
    (6, 16, 88)
    >>> product = turned_product(turned, tile, parts=np.empty((6, 16, 500)), out=np.empty((16, 500)))
    >>> bool((product == 528).all())
    True
    """
    q, _, s = turned.shape
    np.matmul(turned, tile.reshape(q, s, tile.shape[1]), out=parts)
    return parts[0] if q == 1 else np.asarray(np.add.reduce(parts, axis=0, out=out))
