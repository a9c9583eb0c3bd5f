"""Rows by their two distances from the others, the limits of both, and the columns to blame for rows beyond them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.analysis.outliers import OutlierMap, unusual_rows
from gramian.models.pca.scoring import find_outliers
from gramian.models.row_values import column_spread, open_rows_of, require_finite_rows, values_at
from gramian.pictures.drawing import KEPT, MUTED, RUNNING, axes_or_new, plain_frame
from gramian.pictures.fitted import column_names, require_kind

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def outlier_map(
    fitted: Any,
    X: Any,
    *,
    n_components: int | None = None,
    level: float = 0.99,
    names: Sequence[str] | None = None,
    count: int = 20,
    columns: int = 3,
) -> OutlierMap:
    """Find the rows beyond the limits, and which columns put them there.

    Computes, for a row within the components, the parts of T2,  c_j = z_j sum_a t_a v_aj / lam_a,  which sum to it
    (z being the row as the model saw it); for a row off them, the squared residuals of its columns.

    Cost: one pass, and where rows lie beyond a limit two more: for these rows, and for the spread of the columns.

    Parameters
    ----------
    fitted : PCAModel or PCA
    X : rows (n, d), or a source of them
    n_components, level
        As for :func:`~gramian.models.pca.scoring.find_outliers`.
    names : sequence of d str, optional
    count, columns : int
        At most so many rows, and columns for each.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((200, 5)) * [9.0, 6.0, 1.0, 1.0, 1.0]
    >>> X[7] = [0.0, 0.0, 9.0, 0.0, 0.0]
    >>> from gramian import PCA
    >>> first = outlier_map(PCA().fit(X), X, n_components=2).unusual[0]
    >>> first.row, first.beyond, first.blame[0].name
    (7, 'off the components', 'column 3')
    """
    model = require_kind(fitted, "pca")
    source = open_rows_of(X, model.n_columns)
    found = find_outliers(model, source, n_components=n_components, level=level)
    require_finite_rows(found.t2 + found.spe, source)
    shown = found.flagged[:count]
    if not len(shown):
        return OutlierMap(found, ())
    rows, (mean, spread) = values_at(source, shown), column_spread(source)
    named = column_names(model, names)
    unusual = unusual_rows(model, found, rows, mean=mean, spread=spread, names=named, columns=columns)
    return OutlierMap(found, unusual)


_Side = tuple[np.ndarray, float, Callable[..., Any], Callable[..., Any]]


def outliers(
    model: Any,
    X: Any,
    *,
    n_components: int | None = None,
    level: float = 0.99,
    row_names: Sequence[Any] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw Hotelling's T2 of each row against its squared prediction error, with the limits of both.

    Parameters
    ----------
    model : a fitted PCA
    X : rows (n, d)
    n_components : int, optional
        Components that count as known; all of the model unless given, and then nothing is left to be off.
    level : float
        Share of Gaussian rows below each limit.
    row_names : sequence of n, optional
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes
    """
    return plot_outliers(outlier_map(model, X, n_components=n_components, level=level), row_names=row_names, ax=ax)


def plot_outliers(
    outliers: OutlierMap, *, row_names: Sequence[object] | None = None, named: int = 12, ax: Axes | None = None
) -> Axes:
    """Draw Hotelling's T2 against the squared prediction error, the limits dashed, rows beyond them named."""
    ax = axes_or_new(ax)
    from gramian.pictures.placing import place_names

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
        if np.max(values, initial=0.0) > 15 * limit:
            scale("log")
    ax.set_title(f"dashed: {found.level:.0%} of Gaussian rows stay below", loc="left", fontsize="small")
