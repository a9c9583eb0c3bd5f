"""Rows that are images: mean, components, and an image from more and more numbers."""

import numpy as np
from matplotlib.axes import Axes

from gramian.plots.axes import axes_or_new, bare, panels
from gramian.views.images import ImageStrip


def plot_reconstructions(strip: ImageStrip, *, ax: Axes | None = None) -> Axes:
    """Draw the mean and the first components above, and one image from a few numbers to all of it below.

    Parameters
    ----------
    strip : ImageStrip
        From ``gramian.views.image_strip``.
    ax : matplotlib axes, optional
        Where to draw; a new figure unless given.

    Returns
    -------
    matplotlib axes
        Those given; the images stand in panels inside them.
    """
    above = [("mean", strip.mean), *((f"PC{j + 1}", image) for j, image in enumerate(strip.components))]
    below = [(_counted(count), image) for count, image in zip(strip.counts, strip.rebuilt, strict=True)]
    below.append(("original", strip.original))
    columns = max(len(above), len(below))
    ax = axes_or_new(ax, width=1.6 * columns, height=3.9)
    grid = panels(ax, 2, columns, gap=(0.08, 0.24))
    limits = float(strip.original.min()), float(strip.original.max())
    for panel in grid.flat:
        bare(panel)
    for position, (title, image) in enumerate(above):
        top = float(np.abs(image).max())
        _draw(grid[0, position], image, title, limits if position == 0 else (-top, top))
    for position, (title, image) in enumerate(below):
        _draw(grid[1, position], image, title, limits)
    return ax


def _counted(count: int) -> str:
    return "1 number" if count == 1 else f"{count} numbers"


def _draw(ax: Axes, image: np.ndarray, title: str, limits: tuple[float, float]) -> None:
    ax.imshow(image, cmap="gray", vmin=limits[0], vmax=limits[1], interpolation="nearest")
    ax.set_title(title, fontsize="small")
