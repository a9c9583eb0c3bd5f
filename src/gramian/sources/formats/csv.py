"""Text tables: CSV, TSV and their relatives, read by the :class:`~gramian.sources.formats.dialect.Dialect` they have.

Text is parsed once, by Arrow, some megabytes at a time and one piece per core. Each column of a piece becomes integers
or numbers where every cell is one, and stays text elsewhere; what is kept is
:class:`~gramian.sources.formats.columns.ArrowColumns`. No later pass sees the text again.
"""

import codecs
import gzip
import re
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import IO, Any, NamedTuple, NoReturn

import numpy as np

from gramian.arrays.namespace import HostArray
from gramian.errors import InputError, Sentence
from gramian.machine import MEGABYTE, memory_budget, worker_count
from gramian.sources.formats.columns import ArrowColumns, ColumnFile, typed_column
from gramian.sources.formats.dialect import (
    SAMPLE_BYTES,
    SPACES,
    Dialect,
    detect_dialect,
    last_row_end,
    row_starts,
    text_encoding,
)
from gramian.sources.locations import Location
from gramian.sources.progress import Meter, Say
from gramian.sources.row_file import FileVersion, OpenedTable

PIECE = 4 * MEGABYTE
"""Text that is parsed at a time, where the budget allows it."""

LONGEST_CELL = 64 * MEGABYTE
"""A quote that is not closed within so much text is not waited for any longer."""


def open_csv(
    path: Path,
    origin: str,
    *,
    decimal: str | None = None,
    na: Sequence[str] = (),
    names: Sequence[str] | None = None,
    texts: Sequence[str] = (),
    budget: int | None = None,
    say: Say | None = None,
) -> OpenedTable:
    """Parse a text table: how it is written is told by its first megabyte, and by what a person says.

    What ``decimal``, ``na`` and ``names`` say: :func:`~gramian.sources.formats.dialect.detect_dialect`.
    The columns ``texts`` stay as they are written, also where each cell is a number.
    Cost: 100 to 300 MB of text per second and core. Memory: the columns, 8 bytes per number, up to a quarter of the
    budget; else they are in a temporary file that goes when nobody reads from it any longer.
    """
    text = TextTable(path, origin, decimal=decimal, na=na, names=names)
    text.texts = frozenset(texts)
    kept, dialect = text.read(budget or memory_budget(), say), text.dialect
    return OpenedTable(
        origin,
        kept.n_rows,
        kept.names,
        kept.examined,
        partial(ColumnFile, kept, versions=(text.version,), named=dialect.named, line=text.line),
        kept.column,
        named=dialect.named,
        remarks=dialect.remarks,
        decimal=decimal or ("," if dialect.decimal == "," else None),
        doubtful=dialect.doubtful,
    )


def written_cells(
    path: Path,
    origin: str,
    *,
    decimal: str | None = None,
    na: Sequence[str] = (),
    names: Sequence[str] | None = None,
) -> "tuple[Dialect, Iterator[Any]]":
    """Return how a text table is written, and its cells as they are written: Arrow tables of text, some rows each.

    Nothing is taken for missing, so that what is written back is what was there. Cost: the text is parsed once more.
    """
    text = TextTable(path, origin, decimal=decimal, na=na, names=names)
    found = text.dialect
    text.dialect = replace(found, missing=())
    return found, map(text.parse, text.pieces(PIECE))


class Piece(NamedTuple):
    """Some whole rows of a text table, which begin at byte ``at``.

    ``breaks`` tells whether a line break stands inside quotes, ``is_open`` that a quote in it is never closed.
    """

    data: bytes
    at: int
    breaks: bool = False
    is_open: bool = False


