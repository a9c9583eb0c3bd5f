"""Squared distances of two blocks of rows as one matrix product.

With z = s x the exponent of a Gaussian is  -|z - w|^2 / 2 = z.w - |z|^2/2 - |w|^2/2.  Each norm is one more column on
its own side and a column of ones on the other, so the product of two prepared blocks is the exponent itself::

    [z, hi, 1, lo, 1] . [w, 1, hi, 1, lo]

The norms are summed in float64 from the rounded z and split into two parts of the tile's type, hi + lo: rounded to one,
they would be wrong by the same amount in a whole row of the matrix, an error that does not average out in products.
The low parts come last, when the sum is already small.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from gramian.arrays.namespace import Array, HostArray, cast, from_host, is_numpy, namespace_of
from gramian.errors import InputError
from gramian.kernels.blocks import is_sparse, squared_norms
from gramian.kernels.tiles import SparseFactor, inner_products, sparse_factor


class Augmented(NamedTuple):
    """A block of dense rows, scaled, with its norms as columns: once as a left factor, once as a right one."""

    left: Array
    right: Array


class SparseAugmented(NamedTuple):
    """A block of sparse rows, scaled, with -|z|^2/2 beside it."""

    rows: SparseFactor
    half_norms: HostArray


def augmented(rows: Array, scale: float, *, dtype: np.dtype[Any]) -> Augmented | SparseAugmented:
    """Scale rows and join their squared norms to them.

    Cost: 2 b (d + 4) numbers for dense rows, twice their stored entries for sparse ones.
    """
    scaled = cast(rows * scale, dtype) if not is_sparse(rows) else sparse.csr_array(rows * scale, dtype=dtype)
    with np.errstate(over="ignore"):
        half = -0.5 * squared_norms(scaled)
        high = half.astype(dtype)
    if not np.isfinite(high).all():
        row = int(np.flatnonzero(~np.isfinite(high))[0])
        message = (
            f"Row {row} of a block is so far from the others that gamma times its squared distance overflows "
            f"{np.dtype(dtype).name}. Rescale the columns or lower gamma."
        )
        raise InputError(message, row=row)
    if is_sparse(rows):
        return SparseAugmented(sparse_factor(scaled), half.astype(dtype))
    return _joined(scaled, high, (half - high).astype(dtype))


def half_squared_distances(left: Any, right: Any, *, out: HostArray | None = None) -> Array:
    """Return -|z - w|^2 / 2 for each pair of prepared rows, (a, b); rounding may leave it slightly above zero.

    Cost: one matrix product, 2 a b (d + 4) operations.
    """
    if isinstance(left, SparseAugmented):
        tile = inner_products(left.rows, right.rows, out=out)
        tile += left.half_norms[:, None]
        tile += right.half_norms
        return tile
    return inner_products(left.left, right.right, out=out)


def _joined(scaled: Array, high: HostArray, low: HostArray) -> Augmented:
    ones = np.ones_like(high)
    left = np.stack([high, ones, low, ones], axis=1)
    right = np.stack([ones, high, ones, low], axis=1)
    if is_numpy(scaled):
        return Augmented(np.hstack([scaled, left]), np.hstack([scaled, right]))
    xp = namespace_of(scaled)
    sides = (from_host(side, like=scaled) for side in (left, right))
    return Augmented(*(xp.concat([scaled, side], axis=1) for side in sides))
