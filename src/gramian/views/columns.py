"""Where the columns lie: their correlations with the components, or their loadings where those are not known."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.models.ica import ICAModel
from gramian.models.pca import PCAModel
from gramian.views.fitted import column_names, host, names_of, require_kind


@dataclass(frozen=True, slots=True)
class ColumnMap:
    """The columns of a table as arrows.

    Attributes
    ----------
    names : tuple of str
    positions : (d, k) array
        Correlation of each column with each component, or its loading.
    lengths : (d,) array
        Part of a column's deviation that all components hold: 1 for a column that they describe whole. For loadings,
        the length in the column's unit.
    correlations : bool
        Whether positions are correlations; they then lie within the unit circle.
    scaling : str
        What the positions are, in words.
    components : tuple of str
        What each component is called.
    """

    names: tuple[str, ...]
    positions: np.ndarray
    lengths: np.ndarray
    correlations: bool
    scaling: str
    components: tuple[str, ...]


CORRELATIONS = "correlations with the components"
LOADINGS = "loadings, in the units of the columns"


def column_map(fitted: Any, *, names: Sequence[str] | None = None, deviations: np.ndarray | None = None) -> ColumnMap:
    """Lay out the columns of a linear model by what they have in common with its components.

    Computes  loadings_ja = v_ja sd(score_a)  and divides them by the deviation of column j, which makes them
    correlations. Scaled columns have deviation one; a model with all components knows the others; for the rest they
    must be given, or the loadings stay as they are, and ``scaling`` says so.

    Cost: O(d k); no pass over the rows.

    Parameters
    ----------
    fitted : PCAModel or ICAModel, or an estimator
    names : sequence of d str, optional
    deviations : (d,) array, optional
        Standard deviation of each column.

    Examples
    --------
    >>> from gramian import PCA
    >>> view = column_map(PCA(2, scale=True).fit([[0.0, 1.0], [1.0, 0.0], [2.0, 2.5], [3.0, 2.0]]))
    >>> view.correlations, view.lengths.round(6)
    (True, array([1., 1.]))
    """
    model = require_kind(fitted, PCAModel, ICAModel)
    loadings = loadings_of(model)
    known = known_deviations(model) if deviations is None else np.asarray(deviations, dtype=np.float64)
    if known is not None:
        loadings = np.divide(loadings, known[:, None], out=np.zeros_like(loadings), where=known[:, None] > 0)
    lengths = np.sqrt((loadings**2).sum(axis=1))
    named = tuple(column_names(model, names))
    words = LOADINGS if known is None else CORRELATIONS
    return ColumnMap(named, loadings, lengths, known is not None, words, tuple(names_of(model)))


def loadings_of(model: PCAModel | ICAModel) -> np.ndarray:
    """Return covariances of the columns, as the model saw them, with components of unit variance (d, k)."""
    if isinstance(model, ICAModel):
        return host(model.mixing)
    spread: np.ndarray = np.sqrt(np.maximum(host(model.variances), 0.0))
    return host(model.components).T * spread


def known_deviations(model: PCAModel | ICAModel) -> np.ndarray | None:
    """Return the deviations of the columns as the model saw them, where the model alone tells them (d,)."""
    if isinstance(model, ICAModel):
        return None
    if model.factor is not None:
        return (host(model.factor) > 0).astype(np.float64)
    whole = float(host(model.variances).sum()) >= (1.0 - 1e-9) * model.total_variance
    return np.sqrt((loadings_of(model) ** 2).sum(axis=1)) if whole else None
