"""Text tables: CSV, TSV and their relatives, read by the :class:`~gramian.sources.formats.dialect.Dialect` they have.

Text is parsed once, by Arrow, some megabytes at a time and one piece per core. What is kept are the numbers: in memory
where they take a small part of the budget, else in a temporary file. No later pass sees the text again.
"""

import codecs
import gzip
import re
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import IO, Any, NamedTuple, NoReturn

import numpy as np

from gramian.arrays.namespace import HostArray
from gramian.arrays.precision import FLOAT64
from gramian.errors import InputError, MemoryBudgetError, Parameter, Sentence
from gramian.machine import MEGABYTE, memory_budget, worker_count
from gramian.sources.conversion import LARGEST_EXACT
from gramian.sources.formats.arrow import dense_rows, kind_of, strings_of, texts_of
from gramian.sources.formats.dialect import (
    SAMPLE_BYTES,
    SPACES,
    Dialect,
    decoded,
    detect_dialect,
    is_number,
    last_row_end,
    row_starts,
    wide_encoding,
    without_padding,
)
from gramian.sources.locations import Location
from gramian.sources.progress import Meter, Say
from gramian.sources.row_file import FileVersion, OpenedTable, RowFile, Spill
from gramian.sources.table_facts import Sampled

PIECE = 4 * MEGABYTE
"""Text that is parsed at a time, where the budget allows it."""

LONGEST_CELL = 64 * MEGABYTE
"""A quote that is not closed within so much text is not waited for any longer."""

ROOM = 4
"""Numbers are kept in memory up to this part of the budget."""

LONG_INTEGER = r"^\s*[+-]?[0-9]{16,400}\s*$"
ABOVE = "an integer beyond 2**53, where float64 no longer holds every integer"

BOOLEANS = ("true", "false", "0", "1")


class CsvFile(RowFile):
    """The number columns of a text table, parsed once when it is made.

    Cost: parsing, 100 to 300 MB of text per second and core; then 8 bytes per number, in memory up to a quarter of the
    budget, else in a temporary file that goes when this object does. A pass costs a read of these numbers.

    Parameters
    ----------
    text : TextTable
    names : tuple of str
        The number columns, in the order they are wanted.
    texts : sequence of str
        Columns that :meth:`column` can give.
    budget : int, optional
        Bytes for everything: by default that of the process.
    say : callable, optional
        Called about once a second with how far the text is read.
    """

    dtype = FLOAT64

    def __init__(
        self,
        text: "TextTable",
        names: tuple[str, ...],
        *,
        texts: Sequence[str] = (),
        budget: int | None = None,
        say: Say | None = None,
    ) -> None:
        self.origin, self.versions = text.origin, (text.version,)
        self.names = names if text.dialect.named else None
        self._encoding, self._missing = text.dialect.encoding, text.dialect.missing
        self._kept = _parse_all(text, names, tuple(texts), budget or memory_budget(), say)
        self.shape = (self._kept.n_rows, len(names))

    def read(self, rows: slice) -> HostArray:
        """Return some consecutive rows: a view of those in memory, or a read of the temporary file."""
        return self._kept.read(rows)

    def column(self, name: str) -> HostArray:
        """Return a column that was kept as text; a word for a missing value counts as one with blanks around it too."""
        found = np.concatenate([_decoded_cells(part, self._encoding) for part in self._kept.texts(name)])
        padded = [cell.strip() in self._missing for cell in found]
        found[padded] = ""
        return found


def _decoded_cells(column: Any, encoding: str) -> HostArray:
    """Return cells as strings; where the beginning of a file shows plain letters alone, each tells its encoding."""
    if encoding != "utf-8":
        return strings_of(column, encoding)
    return np.array(["" if cell is None else decoded(cell)[0] for cell in column.to_pylist()], dtype=object)


def open_csv(
    path: Path,
    origin: str,
    *,
    decimal: str | None = None,
    na: Sequence[str] = (),
    names: Sequence[str] | None = None,
) -> OpenedTable:
    """Sample a text table: how it is written, and what its columns are.

    What ``decimal``, ``na`` and ``names`` say: :func:`~gramian.sources.formats.dialect.detect_dialect`.
    Cost: the first megabyte is read and parsed; it is not parsed again when the rows are read.
    """
    text = TextTable(path, origin, decimal=decimal, na=na, names=names)
    dialect = text.dialect
    return OpenedTable(origin, text.n_rows, text.sampled, dialect.named, partial(CsvFile, text), dialect.remarks)


