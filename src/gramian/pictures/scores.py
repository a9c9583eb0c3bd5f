"""The map of the rows on two components, and how far apart groups of rows lie along one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.errors import ParameterError
from gramian.pictures.drawing import COLORS, axes_or_new, color_of, marker_of, plain_frame, zero_lines
from gramian.pictures.fitted import axis_label, host, model_of, require_pair, scores_table

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection


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
    >>> from gramian.models.pca.fit import fit_pca
    >>> from gramian.sources.opening import as_source
    >>> X = np.array([[3.0, 0.0], [-3.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> model = fit_pca(as_source(X))
    >>> [group.name for group in scores_map(model, model.project(X), labels=["b", "b", "a", "a"]).groups]
    ['a', 'b']
    """
    model = model_of(fitted)
    points = host(scores)
    n, pair = len(points), require_pair(components, points.shape[1])
    _require_one_per_row(labels, values, n)
    shown = np.arange(n) if n <= limit else _sample(n, limit, seed=seed)
    across, up = (axis_label(model, j) for j in pair)
    if values is None:
        groups = _split(points[:, pair], shown, labels=labels)
    else:
        numbers = np.asarray(values, dtype=np.float64)[shown]
        groups = (ScoreGroup("", points[shown, pair[0]], points[shown, pair[1]], shown, numbers),)
    return ScoresMap(groups, across, up, n, len(shown), color_name)


def _require_one_per_row(labels: Any, values: Any, n: int) -> None:
    for name, given in (("labels", labels), ("values", values)):
        if given is not None and len(given) != n:
            message = f"{name} has {len(given)} entries and the scores have {n} rows. Give one {name[:-1]} per row."
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


def between_share(values: np.ndarray, labels: Sequence[object] | np.ndarray) -> float:
    """Share of the spread of some values that lies between groups rather than inside them.

    Computes  eta^2 = sum_g n_g (mean_g - mean)^2 / sum_i (values_i - mean)^2:  one when every group is a
    single point, near zero when the groups cover each other.

    Cost: O(n). It measures distance between means only; two groups that share a mean but differ in spread
    are not told apart by it.

    Parameters
    ----------
    values : (n,) array
        For example the scores of one component.
    labels : sequence of n labels
        The group of each value.

    Examples
    --------
    >>> between_share(np.array([0.0, 0.0, 1.0, 1.0]), ["a", "a", "b", "b"])
    1.0
    """
    deviations = np.asarray(values, dtype=np.float64) - np.mean(values)
    total = float(deviations @ deviations)
    if total == 0.0:
        return 0.0
    _, group = np.unique(np.asarray(labels), return_inverse=True)
    counts = np.bincount(group)
    means = np.bincount(group, weights=deviations) / counts
    return min(1.0, float(counts @ means**2) / total)


def scores(
    model: Any,
    X: Any,
    *,
    color: Sequence[Any] | np.ndarray | None = None,
    color_name: str = "",
    components: tuple[int, int] = (0, 1),
    limit: int = 50_000,
    ax: Axes | None = None,
) -> Axes:
    """Draw rows as points on two components, colored by a label or a number, with lines of density for many.

    Parameters
    ----------
    model : a fitted PCA, KernelPCA or ICA
    X : rows (n, d)
    color : sequence of n labels or numbers, optional
        Whole numbers of at most twelve kinds count as labels.
    color_name : str
        What those numbers are.
    components : pair of int
    limit : int
        Rows drawn at most; beyond it a sample, and the title says so.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import PCA
    >>> from gramian.pictures import blank_axes
    >>> X = np.random.default_rng(0).standard_normal((9, 3))
    >>> scores(PCA().fit(X), X, color=list("aaabbbccc"), ax=blank_axes()).get_legend() is not None
    True
    """
    table = scores_table(model, X)
    groups, numbers = _colors(color)
    view = scores_map(
        model, table, labels=groups, values=numbers, color_name=color_name, components=components, limit=limit
    )
    return plot_scores(view, ax=ax)


def _colors(color: Any) -> tuple[Any, Any]:
    """Return labels, or numbers, whichever these are."""
    if color is None:
        return None, None
    values = np.asarray(color)
    few = values.dtype.kind in "iub" and len(np.unique(values)) <= 12
    return (values, None) if few or values.dtype.kind not in "fiu" else (None, values)


