"""The choice of a kernel's width: what is lost of the rows, and of rows without structure."""

from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from gramian.plots.axes import axes_or_new, plain_frame
from gramian.plots.palette import KEPT, MUTED, RUNNING
from gramian.views.gamma import GammaCurve

FOOT = 0.3
"""Share of the height under which two lines of words have no room."""


def plot_gamma(curve: GammaCurve, *, ax: Axes | None = None) -> Axes:
    """Draw both shares of held-out variance that are lost against gamma, and the gap that chooses.

    Left, kernels so wide that they are linear; right, so narrow that every row is like itself alone. The gap between
    the two lines is what a kernel sees in these rows and not in rows without structure.

    Parameters
    ----------
    curve : GammaCurve
        From ``gramian.views.gamma_curve``.
    ax : matplotlib axes, optional
        Where to draw; a new figure unless given.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> lost, chance = np.array([0.1, 0.5]), np.array([0.2, 0.9])
    >>> curve = GammaCurve(np.array([0.1, 1.0]), lost, chance, lost / 100, 1, True, 0.5, 10)
    >>> plot_gamma(curve, ax=Figure().subplots()).get_xlabel()
    'gamma'
    """
    ax = axes_or_new(ax)
    ax.set_xscale("log")
    ax.fill_between(curve.gammas, curve.lost, curve.lost_by_chance, color=KEPT, alpha=0.12, linewidth=0)
    ax.plot(curve.gammas, curve.lost_by_chance, color=MUTED, marker="o", markersize=3.5, linewidth=1.5)
    ax.plot(curve.gammas, curve.lost, color=KEPT, marker="o", markersize=3.5, linewidth=1.5)
    _name_lines(ax, curve)
    _mark_choice(ax, curve)
    _mark_median(ax, curve)
    ax.set(xlabel="gamma", ylabel=f"held-out variance lost by {curve.n_components} components", ylim=(0.0, 1.06))
    ax.yaxis.set_major_formatter(PercentFormatter(xmax=1.0, decimals=0))
    plain_frame(ax)
    return ax


def _name_lines(ax: Axes, curve: GammaCurve) -> None:
    """Names stand beside the ends of the lines, with room made for them: one a little up, the other a little down."""
    named = (curve.lost_by_chance, "columns shuffled", MUTED, 5), (curve.lost, "the rows", KEPT, -5)
    for line, name, color, up in named:
        place = (curve.gammas[-1], line[-1])
        ax.annotate(name, place, (8, up), textcoords="offset points", color=color, ha="left", va="center")
    reach = (curve.gammas[-1] / curve.gammas[0]) ** 0.28 if len(curve.gammas) > 1 else 10.0
    ax.set_xlim(curve.gammas[0] / 1.3, curve.gammas[-1] * reach)


def _mark_choice(ax: Axes, curve: GammaCurve) -> None:
    """A line as high as the gap at the gamma chosen, with its numbers."""
    j = curve.chosen
    low, high = curve.lost[j], curve.lost_by_chance[j]
    ax.plot([curve.gammas[j]] * 2, [low, high], color=RUNNING, linewidth=2.0, solid_capstyle="butt")
    ax.plot(curve.gammas[j], low, marker="o", markersize=6.5, color=RUNNING)
    gap = f"{high - low:.0%} gap" if curve.found else "no gap beyond chance"
    # Below the mark there is no room near the foot of the picture: the words then stand beside the gap.
    at_foot = low < FOOT
    ax.annotate(
        f"gamma = {curve.gammas[j]:.3g}\n{gap}",
        (curve.gammas[j], max((low + high) / 2, FOOT) if at_foot else low),
        (9, 0 if at_foot else -4),
        textcoords="offset points",
        ha="left",
        va="center" if at_foot else "top",
        color=RUNNING,
    )


def _mark_median(ax: Axes, curve: GammaCurve) -> None:
    """Where the median distance of the rows would put gamma."""
    if curve.median_gamma is None or not curve.gammas[0] <= curve.median_gamma <= curve.gammas[-1]:
        return
    ax.axvline(curve.median_gamma, color=MUTED, linestyle=(0, (4, 3)), linewidth=1.0, zorder=0)
    place, frame = (curve.median_gamma, 0.0), ax.get_xaxis_transform()
    ax.annotate("median distance", place, (4, 3), xycoords=frame, textcoords="offset points", fontsize="small")
