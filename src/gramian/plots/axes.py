"""Axes to draw on: the caller's, or new ones; small panels inside them; and the plain frame every picture shares."""

import numpy as np
from matplotlib.axes import Axes


def axes_or_new(ax: Axes | None, *, width: float = 6.4, height: float = 4.8) -> Axes:
    """The axes given, or those of a new figure of so many inches, which a notebook then shows."""
    if ax is not None:
        return ax
    from matplotlib import pyplot as plt

    axes: Axes = plt.subplots(layout="constrained", figsize=(width, height))[1]
    return axes


def plain_frame(ax: Axes) -> None:
    """Leave only the two lines that carry numbers."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(length=3)


def panels(ax: Axes, rows: int, columns: int, *, gap: tuple[float, float] = (0.04, 0.16)) -> np.ndarray:
    """Small axes in rows and columns inside others, whose own frame disappears.

    Parameters
    ----------
    ax : matplotlib axes
    rows, columns : int
    gap : pair of float
        Between panels, across and up, as shares of a panel.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> panels(Figure().subplots(), 2, 3).shape
    (2, 3)
    """
    ax.set_axis_off()
    width, height = 1.0 / (columns + gap[0] * (columns - 1)), 1.0 / (rows + gap[1] * rows)
    made = [
        [
            ax.inset_axes((j * width * (1 + gap[0]), 1.0 - (i + 1) * height * (1 + gap[1]), width, height))
            for j in range(columns)
        ]
        for i in range(rows)
    ]
    return np.array(made, dtype=object)


def bare(ax: Axes) -> None:
    """No ticks and no frame: an image, or a surface."""
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_visible(False)
