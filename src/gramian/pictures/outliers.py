"""Rows by their two distances from the others, the limits of both, and the columns to blame for rows beyond them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.models.pca.model import PCAModel
from gramian.models.pca.scoring import Outliers, find_outliers, leading_model
from gramian.models.row_values import column_spread, open_rows_of, require_finite_rows, values_at
from gramian.pictures.drawing import KEPT, MUTED, RUNNING, axes_or_new, plain_frame
from gramian.pictures.fitted import column_names, host, require_kind

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True)
class Blame:
    """A column's part in what makes a row unusual.

    Attributes
    ----------
    name : str
    share : float
        Of the distance that the row is flagged for.
    value : float
        In the row.
    deviations : float
        How many standard deviations of its column that lies from the mean.
    """

    name: str
    share: float
    value: float
    deviations: float


@dataclass(frozen=True, slots=True)
class UnusualRow:
    """A row beyond a limit.

    Attributes
    ----------
    row : int
        Its position.
    t2, spe : float
    beyond : str
        "within the components", "off the components" or "both": which limit it passes.
    blame : tuple of Blame
        Columns with the largest parts, largest first.
    """

    row: int
    t2: float
    spe: float
    beyond: str
    blame: tuple[Blame, ...]


@dataclass(frozen=True, slots=True)
class OutlierMap:
    """All rows by both distances, and those beyond a limit in detail.

    Attributes
    ----------
    found : Outliers
    unusual : tuple of UnusualRow
        Furthest beyond a limit first; at most as many as were asked for.
    """

    found: Outliers
    unusual: tuple[UnusualRow, ...]


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

    Cost: two passes and those of a few rows.

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
    parts = _parts(leading_model(model, found.n_components), rows, found, shown)
    away = np.divide(rows - mean, spread, out=np.zeros_like(rows), where=spread > 0)
    unusual = [
        UnusualRow(
            int(row),
            float(found.t2[row]),
            float(found.spe[row]),
            _beyond(found, row),
            tuple(
                Blame(named[j], float(part[j]), float(rows[i, j]), float(away[i, j]))
                for j in np.argsort(-part, kind="stable")[:columns]
            ),
        )
        for i, (row, part) in enumerate(zip(shown, parts, strict=True))
    ]
    return OutlierMap(found, tuple(unusual))


def _beyond(found: Outliers, row: int) -> str:
    far, off = found.t2[row] > found.t2_limit, found.spe[row] > found.spe_limit
    return "both" if far and off else "within the components" if far else "off the components"


def _parts(model: PCAModel, rows: np.ndarray, found: Outliers, shown: np.ndarray) -> np.ndarray:
    """Return each column's share of the distance that a row is further beyond (m, d)."""
    V, lam = host(model.components), host(model.variances)
    z = rows - host(model.mean) if model.options.center else rows
    z = z if model.factor is None else z * host(model.factor)
    scores = z @ V.T
    inverse = np.divide(1.0, lam, out=np.zeros_like(lam), where=lam > 0)
    inverse[model.rank :] = 0.0
    within, off = z * ((scores * inverse) @ V), (z - scores @ V) ** 2
    far = found.t2[shown] / found.t2_limit >= found.spe[shown] / found.spe_limit
    parts = np.where(far[:, None], within, off)
    totals = parts.sum(axis=1, keepdims=True)
    shares: np.ndarray = np.divide(parts, totals, out=np.zeros_like(parts), where=totals > 0)
    return shares


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
