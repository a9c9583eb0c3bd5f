"""The map of the rows on two components."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection

from gramian.plots.axes import axes_or_new, plain_frame
from gramian.plots.palette import MUTED, color_of, marker_of
from gramian.views.scores import ScoreGroup, ScoresMap

# An SVG mark costs about 120 bytes; beyond this many the marks become one small image inside the picture.
_VECTOR_LIMIT = 2_000


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
    marks = [_draw_group(ax, scores, group, position) for position, group in enumerate(scores.groups)]
    ax.set(xlabel=scores.horizontal_label, ylabel=scores.vertical_label)
    ax.set_aspect("equal", adjustable="datalim")
    _name_groups(ax, scores, marks)
    if scores.n_shown < scores.n_rows:
        ax.set_title(f"{scores.n_shown:,} of {scores.n_rows:,} rows, drawn at random", fontsize="small", loc="left")
    plain_frame(ax)
    return ax


def _draw_group(ax: Axes, scores: ScoresMap, group: ScoreGroup, position: int) -> PathCollection:
    """The points of one group, lighter where there are many."""
    return ax.scatter(
        group.horizontal,
        group.vertical,
        s=22 if scores.n_shown <= _VECTOR_LIMIT else 6,
        marker=marker_of(position),
        color=color_of(position),
        alpha=float(np.clip(30.0 / np.sqrt(max(scores.n_shown, 1)), 0.25, 0.8)),
        linewidths=0,
        rasterized=scores.n_shown > _VECTOR_LIMIT,
    )


def _name_groups(ax: Axes, scores: ScoresMap, marks: list[PathCollection]) -> None:
    """A legend, unless the rows have no groups."""
    names = [group.name for group in scores.groups]
    if names in ([], [""]):
        return
    legend = ax.legend(marks, ["" for _ in names], frameon=False, handletextpad=0.3, loc="best")
    for text, name in zip(legend.get_texts(), names, strict=True):
        # A name is shown as it is: a dollar sign in it is no formula, and a leading underscore hides nothing.
        text.set_parse_math(False)
        text.set_text(name)
