"""Where the rows fall on two components."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gramian.errors import ParameterError
from gramian.views.biplot import require_pair
from gramian.views.fitted import host, model_of, names_of, shares_of


@dataclass(frozen=True, slots=True)
class ScoreGroup:
    """The shown rows of one group.

    Attributes
    ----------
    name : str
        What the group is called; empty when the rows have no groups.
    horizontal, vertical : (m,) array
        Scores on the two components.
    rows : (m,) array of int
        Which rows of the table these are.
    values : (m,) array
        A number for each row to color by; empty where there is none.
    """

    name: str
    horizontal: np.ndarray
    vertical: np.ndarray
    rows: np.ndarray
    values: np.ndarray = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True, slots=True)
class ScoresMap:
    """Scores on two components, by group.

    Attributes
    ----------
    groups : tuple of ScoreGroup
        In sorted order of their names; a single nameless group when there are no labels.
    horizontal_label, vertical_label : str
        Component and share of the variance, for the axes.
    n_rows : int
        Rows of the table.
    n_shown : int
        Rows in the map; fewer than `n_rows` when a sample was drawn, and a page must say so.
    color_name : str
        What the numbers that rows are colored by are called.
    """

    groups: tuple[ScoreGroup, ...]
    horizontal_label: str
    vertical_label: str
    n_rows: int
    n_shown: int
    color_name: str = ""


def scores_map(
    fitted: Any,
    scores: np.ndarray,
    *,
    labels: Sequence[object] | np.ndarray | None = None,
    values: Sequence[float] | np.ndarray | None = None,
    color_name: str = "",
    components: tuple[int, int] = (0, 1),
    limit: int = 5_000,
    seed: int = 0,
) -> ScoresMap:
    """Lay out the scores of a table on two components.

    Cost: O(n); no pass over the table, only over its scores.

    Parameters
    ----------
    fitted : PCAModel, KernelPCAModel or ICAModel, or an estimator
        The fitted model.
    scores : (n, k) array
        ``model.project(X)``.
    labels : sequence of n labels, optional
        A group for each row.
    values : sequence of n numbers, optional
        A number for each row, instead of a group.
    color_name : str
        What those numbers are.
    components : pair of int
        Which components, from zero.
    limit : int
        At most this many rows are shown; beyond it a seeded sample is drawn.
    seed : int
        Of that sample.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.models.pca import fit_pca
    >>> from gramian.sources.opening import as_source
    >>> X = np.array([[3.0, 0.0], [-3.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> model = fit_pca(as_source(X))
    >>> [group.name for group in scores_map(model, model.project(X), labels=["b", "b", "a", "a"]).groups]
    ['a', 'b']
    """
    model = model_of(fitted)
    points = host(scores)
    n, pair = len(points), require_pair(components, points.shape[1])
    _require_one_a_row(labels, values, n)
    shown = np.arange(n) if n <= limit else _sample(n, limit, seed=seed)
    across, up = (f"{names_of(model)[j]} ({shares_of(model)[j]:.1%})" for j in pair)
    if values is None:
        groups = _split(points[:, pair], shown, labels=labels)
    else:
        numbers = np.asarray(values, dtype=np.float64)[shown]
        groups = (ScoreGroup("", points[shown, pair[0]], points[shown, pair[1]], shown, numbers),)
    return ScoresMap(groups, across, up, n, len(shown), color_name)


def _require_one_a_row(labels: Any, values: Any, n: int) -> None:
    for name, given in (("labels", labels), ("values", values)):
        if given is not None and len(given) != n:
            message = f"{name} has {len(given)} entries and the scores have {n} rows. Give one label a row."
            raise ParameterError(message)


def _sample(n: int, size: int, *, seed: int) -> np.ndarray:
    """Draw `size` of n rows without repetition, in the order of the table."""
    return np.sort(np.random.default_rng(seed).choice(n, size=size, replace=False))


def _split(
    points: np.ndarray, shown: np.ndarray, *, labels: Sequence[object] | np.ndarray | None
) -> tuple[ScoreGroup, ...]:
    """Divide the shown rows by label."""
    names = np.full(len(points), "") if labels is None else np.asarray([str(label) for label in labels])
    chosen = names[shown]
    members = ((name, shown[chosen == name]) for name in np.unique(chosen))
    return tuple(ScoreGroup(str(name), points[rows, 0], points[rows, 1], rows) for name, rows in members)
