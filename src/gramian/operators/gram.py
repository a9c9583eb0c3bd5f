"""The n x n operator of dual PCA, and the way back to features."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gramian.arrays.namespace import Array, HostArray, cast, device_of, dtype_of, is_numpy, namespace_of, to_host
from gramian.arrays.precision import FLOAT64, eps_of
from gramian.arrays.squares import SquareSum, add_squares, completed, merge_squares
from gramian.operators.centering import Standardization
from gramian.operators.factor import ColumnSquares, ColumnTriangle, add, columns_of, merge_triangles, taller_triangle
from gramian.operators.held import HeldMatrix
from gramian.operators.symmetric import Product, SymmetricOperator
from gramian.operators.ways import Ways
from gramian.sources.measuring import working_dtype
from gramian.sources.moments import Moments
from gramian.sources.rows import Block, ColumnBlock, RowSource, ranges, rows_here

PIECE, PIECE_COLUMNS = 2**21, 64
"""Bytes of columns that a product takes at a time, and the least columns."""


class Features(NamedTuple):
    """Vectors over the columns, (d, k), and their inner products (k, k), summed in the same pass."""

    values: Array
    inner: HostArray


class Gram(SymmetricOperator):
    """Inner products of the standardized rows, applied without forming them.

    Computes  U -> Xs (Xs' U)  with Xs as in :class:`~gramian.operators.covariance.Covariance`; it has the same non-zero
    eigenvalues, and ``to_features`` turns its eigenvectors u into components  v = Xs'u / sqrt(lambda).

    Cost of ``apply`` to k vectors: 4 n d k operations; one pass where columns can be read in blocks, two passes
    where only rows can. ``materialize``: n^2 d operations, one pass, n^2 numbers.

    Not for d much smaller than n: the d x d problem is the smaller one.

    Parameters
    ----------
    source : RowSource
    moments : Moments
        Of the rows of ``source``.
    standardization : Standardization
    passes : int, default=0
        Passes already made over the rows, for the moments.
    gram : SquareSum, optional
        The matrix itself, where the moments were measured together with it.

    Attributes
    ----------
    formed_in : numpy.dtype
        Precision of the products that the matrix was summed from, float64 before it is formed.
    """

    is_psd = True

    def __init__(
        self,
        source: RowSource,
        moments: Moments,
        standardization: Standardization,
        *,
        passes: int = 0,
        gram: SquareSum | None = None,
    ) -> None:
        self.source = source
        self.moments = moments
        self.standardization = standardization
        self.size = source.n_rows
        self.dtype = FLOAT64
        self.applications = passes
        self.gram = gram
        self.formed_in = FLOAT64 if gram is None else working_dtype(source)
        self.ways = Ways(source, moments, standardization)
        self.error = eps_of(FLOAT64) if gram is None else gram.error
        self.data_eps = eps_of(source.dtype)
        if source.is_sparse:
            self.lost = standardization.lost_by_products(moments.weight, self.trace())
        if gram is not None:
            self.lost, self.is_measured = standardization.lost_by_rows(moments, gram.depth), gram.error > 0

    def apply(self, V: Array, *, accuracy: float | None = None) -> Product:
        """Return Xs(Xs'V): one pass, or two where only rows can be read."""
        self.applications += 1 if self.source.has_columns else 2
        way = self.ways.cheapest(accuracy)
        V = cast(V, way.dtype)
        if self.source.has_columns:
            fold = _ApplyColumns(way.standardization, V)
            values = self.source.reduce_columns(fold, add)
        else:
            Y = way.source.reduce(_TransposedTimes(way.standardization, V), add)
            values = rows_here(way.source.map_rows(_Times(way.standardization, cast(Y, way.dtype))))
        return Product(cast(values, FLOAT64), way.error)

    def like(self) -> Array:
        """Return a small array of the library and device of the rows."""
        return self.source.like()

    def trace(self) -> float:
        """Return the sum of squares of the standardized rows."""
        factor = self.standardization.factor
        squares = self.moments.squares if factor is None else self.moments.squares * factor**2
        return float(squares.sum())

    def materialize(self) -> HeldMatrix:
        """Form Xs Xs'."""
        if self.source.is_sparse and self.moments.is_offset:
            matrix = columns_of(self)
            return self._held(matrix, 0.0, self.standardization.lost_by_columns(self.moments, self._terms))
        if self.gram is not None:
            return self._held(self.gram.matrix, self.error, self.lost)
        self.applications += 1
        n = self.size
        if self.source.has_columns:
            self.formed_in = working_dtype(self.source)
            fold = _SquareColumns(self.standardization, self.formed_in)
            total = self.source.reduce_columns(fold, merge_squares, state_bytes=8 * n * n)
            lost = self.standardization.lost_by_rows(self.moments, total.depth)
            return self._held(completed(total.matrix), total.error, lost)
        fold_pairs = _InnerProducts(self.standardization, n)
        matrix = self.source.reduce_pairs(fold_pairs, add, symmetric=True)
        lost_by = self.standardization.lost_by_squares if self.source.is_sparse else self.standardization.lost_by_rows
        return self._held(completed(matrix), 0.0, lost_by(self.moments, self._terms))

    @property
    def _terms(self) -> int:
        """Products that an inner product of two rows is summed from, at most."""
        return min(self.source.n_columns, self.source.n_entries)

    def _held(self, matrix: Array, error: float, lost: float) -> HeldMatrix:
        """Keep what is known of the matrix's rounding, here too."""
        coarse = not self.source.is_sparse and working_dtype(self.source) != FLOAT64
        self.error, self.lost, self.is_measured = error, lost, error > 0 or coarse
        return HeldMatrix(matrix, error=error, lost=lost, is_measured=self.is_measured, is_spare=True, by_workers=True)

    def root(self, V: Array) -> HostArray:
        """Return the triangle of Xs'V by TSQR over columns: one pass."""
        self.applications += 1
        if self.source.has_columns:
            s = V.shape[1]
            R = self.source.reduce_columns(
                ColumnTriangle(self.standardization, V), merge_triangles, state_bytes=8 * s * s
            )
            return np.asarray(R)
        return taller_triangle(None, self._transposed_times(V))

    def inner(self, V: Array, *, within: float = 0.0) -> HostArray | None:
        """Return  (Xs'V)'(Xs'V): one pass over columns; ``None`` where only rows can be read."""
        del within
        if not self.source.has_columns:
            return None
        self.applications += 1
        fold = ColumnSquares(self.standardization, V)
        total = self.source.reduce_columns(fold, merge_squares, state_bytes=8 * V.shape[1] ** 2)
        return to_host(completed(total.matrix))

    def to_features(self, U: Array, *, room: int = 0) -> Features:
        """Return Xs'U, (d, k): the components times their singular values when U holds eigenvectors.

        One pass, in the precision of U. Where columns can be read there are ``room`` of them, zero beyond those of U.
        """
        self.applications += 1
        if not self.source.has_columns:
            values = self._transposed_times(U)
            return Features(values, to_host(values.T @ values))
        k = U.shape[1]
        out = namespace_of(U).empty((max(k, room), self.source.n_columns), dtype=U.dtype, **device_of(U))
        out[k:, :] = 0.0
        near = dtype_of(U) == FLOAT64 and not self.moments.is_offset
        fold = _ProjectColumns(self.standardization, U.T, out[:k, :], near)
        return Features(out.T, to_host(self.source.reduce_columns(fold, add, state_bytes=8 * k * k)))

    def _transposed_times(self, U: Array) -> Array:
        return self.ways.wide.reduce(_TransposedTimes(self.standardization, U), add)

    def cost(self, k: int) -> float:
        """Return the operations of a product with ``k`` vectors."""
        return 4.0 * self.source.n_entries * k

    def amplification(self, values: HostArray) -> HostArray:
        """Return sqrt(lambda_1 / lambda_i): the residual of  v = Xs'u / sqrt(lambda_i)  in the d x d problem.

        Xs'Xs v - lambda v = Xs'(A u - lambda u) / sqrt(lambda), so a residual of u grows by at most s_1 / s_i.
        """
        positive = np.maximum(values, np.finfo(float).tiny)
        return np.asarray(np.sqrt(np.maximum(positive[0] / positive, 1.0)))


def column_pieces(block: ColumnBlock, itemsize: int) -> Iterator[ColumnBlock]:
    """Cut a block into pieces of so few columns that they, or a copy of them, stay in a core's cache."""
    n, width = block.columns.shape
    for some in ranges(width, max(PIECE_COLUMNS, PIECE // (itemsize * n))):
        yield ColumnBlock(block.columns[:, some], block.start + some.start, block.weights)


@dataclass(frozen=True, eq=False)
class _ApplyColumns:
    standardization: Standardization
    V: Array

    def __call__(self, state: Any, block: ColumnBlock) -> Any:
        for piece in column_pieces(block, dtype_of(self.V).itemsize):
            part = cast(self._product(piece), FLOAT64)
            state = part if state is None else add(state, part)
        return state

    def _product(self, block: ColumnBlock) -> Array:
        cut, rows = self.standardization.cut(block)
        if cut.corrects(rows, self.V):
            rows = rows._replace(rows=cast(rows.rows, dtype_of(self.V)))
            return cut.times(rows, cut.transposed_times(rows, self.V))
        columns = cut.rows(rows, dtype=dtype_of(self.V))
        return columns @ (columns.T @ self.V)


@dataclass(frozen=True, eq=False)
class _TransposedTimes:
    standardization: Standardization
    U: Array

    def __call__(self, state: Any, block: Block) -> Any:
        rows = self.U[block.start : block.start + block.rows.shape[0], :]
        part = cast(self.standardization.transposed_times(block, rows), FLOAT64)
        return part if state is None else add(state, part)


@dataclass(frozen=True, eq=False)
class _Times:
    standardization: Standardization
    V: Array

    def __call__(self, block: Block) -> Array:
        return self.standardization.times(block, self.V)


@dataclass(frozen=True, eq=False)
class _ProjectColumns:
    """Fill the columns of  U'Xs  that a block has, and sum their inner products while they are in a core's cache."""

    standardization: Standardization
    Ut: Array
    out: Array
    near: bool

    def __call__(self, state: Any, block: ColumnBlock) -> Any:
        dtype = dtype_of(self.Ut)
        for piece in column_pieces(block, dtype.itemsize):
            part = self.out[:, piece.start : piece.start + piece.columns.shape[1]]
            if self.near and piece.weights is None and is_numpy(piece.columns):
                self._fill_corrected(part, piece)
            else:
                part[...] = self.Ut @ self.standardization.columns(piece, dtype=dtype)
            state = self._with_inner(state, part)
        return state

    def _with_inner(self, state: Any, part: Array) -> Any:
        inner = cast(part @ part.T, FLOAT64)
        return inner if state is None else add(state, inner)

    def _fill_corrected(self, part: HostArray, block: ColumnBlock) -> None:
        """Correct the product for the mean afterwards: near the origin that costs no digits, and saves a copy."""
        columns = slice(block.start, block.start + block.columns.shape[1])
        np.matmul(self.Ut, cast(block.columns, FLOAT64), out=part)
        if self.standardization.centered:
            part -= self.Ut.sum(axis=1)[:, None] * self.standardization.mean[columns]
        if self.standardization.factor is not None:
            part *= self.standardization.factor[columns]


@dataclass(frozen=True, eq=False)
class _SquareColumns:
    standardization: Standardization
    dtype: np.dtype[Any]

    def __call__(self, state: SquareSum | None, block: ColumnBlock) -> SquareSum:
        return add_squares(state, self.standardization.columns(block, dtype=self.dtype).T)


@dataclass(frozen=True, eq=False)
class _InnerProducts:
    """Fill the lower triangle of Xs Xs' from pairs of row blocks, sparse ones without making them dense."""

    standardization: Standardization
    size: int

    def __call__(self, state: HostArray | None, left: Block, right: Block) -> HostArray:
        state = np.zeros((self.size, self.size), order="F") if state is None else state
        rows = slice(right.start, right.start + right.rows.shape[0])
        columns = slice(left.start, left.start + left.rows.shape[0])
        if hasattr(left.rows, "indptr"):
            state[rows, columns] = _sparse_products(self.standardization, right, left)
        else:
            state[rows, columns] = self.standardization.rows(right) @ self.standardization.rows(left).T
        return state


def _sparse_products(standardization: Standardization, left: Block, right: Block) -> HostArray:
    """Return (L - 1m')F F(R - 1m')' for sparse blocks L, R: the product of sparse rows and rank-one corrections."""
    factor = standardization.factor
    squared = np.ones(left.rows.shape[1]) if factor is None else factor**2
    scaled = left.rows.multiply(squared).tocsr()
    out = np.asarray((scaled @ right.rows.T).toarray(), dtype=FLOAT64)
    if standardization.centered:
        mean = standardization.mean * squared
        out -= (left.rows @ mean)[:, None] + (right.rows @ mean)[None, :] - mean @ standardization.mean
    if left.weights is not None and right.weights is not None:
        out *= np.sqrt(left.weights)[:, None] * np.sqrt(right.weights)[None, :]
    return out
