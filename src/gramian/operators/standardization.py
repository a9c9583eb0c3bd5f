"""Centering, scaling and weighting of rows: their one home.

Every operator of rows works on  Xs = diag(sqrt w) (X - 1 mean') diag(factor). Dense blocks are centered before any
product, so a large mean costs no digits. Sparse blocks stay sparse: (X - 1 mean') V = X V - 1 (mean'V) is a
rank-one correction, linear in the mean (never squared).

:class:`Standardization` is what is done to a block of rows, with the products of it, and what their rounding costs.
:class:`ProductModes` picks the precision and the kind of centering of a product from the accuracy asked of it. The
folds (:class:`FactorTriangle`, :class:`FactorSquares`) are the passes over standardized rows, or columns, that
operators share.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gramian.arrays.namespace import (
    Array,
    HostArray,
    cast,
    dtype_of,
    from_host,
    gaussian,
    is_sparse,
    namespace_of,
    on_device,
    to_host,
)
from gramian.arrays.precision import FLOAT32, FLOAT64, eps_of
from gramian.arrays.squares import SquareSum, add_squares
from gramian.operators.symmetric import COARSE_ACCURACY, SymmetricOperator
from gramian.sources.moments import UNIT, Moments, largest
from gramian.sources.rows import Block, ColumnBlock, RowSource, ranges
from gramian.sources.sparse import in_float64, transposed


@dataclass(frozen=True, eq=False)
class Standardization:
    """What is done to each row x before anything else: (x - mean) * factor.

    Attributes
    ----------
    mean : array (d,)
        On the host or where the rows are; zeros when rows are not centered.
    factor : array (d,) or None
        One over the standard deviation of each column when rows are scaled; 1 for a constant column.
    centered : bool
    corrected : bool, default=False
        Whether products of dense rows too are corrected for the mean afterwards, as those of sparse rows are: it saves
        a copy of the rows, and costs the digits that the mean is larger than the spread.
    """

    mean: Array
    factor: Array | None = None
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

    def columns_times(self, block: ColumnBlock, V: Array) -> Array:
        """Return Xs'V for one block of columns; V has a row for each row of X."""
        return self.columns(block).T @ V

    def cut(self, block: ColumnBlock) -> tuple["Standardization", Block]:
        """Return what is done to a block of columns, and that block as rows that have no other columns."""
        part = slice(block.start, block.start + block.columns.shape[1])
        factor = None if self.factor is None else self.factor[part]
        return replace(self, mean=self.mean[part], factor=factor), Block(block.columns, 0, block.weights)

    def times(self, block: Block, V: Array) -> Array:
        """Return Xs V for one block, dense or sparse, in the precision of V."""
        if not self.corrects(block, V):
            return self.rows(block, dtype=dtype_of(V)) @ V
        scaled, offset = self.folded(V)
        rows = block.rows if is_sparse(block.rows) else cast(block.rows, V.dtype)
        out = rows @ (np.ascontiguousarray(scaled) if is_sparse(rows) else scaled)
        out -= offset
        return self.weighted(out, block.weights)

    def folded(self, V: HostArray) -> tuple[HostArray, HostArray]:
        """Return V scaled, and what the mean adds (b,):  Xs V = X scaled - 1 offset'  without weights."""
        scaled = V if self.factor is None else self.factor[:, None].astype(V.dtype, copy=False) * V
        offset = self.mean @ scaled if self.centered else np.zeros(V.shape[1])
        return scaled, offset.astype(V.dtype, copy=False)

    def weighted(self, Y: Array, weights: Array | None) -> Array:
        """Return the rows of Y, each times the root of its weight."""
        return Y if weights is None else Y * _root(weights, Y)[:, None]

    def transposed_times(self, block: Block, Y: Array) -> Array:
        """Return Xs' Y for one block, dense or sparse; Y has a row for each row of the block."""
        if not self.corrects(block, Y):
            return self.rows(block, dtype=dtype_of(Y)).T @ Y
        Y = self.weighted(Y, block.weights)
        out = transposed(block.rows) @ np.ascontiguousarray(Y) if is_sparse(block.rows) else (Y.T @ block.rows).T
        return self.recentered(out, Y.sum(axis=0))

    def recentered(self, out: Array, sums: Array) -> Array:
        """Return  Xs'Y  from  out = X'Y,  which is overwritten, and the ``sums`` of the columns of Y."""
        if self.centered:
            mean = self.mean.astype(out.dtype, copy=False)
            for j, total in enumerate(sums.astype(out.dtype, copy=False)):
                out[:, j] -= total * mean
        return out if self.factor is None else self.factor[:, None].astype(out.dtype, copy=False) * out

    def squares_of(self, moments: Moments) -> Array:
        """Return the sum of squares of each standardized column (d,)."""
        return moments.squares if self.factor is None else moments.squares * self.factor**2

    def error_of_products(self, weight: float, squares: float) -> float:
        """Return what products that are corrected for the mean afterwards cost, in the units of eigenvalues.

        X V is rounded by eps |X||V| where the centered product is only |Xs||V| large; with the mean's part of |X|
        being |1 mean'| = sqrt(W) |mean|, and |Xs| the root of ``squares``, that is  eps sqrt(W) |mean| |Xs|.
        """
        return eps_of(FLOAT64) * self._mean_norm(weight) * float(np.sqrt(squares))

    def error_of_columns(self, moments: Moments, terms: int) -> float:
        """Return a bound of what products corrected for the mean cost a matrix that is made of them.

        Sums of ``terms`` products, in whatever order:  terms eps/2 (|X| + |1 mean'|) |Xs|  in the Frobenius norm, |X|
        being at most the sum of the other two.
        """
        size, mean = float(np.sqrt(self.squares_of(moments).sum())), self._mean_norm(moments.weight)
        return self._with_mean(moments, (terms + 16) * UNIT * (size + 2 * mean) * size)

    def error_of_squares(self, moments: Moments, terms: int) -> float:
        """Return the same where products of rows are formed first and corrected afterwards, or of centered rows."""
        size, mean = float(np.sqrt(self.squares_of(moments).sum())), self._mean_norm(moments.weight)
        return self._with_mean(moments, (terms + 16) * UNIT * (size + 2 * mean) ** 2)

    def error_of_rows(self, moments: Moments, terms: int) -> float:
        """Return the same where rows are centered, as dense ones are, and then multiplied."""
        return self._with_mean(moments, (terms + 8) * UNIT * float(self.squares_of(moments).sum()))

    def _with_mean(self, moments: Moments, rounding: float) -> float:
        """Add what the rounding of the mean, and of the factors, has cost.

        About a mean wrong by e the squares are larger by  W |e|^2  (the mean of a constant column is exact). A sum of
        squares, of as many terms as there are rows, is wrong by that many roundings, a factor by half of them, an
        eigenvalue by twice as many.
        """
        squares = self.squares_of(moments)
        wrong = UNIT * self.mean
        wrong *= moments.squares > 0
        if self.factor is not None:
            wrong *= self.factor
        scaled = 0.0 if self.factor is None else (moments.count + 16) * UNIT * float(squares.sum())
        wrong *= wrong
        return rounding + moments.weight * float(wrong.sum()) + scaled

    def _mean_norm(self, weight: float) -> float:
        if not self.centered:
            return 0.0
        mean = self.mean if self.factor is None else self.mean * self.factor
        return float(np.sqrt(weight * float((mean * mean).sum())))

    def corrects(self, block: Block, V: Array) -> bool:
        """Tell whether a product of this block is corrected for the mean afterwards, by a term of rank one."""
        return is_sparse(block.rows) or (self.corrected and isinstance(V, np.ndarray))


