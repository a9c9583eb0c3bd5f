"""Scores of rows under a fitted kernel PCA, from kernel values or from features, in blocks of bounded memory."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from gramian.arrays.namespace import Array, HostArray, dtype_of, from_host, to_host
from gramian.arrays.precision import FLOAT64
from gramian.errors import InputError, NotSupportedError
from gramian.features.feature_map import FeatureMap
from gramian.features.nystrom import LandmarkMap
from gramian.features.sampling import take_rows
from gramian.kernels.blocks import shifted
from gramian.kernels.kernel import Prepared
from gramian.kernels.naming import named_rows
from gramian.models.kernel_sums import FITTED_ROWS, NEW_ROWS, SumsAgainst, SumsOfPairs, of_kind
from gramian.operators.factor import add
from gramian.operators.kernel_tiles import PlacedKernel
from gramian.sources.dask_chunks import DaskRows
from gramian.sources.rows import Block, RowSource, ranges

PIECE_NUMBERS = 1 << 20
"""Features, or kernel values with landmarks, that are held at a time: 8 MB a worker."""

READY_BYTES = 1 << 28
"""Prepared rows of the fit up to this size are kept between calls."""


@dataclass(frozen=True, eq=False)
class KernelCentering:
    """Centering in feature space, by kernel values alone (M8): its one home.

    Computes  kc(x, x_j) = k(x, x_j) - m_j - k(x) + g  with  m_j  the mean of column j of K over the rows of the fit,
    k(x) the mean of the new row, and g the mean of all of K; means count rows by their weights.

    Attributes
    ----------
    row_means : numpy array (n,)
        m; zeros where nothing is centered.
    grand_mean : float
        g.
    shares : numpy array (n,) or None
        Weights over their sum; ``None`` for equal ones, zeros in effect where ``centered`` is false.
    centered : bool
    """

    row_means: HostArray
    grand_mean: float
    shares: HostArray | None = None
    centered: bool = True

    def mean_weights(self) -> HostArray:
        """Return what a row of kernel values is multiplied by to give its mean (n,)."""
        n = len(self.row_means)
        if not self.centered:
            return np.zeros(n)
        return np.full(n, 1.0 / n) if self.shares is None else self.shares

    def rows(self, K: HostArray) -> HostArray:
        """Return centered rows of kernel values between new rows and those of the fit (m, n)."""
        if not self.centered:
            return K
        return np.asarray(K - self.row_means - (K @ self.mean_weights() - self.grand_mean)[:, None])

    def scores(self, raw: HostArray, means: HostArray, coefficients: HostArray) -> HostArray:
        """Return  kc(x, :) A  from  raw = k(x, :) A  and the means of the rows, without the rows of kernel values."""
        if not self.centered:
            return raw
        along = np.outer(means - self.grand_mean, coefficients.sum(axis=0))
        return np.asarray(raw - self.row_means @ coefficients - along)

    def lengths(self, diagonal: HostArray, means: HostArray) -> HostArray:
        """Return kc(x, x), the squared distance of phi(x) from the mean."""
        return diagonal - 2 * means + self.grand_mean if self.centered else diagonal


class Expansion(ABC):
    """Components of a kernel PCA in the form in which rows are projected on them."""

    @abstractmethod
    def project(self, rows: Any) -> tuple[HostArray, HostArray]:
        """Return scores (b, k) of rows, and  kc(x, x) - |y|^2  (b,), nan where it cannot be told."""


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

    def project(self, rows: Any) -> tuple[HostArray, HostArray]:
        """Return scores and squared distances from the components, some rows at a time."""
        if rows.shape[1] != self.source.n_columns:
            raise InputError(_columns_sentence(rows.shape[1], self.source.n_columns))
        joined = self.joined
        if not self.source.is_local:
            fold = SumsAgainst(SumsOfPairs(self.placed, joined, self.source.is_sparse), Block(rows, 0, None))
            return self.ending.both(self.source.reduce(fold, add), rows)
        parts = [self._piece(rows, part, joined) for part in ranges(rows.shape[0], NEW_ROWS)]
        if not parts:
            return np.zeros((0, self.coefficients.shape[1])), np.zeros(0)
        return np.concatenate([scores for scores, _ in parts]), np.concatenate([errors for _, errors in parts])

    def _piece(self, rows: Any, piece: slice, joined: HostArray) -> tuple[HostArray, HostArray]:
        rows = of_kind(rows[piece], sparse=self.source.is_sparse)
        with named_rows(piece.start):
            left = self.placed.prepare(rows, dtype=FLOAT64)
        sums = np.zeros((rows.shape[0], joined.shape[1]))
        for i in range(self.source.n_blocks):
            block = self.source.block(i)
            for part in ranges(block.rows.shape[0], FITTED_ROWS):
                start = block.start + part.start
                right = self._prepared(block.rows[part], start)
                with named_rows(piece.start, start, ending=" of the fit"):
                    K = to_host(self.placed.kernel.evaluate(left, right))
                sums += K @ joined[start : start + K.shape[1]]
        return self.ending.both(sums, rows)

    @property
    def joined(self) -> HostArray:
        """The coefficients and, as one more column, what gives the mean of a row of kernel values (n, k + 1)."""
        return np.column_stack([self.coefficients, self.centering.mean_weights()])

    @property
    def ending(self) -> "FinishSums":
        """What turns sums into scores, without the rows of the fit."""
        return FinishSums(self.placed, self.coefficients, self.centering, self.source.is_sparse)

    def _prepared(self, rows: Any, start: int) -> Prepared:
        known = self._ready.get(start)
        if known is None:
            known = self.placed.prepare(rows, dtype=FLOAT64)
            if 16 * (self.source.n_columns + 2) * self.source.n_rows <= READY_BYTES:
                self._ready[start] = known
        return known

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_ready": {}}


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
        rows = of_kind(rows, sparse=self.sparse)
        scores = self.centering.scores(raw, means, self.coefficients)
        lengths = self.centering.lengths(self.placed.diagonal(rows), means)
        return scores, np.maximum(lengths - np.einsum("ij,ij->i", scores, scores), 0.0)

    def __call__(self, sums: HostArray, block: Block) -> Array:
        """Return what was asked for, like the rows."""
        return _as_rows(self.both(sums, block.rows)[self.which], block.rows)


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

    def project(self, rows: Any) -> tuple[HostArray, HostArray]:
        """Return scores and squared distances from the components, some rows at a time.

        Where phi is a projection of the kernel's own features, what it leaves of them counts as distance too.
        """
        d = len(self.mean) if self.phi is None else self.phi.n_columns
        if rows.shape[1] != d:
            raise InputError(_columns_sentence(rows.shape[1], d))
        width = self.phi.landmarks.shape[0] if isinstance(self.phi, LandmarkMap) else len(self.mean)
        parts = [self._piece(rows, part) for part in ranges(rows.shape[0], max(16, PIECE_NUMBERS // max(width, 1)))]
        if not parts:
            return np.zeros((0, self.components.shape[1])), np.zeros(0)
        return np.concatenate([scores for scores, _ in parts]), np.concatenate([errors for _, errors in parts])

    def _piece(self, rows: Any, piece: slice) -> tuple[HostArray, HostArray]:
        rows = rows[piece]
        if isinstance(self.phi, LandmarkMap):
            rows = of_kind(rows, sparse=hasattr(self.phi.landmarks, "indptr"))
        wide = rows if hasattr(rows, "indptr") else to_host(rows).astype(FLOAT64)
        if isinstance(self.phi, LandmarkMap) or (self.phi is None and hasattr(rows, "indptr")):
            with named_rows(piece.start):
                scores, lengths = self._without_features(wide)
        else:
            # The mean first: rows far from the origin keep their digits.
            features = wide if self.phi is None else to_host(self.phi.map_block(wide)).astype(FLOAT64)
            centered = features - self.mean
            scores, lengths = centered @ self.components, np.einsum("ij,ij->i", centered, centered)
        return scores, np.maximum(lengths - np.einsum("ij,ij->i", scores, scores), 0.0)

    def _without_features(self, rows: Any) -> tuple[HostArray, HostArray]:
        """Return  phi(x) V - mean V  and  k(x, x) - 2 phi(x) mean + |mean|^2  by products with joined columns."""
        mean = self.mean if self.origin is None else self.mean - self.origin
        joined = np.column_stack([self.components, mean])
        if isinstance(self.phi, LandmarkMap):
            along = to_host(self.phi.columns(rows)).astype(FLOAT64, copy=False) @ (self.phi.root @ joined)
            squares = self.phi.kernel.diagonal(rows)
        else:
            rows = shifted(rows, self.origin)
            along = np.asarray(rows @ joined)
            squares = np.asarray(rows.multiply(rows).sum(axis=1), dtype=FLOAT64).ravel()
        lengths = squares - 2 * along[:, -1] + float(mean @ mean)
        return along[:, :-1] - mean @ self.components, lengths


@dataclass(frozen=True, eq=False)
class MatrixExpansion(Expansion):
    """Components over the rows of a kernel matrix that was given: new rows are kernel values too."""

    coefficients: HostArray
    centering: KernelCentering

    def project(self, rows: Any) -> tuple[HostArray, HostArray]:
        """Return scores of rows of kernel values; k(x, x) is not among these, so distances are nan."""
        if rows.shape[1] != len(self.coefficients):
            message = (
                f"A precomputed kernel has one column a row of the fit: {len(self.coefficients):,}, and these have "
                f"{rows.shape[1]:,}. Pass k(x, x_j) between the new rows and those of the fit."
            )
            raise InputError(message)
        scores = self.centering.rows(to_host(rows).astype(FLOAT64)) @ self.coefficients
        return scores, np.full(len(scores), np.nan)


def projected(expansion: Expansion, rows: RowSource | Array, which: int) -> Array:
    """Return the scores of rows (``which`` 0) or their squared distances (1); lazily where rows are Dask's.

    Where both the rows and those of the fit are Dask's, their chunks meet on the workers, pair by pair.
    """
    if not isinstance(rows, RowSource):
        return _project_block(expansion, which, Block(rows, 0, None))
    if not isinstance(expansion, RowExpansion) or not isinstance(expansion.source, DaskRows):
        return rows.map_rows(partial(_project_block, expansion, which))
    if not isinstance(rows, DaskRows):
        # One pass over the rows of the fit for all new ones.
        return _project_block(expansion, which, Block(take_rows(rows, np.arange(rows.n_rows)), 0, None))
    fitted, k = expansion.source, expansion.coefficients.shape[1]
    example = np.empty((0, k) if which == 0 else 0, FLOAT64 if rows.is_sparse else rows.dtype)
    fold = SumsOfPairs(expansion.placed, expansion.joined, fitted.is_sparse)
    return rows.map_against(fitted, fold, replace(expansion.ending, which=which), example=example)


def _project_block(expansion: Expansion, which: int, block: Block) -> Array:
    with named_rows(block.start):
        return _as_rows(expansion.project(block.rows)[which], block.rows)


def _as_rows(values: HostArray, rows: Array) -> Array:
    """Move scores to the type, library and device of dense rows; float64 on the host for sparse ones."""
    if hasattr(rows, "indptr"):
        return values
    return from_host(values, like=rows, dtype=dtype_of(rows))


def require_errors(expansion: Expansion) -> None:
    """Refuse squared errors where k(x, x) of a new row is not known."""
    if isinstance(expansion, MatrixExpansion):
        message = (
            "The squared error of a row needs k(x, x), which a precomputed kernel between new and old rows does not "
            "hold. Fit with a kernel function instead."
        )
        raise NotSupportedError(message)


def _columns_sentence(given: int, fitted: int) -> str:
    return f"These rows have {given:,} columns, and the model was fitted on rows of {fitted:,}."
