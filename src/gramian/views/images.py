"""Rows that are images: the mean, the components, and a row put together from more and more of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from gramian.errors import ParameterError
from gramian.models.pca import PCAModel
from gramian.views.fitted import host, require_kind


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
        Root of the mean squared difference from the original, a pixel.
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
    model = require_kind(fitted, PCAModel)
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
