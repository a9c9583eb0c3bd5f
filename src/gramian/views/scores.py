"""Where the rows fall on two components."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gramian.errors import ParameterError
from gramian.models.pca import PCAModel
from gramian.views.labels import component_label


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
    """

    name: str
    horizontal: np.ndarray
    vertical: np.ndarray
    rows: np.ndarray


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
    """

    groups: tuple[ScoreGroup, ...]
    horizontal_label: str
    vertical_label: str
    n_rows: int
    n_shown: int


def scores_map(
    model: PCAModel,
    scores: np.ndarray,
    *,
    labels: Sequence[object] | np.ndarray | None = None,
    components: tuple[int, int] = (0, 1),
    limit: int = 5_000,
    seed: int = 0,
) -> ScoresMap:
    """Lay out the scores of a table on two components.

    Cost: O(n); no pass over the table, only over its scores.

    Parameters
    ----------
    model : PCAModel
        The fitted model.
    scores : (n, k) array
        ``model.project(X)``.
    labels : sequence of n labels, optional
        A group for each row.
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
    scores = np.asarray(scores)
    _require_components(components, scores.shape[1])
    n = len(scores)
    shown = np.arange(n) if n <= limit else _sample(n, limit, seed=seed)
    horizontal, vertical = components
    return ScoresMap(
        groups=_split(scores[:, [horizontal, vertical]], shown, labels=labels),
        horizontal_label=component_label(horizontal, float(model.shares[horizontal])),
        vertical_label=component_label(vertical, float(model.shares[vertical])),
        n_rows=n,
        n_shown=len(shown),
    )


def _require_components(components: tuple[int, int], k: int) -> None:
    """Refuse a component that the scores do not have."""
    highest = max(components)
    if min(components) < 0 or highest >= k:
        message = (
            f"components={components} asks for component {highest + 1} and the scores have {k} columns. "
            f"Fit at least {highest + 1} components, or choose from 0..{k - 1}."
        )
        raise ParameterError(message)


def _sample(n: int, size: int, *, seed: int) -> np.ndarray:
    """Draw `size` of n rows without repetition, in the order of the table."""
    return np.sort(np.random.default_rng(seed).choice(n, size=size, replace=False))


def _split(
    points: np.ndarray, shown: np.ndarray, *, labels: Sequence[object] | np.ndarray | None
) -> tuple[ScoreGroup, ...]:
    """Divide the shown rows by label."""
    names = np.full(len(points), "") if labels is None else np.asarray([str(label) for label in labels])
    if len(names) != len(points):
        message = f"labels has {len(names)} entries and the scores have {len(points)} rows. Give one label a row."
        raise ParameterError(message)
    chosen = names[shown]
    members = ((name, shown[chosen == name]) for name in np.unique(chosen))
    return tuple(ScoreGroup(str(name), points[rows, 0], points[rows, 1], rows) for name, rows in members)
