"""Components of a kernel PCA as points of feature space, in the form in which rows are projected on them.

With phi the kernel's own map, components are  v_l = sum_j c_jl phi(x_j)  and the mean is  sum_j o_j phi(x_j),  so that
the scores  v_l . (phi(x) - mean)  of a row x, and its distance from the components, need k alone. How components are
written down depends on what a fit leaves:

====================  ==========================================================================================
RowExpansion          combinations of the rows of the fit, wherever those are: in memory, in files, on workers
KernelExpansion       the same over rows in memory, the mean written out: says also of scores which point P of
                      feature space they stand for, which is what pre-images are found from
FeatureExpansion      vectors of an explicit feature space: no row of the fit is needed
MatrixExpansion       combinations of the rows of a kernel matrix that was given: new rows are kernel values too
====================  ==========================================================================================
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from gramian.arrays.namespace import Array, HostArray, cast, dtype_of, from_host, is_sparse, on_device, to_host
from gramian.arrays.precision import FLOAT64
from gramian.errors import InputError, NotSupportedError
from gramian.features.feature_map import FeatureMap
from gramian.features.sampling import take_rows
from gramian.kernels.blocks import named_rows, of_kind, on_host, require_same_device, shifted, squared_norms
from gramian.kernels.centering import KernelCentering, RowWeights, center_matrix
from gramian.kernels.kernel import Kernel, Prepared
from gramian.operators.kernel_device import BlockTiles
from gramian.operators.kernel_gram import READY_BYTES
from gramian.operators.kernel_tiles import PlacedKernel
from gramian.operators.standardization import add
from gramian.sources.rows import Block, RowSource, all_rows, ranges

PIECE_NUMBERS = 1 << 20
"""Kernel values or features that are held at a time: 8 MB per worker."""

NEW_ROWS, FITTED_ROWS = 512, 2048
"""New rows, and rows of the fit, whose kernel values are held at a time."""


class Expansion(ABC):
    """Components of a kernel PCA in the form in which rows are projected on them."""

    knows_lengths: ClassVar[bool] = True
    """Whether k(x, x) of a new row is known, and so its distance from the components."""

    @abstractmethod
    def scores_and_errors(self, rows: Any) -> tuple[HostArray, HostArray]:
        """Return scores (b, k) of rows, and  kc(x, x) - |y|^2  (b,), nan where it is not known."""

    def project(self, rows: Any) -> HostArray:
        """Return the scores  v_l . (phi(x) - mean)  of rows (b, k)."""
        return self.scores_and_errors(rows)[0]


@dataclass(frozen=True, eq=False)
class RowExpansion(Expansion):
    """Components as combinations of the rows of the fit:  y = kc(x, :) A.

    Cost: m n kernel values for m rows, in pieces of 8 MB.
    """

    placed: PlacedKernel
    source: RowSource
    coefficients: HostArray
    centering: KernelCentering
    _ready: dict[int, Prepared] = field(default_factory=dict, repr=False)

    def scores_and_errors(self, rows: Any) -> tuple[HostArray, HostArray]:
        """Return scores and squared distances from the components: sums over the blocks of the rows of the fit."""
        if rows.shape[1] != self.source.n_columns:
            raise InputError(_columns_sentence(rows.shape[1], self.source.n_columns))
        if on_device(rows):
            return self.ending.both(self._sums_there(rows), rows)
        new, fold = Block(rows, 0, None), self.fold
        if not self.source.is_local:
            return self.ending.both(self.source.reduce(SumsAgainst(fold, new), add), rows)
        if 16 * (self.source.n_columns + 2) * self.source.n_rows <= READY_BYTES:
            fold = replace(fold, ready=self._ready)
        sums = np.zeros((rows.shape[0], self.coefficients.shape[1] + 1))
        for i in range(self.source.n_blocks):
            sums = fold(sums, new, self.source.block(i))
        return self.ending.both(sums, rows)

    def _sums_there(self, rows: Array) -> HostArray:
        """Return the sums for rows on a device, made there in float64."""
        require_same_device(rows, self.source.like())
        fitted = all_rows(self.source)
        like = cast(rows[:0, :], FLOAT64)
        tiles = BlockTiles(self.placed.on(like), fitted, FLOAT64)
        return to_host(tiles.multiply(rows, fitted, from_host(self.fold.joined, like=like), shift=0.0)[0])

    @property
    def fold(self) -> "SumsOfPairs":
        """What sums  k(x, :) A  over blocks of the rows of the fit; one more column of A gives the mean of k(x, :)."""
        joined = np.column_stack([self.coefficients, self.centering.mean_weights()])
        return SumsOfPairs(self.placed, joined, self.source.is_sparse)

    @property
    def ending(self) -> "FinishSums":
        """What turns sums into scores, without the rows of the fit."""
        return FinishSums(self.placed, self.coefficients, self.centering, self.source.is_sparse)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_ready": {}}


@dataclass(frozen=True, eq=False)
class SumsOfPairs:
    """Fold of pairs: k(x, :) A of a block of new rows, over blocks of the rows of the fit.

    Attributes
    ----------
    placed : PlacedKernel
    joined : numpy array (n, k + 1)
        A, a row for each row of the fit.
    sparse : bool
        Whether the rows of the fit are.
    ready : dict or None
        Where rows of the fit that were prepared are kept for the next call, by their position.
    """

    placed: PlacedKernel
    joined: HostArray
    sparse: bool
    ready: dict[int, Prepared] | None = None

    def __call__(self, state: HostArray | None, new: Block, fitted: Block) -> HostArray:
        """Take in one more block of the rows of the fit."""
        state = np.zeros((new.rows.shape[0], self.joined.shape[1])) if state is None else state
        for part in ranges(new.rows.shape[0], NEW_ROWS):
            place = new.start + part.start
            with named_rows(place):
                left = self.placed.prepare(of_kind(new.rows[part], sparse=self.sparse), dtype=FLOAT64)
            for other in ranges(fitted.rows.shape[0], FITTED_ROWS):
                start = fitted.start + other.start
                right = self._prepared(fitted.rows[other], start)
                with named_rows(place, start, ending=" of the fit"):
                    K = to_host(self.placed.kernel.evaluate(left, right))
                state[part] += K @ self.joined[start : start + K.shape[1]]
        return state

    def _prepared(self, rows: Any, start: int) -> Prepared:
        known = None if self.ready is None else self.ready.get(start)
        if known is None:
            known = self.placed.prepare(rows, dtype=FLOAT64)
            if self.ready is not None:
                self.ready[start] = known
        return known


@dataclass(frozen=True, eq=False)
class SumsAgainst:
    """Fold of the rows of the fit, against new rows that stay the same."""

    sums: SumsOfPairs
    new: Block

    def __call__(self, state: HostArray | None, fitted: Block) -> HostArray:
        """Take in one more block of the rows of the fit."""
        return self.sums(state, self.new, fitted)


@dataclass(frozen=True, eq=False)
class FinishSums:
    """From  k(x, :) A  and the mean of k(x, :), both sums over the rows of the fit, to scores and squared distances.

    ``which`` is what a call returns: 0 for scores, 1 for squared distances.
    """

    placed: PlacedKernel
    coefficients: HostArray
    centering: KernelCentering
    sparse: bool
    which: int = 0

    def both(self, sums: HostArray, rows: Any) -> tuple[HostArray, HostArray]:
        """Return scores (b, k) and squared distances (b,)."""
        raw, means = sums[:, :-1], sums[:, -1]
        scores, lengths = self.centering.scores(raw, means, self.coefficients), np.empty(len(sums))
        for part in ranges(len(sums), NEW_ROWS):
            diagonal = self.placed.diagonal(of_kind(rows[part], sparse=self.sparse))
            lengths[part] = self.centering.lengths(diagonal, means[part])
        return scores, _left(lengths, scores)

    def __call__(self, sums: HostArray, block: Block) -> Array:
        """Return what was asked for, like the rows."""
        return _as_rows(self.both(sums, block.rows)[self.which], block.rows)


@dataclass(frozen=True, eq=False)
class KernelExpansion(Expansion):
    """The mean and the components of a kernel PCA as combinations of rows in memory.

    Scores y stand for the point  P = mean + sum_l y_l v_l  of their flat; all that is asked of P needs k alone.

    Attributes
    ----------
    rows : numpy array (n, d), float64
    kernel : Kernel
        With numbers for parameters.
    coefficients : numpy array (n, k)
        c: components, of unit length in feature space and orthogonal.
    offset : numpy array (n,)
        o: the mean; zeros where nothing was centered.
    means : numpy array (n,)
        K o: inner products of the mean with the rows. For equal weights the row means of K.
    scores : numpy array (n, k)
        Of the rows.
    counts : numpy array (n,) or None
        How often each row counts in what is learned from the rows; ``None`` for once.
    """

    rows: HostArray
    kernel: Kernel
    coefficients: HostArray
    offset: HostArray
    means: HostArray
    scores: HostArray
    counts: HostArray | None = None

    def scores_and_errors(self, rows: Any) -> tuple[HostArray, HostArray]:
        """Return scores and squared distances from the components. Cost: m n kernel values, in pieces."""
        points = to_host(rows)

        def piece(part: slice) -> tuple[HostArray, HostArray]:
            K = self.kernel_rows(points[part])
            scores = K @ self.coefficients - self._along_mean
            lengths = self.kernel.diagonal(points[part]) - 2 * K @ self.offset + float(self.offset @ self.means)
            return scores, _left(lengths, scores)

        return _stacked(map(piece, self.pieces(len(points))), self.coefficients.shape[1])

    def weights(self, scores: HostArray) -> HostArray:
        """Return the combination of rows that each line of scores stands for (m, n): P = sum_j w_j phi(x_j)."""
        return np.asarray(scores @ self.coefficients.T + self.offset)

    def inner_products(self, scores: HostArray) -> HostArray:
        """Return P . phi(x_i) for each line of scores and each row (m, n), without a kernel value."""
        return np.asarray(scores @ (self.scores + self._along_mean).T + self.means)

    def squared_norms(self, scores: HostArray) -> HostArray:
        """Return |P|^2 for each line of scores (m,)."""
        own = np.einsum("ij,ij->i", scores, scores)
        return np.asarray(float(self.offset @ self.means) + 2 * scores @ self._along_mean + own)

    def squared_distances(self, points: HostArray, scores: HostArray) -> HostArray:
        """Return |phi(z) - P|^2 for points z and the scores of P (m,): how far they are from being pre-images.

        Computes  k(z, z) - 2 sum_j w_j k(z, x_j) + |P|^2.  Cost: m n kernel values, in pieces.
        """
        across = np.empty(len(points))
        for part in self.pieces(len(points)):
            across[part] = np.einsum("ij,ij->i", self.kernel_rows(points[part]), self.weights(scores[part]))
        squares = self.kernel.diagonal(points) - 2 * across + self.squared_norms(scores)
        return np.maximum(squares, 0.0)

    def kernel_rows(self, points: HostArray) -> HostArray:
        """Return k(z, x_i) for points and all rows (m, n)."""
        left = self.kernel.prepare(points, dtype=FLOAT64, origin=self.origin)
        return np.asarray(self.kernel.evaluate(left, self._ready))

    def pieces(self, count: int, *, each: int = 1) -> Iterator[slice]:
        """Cut ``count`` points into pieces of bounded memory, ``each`` of them needing so many strips of n."""
        return iter(ranges(count, max(1, PIECE_NUMBERS // (each * len(self.rows)))))

    @cached_property
    def origin(self) -> HostArray:
        """The mean of the rows: the point that distances are taken from."""
        return np.asarray(self.rows.mean(axis=0))

    @cached_property
    def _along_mean(self) -> HostArray:
        return self.coefficients.T @ self.means

    @cached_property
    def _ready(self) -> Prepared:
        return self.kernel.prepare(self.rows, dtype=FLOAT64, origin=self.origin)


def expand(
    rows: Array,
    kernel: Kernel,
    *,
    alphas: HostArray,
    scores: HostArray,
    offset: HostArray | None = None,
    row_means: HostArray | None = None,
    centered: bool = True,
) -> KernelExpansion:
    """Write a fitted kernel PCA as an expansion over its rows.

    Parameters
    ----------
    rows : array (n, d)
        Those of the fit, dense.
    kernel : Kernel
        With numbers for parameters.
    alphas : array (n, k)
        u / sqrt(lambda): coefficients of unit components over the centered rows; zeros where lambda is zero.
    scores : array (n, k)
        sqrt(lambda) u.
    offset : array (n,), optional
        Weights of the mean, summing to one; equal where not given.
    row_means : array (n,), optional
        K offset, which a fit has already; else computed, n^2 kernel values in pieces.
    centered : bool
        Whether the mean was removed in feature space.
    """
    if is_sparse(rows):
        message = (
            "Pre-images of sparse rows are dense rows, and the methods for them work on dense ones. Fit on "
            "X.toarray() if it fits, or do without inverse_transform."
        )
        raise NotSupportedError(message)
    points = to_host(rows).astype(FLOAT64)
    n = len(points)
    if not centered:
        return KernelExpansion(points, kernel, to_host(alphas), np.zeros(n), np.zeros(n), to_host(scores))
    offset = np.full(n, 1.0 / n) if offset is None else to_host(offset)
    c = to_host(alphas).astype(FLOAT64)
    c = c - np.outer(offset, c.sum(axis=0))
    whole = KernelExpansion(points, kernel, c, offset, offset, to_host(scores))
    if row_means is None:
        row_means = np.concatenate([whole.kernel_rows(points[part]) @ offset for part in whole.pieces(n)])
    return replace(whole, means=to_host(row_means).astype(FLOAT64))


def solve_densely(rows: Array, kernel: Kernel, n_components: int) -> KernelExpansion:
    """Fit kernel PCA to a few thousand rows at most by a dense eigensolver, and return its expansion.

    Computes  the leading eigenpairs of H K H.  Cost: n^2 kernel values, 9 n^3 operations, three n x n matrices. For
    samples within a larger fit: it has no plan and no certificate. Components with lambda <= n eps lambda_1 get zeros.

    Examples
    --------
    >>> from gramian.kernels import Gaussian
    >>> line = np.arange(5.0)[:, None]
    >>> expansion = solve_densely(line, Gaussian(0.1), 2)
    >>> bool(np.allclose(expansion.project(line), expansion.scores))
    True
    """
    points = to_host(rows).astype(FLOAT64)
    K = np.asarray(kernel(points))
    centering = center_matrix(K, RowWeights(len(K)))
    values, U = np.linalg.eigh(K)
    values, U = values[::-1][:n_components], U[:, ::-1][:, :n_components]
    kept = values > len(K) * np.finfo(FLOAT64).eps * max(float(values[0]), 0.0)
    roots = np.sqrt(np.where(kept, values, 1.0))
    alphas, scores = np.where(kept, U / roots, 0.0), np.where(kept, U * roots, 0.0)
    return expand(points, kernel, alphas=alphas, scores=scores, row_means=centering.row_means)


@dataclass(frozen=True, eq=False)
class FeatureExpansion(Expansion):
    """Components in an explicit feature space:  y = (phi(x) - mean) V.

    Cost: that of phi and 2 m D k operations for m rows; landmarks are joined to V, so that no feature is made.

    Attributes
    ----------
    phi : FeatureMap or None
        ``None`` where the rows are their own features: the linear kernel.
    mean : numpy array (D,)
    components : numpy array (D, k)
    origin : numpy array (d,) or None
        A point near sparse rows that are their own features: they are counted from it, so that a far column costs no
        digits.
    """

    phi: FeatureMap | None
    mean: HostArray
    components: HostArray
    origin: HostArray | None = None

    def turned(self, signs: HostArray) -> "FeatureExpansion":
        """Return the first components, as many as there are signs, each times its sign."""
        return FeatureExpansion(self.phi, self.mean, self.components[:, : len(signs)] * signs, self.origin)

    def scores_and_errors(self, rows: Any) -> tuple[HostArray, HostArray]:
        """Return scores and squared distances from the components, some rows at a time.

        Where phi is a projection of the kernel's own features, what it leaves of them counts as distance too.
        """
        d = len(self.mean) if self.phi is None else self.phi.n_columns
        if rows.shape[1] != d:
            raise InputError(_columns_sentence(rows.shape[1], d))
        nystrom = None if self.phi is None else self.phi.by_landmarks
        width, way = len(self.mean), self._by_features
        if nystrom is not None:
            width, way = nystrom.landmarks.shape[0], self._by_landmarks
        elif self.phi is None and is_sparse(rows):
            way = self._by_sparse_rows

        def piece(part: slice) -> tuple[HostArray, HostArray]:
            with named_rows(part.start):
                scores, lengths = way(rows[part])
            return scores, _left(lengths, scores)

        steps = ranges(rows.shape[0], max(16, PIECE_NUMBERS // max(width, 1)))
        return _stacked(map(piece, steps), self.components.shape[1])

    def _by_features(self, rows: Any) -> tuple[HostArray, HostArray]:
        """Return  (phi(x) - mean) V  and its squared length, from the features themselves."""
        wide = rows if is_sparse(rows) else on_host(rows).astype(FLOAT64)
        features = wide if self.phi is None else to_host(self.phi.map_block(wide)).astype(FLOAT64)
        # The mean first: rows far from the origin keep their digits.
        centered = features - self.mean
        return centered @ self.components, np.einsum("ij,ij->i", centered, centered)

    def _by_landmarks(self, rows: Any) -> tuple[HostArray, HostArray]:
        """Return  phi(x) V - mean V  and  k(x, x) - 2 phi(x) mean + |mean|^2,  without the features."""
        phi: Any = self.phi
        rows = of_kind(rows, sparse=is_sparse(phi.landmarks))
        rows = rows if is_sparse(rows) else on_host(rows).astype(FLOAT64)
        joined = phi.root @ np.column_stack([self.components, self.mean])
        return self._off_mean(to_host(phi.columns(rows)) @ joined, phi.kernel.diagonal(rows), self.mean)

    def _by_sparse_rows(self, rows: Any) -> tuple[HostArray, HostArray]:
        """Return the same of sparse rows that are their own features, counted from the origin."""
        mean = self.mean if self.origin is None else self.mean - self.origin
        rows = shifted(rows, self.origin)
        along = np.asarray(rows @ np.column_stack([self.components, mean]))
        return self._off_mean(along, squared_norms(rows), mean)

    def _off_mean(self, along: HostArray, squares: HostArray, mean: HostArray) -> tuple[HostArray, HostArray]:
        return along[:, :-1] - mean @ self.components, squares - 2 * along[:, -1] + float(mean @ mean)


@dataclass(frozen=True, eq=False)
class MatrixExpansion(Expansion):
    """Components over the rows of a kernel matrix that was given: new rows are kernel values too."""

    coefficients: HostArray
    centering: KernelCentering
    knows_lengths: ClassVar[bool] = False

    def scores_and_errors(self, rows: Any) -> tuple[HostArray, HostArray]:
        """Return scores of rows of kernel values; k(x, x) is not among these, so distances are nan."""
        if rows.shape[1] != len(self.coefficients):
            message = (
                f"A precomputed kernel has one column per row of the fit: {len(self.coefficients):,}, and these have "
                f"{rows.shape[1]:,}. Pass k(x, x_j) between the new rows and those of the fit."
            )
            raise InputError(message)
        scores = self.centering.rows(on_host(rows).astype(FLOAT64)) @ self.coefficients
        return scores, np.full(len(scores), np.nan)


def projected(expansion: Expansion, rows: RowSource | Array, which: int) -> Array:
    """Return the scores of rows (``which`` 0) or their squared distances (1); lazily where rows are Dask's.

    Where both the rows and those of the fit are Dask's, their chunks meet on the workers, pair by pair.
    """
    if which == 1 and not expansion.knows_lengths:
        message = (
            "The squared error of a row needs k(x, x), which a precomputed kernel between new and old rows does not "
            "hold. Fit with a kernel function instead."
        )
        raise NotSupportedError(message)
    if not isinstance(rows, RowSource):
        return _project_block(expansion, which, Block(rows, 0, None))
    if not isinstance(expansion, RowExpansion) or expansion.source.is_local:
        return rows.map_rows(partial(_project_block, expansion, which))
    if rows.is_local:
        # One pass over the rows of the fit for all new ones.
        return _project_block(expansion, which, Block(take_rows(rows, np.arange(rows.n_rows)), 0, None))
    k = expansion.coefficients.shape[1]
    example = np.empty((0, k) if which == 0 else 0, FLOAT64 if rows.is_sparse else rows.dtype)
    finish = replace(expansion.ending, which=which)
    return rows.map_against(expansion.source, expansion.fold, finish, example=example)


def _project_block(expansion: Expansion, which: int, block: Block) -> Array:
    with named_rows(block.start):
        return _as_rows(expansion.scores_and_errors(block.rows)[which], block.rows)


def _as_rows(values: HostArray, rows: Array) -> Array:
    """Move scores to the type, library and device of dense rows; float64 on the host for sparse ones."""
    return values if is_sparse(rows) else from_host(values, like=rows, dtype=dtype_of(rows))


def _left(lengths: HostArray, scores: HostArray) -> HostArray:
    """Return what scores leave of squared lengths."""
    return np.asarray(np.maximum(lengths - np.einsum("ij,ij->i", scores, scores), 0.0))


def _stacked(pieces: Iterator[tuple[HostArray, HostArray]], k: int) -> tuple[HostArray, HostArray]:
    scores, errors = [np.zeros((0, k))], [np.zeros(0)]
    for some, left in pieces:
        scores.append(some)
        errors.append(left)
    return np.concatenate(scores), np.concatenate(errors)


def _columns_sentence(given: int, fitted: int) -> str:
    return f"These rows have {given:,} columns, and the model was fitted on rows of {fitted:,}."
