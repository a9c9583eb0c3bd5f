"""The scree: how much of the variance each component holds, what noise alone would hold, and where the cut falls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.choosing import Panel
from gramian.errors import ParameterError
from gramian.pictures.drawing import KEPT, MUTED, RUNNING, axes_or_new, plain_frame
from gramian.pictures.fitted import host, model_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True)
class Scree:
    """Shares of the variance, one per component, with the number that is kept.

    Attributes
    ----------
    variances : (k,) array
        Variance along each component, largest first.
    shares : (k,) array
        The same divided by the total variance of the table, also where only some components were computed.
    cumulative : (k,) array
        Share held by a component and all before it.
    chosen : int
        How many components are kept; the cut falls behind the last of them.
    even_share : float
        What each component would hold if all directions were alike, 1/min(n - 1, d). A bar below it holds
        less than a round cloud would give it.
    noise : (m,) array
        Share that noise alone reaches in place of the first components, 95 times of 100, by parallel analysis; empty
        where it was not asked.
    """

    variances: np.ndarray
    shares: np.ndarray
    cumulative: np.ndarray
    chosen: int
    even_share: float
    noise: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @property
    def kept(self) -> float:
        """Share of the variance held by the components before the cut."""
        return float(self.cumulative[self.chosen - 1]) if self.chosen else 0.0


def scree_of(fitted: Any, *, chosen: int | None = None, choice: Panel | None = None) -> Scree:
    """Lay out the spectrum of a fitted model.

    Computes  shares_j = lam_j / total  and  cumulative_j = shares_1 + ... + shares_j.
    Cost: O(k); no pass over the rows.

    Parameters
    ----------
    fitted : PCAModel, KernelPCAModel or ICAModel, or an estimator
        The fitted model.
    chosen : int, optional
        Where the cut falls; what `choice` says, or all components of the model, unless given.
    choice : Panel, optional
        What each rule says, from ``gramian.how_many``: gives the cut and the noise of parallel analysis.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.models.pca.fit import fit_pca
    >>> from gramian.sources.opening import as_source
    >>> model = fit_pca(as_source(np.array([[3.0, 0.0], [-3.0, 0.0], [0.0, 1.0], [0.0, -1.0]])))
    >>> scree_of(model, chosen=1).shares
    array([0.9, 0.1])
    """
    model = model_of(fitted)
    shares = host(model.shares)
    k = len(shares)
    if chosen is None:
        chosen = k if choice is None else min(choice.n_components, k)
    if not 0 <= chosen <= k:
        message = f"chosen={chosen} lies outside 0..{k}: the model has {k} components. Fit more of them first."
        raise ParameterError(message)
    directions = max(1, min(model.n_rows - int(model.is_centered), model.n_columns))
    noise = np.zeros(0) if choice is None else _noise_of(choice)[:k]
    return Scree(host(model.variances), shares, np.cumsum(shares), chosen, 1.0 / directions, noise)


def _noise_of(choice: Panel) -> np.ndarray:
    """What parallel analysis held each component against, as shares of the variance."""
    found = [verdict.detail for verdict in choice.verdicts if verdict.rule == "parallel analysis"]
    total = found[0].get("total_variance", 0.0) if found else 0.0
    return np.asarray(found[0]["thresholds"], dtype=np.float64) / total if total else np.zeros(0)


def scree(model: Any, *, chosen: int | None = None, choice: Any = None, ax: Axes | None = None) -> Axes:
    """Draw what each component holds, all up to it, the noise of parallel analysis, and the cut.

    Parameters
    ----------
    model : a fitted PCA, KernelPCA or ICA
    chosen : int, optional
        Where the cut falls.
    choice : Panel, optional
        From ``gramian.how_many``: gives the cut and the noise.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import PCA
    >>> from gramian.pictures import blank_axes
    >>> scree(PCA().fit(np.eye(4)), ax=blank_axes()).get_xlabel()
    'component'
    """
    return plot_scree(scree_of(model, chosen=chosen, choice=choice), ax=ax)


def plot_scree(scree: Scree, *, ax: Axes | None = None) -> Axes:
    """Draw the share of every component as bars, their running sum as a line, what noise reaches, and the cut.

    All are shares of the same total, so they share one axis; a second one would let the line be moved
    against the bars at will.

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
    from matplotlib.ticker import FixedLocator, MaxNLocator, PercentFormatter

    positions = np.arange(1, len(scree.shares) + 1)
    _draw_bars(ax, scree, positions)
    _draw_noise(ax, scree)
    mark = "o" if len(positions) <= 40 else ""  # More of them melt together.
    line: dict[str, Any] = {"color": RUNNING, "marker": mark, "markersize": 4, "linewidth": 1.5}
    ax.plot(positions, scree.cumulative, label="all up to here", **line)
    if scree.chosen:
        ax.axvline(scree.chosen + 0.5, color=MUTED, linestyle=(0, (4, 3)), linewidth=1.0)
        ax.set_title(f"{scree.chosen} of {len(positions)} kept: {scree.kept:.0%}", loc="left", fontsize="medium")
    ax.set(xlabel="component", ylabel="share of the variance", ylim=(0.0, 1.06), xlim=(0.4, len(positions) + 0.6))
    ax.yaxis.set_major_formatter(PercentFormatter(xmax=1.0, decimals=0))
    few = len(positions) <= 15  # A number under each bar fits.
    ax.xaxis.set_major_locator(FixedLocator(positions.tolist()) if few else MaxNLocator(integer=True, min_n_ticks=1))
    # Between bars that fall and a line that rises, the middle of the right side is free.
    ax.legend(frameon=False, loc="center right", fontsize="small")
    plain_frame(ax)
    return ax


def _draw_bars(ax: Axes, scree: Scree, positions: np.ndarray) -> None:
    """Bars before the cut in color, those behind it in gray; large shares are written into the kept ones."""
    colors = [KEPT if position <= scree.chosen else MUTED for position in positions]
    ax.bar(positions, scree.shares, width=0.76, color=colors)
    if len(positions) > 8:  # Bars are too narrow for a number.
        return
    for position, share in zip(positions[: scree.chosen], scree.shares, strict=False):
        if share >= 0.06:  # A lower bar cannot hold a line of text.
            inside = ax.annotate(f"{share:.0%}", (position, share), (0, -3), textcoords="offset points")
            inside.set(color="#ffffff", ha="center", va="top", fontsize="x-small")


def _draw_noise(ax: Axes, scree: Scree) -> None:
    """A band that noise alone would fill, 95 times of 100, in place of the components it was held against."""
    if not len(scree.noise):
        return
    edges = np.arange(len(scree.noise) + 1) + 0.5
    ax.stairs(scree.noise, edges, fill=True, color="#1b1f24", alpha=0.18, zorder=3, label="noise alone (95%)")
    ax.stairs(scree.noise, edges, color="#1b1f24", linewidth=1.0, linestyle=(0, (1, 1.5)), zorder=3, baseline=None)
