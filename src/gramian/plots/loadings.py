"""The weights of the columns in one component."""

from collections.abc import Sequence

from matplotlib.axes import Axes

from gramian.plots.axes import axes_or_new, plain_frame
from gramian.plots.palette import FALLING, MUTED, RISING
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
    ax.set_yticks(positions, [column.name for column in columns])
    for label in ax.get_yticklabels():
        # A name is shown as it is: a dollar sign in it is no formula.
        label.set_parse_math(False)
    ax.invert_yaxis()
    ax.set_xlabel("weight in the component")
    ax.set_title(title, loc="left", parse_math=False)
    plain_frame(ax)
    return ax