def _root(weights: Array, like: Array) -> Array:
    return namespace_of(like).sqrt(from_host(np.asarray(weights), like=like, dtype=None))


ROUNDING = 8
"""Rounding of a product, in units of eps, relative to the norms of its factors."""


class ProductMode(NamedTuple):
    """How a product is made: of which rows, what is done to them, in which precision, and its relative error."""

    source: RowSource
    standardization: Standardization
    dtype: np.dtype[Any]
    error: float


@dataclass(frozen=True, eq=False)
class ProductModes:
    """The modes in which products with the standardized rows of one source can be made.

    Dense rows are centered before a product, which takes a copy of each block; or the product is corrected for the mean
    afterwards, which takes none and costs the digits by which the mean exceeds the spread. float32 rows are multiplied
    in float32 or, one block at a time, in float64; sparse ones are converted once, when float64 is first asked for.
    With ``sums_rows`` products are  Xs'(Xs V),  summed over all rows.
    """

    source: RowSource
    moments: Moments
    standardization: Standardization
    sums_rows: bool = False
    known: dict[str, ProductMode] = field(default_factory=dict)

    def cheapest(self, accuracy: float | None) -> ProductMode:
        """Return the cheapest mode whose error is at most ``accuracy``; ``None`` asks for the best there is.

        Dense rows are multiplied in float32 whatever its error where ``accuracy`` is coarse enough to ask for that.
        """
        sparse, dtype = self.source.is_sparse, FLOAT64
        least = eps_of(FLOAT32) if sparse else COARSE_ACCURACY
        if self.source.dtype == FLOAT32 and accuracy is not None and accuracy >= least:
            if "coarse" not in self.known:
                self.known["coarse"] = self._coarse(accuracy)
            if not sparse or self.known["coarse"].error <= accuracy:
                return self.known["coarse"]
        error = ROUNDING * eps_of(dtype)
        corrected = error * (1 + self.moments.offset) if self.standardization.centered else error
        if sparse:
            return ProductMode(self.wide, self.standardization, dtype, corrected)
        if accuracy is None or not corrected <= accuracy or self.standardization.factor is not None:
            return ProductMode(self.source, self.standardization, dtype, error)
        return ProductMode(self.source, replace(self.standardization, corrected=True), dtype, corrected)

    @cached_property
    def wide(self) -> RowSource:
        """The rows as they are multiplied in float64: see :func:`~gramian.sources.sparse.in_float64`."""
        return in_float64(self.source)

    def _coarse(self, accuracy: float) -> ProductMode:
        """Return the cheapest mode in float32, its error measured on a block of rows in float64.

        The error of Xs V is taken relative to Xs V itself for a random V, which is less than the norms of both, and
        times eight: the second product and its sum over all rows have errors of their own.
        """
        V = gaussian((self.source.n_columns, 4), seed=0, like=self.source.like())
        rows = self.source.block(0).rows[:64, :]
        block = Block(rows, 0, None)
        exact = to_host(self.standardization.times(block, cast(V, FLOAT64)))
        wrong = self._wrong_mean()
        # What a mean wrong by e leaves of a sum over all rows is quadratic in it, W |e|^2; see _wrong_mean.
        left = self._relative_to_largest(float(wrong @ wrong))
        centered = self._measured(block, V, exact + wrong @ to_host(V), corrected=False, left=left)
        corrected = self._measured(block, V, exact, corrected=not self.source.is_sparse)
        # A copy of the rows must buy digits.
        return corrected if corrected.error <= max(accuracy, 2 * centered.error) else centered

    def _measured(self, block: Block, V: Array, exact: HostArray, *, corrected: bool, left: float = 0.0) -> ProductMode:
        own = replace(self.standardization, corrected=corrected)
        found = to_host(cast(own.times(block, cast(V, FLOAT32)), FLOAT64))
        size = float(np.linalg.norm(exact))
        error = ROUNDING * float(np.linalg.norm(found - exact)) / size if size > 0 else 0.0
        return ProductMode(self.source, own, FLOAT32, max(error + left, eps_of(FLOAT32)))

    def _wrong_mean(self) -> HostArray:
        """Return by how much (d,) the mean is wrong, in standardized units, that float32 rows are centered about.

        Rows are  Xs + r e'  about a mean that is wrong by e, r being the roots of the weights. As  r'Xs = 0,  that adds
        W e e'  to the squares summed over all rows, and nothing of the first order. Zero where no such sum is made.
        """
        own = self.standardization
        if not self.sums_rows or self.source.is_sparse:
            return np.zeros(self.source.n_columns)
        mean = to_host(own.mean)
        wrong = mean - mean.astype(FLOAT32)
        return wrong if own.factor is None else wrong * to_host(own.factor)

    def _relative_to_largest(self, squares: float) -> float:
        """Return  W squares  relative to the largest eigenvalue of  Xs'Xs:  at least its largest diagonal entry."""
        most = largest(self.standardization.squares_of(self.moments))
        return self.moments.weight * squares / most if most > 0 else 0.0


