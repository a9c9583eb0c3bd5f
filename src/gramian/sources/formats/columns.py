"""Columns of a table that were read once: kept as Arrow, in memory or in a temporary file, and the rows they give.

Text tables, workbooks, JSON and frames in memory all end here. What a column *is* says
:mod:`gramian.sources.roles`; this module holds it, and turns columns of numbers into rows.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple, NoReturn

import numpy as np

from gramian.arrays.namespace import HostArray
from gramian.errors import InputError, MemoryBudgetError, Parameter, Sentence
from gramian.machine import MEGABYTE
from gramian.sources.arrow import floats_of, from_words, is_text, strings_of, to_numpy, truths, without, working_type
from gramian.sources.conversion import LARGEST_EXACT
from gramian.sources.locations import Location, Names
from gramian.sources.roles import Column, Reading
from gramian.sources.row_file import FileVersion, RowFile, Spill

ROOM = 4
"""Columns are kept in memory up to this part of the budget."""

BATCH = 1 << 16
"""Rows of a batch, at most."""

LONG_INTEGER = re.compile(r"\s*[+-]?[0-9]{16,400}\s*")
ABOVE = "an integer beyond 2**53, where float64 no longer holds every integer"


def examined_rows(budget: int, n_columns: int) -> int:
    """Return how many rows roles are decided by, where not by all: as many as a sixteenth of the budget holds.

    Examples
    --------
    >>> examined_rows(16 << 30, 12), examined_rows(16 << 20, 100)
    (5592405, 1000)
    """
    return max(budget // 16 // (16 * n_columns), 1_000)


class ArrowColumns:
    """Columns of a table, added batch by batch, and read from then on.

    A column may be numbers in one batch and text in another: text is read when a file was parsed, and only its end may
    show what a column is. Batches stay in memory while they take less than a quarter of the budget, and go to one
    temporary file from there on, which is mapped, not loaded, and goes when this object does.

    Parameters
    ----------
    origin : str
        The file as a person named it.
    names : tuple of str
    budget : int
        Bytes for everything.
    decimal : str
        The decimal sign of text: numbers of one batch are written with it beside the text of another.
    """

    def __init__(self, origin: str, names: tuple[str, ...], *, budget: int, decimal: str = ".") -> None:
        self.origin, self.names, self._decimal = origin, names, decimal
        self.n_rows = 0
        self._budget, self._bytes = budget, 0
        self._batches: list[Any] = []
        self._stops: list[int] = []
        self._spill: Spill | None = None
        self._file: Any = None
        self._ends: list[int] = []

    @property
    def in_memory(self) -> bool:
        """Whether nothing had to be written to disk."""
        return self._spill is None

    def add(self, batch: Any) -> None:
        """Keep some more rows: a record batch with all columns, of whatever types."""
        # In parts, so that rows that are examined of each part are spread over the table.
        for part in (batch.slice(at, BATCH) for at in range(0, batch.num_rows, BATCH)):
            self.n_rows += part.num_rows
            self._stops.append(self.n_rows)
            self._bytes += part.nbytes
            self._batches.append(part)
        if self._spill is None and self._bytes > self._budget // ROOM:
            self._spill = Spill()
            with self._room_on_disk():
                self._file = self._spill.path("columns").open("wb")
        if self._spill is not None:
            self._write()

    def finish(self) -> None:
        """End the adding: what was written to disk is mapped."""
        if self._file is None:
            return
        import pyarrow as pa

        with self._room_on_disk():
            self._file.close()
        self._file = None
        mapped = pa.memory_map(str(self._spill.path("columns"))).read_buffer()  # type: ignore[union-attr]
        starts = [0, *self._ends[:-1]]
        self._batches = [
            pa.ipc.open_stream(mapped.slice(start, end - start)).read_next_batch()
            for start, end in zip(starts, self._ends, strict=True)
        ]

    def close(self) -> None:
        """Give up what was begun: the temporary file is closed, and goes with this object."""
        if self._file is not None:
            self._file.close()

    def keep_only(self, names: Sequence[str]) -> None:
        """Let go of all columns but some."""
        self.names = tuple(name for name in self.names if name in names)
        self._batches = [batch.select(list(self.names)) for batch in self._batches]

    def batches(self, rows: slice) -> Iterator[tuple[int, Any]]:
        """Yield the parts of batches that together are some consecutive rows, each with its first row."""
        at = rows.start
        for i in range(bisect_right(self._stops, at), len(self._batches)):
            if at >= rows.stop:
                return
            first, stop = self._stops[i] - self._batches[i].num_rows, min(rows.stop, self._stops[i])
            yield at, self._batches[i].slice(at - first, stop - at)
            at = stop

    def column(self, name: str) -> Any:
        """Return a column whole, as text where it is text in any batch."""
        return joined_parts([batch.column(name) for batch in self._batches], self._decimal)

    def kind(self, name: str) -> Any:
        """Return the Arrow type of a column: one that holds what it is in every batch."""
        return _common_type([batch.schema.field(name).type for batch in self._batches])

    def examined(self, **_: bool) -> dict[str, Any]:
        """Return the columns by which roles are decided: whole, or of a table on disk rows spread over it.

        Of those each batch gives its first ones, as many as a sixteenth of the budget holds in all.
        """
        step = 1 if self.in_memory else -(-self.n_rows // examined_rows(self._budget, len(self.names)))
        parts = [batch.slice(0, -(-batch.num_rows // step)) for batch in self._batches]
        return {name: joined_parts([part.column(name) for part in parts], self._decimal) for name in self.names}

    def _write(self) -> None:
        """Move the batches that are in memory to the file, each as a stream of its own: their types may differ."""
        import pyarrow as pa

        with self._room_on_disk():
            for batch in self._batches:
                sink = pa.BufferOutputStream()
                with pa.ipc.new_stream(sink, batch.schema) as stream:
                    stream.write_batch(batch)
                data = sink.getvalue()
                self._file.write(data)
                self._ends.append((self._ends[-1] if self._ends else 0) + data.size)
        self._batches = []

    @contextmanager
    def _room_on_disk(self) -> Iterator[None]:
        """Say what to do where the disk does not take what is written."""
        try:
            yield
        except OSError as error:
            folder = None if self._spill is None else self._spill.folder.parent
            message = Sentence(
                "{origin}: its columns do not fit into {room}, a quarter of the budget, and cannot be written to "
                "{folder} ({reason}). Raise {budget} (GRAMIAN_MEMORY), or name a folder with more room (TMPDIR).",
                origin=self.origin,
                room=f"{self._budget // ROOM / MEGABYTE:,.0f} MB",
                folder=folder,
                reason=error.strerror or error,
                budget=Parameter("memory_budget"),
            )
            raise MemoryBudgetError(message, needed=self._bytes, budget=self._budget) from error


class ColumnFile(RowFile):
    """Rows of the columns of numbers of a table that is kept as Arrow.

    Cost: in memory one array of 8 bytes per number, from which windows are views; of a table on disk a copy of each
    window. Cells that are written in another way than plain numbers are read once.

    Parameters
    ----------
    kept : ArrowColumns
        Finished; of its columns only those in ``texts`` are kept besides the numbers.
    columns : sequence of Column
        Those used as numbers, in the order they are wanted.
    texts : sequence of str
        Columns that :meth:`column` can give.
    versions : tuple of FileVersion
    named : bool
        Whether the columns have names of their own.
    lenient : bool
        Whether a cell that is no number is missing; else it is refused with its place.
    sentinels : bool
        Whether numbers that stand for a missing value are missing.
    line : callable, optional
        ``line(row)`` says in words in which line of a text a row begins.
    """

    def __init__(
        self,
        kept: ArrowColumns,
        columns: Sequence[Column],
        texts: Sequence[str] = (),
        *,
        versions: tuple[FileVersion, ...] = (),
        named: bool = True,
        lenient: bool = False,
        sentinels: bool = False,
        line: Callable[[int], str] = lambda _: "",
    ) -> None:
        self.origin, self.versions = kept.origin, versions
        self.names: Names = tuple(column.name for column in columns) if named else None
        self.shape = (kept.n_rows, len(columns))
        self._kept, self._columns = kept, tuple(columns)
        self.dtype = working_type([kept.kind(column.name) for column in columns])
        self._read: dict[str, HostArray] = {}
        errors = []
        for column in columns:
            if is_text(kept.kind(column.name)) or (sentinels and column.reading is not None):
                self._read[column.name], bad = self._whole(column, lenient=lenient, sentinels=sentinels)
                errors += bad
        if errors:
            self._refuse(errors, line)
        self._array: HostArray | None = None
        if kept.in_memory:
            self._array = self._dense(slice(0, kept.n_rows))
            self._array.setflags(write=False)
            self._read = {}
            kept.keep_only(texts)

    def read(self, rows: slice) -> HostArray:
        """Return some consecutive rows: a view of those in memory, or a copy of those on disk."""
        return self._dense(rows) if self._array is None else self._array[rows]

    def column(self, name: str) -> HostArray:
        """Return a column as strings; missing ones are empty."""
        return strings_of(self._kept.column(name))

    def _dense(self, rows: slice) -> HostArray:
        out = np.empty((rows.stop - rows.start, len(self._columns)), dtype=self.dtype)
        for first, batch in self._kept.batches(rows):
            here = slice(first - rows.start, first - rows.start + batch.num_rows)
            for j, column in enumerate(self._columns):
                known = self._read.get(column.name)
                out[here, j] = (
                    floats_of(batch.column(column.name), Location(first, j, column.name), self.origin)
                    if known is None
                    else known[first : first + batch.num_rows]
                )
        return out

    def _whole(self, column: Column, *, lenient: bool, sentinels: bool) -> tuple[HostArray, "list[_BadCell]"]:
        """Read the numbers of a column of text, and find a cell that is none, or that float64 rounds."""
        cells = self._kept.column(column.name)
        values = replace(column.reading or Reading(), missing=()).numbers(cells)
        bad = []
        for i in np.flatnonzero(np.abs(values) >= LARGEST_EXACT):
            text = str(cells[int(i)].as_py())
            if LONG_INTEGER.fullmatch(text) and abs(int(text)) > LARGEST_EXACT:
                bad.append(_BadCell(int(i), column.name, text, ABOVE))
                break
        if not lenient and (odd := np.isnan(values) & truths(cells.is_valid())).any():
            row = int(np.argmax(odd))
            bad.append(_BadCell(row, column.name, str(cells[row].as_py()), "text in a column of numbers"))
        if sentinels and column.reading is not None:
            values = np.where(np.isin(values, column.reading.missing), np.nan, values)
        return values, bad[:1]

    def _refuse(self, bad: "list[_BadCell]", line: Callable[[int], str]) -> NoReturn:
        """Refuse the first of some cells; the error carries those of other columns."""
        errors: list[InputError] = []
        for cell in sorted(bad):
            shown = cell.text if len(cell.text) <= 40 else f"{cell.text[:37]}..."
            message = Sentence(
                "{origin}, {place}: {shown!r} is {problem}{line}. Mend that cell, leave it empty, or leave the column "
                "out ({drop}).",
                origin=self.origin,
                place=Location(cell.row, name=cell.name),
                shown=shown,
                problem=cell.problem,
                line="" if errors else line(cell.row),
                drop=Parameter("drop", (cell.name,)),
            )
            errors.append(InputError(message, row=cell.row, column=cell.name, problem=cell.problem, value=shown))
        errors[0].others = tuple(errors[1:])
        raise errors[0]


class _BadCell(NamedTuple):
    """A cell that cannot be used: its row, its column, its text, and what is wrong with it."""

    row: int
    name: str
    text: str
    problem: str


def typed_column(cells: Any, *, decimal: str = ".", missing: Sequence[str] = ()) -> Any:
    """Return the cells of a column as integers or numbers where each is one; else as text.

    Text is given back without blanks around it, and without words for missing values that blanks hid. A whole number
    with a zero before it (007) is no number, nor is an integer that float64 rounds and int64 does not hold.

    Examples
    --------
    >>> import pyarrow as pa
    >>> [str(typed_column(pa.array(cells)).type) for cells in (["1", None], ["1.5", "2"], ["007", "1"], ["true", "F"])]
    ['int64', 'double', 'string', 'string']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if cells.null_count == len(cells):
        return pa.nulls(len(cells))
    found = _cast(cells, decimal)
    if found is not None:
        return found
    cells = pc.utf8_trim_whitespace(cells)
    words = pc.is_in(cells, value_set=from_words(missing))
    if pc.any(words).as_py():
        cells = without(cells, words)
    if cells.null_count == len(cells):
        return pa.nulls(len(cells))
    found = _cast(cells, decimal)
    return cells if found is None else found


