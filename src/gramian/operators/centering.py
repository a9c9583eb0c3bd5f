"""Centering, scaling and weighting of rows: their one home.

Every operator works on  Xs = diag(sqrt w) (X - 1 mean') diag(factor). Dense blocks are centered before any
product, so a large mean costs no digits. Sparse blocks stay sparse: (X - 1 mean') V = X V - 1 (mean'V) is a
rank-one correction, linear in the mean (never squared).
"""

from dataclasses import dataclass, replace

import numpy as np

from gramian.arrays.namespace import Array, HostArray, cast, dtype_of, from_host, namespace_of
from gramian.arrays.precision import FLOAT32, FLOAT64, eps_of
from gramian.arrays.products import is_thin, thin_product
from gramian.sources.moments import UNIT, Moments
from gramian.sources.rows import Block, ColumnBlock
from gramian.sources.sparse import is_sparse, transposed


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
    corrected : bool, default=False
        Whether products of dense rows too are corrected for the mean afterwards, as those of sparse rows are: it saves
        a copy of the rows, and costs the digits that the mean is larger than the spread.
    """

    mean: HostArray
    factor: HostArray | None = None
    centered: bool = True
    corrected: bool = False

    def rows(self, block: Block, *, dtype: np.dtype = FLOAT64) -> Array:
        """Return the standardized, weighted rows of a dense block as a new array of ``dtype``."""
        rows = self._centered(block.rows, dtype) if self.centered else cast(block.rows, dtype)
        if self.factor is not None:
            rows = rows * from_host(self.factor, like=rows, dtype=dtype)
        return self.weighted(rows, block.weights)

    def _centered(self, rows: Array, dtype: np.dtype) -> Array:
        if isinstance(rows, np.ndarray):
            # One new array, converted as it is centered.
            return np.subtract(rows, self.mean.astype(dtype, copy=False), dtype=dtype)
        rows = cast(rows, dtype)
        return rows - from_host(self.mean, like=rows, dtype=dtype)

    def columns(self, block: ColumnBlock, *, dtype: np.dtype = FLOAT64) -> Array:
        """Return the standardized, weighted columns of a dense block of columns as a new array."""
        cut, rows = self.cut(block)
        return cut.rows(rows, dtype=dtype)

    def cut(self, block: ColumnBlock) -> tuple["Standardization", Block]:
        """Return what is done to a block of columns, and that block as rows that have no other columns."""
        part = slice(block.start, block.start + block.columns.shape[1])
        factor = None if self.factor is None else self.factor[part]
        return replace(self, mean=self.mean[part], factor=factor), Block(block.columns, 0, block.weights)

    def times(self, block: Block, V: Array) -> Array:
        """Return Xs V for one block, dense or sparse, in the precision of V."""
        if not self.corrects(block, V):
            return self.rows(block, dtype=dtype_of(V)) @ V
        scaled = V if self.factor is None else self.factor[:, None].astype(V.dtype, copy=False) * V
        out = _times(block.rows, scaled)
        if self.centered:
            out -= (self.mean @ scaled).astype(out.dtype, copy=False)
        return self.weighted(out, block.weights)

    def weighted(self, Y: Array, weights: Array | None) -> Array:
        """Return the rows of Y, each times the root of its weight."""
        return Y if weights is None else Y * _root(weights, Y)[:, None]

    def transposed_times(self, block: Block, Y: Array) -> Array:
        """Return Xs' Y for one block, dense or sparse; Y has a row for each row of the block."""
        if not self.corrects(block, Y):
            return self.rows(block, dtype=dtype_of(Y)).T @ Y
        Y = self.weighted(Y, block.weights)
        out = transposed(block.rows) @ np.ascontiguousarray(Y) if is_sparse(block.rows) else (Y.T @ block.rows).T
        if self.centered:
            out -= self.mean[:, None].astype(out.dtype, copy=False) * Y.sum(axis=0)
        return out if self.factor is None else self.factor[:, None].astype(out.dtype, copy=False) * out

    def lost_by_products(self, weight: float, squares: float) -> float:
        """Return what products that are corrected for the mean afterwards cost, in the units of eigenvalues.

        X V is rounded by eps |X||V| where the centered product is only |Xs||V| large; with the mean's part of |X|
        being |1 mean'| = sqrt(W) |mean|, and |Xs| the root of ``squares``, that is  eps sqrt(W) |mean| |Xs|.
        """
        return eps_of(FLOAT64) * self._mean_norm(weight) * float(np.sqrt(squares))

    def lost_by_columns(self, moments: Moments, terms: int) -> float:
        """Return a bound of what products corrected for the mean cost a matrix that is made of them.

        Sums of ``terms`` products, in whatever order:  terms eps/2 (|X| + |1 mean'|) |Xs|  in the Frobenius norm, |X|
        being at most the sum of the other two.
        """
        size, mean = float(np.sqrt(self._squares(moments).sum())), self._mean_norm(moments.weight)
        return self._lost(moments, (terms + 16) * UNIT * (size + 2 * mean) * size)

    def lost_by_squares(self, moments: Moments, terms: int) -> float:
        """Return the same where products of rows are formed first and corrected afterwards, or of centered rows."""
        size, mean = float(np.sqrt(self._squares(moments).sum())), self._mean_norm(moments.weight)
        return self._lost(moments, (terms + 16) * UNIT * (size + 2 * mean) ** 2)

    def lost_by_rows(self, moments: Moments, terms: int) -> float:
        """Return the same where rows are centered, as dense ones are, and then multiplied."""
        return self._lost(moments, (terms + 8) * UNIT * float(self._squares(moments).sum()))

    def _lost(self, moments: Moments, rounding: float) -> float:
        """Add what the rounding of the mean, and of the factors, has cost.

        About a mean wrong by e the squares are larger by  W |e|^2  (the mean of a constant column is exact). A sum of
        squares, of as many terms as there are rows, is wrong by that many roundings, a factor by half of them, an
        eigenvalue by twice as many.
        """
        squares = self._squares(moments)
        wrong = np.where(moments.squares > 0, UNIT * self.mean, 0.0)
        wrong = wrong if self.factor is None else wrong * self.factor
        scaled = 0.0 if self.factor is None else (moments.count + 16) * UNIT * float(squares.sum())
        return rounding + moments.weight * float(np.square(wrong).sum()) + scaled

    def _squares(self, moments: Moments) -> HostArray:
        return moments.squares if self.factor is None else moments.squares * self.factor**2

    def _mean_norm(self, weight: float) -> float:
        if not self.centered:
            return 0.0
        mean = self.mean if self.factor is None else self.mean * self.factor
        return float(np.sqrt(weight) * np.linalg.norm(mean))

    def corrects(self, block: Block, V: Array) -> bool:
        """Tell whether a product of this block is corrected for the mean afterwards, by a term of rank one."""
        return is_sparse(block.rows) or (self.corrected and isinstance(V, np.ndarray))


def _times(rows: Array, V: HostArray) -> HostArray:
    """Return rows V, (b, k), in the way in which OpenBLAS is the fastest with few columns."""
    if is_sparse(rows) or V.dtype == FLOAT32:
        return np.asarray(rows @ np.ascontiguousarray(V))
    if rows.dtype == FLOAT64 and rows.flags.c_contiguous and is_thin(V):
        return thin_product(rows, V)
    return np.asarray((V.T @ rows.T).T)


def _root(weights: Array, like: Array) -> Array:
    return namespace_of(like).sqrt(from_host(np.asarray(weights), like=like, dtype=None))