class TextTable:
    """A text table whose dialect is known; of ``texts`` no cell is made a number."""

    texts: frozenset[str] = frozenset()

    def __init__(self, path: Path, origin: str, **said: Any) -> None:
        self.path, self.origin, self.version = path, origin, FileVersion.of(path)
        head = next(self._text(SAMPLE_BYTES), b"")
        self.dialect: Dialect = detect_dialect(head, origin, **said)

    def read(self, budget: int, say: Say | None = None) -> ArrowColumns:
        """Parse the text in order, one piece per core at a time, and keep its columns."""
        import pyarrow as pa

        workers = worker_count()
        size = min(PIECE, max(budget // (16 * workers), MEGABYTE // 4))
        kept = ArrowColumns(self.origin, self.dialect.names, budget=budget, decimal=self.dialect.decimal)
        meter: Meter | None = None
        try:
            for piece, parsed in _in_order(self._batch, self.pieces(size), workers):
                before = kept.n_rows
                try:
                    kept.add(parsed())
                except (pa.ArrowInvalid, _RaggedError, _NotTextError) as error:
                    self.refuse(piece, kept.n_rows, error)
                if meter is None:  # how many rows there are is told by the first ones
                    rows = round(kept.n_rows * max(1.0, self.version.size / len(piece.data)))
                    meter = Meter(say, self.origin, rows, self.version.size)
                meter.add(kept.n_rows - before)
            if not kept.n_rows:
                message = f"{self.origin} has a header and no rows. Check what wrote the file."
                raise InputError(message)
            kept.finish()
        finally:
            kept.close()
        self.version.require_unchanged()
        return kept

    def _batch(self, piece: Piece) -> Any:
        """Parse a piece into a record batch: numbers where every cell of a column is one, else text."""
        import pyarrow as pa

        decimal, missing = self.dialect.decimal, self.dialect.missing
        cells = (column.combine_chunks() for column in self.parse(piece).columns)
        names = self.dialect.names
        columns = [
            column if name in self.texts else typed_column(column, decimal=decimal, missing=missing)
            for name, column in zip(names, cells, strict=True)
        ]
        return pa.RecordBatch.from_arrays(columns, names=list(names))

    def pieces(self, size: int) -> Iterator[Piece]:
        """Yield the text after the header in pieces of whole rows, the first one that of the sample."""
        rest, at, delimiter = b"", self.dialect.begin, self.dialect.delimiter
        begin = at
        for text in self._text(size):
            data = rest + text[begin:]
            begin = max(0, begin - len(text))
            cut, breaks, is_open = last_row_end(data, delimiter, len(rest))
            if cut and not data[:cut].isspace():
                yield Piece(data[:cut], at, breaks)
            at, rest = at + cut, data[cut:]
            if is_open and len(rest) > LONGEST_CELL:
                break
        if rest and not rest.isspace():
            _, breaks, is_open = last_row_end(rest, delimiter, 0)
            yield Piece(rest, at, breaks, is_open)

    def parse(self, piece: Piece) -> Any:
        """Parse a piece into an Arrow table of texts."""
        import pyarrow as pa

        dialect, data = self.dialect, piece.data
        if piece.is_open or b"\0" in data:
            raise _NotTextError
        if dialect.delimiter == SPACES:
            data = re.sub(rb"[ \t]+", b" ", re.sub(rb"(?m)^[ \t]+|[ \t]+(?=\r?$)", b"", data))
        try:
            _ = data.isascii() or data.decode()
        except UnicodeDecodeError:
            # The beginning of the file showed plain letters alone: each line tells its own encoding.
            data = b"\n".join(
                line.decode(text_encoding(line, complete=True), "replace").encode() for line in data.split(b"\n")
            )
        ragged: list[Any] = []
        try:
            return read_text(data, dialect, breaks=piece.breaks, ragged=ragged)
        except pa.ArrowInvalid:
            if ragged:
                raise _RaggedError(ragged[0]) from None
            raise

    def _text(self, size: int) -> Iterator[bytes]:
        """Yield the text as UTF-8, unpacked and decoded: the sample first, then pieces of about ``size``."""
        with self.path.open("rb") as file:
            stream: Any = file
            try:
                while stream.peek(2)[:2] == b"\x1f\x8b":
                    stream = BufferedReader(gzip.GzipFile(fileobj=stream))
                yield from self._decoded(stream, size)
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                message = (
                    f"{self.origin} is damaged or cut short: it cannot be unpacked ({error}). Compress the table again."
                )
                raise InputError(message) from error
            except OSError:
                self.version.require_unchanged()
                raise

    def _decoded(self, stream: IO[bytes], size: int) -> Iterator[bytes]:
        head = stream.read(SAMPLE_BYTES)
        # Names and a first row must be in the sample, however long they are.
        while head.count(b"\n") < 3 and len(head) < LONGEST_CELL and (more := stream.read(SAMPLE_BYTES)):
            head += more
        encoding = text_encoding(head, complete=len(head) < SAMPLE_BYTES)
        if encoding == "utf-8":
            yield head
            while text := stream.read(size):
                yield text + stream.readline()  # whole lines need not be cut, and copied, again
            return
        # Bytes that cp1252 does not know are not worth a refusal; half a character of UTF-16 is.
        decoder = codecs.getincrementaldecoder(encoding)("replace" if encoding == "cp1252" else "strict")
        try:
            yield decoder.decode(head).removeprefix("\ufeff").encode()
            for text in iter(partial(stream.read, size), b""):
                yield decoder.decode(text).encode()
            decoder.decode(b"", final=True)
        except UnicodeError as error:
            message = (
                f"{self.origin} begins as {encoding} text and is damaged further on ({error}). Export it as UTF-8."
            )
            raise InputError(message) from error

    def refuse(self, piece: Piece, first: int, error: Exception) -> NoReturn:
        """Say what is wrong with a piece, which begins with row ``first``, and where."""
        self.version.require_unchanged()  # else no error of parsing means anything
        data, starts = piece.data, row_starts(piece.data, self.dialect.delimiter)
        message: str
        if b"\0" in data:
            at = data.index(b"\0")
            here = int(np.searchsorted(starts, at, side="right")) - 1
            column = data.count(self.dialect.delimiter.encode(), int(starts[here]), at)
            message = Sentence(
                "{origin} holds a NUL byte in {place}: it is no text table, or it is damaged there. Export the table "
                "again as UTF-8 text.",
                origin=self.origin,
                place=Location(first + here, column),
            )
            raise InputError(message, row=first + here, column=column) from None
        if piece.is_open:
            row = first + len(starts) - 1
            message = Sentence(
                '{origin}: a quote (") that is opened in {place}{line} is never closed. Close it, or write quotes '
                "inside a cell twice.",
                origin=self.origin,
                place=Location(row),
                line=self._line(piece, starts, len(starts) - 1),
            )
            raise InputError(message, row=row) from None
        if isinstance(error, _RaggedError):
            row = (error.found.number or 1) - 1
            message = Sentence(
                "{origin}, {place} has {found} cells, and the rows before it have {expected}{line}. Mend that row: a "
                "delimiter too many or too few, or a cell that wants quotes.",
                origin=self.origin,
                place=Location(first + row),
                found=error.found.actual_columns,
                expected=error.found.expected_columns,
                line=self._line(piece, starts, row),
            )
            raise InputError(message, row=first + row) from None
        message = f"{self.origin}: rows {first:,} to {first + len(starts):,} cannot be read ({error})."
        raise InputError(message, row=first) from error

    def line(self, row: int) -> str:
        """Say in which line of the file a row begins; the text before it is read once more for that."""
        first = 0
        for piece in self.pieces(PIECE):
            starts = row_starts(piece.data, self.dialect.delimiter)
            if row < first + len(starts):
                return self._line(piece, starts, row - first)
            first += len(starts)
        return ""

    def _line(self, piece: Piece, starts: HostArray, row: int) -> str:
        if row >= len(starts):
            return ""
        lines, left = 1, piece.at + int(starts[row])
        for text in self._text(PIECE):
            lines += text.count(b"\n", 0, left)
            left -= len(text)
            if left <= 0:
                break
        return f" (line {lines:,})"


class _NotTextError(Exception):
    """A piece holds a NUL byte, or a quote that is never closed."""


class _RaggedError(Exception):
    """A row has another number of cells than those before it."""

    def __init__(self, found: Any) -> None:
        super().__init__()
        self.found = found


def read_text(data: bytes, dialect: Dialect, *, breaks: bool = False, ragged: list[Any]) -> Any:
    """Parse text into an Arrow table of texts: every parsing of text is a call of this function."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    return arrow_csv.read_csv(
        pa.BufferReader(data),
        read_options=arrow_csv.ReadOptions(
            column_names=list(dialect.names), use_threads=False, block_size=max(len(data), 1)
        ),
        parse_options=arrow_csv.ParseOptions(
            delimiter=dialect.delimiter, newlines_in_values=breaks, invalid_row_handler=partial(_note, ragged)
        ),
        convert_options=arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(dialect.names, pa.string()),
            null_values=list(dialect.missing),
            strings_can_be_null=True,
        ),
    )


def _note(ragged: list[Any], row: Any) -> str:
    ragged.append(row)
    return "error"


def _in_order(
    work: Callable[[Piece], Any], pieces: Iterator[Piece], workers: int
) -> Iterator[tuple[Piece, Callable[[], Any]]]:
    """Yield each piece and what gives the result of the work on it, in order; the work is done in threads."""
    if workers == 1:
        for piece in pieces:
            yield piece, partial(work, piece)
        return
    waiting: deque[tuple[Piece, Future[Any]]] = deque()
    with ThreadPoolExecutor(workers, thread_name_prefix="gramian-parser") as pool:
        try:
            for piece in pieces:
                waiting.append((piece, pool.submit(work, piece)))
                if len(waiting) > workers:
                    done, future = waiting.popleft()
                    yield done, future.result
            while waiting:
                done, future = waiting.popleft()
                yield done, future.result
        finally:
            pool.shutdown(cancel_futures=True)
