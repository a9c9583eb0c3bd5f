"""The scree: what each component holds, what they hold together, what noise would, and the cut."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, MaxNLocator, PercentFormatter

from gramian.plots.axes import axes_or_new, plain_frame
from gramian.plots.palette import KEPT, MUTED, RUNNING
from gramian.views.scree import Scree

_WIDEST_NAMED = 15  # With more bars than this, a number under each does not fit.
_WIDEST_WRITTEN = 8  # With more bars than this, a share does not fit into one.
_TALL_ENOUGH = 0.06  # A bar lower than this cannot hold a line of text.
_MOST_MARKS = 40  # Beyond it, marks on the line melt together.


def plot_scree(scree: Scree, *, ax: Axes | None = None) -> Axes:
    """Draw the share of every component as bars, their running sum as a line, what noise reaches, and the cut.

    All are shares of the same total, so they share one axis; a second one would let the line be moved
    against the bars at will.

    Parameters
    ----------
    scree : Scree
        From ``gramian.views.scree_of``.
    ax : matplotlib axes, optional
        Where to draw; a new figure unless given.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> shares = np.array([0.6, 0.3, 0.1])
    >>> ax = plot_scree(Scree(shares, shares, shares.cumsum(), 2, 1 / 3), ax=Figure().subplots())
    >>> ax.get_ylabel()
    'share of the variance'
    """
    ax = axes_or_new(ax)
    positions = np.arange(1, len(scree.shares) + 1)
    _draw_bars(ax, scree, positions)
    _draw_noise(ax, scree)
    mark = "o" if len(positions) <= _MOST_MARKS else ""
    ax.plot(
        positions, scree.cumulative, color=RUNNING, marker=mark, markersize=4, linewidth=1.5, label="all up to here"
    )
    if scree.chosen:
        ax.axvline(scree.chosen + 0.5, color=MUTED, linestyle=(0, (4, 3)), linewidth=1.0)
        ax.set_title(f"{scree.chosen} of {len(positions)} kept: {scree.kept:.0%}", loc="left", fontsize="medium")
    ax.set(xlabel="component", ylabel="share of the variance", ylim=(0.0, 1.06), xlim=(0.4, len(positions) + 0.6))
    ax.yaxis.set_major_formatter(PercentFormatter(xmax=1.0, decimals=0))
    few = len(positions) <= _WIDEST_NAMED
    ax.xaxis.set_major_locator(FixedLocator(positions.tolist()) if few else MaxNLocator(integer=True, min_n_ticks=1))
    # Between bars that fall and a line that rises, the middle of the right side is free.
    ax.legend(frameon=False, loc="center right", fontsize="small")
    plain_frame(ax)
    return ax


def _draw_bars(ax: Axes, scree: Scree, positions: np.ndarray) -> None:
    """Bars before the cut in color, those behind it in gray; large shares are written into the kept ones."""
    colors = [KEPT if position <= scree.chosen else MUTED for position in positions]
    ax.bar(positions, scree.shares, width=0.76, color=colors)
    if len(positions) > _WIDEST_WRITTEN:
        return
    for position, share in zip(positions[: scree.chosen], scree.shares, strict=False):
        if share >= _TALL_ENOUGH:
            inside = ax.annotate(f"{share:.0%}", (position, share), (0, -3), textcoords="offset points")
            inside.set(color="#ffffff", ha="center", va="top", fontsize="x-small")


def _draw_noise(ax: Axes, scree: Scree) -> None:
    """A band that noise alone would fill, 95 times of 100, in place of the components it was held against."""
    if not len(scree.noise):
        return
    edges = np.arange(len(scree.noise) + 1) + 0.5
    ax.stairs(scree.noise, edges, fill=True, color="#1b1f24", alpha=0.18, zorder=3, label="noise alone (95%)")
    ax.stairs(scree.noise, edges, color="#1b1f24", linewidth=1.0, linestyle=(0, (1, 1.5)), zorder=3, baseline=None)
