"""Tables in memory (pandas, polars, Arrow) read as files are: text, ids, labels and missing values are looked for.

``as_source`` takes a table of numbers alone, as estimators do. An analysis takes any table, whose columns are chosen by
the rules for files (:func:`~gramian.sources.table_facts.choose_columns`).
"""

from collections import Counter
from typing import Any

import numpy as np

from gramian.arrays.namespace import HostArray, is_dask
from gramian.errors import InputError
from gramian.machine import memory_budget as memory_left
from gramian.sources.file_options import Chosen
from gramian.sources.file_rows import FileRows
from gramian.sources.formats.table import open_arrow_table
from gramian.sources.paths import WholeTable, open_tables
from gramian.sources.row_file import OpenedTable
from gramian.sources.rows import RowSource
from gramian.sources.table import is_table


def is_frame(X: Any) -> bool:
    """Tell whether X is a table in memory: pandas, polars, Arrow, or what offers itself as one."""
    return is_table(X) and not is_dask(X) and not isinstance(X, RowSource)


def open_frame(X: Any, chosen: Chosen, *, origin: str, memory_budget: int | None = None) -> RowSource:
    """Open a table in memory with the columns that the rules for files choose.

    Cost: a copy of the columns of numbers.

    Parameters
    ----------
    X : pandas, polars or Arrow table
    chosen : Chosen
        What is said about columns.
    origin : str
        What it is called in words.
    memory_budget : int, optional

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"who": ["ann", "bob", "cy"], "age": [40, 41, None], "height": [1.7, 1.8, 1.9]})
    >>> rows = open_frame(table, Chosen(), origin="people")
    >>> rows.column_names, rows.ids().tolist(), rows.block(0).rows[2, 0]
    (('age', 'height'), ['ann', 'bob', 'cy'], np.float64(nan))
    """
    budget = memory_budget or memory_left()
    file, facts = open_tables(iter([_opened(X, origin, budget)]), origin, chosen)
    return FileRows(file, facts=facts, budget=budget)


def open_frame_whole(X: Any, chosen: Chosen, *, origin: str, memory_budget: int | None = None) -> WholeTable:
    """Open a table in memory with all of its columns; parameters are those of :func:`open_frame`."""
    return WholeTable([_opened(X, origin, memory_budget or memory_left())], chosen, origin)


def _opened(X: Any, origin: str, budget: int) -> OpenedTable:
    table, index = _as_arrow(X, origin)
    if not table.num_columns or not table.num_rows:
        message = f"{origin} has {table.num_columns} columns and {table.num_rows} rows. Check the filter that made it."
        raise InputError(message)
    return open_arrow_table(table, origin, None, budget=budget)._replace(frame_index=frozenset(index))


def _as_arrow(X: Any, origin: str) -> tuple[Any, set[str]]:
    """Return a table as Arrow's, and the names of columns that are the index of a pandas frame."""
    import narwhals as nw
    import pyarrow as pa

    names = [str(name) for name in getattr(X, "column_names", getattr(X, "columns", ()))]
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        message = f"{origin} has more than one column called {twice!r}. Give each column its own name."
        raise InputError(message, column=twice)
    frame = nw.from_native(X, allow_series=True)
    if isinstance(frame, nw.LazyFrame):
        message = f"X is a lazy table ({type(X).__name__}). Pass X.collect(): nothing is loaded unasked."
        raise InputError(message)
    if isinstance(frame, nw.Series):
        frame = frame.to_frame()
    if not frame.implementation.is_pandas():
        return frame.to_arrow(), set()
    native = frame.to_native()
    columns = {str(name): _arrow_column(native.iloc[:, j]) for j, name in enumerate(native.columns)}
    own = _own_index(native)
    return pa.table(own | columns), set(own)


def _own_index(native: Any) -> dict[str, Any]:
    """Return the index of a pandas frame as a column, where it does more than count the rows."""
    index = native.index
    if type(index).__name__ in ("RangeIndex", "MultiIndex") or not len(index):
        return {}
    name = "__index_level_0__" if index.name is None else str(index.name)
    return {} if name in map(str, native.columns) else {name: _arrow_column(index.to_series())}


def names_of_rows(X: Any) -> HostArray | None:
    """Return the index of a pandas frame as the names of its rows, where it is of integers and more than their places.

    Examples
    --------
    >>> import pandas as pd
    >>> names_of_rows(pd.DataFrame({"a": [1.0, 2.0]}, index=[7, 9])).tolist()
    ['7', '9']
    >>> names_of_rows(pd.DataFrame({"a": [1.0, 2.0]})) is None
    True
    """
    index = getattr(X, "index", None) if type(X).__module__.partition(".")[0] == "pandas" else None
    if index is None or index.nlevels > 1 or index.dtype.kind not in "iu" or not index.is_unique:
        return None
    return None if (index == np.arange(len(index))).all() else np.array(list(map(str, index)), dtype=object)


def _arrow_column(series: Any) -> Any:
    """Return a pandas column as Arrow's; values of several kinds as text."""
    import pyarrow as pa

    try:
        found = pa.Array.from_pandas(series)
        if pa.types.is_dictionary(found.type) and not pa.types.is_string(found.type.value_type):
            # Categories that are no text, such as the intervals of pandas.cut.
            found = pa.Array.from_pandas(series.astype(object).map(str, na_action="ignore")).dictionary_encode()
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        missing = series.isna().to_numpy()
        found = pa.array([None if gone else str(value) for value, gone in zip(series, missing, strict=True)])
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found