class Piece(NamedTuple):
    """Some whole rows of a text table, which begin at byte ``at``.

    ``breaks`` tells whether a line break stands inside quotes, ``is_open`` that a quote in it is never closed.
    """

    data: bytes
    at: int
    breaks: bool = False
    is_open: bool = False


class TextTable:
    """A text table whose dialect is known and whose first rows were examined."""

    def __init__(self, path: Path, origin: str, **said: Any) -> None:
        self.path, self.origin, self.version = path, origin, FileVersion.of(path)
        head = next(self._text(SAMPLE_BYTES), b"")
        self.dialect: Dialect = detect_dialect(head, origin, **said)
        self.booleans: frozenset[str] = frozenset()
        # Arrow overlooks blanks around a number, also around one that stands for a missing value.
        self.padded = any(is_number(word, self.dialect.decimal) for word in self.dialect.missing)
        pieces = self.pieces(SAMPLE_BYTES)
        first = next(pieces, None)
        if first is None:
            message = f"{origin} has a header and no rows. Check what wrote the file."
            raise InputError(message)
        is_whole = next(pieces, None) is None
        self._look(first, is_whole=is_whole)
        if any(_is_padded_missing(value, self.dialect.missing) for column in self.sampled for value in column.values):
            self.padded = True
            self._look(first, is_whole=is_whole)
        self.booleans = frozenset(column.name for column in self.sampled if column.kind == "boolean")
        share = 1.0 if is_whole else max(1.0, self.version.size / len(first.data))
        self.n_rows = round(self._table.num_rows * share)

    def _look(self, piece: Piece, *, is_whole: bool) -> None:
        """Parse the first rows and tell what the columns are."""
        try:
            self._table = self._parse(piece, None)
        except (_RaggedError, _NotTextError, ValueError) as error:
            self.refuse(piece, 0, (), error)
        names, dialect = self.dialect.names, self.dialect
        self.sampled = [_sampled(name, self._table[name], dialect, is_whole=is_whole) for name in names]

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

    def parse(self, piece: Piece, types: dict[str, Any]) -> Any:
        """Parse a piece into an Arrow table of the columns in ``types``."""
        import pyarrow as pa

        if piece.at == self.dialect.begin and (known := _cast(self._table, types)) is not None:
            return known
        padded = self.padded
        try:
            return self._parse(piece, types, padded=padded)
        except pa.ArrowInvalid:
            if padded:
                raise
            self.padded = True  # blanks around a word for a missing value are all that Arrow does not overlook
            return self._parse(piece, types)

    def _parse(self, piece: Piece, types: dict[str, Any] | None, *, padded: bool | None = None) -> Any:
        """Parse a piece into an Arrow table of the columns in ``types``; of all, their kinds guessed, without."""
        import pyarrow as pa

        dialect, data = self.dialect, piece.data
        if piece.is_open or b"\0" in data:
            raise _NotTextError
        if dialect.delimiter == SPACES:
            data = re.sub(rb"[ \t]+", b" ", re.sub(rb"(?m)^[ \t]+|[ \t]+(?=\r?$)", b"", data))
        elif (self.padded if padded is None else padded) and len(dialect.names) > 1:
            data = without_padding(data, dialect.delimiter, dialect.missing)
        ragged: list[Any] = []
        try:
            return read_text(data, dialect, types, breaks=piece.breaks, ragged=ragged)
        except pa.ArrowInvalid:
            if ragged:
                raise _RaggedError(ragged[0]) from None
            raise

    def _text(self, size: int) -> Iterator[bytes]:
        """Yield the text as UTF-8 or Latin-1, unpacked and decoded: the sample first, then pieces of about ``size``."""
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
        encoding = wide_encoding(head[:4096])
        if encoding is None:
            yield head
            while text := stream.read(size):
                yield text + stream.readline()  # whole lines need not be cut, and copied, again
            return
        decoder = codecs.getincrementaldecoder(encoding)()
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

    def refuse(self, piece: Piece, first: int, used: Sequence[str], error: Exception) -> NoReturn:
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
        bad = self._bad_cells(piece, used)
        if bad:
            self.refuse_cells(first, bad, line=self._line(piece, starts, bad[0].row))
        message = f"{self.origin}: rows {first:,} to {first + len(starts):,} cannot be read as numbers ({error})."
        raise InputError(message, row=first) from error

    def _line(self, piece: Piece, starts: HostArray, row: int) -> str:
        """Say in which line of the file a row of a piece begins; the text before it is read once more for that."""
        if row >= len(starts):
            return ""
        lines, left = 1, piece.at + int(starts[row])
        for text in self._text(PIECE):
            lines += text.count(b"\n", 0, left)
            left -= len(text)
            if left <= 0:
                break
        return f" (line {lines:,})"

    def _bad_cells(self, piece: Piece, names: Sequence[str]) -> "list[_BadCell]":
        """Return the first cell of each column that is no number where one should be, in the order of the rows."""
        found = []
        for name, cells in self._texts(piece, names).items():
            for i, cell in enumerate(strings_of(cells, self.dialect.encoding)):
                is_boolean = name in self.booleans
                problem = _not_boolean(cell, self.dialect) if is_boolean else _problem(cell, self.dialect)
                if problem is not None:
                    found.append(_BadCell(i, name, cell, problem))
                    break
        return sorted(found)

    def require_exact(self, piece: Piece, first: int, names: Sequence[str]) -> None:
        """Refuse integers that float64 rounds; a number written with a point or an exponent is meant to be rounded."""
        import pyarrow.compute as pc

        found = []
        for name, cells in self._texts(piece, names).items():
            whole = pc.fill_null(pc.match_substring_regex(cells, LONG_INTEGER), fill_value=False)
            for i in np.flatnonzero(whole.to_numpy()):
                cell = cells[int(i)].as_py().decode().strip()
                if abs(int(cell)) > LARGEST_EXACT:
                    found.append(_BadCell(int(i), name, cell, ABOVE))
                    break
        if found:
            self.refuse_cells(first, found)

    def _texts(self, piece: Piece, names: Sequence[str]) -> dict[str, Any]:
        """Return columns of a piece as text, parsed together."""
        import pyarrow as pa

        table = self._parse(piece, dict.fromkeys(names, pa.binary())) if names else {}
        return {name: table[name] for name in names}

    def refuse_cells(self, first: int, bad: "Sequence[_BadCell]", *, line: str = "") -> NoReturn:
        """Refuse the first of some cells; the error carries those of other columns."""
        errors: list[InputError] = []
        for cell in bad:
            row, shown = first + cell.row, cell.text if len(cell.text) <= 40 else f"{cell.text[:37]}..."
            message = Sentence(
                "{origin}, {place}: {shown!r} is {problem}{line}. Mend that cell, leave it empty, or leave the column "
                "out ({drop}).",
                origin=self.origin,
                place=Location(row, name=cell.name),
                shown=shown,
                problem=cell.problem,
                line="" if errors else line,
                drop=Parameter("drop", (cell.name,)),
            )
            errors.append(InputError(message, row=row, column=cell.name, problem=cell.problem, value=shown))
        errors[0].others = tuple(errors[1:])
        raise errors[0] from None


