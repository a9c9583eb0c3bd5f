"""Text tables: CSV, TSV and their relatives, parsed by Arrow window by window."""

import re
from collections.abc import Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from gramian.arrays.namespace import HostArray
from gramian.arrays.precision import FLOAT64
from gramian.errors import InputError
from gramian.sources.arrow_columns import dense_rows, kind_of, strings_of, texts_of
from gramian.sources.csv_dialect import HOLES, SAMPLE_BYTES, SPACES, Dialect, detect_dialect, is_number
from gramian.sources.csv_lines import LineIndex, index_lines
from gramian.sources.csv_text import plain_text
from gramian.sources.objects import LARGEST_EXACT
from gramian.sources.opened_table import OpenedTable
from gramian.sources.row_file import RowFile
from gramian.sources.stamps import Stamp
from gramian.sources.table_facts import Sampled

STEP = 1 << 16
"""Rows of a text column that are parsed at a time."""

MOSTLY = 0.9
"""Share of cells that are numbers from which a column is one of numbers, and another cell in it a slip."""

LONG_INTEGER = r"^\s*[+-]?[0-9]{16,400}\s*$"
BEYOND = "an integer beyond 2**53, where float64 no longer holds every integer"

BOOLEANS = ("true", "false", "0", "1")


class CsvFile(RowFile):
    """The number columns of a text table.

    The beginnings of rows are indexed once, so that a window is a read at its own place; each window is parsed by
    Arrow in the thread that reads ahead. Cost of a pass: parsing, 100 to 300 MB of text a second and core. Convert a
    table that is read often to Parquet.
    """

    is_sparse = False
    starts = ()
    dtype = FLOAT64

    def __init__(self, text: "_Text", names: tuple[str, ...]) -> None:
        self._text, self._used = text, names
        self.origin, self.stamps = text.origin, text.stamps
        self.names = names if text.dialect.named else None
        self.shape = (text.index.n_rows, len(names))
        self.n_entries = self.shape[0] * self.shape[1]
        average = (text.index.end - text.dialect.begin) // max(text.index.n_rows, 1)
        # The text, the columns that Arrow makes of it and the rows made of those are there together.
        self.row_bytes = average + 16 * len(names)

    def read(self, rows: slice) -> HostArray:
        """Parse some consecutive rows."""
        import pyarrow as pa

        try:
            table = self._numbers(rows)
        except pa.ArrowInvalid as error:
            self._text.require_unchanged()
            self._explain(rows, error)
        (batch,) = table.combine_chunks().to_batches()
        found = dense_rows(batch, self.dtype, self.origin, rows.start)
        self._require_exact(found, rows)
        return found

    def _require_exact(self, found: HostArray, rows: slice) -> None:
        """Refuse integers that float64 rounds; a number written with a point or an exponent is meant to be rounded."""
        import pyarrow as pa
        import pyarrow.compute as pc

        highest, lowest = np.fmax.reduce(found, axis=0), np.fmin.reduce(found, axis=0)
        for j in np.flatnonzero((highest >= LARGEST_EXACT) | (lowest <= -LARGEST_EXACT)):
            name = self._used[j]
            cells = self._text.parse(rows, {name: pa.binary()})[name]
            whole = pc.fill_null(pc.match_substring_regex(cells, LONG_INTEGER), fill_value=False)
            for i in np.flatnonzero(whole.to_numpy()):
                cell = cells[int(i)].as_py().decode().strip()
                if abs(int(cell)) > LARGEST_EXACT:
                    _refuse_cell(self.origin, rows.start + int(i), name, cell, BEYOND)

    def _numbers(self, rows: slice) -> Any:
        import pyarrow as pa

        types = {name: pa.bool_() if name in self._text.booleans else pa.float64() for name in self._used}
        try:
            return self._text.parse(rows, types)
        except pa.ArrowInvalid:
            if self._text.padded:
                raise
            self._text.padded = True  # blanks around a word for a hole are all that Arrow does not overlook
            return self._text.parse(rows, types)

    def stream(self, windows: Sequence[slice]) -> Iterator[HostArray]:
        """Parse windows in order."""
        return map(self.read, windows)

    def column(self, name: str) -> HostArray:
        """Parse one column as text."""
        import pyarrow as pa

        windows = [slice(first, min(first + STEP, self.shape[0])) for first in range(0, self.shape[0], STEP)]
        parts = [self._text.parse(window, {name: pa.binary()})[name] for window in windows]
        return np.concatenate([strings_of(part, self._text.dialect.encoding) for part in parts])

    def locate(self, row: int) -> tuple[str, int]:
        """Return the file, and the row."""
        return self.origin, row

    def _explain(self, rows: slice, error: Exception) -> NoReturn:
        """Find the cell that is no number, and say where it is."""
        import pyarrow as pa

        rows = self._text.index.whole(rows)
        table = self._text.parse(rows, {name: pa.binary() for name in self._used})
        dialect = self._text.dialect
        columns = [strings_of(table[name], dialect.encoding) for name in self._used]
        for i in range(rows.stop - rows.start):
            for name, column in zip(self._used, columns, strict=True):
                is_boolean = name in self._text.booleans
                problem = _not_boolean(column[i]) if is_boolean else _problem(column[i], dialect.decimal)
                if problem is not None:
                    _refuse_cell(self.origin, rows.start + i, name, column[i], problem)
        message = f"{self.origin}: rows {rows.start:,} to {rows.stop:,} cannot be read as numbers ({error})."
        raise InputError(message, row=rows.start) from error


