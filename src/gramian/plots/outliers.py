"""Rows by their two distances, with the limits."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from gramian.plots.axes import axes_or_new, plain_frame
from gramian.plots.palette import KEPT, MUTED, RUNNING
from gramian.plots.placing import place_names
from gramian.views.outliers import OutlierMap

_Side = tuple[np.ndarray, float, Callable[..., Any], Callable[..., Any]]

_WIDE_RANGE = 15.0
"""Times its limit that a distance reaches before its axis becomes logarithmic."""


def plot_outliers(
    outliers: OutlierMap, *, row_names: Sequence[object] | None = None, named: int = 12, ax: Axes | None = None
) -> Axes:
    """Draw Hotelling's T2 against the squared prediction error, the limits dashed, rows beyond them named.

    Parameters
    ----------
    outliers : OutlierMap
        From ``gramian.views.outlier_map``.
    row_names : sequence of n, optional
        Names of the rows; their numbers unless given.
    named : int
        Rows that are named at most, those furthest out first.
    ax : matplotlib axes, optional
        Where to draw; a new figure unless given.

    Returns
    -------
    matplotlib axes
    """
    ax = axes_or_new(ax)
    found = outliers.found
    beyond = np.zeros(len(found.t2), dtype=bool)
    beyond[found.flagged] = True
    many = len(found.t2) > 2_000
    look: dict[str, Any] = {"linewidths": 0, "s": 7 if many else 20, "rasterized": many}
    ax.scatter(found.t2[~beyond], found.spe[~beyond], color=KEPT, alpha=0.35 if many else 0.65, **look)
    ax.scatter(found.t2[beyond], found.spe[beyond], color=RUNNING, marker="D", alpha=0.9, **look)
    _draw_limits(ax, outliers)
    ax.set(xlabel="T²: far out within the components", ylabel="SPE: far off the components")
    shown = found.flagged[:named]
    names = [str(i + 1) if row_names is None else str(row_names[i]) for i in shown]
    place_names(ax, np.column_stack([found.t2[shown], found.spe[shown]]), names, color="#1b1f24")
    plain_frame(ax)
    return ax


def _draw_limits(ax: Axes, outliers: OutlierMap) -> None:
    found = outliers.found
    sides: tuple[_Side, ...] = (
        (found.t2, found.t2_limit, ax.axvline, ax.set_xscale),
        (found.spe, found.spe_limit, ax.axhline, ax.set_yscale),
    )
    for values, limit, line, scale in sides:
        if not np.isfinite(limit):
            continue
        line(limit, color=MUTED, linestyle=(0, (4, 3)), linewidth=1.0)
        if np.max(values, initial=0.0) > _WIDE_RANGE * limit:
            scale("log")
    ax.set_title(f"dashed: {found.level:.0%} of Gaussian rows stay below", loc="left", fontsize="small")
