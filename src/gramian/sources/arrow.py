"""Where Arrow and NumPy meet: columns as floats, truths and strings, and arrays as columns.

Numbers go by the memory that both lay out alike. Arrow's own ways (``to_numpy``, ``pyarrow.array``, ``pyarrow.scalar``)
import pandas wherever it is installed, a seventh of a second: they are for columns that are made of Python values, or
that pandas made.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from gramian.arrays.namespace import HostArray
from gramian.arrays.precision import FLOAT32, FLOAT64
from gramian.errors import InputError, Sentence
from gramian.sources.conversion import LARGEST_EXACT, refuse_large_integer
from gramian.sources.locations import Location
from gramian.sources.missing_values import MISSING

DTYPES = {"halffloat": "float16", "float": "float32", "double": "float64"}
"""Names of Arrow's types that NumPy gives to others."""


def to_numpy(column: Any) -> HostArray:
    """Return an Arrow column of numbers or truths as NumPy: its own memory where nothing is null, else NaN there.

    Examples
    --------
    >>> import pyarrow as pa
    >>> to_numpy(pa.array([1, 2, None, 4])[1:]), to_numpy(pa.array([True, False]))
    (array([ 2., nan,  4.]), array([ True, False]))
    """
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        parts = [to_numpy(chunk) for chunk in column.chunks]
        return np.concatenate(parts) if parts else np.empty(0)
    if pa.types.is_null(column.type) or not len(column):
        return np.full(len(column), np.nan)
    valid, data = column.buffers()
    end = column.offset + len(column)
    if pa.types.is_boolean(column.type):
        values = _bits(data, end)
    else:
        kind = str(column.type)
        values = np.frombuffer(data, dtype=DTYPES.get(kind, kind), count=end)
    values = values[column.offset :]
    return np.where(_bits(valid, end)[column.offset :], values, np.nan) if column.null_count else values


def _bits(buffer: Any, count: int) -> HostArray:
    return np.unpackbits(np.frombuffer(buffer, dtype=np.uint8), count=count, bitorder="little").view(np.bool_)


def truths(column: Any) -> HostArray:
    """Return which cells of an Arrow column of truths are true; null is not."""
    return np.asarray(to_numpy(column) == 1)


def from_numpy(values: HostArray) -> Any:
    """Return an array of numbers or truths as an Arrow column without nulls.

    Examples
    --------
    >>> from_numpy(np.array([True, False, True])).to_pylist(), str(from_numpy(np.arange(3)).type)
    ([True, False, True], 'int64')
    """
    import pyarrow as pa

    packed = np.packbits(values, bitorder="little") if values.dtype == np.bool_ else np.ascontiguousarray(values)
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(packed)])


def from_words(words: Iterable[str]) -> Any:
    """Return words as an Arrow column of strings.

    Examples
    --------
    >>> from_words(["a", "", "ü"]).to_pylist()
    ['a', '', 'ü']
    """
    import pyarrow as pa

    cells = [word.encode() for word in words]
    ends = np.cumsum([0, *map(len, cells)], dtype=np.int32)
    return pa.StringArray.from_buffers(len(cells), pa.py_buffer(ends), pa.py_buffer(b"".join(cells)))


def without(column: Any, unwanted: Any) -> Any:
    """Return an Arrow column that is null where ``unwanted`` is true."""
    import pyarrow.compute as pc

    # Not by if_else, which reads text from the wrong place where chunks begin inside their buffers (PyArrow 18 to 21).
    return pc.case_when(pc.make_struct(pc.invert(unwanted)), column)


def texts(column: Any) -> Any:
    """Return text of any Arrow type as plain strings of Arrow; bytes that are no UTF-8 are taken for Latin-1."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if column.type == pa.string():
        return column
    try:
        return column.cast(pa.string())
    except pa.ArrowInvalid:
        cells = [None if cell is None else cell.decode("latin-1") for cell in column.cast(pa.binary()).to_pylist()]
        return pa.array(cells, pa.string())


def strings_of(column: Any) -> HostArray:
    """Return an Arrow column of any kind as strings of Python; nulls, and words for them, become empty ones."""
    import pyarrow.compute as pc

    if is_text(column.type):
        column = texts(column)
        column = without(column, pc.is_in(pc.utf8_trim_whitespace(column), value_set=from_words(MISSING)))
    return np.array(["" if value is None else str(value) for value in column.to_pylist()], dtype=object)


def is_text(kind: Any) -> bool:
    """Tell whether an Arrow type is text or bytes, or these behind codes."""
    from pyarrow import types

    kind = kind.value_type if types.is_dictionary(kind) else kind
    tests = (types.is_string, types.is_large_string, types.is_string_view, types.is_binary, types.is_large_binary)
    return any(test(kind) for test in tests)


def working_type(kinds: list[Any]) -> np.dtype[Any]:
    """Return float32 when every Arrow type is a float of at most 32 bits, else float64."""
    from pyarrow import types

    return FLOAT32 if all(types.is_float32(kind) or types.is_float16(kind) for kind in kinds) else FLOAT64


def dense_rows(batch: Any, dtype: np.dtype[Any], origin: str, start: int) -> HostArray:
    """Return the columns of an Arrow record batch side by side, in column order in memory; nulls become NaN.

    Cost: one copy. Columns that already have the working type are copied at once by Arrow; others one by one.
    """
    import pyarrow as pa

    arrow = pa.from_numpy_dtype(dtype)
    if batch.num_rows and hasattr(batch, "to_tensor") and all(kind == arrow for kind in batch.schema.types):
        return np.asarray(batch.to_tensor(null_to_nan=True, row_major=False).to_numpy())
    out = np.empty((batch.num_rows, batch.num_columns), dtype=dtype, order="F")
    for j, column in enumerate(batch.columns):
        out[:, j] = floats_of(column, Location(start, j, batch.schema.names[j]), origin)
    return out


def floats_of(column: Any, place: Location, origin: str) -> HostArray:
    """Return an Arrow column of numbers as floats, NaN where it is null; ``place`` is where it begins."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import types

    kind = column.type
    if types.is_decimal(kind):
        column = pc.cast(column, pa.float64())
    elif kind in (pa.int64(), pa.uint64()):
        _require_exact(column, place, origin)
    return to_numpy(column)


def _require_exact(column: Any, place: Location, origin: str) -> None:
    import pyarrow.compute as pc

    limits = pc.min_max(column).as_py()
    if limits["max"] is None or (limits["max"] <= LARGEST_EXACT and limits["min"] >= -LARGEST_EXACT):
        return
    values = column.to_pylist()
    row = next(i for i, value in enumerate(values) if value is not None and abs(value) > LARGEST_EXACT)
    try:
        refuse_large_integer(values[row], place._replace(row=place.row + row))
    except InputError as error:
        message = Sentence("{origin}: {error}", origin=origin, error=error)
        raise InputError(message, row=error.row, column=error.column) from error
