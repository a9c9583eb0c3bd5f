"""Columns as arrows: alone in the correlation circle, or with the rows as points in a biplot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.errors import ParameterError
from gramian.models.row_values import column_spread, open_rows
from gramian.pictures.drawing import COLORS, MUTED, RISING, axes_or_new, color_of, marker_of, plain_frame, zero_lines
from gramian.pictures.fitted import (
    axis_label,
    column_names,
    host,
    model_of,
    names_of,
    own_names,
    require_kind,
    require_pair,
    scores_table,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True)
class ColumnMap:
    """The columns of a table as arrows.

    Attributes
    ----------
    names : tuple of str
    positions : (d, k) array
        Correlation of each column with each component, or its loading.
    lengths : (d,) array
        Part of a column's deviation that all components hold: 1 for a column that they describe whole. For loadings,
        the length in the column's unit.
    correlations : bool
        Whether positions are correlations; they then lie within the unit circle.
    scaling : str
        What the positions are, in words.
    components : tuple of str
        What each component is called.
    """

    names: tuple[str, ...]
    positions: np.ndarray
    lengths: np.ndarray
    correlations: bool
    scaling: str
    components: tuple[str, ...]


def column_map(fitted: Any, *, names: Sequence[str] | None = None, deviations: np.ndarray | None = None) -> ColumnMap:
    """Lay out the columns of a linear model by what they have in common with its components.

    Computes  loadings_ja = v_ja sd(score_a)  and divides them by the deviation of column j, which makes them
    correlations. Scaled columns have deviation one; a model with all components knows the others; for the rest they
    must be given, or the loadings stay as they are, and ``scaling`` says so.

    Cost: O(d k); no pass over the rows.

    Parameters
    ----------
    fitted : PCAModel or ICAModel, or an estimator
    names : sequence of d str, optional
    deviations : (d,) array, optional
        Standard deviation of each column.

    Examples
    --------
    >>> from gramian import PCA
    >>> view = column_map(PCA(2, scale=True).fit([[0.0, 1.0], [1.0, 0.0], [2.0, 2.5], [3.0, 2.0]]))
    >>> view.correlations, view.lengths.round(6)
    (True, array([1., 1.]))
    """
    model = require_kind(fitted, "pca", "ica")
    loadings = model.loadings
    known = model.column_deviations if deviations is None else np.asarray(deviations, dtype=np.float64)
    if known is not None:
        loadings = np.divide(loadings, known[:, None], out=np.zeros_like(loadings), where=known[:, None] > 0)
    lengths = np.sqrt((loadings**2).sum(axis=1))
    named = tuple(column_names(model, names))
    words = "loadings, in the units of the columns" if known is None else "correlations with the components"
    return ColumnMap(named, loadings, lengths, known is not None, words, tuple(names_of(model)))


SCALINGS = {
    "rows": "distances between rows kept",
    "columns": "angles between columns kept",
}


@dataclass(frozen=True, slots=True)
class Biplot:
    """Points for rows, arrows for columns; the inner product of both approximates the table.

    Attributes
    ----------
    points : (n, 2) array
    arrows : (d, 2) array
        Before `stretch`.
    stretch : float
        What arrows are multiplied by to be seen among the points.
    names : tuple of str
        Of the columns.
    horizontal_label, vertical_label : str
    scaling : str
        "rows" or "columns".
    words : str
        What can be read off, in words.
    """

    points: np.ndarray
    arrows: np.ndarray
    stretch: float
    names: tuple[str, ...]
    horizontal_label: str
    vertical_label: str
    scaling: str
    words: str


def biplot_of(
    fitted: Any,
    scores: np.ndarray,
    *,
    names: Sequence[str] | None = None,
    components: tuple[int, int] = (0, 1),
    scaling: str = "rows",
) -> Biplot:
    """Lay out a biplot (Gabriel, 1971, doi:10.1093/biomet/58.3.453).

    Computes  points = Y, arrows = V  for ``"rows"``, and  points = Y / sd, arrows = V sd  for ``"columns"``; either
    way  points arrows'  is the table, as far as two components hold it.

    Parameters
    ----------
    fitted : PCAModel or PCA
    scores : (n, k) array
        ``model.project(X)``.
    names : sequence of d str, optional
    components : pair of int
    scaling : {"rows", "columns"}
        Which side keeps its distances.

    Examples
    --------
    >>> from gramian import PCA
    >>> X = np.array([[3.0, 0.0], [-3.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> pca = PCA().fit(X)
    >>> view = biplot_of(pca, pca.transform(X), scaling="columns")
    >>> bool(np.allclose(view.points @ view.arrows.T, X))
    True
    """
    model = require_kind(fitted, "pca")
    if scaling not in SCALINGS:
        message = f"scaling={scaling!r} is not known. Pass 'rows' or 'columns': the side that keeps its distances."
        raise ParameterError(message)
    pair = require_pair(components, model.n_components)
    points, arrows = host(scores)[:, pair], model.directions.T[:, pair]
    if scaling == "columns":
        spread = np.sqrt(host(model.variances)[pair])
        points = np.divide(points, spread, out=np.zeros_like(points), where=spread > 0)
        arrows = model.loadings[:, pair]
    reach, longest = np.abs(points).max(initial=0.0), np.abs(arrows).max(initial=0.0)
    across, up = (axis_label(model, j) for j in pair)
    stretch = 0.9 * float(reach / longest) if reach > 0 and longest > 0 else 1.0
    named = tuple(column_names(model, names))
    return Biplot(points, arrows, stretch, named, across, up, scaling, SCALINGS[scaling])


def correlation_circle(
    model: Any,
    *,
    X: Any = None,
    names: Sequence[str] | None = None,
    components: tuple[int, int] = (0, 1),
    ax: Axes | None = None,
) -> Axes:
    """Draw columns as arrows to their correlations with two components.

    Parameters
    ----------
    model : a fitted PCA or ICA
    X : rows (n, d), optional
        For deviations of the columns where the model does not know them (few components, not scaled).
    names : sequence of d str, optional
    components : pair of int
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes
    """
    fitted = model_of(model)
    spread = None if X is None or fitted.is_scaled else column_spread(open_rows(X))[1]
    view = column_map(model, names=own_names(model, names), deviations=spread)
    ax = plot_columns(view, components=components, ax=ax)
    horizontal, vertical = components
    ax.set(xlabel=axis_label(fitted, horizontal), ylabel=axis_label(fitted, vertical))
    return ax


def plot_columns(columns: ColumnMap, *, components: tuple[int, int] = (0, 1), ax: Axes | None = None) -> Axes:
    """Draw each column as an arrow to its correlation with two components, within the unit circle.

    An arrow that reaches the circle is a column that the two components describe whole. Where correlations are not
    known the arrows are loadings, there is no circle, and the title says which of both is drawn.

    Examples
    --------
    >>> from gramian.pictures import blank_axes
    >>> view = ColumnMap(("a",), np.array([[0.6, 0.8]]), np.ones(1), True, "correlations", ("PC1", "PC2"))
    >>> plot_columns(view, ax=blank_axes()).get_xlabel()
    'PC1'
    """
    points = columns.positions[:, require_pair(components, len(columns.components))]
    ax = axes_or_new(ax, width=5.6, height=5.6)
    from matplotlib.patches import Circle

    from gramian.pictures.placing import place_names

    reach = 1.08 if columns.correlations else 1.15 * float(np.abs(points).max(initial=1e-12))
    zero_lines(ax)
    if columns.correlations:
        ax.add_patch(Circle((0.0, 0.0), 1.0, fill=False, color=MUTED, linewidth=1.0))
    draw_arrows(ax, points)
    # The frame is wider than the circle, so that names have room at its sides.
    ax.set(xlim=(-1.35 * reach, 1.35 * reach), ylim=(-reach, reach))
    ax.set_aspect("equal", adjustable="box")
    horizontal, vertical = (columns.components[j] for j in components)
    ax.set(xlabel=horizontal, ylabel=vertical)
    ax.set_title(columns.scaling, loc="left", fontsize="small")
    order = np.argsort(-(points**2).sum(axis=1), kind="stable")
    place_names(ax, points[order], [columns.names[j] for j in order], color=RISING, outward=True)
    plain_frame(ax)
    return ax


def draw_arrows(ax: Axes, points: np.ndarray) -> None:
    """Thin arrows from the origin; fainter where there are many."""
    faint = 0.9 if len(points) <= 40 else 0.4
    look = {"arrowstyle": "-|>", "color": RISING, "linewidth": 1.1, "alpha": faint, "shrinkA": 0, "shrinkB": 0}
    for x, y in points:
        arrow = ax.annotate("", (float(x), float(y)), (0.0, 0.0), arrowprops=dict(look))
        arrow.set_in_layout(False)


def biplot(
    model: Any,
    X: Any,
    *,
    color: Sequence[Any] | None = None,
    names: Sequence[str] | None = None,
    components: tuple[int, int] = (0, 1),
    scaling: str = "rows",
    ax: Axes | None = None,
) -> Axes:
    """Draw rows as points and columns as arrows; the title names the scaling.

    Parameters
    ----------
    model : a fitted PCA
    X : rows (n, d)
    color : sequence of n labels, optional
    names : sequence of d str, optional
        Those of the fit unless given.
    components : pair of int
    scaling : {"rows", "columns"}
        Which side keeps its distances: see :func:`~gramian.pictures.biplot_of`.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes
    """
    table = scores_table(model, X)
    view = biplot_of(model, table, names=own_names(model, names), components=components, scaling=scaling)
    return plot_biplot(view, labels=color, ax=ax)


def plot_biplot(biplot: Biplot, *, labels: Sequence[object] | None = None, ax: Axes | None = None) -> Axes:
    """Draw a biplot; its title says which side keeps its distances and how far arrows were stretched.

    Examples
    --------
    >>> from gramian.pictures import blank_axes
    >>> one = Biplot(np.ones((2, 2)), np.ones((1, 2)), 0.5, ("a",), "PC1 (60.0%)", "PC2 (20.0%)", "rows", "words")
    >>> plot_biplot(one, ax=blank_axes()).get_title(loc="left")
    'words; arrows times 0.5'
    """
    ax = axes_or_new(ax, width=6.4, height=5.6)
    from gramian.pictures.placing import place_names

    zero_lines(ax)
    _draw_points(ax, biplot.points, labels)
    length = (biplot.arrows**2).sum(axis=1)
    order = np.argsort(-length, kind="stable")[:30]
    arrows = biplot.stretch * biplot.arrows[order]
    draw_arrows(ax, arrows)
    ax.set(xlabel=biplot.horizontal_label, ylabel=biplot.vertical_label)
    shown = f"; the {len(order)} longest of {len(length)} arrows" if len(order) < len(length) else ""
    ax.set_title(f"{biplot.words}; arrows times {biplot.stretch:.2g}{shown}", loc="left", fontsize="small")
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.12)
    place_names(ax, arrows, [biplot.names[j] for j in order], color=RISING, outward=True)
    plain_frame(ax)
    return ax


def _draw_points(ax: Axes, points: np.ndarray, labels: Sequence[object] | None) -> None:
    groups = np.array([""] * len(points) if labels is None else [str(label) for label in labels])
    names = np.unique(groups)
    fade = float(np.clip(20.0 / np.sqrt(max(len(points), 1)), 0.2, 0.6))
    for position, name in enumerate(names):
        members = points[groups == name]
        color = COLORS[0] if labels is None else color_of(position)
        x, y = members.T
        ax.scatter(x, y, s=16, color=color, marker=marker_of(position), alpha=fade, linewidths=0, label=name)
    if labels is not None and len(names) <= 12:
        legend = ax.legend(frameon=False, fontsize="small", loc="best")
        for text in legend.get_texts():
            text.set_parse_math(False)
