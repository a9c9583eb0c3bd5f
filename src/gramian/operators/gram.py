"""The n x n operator of dual PCA, and the way back from its eigenvectors to components."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy

from gramian.arrays.namespace import (
    Array,
    HostArray,
    cast,
    device_of,
    dtype_of,
    from_host,
    is_numpy,
    is_sparse,
    namespace_of,
    on_device,
    to_host,
)
from gramian.arrays.precision import FLOAT32, FLOAT64, eps_of
from gramian.arrays.squares import SquareSum, add_squares, completed, merge_squares
from gramian.operators.standardization import (
    FactorSquares,
    FactorTriangle,
    ProductModes,
    Standardization,
    add,
    columns_of,
    merge_triangles,
    piece_length,
    taller_triangle,
)
from gramian.operators.symmetric import DenseMatrix, Forming, Product, SymmetricOperator
from gramian.sources.moments import Moments, product_dtype
from gramian.sources.rows import Block, ColumnBlock, RowSource, ranges, rows_here


class Features(NamedTuple):
    """Vectors over the columns, (d, k), and their inner products (k, k), summed in the same pass."""

    values: Array
    inner: HostArray


class Gram(SymmetricOperator):
    """Inner products of the standardized rows, applied without forming them.

    Computes  U -> Xs (Xs' U)  with Xs as in :class:`~gramian.operators.covariance.Covariance`; it has the same non-zero
    eigenvalues, and ``components`` turns its eigenvectors u into  v = Xs'u / sqrt(lambda).

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
    forming : Forming, optional
        When a solver had better form the matrix.

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
        forming: Forming | None = None,
    ) -> None:
        self.source = source
        self.moments = moments
        self.standardization = standardization
        self.size = source.n_rows
        self.dtype = FLOAT64
        self.applications = passes
        self.forming = forming
        self.gram = gram
        self.formed_in = FLOAT64 if gram is None else product_dtype(source)
        self.modes = ProductModes(source, moments, standardization)
        self.error = eps_of(FLOAT64) if gram is None else gram.error
        self.data_eps = eps_of(source.dtype)
        if source.is_sparse:
            self.absolute_error = standardization.error_of_products(moments.weight, self.trace())
        if gram is not None:
            self.absolute_error, self.is_measured = standardization.error_of_rows(moments, gram.depth), gram.error > 0

    def apply(self, V: Array, *, accuracy: float | None = None) -> Product:
        """Return Xs(Xs'V): one pass, or two where only rows can be read."""
        self.applications += 1 if self.source.has_columns else 2
        mode = self.modes.cheapest(accuracy)
        V = cast(V, mode.dtype)
        if self.source.has_columns:
            fold = _ApplyColumns(mode.standardization, V)
            values = self.source.reduce_columns(fold, add)
        else:
            Y = mode.source.reduce(_TransposedTimes(mode.standardization, V), add)
            values = rows_here(mode.source.map_rows(_Times(mode.standardization, cast(Y, mode.dtype))))
        return Product(cast(values, FLOAT64), mode.error)

    def like(self) -> Array:
        """Return a small array of the library and device of the rows."""
        return self.source.like()

    def trace(self) -> float:
        """Return the sum of squares of the standardized rows."""
        return float(self.standardization.squares_of(self.moments).sum())

    def materialize(self) -> DenseMatrix:
        """Form Xs Xs'."""
        if self.source.is_sparse and self.moments.is_offset:
            matrix = columns_of(self)
            return self._dense(matrix, 0.0, self.standardization.error_of_columns(self.moments, self._terms))
        if self.gram is not None:
            return self._dense(self.gram.matrix, self.error, self.absolute_error)
        self.applications += 1
        n = self.size
        if self.source.has_columns:
            self.formed_in = product_dtype(self.source)
            fold = _SquareColumns(self.standardization, self.formed_in)
            total = self.source.reduce_columns(fold, merge_squares, state_bytes=8 * n * n)
            rounding = self.standardization.error_of_rows(self.moments, total.depth)
            return self._dense(completed(total.matrix), total.error, rounding)
        fold_pairs = _InnerProducts(self.standardization, n)
        matrix = self.source.reduce_pairs(fold_pairs, add, symmetric=True)
        own = self.standardization
        rounding_of = own.error_of_squares if self.source.is_sparse else own.error_of_rows
        matrix = from_host(completed(matrix), like=self.source.like())
        return self._dense(matrix, 0.0, rounding_of(self.moments, self._terms))

    @property
    def _terms(self) -> int:
        """Products that an inner product of two rows is summed from, at most."""
        return min(self.source.n_columns, self.source.n_entries)

    def _dense(self, matrix: Array, error: float, absolute_error: float) -> DenseMatrix:
        """Keep what is known of the matrix's rounding, here too."""
        coarse = not self.source.is_sparse and product_dtype(self.source) != FLOAT64
        self.error, self.absolute_error, self.is_measured = error, absolute_error, error > 0 or coarse
        return DenseMatrix(
            matrix, error=error, absolute_error=absolute_error, is_measured=self.is_measured, may_overwrite=True
        )

    def root(self, V: Array) -> HostArray:
        """Return the triangle of Xs'V by TSQR over columns: one pass."""
        self.applications += 1
        if self.source.has_columns:
            s = V.shape[1]
            R = self.source.reduce_columns(
                FactorTriangle(self.standardization.columns_times, V), merge_triangles, state_bytes=8 * s * s
            )
            return np.asarray(R)
        return taller_triangle(None, self._transposed_times(V))

    def inner(self, V: Array, *, within: float = 0.0) -> HostArray | None:
        """Return  (Xs'V)'(Xs'V): one pass over columns; ``None`` where only rows can be read."""
        del within
        if not self.source.has_columns:
            return None
        self.applications += 1
        fold = FactorSquares(self.standardization.columns_times, V)
        total = self.source.reduce_columns(fold, merge_squares, state_bytes=8 * V.shape[1] ** 2)
        return to_host(completed(total.matrix))

    def components(self, vectors: Array, values: HostArray, *, repaired: int = 0, room: int = 0) -> Array:
        """Return the components (d, k) of eigenvectors: orthonormal columns but for null ones.

        float64, or float32 where the rows are. Columns whose singular value is rounding are no directions yet, and zero
        where there are more of them than directions, or ``room`` for more and columns can be read. Cost: one pass,
        2 n d k + 2 d k^2 operations, d k numbers.
        """
        k = len(values)
        # Centered rows sum to zero: the last of n directions is none, and its rounding would cost the others time.
        real = min(k, max(self.size - self.standardization.centered, 1))
        squares = np.maximum(values[:real], 0.0)
        U = cast(vectors[:, :real], self._mapped_in(values[:real], repaired))
        Y, inner = self.to_features(U, room=max(k, room))
        r = int(np.count_nonzero(squares > (len(squares) * eps_of(FLOAT64)) ** 2 * squares[:1].sum()))
        Y[:, :r] = orthonormal_features(Y[:, :r], squares[:r], inner[:r, :r])
        return Y

    def rough_components(self, vectors: Array, values: HostArray) -> Array:
        """Return  Xs'u / sqrt(lambda)  of some eigenvectors: one pass."""
        found = self.to_features(vectors).values
        found /= from_host(np.sqrt(np.where(values > 0, values, np.inf)), like=found)
        return found

    def _mapped_in(self, values: HostArray, repaired: int) -> np.dtype[Any]:
        """Return the precision in which eigenvectors of these values are mapped to the columns.

        Rounding of  Xs'u  turns a component by about  eps s_1 / s_k,  rounding of the matrix has turned u by about
        eps (s_1 / s_k)^2  already: where its products were float32 ones, so is this, down to a singular value of a
        thousandth of the first. What the component then has of the larger ones, which would be in its residual,
        orthonormalization takes out.
        """
        k = len(values)
        single = k > 0 and values[-1] > 1e-6 * values[0] and k <= self.size - repaired
        return self.formed_in if single else FLOAT64

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
        fold = _ProjectColumns(self.standardization, U.T, out[:k, :])
        return Features(out.T, to_host(self.source.reduce_columns(fold, add, state_bytes=8 * k * k)))

    def _transposed_times(self, U: Array) -> Array:
        return self.modes.wide.reduce(_TransposedTimes(self.standardization, U), add)

    def residual_weight(self, values: HostArray) -> HostArray:
        """Return sqrt(lambda_1 / lambda_i): the residual of  v = Xs'u / sqrt(lambda_i)  in the d x d problem.

        Xs'Xs v - lambda v = Xs'(A u - lambda u) / sqrt(lambda), so a residual of u grows by at most s_1 / s_i.
        """
        positive = np.maximum(values, np.finfo(float).tiny)
        return np.asarray(np.sqrt(np.maximum(positive[0] / positive, 1.0)))


