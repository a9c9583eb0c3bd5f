"""Scores of the rows of a table, and the choice of rows, components and columns that a page has room for."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.errors import ParameterError
from gramian.models.row_values import column_spread, open_rows_of, require_finite_rows, values_at
from gramian.pictures.fitted import FittedModel, host, model_of


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


def scores_of(model: FittedModel, source: Any = None, scores: Any = None) -> np.ndarray | None:
    """Return the scores of a table (n, k): those given, those of the rows, or those a kernel model keeps.

    Examples
    --------
    >>> from gramian import PCA
    >>> from gramian.models.row_values import open_rows
    >>> model = model_of(PCA(1).fit([[0.0, 0.0], [3.0, 4.0]]))
    >>> scores_of(model, open_rows([[0.0, 0.0], [3.0, 4.0]])).ravel().round(6)
    array([-2.5,  2.5])
    """
    k = model.n_components
    if scores is not None:
        given = host(scores)
        if given.ndim != 2 or given.shape[1] < k:
            message = f"scores has shape {given.shape} and the model {k} components. Give one column per component."
            raise ParameterError(message)
        return given[:, :k]
    if source is None or source is model.source:
        kept = model.scores
        return kept if kept is not None and len(kept) else None
    return host(model.project(source))


def scores_table(fitted: Any, X: Any) -> np.ndarray:
    """Return the scores of rows (n, k); rows with other columns than the fit, or with missing values, are refused.

    Examples
    --------
    >>> from gramian import PCA
    >>> scores_table(PCA(1).fit([[0.0, 0.0], [3.0, 4.0]]), [[0.0, 0.0]]).round(6)
    array([[-2.5]])
    """
    model = model_of(fitted)
    source = open_rows_of(X, model.n_columns)
    made = np.asarray(scores_of(model, source))
    require_finite_rows(made, source)
    return made


def shown_rows(
    model: FittedModel,
    source: Any,
    scores: np.ndarray,
    *,
    limit: int = 20_000,
    numbers: int = 400_000,
    components: int = 10,
    columns: int = 40,
    always: Sequence[int] = (),
    seed: int = 0,
) -> ShownRows:
    """Choose the rows, components and columns that a page has room for.

    Keeps the first components, the columns that weigh most in the model, and every row of `always`; beyond `limit`
    rows, or where rows would take more than `numbers` numbers, a seeded sample is drawn.

    Cost: one pass for the values and one for their means, where the rows are given.

    Examples
    --------
    >>> from gramian import PCA
    >>> from gramian.models.row_values import open_rows
    >>> X = np.random.default_rng(0).standard_normal((500, 3))
    >>> model, source = model_of(PCA().fit(X)), open_rows(X)
    >>> shown = shown_rows(model, source, scores_of(model, source), limit=50, always=[499])
    >>> shown.positions.shape, int(shown.positions[-1]), shown.sampled
    ((50,), 499, True)
    """
    n, k = scores.shape
    if source is not None and source.n_rows != n:
        message = f"scores has {n:,} rows and the table {source.n_rows:,}. Give the scores of the same rows."
        raise ParameterError(message)
    kept = np.zeros(0, dtype=np.int64) if source is None else _weighty_columns(model, columns)
    c = min(k, components)
    positions = _positions(n, min(limit, max(1, numbers // max(1, c + len(kept)))), always, seed)
    values, mean, spread = np.zeros((len(positions), 0)), np.zeros(0), np.zeros(0)
    if source is not None:
        values = values_at(source, positions)[:, kept]
        mean, spread = column_spread(source)
    return ShownRows(positions, scores[positions][:, :c], values, kept, mean, spread, n)


def _weighty_columns(model: FittedModel, count: int) -> np.ndarray:
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
    others = np.setdiff1d(np.random.default_rng(seed).permutation(n)[:size], first)
    drawn = np.random.default_rng(seed).permutation(others)[: size - len(first)]
    return np.sort(np.concatenate([first, drawn]))