def plot_scores(scores: ScoresMap, *, ax: Axes | None = None) -> Axes:
    """Draw each row as a point, each group in its own color and shape.

    Both axes have the same scale: a distance on the map is a distance between rows, as far as these two
    components know it. When only a sample is shown, the map says so.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> group = ScoreGroup("all", np.array([0.0, 1.0]), np.array([1.0, 0.0]), np.array([0, 1]))
    >>> ax = plot_scores(ScoresMap((group,), "PC1 (80.0%)", "PC2 (20.0%)", 2, 2), ax=Figure().subplots())
    >>> ax.get_xlabel()
    'PC1 (80.0%)'
    """
    ax = axes_or_new(ax)
    zero_lines(ax)
    if scores.n_shown > 3_000:  # A cloud of so many hides where it is dense.
        draw_density(ax, scores)
    marks = [_draw_group(ax, scores, group, position) for position, group in enumerate(scores.groups)]
    ax.set(xlabel=scores.horizontal_label, ylabel=scores.vertical_label)
    ax.set_aspect("equal", adjustable="datalim")
    if scores.groups and len(scores.groups[0].values):
        _name_colors(ax, scores, marks[0])
    else:
        _name_groups(ax, scores, marks)
    if scores.n_shown < scores.n_rows:
        ax.set_title(f"{scores.n_shown:,} of {scores.n_rows:,} rows, drawn at random", fontsize="small", loc="left")
    plain_frame(ax)
    return ax


def draw_density(ax: Axes, scores: ScoresMap) -> None:
    """Lines around the densest parts that hold a quarter, half and nine tenths of the points."""
    x, y = (np.concatenate([getattr(group, side) for group in scores.groups]) for side in ("horizontal", "vertical"))
    counts, across, up = np.histogram2d(x, y, bins=64)
    # Twice with a small binomial window: enough to make lines of steps, not enough to move them.
    smooth = counts
    for _ in range(2):
        for axis in (0, 1):
            smooth = 0.25 * np.roll(smooth, -1, axis) + 0.5 * smooth + 0.25 * np.roll(smooth, 1, axis)
    heights = np.sort(smooth.ravel())[::-1]
    held = np.searchsorted(np.cumsum(heights), np.array([0.9, 0.5, 0.25]) * heights.sum())
    levels = np.unique(heights[np.minimum(held, heights.size - 1)])
    middle = [(edges[:-1] + edges[1:]) / 2 for edges in (across, up)]
    ax.contour(*middle, smooth.T, levels=levels[levels > 0], colors="#1b1f24", linewidths=0.8, zorder=4)


def _draw_group(ax: Axes, scores: ScoresMap, group: ScoreGroup, position: int) -> PathCollection:
    """The points of one group, lighter where there are many."""
    colored: dict[str, Any] = (
        {"c": group.values, "cmap": "viridis"} if len(group.values) else {"color": color_of(position)}
    )
    # A mark in SVG costs about 120 bytes: more of them become one small image inside the picture.
    many = scores.n_shown > 2_000
    return ax.scatter(
        group.horizontal,
        group.vertical,
        s=6 if many else 22,
        marker=marker_of(position),
        alpha=float(np.clip(30.0 / np.sqrt(max(scores.n_shown, 1)), 0.25, 0.8)),
        linewidths=0,
        rasterized=many,
        **colored,
    )


def _name_colors(ax: Axes, scores: ScoresMap, marks: PathCollection) -> None:
    """A bar that says which color is which number."""
    figure = ax.get_figure()
    if figure is None:
        return
    bar = figure.colorbar(marks, ax=ax, fraction=0.04, pad=0.02)
    bar.outline.set_visible(False)
    bar.ax.set_ylabel(scores.color_name, parse_math=False)


def _name_groups(ax: Axes, scores: ScoresMap, marks: Sequence[Artist]) -> None:
    """A legend, unless the rows have no groups."""
    from matplotlib.lines import Line2D

    names = [group.name for group in scores.groups]
    if names in ([], [""]):
        return
    # Two rounds of the colors, each with a mark of its own: more marks would not tell groups apart, and take room.
    most = 2 * len(COLORS)
    if len(names) > most:
        more = Line2D([], [], linestyle="none")
        marks, names = [*marks[:most], more], [*names[:most], f"and {len(names) - most:,} more"]
    legend = ax.legend(marks, ["" for _ in names], frameon=False, handletextpad=0.3, loc="best")
    for text, name in zip(legend.get_texts(), names, strict=True):
        # A name is shown as it is: a dollar sign in it is no formula, and a leading underscore hides nothing.
        text.set_parse_math(False)
        text.set_text(name)
