"""Cost and time of k-means against the number of components, from :func:`gramian.kmeans_cost`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gramian.models.clustering import KMeansCurve
from gramian.pictures.drawing import KEPT, MUTED, RUNNING, axes_or_new, plain_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def kmeans(curve: KMeansCurve, *, ax: Axes | None = None) -> Axes:
    """Draw how much more k-means costs in fewer dimensions, the most that it can, and how much sooner it ends.

    Parameters
    ----------
    curve : KMeansCurve
        From ``gramian.kmeans_cost``.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import kmeans_cost
    >>> from gramian.pictures import blank_axes
    >>> curve = kmeans_cost(np.random.default_rng(0).standard_normal((50, 4)), 2, dimensions=[1, 2])
    >>> kmeans(curve, ax=blank_axes()).get_xlabel()
    'components'
    """
    ax = axes_or_new(ax)
    from matplotlib.ticker import FixedLocator, NullLocator, PercentFormatter

    m, top = curve.dimensions, max(0.06, 1.15 * float(curve.increases.max(initial=0.0)))
    ax.axhline(0.05, color=MUTED, linestyle=(0, (4, 3)), linewidth=1.0)
    ax.plot(m, curve.bounds, color=MUTED, linewidth=1.5, label="at most, for the best clusters")
    ax.plot(m, curve.increases, color=KEPT, marker="o", markersize=5, linewidth=1.5, label="measured")
    last = -np.inf
    for position, more, seconds in zip(m, curve.increases, curve.seconds, strict=True):
        # A label needs a fifth of a decade.
        if np.log10(position) - last < 0.2:
            continue
        last = float(np.log10(position))
        faster = f"{curve.full_seconds / max(seconds, 1e-9):.0f}x"
        ax.annotate(faster, (position, more), (0, 7), textcoords="offset points", ha="center", color=RUNNING)
    ax.set(xscale="log", xlabel="components", ylabel="cost above k-means on all columns", ylim=(-0.02, top))
    ax.set_title(
        f"{curve.n_clusters} clusters of {curve.n_columns:,} columns; numbers: how much faster",
        loc="left",
        fontsize="medium",
    )
    ax.xaxis.set_major_locator(FixedLocator(m.tolist()))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xticklabels([f"{value}" for value in m])
    ax.yaxis.set_major_formatter(PercentFormatter(xmax=1.0, decimals=0))
    ax.legend(framealpha=1.0, edgecolor="none", loc="upper right", fontsize="small")
    plain_frame(ax)
    return ax
