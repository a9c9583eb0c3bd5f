"""What every tile is made of: one product of two blocks, and functions applied to its entries in place."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from gramian.arrays.namespace import Array, HostArray, is_numpy, namespace_of
from gramian.arrays.products import product_in_strips

LOWEST_EXPONENT = {np.dtype(np.float32): -87.0, np.dtype(np.float64): -708.0}
"""Where an exponential is about to leave the normal numbers. Below it float32 exponentials were measured eight times
slower; the tile holds the smallest normal number instead of zero there, about 1e-38 or 1e-308."""

STRIP = 64
"""Rows of a tile worked on at once where a second array of their size is needed: both then stay in cache."""


class SparseFactor(NamedTuple):
    """Sparse rows, and their transpose stored by rows where that is not larger than the rows themselves."""

    rows: Any
    transposed: Any


def sparse_factor(rows: Any) -> SparseFactor:
    """Store a CSR block with its transpose, which a product would otherwise make anew for every tile.

    The transpose has a pointer for every column: where columns outnumber the stored entries it is left to the product.
    """
    return SparseFactor(rows, rows.T.tocsr() if rows.shape[1] <= 2 * rows.nnz else rows.T)


def inner_products(left: Any, right: Any, *, out: HostArray | None = None) -> Array:
    """Return left right', (a, b): one GEMM, or a product of two sparse blocks written as a dense tile.

    Examples
    --------
    >>> inner_products(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    array([[11.]])
    """
    if isinstance(left, SparseFactor):
        product = (left.rows @ right.transposed).toarray()
        return product if out is None else written(product, out)
    if is_numpy(left):
        return product_in_strips(left, right.T, out=out)
    return left @ right.T


def exponential(tile: Array, *, clip: bool = True) -> Array:
    """Replace entries by exp(entry), in place on the host.

    Entries are at most zero but for rounding. ``clip`` cuts that rounding off, and what would underflow.
    """
    if not is_numpy(tile):
        xp = namespace_of(tile)
        return xp.exp(xp.clip(tile, max=0.0))
    if clip:
        np.clip(tile, LOWEST_EXPONENT[tile.dtype], 0.0, out=tile)
    return np.exp(tile, out=tile)


def with_unit_diagonal(tile: Array, *, same_block: bool) -> Array:
    """Set k(x, x) = 1 exactly where a block meets itself: the diagonal is most of the matrix of a narrow kernel."""
    if same_block and is_numpy(tile):
        np.fill_diagonal(tile, 1.0)
    return tile


def strips(n: int) -> Iterator[slice]:
    """Give the rows of a tile of n rows a few at a time."""
    for start in range(0, n, STRIP):
        yield slice(start, min(start + STRIP, n))


def written(values: HostArray, out: HostArray | None) -> HostArray:
    """Return ``values``, copied into ``out`` when there is one."""
    if out is None:
        return values
    out[...] = values
    return out
