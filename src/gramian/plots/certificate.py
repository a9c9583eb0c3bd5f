"""How far each component can be from the truth."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from gramian.plots.axes import axes_or_new, plain_frame
from gramian.plots.palette import COLORS, MUTED
from gramian.views.certificates import Residuals

_LOOKS = {
    "proved": (COLORS[2], "o"),
    "measured": (COLORS[3], "D"),
    "probable": (COLORS[0], "s"),
    "conditional": (COLORS[4], "^"),
    "rejected": (COLORS[1], "X"),
}


def plot_certificate(residuals: Residuals, *, ax: Axes | None = None) -> Axes:
    """Draw the residual of each component, relative to the largest variance, by grade, and the bound on its angle.

    Parameters
    ----------
    residuals : Residuals
        From ``gramian.views.certificate_residuals``.
    ax : matplotlib axes, optional
        Where to draw; a new figure unless given.

    Returns
    -------
    matplotlib axes
    """
    ax = axes_or_new(ax)
    positions = np.arange(1, len(residuals.residuals) + 1)
    known = np.isfinite(residuals.angles)
    ax.plot(positions[known], residuals.angles[known], "_", color=MUTED, markersize=9, label="angle at most (sine)")
    for grade, (color, marker) in _LOOKS.items():
        members = np.array([g == grade for g in residuals.grades], dtype=bool)
        if members.any():
            name = f"residual, {grade}"
            ax.plot(positions[members], residuals.residuals[members], marker, color=color, markersize=5, label=name)
    ax.set_yscale("log")
    ax.set(xlabel="component", ylabel="relative to the largest variance")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    ax.legend(frameon=False, fontsize="small", loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2)
    plain_frame(ax)
    return ax