def orthonormal_features(Y: Array, squares: HostArray, inner: HostArray) -> Array:
    """Return orthonormal columns from  Y = Xs'U, whose columns are components times singular values.

    Computes  Y diag(1 / s) R^-1  with  R'R = diag(1 / s) Y'Y diag(1 / s)  by Cholesky, in descending order of size: an
    inaccurate small column is made orthogonal to the accurate large ones. That is as good as a QR factorization where
    the columns are nearly orthogonal anyway; elsewhere it is Householder's, in which a null column becomes some
    direction orthogonal to all.

    Cost: 2 d k^2 operations, none where the columns are orthogonal to rounding, or 4 d k^2; Y is used up.

    Parameters
    ----------
    Y : array (d, k)
    squares : numpy array (k,)
        Squared singular values, descending.
    inner : numpy array (k, k)
        Y'Y.
    """
    norms = np.sqrt(np.maximum(squares, 0.0))
    if len(norms) and norms[-1] > 1e-4 * norms[0]:
        turn = _turn_between(inner, norms)
        if turn is not None:
            return _turned(Y, turn)
    Y *= from_host(1 / np.maximum(norms, 1e-300 + 1e-16 * norms.max(initial=0.0)), like=Y)
    Q, R = _orthogonal_triangular(Y)
    Q *= from_host(np.where(np.diagonal(to_host(R)) < 0, -1.0, 1.0), like=Q)
    return Q