class _Text:
    """A text table whose dialect and row beginnings are known."""

    def __init__(self, path: Path, origin: str) -> None:
        self.origin = origin
        self.stamps = (Stamp.of(path),)
        self.booleans: frozenset[str] = frozenset()
        self.padded = False
        self.path, self.spill = plain_text(path, origin)
        self.dialect: Dialect = detect_dialect(self.path, origin)
        self.index: LineIndex = index_lines(
            self.path, origin=origin, begin=self.dialect.begin, delimiter=self.dialect.delimiter
        )

    def parse(self, rows: slice, types: dict[str, Any] | None) -> Any:
        """Parse some rows into an Arrow table of the columns in ``types``; of all, their kinds guessed, without."""
        begin, end, before = self.index.span(rows.start, rows.stop)
        try:
            with self.path.open("rb", buffering=0) as file:
                file.seek(begin)
                data = file.read(end - begin)
        except OSError:
            self.require_unchanged()
            raise
        table = self._parse(data, types, rows.start - before)
        whole = self.index.whole(rows)
        if table.num_rows != whole.stop - whole.start:
            self.require_unchanged()
            message = (
                f"{self.origin}: quotes or line ends do not pair up near row {rows.start:,} (counted from 0), so that "
                'rows cannot be told apart. Put cells with quotes between quotes, and write each inside twice ("").'
            )
            raise InputError(message, row=rows.start)
        return table.slice(before, rows.stop - rows.start)

    def require_unchanged(self) -> None:
        """Refuse a file that is not the one that was opened: then no error of parsing means anything."""
        for stamp in self.stamps:
            stamp.require_unchanged()

    def _parse(self, data: bytes, types: dict[str, Any] | None, first: int) -> Any:
        import pyarrow as pa
        from pyarrow import csv

        dialect = self.dialect
        if dialect.delimiter == SPACES:
            data = re.sub(rb"[ \t]+", b" ", re.sub(rb"(?m)^[ \t]+|[ \t]+(?=\r?$)", b"", data))
        elif self.padded and len(dialect.names) > 1:
            data = _padded_holes(dialect.delimiter).sub(rb"\1", data)
        ragged: list[Any] = []
        try:
            return csv.read_csv(
                pa.BufferReader(data),
                read_options=csv.ReadOptions(
                    column_names=list(dialect.names), use_threads=False, block_size=max(len(data), 1)
                ),
                parse_options=csv.ParseOptions(
                    delimiter=dialect.delimiter,
                    newlines_in_values=self.index.quoted_breaks,
                    invalid_row_handler=partial(_note, ragged),
                ),
                convert_options=csv.ConvertOptions(
                    column_types=types,
                    include_columns=None if types is None else list(types),
                    null_values=list(HOLES),
                    strings_can_be_null=True,
                    decimal_point=dialect.decimal,
                    check_utf8=dialect.encoding == "utf-8",
                ),
            )
        except pa.ArrowInvalid:
            if ragged:
                self.require_unchanged()
                _refuse_ragged(self.origin, ragged[0], first)
            raise