def _cast(cells: Any, decimal: str) -> Any:
    """Return cells as int64 or float64, or ``None`` where a cell is none of these or is a code."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if decimal != ".":
        if pc.any(pc.match_substring(cells, ".")).as_py():
            return None
        cells = pc.replace_substring(cells, decimal, ".")
    floats = _as_type(cells, pa.float64())
    if floats is None:
        return None
    values = to_numpy(floats)
    if (np.floor(values) < values).any():
        return floats
    # Whole numbers may be codes (007), or longer than float64 holds.
    if _has_codes(cells):
        return None
    integers = None if pc.any(pc.match_substring(cells, ".")).as_py() else _as_type(cells, pa.int64())
    if integers is not None:
        return integers
    return None if _is_rounded(floats, cells) else floats


def _as_type(cells: Any, kind: Any) -> Any:
    """Return text as another type, or ``None``. Arrow takes long over cells that fail, so a few are tried first."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        if len(cells) > 1_000:
            pc.cast(cells.slice(0, 32), kind)
        return pc.cast(cells, kind)
    except pa.ArrowInvalid:
        return None


def _has_codes(cells: Any) -> bool:
    """Tell whether a cell begins with a zero that no number has: 007, 02134, 0x1F."""
    import pyarrow.compute as pc

    zeros = pc.starts_with(cells, "0")
    if not pc.any(zeros).as_py():
        return False
    return bool(pc.any(pc.match_substring_regex(cells.filter(zeros), "^0[0-9xX]")).as_py())


