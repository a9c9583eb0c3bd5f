"""Rows as points and columns as arrows, in one picture."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from gramian.plots.axes import axes_or_new, plain_frame
from gramian.plots.columns import draw_arrows
from gramian.plots.palette import COLORS, MUTED, RISING, color_of, marker_of
from gramian.plots.placing import place_names
from gramian.views.biplot import Biplot

_MOST_ARROWS = 30


def plot_biplot(biplot: Biplot, *, labels: Sequence[object] | None = None, ax: Axes | None = None) -> Axes:
    """Draw a biplot; its title says which side keeps its distances and how far arrows were stretched.

    Parameters
    ----------
    biplot : Biplot
        From ``gramian.views.biplot_of``.
    labels : sequence of n labels, optional
        A group for each row.
    ax : matplotlib axes, optional
        Where to draw; a new figure unless given.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from gramian.plots.svg import blank_axes
    >>> one = Biplot(np.ones((2, 2)), np.ones((1, 2)), 0.5, ("a",), "PC1 (60.0%)", "PC2 (20.0%)", "rows", "words")
    >>> plot_biplot(one, ax=blank_axes()).get_title(loc="left")
    'words; arrows times 0.5'
    """
    ax = axes_or_new(ax, width=6.4, height=5.6)
    ax.axhline(0.0, color=MUTED, linewidth=0.6, zorder=0)
    ax.axvline(0.0, color=MUTED, linewidth=0.6, zorder=0)
    _draw_points(ax, biplot.points, labels)
    length = (biplot.arrows**2).sum(axis=1)
    order = np.argsort(-length, kind="stable")[:_MOST_ARROWS]
    arrows = biplot.stretch * biplot.arrows[order]
    draw_arrows(ax, arrows)
    ax.set(xlabel=biplot.horizontal_label, ylabel=biplot.vertical_label)
    shown = f"; the {len(order)} longest of {len(length)} arrows" if len(order) < len(length) else ""
    ax.set_title(f"{biplot.words}; arrows times {biplot.stretch:.2g}{shown}", loc="left", fontsize="small")
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.12)
    place_names(ax, arrows, [biplot.names[j] for j in order], color=RISING, outward=True)
    plain_frame(ax)
    return ax


def _draw_points(ax: Axes, points: np.ndarray, labels: Sequence[object] | None) -> None:
    groups = np.array([""] * len(points) if labels is None else [str(label) for label in labels])
    names = np.unique(groups)
    fade = float(np.clip(20.0 / np.sqrt(max(len(points), 1)), 0.2, 0.6))
    for position, name in enumerate(names):
        members = points[groups == name]
        color = COLORS[0] if labels is None else color_of(position)
        x, y = members.T
        ax.scatter(x, y, s=16, color=color, marker=marker_of(position), alpha=fade, linewidths=0, label=name)
    if labels is not None and len(names) <= 12:
        legend = ax.legend(frameon=False, fontsize="small", loc="best")
        for text in legend.get_texts():
            text.set_parse_math(False)