def _turn_between(inner: HostArray, norms: HostArray) -> HostArray | None:
    """Return  diag(1 / s) R^-1,  a vector where R is the identity to rounding, ``None`` where it is far from that.

    In addition to Y'Y one more matrix is in memory.
    """
    cosines = inner / norms
    cosines /= norms[:, None]
    np.einsum("ii->i", cosines)[...] -= 1.0
    if max(cosines.max(), -cosines.min()) <= 64 * eps_of(FLOAT64):
        return np.asarray(1 / norms)
    # Up to that norm of V'V - I its Cholesky factor is as good as a QR factorization of V.
    if np.linalg.norm(cosines) > 0.5:
        return None
    np.einsum("ii->i", cosines)[...] += 1.0
    triangle = scipy.linalg.cholesky(cosines.T, overwrite_a=True, check_finite=False)
    turn: HostArray = scipy.linalg.lapack.dtrtri(triangle, overwrite_c=1)[0]
    turn /= norms[:, None]
    return turn


def _orthogonal_triangular(Y: Array) -> tuple[Array, Array]:
    """Return Q and R: in place where vectors lie one after the other in memory."""
    if not is_numpy(Y) or not Y.flags.f_contiguous:
        Q, R = namespace_of(Y).linalg.qr(Y)
        return Q, R
    found: tuple[Array, Array] = scipy.linalg.qr(Y, mode="economic", overwrite_a=True, check_finite=False)
    return found


def _turned(Y: Array, turn: HostArray) -> Array:
    """Return  Y turn,  turn being upper triangular or diagonal: in place where vectors lie one after the other."""
    turn = turn.astype(dtype_of(Y), copy=False)
    if turn.ndim == 1:
        Y *= from_host(turn, like=Y)
        return Y
    if not is_numpy(Y) or not Y.flags.f_contiguous:
        return Y @ from_host(np.ascontiguousarray(turn), like=Y)
    trmm = scipy.linalg.blas.strmm if Y.dtype == FLOAT32 else scipy.linalg.blas.dtrmm
    return np.asarray(trmm(1.0, turn, Y, side=1, overwrite_b=1))


def column_pieces(block: ColumnBlock, itemsize: int) -> Iterator[ColumnBlock]:
    """Cut a block into pieces of so few columns that they, or a copy of them, stay in a core's cache.

    On a device it is one piece.
    """
    if on_device(block.columns):
        yield block
        return
    n, width = block.columns.shape
    for some in ranges(width, piece_length(itemsize * n)):
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

    def __call__(self, state: Any, block: ColumnBlock) -> Any:
        dtype = dtype_of(self.Ut)
        for piece in column_pieces(block, dtype.itemsize):
            part = self.out[:, piece.start : piece.start + piece.columns.shape[1]]
            part[...] = self.Ut @ self.standardization.columns(piece, dtype=dtype)
            inner = cast(part @ part.T, FLOAT64)
            state = inner if state is None else add(state, inner)
        return state


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
        if is_sparse(left.rows):
            state[rows, columns] = _sparse_products(self.standardization, right, left)
        else:
            products = self.standardization.rows(right) @ self.standardization.rows(left).T
            state[rows, columns] = to_host(products)
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