@dataclass(frozen=True, eq=False)
class FactorTriangle:
    """Fold the triangle R of a QR factorization of F V, block by block (TSQR).

    F is Xs over blocks of rows and Xs' over blocks of columns; ``times(block, V)`` is its product. Computes  R with
    R'R = (F V)'(F V), without squaring anything. Cost: 4 n s^2 operations for s vectors and n rows of F, in addition to
    the product itself.
    """

    times: Callable[[Any, Array], Array]
    V: Array

    def __call__(self, state: HostArray | None, block: Block | ColumnBlock) -> HostArray:
        """Take one more block into the triangle."""
        return taller_triangle(state, self.times(block, self.V))


@dataclass(frozen=True, eq=False)
class FactorSquares:
    """Fold the squares  (F V)'(F V),  in float64, block by block. Cost: 2 n d s + n s^2 operations for F (n, d)."""

    times: Callable[[Any, Array], Array]
    V: Array

    def __call__(self, state: SquareSum | None, block: Block | ColumnBlock) -> SquareSum:
        """Take one more block into the sum."""
        return add_squares(state, self.times(block, self.V))


def taller_triangle(state: HostArray | None, rows: Array) -> HostArray:
    """Return the triangle of the rows stacked under a former triangle."""
    part = to_host(namespace_of(rows).linalg.qr(rows, mode="r")[1]) if not isinstance(rows, np.ndarray) else rows
    stacked = part if state is None else np.vstack([state, part])
    return np.asarray(np.linalg.qr(stacked, mode="r"))


