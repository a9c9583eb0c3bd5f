"""Tables with names: pandas, polars, Arrow and whatever speaks their protocols, read through narwhals.

A table keeps its columns where they are. A pandas frame of one block is used as it stands; other columns are
views of the table's own memory, put side by side at once when the result is small and block by block when it
is not.
"""

from bisect import bisect_right
from itertools import accumulate
from typing import Any, NoReturn

import numpy as np

from gramian.arrays.namespace import Array, HostArray
from gramian.arrays.precision import FLOAT32, FLOAT64
from gramian.errors import InputError, NotSupportedError
from gramian.sources.conversion import CONVERTED_AT_ONCE, real_numbers, working_dtype
from gramian.sources.finiteness import refuse_nonfinite
from gramian.sources.locations import Locate, Location, Names, column_locations, dense_locations

OBSTACLES = {
    "String": "text",
    "Categorical": "categories",
    "Enum": "categories",
    "Date": "dates",
    "Datetime": "dates",
    "Duration": "durations",
    "Time": "times of day",
    "Binary": "bytes",
    "List": "nested values",
    "Array": "nested values",
    "Struct": "nested values",
}
"""Types of column, as narwhals names them, that hold no numbers."""


class TableColumn:
    """One column of a table: pieces of memory, one after the other, that together are n numbers."""

    def __init__(self, pieces: list[HostArray]) -> None:
        self._pieces = pieces
        self._stops = list(accumulate(len(piece) for piece in pieces))
        self.dtype = FLOAT32 if all(working_dtype(piece) == FLOAT32 for piece in pieces) else FLOAT64

    def __len__(self) -> int:
        return self._stops[-1]

    def copy(self) -> "TableColumn":
        """Return the same numbers in memory of their own."""
        return TableColumn([piece.copy() for piece in self._pieces])

    def read(self, rows: slice, into: HostArray) -> None:
        """Write the values of ``rows`` into an array of that length."""
        at = rows.start
        for i in range(bisect_right(self._stops, at), len(self._pieces)):
            first = self._stops[i] - len(self._pieces[i])
            stop = min(rows.stop, self._stops[i])
            into[at - rows.start : stop - rows.start] = self._pieces[i][at - first : stop - first]
            at = stop
            if at == rows.stop:
                return


class TableArray:
    """An (n, d) array that is put together from the columns of a table as it is read.

    Examples
    --------
    >>> import numpy as np
    >>> columns = [TableColumn([np.arange(2), np.arange(3)]), TableColumn([np.ones(5, np.float32)])]
    >>> TableArray(columns)[1:3, :]
    array([[1., 1.],
           [0., 1.]])
    """

    def __init__(self, columns: list[TableColumn]) -> None:
        self._columns = columns
        self.shape = (len(columns[0]), len(columns))
        self.dtype = FLOAT32 if all(column.dtype == FLOAT32 for column in columns) else FLOAT64

    def copy(self) -> "TableArray":
        """Return one over copies of the columns."""
        return TableArray([column.copy() for column in self._columns])

    def __getitem__(self, piece: tuple[slice, slice]) -> HostArray:
        """Return rows and columns of the table, as floats, column after column in memory."""
        start, stop, _ = piece[0].indices(self.shape[0])
        columns = self._columns[piece[1]]
        out = np.empty((max(stop - start, 0), len(columns)), dtype=self.dtype, order="F")
        if stop > start:
            for j, column in enumerate(columns):
                column.read(slice(start, stop), out[:, j])
        return out


def is_table(X: Any) -> bool:
    """Tell whether X offers itself as a table or a column of one, without importing any table library."""
    # One column of pandas offers no protocol before version 3, but rows by position, as no index of it does.
    offers = ("__dataframe__", "__arrow_c_stream__", "__narwhals_dataframe__", "__narwhals_series__", "iloc")
    return any(hasattr(X, name) for name in offers)


def open_table(X: Any, *, missing: bool = False) -> tuple[Array, Names]:
    """Return the numbers of a table as an array (or sparse array) and the names of its columns.

    Names are kept when all of them are strings, as scikit-learn does. With ``missing`` nulls become NaN.

    Raises
    ------
    InputError
        Columns that hold no numbers, each by name; else missing values, with their row and column.
    """
    frame, labels = _frame(X)
    names = tuple(labels) if all(isinstance(label, str) for label in labels) else None
    whole = np.empty(frame.shape) if 0 in frame.shape else _as_a_whole(frame, labels)
    if whole is not None:
        return whole, names
    array = TableArray(_numeric_columns(frame, labels, missing=missing))
    small = array.shape[0] * array.shape[1] * array.dtype.itemsize <= CONVERTED_AT_ONCE
    return (array[:, :] if small else array), names


