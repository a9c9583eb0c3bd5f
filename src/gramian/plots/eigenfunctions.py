"""The components of a kernel as contours over the plane."""

from math import ceil

import numpy as np
from matplotlib.axes import Axes

from gramian.plots.axes import axes_or_new, bare, panels
from gramian.views.eigenfunctions import Eigenfunctions

_COLUMNS = 3


def plot_eigenfunctions(view: Eigenfunctions, *, ax: Axes | None = None) -> Axes:
    """Draw each component as bands of equal score, zero as a darker line, with the rows it was learned from.

    Parameters
    ----------
    view : Eigenfunctions
        From ``gramian.views.eigenfunctions_of``.
    ax : matplotlib axes, optional
        Where to draw; a new figure unless given.

    Returns
    -------
    matplotlib axes
        Those given; the components stand in panels inside them.
    """
    count = len(view.values)
    columns = min(_COLUMNS, max(count, 1))
    rows = max(1, ceil(count / columns))
    ax = axes_or_new(ax, width=2.8 * columns, height=2.7 * rows)
    grid = panels(ax, rows, columns, gap=(0.06, 0.14))
    for position, panel in enumerate(grid.flat):
        bare(panel)
        if position < count:
            _draw(panel, view, position)
        else:
            panel.set_visible(False)
    return ax


def _draw(ax: Axes, view: Eigenfunctions, component: int) -> None:
    values = view.values[component]
    top = float(np.abs(values).max()) or 1.0
    levels = np.linspace(-top, top, 16)
    ax.contourf(view.x, view.y, values, levels=levels, cmap="PuOr", vmin=-1.25 * top, vmax=1.25 * top)
    ax.contour(view.x, view.y, values, levels=levels, colors="white", linewidths=0.4)
    if values.min() < 0.0 < values.max():
        ax.contour(view.x, view.y, values, levels=[0.0], colors="#5b6570", linewidths=0.9)
    x, y = view.points.T
    ax.scatter(x, y, s=4, color="#1d2733", linewidths=0, zorder=3, rasterized=len(view.points) > 500)
    ax.set_aspect("equal")
    ax.set_title(f"PC{component + 1} ({view.shares[component]:.0%})", fontsize="small", loc="left")