class _BadCell(NamedTuple):
    """A cell that cannot be used: its row in its piece, its column, its text, and what is wrong with it."""

    row: int
    name: str
    text: str
    problem: str


class _NotTextError(Exception):
    """A piece holds a NUL byte, or a quote that is never closed."""


class _RaggedError(Exception):
    """A row has another number of cells than those before it."""

    def __init__(self, found: Any) -> None:
        super().__init__()
        self.found = found


def read_text(
    data: bytes, dialect: "Dialect", types: dict[str, Any] | None, *, breaks: bool = False, ragged: list[Any]
) -> Any:
    """Parse text into an Arrow table: every parsing of text is a call of this function."""
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
            column_types=types,
            include_columns=None if types is None else list(types),
            null_values=list(dialect.missing),
            strings_can_be_null=True,
            decimal_point=dialect.decimal,
            check_utf8=dialect.encoding == "utf-8",
        ),
    )


def _note(ragged: list[Any], row: Any) -> str:
    ragged.append(row)
    return "error"


def _cast(table: Any, types: dict[str, Any]) -> Any:
    """Return columns whose kinds were guessed in the types wanted; ``None`` where their text must be seen again."""
    import pyarrow as pa
    from pyarrow import types as arrow

    columns = {}
    for name, wanted in types.items():
        kind = table[name].type
        is_number = arrow.is_floating(kind) or arrow.is_integer(kind) or arrow.is_null(kind)
        is_same = (kind == pa.string() and wanted == pa.binary()) or kind == wanted
        if not (is_same or (is_number and wanted == pa.float64())):
            return None
        try:
            columns[name] = table[name].cast(wanted)
        except pa.ArrowInvalid:  # an integer that no float64 holds
            return None
    return pa.table(list(columns.values()), names=list(columns))


