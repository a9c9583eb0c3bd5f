"""What every tile is made of: one product of two blocks, and functions applied to its entries in place."""

from typing import Any, NamedTuple

import numpy as np

from gramian.arrays.namespace import Array, HostArray, is_numpy, namespace_of

LOWEST_EXPONENT = {np.dtype(np.float32): -87.0, np.dtype(np.float64): -708.0}
"""Where an exponential is about to leave the normal numbers. Below it arithmetic slows down by an order of magnitude
and flags underflow; the tile holds the smallest normal number instead of zero, 1e-38 or 1e-308."""


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
    """Return left right', (a, b): one GEMM, or a product of two sparse blocks written as a dense tile."""
    if isinstance(left, SparseFactor):
        product = left.rows @ right.transposed
        return product.toarray() if out is None else _written(product, out)
    if is_numpy(left):
        return np.matmul(left, right.T, out=out)
    return left @ right.T


def exponential(tile: Array) -> Array:
    """Replace entries by exp(entry), in place on the host. They are at most zero but for rounding: that is clipped."""
    if not is_numpy(tile):
        xp = namespace_of(tile)
        return xp.exp(xp.clip(tile, max=0.0))
    np.clip(tile, LOWEST_EXPONENT[tile.dtype], 0.0, out=tile)
    return np.exp(tile, out=tile)


def _written(product: Any, out: HostArray) -> HostArray:
    if out.flags.c_contiguous and out.dtype == product.dtype:
        return np.asarray(product.toarray(out=out))
    out[...] = product.toarray()
    return out
