"""Rows that are images: the mean, the components, and an image rebuilt from more and more of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.analysis.findings import counted
from gramian.errors import ParameterError
from gramian.pictures.drawing import axes_or_new, bare, panels
from gramian.pictures.fitted import host, require_kind

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True)
class ImageStrip:
    """Pictures side by side.

    Attributes
    ----------
    mean : (h, w) array
    components : (c, h, w) array
    original : (h, w) array
    rebuilt : (m, h, w) array
        The row from each number of components in `counts`.
    counts : tuple of int
    errors : (m,) array
        Root of the mean squared difference from the original, per pixel.
    """

    mean: np.ndarray
    components: np.ndarray
    original: np.ndarray
    rebuilt: np.ndarray
    counts: tuple[int, ...]
    errors: np.ndarray


def image_strip(
    fitted: Any,
    row: np.ndarray,
    shape: tuple[int, int],
    *,
    counts: Sequence[int] = (1, 5, 15, 50),
    components: int = 4,
) -> ImageStrip:
    """Lay out an image, rebuilt from its first scores.

    Computes  mean + sum_{a <= k} y_a v_a  for each k; counts beyond what the model has are left out.

    Parameters
    ----------
    fitted : PCAModel or PCA
    row : (d,) array
        The image.
    shape : pair of int
        Height and width; their product is d.
    counts : sequence of int
        Numbers of components.
    components : int
        How many components to show.

    Examples
    --------
    >>> from gramian import PCA
    >>> X = np.random.default_rng(0).standard_normal((20, 6))
    >>> strip = image_strip(PCA().fit(X), X[3], (2, 3), counts=(1, 6))
    >>> strip.rebuilt.shape, bool(np.allclose(strip.rebuilt[1], X[3].reshape(2, 3)))
    ((2, 2, 3), True)
    """
    model = require_kind(fitted, "pca")
    require_shape(shape, model.n_columns)
    row = host(row).reshape(-1)
    k = len(model.components)
    counts = tuple(sorted({min(count, k) for count in counts}))
    scores = host(model.project(row[None, :]))
    kept = np.arange(k) < np.array(counts)[:, None]
    rebuilt = host(model.reconstruct(kept * scores))
    return ImageStrip(
        mean=host(model.mean).reshape(shape),
        components=host(model.components)[:components].reshape(-1, *shape),
        original=row.reshape(shape),
        rebuilt=rebuilt.reshape(-1, *shape),
        counts=counts,
        errors=np.sqrt(((rebuilt - row) ** 2).mean(axis=1)),
    )


def require_shape(shape: tuple[int, int], d: int) -> None:
    """Refuse a shape whose product is not the number of columns."""
    if min(shape) < 1 or prod(shape) != d:
        message = f"image_shape={tuple(shape)} does not make {d:,} columns. Give height and width, whose product is d."
        raise ParameterError(message)


def reconstructions(
    model: Any, row: Any, shape: tuple[int, int], *, counts: Sequence[int] = (1, 5, 15, 50), ax: Axes | None = None
) -> Axes:
    """Draw the mean and the first components as images, and one image from 1, 5, 15, 50 numbers.

    Parameters
    ----------
    model : a fitted PCA
    row : array (d,)
        The image.
    shape : pair of int
        Height and width.
    counts : sequence of int
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes
    """
    return plot_reconstructions(image_strip(model, row, shape, counts=counts), ax=ax)


def plot_reconstructions(strip: ImageStrip, *, ax: Axes | None = None) -> Axes:
    """Draw the mean and the first components above, and one image from a few numbers to all of it below."""
    above = [("mean", strip.mean), *((f"PC{j + 1}", image) for j, image in enumerate(strip.components))]
    below = [(counted(count, "number"), image) for count, image in zip(strip.counts, strip.rebuilt, strict=True)]
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


def _draw(ax: Axes, image: np.ndarray, title: str, limits: tuple[float, float]) -> None:
    ax.imshow(image, cmap="gray", vmin=limits[0], vmax=limits[1], interpolation="nearest")
    ax.set_title(title, fontsize="small")
