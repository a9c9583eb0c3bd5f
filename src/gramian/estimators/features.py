"""Names and number of columns, remembered by a fit and asked of every later table, in scikit-learn's words."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from gramian.arrays.namespace import HostArray
from gramian.errors import InputError
from gramian.sources.cluster import is_dask
from gramian.sources.paths import is_path
from gramian.sources.rows import RowSource


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


def check_features(estimator: Any, X: Any, source: RowSource) -> None:
    """Refuse rows whose columns are not those of the fit."""
    n_columns = source.n_columns
    if is_path(X) or isinstance(X, RowSource):
        _check_names(estimator, source)
    elif type(X) is not np.ndarray or hasattr(estimator, "feature_names_in_"):
        validate_data(estimator, _stand_in(X), reset=False, skip_check_array=True)
    if n_columns != estimator.n_features_in_:
        message = (
            f"X has {n_columns} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input."
        )
        raise InputError(message)


def _check_names(estimator: Any, source: RowSource) -> None:
    """Refuse a source whose columns are called otherwise than those of the fit."""
    fitted, here = getattr(estimator, "feature_names_in_", None), source.column_names
    if fitted is None or here is None or tuple(fitted) == here:
        return
    odd = next((pair for pair in zip(fitted, here, strict=False) if pair[0] != pair[1]), None)
    where = "" if odd is None else f": {odd[1]!r} stands where the fit had {odd[0]!r}"
    message = (
        f"The feature names should match those that were passed during fit{where}. Open the rows with the columns of "
        "the fit, in their order: as_source(path, columns=list(estimator.feature_names_in_))."
    )
    raise InputError(message)


def _stand_in(X: Any) -> Any:
    """Return, for a Dask collection, an empty table with its columns: scikit-learn would compute it to see them."""
    if not is_dask(X):
        return X
    return X._meta if hasattr(X, "columns") else np.empty((0, X.shape[1]))  # noqa: SLF001