def open_csv(path: Path, origin: str) -> OpenedTable:
    """Take a first look at a text table: how it is written, where its rows begin, what its columns are.

    Cost: one quick pass for the beginnings of rows, and the first megabyte parsed.
    """
    text = _Text(path, origin)
    shown = min(text.index.n_rows, max(1, text.index.n_rows * SAMPLE_BYTES // max(text.index.end, 1)))
    sampled = _look(text, shown)
    if any(_is_padded_hole(value) for column in sampled for value in column.values):
        text.padded = True
        sampled = _look(text, shown)
    text.booleans = frozenset(column.name for column in sampled if column.kind == "boolean")
    return OpenedTable(origin, text.index.n_rows, sampled, text.dialect.named, partial(CsvFile, text))


def _look(text: _Text, shown: int) -> list[Sampled]:
    """Parse the first rows and tell what the columns are."""
    table = text.parse(slice(0, shown), None)
    whole = shown == text.index.n_rows
    return [_sampled(name, table[name], text.dialect, whole=whole) for name in text.dialect.names]


def _sampled(name: str, column: Any, dialect: Dialect, *, whole: bool) -> Sampled:
    kind = kind_of(column.type)
    if kind == "empty" and name and not whole:  # without a name it is what a delimiter at the end of rows makes
        kind = "number"
    if kind == "text":
        texts = texts_of(column, dialect.encoding)
        return Sampled(name, "number" if _mostly_numbers(texts, dialect.decimal) else "text", texts)
    return Sampled(name, kind, column.to_pylist() if kind == "integer" else [])


def _mostly_numbers(texts: list[str | None], decimal: str) -> bool:
    """Tell whether text among numbers is a slip, which reading names with its row, and not a column of text."""
    filled = [text for text in texts if text is not None and text.strip() not in HOLES]
    return bool(filled) and sum(is_number(text, decimal) for text in filled) >= MOSTLY * len(filled)


def _is_padded_hole(value: Any) -> bool:
    return isinstance(value, str) and value not in HOLES and value.strip() in HOLES


@cache
def _padded_holes(delimiter: str) -> re.Pattern[bytes]:
    """Return what finds a word for a hole, or nothing, with blanks around it, as a whole cell."""
    cut = re.escape(delimiter.encode())
    blank = rb" " if delimiter == "\t" else rb"[ \t]"
    words = b"|".join(re.escape(word.encode()) for word in sorted(HOLES, key=len, reverse=True))
    return re.compile(
        rb"(?m)(?:^|(?<=" + cut + rb"))" + blank + rb"*(" + words + rb")" + blank + rb"*(?=" + cut + rb"|\r?$)"
    )


def _note(ragged: list[Any], row: Any) -> str:
    ragged.append(row)
    return "error"


def _problem(cell: str, decimal: str) -> str | None:
    if cell.strip() in HOLES:
        return None
    if not is_number(cell, decimal):
        return "text in a column of numbers"
    value = float(cell.replace(",", ".") if decimal == "," else cell)
    return "beyond the range of float64" if np.isinf(value) and "inf" not in cell.lower() else None


def _not_boolean(cell: str) -> str | None:
    return None if cell.strip() in HOLES or cell.strip().lower() in BOOLEANS else "neither true nor false"


def _refuse_cell(origin: str, row: int, name: str, cell: str, problem: str) -> NoReturn:
    shown = cell if len(cell) <= 40 else f"{cell[:37]}..."
    message = (
        f"{origin}, row {row:,} (counted from 0), column {name!r}: {shown!r} is {problem}. Mend that cell, leave it "
        f"empty, or leave the column out (drop={name!r})."
    )
    raise InputError(message, row=row, column=name)


def _refuse_ragged(origin: str, found: Any, first: int) -> NoReturn:
    row = first + (found.number or 1) - 1
    message = (
        f"{origin}, row {row:,} (counted from 0) has {found.actual_columns} cells, and the rows before it have "
        f"{found.expected_columns}. Mend that row: a delimiter too many or too few, or a cell that wants quotes."
    )
    raise InputError(message, row=row)
