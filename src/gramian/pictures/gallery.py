"""Every picture by its short name, from a fitted model: ``from gramian import plot; plot.scree(pca)``.

Each takes ``ax=`` and returns it, and each is also a method of the model: ``pca.plot.scree()``; but ``gamma`` is of
what ``choose_gamma`` gives, and ``kmeans`` of what ``kmeans_cost`` does. What is drawn comes from ``gramian.pictures``,
so the same numbers are at hand without a picture.
"""

from gramian.pictures.biplot import biplot, correlation_circle
from gramian.pictures.certificate import certificate
from gramian.pictures.eigenfunctions import eigenfunctions
from gramian.pictures.gamma import gamma
from gramian.pictures.images import reconstructions
from gramian.pictures.kmeans import kmeans
from gramian.pictures.loadings import contributions, loadings
from gramian.pictures.outliers import outliers
from gramian.pictures.scores import scores
from gramian.pictures.scree import scree
from gramian.pictures.sources import sources

__all__ = [
    "biplot",
    "certificate",
    "contributions",
    "correlation_circle",
    "eigenfunctions",
    "gamma",
    "kmeans",
    "loadings",
    "outliers",
    "reconstructions",
    "scores",
    "scree",
    "sources",
]

OF_MODELS = tuple(name for name in __all__ if name not in {"gamma", "kmeans"})
"""Pictures of a fitted model; the others are of what was measured."""


def __dir__() -> list[str]:
    """List the pictures alone."""
    return sorted(__all__)
