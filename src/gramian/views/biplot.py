"""Rows and columns in one picture."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.errors import ParameterError
from gramian.models.pca import PCAModel
from gramian.views.columns import loadings_of
from gramian.views.fitted import column_names, host, require_kind
from gramian.views.labels import component_label

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
        What arrows are multiplied by to be seen beside the points.
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
    model = require_kind(fitted, PCAModel)
    if scaling not in SCALINGS:
        message = f"scaling={scaling!r} is not known. Pass 'rows' or 'columns': the side that keeps its distances."
        raise ParameterError(message)
    pair = require_pair(components, len(model.components))
    points, arrows = host(scores)[:, pair], host(model.components).T[:, pair]
    if scaling == "columns":
        spread = np.sqrt(host(model.variances)[pair])
        points = np.divide(points, spread, out=np.zeros_like(points), where=spread > 0)
        arrows = loadings_of(model)[:, pair]
    reach, longest = np.abs(points).max(initial=0.0), np.abs(arrows).max(initial=0.0)
    across, up = (component_label(j, float(model.shares[j])) for j in pair)
    stretch = 0.9 * float(reach / longest) if reach > 0 and longest > 0 else 1.0
    named = tuple(column_names(model, names))
    return Biplot(points, arrows, stretch, named, across, up, scaling, SCALINGS[scaling])


def require_pair(components: Sequence[int], k: int) -> list[int]:
    """Return two components, refused where the model does not have them.

    Examples
    --------
    >>> require_pair((0, 1), 5)
    [0, 1]
    """
    highest = max(components)
    if len(components) != 2 or min(components) < 0 or highest >= k:
        message = (
            f"components={tuple(components)} asks for component {highest + 1}, and there are {k}. "
            f"Fit at least {highest + 1} components, or choose two from 0..{k - 1}."
        )
        raise ParameterError(message)
    return list(components)
