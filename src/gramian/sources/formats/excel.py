"""Excel workbooks (.xlsx, .xlsm): the table of one sheet, read whole by openpyxl."""

import warnings
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from gramian.errors import InputError, Parameter, ParameterError, Sentence
from gramian.machine import memory_budget
from gramian.sources.formats.dialect import SAMPLE_LINES, has_header
from gramian.sources.formats.table import column_of, holds_numbers, open_arrow_table, require_small
from gramian.sources.missing_values import ERRORS, MISSING
from gramian.sources.names import name_columns, near_or, numbered
from gramian.sources.row_file import OpenedTable, require_package

TIMES = 6
"""Bytes held while a sheet is read, per byte of its XML (measured: 4.5, of 30,000 rows of ten decimals)."""


class _Sheet(NamedTuple):
    """The table of one sheet: an Arrow table, whether its columns have names, and what is said of it."""

    table: Any
    is_named: bool
    remarks: tuple[str, ...]


def open_excel(
    path: Path,
    origin: str,
    *,
    sheet: str | None = None,
    na: Sequence[str] = (),
    names: Sequence[str] | None = None,
    budget: int | None = None,
) -> OpenedTable:
    """Open the table of one sheet of a workbook. Cost: all of the sheet is read.

    That of the sheet called ``sheet``, else of the first visible one that holds numbers. Empty rows and columns, and
    the lines above a table that fill less than half of its columns (titles, merged cells), are skipped. Whether the
    first line names the columns is decided as in text tables. Formulas count by the values that Excel kept of them; its
    words for errors are missing values.

    Parameters
    ----------
    path : Path
    origin : str
        The file as a person named it.
    sheet : str, optional
    na : sequence of str
        More words, or numbers, for a missing value.
    names : sequence of str, optional
        Names of the columns, in place of those that the sheet has.
    budget : int, optional
    """
    budget = budget or memory_budget()
    found = _read(path, origin, sheet=sheet, na=na, names=names, budget=budget)
    return open_arrow_table(found.table, origin, path, is_named=found.is_named, remarks=found.remarks, budget=budget)


def _read(
    path: Path, origin: str, *, sheet: str | None, na: Sequence[str], names: Sequence[str] | None, budget: int
) -> _Sheet:
    with _opened(path, origin, budget) as book:
        sheets = {each.title: each for each in book.worksheets}
        if sheet is not None:
            if sheet not in sheets:
                _refuse_sheet(sheet, list(sheets), origin)
            found = _table(sheets[sheet], origin, na, names)
            if found is None:
                message = f"Sheet {sheet!r} of {origin} holds no table: it is empty, or has a header and no rows."
                raise InputError(message)
            return found
        visible = [each for each in sheets.values() if each.sheet_state == "visible"]
        tables = ((each.title, _table(each, origin, na, names)) for each in visible or sheets.values())
        first: tuple[str, _Sheet] | None = None
        for title, table in tables:
            if table is None:
                continue
            first = first or (title, table)
            if holds_numbers(table.table):
                first = title, table
                break
    if first is None:
        message = f"{origin} holds no table: its sheets are empty, or have a header and no rows. Check what wrote it."
        raise InputError(message)
    title, found = first
    return found if len(sheets) == 1 else found._replace(remarks=(_said_of(title, sheets, origin), *found.remarks))


def _said_of(title: str, sheets: dict[str, Any], origin: str) -> str:
    others = [repr(other) for other in sheets if other != title]
    return Sentence(
        "{origin} has {count} sheets, and {title!r} is read, the first with a table of numbers; {sheet} names another: "
        "{others}.",
        origin=origin,
        count=len(sheets),
        title=title,
        sheet=Parameter("sheet"),
        others=", ".join(others[:6]) + (f" and {len(others) - 6} more" if len(others) > 6 else ""),
    )


def _refuse_sheet(sheet: str, titles: list[str], origin: str) -> None:
    hint = near_or(sheet, titles, f"It has {', '.join(map(repr, titles[:8]))}.")
    message = Sentence(
        "{asked} is no sheet of {origin}. {hint}", asked=Parameter("sheet", (sheet,)), origin=origin, hint=hint
    )
    raise ParameterError(message, parameter="sheet", value=sheet)


