"""Tables that are read whole into Arrow, such as those of Excel and JSON: their rows, and columns of plain values."""

import datetime as dt
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gramian.arrays.namespace import HostArray
from gramian.errors import InputError, MemoryBudgetError, Parameter, Sentence
from gramian.machine import MEGABYTE, memory_budget
from gramian.sources.conversion import LARGEST_EXACT
from gramian.sources.formats.arrow import dense_rows, kind_of, strings_of, working_type
from gramian.sources.formats.dialect import MISSING, is_number
from gramian.sources.locations import Location
from gramian.sources.progress import Say
from gramian.sources.row_file import FileVersion, OpenedTable, RowFile
from gramian.sources.table_facts import Sampled

ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?)?")


class ArrowTable(RowFile):
    """The number columns of an Arrow table in memory, side by side as floats.

    Cost: one copy of the numbers, 8 bytes each (4 where all are float32); a pass costs nothing more. A column of text
    whose cells spell numbers is used as numbers. Not for tables that do not fit memory: those are Parquet's.

    Parameters
    ----------
    table : pyarrow.Table
    names : sequence of str
        The number columns, in the order they are wanted.
    texts : sequence of str
        Columns that :meth:`column` can give.
    origin : str
        The file as a person named it.
    versions : tuple of FileVersion
        The files that must not change.
    is_named : bool
        Whether the names are those of the file.
    budget, say
        Of other formats; the table is in memory already.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"who": ["ann", "bob"], "age": [40, None], "height": ["1.7", "1.8"]})
    >>> file = ArrowTable(table, ["height", "age"], texts=["who"], origin="people.xlsx")
    >>> file.read(slice(0, 2)).tolist(), file.column("who").tolist()
    ([[1.7, 40.0], [1.8, nan]], ['ann', 'bob'])
    """

    def __init__(
        self,
        table: Any,
        names: Sequence[str],
        *,
        texts: Sequence[str] = (),
        origin: str,
        versions: tuple[FileVersion, ...] = (),
        is_named: bool = True,
        budget: int | None = None,
        say: Say | None = None,
    ) -> None:
        del budget, say
        self.origin, self.versions, self.names = origin, versions, tuple(names) if is_named else None
        columns = _numbers(table, names, origin)
        self.dtype = working_type(columns.schema.types)
        (batch,) = columns.combine_chunks().to_batches()
        self._rows = dense_rows(batch, self.dtype, origin, 0)
        self._rows.setflags(write=False)
        self._texts = table.select(list(dict.fromkeys(texts)))
        self.shape = self._rows.shape

    def read(self, rows: slice) -> HostArray:
        """Return some consecutive rows, a view."""
        return self._rows[rows]

    def column(self, name: str) -> HostArray:
        """Return a column as strings."""
        return strings_of(self._texts[name])

    def require_room(self, budget: int) -> None:
        """Refuse a table that takes more than the budget."""
        _require_room(2 * self._rows.nbytes + self._texts.nbytes, budget, self.origin)


def open_arrow_table(
    table: Any, origin: str, path: Path, *, is_named: bool = True, remarks: tuple[str, ...] = ()
) -> OpenedTable:
    """Tell what the columns of an Arrow table are, by all of their values; refuse one without rows or columns."""
    if not table.num_rows or not table.num_columns:
        message = f"{origin} has {table.num_columns} columns and {table.num_rows} rows. Check what wrote the file."
        raise InputError(message)
    sampled = [_sampled(name, table[name]) for name in table.column_names]
    rows = partial(ArrowTable, table, origin=origin, versions=(FileVersion.of(path),), is_named=is_named)
    return OpenedTable(origin, table.num_rows, sampled, is_named, rows, remarks)


def require_small(size: int, origin: str, *, times: int) -> None:
    """Refuse a file of ``size`` bytes that is read whole and takes so many times its size, where that is too much."""
    _require_room(times * size, memory_budget(), origin)


