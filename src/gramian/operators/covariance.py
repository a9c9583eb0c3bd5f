"""The d x d operator of PCA: sums of products of standardized rows."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gramian.arrays.namespace import Array, HostArray, cast, from_host, is_numpy, namespace_of, to_host
from gramian.arrays.precision import FLOAT32, FLOAT64, eps_of
from gramian.arrays.products import empty_on_lines, is_thin
from gramian.arrays.squares import completed, merge_squares
from gramian.operators.centering import Standardization, rows_times
from gramian.operators.factor import RowSquares, RowTriangle, add, columns_of, merge_triangles, row_pieces
from gramian.operators.held import HeldMatrix
from gramian.operators.symmetric import Product, SymmetricOperator
from gramian.operators.ways import ROUNDING, Way, Ways
from gramian.sources.measuring import measure_moments
from gramian.sources.moments import Moments
from gramian.sources.rows import Block, RowSource, ranges
from gramian.sources.sparse import SparseRows, add_transposed_times, is_sparse, pieces_in_float64, times

PIECE, PIECE_ROWS = 2**21, 64
"""Bytes of rows that a product takes at a time, and the least rows (4,000 x 4,000, 12 columns, without a copy, by two
workers: 18 ms in float64 and 12 in float32 within a fit)."""

PIECE_ENTRIES = 1 << 18
"""Entries of sparse rows that both products take at a time (5,000,000 in float32 by two workers: 4.1 ms for one vector,
4.7 if all at once, 4.4 if every pass begins at the first)."""

TOGETHER = 10
"""Columns that sparse rows are multiplied by at a time: those of two workers, and their sums, stay in the last cache
(100,000 x 50,000 rows at 1e-3, 20 columns in float64: 60 ms, and 78 if all at once)."""


class Covariance(SymmetricOperator):
    """Scatter of the standardized rows, applied without forming it.

    Computes  V -> Xs' (Xs V)  with  Xs = diag(sqrt w) (X - 1 mean') diag(factor): the covariance times its divisor
    W - ddof, so that its eigenvalues are the squared singular values of Xs.

    Dense blocks are centered as they arrive, so a large mean costs no digits; sparse blocks stay sparse and
    pay a rank-one correction instead (see :mod:`gramian.operators.centering`).

    Cost of ``apply`` to k vectors: 4 n d k operations, one pass over the rows, and working memory for d k numbers a
    worker and one block. ``materialize``: n d^2 operations, one pass, d^2 numbers.

    Not for n much smaller than d: :class:`~gramian.operators.gram.Gram` is the same problem on the smaller side.

    Parameters
    ----------
    source : RowSource
    moments : Moments
        Of the rows of ``source``; a scatter in it makes ``materialize`` free.
    standardization : Standardization
    passes : int, default=0
        Passes already made over the rows, for the moments.
    """

    is_psd = True

    def __init__(
        self, source: RowSource, moments: Moments, standardization: Standardization, *, passes: int = 0
    ) -> None:
        self.source = source
        self.moments = moments
        self.standardization = standardization
        self.size = source.n_columns
        self.dtype = FLOAT64
        self.applications = passes
        self.error = eps_of(FLOAT64)
        self.data_eps = eps_of(source.dtype)
        self.ways = Ways(source, moments, standardization, sums_rows=True)
        if source.is_sparse:
            self.lost = standardization.lost_by_products(moments.weight, self.trace())
        if moments.scatter is not None:
            self._state_rounding(moments)

    def apply(self, V: Array, *, accuracy: float | None = None) -> Product:
        """Return Xs'(Xs V): float32 products, summed in float64, when ``accuracy`` allows and rows are float32."""
        self.applications += 1
        way = self.ways.cheapest(accuracy, columns=V.shape[1])
        V, (d, b) = cast(V, way.dtype), V.shape
        if not isinstance(way.source, SparseRows) or b <= TOGETHER:
            return Product(cast(self._applied(way, V), FLOAT64), way.error)
        values = np.empty((b, d)).T
        for some in ranges(b, TOGETHER):
            values[:, some] = self._applied(way, V[:, some])
        return Product(values, way.error)

    def _applied(self, way: Way, V: Array) -> Array:
        V = np.ascontiguousarray(V) if self.source.is_sparse else _as_multiplied(V)
        # Every other pass begins where the last one ended: what a cache still holds of the rows is used again.
        return way.source.reduce(_ApplyRows(way.standardization, V, self.applications % 2 == 1), add)

    def like(self) -> Array:
        """Return a small array of the library and device of the rows."""
        return self.source.like()

    def trace(self) -> float:
        """Return the sum of squares of the standardized rows."""
        factor = self.standardization.factor
        squares = self.moments.squares if factor is None else self.moments.squares * factor**2
        return float(squares.sum())

    def materialize(self) -> HeldMatrix:
        """Form Xs'Xs; its scaling costs no pass, because a scatter is scaled entry by entry without loss."""
        if self.moments.scatter is None and self.source.is_sparse:
            held = columns_of(self)
            self.error, self.lost = 0.0, self.standardization.lost_by_columns(self.moments, self.source.n_rows)
            return HeldMatrix(held, lost=self.lost)
        moments, factor, fresh = self.moments, self.standardization.factor, self.moments.scatter is None
        if fresh:
            moments = measure_moments(self.source, center=self.standardization.centered, about=self.moments.mean)
            self.applications += 1
            self._state_rounding(moments)
        # What was made here, and cannot be used as it is, is not kept beside what is made of it.
        self.moments = moments if factor is None else self.moments
        matrix = moments.scatter if factor is None else _scaled(moments.scatter, factor, in_place=fresh)
        return HeldMatrix(
            matrix, error=self.error, lost=self.lost, is_measured=self.is_measured, is_spare=True, by_workers=True
        )

    def _state_rounding(self, moments: Moments) -> None:
        """Say what the scatter in the moments is wrong by."""
        self.error, self.lost = moments.error, moments.lost_by_rounding(self.standardization.factor)
        self.is_measured = self.error > 0

    def root(self, V: Array) -> HostArray:
        """Return the triangle of Xs V by TSQR: one pass."""
        self.applications += 1
        s = V.shape[1]
        R = self.source.reduce(RowTriangle(self.standardization, V), merge_triangles, state_bytes=32 * s * s)
        return np.asarray(R)

    def inner(self, V: Array, *, within: float = 0.0) -> HostArray:
        """Return  (Xs V)'(Xs V): one pass, in which no rows are copied if ``within`` allows for it."""
        self.applications += 1
        way = self.standardization
        if within > 0 and self.source.dtype == _dtype(V) == FLOAT64 and self._corrected_error() <= within:
            way = replace(way, corrected=True)
        fold = RowSquares(way, V)
        total = self.source.reduce(fold, merge_squares, state_bytes=8 * V.shape[1] ** 2)
        return to_host(completed(total.matrix))

    def _corrected_error(self) -> float:
        """Return how far Xs v is from the truth if it is corrected for the mean afterwards, for a unit vector v."""
        rounding = eps_of(FLOAT64) * float(np.sqrt(self.trace()))
        return ROUNDING * (rounding + self.standardization.lost_by_products(self.moments.weight, 1.0))

    def cost(self, k: int) -> float:
        """Return the operations of a product with ``k`` vectors."""
        return 4.0 * self.source.n_entries * k

    def amplification(self, values: HostArray) -> HostArray:
        """Return ones: the vectors are the components themselves."""
        return np.ones_like(values)


