"""Rows for pictures and the page: opened once, some of them taken out as numbers, and the spread of the columns."""

from typing import Any

import numpy as np

from gramian.arrays.namespace import HostArray, is_sparse, to_host
from gramian.arrays.precision import FLOAT64
from gramian.errors import InputError
from gramian.features.sampling import take_rows
from gramian.sources.finiteness import require_finite
from gramian.sources.moments import measure_moments
from gramian.sources.opening import as_source
from gramian.sources.rows import RowSource


def open_rows(X: Any) -> RowSource:
    """Return a source of rows: X itself where it is one already.

    Examples
    --------
    >>> open_rows([[1.0, 2.0]]).n_columns
    2
    """
    return X if isinstance(X, RowSource) else as_source(X)


def open_rows_of(X: Any, n_columns: int) -> RowSource:
    """Return a source of rows, refused where it has not the columns of the fit.

    Examples
    --------
    >>> open_rows_of([[1.0, 2.0]], 3)
    Traceback (most recent call last):
    ...
    gramian.errors.InputError: X has 2 columns, and the model was fitted to 3. Pass rows with the columns of the fit.
    """
    source = open_rows(X)
    if source.n_columns != n_columns:
        message = (
            f"X has {source.n_columns} columns, and the model was fitted to {n_columns}. "
            "Pass rows with the columns of the fit."
        )
        raise InputError(message)
    return source


def require_finite_rows(made: HostArray, source: RowSource) -> None:
    """Refuse rows with NaN or infinity, by place, where what was made of them shows some: one pass then, none else."""
    if not np.isfinite(made).all():
        require_finite(source)


def values_at(source: RowSource, positions: HostArray) -> HostArray:
    """Return the rows at some positions as float64 on the host, sparse ones made dense: one pass.

    Examples
    --------
    >>> import numpy as np
    >>> values_at(open_rows(np.arange(6.0).reshape(3, 2)), np.array([2, 0]))
    array([[4., 5.],
           [0., 1.]])
    """
    rows = take_rows(source, positions)
    return to_host(rows.toarray() if is_sparse(rows) else rows).astype(FLOAT64)


def column_spread(source: RowSource) -> tuple[HostArray, HostArray]:
    """Return mean and standard deviation of each column (d,), the latter over n - 1: one pass.

    Examples
    --------
    >>> [values.tolist() for values in column_spread(open_rows([[1.0, 0.0], [3.0, 0.0]]))]
    [[2.0, 0.0], [1.4142135623730951, 0.0]]
    """
    moments = measure_moments(source, center=True, scatter=False)
    return moments.mean, (moments.squares / max(moments.weight - 1.0, 1.0)) ** 0.5
