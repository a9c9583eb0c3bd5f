"""What a component is made of: the weights of its columns, and the part of it that each makes up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.errors import ParameterError
from gramian.pictures.drawing import FALLING, KEPT, MUTED, RISING, axes_or_new, plain_frame
from gramian.pictures.fitted import axis_label, column_names, model_of, own_names, require_kind

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True)
class ColumnWeight:
    """One column's part in a component.

    Attributes
    ----------
    name : str
        The column.
    weight : float
        Its entry in the unit vector of the component, with its sign.
    contribution : float
        weight^2: the entries of a component add up to one.
    """

    name: str
    weight: float
    contribution: float


def leading_columns(
    fitted: Any, component: int = 0, *, count: int = 6, names: Sequence[str] | None = None
) -> tuple[ColumnWeight, ...]:
    """Columns with the largest weights in one component, largest first.

    Computes  contribution_j = V[j, component]^2,  which sum to one over the columns.
    Cost: O(d log d); no pass over the rows.

    A weight compares columns only when they share a unit or were scaled; otherwise it tells mostly which
    column has the larger numbers.

    Parameters
    ----------
    fitted : PCAModel or ICAModel, or an estimator
        The fitted model; for a source, its column of the mixing at unit length.
    component : int
        Position of the component, from zero.
    count : int
        How many columns at most.
    names : sequence of d str, optional
        Names of the columns; ``column 1``, ``column 2``, ... unless given.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.models.pca.fit import fit_pca
    >>> from gramian.sources.opening import as_source
    >>> model = fit_pca(as_source(np.array([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]])))
    >>> columns = leading_columns(model, names=["width", "height"])
    >>> [(column.name, round(column.weight, 6)) for column in columns]
    [('height', 0.8), ('width', 0.6)]
    """
    model = require_kind(fitted, "pca", "ica")
    k = model.n_components
    if not 0 <= component < k:
        message = f"component={component} lies outside 0..{k - 1}: the model has {k} components."
        raise ParameterError(message)
    weights = model.directions[component]
    named = column_names(model, names)
    # Tied columns keep the order of the table, so that a page does not change by rounding alone.
    order = np.argsort(-np.round(np.abs(weights), 12), kind="stable")[:count]
    return tuple(ColumnWeight(named[j], float(weights[j]), float(weights[j] ** 2)) for j in order)


def loadings(
    model: Any, *, component: int = 0, count: int = 12, names: Sequence[str] | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the weights of the columns in one component, largest on top.

    Parameters
    ----------
    model : a fitted PCA or ICA
    component, count : int
        Which component, from 0; how many columns at most.
    names : sequence of d str, optional
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes
    """
    fitted = model_of(model)
    columns = leading_columns(fitted, component, count=count, names=own_names(model, names))
    return plot_loadings(columns, ax=ax, title=axis_label(fitted, component))


def contributions(
    model: Any, *, component: int = 0, count: int = 12, names: Sequence[str] | None = None, ax: Axes | None = None
) -> Axes:
    """Draw what part of one component each column makes up; they sum to one over all columns.

    Parameters
    ----------
    model : a fitted PCA or ICA
    component, count : int
    names : sequence of d str, optional
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes
    """
    fitted = model_of(model)
    columns = leading_columns(fitted, component, count=count, names=own_names(model, names))
    return plot_contributions(columns, fitted.n_columns, ax=ax)


def plot_loadings(columns: Sequence[ColumnWeight], *, ax: Axes | None = None, title: str = "") -> Axes:
    """Draw the weights of columns as bars to the left and right of zero, largest on top.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = plot_loadings([ColumnWeight("height", 0.8, 0.64)], ax=Figure().subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['height']
    """
    ax = axes_or_new(ax)
    positions = range(len(columns))
    colors = [RISING if column.weight >= 0 else FALLING for column in columns]
    ax.barh(positions, [column.weight for column in columns], color=colors, height=0.68)
    ax.axvline(0.0, color=MUTED, linewidth=0.8)
    name_bars(ax, columns)
    ax.set_xlabel("weight in the component")
    ax.set_title(title, loc="left", parse_math=False)
    plain_frame(ax)
    return ax


def plot_contributions(columns: Sequence[ColumnWeight], n_columns: int, *, ax: Axes | None = None) -> Axes:
    """Draw what part of a component each column makes up, and the part it would have if all had the same.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> plot_contributions([ColumnWeight("height", 0.8, 0.64)], 3, ax=Figure().subplots()).get_xlabel()
    'part of the component'
    """
    ax = axes_or_new(ax)
    from matplotlib.ticker import PercentFormatter

    positions = range(len(columns))
    ax.barh(positions, [column.contribution for column in columns], color=KEPT, height=0.68)
    ax.axvline(1.0 / max(n_columns, 1), color=MUTED, linestyle=(0, (4, 3)), linewidth=1.0, label="an equal part")
    name_bars(ax, columns)
    ax.xaxis.set_major_formatter(PercentFormatter(xmax=1.0, decimals=0))
    ax.set_xlabel("part of the component")
    ax.legend(frameon=False, loc="lower right", fontsize="small")
    plain_frame(ax)
    return ax


def name_bars(ax: Axes, columns: Sequence[ColumnWeight]) -> None:
    """Names of columns beside their bars, the first on top."""
    ax.set_yticks(range(len(columns)), [column.name for column in columns])
    for label in ax.get_yticklabels():
        # A name is shown as it is: a dollar sign in it is no formula.
        label.set_parse_math(False)
    ax.invert_yaxis()