def _table(sheet: Any, origin: str, na: Sequence[str], names: Sequence[str] | None) -> _Sheet | None:
    """Return the table of a sheet; ``None`` where it has no row of values."""
    import pyarrow as pa

    with _explained(origin):
        sheet.reset_dimensions()  # writers may state another size than a sheet has
        rows = [row for row in map(_cells, sheet.iter_rows(values_only=True)) if any(cell is not None for cell in row)]
    rows, remarks = _below_titles(rows, origin)
    width = max(map(len, rows), default=0)
    kept = [j for j in range(width) if any(j < len(row) and row[j] is not None for row in rows)]
    rows = [[row[j] if j < len(row) else None for j in kept] for row in rows]
    words = [["" if cell is None else _word(cell) for cell in row] for row in rows[:SAMPLE_LINES]]
    is_named = bool(rows) and has_header(words, ".", (*MISSING, *na))
    data = rows[1:] if is_named else rows
    if not data:
        return None
    stored = [word.strip() for word in words[0]] if is_named else numbered(len(kept))
    called, said = name_columns(stored, names, origin)
    errors = sorted({cell for row in data for cell in row if isinstance(cell, str) and cell in ERRORS})
    if errors:
        count = sum(isinstance(cell, str) and cell in ERRORS for row in data for cell in row)
        cells = "1 cell holds an error" if count == 1 else f"{count:,} cells hold errors"
        said += (f"{origin}: {cells} of a formula ({', '.join(errors)}), missing values here.",)
    columns = [column_of(column, (*ERRORS, *na)) for column in zip(*data, strict=True)]
    return _Sheet(pa.table(columns, names=list(called)), is_named or names is not None, (*remarks, *said))


def _cells(row: Sequence[Any]) -> list[Any]:
    return [None if isinstance(cell, str) and not cell.strip() else cell for cell in row]


def _below_titles(rows: list[list[Any]], origin: str) -> tuple[list[list[Any]], tuple[str, ...]]:
    """Return rows without the lines above the table that fill less than half as many cells as its lines usually do."""
    filled = [sum(cell is not None for cell in row) for row in islice(rows, SAMPLE_LINES)]
    usual, skipped = median(filled) if filled else 0, 0
    while skipped < len(filled) - 1 and 2 * filled[skipped] < usual:
        skipped += 1
    if not skipped:
        return rows, ()
    title = _word(next(cell for cell in rows[0] if cell is not None)).strip()
    lines = "the line above the table is" if skipped == 1 else f"{skipped} lines above the table are"
    return rows[skipped:], (f"{origin}: {lines} skipped: {title[:40]!r}{' and so on' if skipped > 1 else ''}.",)


def _word(cell: Any) -> str:
    return cell.isoformat() if hasattr(cell, "isoformat") else str(cell)


@contextmanager
def _opened(path: Path, origin: str, budget: int) -> Iterator[Any]:
    openpyxl = require_package("openpyxl", f"{origin} is an Excel workbook", extra="excel")
    with _explained(origin), zipfile.ZipFile(path) as archive:
        sizes = [info.file_size for info in archive.infolist() if info.filename.startswith("xl/worksheets/")]
    require_small(max(sizes, default=0), origin, times=TIMES, budget=budget)
    with warnings.catch_warnings(), path.open("rb") as file:
        warnings.simplefilter("ignore")  # of styles and extensions, which are not read
        with _explained(origin):
            book = openpyxl.load_workbook(file, read_only=True, data_only=True)
        try:
            yield book
        finally:
            book.close()


@contextmanager
def _explained(origin: str) -> Iterator[None]:
    """Say in a sentence what is wrong with a workbook that cannot be read."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:  # what openpyxl and its parser raise has no common class
        message = (
            f"{origin} is no Excel workbook (.xlsx), or it is damaged or protected by a password ({error}). Save it "
            "again, without a password."
        )
        raise InputError(message) from error
