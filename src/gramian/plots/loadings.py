"""The columns of one component: their weights, and the parts of it that they make up."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from gramian.plots.axes import axes_or_new, plain_frame
from gramian.plots.palette import FALLING, KEPT, MUTED, RISING
from gramian.views.loadings import ColumnWeight


def plot_loadings(columns: Sequence[ColumnWeight], *, ax: Axes | None = None, title: str = "") -> Axes:
    """Draw the weights of columns as bars to the left and right of zero, largest on top.

    Parameters
    ----------
    columns : sequence of ColumnWeight
        From ``gramian.views.leading_columns``.
    ax : matplotlib axes, optional
        Where to draw; a new figure unless given.
    title : str
        For example the component's label.

    Returns
    -------
    matplotlib axes

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
    """Draw what part of a component each column makes up, beside the part it would have if all had the same.

    Parameters
    ----------
    columns : sequence of ColumnWeight
        From ``gramian.views.leading_columns``.
    n_columns : int
        Columns of the table: each would have 1/n_columns.
    ax : matplotlib axes, optional
        Where to draw; a new figure unless given.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> plot_contributions([ColumnWeight("height", 0.8, 0.64)], 3, ax=Figure().subplots()).get_xlabel()
    'part of the component'
    """
    ax = axes_or_new(ax)
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