def merge_triangles(left: HostArray, right: HostArray) -> HostArray:
    """Return the triangle of two triangles stacked."""
    return np.asarray(np.linalg.qr(np.vstack([left, right]), mode="r"))


def columns_of(operator: SymmetricOperator) -> HostArray:
    """Return the matrix of an operator by applying it to the unit vectors, some at a time.

    For sparse rows far from the origin: a product corrects for the mean in a term linear in it, where forming X'X
    first and correcting afterwards would square it. Cost: m / 256 passes.
    """
    m = operator.size
    matrix = np.empty((m, m))
    for columns in ranges(m, 256):
        unit = np.zeros((m, columns.stop - columns.start))
        unit[np.arange(columns.start, columns.stop), np.arange(unit.shape[1])] = 1.0
        matrix[:, columns] = operator.apply(unit).values
    return (matrix + matrix.T) / 2


def add(left: Any, right: Any) -> Any:
    """Add two partial sums, reusing the left one."""
    left += right
    return left


PIECE = 2**21
"""Bytes of dense rows that both products of an operator take at a time, or of columns. Read from memory once, they stay
in a core's cache."""


def piece_length(bytes_each: int) -> int:
    """Return how many rows, or columns, of ``bytes_each`` make such a piece; 64 at least."""
    return max(64, PIECE // bytes_each)


def row_pieces(block: Block, step: int) -> list[Block]:
    """Cut a block into pieces of ``step`` rows, with their weights; on a device it is one piece."""
    if on_device(block.rows):
        return [block]
    weights = block.weights
    cuts = ranges(block.rows.shape[0], step)
    return [Block(block.rows[i, :], block.start + i.start, None if weights is None else weights[i]) for i in cuts]
