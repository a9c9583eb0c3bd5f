"""Centering, scaling and weighting of rows: their one home.

Every operator works on  Xs = diag(sqrt w) (X - 1 mean') diag(factor). Dense blocks are centered before any
product, so a large mean costs no digits. Sparse blocks stay sparse: (X - 1 mean') V = X V - 1 (mean'V) is a
rank-one correction, linear in the mean (never squared).
"""

from dataclasses import dataclass

import numpy as np

from gramian.arrays.namespace import Array, HostArray, cast, from_host, namespace_of
from gramian.arrays.precision import FLOAT64
from gramian.sources.rows import Block, ColumnBlock


@dataclass(frozen=True, eq=False)
class Standardization:
    """What is done to each row x before anything else: (x - mean) * factor.

    Attributes
    ----------
    mean : numpy array (d,)
        Zeros when rows are not centered.
    factor : numpy array (d,) or None
        One over the standard deviation of each column when rows are scaled; 1 for a constant column.
    centered : bool
    """

    mean: HostArray
    factor: HostArray | None = None
    centered: bool = True

    def rows(self, block: Block, *, dtype: np.dtype = FLOAT64) -> Array:
        """Return the standardized, weighted rows of a dense block as a new array of ``dtype``."""
        rows = cast(block.rows, dtype)
        if self.centered:
            rows = rows - from_host(self.mean, like=rows, dtype=dtype)
        if self.factor is not None:
            rows = rows * from_host(self.factor, like=rows, dtype=dtype)
        return rows if block.weights is None else rows * _root(block.weights, rows)[:, None]

    def columns(self, block: ColumnBlock, *, dtype: np.dtype = FLOAT64) -> Array:
        """Return the standardized, weighted columns of a dense block of columns as a new array."""
        part = slice(block.start, block.start + block.columns.shape[1])
        cut = Standardization(self.mean[part], None if self.factor is None else self.factor[part], self.centered)
        return cut.rows(Block(block.columns, 0, block.weights), dtype=dtype)

    def times(self, block: Block, V: Array) -> Array:
        """Return Xs V for one block, dense or sparse, in the precision of V."""
        if not hasattr(block.rows, "indptr"):
            return self.rows(block, dtype=np.dtype(str(V.dtype).rsplit(".", maxsplit=1)[-1])) @ V
        scaled = V if self.factor is None else self.factor[:, None] * V
        out = block.rows @ np.ascontiguousarray(scaled)
        if self.centered:
            out -= self.mean @ scaled
        return out if block.weights is None else out * _root(block.weights, out)[:, None]

    def transposed_times(self, block: Block, Y: Array) -> Array:
        """Return Xs' Y for one block, dense or sparse; Y has a row for each row of the block."""
        if not hasattr(block.rows, "indptr"):
            return self.rows(block, dtype=np.dtype(str(Y.dtype).rsplit(".", maxsplit=1)[-1])).T @ Y
        Y = Y if block.weights is None else Y * _root(block.weights, Y)[:, None]
        out = block.rows.T @ np.ascontiguousarray(Y)
        if self.centered:
            out -= self.mean[:, None] * Y.sum(axis=0)
        return out if self.factor is None else self.factor[:, None] * out


def _root(weights: Array, like: Array) -> Array:
    return namespace_of(like).sqrt(from_host(np.asarray(weights), like=like, dtype=None))
