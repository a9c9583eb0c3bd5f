"""The choice of a kernel's width: what kernels lose of held-out rows, and of rows without structure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.models.kernel_pca.bandwidth import GammaChoice
from gramian.pictures.drawing import KEPT, MUTED, RUNNING, axes_or_new, plain_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True)
class GammaCurve:
    """Shares of held-out variance that are lost, by gamma.

    Attributes
    ----------
    gammas : (g,) array
        Increasing.
    lost : (g,) array
        Share that the components leave of the rows.
    lost_by_chance : (g,) array
        Share that they leave of rows without structure.
    errors : (g,) array
        Standard error of the difference of the two.
    chosen : int
        Position of the gamma with the largest difference.
    found : bool
        Whether that difference is more than chance.
    median_gamma : float or None
        What the median distance suggests.
    n_components : int
    """

    gammas: np.ndarray
    lost: np.ndarray
    lost_by_chance: np.ndarray
    errors: np.ndarray
    chosen: int
    found: bool
    median_gamma: float | None
    n_components: int


def gamma_curve(choice: GammaChoice) -> GammaCurve:
    """Lay out the curve of a choice of gamma.

    Examples
    --------
    >>> from gramian import choose_gamma
    >>> X = np.random.default_rng(0).standard_normal((30, 2))
    >>> gamma_curve(choose_gamma(X, [0.1, 1.0], n_components=2, repeats=2)).gammas
    array([0.1, 1. ])
    """
    return GammaCurve(
        gammas=choice.gammas,
        lost=np.array([score.lost for score in choice.scores]),
        lost_by_chance=np.array([score.lost_by_chance for score in choice.scores]),
        errors=np.array([score.gain_error for score in choice.scores]),
        chosen=int(np.flatnonzero(choice.gammas == choice.gamma)[0]),
        found=choice.found,
        median_gamma=choice.median_gamma,
        n_components=choice.best.n_components,
    )


def gamma(choice: Any, *, ax: Axes | None = None) -> Axes:
    """Draw what kernels of different widths lose of held-out rows, and of rows without structure: the gap chooses.

    Parameters
    ----------
    choice : GammaChoice
        From ``gramian.choose_gamma``.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import choose_gamma
    >>> from gramian.pictures import blank_axes
    >>> X = np.random.default_rng(0).standard_normal((30, 2))
    >>> gamma(choose_gamma(X, [0.1, 1.0], n_components=2, repeats=1), ax=blank_axes()).get_xlabel()
    'gamma'
    """
    return plot_gamma(gamma_curve(choice), ax=ax)


def plot_gamma(curve: GammaCurve, *, ax: Axes | None = None) -> Axes:
    """Draw both shares of held-out variance that are lost against gamma, and the gap that chooses.

    Left, kernels so wide that they are linear; right, so narrow that every row is like itself alone. The gap between
    the two lines is what a kernel sees in these rows and not in rows without structure.

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
    from matplotlib.ticker import PercentFormatter

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
    # Under 0.3 of the height two lines of words have no room below the mark: they stand beside the gap.
    foot = 0.3
    at_foot = low < foot
    ax.annotate(
        f"gamma = {curve.gammas[j]:.3g}\n{gap}",
        (curve.gammas[j], max((low + high) / 2, foot) if at_foot else low),
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
