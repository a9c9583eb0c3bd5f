"""Tables in memory (pandas, polars, Arrow) read as files are: text, ids, labels and missing values are looked for.

``as_source`` takes a table of numbers alone, as estimators do. An analysis takes any table, whose columns are chosen by
the rules for files (:func:`~gramian.sources.table_facts.choose_columns`).
"""

from collections import Counter
from typing import Any

import numpy as np

from gramian.arrays.namespace import HostArray
from gramian.errors import InputError
from gramian.sources.dask import is_dask
from gramian.sources.file_rows import FileRows
from gramian.sources.formats.arrow import dense_rows, kind_of, strings_of, working_type
from gramian.sources.row_file import RowFile
from gramian.sources.rows import RowSource
from gramian.sources.table import is_table
from gramian.sources.table_facts import Sampled, choose_columns


def is_frame(X: Any) -> bool:
    """Tell whether X is a table in memory: pandas, polars, Arrow, or what offers itself as one."""
    return is_table(X) and not is_dask(X) and not isinstance(X, RowSource)


def open_frame(X: Any, *, origin: str, memory_budget: int | None = None, **chosen: Any) -> RowSource:
    """Open a table in memory with the columns that the rules for files choose.

    Cost: nothing where the columns are Arrow's already or can be shared with it; else a copy of them. A pass copies the
    number columns, a window at a time.

    Parameters
    ----------
    X : pandas, polars or Arrow table
    origin : str
        What it is called in words.
    memory_budget : int, optional
    chosen : mapping
        ``columns``, ``drop``, ``label`` and ``id``, as for ``as_source``.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"who": ["a", "b", "c"], "age": [40, 41, None], "height": [1.7, 1.8, 1.9]})
    >>> rows = open_frame(table, origin="people")
    >>> rows.column_names, rows.ids().tolist(), rows.block(0).rows[2, 0]
    (('age', 'height'), ['a', 'b', 'c'], np.float64(nan))
    """
    table, index = _as_arrow(X, origin)
    names = table.column_names
    if not names or not table.num_rows:
        message = f"{origin} has {len(names)} columns and {table.num_rows} rows. Check the filter that made it."
        raise InputError(message)
    facts = choose_columns(
        [_sampled(table, name, is_index=name in index) for name in names],
        origin=origin,
        n_rows=table.num_rows,
        **chosen,
    )
    file = _FrameFile(table, tuple(column.name for column in facts.used), origin)
    return FileRows(file, facts=facts, budget=memory_budget)


class _FrameFile(RowFile):
    """The number columns of an Arrow table, read in windows as those of a file."""

    versions = ()

    def __init__(self, table: Any, names: tuple[str, ...], origin: str) -> None:
        self.origin, self.names = origin, names
        self._table, self._numbers = table, table.select(list(names))
        self.shape = (table.num_rows, len(names))
        self.dtype = working_type(list(self._numbers.schema.types))

    def read(self, rows: slice) -> HostArray:
        """Return some consecutive rows."""
        part = self._numbers.slice(rows.start, rows.stop - rows.start)
        found, at = [], rows.start
        for batch in part.to_batches():
            found.append(dense_rows(batch, self.dtype, self.origin, at))
            at += batch.num_rows
        return found[0] if len(found) == 1 else np.concatenate(found)

    def column(self, name: str) -> HostArray:
        """Return a column as strings."""
        return strings_of(self._table[name].combine_chunks())


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


def _arrow_column(series: Any) -> Any:
    """Return a pandas column as Arrow's; values of several kinds as text."""
    import pyarrow as pa

    try:
        found = pa.Array.from_pandas(series)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        missing = series.isna().to_numpy()
        found = pa.array([None if gone else str(value) for value, gone in zip(series, missing, strict=True)])
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found


def _sampled(table: Any, name: str, *, is_index: bool) -> Sampled:
    """Return a column as the first rows show it."""
    column = table[name]
    kind = kind_of(column.type)
    values = column.slice(0, 2000).to_pylist() if kind in ("text", "integer") else []
    return Sampled(name, kind, values, is_index=is_index)
