"""Scores of the rows of a table, for pictures."""

from typing import Any

import numpy as np

from gramian.errors import ParameterError
from gramian.models.row_values import open_rows_of, require_finite_rows
from gramian.pictures.fitted import FittedModel, host, model_of


def scores_of(model: FittedModel, source: Any = None, scores: Any = None) -> np.ndarray | None:
    """Return the scores of a table (n, k): those given, those of the rows, or those a kernel model keeps.

    Examples
    --------
    >>> from gramian import PCA
    >>> from gramian.models.row_values import open_rows
    >>> model = model_of(PCA(1).fit([[0.0, 0.0], [3.0, 4.0]]))
    >>> scores_of(model, open_rows([[0.0, 0.0], [3.0, 4.0]])).ravel().round(6)
    array([-2.5,  2.5])
    """
    k = model.n_components
    if scores is not None:
        given = host(scores)
        if given.ndim != 2 or given.shape[1] < k:
            message = f"scores has shape {given.shape} and the model {k} components. Give one column per component."
            raise ParameterError(message)
        return given[:, :k]
    if source is None or source is model.source:
        kept = model.scores
        return kept if kept is not None and len(kept) else None
    return host(model.project(source))


def scores_table(fitted: Any, X: Any) -> np.ndarray:
    """Return the scores of rows (n, k); rows with other columns than the fit, or with missing values, are refused.

    Examples
    --------
    >>> from gramian import PCA
    >>> scores_table(PCA(1).fit([[0.0, 0.0], [3.0, 4.0]]), [[0.0, 0.0]]).round(6)
    array([[-2.5]])
    """
    model = model_of(fitted)
    source = open_rows_of(X, model.n_columns)
    made = np.asarray(scores_of(model, source))
    require_finite_rows(made, source)
    return made
