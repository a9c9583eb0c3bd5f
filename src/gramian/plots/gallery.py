"""Every picture by its short name, from a fitted model: ``from gramian import plot; plot.scree(pca)``.

Each takes ``ax=`` and returns it, and each is also a method of the model: ``pca.plot.scree()``; ``gamma`` alone is of
what ``choose_gamma`` gives. What is drawn comes from ``gramian.views``, so the same numbers are at hand without a
picture.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from gramian.plots.biplot import plot_biplot
from gramian.plots.certificate import plot_certificate
from gramian.plots.columns import plot_columns
from gramian.plots.eigenfunctions import plot_eigenfunctions
from gramian.plots.gamma import plot_gamma
from gramian.plots.images import plot_reconstructions
from gramian.plots.loadings import plot_contributions, plot_loadings
from gramian.plots.outliers import plot_outliers
from gramian.plots.scores import plot_scores
from gramian.plots.scree import plot_scree
from gramian.plots.sources import plot_sources
from gramian.views import (
    biplot_of,
    certificate_residuals,
    column_map,
    deviations_of,
    eigenfunctions_of,
    gamma_curve,
    image_strip,
    leading_columns,
    model_of,
    names_of,
    outlier_map,
    scores_map,
    scores_table,
    scree_of,
    shares_of,
    source_traces,
)

__all__ = [
    "biplot",
    "certificate",
    "contributions",
    "correlation_circle",
    "eigenfunctions",
    "gamma",
    "loadings",
    "outliers",
    "reconstructions",
    "scores",
    "scree",
    "sources",
]

OF_MODELS = tuple(name for name in __all__ if name != "gamma")
"""Pictures of a fitted model; that of a width is of its choice."""


def __dir__() -> list[str]:
    """List the pictures alone, not what they are drawn with."""
    return sorted(__all__)


def scree(model: Any, *, chosen: int | None = None, choice: Any = None, ax: Axes | None = None) -> Axes:
    """Draw what each component holds, all up to it, the noise of parallel analysis, and the cut.

    Parameters
    ----------
    model : a fitted PCA, KernelPCA or ICA
    chosen : int, optional
        Where the cut falls.
    choice : Panel, optional
        From ``gramian.how_many``: gives the cut and the noise.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import PCA
    >>> from gramian.plots import blank_axes
    >>> scree(PCA().fit(np.eye(4)), ax=blank_axes()).get_xlabel()
    'component'
    """
    return plot_scree(scree_of(model, chosen=chosen, choice=choice), ax=ax)


def scores(
    model: Any,
    X: Any,
    *,
    color: Sequence[Any] | np.ndarray | None = None,
    color_name: str = "",
    components: tuple[int, int] = (0, 1),
    limit: int = 50_000,
    ax: Axes | None = None,
) -> Axes:
    """Draw rows as points on two components, colored by a label or a number, with lines of density for many.

    Parameters
    ----------
    model : a fitted PCA, KernelPCA or ICA
    X : rows (n, d)
    color : sequence of n labels or numbers, optional
        Whole numbers of at most twelve kinds count as labels.
    color_name : str
        What those numbers are.
    components : pair of int
    limit : int
        Rows drawn at most; beyond it a sample, and the title says so.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import PCA
    >>> from gramian.plots import blank_axes
    >>> X = np.random.default_rng(0).standard_normal((9, 3))
    >>> scores(PCA().fit(X), X, color=list("aaabbbccc"), ax=blank_axes()).get_legend() is not None
    True
    """
    table = scores_table(model, X)
    groups, numbers = _colors(color)
    view = scores_map(
        model, table, labels=groups, values=numbers, color_name=color_name, components=components, limit=limit
    )
    return plot_scores(view, ax=ax)


def biplot(
    model: Any,
    X: Any,
    *,
    color: Sequence[Any] | None = None,
    names: Sequence[str] | None = None,
    components: tuple[int, int] = (0, 1),
    scaling: str = "rows",
    ax: Axes | None = None,
) -> Axes:
    """Draw rows as points and columns as arrows; the title names the scaling.

    Parameters
    ----------
    model : a fitted PCA
    X : rows (n, d)
    color : sequence of n labels, optional
    names : sequence of d str, optional
        Those of the fit unless given.
    components : pair of int
    scaling : {"rows", "columns"}
        Which side keeps its distances: see :func:`~gramian.views.biplot.biplot_of`.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes
    """
    table = scores_table(model, X)
    view = biplot_of(model, table, names=_names(model, names), components=components, scaling=scaling)
    return plot_biplot(view, labels=color, ax=ax)


def correlation_circle(
    model: Any,
    *,
    X: Any = None,
    names: Sequence[str] | None = None,
    components: tuple[int, int] = (0, 1),
    ax: Axes | None = None,
) -> Axes:
    """Draw columns as arrows to their correlations with two components.

    Parameters
    ----------
    model : a fitted PCA or ICA
    X : rows (n, d), optional
        For deviations of the columns where the model does not know them (few components, not scaled).
    names : sequence of d str, optional
    components : pair of int
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes
    """
    spread = None if X is None else deviations_of(X)
    known = getattr(model_of(model), "factor", None) is not None
    view = column_map(model, names=_names(model, names), deviations=None if known else spread)
    ax = plot_columns(view, components=components, ax=ax)
    labels = [f"{names_of(model_of(model))[j]} ({shares_of(model_of(model))[j]:.1%})" for j in components]
    ax.set(xlabel=labels[0], ylabel=labels[1])
    return ax


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
    columns = leading_columns(fitted, component, count=count, names=_names(model, names))
    title = f"{names_of(fitted)[component]} ({shares_of(fitted)[component]:.1%})"
    return plot_loadings(columns, ax=ax, title=title)


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
    columns = leading_columns(fitted, component, count=count, names=_names(model, names))
    return plot_contributions(columns, fitted.n_columns, ax=ax)


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


def eigenfunctions(model: Any, *, count: int = 6, steps: int = 80, ax: Axes | None = None) -> Axes:
    """Draw the components of a kernel over two columns as contours.

    Parameters
    ----------
    model : a fitted KernelPCA of two columns
    count, steps : int
        Components, and points of the grid a side.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes
    """
    return plot_eigenfunctions(eigenfunctions_of(model, count=count, steps=steps), ax=ax)


def gamma(choice: Any, *, ax: Axes | None = None) -> Axes:
    """Draw what kernels of different widths lose of held-out rows, and of rows without structure: the gap chooses.

    Parameters
    ----------
    choice : GammaChoice
        From ``gramian.choose_gamma``.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import choose_gamma
    >>> from gramian.plots import blank_axes
    >>> X = np.random.default_rng(0).standard_normal((30, 2))
    >>> gamma(choose_gamma(X, [0.1, 1.0], n_components=2, repeats=1), ax=blank_axes()).get_xlabel()
    'gamma'
    """
    return plot_gamma(gamma_curve(choice), ax=ax)


def sources(model: Any, X: Any, *, sampling_rate: float | None = None, ax: Axes | None = None) -> Axes:
    """Draw independent sources over time with spectra, kurtosis and stability.

    Parameters
    ----------
    model : a fitted ICA
    X : rows (n, d)
        In the order of time.
    sampling_rate : float, optional
        Rows a second.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes
    """
    table = scores_table(model, X)
    return plot_sources(source_traces(model, table, sampling_rate=sampling_rate), ax=ax)


def outliers(
    model: Any,
    X: Any,
    *,
    n_components: int | None = None,
    level: float = 0.99,
    row_names: Sequence[Any] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw Hotelling's T2 of each row against its squared prediction error, with the limits of both.

    Parameters
    ----------
    model : a fitted PCA
    X : rows (n, d)
    n_components : int, optional
        Components that count as known; all of the model unless told, and then nothing is left to be off.
    level : float
        Share of Gaussian rows below each limit.
    row_names : sequence of n, optional
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes
    """
    return plot_outliers(outlier_map(model, X, n_components=n_components, level=level), row_names=row_names, ax=ax)


def certificate(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the measured residual of each component by its grade, and the bound on its angle.

    Parameters
    ----------
    model : a fitted PCA or KernelPCA
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes
    """
    return plot_certificate(certificate_residuals(model), ax=ax)


def _names(model: Any, names: Sequence[str] | None) -> Sequence[str] | None:
    return names if names is not None else getattr(model, "feature_names_in_", None)


def _colors(color: Any) -> tuple[Any, Any]:
    """Return labels, or numbers, whichever these are."""
    if color is None:
        return None, None
    values = np.asarray(color)
    few = values.dtype.kind in "iub" and len(np.unique(values)) <= 12
    return (values, None) if few or values.dtype.kind not in "fiu" else (None, values)
