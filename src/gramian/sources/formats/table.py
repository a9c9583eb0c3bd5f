"""Tables that are read whole into Arrow, such as those of Excel and JSON: their rows, and columns of plain values."""

import datetime as dt
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gramian.errors import InputError, MemoryBudgetError, Parameter, Sentence
from gramian.machine import MEGABYTE
from gramian.sources.arrow import from_numpy, from_words, without
from gramian.sources.conversion import LARGEST_EXACT
from gramian.sources.formats.columns import ArrowColumns, ColumnFile
from gramian.sources.formats.dialect import is_number
from gramian.sources.missing_values import MISSING
from gramian.sources.roles import kind_of, table_roles
from gramian.sources.row_file import FileVersion, OpenedTable

ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?)?")


def open_arrow_table(
    table: Any, origin: str, path: Path | None, *, is_named: bool = True, remarks: tuple[str, ...] = (), budget: int
) -> OpenedTable:
    """Open an Arrow table in memory; refuse one without rows or columns."""
    if not table.num_rows or not table.num_columns:
        message = f"{origin} has {table.num_columns} columns and {table.num_rows} rows. Check what wrote the file."
        raise InputError(message)
    kept = ArrowColumns(origin, tuple(table.column_names), budget=budget)
    for batch in table.to_batches():
        kept.add(batch)
    kept.finish()
    versions = () if path is None else (FileVersion.of(path),)
    rows = partial(ColumnFile, kept, versions=versions, named=is_named)
    return OpenedTable(origin, table.num_rows, kept.names, kept.examined, rows, kept.column, is_named, remarks=remarks)


def require_small(size: int, origin: str, *, times: int, budget: int) -> None:
    """Refuse a file of ``size`` bytes that is read whole and takes so many times its size, where that is too much."""
    needed = times * size
    if needed > budget:
        message = Sentence(
            f"{{origin}} is read whole, which takes about {needed / MEGABYTE:,.1f} MB, and the budget is "
            f"{budget / MEGABYTE:,.1f} MB. Save the table as Parquet, which is read in parts, or raise {{budget}} "
            "(GRAMIAN_MEMORY).",
            origin=origin,
            budget=Parameter("memory_budget"),
        )
        raise MemoryBudgetError(message, needed=needed, budget=budget)


def holds_numbers(table: Any) -> bool:
    """Tell whether any column of an Arrow table holds numbers."""
    roles = table_roles({name: table[name] for name in table.column_names})
    return any(column.kind in ("number", "integer") for column in roles.columns)


def column_of(values: Sequence[Any], na: Sequence[str] = ()) -> Any:
    """Return plain Python values of any kinds as an Arrow column.

    Numbers, dates and true or false stay what they are where all values are of that kind; values of several kinds
    become text, and lists and mappings a nested column without content. Words for missing values, also those in
    ``na``, NaN, and numbers that are one of these words, are null.

    Examples
    --------
    >>> column_of([1, 2.5, "NA", -999], na=["-999"]).to_pylist()
    [1.0, 2.5, None, None]
    >>> column_of(["x", 1, True]).to_pylist(), str(column_of(["2024-01-31", None]).type)
    (['x', '1', 'true'], 'timestamp[us]')
    """
    import pyarrow as pa

    words, amounts = {*MISSING, *na}, {float(word) for word in na if is_number(word)}
    kept = [None if _is_missing(value, words, amounts) else value for value in values]
    kinds = {type(value) for value in kept if value is not None}
    if not kinds:
        return pa.nulls(len(kept))
    if kinds & {list, dict, tuple}:
        return pa.nulls(len(kept), pa.list_(pa.null()))
    if kinds == {str}:
        return _dates_of(kept)
    if kinds <= {dt.date, dt.datetime}:
        whole = [value if value is None or isinstance(value, dt.datetime) else _at_midnight(value) for value in kept]
        return pa.array(whole, pa.timestamp("us"))
    if len(kinds) == 1 and kinds <= {bool, dt.time, dt.timedelta}:
        return pa.array(kept)
    if kinds <= {int, float, bool}:
        is_exact = all(abs(value) <= LARGEST_EXACT for value in kept if type(value) is int)
        if kinds == {int} and all(value is None or -(2**63) <= value < 2**63 for value in kept):
            return pa.array(kept, pa.int64())
        if is_exact:
            return pa.array([None if value is None else float(value) for value in kept], pa.float64())
    return pa.array([None if value is None else _text(value) for value in kept], pa.string())


def without_words(table: Any, na: Sequence[str] = ()) -> Any:
    """Return an Arrow table in which words for missing values, and numbers that are one of ``na``, are null.

    Nested columns lose their content: nothing is made of it.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    words = from_words([*MISSING, *na])
    amounts = [float(word) for word in na if is_number(word)]
    columns = []
    for column in table.columns:
        kind = kind_of(column.type)
        if pa.types.is_nested(column.type):
            column = pa.nulls(len(column), pa.list_(pa.null()))  # noqa: PLW2901
        elif pa.types.is_string(column.type):
            is_word = pc.is_in(pc.utf8_trim_whitespace(column), value_set=words)
            column = without(column, is_word)  # noqa: PLW2901
        elif kind in ("number", "integer") and amounts:
            is_word = pc.is_in(column.cast(pa.float64(), safe=False), value_set=from_numpy(np.array(amounts)))
            column = without(column, is_word)  # noqa: PLW2901
        columns.append(column)
    return pa.table(columns, names=table.column_names)


def _is_missing(value: Any, words: set[str], amounts: set[float]) -> bool:
    if value is None:
        return True
    if isinstance(value, str):
        return value.strip() in words
    is_amount = isinstance(value, int | float) and not isinstance(value, bool)
    return is_amount and (value != value or value in amounts)  # noqa: PLR0124 - NaN alone differs from itself


def _dates_of(texts: list[Any]) -> Any:
    """Return text as a column of dates where all of it is written as dates, year first; else as it is."""
    import pyarrow as pa

    column = pa.array(texts, pa.string())
    if not all(text is None or ISO_DATE.fullmatch(text) for text in texts):
        return column
    try:
        return column.cast(pa.timestamp("us"))
    except pa.ArrowInvalid:  # a thirtieth of February
        return column


def _at_midnight(day: dt.date) -> dt.datetime:
    return dt.datetime(day.year, day.month, day.day)  # noqa: DTZ001 - a table has no time zone


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if isinstance(value, dt.date | dt.time) else str(value)
