"""The map of the rows on two components."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.lines import Line2D

from gramian.plots.axes import axes_or_new, plain_frame
from gramian.plots.palette import COLORS, MUTED, color_of, marker_of
from gramian.views.scores import ScoreGroup, ScoresMap

# An SVG mark costs about 120 bytes; beyond this many the marks become one small image inside the picture.
_VECTOR_LIMIT = 2_000

# Beyond this many points a cloud hides where it is dense, so lines of equal density are drawn over it.
_CROWDED = 3_000

# Groups that the legend names: two rounds of the colors, each with a mark of its own.
_LEGEND = 2 * len(COLORS)


def plot_scores(scores: ScoresMap, *, ax: Axes | None = None) -> Axes:
    """Draw each row as a point, each group in its own color and shape.

    Both axes have the same scale: a distance on the map is a distance between rows, as far as these two
    components know it. When only a sample is shown, the map says so.

    Parameters
    ----------
    scores : ScoresMap
        From ``gramian.views.scores_map``.
    ax : matplotlib axes, optional
        Where to draw; a new figure unless given.

    Returns
    -------
    matplotlib axes

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
    ax.axhline(0.0, color=MUTED, linewidth=0.6, zorder=0)
    ax.axvline(0.0, color=MUTED, linewidth=0.6, zorder=0)
    if scores.n_shown > _CROWDED:
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
    return ax.scatter(
        group.horizontal,
        group.vertical,
        s=22 if scores.n_shown <= _VECTOR_LIMIT else 6,
        marker=marker_of(position),
        alpha=float(np.clip(30.0 / np.sqrt(max(scores.n_shown, 1)), 0.25, 0.8)),
        linewidths=0,
        rasterized=scores.n_shown > _VECTOR_LIMIT,
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
    names = [group.name for group in scores.groups]
    if names in ([], [""]):
        return
    if len(names) > _LEGEND:
        # Each row of the legend takes room, and beyond the palette a mark no longer tells one group from another.
        more = Line2D([], [], linestyle="none")
        marks, names = [*marks[:_LEGEND], more], [*names[:_LEGEND], f"and {len(names) - _LEGEND:,} more"]
    legend = ax.legend(marks, ["" for _ in names], frameon=False, handletextpad=0.3, loc="best")
    for text, name in zip(legend.get_texts(), names, strict=True):
        # A name is shown as it is: a dollar sign in it is no formula, and a leading underscore hides nothing.
        text.set_parse_math(False)
        text.set_text(name)
