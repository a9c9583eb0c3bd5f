"""The one pass over the rows after a fit: their scores and distances, and those that there is room to show.

Which rows are shown is known before the pass but for the unusual ones. Those with the largest distances so far are kept
on the way, so that no row has to be looked for again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from gramian.analysis.outliers import OutlierMap, unusual_rows
from gramian.arrays.namespace import HostArray, is_numpy, is_sparse, to_host
from gramian.arrays.precision import FLOAT64
from gramian.errors import ParameterError
from gramian.models.pca.model import PCAModel
from gramian.models.pca.scoring import Outliers, RowDistances, find_outliers, outliers_of
from gramian.models.row_values import column_spread, require_finite_rows, values_at
from gramian.sources.moments import Moments, measure_moments
from gramian.sources.rows import Block, RowSource, rows_here

KEPT_UNUSUAL = 200
"""Rows beyond a limit that are kept in every sample."""

LISTED_UNUSUAL = 20
"""Rows beyond a limit that are kept with all their columns, for what is to blame."""

MOST_ROWS = 20_000
"""Rows that are shown at most."""

MOST_NUMBERS = 400_000
"""Numbers of them, scores and values together."""


@dataclass(frozen=True, slots=True)
class ShownRows:
    """Some rows of a table with their scores and some of their columns.

    Attributes
    ----------
    positions : (m,) array of int
        Which rows, in the order of the table.
    scores : (m, c) array
        On the first components.
    values : (m, q) array
        In the columns of `columns`; no column where the rows themselves were not given.
    columns : (q,) array of int
        Columns that weigh most, in the order of the table.
    mean, spread : (d,) arrays
        Mean and standard deviation of every column over all rows; empty without rows.
    n_rows : int
        Rows of the table.
    """

    positions: np.ndarray
    scores: np.ndarray
    values: np.ndarray
    columns: np.ndarray
    mean: np.ndarray
    spread: np.ndarray
    n_rows: int

    @property
    def sampled(self) -> bool:
        """Whether some rows are not shown."""
        return len(self.positions) < self.n_rows

    def narrowed(self, limit: int, *, seed: int) -> "ShownRows":
        """Return fewer of the rows, as a sample of at most ``limit`` would have drawn them: no pass."""
        size = _room(self.n_rows, self.scores.shape[1], len(self.columns), limit)
        kept = np.isin(self.positions, _positions(self.n_rows, size, (), seed))
        return replace(self, positions=self.positions[kept], scores=self.scores[kept], values=self.values[kept])


@dataclass(frozen=True, eq=False)
class RowMeasures:
    """What one pass over the rows of a PCA leaves.

    Attributes
    ----------
    model : PCAModel
    moments : Moments
        Of the rows.
    scores : array (n, k)
    outliers : Outliers
        Both distances of each row, and their limits.
    candidates : _Picked
        Values of the rows that may be shown.
    unusual : numpy array (m, d)
        The rows furthest beyond a limit, as ``outliers.flagged`` orders them.
    columns : numpy array of int
        Columns that are shown.
    seed : int
        Of the rows that are shown.
    """

    model: PCAModel
    moments: Moments
    scores: HostArray
    outliers: Outliers
    candidates: "_Picked"
    unusual: HostArray
    columns: HostArray
    seed: int = 0

    def shown(self, limit: int = MOST_ROWS) -> ShownRows:
        """Choose the rows that a page has room for among those kept: no pass.

        Keeps the first ten components, the columns that weigh most in the model, and the rows furthest beyond a limit.
        """
        n, k = self.scores.shape
        size = _room(n, k, len(self.columns), limit)
        positions = _positions(n, size, self.outliers.flagged[:KEPT_UNUSUAL].tolist(), self.seed)
        mean, spread = spread_of(self.moments)
        scores = self.scores[positions][:, : min(k, 10)].astype(FLOAT64)
        return ShownRows(positions, scores, self.candidates.at(positions), self.columns, mean, spread, n)

    def drawn(self) -> HostArray:
        """Return the columns that are shown of all rows, or of a sample where these are many: no pass."""
        n, k = self.scores.shape
        return self.candidates.at(np.sort(_first_drawn(n, _room(n, k, len(self.columns), MOST_ROWS), self.seed)))

    def outlier_map(self, names: Sequence[str]) -> OutlierMap:
        """Say which columns put the rows furthest beyond a limit there: no pass."""
        mean, spread = spread_of(self.moments)
        unusual = unusual_rows(self.model, self.outliers, self.unusual, mean=mean, spread=spread, names=names)
        return OutlierMap(self.outliers, unusual)


def measure_rows(
    model: PCAModel, source: RowSource, *, n_components: int, moments: Moments | None = None, seed: int = 0
) -> RowMeasures:
    """Measure scores and distances of all rows, and keep the values of those that may be shown.

    Computes what :meth:`PCAModel.project` and :func:`~gramian.models.pca.scoring.find_outliers` do, and draws the rows
    that :func:`shown_rows` shows.

    Cost: one pass, 4 n d k operations, and one for `moments` where they are not known; two more where the rows are not
    NumPy's, or not in this process.

    Parameters
    ----------
    model : PCAModel
    source : RowSource
    n_components : int
        Components that count as known: distances are from them.
    moments : Moments, optional
        Of the rows.
    seed : int
        Of the rows that are shown.

    Examples
    --------
    >>> from gramian.models.pca.fit import fit_pca
    >>> from gramian.sources import as_source
    >>> rows = as_source(np.random.default_rng(0).standard_normal((100, 4)))
    >>> found = measure_rows(fit_pca(rows), rows, n_components=2)
    >>> found.scores.shape, found.outliers.n_components, len(found.shown().positions)
    ((100, 4), 2, 100)
    """
    moments = (moments or measure_moments(source, scatter=False)).on_host()
    n, k, columns = source.n_rows, model.n_components, _weighty_columns(model, 40)
    drawn = np.sort(_first_drawn(n, _room(n, k, len(columns), MOST_ROWS), seed))
    if not source.is_local or not is_numpy(source.like()):
        scores, found = (
            to_host(rows_here(model.project(source))),
            find_outliers(model, source, n_components=n_components),
        )
        require_finite_rows(found.t2 + found.spe, source)
        wanted, listed = np.union1d(drawn, found.flagged[:KEPT_UNUSUAL]), found.flagged[:LISTED_UNUSUAL]
        picked = _Picked(wanted, values_at(source, wanted))
        some = _Picked(wanted, picked.values[:, columns])
        return RowMeasures(model, moments, scores, found, some, picked.at(listed), columns, seed)
    scores = np.empty((n, k), dtype=to_host(model.components[:0, :0]).dtype)
    distances = np.empty((2, n))
    kept = source.reduce(_Look(RowDistances.of(model, n_components), drawn, columns, scores, distances), _merged)
    require_finite_rows(distances.sum(axis=0), source)
    found = outliers_of(model, n_components, t2=distances[0], spe=distances[1])
    listed = found.flagged[:LISTED_UNUSUAL]
    return RowMeasures(model, moments, scores, found, kept.rows(), kept.whole.at(listed), columns, seed)


class _Picked(NamedTuple):
    """Some rows by their positions, in order."""

    positions: HostArray
    values: HostArray

    def at(self, positions: HostArray) -> HostArray:
        """Return the rows at some of the positions."""
        order = np.argsort(self.positions, kind="stable")
        found: HostArray = self.values[order[np.searchsorted(self.positions, positions, sorter=order)]]
        return found


class _Largest(NamedTuple):
    """The rows with the largest values of some distance so far."""

    distances: HostArray
    rows: _Picked

    def with_more(self, other: "_Largest", count: int) -> "_Largest":
        """Keep the ``count`` largest of both; of equal ones those that come first in the table."""
        distances = np.concatenate([self.distances, other.distances])
        positions = np.concatenate([self.rows.positions, other.rows.positions])
        values = np.concatenate([self.rows.values, other.rows.values])
        kept = np.lexsort((positions, -distances))[:count]
        return _Largest(distances[kept], _Picked(positions[kept], values[kept]))


class _Kept(NamedTuple):
    """Rows that were kept on the way: those drawn, and by each distance the furthest, in part and whole."""

    drawn: list[_Picked]
    furthest: tuple[_Largest, _Largest]
    listed: tuple[_Largest, _Largest]

    def rows(self) -> _Picked:
        """Return the rows that may be shown, each once."""
        parts = [*self.drawn, *(largest.rows for largest in self.furthest)]
        positions, first = np.unique(np.concatenate([part.positions for part in parts]), return_index=True)
        return _Picked(positions, np.concatenate([part.values for part in parts])[first])

    @property
    def whole(self) -> _Picked:
        """The rows kept with all their columns."""
        parts = [largest.rows for largest in self.listed]
        return _Picked(*(np.concatenate(pair) for pair in zip(*parts, strict=True)))


@dataclass(frozen=True, eq=False)
class _Look:
    """Fold: write scores and distances of a block to their places, and keep rows.

    A row that is among the m furthest by the larger of both distances, each over its limit, is among the m furthest by
    one of them; so limits need not be known.
    """

    measure: RowDistances
    drawn: HostArray
    columns: HostArray
    scores: HostArray
    distances: HostArray

    def __call__(self, state: _Kept | None, block: Block) -> _Kept:
        here = slice(block.start, block.start + block.rows.shape[0])
        scores, *both = self.measure(block)
        self.scores[here] = to_host(scores)
        for out, values in zip(self.distances, both, strict=True):
            out[here] = to_host(values)
        low, high = np.searchsorted(self.drawn, [here.start, here.stop])
        drawn = self._picked(block, self.drawn[low:high] - block.start, self.columns)
        furthest = [self._furthest(block, row, KEPT_UNUSUAL, self.columns) for row in self.distances[:, here]]
        listed = [self._furthest(block, row, LISTED_UNUSUAL, None) for row in self.distances[:, here]]
        kept = _Kept([drawn], (furthest[0], furthest[1]), (listed[0], listed[1]))
        return kept if state is None else _merged(state, kept)

    def _furthest(self, block: Block, distances: HostArray, count: int, columns: HostArray | None) -> _Largest:
        # Of equal distances the first ones are kept; NaN, which the pass is refused for, counts as none.
        order = np.argsort(-np.nan_to_num(distances), kind="stable")[:count]
        return _Largest(distances[order], self._picked(block, order, columns))

    def _picked(self, block: Block, at: HostArray, columns: HostArray | None) -> _Picked:
        rows = block.rows[at]
        rows = rows if columns is None else rows[:, columns]
        values = to_host(rows.toarray() if is_sparse(rows) else rows).astype(FLOAT64)
        return _Picked(at + block.start, values)


def _merged(left: _Kept, right: _Kept) -> _Kept:
    counts = (KEPT_UNUSUAL, LISTED_UNUSUAL)
    first, second = (
        tuple(a.with_more(b, count) for a, b in zip(pair[0], pair[1], strict=True))
        for count, pair in zip(counts, ((left.furthest, right.furthest), (left.listed, right.listed)), strict=True)
    )
    left.drawn.extend(right.drawn)
    return _Kept(left.drawn, (first[0], first[1]), (second[0], second[1]))


def require_same_rows(n_scores: int, source: RowSource) -> None:
    """Refuse scores of other rows than those given."""
    if source.n_rows != n_scores:
        message = f"scores has {n_scores:,} rows and the table {source.n_rows:,}. Give the scores of the same rows."
        raise ParameterError(message)


def spread_of(moments: Moments) -> tuple[HostArray, HostArray]:
    """Return mean and standard deviation of each column (d,), the latter over n - 1."""
    return moments.mean, (moments.squares / max(moments.weight - 1.0, 1.0)) ** 0.5


def _room(n: int, k: int, columns: int, limit: int) -> int:
    """Return how many rows there is room for."""
    return min(n, limit, max(1, MOST_NUMBERS // max(1, min(k, 10) + columns)))


def shown_rows(
    model: Any,
    source: Any,
    scores: np.ndarray,
    *,
    limit: int = MOST_ROWS,
    moments: Moments | None = None,
    always: Sequence[int] = (),
    seed: int = 0,
) -> ShownRows:
    """Choose the rows, components and columns that a page has room for.

    Keeps the first ten components, the forty columns that weigh most in the model, and every row of `always`; beyond
    `limit` rows, or where rows would take more than 400,000 numbers, a seeded sample is drawn.

    Cost: one pass for the values and one for their `moments` where those are not known; none without rows.

    Examples
    --------
    >>> from gramian.models.pca.fit import fit_pca
    >>> from gramian.sources import as_source
    >>> source = as_source(np.random.default_rng(0).standard_normal((500, 3)))
    >>> model = fit_pca(source)
    >>> shown = shown_rows(model, source, model.project(source), limit=50, always=[499])
    >>> shown.positions.shape, int(shown.positions[-1]), shown.sampled
    ((50,), 499, True)
    """
    n, k = scores.shape
    if source is not None:
        require_same_rows(n, source)
    kept = np.zeros(0, dtype=np.int64) if source is None else _weighty_columns(model, 40)
    positions = _positions(n, _room(n, k, len(kept), limit), always, seed)
    values, mean, spread = np.zeros((len(positions), 0)), np.zeros(0), np.zeros(0)
    if source is not None:
        values = values_at(source, positions)[:, kept]
        mean, spread = column_spread(source) if moments is None else spread_of(moments)
    return ShownRows(positions, scores[positions][:, : min(k, 10)], values, kept, mean, spread, n)


def _weighty_columns(model: Any, count: int) -> np.ndarray:
    """Return the columns with the longest loadings, in the order of the table; the first ones for kernels."""
    loadings = model.loadings
    if loadings is None:
        return np.arange(min(model.n_columns, count))
    # Scaled columns all have length one where every component is kept: the first components decide.
    weight = (loadings[:, : 3 if model.is_scaled else None] ** 2).sum(axis=1)
    return np.sort(np.argsort(-weight, kind="stable")[:count])


def _positions(n: int, size: int, always: Sequence[int], seed: int) -> np.ndarray:
    if n <= size:
        return np.arange(n)
    first = np.asarray(list(always), dtype=np.int64)[:size]
    others = np.setdiff1d(_first_drawn(n, size, seed), first)
    drawn = np.random.default_rng(seed).permutation(others)[: size - len(first)]
    return np.sort(np.concatenate([first, drawn]))


def _first_drawn(n: int, size: int, seed: int) -> np.ndarray:
    """Return the positions that a sample is drawn from; a smaller one is drawn from some of them."""
    return np.arange(n) if n <= size else np.random.default_rng(seed).permutation(n)[:size]
