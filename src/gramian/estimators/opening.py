"""Rows for an estimator: whatever a person passes, and paths with the estimator's own budget and progress."""

import warnings
from typing import Any

from gramian.errors import InputWarning, users_line
from gramian.estimators.features import check_features
from gramian.sources.opening import as_source
from gramian.sources.paths import is_path
from gramian.sources.rows import RowSource
from gramian.sources.table_facts import TableFacts

MOST_DOUBTS = 5
"""Columns left out that one warning names."""


def open_rows(estimator: Any, X: Any, *, weights: Any = None) -> RowSource:
    """Open rows to learn from; a file is read in windows that suit the estimator's ``memory_budget``.

    A column of a table file that holds numbers, or nearly, and is left out is told in an ``InputWarning``.
    """
    if not is_path(X):
        return as_source(X, weights=weights)
    source = _open_path(estimator, X, weights=weights)
    _warn_of_doubts(source)
    return source


def _open_path(estimator: Any, X: Any, **options: Any) -> RowSource:
    budget, say = getattr(estimator, "memory_budget", None), getattr(estimator, "progress", None)
    return as_source(X, memory_budget=budget, progress=say, **options)


def _warn_of_doubts(source: RowSource) -> None:
    facts: TableFacts | None = getattr(source, "facts", None)
    if facts is not None and (doubts := facts.doubts()):
        listed = " ".join(doubts[:MOST_DOUBTS])
        more = f" And {len(doubts) - MOST_DOUBTS} more." if len(doubts) > MOST_DOUBTS else ""
        message = (
            f"{facts.origin}: {listed}{more} To choose yourself, pass as_source(path, columns=...) or "
            "as_source(path, drop=...) in place of the path; to use text as numbers, mend its cells first."
        )
        warnings.warn(message, InputWarning, stacklevel=users_line())


def open_new_rows(estimator: Any, X: Any) -> RowSource:
    """Open rows for a fitted estimator: of a table file the columns of the fit, in their order."""
    names = getattr(estimator, "feature_names_in_", None)
    if not is_path(X):
        source = as_source(X)
    elif names is None:
        source = _open_path(estimator, X)
    else:
        source = _open_path(estimator, X, columns=list(names))
    check_features(estimator, X, source)
    return source
