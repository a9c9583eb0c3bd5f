"""The d x d operator of PCA: sums of products of standardized rows."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gramian.arrays.namespace import Array, HostArray, cast, dtype_of, from_host, is_numpy, is_sparse, to_host
from gramian.arrays.precision import FLOAT64, eps_of
from gramian.arrays.squares import completed, merge_squares
from gramian.operators.standardization import (
    ROUNDING,
    FactorSquares,
    FactorTriangle,
    ProductModes,
    Standardization,
    add,
    columns_of,
    merge_triangles,
    piece_length,
    row_pieces,
)
from gramian.operators.symmetric import DenseMatrix, Forming, Product, SymmetricOperator
from gramian.sources.moments import Moments, measure_moments
from gramian.sources.rows import Block, RowSource, ranges
from gramian.sources.sparse import entries_in_float64, transposed


class Covariance(SymmetricOperator):
    """Scatter of the standardized rows, applied without forming it.

    Computes  V -> Xs' (Xs V)  with  Xs = diag(sqrt w) (X - 1 mean') diag(factor): the covariance times its divisor
    W - ddof, so that its eigenvalues are the squared singular values of Xs.

    Dense blocks are centered as they arrive, so a large mean costs no digits; sparse blocks stay sparse and
    pay a rank-one correction instead (see :mod:`gramian.operators.standardization`).

    Cost of ``apply`` to k vectors: 4 n d k operations, one pass over the rows, and working memory for d k numbers per
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
    forming : Forming, optional
        When a solver had better form the matrix.
    """

    is_psd = True

    def __init__(
        self,
        source: RowSource,
        moments: Moments,
        standardization: Standardization,
        *,
        passes: int = 0,
        forming: Forming | None = None,
    ) -> None:
        self.source = source
        self.moments = moments
        self.standardization = standardization
        self.size = source.n_columns
        self.dtype = FLOAT64
        self.applications = passes
        self.forming = forming
        self.error = eps_of(FLOAT64)
        self.data_eps = eps_of(source.dtype)
        self.modes = ProductModes(source, moments, standardization, sums_rows=True)
        if source.is_sparse:
            self.absolute_error = standardization.error_of_products(moments.weight, self.trace())
        if moments.scatter is not None:
            self._state_rounding(moments)

    def apply(self, V: Array, *, accuracy: float | None = None) -> Product:
        """Return Xs'(Xs V): float32 products, summed in float64, when ``accuracy`` allows and rows are float32."""
        self.applications += 1
        mode = self.modes.cheapest(accuracy)
        V = cast(V, mode.dtype)
        V = np.ascontiguousarray(V) if self.source.is_sparse else V
        return Product(cast(mode.source.reduce(_ApplyRows(mode.standardization, V), add), FLOAT64), mode.error)

    def like(self) -> Array:
        """Return a small array of the library and device of the rows."""
        return self.source.like()

    def trace(self) -> float:
        """Return the sum of squares of the standardized rows."""
        return float(self.standardization.squares_of(self.moments).sum())

    def materialize(self) -> DenseMatrix:
        """Form Xs'Xs; its scaling costs no pass, because a scatter is scaled entry by entry without loss."""
        if self.moments.scatter is None and self.source.is_sparse:
            columns = columns_of(self)
            rounding = self.standardization.error_of_columns(self.moments, self.source.n_rows)
            self.error, self.absolute_error = 0.0, rounding
            return DenseMatrix(columns, absolute_error=rounding)
        moments, factor, fresh = self.moments, self.standardization.factor, self.moments.scatter is None
        if fresh:
            moments = measure_moments(self.source, center=self.standardization.centered, about=self.moments.mean)
            self.applications += 1
            self._state_rounding(moments)
        # What was made here, and cannot be used as it is, is not kept together with what is made of it.
        self.moments = moments if factor is None else self.moments
        matrix = moments.scatter if factor is None else _scaled(moments.scatter, factor, in_place=fresh)
        return DenseMatrix(
            matrix,
            error=self.error,
            absolute_error=self.absolute_error,
            is_measured=self.is_measured,
            may_overwrite=True,
        )

    def _state_rounding(self, moments: Moments) -> None:
        """Say what the scatter in the moments is wrong by."""
        self.error, self.absolute_error = moments.error, moments.lost_by_rounding(self.standardization.factor)
        self.is_measured = self.error > 0

    def root(self, V: Array) -> HostArray:
        """Return the triangle of Xs V by TSQR: one pass."""
        self.applications += 1
        s = V.shape[1]
        R = self.source.reduce(FactorTriangle(self.standardization.times, V), merge_triangles, state_bytes=32 * s * s)
        return np.asarray(R)

    def inner(self, V: Array, *, within: float = 0.0) -> HostArray:
        """Return  (Xs V)'(Xs V): one pass, in which no rows are copied if ``within`` allows for it."""
        self.applications += 1
        own = self.standardization
        if within > 0 and self.source.dtype == dtype_of(V) == FLOAT64 and self._corrected_error() <= within:
            own = replace(own, corrected=True)
        fold = FactorSquares(own.times, V)
        total = self.source.reduce(fold, merge_squares, state_bytes=8 * V.shape[1] ** 2)
        return to_host(completed(total.matrix))

    def _corrected_error(self) -> float:
        """Return how far Xs v is from the truth if it is corrected for the mean afterwards, for a unit vector v."""
        rounding = eps_of(FLOAT64) * float(np.sqrt(self.trace()))
        return ROUNDING * (rounding + self.standardization.error_of_products(self.moments.weight, 1.0))


@dataclass(frozen=True, eq=False)
class _ApplyRows:
    standardization: Standardization
    V: Array

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
        return row_pieces(block, piece_length(block.rows.shape[1] * dtype_of(self.V).itemsize))

    def _corrected(self, block: Block) -> HostArray:
        """Return the product of a dense block on the host, corrected for the mean once, not once per piece."""
        own, (d, b) = self.standardization, self.V.shape
        total, sums = np.zeros((b, d)), np.zeros(b)
        for piece in self._pieces(block):
            rows = cast(piece.rows, dtype_of(self.V))
            Y = own.weighted(own.times(piece._replace(rows=rows), self.V), piece.weights)
            total += Y.T @ rows
            sums += Y.sum(axis=0)
        if own.centered:
            total -= sums[:, None] * own.mean
        return (total if own.factor is None else total * own.factor).T

    def _of_sparse(self, block: Block) -> HostArray:
        """Return the product of a sparse block, whose entries become float64 ones where V is."""
        own = self.standardization
        scaled, offset = own.folded(self.V)
        rows = block.rows if block.rows.dtype == scaled.dtype else entries_in_float64(block.rows)
        Y = rows @ scaled
        Y -= offset
        if block.weights is not None:
            Y *= block.weights[:, None]
        return np.asarray(own.recentered(transposed(rows) @ Y, Y.sum(axis=0)))

    def _product(self, block: Block) -> Array:
        rows = self.standardization.rows(block, dtype=dtype_of(self.V))
        return rows.T @ (rows @ self.V)


def _scaled(scatter: Array, factor: HostArray, *, in_place: bool) -> Array:
    """Return  diag(factor) scatter diag(factor);  on the host some columns at a time, into the scatter where asked."""
    if not is_numpy(scatter):
        return scatter * from_host(np.outer(factor, factor), like=scatter)
    matrix = scatter if in_place else np.empty_like(scatter)
    for part in ranges(len(factor), 64):
        np.multiply(scatter[:, part], np.outer(factor, factor[part]), out=matrix[:, part])
    return matrix