def open_frame_columns(X: Any) -> list[tuple[str, Any]]:
    """Return the columns of a table of any kinds, as narwhals series, each with its name as text."""
    frame, labels = _frame(X)
    return [(str(label), column) for label, column in zip(labels, frame.iter_columns(), strict=True)]


def _frame(X: Any) -> tuple[Any, list[Any]]:
    """Return a narwhals frame whose columns have unique names, and the names they really have."""
    import narwhals as nw  # only tables pay for it

    native = nw.to_native(X, pass_through=True)
    native, labels = _uniquely_named(native)
    frame = nw.from_native(native, allow_series=True, pass_through=True)
    if frame is native:
        frame = nw.from_native(_through_arrow(native))
    if isinstance(frame, nw.Series):
        message = (
            f"Expected 2D array, got 1D array instead: X is one column ({type(native).__name__}, "
            f"{len(frame):,} values). Reshape your data: pass a table of that column, as X.to_frame()."
        )
        raise InputError(message)
    if isinstance(frame, nw.LazyFrame):
        message = f"X is a lazy table ({type(native).__name__}). Pass X.collect(): nothing is loaded unasked."
        raise NotSupportedError(message)
    return frame, labels or list(frame.columns)


def _uniquely_named(native: Any) -> tuple[Any, list[Any]]:
    # Asked of the type, since a frame's columns are attributes too; Arrow's `columns` are the data.
    is_arrow = hasattr(type(native), "rename_columns")
    labels = list(native.column_names if is_arrow else getattr(native, "columns", ()))
    if len(set(labels)) == len(labels):
        return native, labels
    positions = [str(j) for j in range(len(labels))]
    return (native.rename_columns(positions) if is_arrow else native.set_axis(positions, axis=1)), labels


def _through_arrow(native: Any) -> Any:
    """Return an Arrow table of an object that only speaks a protocol of exchange."""
    import pyarrow as pa
    from pyarrow.interchange import from_dataframe

    return pa.table(native) if hasattr(native, "__arrow_c_stream__") else from_dataframe(native)


def _as_a_whole(frame: Any, labels: list[Any]) -> Array | None:
    """Return a table that is one array already, or is quickly made one, without a look at each column."""
    if frame.implementation.is_pandas():
        return _pandas_whole(frame.to_native(), labels)
    kinds = set(frame.schema.values())
    if len(kinds) != 1 or not kinds.pop().is_float():
        return None
    small = frame.shape[0] * frame.shape[1] * FLOAT64.itemsize <= CONVERTED_AT_ONCE
    if frame.implementation.is_polars():
        try:
            return frame.to_native().to_numpy(allow_copy=small)
        except RuntimeError:  # its columns do not lie one after the other
            return None
    return frame.to_numpy() if small else None


def _pandas_whole(native: Any, labels: list[Any]) -> Array | None:
    dtypes = list(native.dtypes)
    if all(hasattr(dtype, "subtype") and getattr(dtype, "fill_value", 1) == 0 for dtype in dtypes):
        return native.sparse.to_coo()
    if not all(isinstance(dtype, np.dtype) and dtype.kind in "fiub" for dtype in dtypes):
        return None
    # A frame grown column by column lies in many blocks; its first row is then a copy, as all of it would be.
    if len(set(dtypes)) == 1 and np.may_share_memory(native.iloc[:1].to_numpy(), native.iloc[:, 0].to_numpy()):
        return native.to_numpy()
    small = native.size * FLOAT64.itemsize <= CONVERTED_AT_ONCE
    return _pandas_by_type(native, dtypes, labels) if small else None


def _pandas_by_type(native: Any, dtypes: list[Any], labels: list[Any]) -> HostArray:
    """Gather plain columns one type at a time: pandas takes as long over one column as over a thousand."""
    parts = []
    for dtype in dict.fromkeys(dtypes):
        columns = [j for j, other in enumerate(dtypes) if other == dtype]
        locate = dense_locations(len(columns), tuple(str(labels[j]) for j in columns))
        parts.append((columns, real_numbers(native.iloc[:, columns].to_numpy(), locate)))
    narrow = all(working_dtype(part) == FLOAT32 for _, part in parts)
    out = np.empty(native.shape, dtype=FLOAT32 if narrow else FLOAT64, order="F")
    for columns, part in parts:
        out[:, columns] = part
    return out


