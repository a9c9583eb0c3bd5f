"""Rows on their way into an estimator: opened, on the device asked for, with the columns of the fit.

Columns are checked in scikit-learn's words. A path is read within the ``memory_budget`` of its estimator, which hears
of it through its ``progress``.
"""

import warnings
from math import isfinite
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from gramian.arrays.namespace import Array, HostArray, namespace_of
from gramian.errors import InputError, InputWarning, NotSupportedError, ParameterError, users_line
from gramian.sources.dask import declared, is_dask
from gramian.sources.finiteness import require_finite
from gramian.sources.opening import as_source
from gramian.sources.paths import is_path
from gramian.sources.rows import RowSource
from gramian.sources.table_facts import TableFacts


def open_rows(estimator: Any, X: Any, *, weights: Any = None) -> RowSource:
    """Open rows to learn from; a file is read in windows that suit the estimator's ``memory_budget``.

    An ``InputWarning`` names the columns of a table file that hold numbers, or nearly, and are left out: five of them.
    """
    source = _open_path(estimator, X, weights=weights) if is_path(X) else as_source(X, weights=weights)
    facts: TableFacts | None = getattr(source, "facts", None) if is_path(X) else None
    if facts is not None and (doubts := facts.doubts()):
        more = f" And {len(doubts) - 5} more." if len(doubts) > 5 else ""
        message = (
            f"{facts.origin}: {' '.join(doubts[:5])}{more} To choose yourself, pass gramian.as_source(path, "
            "columns=...) or gramian.as_source(path, drop=...) in place of the path; to use text as numbers, mend its "
            "cells first."
        )
        warnings.warn(message, InputWarning, stacklevel=users_line())
    elif is_path(X) and facts is None and source.remarks:
        message = (
            f"{' '.join(source.remarks)} To choose yourself, pass gramian.as_source(path, ...) in place of the path."
        )
        warnings.warn(message, InputWarning, stacklevel=users_line())
    _check_device(estimator, source)
    return source


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


def _open_path(estimator: Any, X: Any, **options: Any) -> RowSource:
    budget, say = getattr(estimator, "memory_budget", None), getattr(estimator, "progress", None)
    return as_source(X, memory_budget=budget, progress=say, **options)


def _check_device(estimator: Any, source: RowSource) -> None:
    """Refuse to compute elsewhere than where the rows are, or where the estimator cannot."""
    device = getattr(estimator, "device", None)
    if device is None:
        return
    where = str(getattr(source.like(), "device", "cpu"))
    name = type(estimator).__name__
    if getattr(estimator, "_HOST_ONLY", False):
        if device != "cpu":
            message = (
                f"device={device!r}, and {name} computes on the CPU alone. Pass device='cpu' or None, and "
                "rows that are on the CPU."
            )
            raise NotSupportedError(message)
        return
    if device.partition(":")[0] != where.partition(":")[0]:
        message = f"device={device!r}, and the rows are on {where!r}. Move them first, or leave device=None."
        raise ParameterError(message)


def say(estimator: Any, sentence: str) -> None:
    """Tell the estimator's ``progress`` what comes next."""
    if estimator.progress is not None:
        estimator.progress(sentence)


def feature_names(X: Any, source: RowSource | None = None) -> HostArray | None:
    """Return the column names of a table whose names are all strings, else None; those of the source for a file.

    scikit-learn's own rule is asked, on an estimator that is thrown away: the one being fitted keeps its former
    names until the fit has succeeded.
    """
    if type(X) is np.ndarray:
        return None
    if source is not None and (is_path(X) or isinstance(X, RowSource)):
        return None if source.column_names is None else np.asarray(source.column_names, dtype=object)
    if not hasattr(X, "shape"):
        return None
    probe = BaseEstimator()
    validate_data(probe, _stand_in(X), skip_check_array=True)
    return getattr(probe, "feature_names_in_", None)


def keep_names(estimator: Any, names: HostArray | None) -> None:
    """Remember the names of the columns of a fit; none where they are not all strings."""
    estimator.__dict__.pop("feature_names_in_", None)
    if names is not None:
        estimator.feature_names_in_ = names


def check_features(estimator: Any, X: Any, source: RowSource) -> None:
    """Refuse rows whose columns are not those of the fit."""
    if is_path(X) or isinstance(X, RowSource):
        _check_names(estimator, source)
    elif type(X) is not np.ndarray or hasattr(estimator, "feature_names_in_"):
        validate_data(estimator, _stand_in(X), reset=False, skip_check_array=True)
    if source.n_columns != estimator.n_features_in_:
        message = (
            f"X has {source.n_columns} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input."
        )
        raise InputError(message)


def _check_names(estimator: Any, source: RowSource) -> None:
    fitted, here = getattr(estimator, "feature_names_in_", None), source.column_names
    if fitted is None or here is None or tuple(fitted) == here:
        return
    odd = next((pair for pair in zip(fitted, here, strict=False) if pair[0] != pair[1]), None)
    where = "" if odd is None else f": {odd[1]!r} stands where the fit had {odd[0]!r}"
    message = (
        f"The feature names should match those that were passed during fit{where}. Open the rows with the columns of "
        "the fit, in their order: gramian.as_source(path, columns=list(estimator.feature_names_in_))."
    )
    raise InputError(message)


def _stand_in(X: Any) -> Any:
    """Return, for a Dask collection, an empty table with its columns: scikit-learn would compute it to see them."""
    if not is_dask(X):
        return X
    return declared(X) if hasattr(X, "columns") else np.empty((0, X.shape[1]))


def open_scores(estimator: Any, X: Any, *, k: int, scores: str = "scores", of: str = "components") -> RowSource:
    """Open scores for the way back, refused where they have not one column per component."""
    source = as_source(X)
    if source.n_columns != k:
        message = (
            f"X has {source.n_columns} columns, and this {type(estimator).__name__} has {k} {of}. Pass {scores} as "
            "transform gives them, one column each."
        )
        raise InputError(message)
    return source


def finite_results(results: Array, source: RowSource) -> Array:
    """Return what was made of rows, which are refused where they hold NaN or infinity.

    One sum over the results stands for a check of all n d values: NaN and infinity survive every product. Results of
    lazy rows are not computed here: a chunk that holds NaN or infinity is refused when it is.
    """
    if source.is_local:
        with np.errstate(invalid="ignore", over="ignore"):
            total = float(namespace_of(results).sum(results))
        if not isfinite(total):
            require_finite(source)
    return results
