"""The columns as arrows: the correlation circle."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle

from gramian.plots.axes import axes_or_new, plain_frame
from gramian.plots.palette import MUTED, RISING
from gramian.plots.placing import place_names
from gramian.views.biplot import require_pair
from gramian.views.columns import ColumnMap


def plot_columns(columns: ColumnMap, *, components: tuple[int, int] = (0, 1), ax: Axes | None = None) -> Axes:
    """Draw each column as an arrow to its correlation with two components, within the unit circle.

    An arrow that reaches the circle is a column that the two components describe whole. Where correlations are not
    known the arrows are loadings, there is no circle, and the title says which of both is drawn.

    Parameters
    ----------
    columns : ColumnMap
        From ``gramian.views.column_map``.
    components : pair of int
    ax : matplotlib axes, optional
        Where to draw; a new figure unless given.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from gramian.plots.svg import blank_axes
    >>> view = ColumnMap(("a",), np.array([[0.6, 0.8]]), np.ones(1), True, "correlations", ("PC1", "PC2"))
    >>> plot_columns(view, ax=blank_axes()).get_xlabel()
    'PC1'
    """
    points = columns.positions[:, require_pair(components, len(columns.components))]
    ax = axes_or_new(ax, width=5.6, height=5.6)
    reach = 1.08 if columns.correlations else 1.15 * float(np.abs(points).max(initial=1e-12))
    ax.axhline(0.0, color=MUTED, linewidth=0.6, zorder=0)
    ax.axvline(0.0, color=MUTED, linewidth=0.6, zorder=0)
    if columns.correlations:
        ax.add_patch(Circle((0.0, 0.0), 1.0, fill=False, color=MUTED, linewidth=1.0))
    draw_arrows(ax, points)
    # The frame is wider than the circle, so that names have room at its sides.
    ax.set(xlim=(-1.35 * reach, 1.35 * reach), ylim=(-reach, reach))
    ax.set_aspect("equal", adjustable="box")
    horizontal, vertical = (columns.components[j] for j in components)
    ax.set(xlabel=horizontal, ylabel=vertical)
    ax.set_title(columns.scaling, loc="left", fontsize="small")
    order = np.argsort(-(points**2).sum(axis=1), kind="stable")
    place_names(ax, points[order], [columns.names[j] for j in order], color=RISING, outward=True)
    plain_frame(ax)
    return ax


def draw_arrows(ax: Axes, points: np.ndarray) -> None:
    """Thin arrows from the origin; fainter where there are many."""
    faint = 0.9 if len(points) <= 40 else 0.4
    for x, y in points:
        style: dict[str, Any] = {
            "arrowstyle": "-|>",
            "color": RISING,
            "linewidth": 1.1,
            "alpha": faint,
            "shrinkA": 0,
            "shrinkB": 0,
        }
        arrow = ax.annotate("", (float(x), float(y)), (0.0, 0.0), arrowprops=style)
        arrow.set_in_layout(False)
