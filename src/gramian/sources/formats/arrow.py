"""Arrow columns as dense rows of floats, and what kind of thing an Arrow type is."""

from typing import Any

import numpy as np

from gramian.arrays.namespace import HostArray
from gramian.arrays.precision import FLOAT32, FLOAT64
from gramian.errors import InputError, Sentence
from gramian.sources.conversion import LARGEST_EXACT, refuse_large_integer
from gramian.sources.locations import Location


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


def strings_of(column: Any) -> HostArray:
    """Return an Arrow column of any kind as strings; nulls become empty ones."""
    texts = [
        "" if value is None else value.decode(errors="replace") if isinstance(value, bytes) else str(value)
        for value in column.to_pylist()
    ]
    return np.array(texts, dtype=object)


def floats_of(column: Any, place: Location, origin: str) -> HostArray:
    """Return an Arrow column of numbers as floats, NaN where it is null; ``place`` is where it begins."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import types

    kind = column.type
    if types.is_null(kind):
        return np.full(len(column), np.nan)
    if types.is_decimal(kind) or types.is_boolean(kind):
        column = pc.cast(column, pa.float64()) if types.is_decimal(kind) else pc.cast(column, pa.uint8())
    elif kind in (pa.int64(), pa.uint64()):
        _require_exact(column, place, origin)
    return np.asarray(column.to_numpy(zero_copy_only=False))


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