@dataclass(frozen=True, eq=False)
class _ApplyRows:
    standardization: Standardization
    V: Array
    backward: bool = False

    def __call__(self, state: Any, block: Block) -> Any:
        if self.standardization.corrects(block, self.V):
            part = cast(self._of_sparse(block) if is_sparse(block.rows) else self._corrected(block), FLOAT64)
            return part if state is None else add(state, part)
        for piece in self._pieces(block):
            part = cast(self._product(piece), FLOAT64)
            state = part if state is None else add(state, part)
        return state

    def _pieces(self, block: Block) -> list[Block]:
        """Cut a dense block into pieces that stay in a core's cache for both products, read from memory once."""
        return row_pieces(block, max(PIECE_ROWS, PIECE // (block.rows.shape[1] * _dtype(self.V).itemsize)))

    def _corrected(self, block: Block) -> HostArray:
        """Return the product of a dense block on the host, corrected for the mean once, not once a piece."""
        own, (d, b) = self.standardization, self.V.shape
        total, sums = np.zeros((b, d)), np.zeros(b)
        for piece in self._pieces(block):
            rows = cast(piece.rows, _dtype(self.V))
            Y = own.weighted(own.times(piece._replace(rows=rows), self.V), piece.weights)
            total += Y.T @ rows
            sums += Y.sum(axis=0)
        if own.centered:
            total -= sums[:, None] * own.mean
        return (total if own.factor is None else total * own.factor).T

    def _of_sparse(self, block: Block) -> HostArray:
        """Return the product of a sparse block, both products of a piece while it is in a cache."""
        own = self.standardization
        scaled, offset = own.folded(self.V)
        total, sums = np.zeros(scaled.shape, dtype=scaled.dtype), np.zeros_like(offset)
        for part, rows, here in self._sparse_pieces(block.rows):
            Y = times(rows, scaled, here)
            Y -= offset
            if block.weights is not None:
                Y *= block.weights[part, None]
            add_transposed_times(rows, Y, total, here)
            sums += Y.sum(axis=0)
        return np.asarray(own.recentered(total, sums))

    def _sparse_pieces(self, rows: Any) -> Iterator[tuple[slice, Any, slice]]:
        """Give places of pieces, and rows with the places in them; entries become float64 ones where V is."""
        if rows.dtype != self.V.dtype:
            yield from ((part, piece, slice(0, piece.shape[0])) for part, piece in pieces_in_float64(rows))
            return
        parts = ranges(rows.shape[0], max(1, rows.shape[0] * PIECE_ENTRIES // max(rows.nnz, 1)))
        yield from ((part, rows, part) for part in (reversed(parts) if self.backward else parts))

    def _product(self, block: Block) -> Array:
        rows = self.standardization.rows(block, dtype=_dtype(self.V))
        if is_numpy(rows):
            return (rows_times(rows, self.V).T @ rows).T
        return rows.T @ (rows @ self.V)


def _scaled(scatter: Array, factor: HostArray, *, in_place: bool) -> Array:
    """Return  diag(factor) scatter diag(factor);  on the host some columns at a time, into the scatter where asked."""
    if not is_numpy(scatter):
        return scatter * from_host(np.outer(factor, factor), like=scatter)
    matrix = scatter if in_place else np.empty_like(scatter)
    for part in ranges(len(factor), PIECE_ROWS):
        np.multiply(scatter[:, part], np.outer(factor, factor[part]), out=matrix[:, part])
    return matrix


def _as_multiplied(V: Array) -> Array:
    """Return V on cache lines, in the order in which rows are multiplied by it (see ``Standardization.times``)."""
    if not is_numpy(V):
        return V
    held = empty_on_lines(*V.shape, dtype=V.dtype)
    if V.dtype == FLOAT64 and not is_thin(held):
        held = empty_on_lines(*V.T.shape, dtype=V.dtype).T
    held[...] = V
    return held


def _dtype(V: Array) -> np.dtype[Any]:
    return FLOAT32 if V.dtype == namespace_of(V).float32 else FLOAT64