def _numeric_columns(frame: Any, labels: list[Any], *, missing: bool) -> list[TableColumn]:
    columns = list(frame.iter_columns())
    obstacles = map(_obstacle, columns)
    refused = [(label, what) for label, what in zip(labels, obstacles, strict=True) if what is not None]
    if refused:
        _refuse_columns(refused)
    if not missing:
        _refuse_missing(columns, labels)
    return [_table_column(column, j, labels[j]) for j, column in enumerate(columns)]


def _table_column(column: Any, j: int, label: Any) -> TableColumn:
    known = None if _missing_count(column) == 0 else ~column.is_null().to_numpy().astype(bool)
    places = None if known is None else np.flatnonzero(known)
    pieces, start = [], 0
    for piece in _pieces(column if known is None else column.drop_nulls()):
        pieces.append(real_numbers(piece, _locations(j, str(label), start, places)))
        start += len(piece)
    return TableColumn(pieces if known is None else [_with_nan(pieces, known)])


def _locations(j: int, label: str, start: int, places: HostArray | None) -> Locate:
    """Tell where the values of a piece stand, which begins at ``start`` of a column, or of these places of it."""
    if places is None:
        return column_locations(j, label, start=start)
    return lambda i: Location(int(places[start + i]), j, label)


def _with_nan(pieces: list[HostArray], known: HostArray) -> HostArray:
    """Return the known values of a column where they stand, and NaN elsewhere."""
    dtype = FLOAT32 if pieces and all(working_dtype(piece) == FLOAT32 for piece in pieces) else FLOAT64
    out = np.full(len(known), np.nan, dtype=dtype)
    out[known] = np.concatenate([out[:0], *pieces])
    return out


def _pieces(column: Any) -> list[HostArray]:
    """Return the memory of a column, each piece as it lies where that can be had without a copy."""
    native = column.to_native()
    if "128" in str(column.dtype):
        return [np.array(column.to_list(), dtype=object)]
    if column.implementation.is_pyarrow():
        return [chunk.to_numpy(zero_copy_only=False) for chunk in native.chunks]
    if column.implementation.is_polars():
        return [chunk.to_numpy() for chunk in native.get_chunks()]
    return [column.to_numpy()]


def _obstacle(column: Any) -> str | None:
    """Say what a column holds when that is no numbers; ``None`` when it can be used."""
    dtype, name = column.dtype, type(column.dtype).__name__
    if dtype.is_numeric() or name in ("Boolean", "Object") or column.null_count() == len(column) > 0:
        return None
    if name in OBSTACLES:
        return f"{OBSTACLES[name]}, {dtype}"
    kind = column.to_numpy().dtype.kind
    if kind in "biuf":
        return None
    return f"{'complex numbers' if kind == 'c' else 'no numbers'}, {column.to_native().dtype}"


def _refuse_columns(refused: list[tuple[Any, str]]) -> NoReturn:
    shown = ", ".join(f"{label!r} ({what})" for label, what in refused[:8])
    more = f" and {len(refused) - 8:,} more" if len(refused) > 8 else ""
    opening = f"Column {shown} of X is" if len(refused) == 1 else f"{len(refused):,} columns of X are"
    listed = "" if len(refused) == 1 else f": {shown}{more}"
    prefix = "Complex data not supported. " if any("complex numbers" in what for _, what in refused) else ""
    message = (
        f"{prefix}{opening} not numeric{listed}. Leave such columns out, or turn them into numbers first: "
        "one column per category, days since the earliest date."
    )
    raise InputError(message, column=str(refused[0][0]))


def _missing_count(column: Any) -> int:
    # Plain floats of pandas have no mask: NaN in them is found by the first pass, as it is in an array.
    plain = isinstance(getattr(column.to_native(), "dtype", None), np.dtype) and column.dtype.is_numeric()
    return 0 if plain else column.null_count()


def _refuse_missing(columns: list[Any], labels: list[Any]) -> None:
    counts = [_missing_count(column) for column in columns]
    if not any(counts):
        return
    firsts = [
        (int(np.argmax(column.is_null().to_numpy())), j)
        for j, (column, count) in enumerate(zip(columns, counts, strict=True))
        if count
    ]
    row, j = min(firsts)
    refuse_nonfinite(Location(row, j, str(labels[j])), np.nan, count=sum(counts), dtype=FLOAT64)
