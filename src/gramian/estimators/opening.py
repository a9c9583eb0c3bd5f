"""Rows for an estimator: whatever a person passes, and paths with the estimator's own budget and progress."""

from typing import Any

from gramian.estimators.features import check_features
from gramian.sources.opening import as_source
from gramian.sources.paths import is_path
from gramian.sources.rows import RowSource


def open_rows(estimator: Any, X: Any, *, weights: Any = None) -> RowSource:
    """Open rows to learn from; a file is read in windows that suit the estimator's ``memory_budget``."""
    if not is_path(X):
        return as_source(X, weights=weights)
    return as_source(
        X,
        weights=weights,
        memory_budget=getattr(estimator, "memory_budget", None),
        progress=getattr(estimator, "progress", None),
    )


def open_new_rows(estimator: Any, X: Any) -> RowSource:
    """Open rows for a fitted estimator: of a table file the columns of the fit, in their order."""
    names = getattr(estimator, "feature_names_in_", None)
    if not is_path(X):
        source = as_source(X)
    elif names is None:
        source = open_rows(estimator, X)
    else:
        budget, say = getattr(estimator, "memory_budget", None), getattr(estimator, "progress", None)
        source = as_source(X, columns=list(names), memory_budget=budget, progress=say)
    check_features(estimator, X, source)
    return source