def _is_rounded(found: Any, cells: Any) -> bool:
    """Tell whether an integer was too long for int64, and lost digits as a float."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if found.type != pa.float64():
        return False
    limits = pc.min_max(found).as_py()
    if not limits["max"] or max(limits["max"], -limits["min"]) < LARGEST_EXACT:
        return False
    return bool(pc.any(pc.match_substring_regex(cells, r"^[+-]?[0-9]{16,}$")).as_py())


def _common_type(kinds: Sequence[Any]) -> Any:
    import pyarrow as pa

    found = {kind for kind in kinds if kind != pa.null()}
    if len(found) > 1:
        found = {pa.float64() if found <= {pa.int64(), pa.float64()} else pa.string()}
    return found.pop() if found else pa.null()


def joined_parts(parts: Sequence[Any], decimal: str) -> Any:
    """Return parts of a column as one, of a type that holds all of them; text that is true or false as that."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = _common_type([part.type for part in parts])
    cast = [part if part.type == kind else _text_or_number(part, kind, decimal) for part in parts]
    whole = pa.chunked_array(cast, kind)
    if kind != pa.string():
        return whole
    booleans = _as_type(pc.utf8_lower(whole), pa.bool_())
    return whole if booleans is None else booleans


def _text_or_number(part: Any, kind: Any, decimal: str) -> Any:
    """Return a part in another type, rounded where it must be; numbers beside text are written as the text is."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = pc.cast(part, kind, safe=False)
    is_written = kind == pa.string() and pa.types.is_floating(part.type) and decimal != "."
    return pc.replace_substring(found, ".", decimal) if is_written else found
