"""gamma x.y + coef0 for two blocks of rows as one matrix product, with its overflow seen before any tile is made."""

import math
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from gramian.arrays.namespace import Array, HostArray, from_host, namespace_of
from gramian.errors import KernelRowsError
from gramian.kernels.blocks import is_sparse, scaled_rows, squared_norms
from gramian.kernels.tiles import SparseFactor, inner_products, sparse_factor


class AffineRows(NamedTuple):
    """Rows times sqrt(gamma), and what is still to be added to their products.

    A coef0 that is not negative is one more column, sqrt(coef0), of dense rows: it then costs no pass over the tile.
    """

    rows: Array | SparseFactor
    constant: float


def affine_rows(rows: Array, gamma: float, coef0: float, *, dtype: np.dtype[Any]) -> AffineRows:
    """Scale rows by sqrt(gamma) and join coef0 to them where that can be done.

    Cost: b (d + 1) numbers for dense rows, twice their stored entries for sparse ones.

    Examples
    --------
    >>> block = affine_rows(np.array([[1.0, 2.0]]), 0.5, 1.0, dtype=np.dtype("float64"))
    >>> affine_products(block, block).round(10)
    array([[3.5]])
    """
    with np.errstate(over="ignore"):  # What overflows is named by require_powers_fit.
        if is_sparse(rows):
            return AffineRows(sparse_factor(sparse.csr_array(scaled_rows(rows, math.sqrt(gamma), dtype))), coef0)
        scaled = scaled_rows(rows, math.sqrt(gamma), dtype)
    if coef0 <= 0.0:
        return AffineRows(scaled, coef0)
    column = np.full((rows.shape[0], 1), math.sqrt(coef0), dtype=dtype)
    joined = namespace_of(scaled).concat([scaled, from_host(column, like=scaled)], axis=1)
    return AffineRows(joined, 0.0)


def affine_products(left: AffineRows, right: AffineRows, *, out: HostArray | None = None) -> Array:
    """Return gamma x.y + coef0 for each pair, (a, b). Cost: 2 a b (d + 1) operations."""
    tile = inner_products(left.rows, right.rows, out=out)
    if left.constant != 0.0:
        tile += left.constant
    return tile


def require_powers_fit(rows: Array, gamma: float, coef0: float, degree: float, *, dtype: np.dtype[Any]) -> None:
    """Refuse rows for which (gamma x.y + coef0)^degree can leave the range of ``dtype``.

    By Cauchy and Schwarz no entry is larger than (gamma |x|^2 + |coef0|)^degree of one of its two rows, so looking at
    the rows alone is enough, before any tile is made.
    """
    with np.errstate(over="ignore"):
        largest = gamma * squared_norms(rows) + abs(coef0)
        fits = np.isfinite(largest) & (degree * np.log(np.maximum(largest, 1.0)) < math.log(np.finfo(dtype).max))
    if fits.all():
        return
    row = int(np.flatnonzero(~fits)[0])
    power = "gamma x.x + coef0" if degree == 1 else f"(gamma x.x + coef0)^{degree:g}"
    advice = "Rescale the columns." if degree == 1 else "Rescale the columns or lower the degree."
    after = f": gamma={gamma:.4g}, coef0={coef0:g} give gamma x.x + coef0 = {largest[row]:.3g} there. {advice}"
    before = f"{power} overflows {np.dtype(dtype).name} for "
    raise KernelRowsError(before, (row,), after)
