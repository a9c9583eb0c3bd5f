"""Axes to draw on: the caller's, or new ones; and the plain frame that every picture shares."""

from matplotlib.axes import Axes


def axes_or_new(ax: Axes | None) -> Axes:
    """The axes given, or those of a new figure, which a notebook then shows."""
    if ax is not None:
        return ax
    from matplotlib import pyplot as plt

    axes: Axes = plt.subplots(layout="constrained")[1]
    return axes


def plain_frame(ax: Axes) -> None:
    """Leave only the two lines that carry numbers."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(length=3)