def holds_numbers(table: Any) -> bool:
    """Tell whether any column of an Arrow table holds numbers."""
    return any(_sampled(name, table[name]).kind in ("number", "integer") for name in table.column_names)


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

    words = pa.array([*MISSING, *na], pa.string())
    amounts = [float(word) for word in na if is_number(word)]
    columns = []
    for column in table.columns:
        kind = kind_of(column.type)
        if pa.types.is_nested(column.type):
            column = pa.nulls(len(column), pa.list_(pa.null()))  # noqa: PLW2901
        elif pa.types.is_string(column.type):
            is_word = pc.is_in(pc.utf8_trim_whitespace(column), value_set=words)
            column = pc.if_else(is_word, pa.scalar(None, column.type), column)  # noqa: PLW2901
        elif kind in ("number", "integer") and amounts:
            is_word = pc.is_in(column.cast(pa.float64(), safe=False), value_set=pa.array(amounts))
            column = pc.if_else(is_word, pa.scalar(None, column.type), column)  # noqa: PLW2901
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


def _sampled(name: str, column: Any) -> Sampled:
    kind = kind_of(column.type)
    if kind != "text":
        return Sampled(name, kind, column.to_pylist() if kind == "integer" else [])
    texts = column.to_pylist()
    filled = [text for text in texts if text is not None]
    if filled and all(_is_whole(text) for text in filled) and any(abs(int(text)) > LARGEST_EXACT for text in filled):
        return Sampled(name, "integer", [None if text is None else int(text) for text in texts])
    # As of text tables: nine in ten cells that are numbers make a column of numbers, and another cell is a slip.
    spells = bool(filled) and sum(is_number(text) for text in filled) >= 0.9 * len(filled)
    return Sampled(name, "number" if spells else "text", texts)


def _numbers(table: Any, names: Sequence[str], origin: str) -> Any:
    """Return columns as Arrow numbers; refuse the first cell of each that is none."""
    import pyarrow as pa

    columns, bad = [], list[tuple[int, str, str, str]]()
    for name in names:
        column = table[name]
        if kind_of(column.type) == "text":
            cells = column.to_pylist()
            problems = ((i, name, cell, _problem(cell)) for i, cell in enumerate(cells) if cell is not None)
            slip = next((found for found in problems if found[3]), None)
            if slip is None:
                column = pa.array([None if cell is None else float(cell) for cell in cells], pa.float64())
            else:
                bad.append(slip)
        elif pa.types.is_null(column.type):
            column = pa.nulls(len(column), pa.float64())
        columns.append(column)
    if bad:
        _refuse_cells(sorted(bad), origin)
    return pa.table(columns, names=list(names))


def _is_whole(cell: str) -> bool:
    return re.fullmatch(r"\s*[+-]?[0-9]{1,400}\s*", cell) is not None


def _problem(cell: str) -> str:
    if not is_number(cell):
        return "text in a column of numbers"
    if _is_whole(cell) and abs(int(cell)) > LARGEST_EXACT:
        return "an integer beyond 2**53, where float64 no longer holds every integer"
    is_beyond = np.isinf(float(cell)) and "inf" not in cell.lower()
    return "beyond the range of float64" if is_beyond else ""


def _refuse_cells(bad: Sequence[tuple[int, str, str, str]], origin: str) -> None:
    """Refuse the first of some cells; the error carries those of other columns."""
    errors = []
    for row, name, cell, problem in bad:
        shown = cell if len(cell) <= 40 else f"{cell[:37]}..."
        message = Sentence(
            "{origin}, {place}: {shown!r} is {problem}. Mend that cell, leave it empty, or leave the column out "
            "({drop}).",
            origin=origin,
            place=Location(row, name=name),
            shown=shown,
            problem=problem,
            drop=Parameter("drop", (name,)),
        )
        errors.append(InputError(message, row=row, column=name, problem=problem, value=shown))
    errors[0].others = tuple(errors[1:])
    raise errors[0]


def _require_room(needed: int, budget: int, origin: str) -> None:
    if needed > budget:
        message = Sentence(
            f"{{origin}} is read whole, which takes about {needed / MEGABYTE:,.1f} MB, and the budget is "
            f"{budget / MEGABYTE:,.1f} MB. Save the table as Parquet, which is read in parts, or raise {{budget}} "
            "(GRAMIAN_MEMORY).",
            origin=origin,
            budget=Parameter("memory_budget"),
        )
        raise MemoryBudgetError(message, needed=needed, budget=budget)