def _parse_all(
    text: TextTable, names: tuple[str, ...], texts: tuple[str, ...], budget: int, say: Say | None
) -> "_Kept":
    """Parse the text in order, one piece per core at a time, and keep the numbers."""
    import pyarrow as pa

    workers = worker_count()
    types = {name: pa.bool_() if name in text.booleans else pa.float64() for name in names}
    types |= dict.fromkeys(texts, pa.binary())
    row = max(1, text.version.size // max(text.n_rows, 1))
    # Pieces of a few rows would cost more calls than work where there are many columns.
    size = min(max(PIECE, 64 * row), max(budget // (16 * workers), MEGABYTE // 4))
    kept = _Kept(text.origin, names, texts, room=budget // ROOM, n_rows=text.n_rows)
    meter = Meter(say, text.origin, text.n_rows, text.version.size)
    try:
        for piece, parsed in _in_order(partial(_numbers, text, names, texts, types), text.pieces(size), workers):
            try:
                rows, labels, large = parsed()
            except (pa.ArrowInvalid, _RaggedError, _NotTextError) as error:
                text.refuse(piece, kept.n_rows, names, error)
            text.require_exact(piece, kept.n_rows, large)
            meter.add(min(len(rows), max(text.n_rows - kept.n_rows, 0)))
            kept.add(rows, labels)
    finally:
        kept.close()
    text.version.require_unchanged()
    return kept


def _numbers(
    text: TextTable, names: Sequence[str], texts: Sequence[str], types: dict[str, Any], piece: Piece
) -> tuple[HostArray, Any, list[str]]:
    """Return the numbers of a piece, (b, d), its columns of text, and the columns with integers that may be rounded."""
    (batch,) = text.parse(piece, types).combine_chunks().to_batches()
    rows = np.ascontiguousarray(dense_rows(batch.select(list(names)), FLOAT64, text.origin, 0))
    is_large = (np.fmax.reduce(rows, axis=0) >= LARGEST_EXACT) | (np.fmin.reduce(rows, axis=0) <= -LARGEST_EXACT)
    return rows, batch.select(list(texts)), [name for name, large in zip(names, is_large, strict=True) if large]


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


class _Kept:
    """The numbers of a text table: an array while they fit into the room, else rows one after the other on disk."""

    def __init__(self, origin: str, names: tuple[str, ...], texts: tuple[str, ...], *, room: int, n_rows: int) -> None:
        self.n_rows = 0
        self._origin, self._width, self._room = origin, len(names), room
        fits = 8 * n_rows * len(names) <= room
        self._array = np.empty((n_rows if fits else 0, len(names)))
        self._texts: list[Any] = []
        self._text_bytes, self._has_texts = 0, bool(texts)
        self._spill: Spill | None = None
        self._files: list[Any] = []
        if not fits:
            self._to_disk()

    def add(self, rows: HostArray, texts: Any) -> None:
        """Keep some more rows, and their columns of text."""
        stop = self.n_rows + len(rows)
        self._text_bytes += texts.nbytes
        if self._spill is None and 8 * stop * self._width + self._text_bytes > self._room:
            self._to_disk()
        if self._spill is not None:
            self._write(rows, texts)
        else:
            if stop > len(self._array):
                grown = np.empty((max(stop, 3 * stop // 2), self._width))
                grown[: self.n_rows] = self._array[: self.n_rows]
                self._array = grown
            self._array[self.n_rows : stop] = rows
            self._texts.append(texts)
        self.n_rows = stop

    def close(self) -> None:
        """Finish: what was kept is read from now on, and never written."""
        with ExitStack() as closing:  # each of them, whatever comes of the others
            closing.enter_context(self._room_on_disk())
            for file in reversed(self._files):
                closing.callback(file.close)
            self._files = []
        self._array = self._array[: self.n_rows]
        self._array.setflags(write=False)

    def read(self, rows: slice) -> HostArray:
        """Return some consecutive rows."""
        if self._spill is None:
            return self._array[rows]
        count, at = rows.stop - rows.start, 8 * self._width * rows.start
        found: HostArray = np.fromfile(self._spill.path("rows"), FLOAT64, count * self._width, offset=at)
        return found.reshape(count, self._width)

    def texts(self, name: str) -> Iterator[Any]:
        """Yield the parts of a column of text."""
        if self._spill is None:
            for batch in self._texts:
                yield batch.column(name)
            return
        import pyarrow as pa

        with pa.OSFile(str(self._spill.path("texts"))) as file:
            for batch in pa.ipc.open_stream(file):
                yield batch.column(name)

    def _to_disk(self) -> None:
        """Move what is kept to a temporary file, and go on there."""
        self._spill = Spill()
        self._files = [self._spill.path("rows").open("wb")]
        self._write(self._array[: self.n_rows], *self._texts)
        self._array, self._texts = np.empty((0, self._width)), []

    def _write(self, rows: HostArray, *texts: Any) -> None:
        import pyarrow as pa

        spill: Any = self._spill
        with self._room_on_disk():
            self._files[0].write(np.ascontiguousarray(rows).data)
            for batch in texts if self._has_texts else ():
                if len(self._files) == 1:
                    sink = spill.path("texts").open("wb")
                    self._files[1:] = [pa.ipc.new_stream(sink, batch.schema), sink]
                self._files[1].write_batch(batch)

    @contextmanager
    def _room_on_disk(self) -> Iterator[None]:
        """Say what to do where the disk does not take what is written."""
        try:
            yield
        except OSError as error:
            needed = 8 * self._width * self.n_rows + self._text_bytes
            folder = None if self._spill is None else self._spill.folder.parent
            message = Sentence(
                "{origin}: its numbers do not fit into {room}, a quarter of the budget, and cannot be written to "
                "{folder} ({reason}). Raise {budget} (GRAMIAN_MEMORY), or name a folder with more room (TMPDIR).",
                origin=self._origin,
                room=f"{self._room / MEGABYTE:,.0f} MB",
                folder=folder,
                reason=error.strerror or error,
                budget=Parameter("memory_budget"),
            )
            raise MemoryBudgetError(message, needed=needed, budget=self._room * ROOM) from error


def _sampled(name: str, column: Any, dialect: "Dialect", *, is_whole: bool) -> Sampled:
    kind = kind_of(column.type)
    if kind == "empty" and name and not is_whole:  # without a name it is what a delimiter at the end of rows makes
        kind = "number"
    if kind == "text":
        texts = texts_of(column, dialect.encoding)
        return Sampled(name, "number" if _mostly_numbers(texts, dialect) else "text", texts)
    return Sampled(name, kind, column.to_pylist() if kind == "integer" else [])


def _mostly_numbers(texts: list[str | None], dialect: "Dialect") -> bool:
    """Tell whether nine in ten cells are numbers, so that another is a slip, which reading names with its row."""
    filled = [text for text in texts if text is not None and text.strip() not in dialect.missing]
    return bool(filled) and sum(is_number(text, dialect.decimal) for text in filled) >= 0.9 * len(filled)


def _is_padded_missing(value: Any, missing: tuple[str, ...]) -> bool:
    return isinstance(value, str) and value not in missing and value.strip() in missing


def _problem(cell: str, dialect: "Dialect") -> str | None:
    if cell.strip() in dialect.missing:
        return None
    if not is_number(cell, dialect.decimal):
        return "text in a column of numbers"
    value = float(cell.replace(",", ".") if dialect.decimal == "," else cell)
    return "beyond the range of float64" if np.isinf(value) and "inf" not in cell.lower() else None


def _not_boolean(cell: str, dialect: "Dialect") -> str | None:
    return None if cell.strip() in dialect.missing or cell.strip().lower() in BOOLEANS else "neither true nor false"
