"""Text tables: CSV, TSV and their relatives, parsed by Arrow window by window."""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from gramian.arrays.namespace import HostArray
from gramian.arrays.precision import FLOAT64
from gramian.errors import InputError
from gramian.sources.arrow_columns import dense_rows, kind_of, strings_of
from gramian.sources.csv_dialect import HOLES, SAMPLE_BYTES, SPACES, Dialect, detect_dialect, is_number
from gramian.sources.csv_lines import LineIndex, index_lines
from gramian.sources.csv_text import plain_text
from gramian.sources.opened_table import OpenedTable
from gramian.sources.row_file import RowFile
from gramian.sources.stamps import Stamp
from gramian.sources.table_facts import Sampled


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
        self.row_bytes = max(8 * len(names), average)

    def read(self, rows: slice) -> HostArray:
        """Parse some consecutive rows."""
        import pyarrow as pa

        try:
            table = self._text.parse(rows, {name: pa.float64() for name in self._used})
        except pa.ArrowInvalid as error:
            self._text.require_unchanged()
            self._explain(rows, error)
        (batch,) = table.combine_chunks().to_batches()
        return dense_rows(batch, self.dtype, self.origin, rows.start)

    def stream(self, windows: Sequence[slice]) -> Iterator[HostArray]:
        """Parse windows in order."""
        return map(self.read, windows)

    def column(self, name: str) -> HostArray:
        """Parse one column as text."""
        import pyarrow as pa

        step = 1 << 16
        parts = [
            strings_of(self._text.parse(slice(first, min(first + step, self.shape[0])), {name: pa.binary()})[name])
            for first in range(0, self.shape[0], step)
        ]
        return np.concatenate(parts)

    def locate(self, row: int) -> tuple[str, int]:
        """Return the file, and the row."""
        return self.origin, row

    def _explain(self, rows: slice, error: Exception) -> NoReturn:
        """Find the cell that is no number, and say where it is."""
        import pyarrow as pa

        rows = self._text.index.whole(rows)
        table = self._text.parse(rows, {name: pa.binary() for name in self._used})
        decimal = self._text.dialect.decimal
        columns = [strings_of(table[name]) for name in self._used]
        for i in range(rows.stop - rows.start):
            for name, column in zip(self._used, columns, strict=True):
                if (problem := _problem(column[i], decimal)) is not None:
                    _refuse_cell(self.origin, rows.start + i, name, column[i], problem)
        message = f"{self.origin}: rows {rows.start:,} to {rows.stop:,} cannot be read as numbers ({error})."
        raise InputError(message, row=rows.start) from error


class _Text:
    """A text table whose dialect and row beginnings are known."""

    def __init__(self, path: Path, origin: str) -> None:
        self.origin = origin
        self.stamps = (Stamp.of(path),)
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
    table = text.parse(slice(0, shown), None)
    whole = shown == text.index.n_rows
    sampled = [_sampled(name, table[name], whole=whole) for name in text.dialect.names]
    return OpenedTable(origin, text.index.n_rows, sampled, text.dialect.named, partial(CsvFile, text))


def _sampled(name: str, column: Any, *, whole: bool) -> Sampled:
    kind = kind_of(column.type)
    if kind == "empty" and not whole:
        kind = "number"
    return Sampled(name, kind, column.to_pylist() if kind in ("text", "integer") else [])


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
