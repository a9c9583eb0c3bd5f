"""Parquet and Arrow (Feather) files: groups of rows, decoded window by window."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gramian.arrays.namespace import HostArray
from gramian.errors import InputError, MemoryBudgetError, Parameter, Sentence
from gramian.machine import MEGABYTE, memory_budget
from gramian.sources.arrow import dense_rows, strings_of, working_type
from gramian.sources.formats.columns import ArrowColumns, ColumnFile, examined_rows
from gramian.sources.names import name_columns
from gramian.sources.roles import Column, Reading, kind_of
from gramian.sources.row_file import FileVersion, OpenedTable, RowFile

BUFFER = 1 << 16
"""Bytes that are read of a column at a time, where columns are long."""

LONG_GROUP = 64 * MEGABYTE
"""Size of a row group from which its columns are read in pieces."""

PAGE = MEGABYTE
"""Bytes of a page of one column, as writers make them by default; one of each column is held."""


class GroupedFile(RowFile):
    """The number columns of a Parquet or Arrow file, whose rows lie in groups.

    Groups are where reading can begin: inside one, rows before the first wanted are decoded and dropped. Cost of a
    pass: decoding. Groups of 10,000 to 100,000 rows serve best; a Parquet group of millions of rows and hundreds of
    columns holds a page of each column in memory, and is refused where that is more than the budget.
    ``readings`` say, by column, which numbers stand for a missing value; infinity is missing there too.
    """

    def __init__(
        self, groups: "_Groups", names: tuple[str, ...], *, readings: Mapping[int, Reading] | None = None
    ) -> None:
        self._groups, self._readings = groups, readings or {}
        self.origin, self.versions, self.names = groups.origin, groups.versions, names
        kinds = {field.name: field.type for field in groups.schema}
        self.dtype = working_type([kinds[name] for name in names])
        self.starts = tuple(accumulate([0, *groups.counts[:-1]]))
        self.shape = (sum(groups.counts), len(names))

    def read(self, rows: slice) -> HostArray:
        """Decode some consecutive rows."""
        (found,) = self.stream([rows])
        return found

    def stream(self, windows: Sequence[slice]) -> Iterator[HostArray]:
        """Decode windows in order, each group opened once."""
        if not windows:
            return
        begin, stop = windows[0].start, windows[-1].stop
        step = max(window.stop - window.start for window in windows)
        batches = self._groups.batches(begin, stop, list(self.names or ()), step)
        pending: list[Any] = []
        for window in windows:
            taken, pending = _take(batches, pending, window.stop - window.start, self.origin)
            yield self._dense(taken, window.start)

    def column(self, name: str) -> HostArray:
        """Decode one column as strings."""
        parts = [strings_of(batch.column(0)) for batch in self._groups.batches(0, self.shape[0], [name], 1 << 16)]
        return np.concatenate(parts)

    @property
    def worker_bytes(self) -> int:
        """Bytes of a page of each column and its buffer, twice; of an Arrow file those of a batch, read whole.

        A quarter of what an Arrow file may take is for windows.
        """
        largest: int = max(self._groups.counts)
        if self._groups.described.metadata is not None:
            return 2 * self.shape[1] * min(8 * largest, PAGE + BUFFER)
        kinds = {field.name: field.type for field in self._groups.schema}
        bits: int = sum(kinds[name].bit_width for name in self.names or ())
        return largest * bits // 8 * 4 // 3

    def require_room(self, budget: int) -> None:
        """Refuse a group or a batch that cannot be decoded within the budget."""
        if self.worker_bytes <= budget:
            return
        rows, sizes = f"{max(self._groups.counts):,}", f"{self.worker_bytes / MEGABYTE:,.1f} MB, and the budget is "
        sizes += f"{budget / MEGABYTE:,.1f} MB"
        what, remedy = (
            f"row groups of {rows} rows and {self.shape[1]:,} columns: decoding one holds a page of each column",
            "row groups (row_group_size=10_000)",
        )
        if self._groups.described.metadata is None:
            what = f"record batches of {rows} rows, which are read whole"
            remedy = "batches (pyarrow.feather.write_feather(..., chunksize=10_000))"
        message = Sentence(
            f"{{origin}} has {what}, about {sizes}. Write the file with smaller {remedy}, or raise {{budget}} "
            "(GRAMIAN_MEMORY).",
            origin=self.origin,
            budget=Parameter("memory_budget"),
        )
        raise MemoryBudgetError(message, needed=self.worker_bytes, budget=budget)

    def _dense(self, batches: list[Any], start: int) -> HostArray:
        parts = [dense_rows(batch, self.dtype, self.origin, start) for batch in batches]
        rows = parts[0] if len(parts) == 1 else np.concatenate(parts)
        for j, reading in self._readings.items():
            missing = np.array(reading.missing, dtype=rows.dtype)
            rows[~np.isfinite(rows[:, j]) | np.isin(rows[:, j], missing), j] = np.nan
        return rows


class _Groups:
    """A file of row groups: how many rows each has, and how some columns of them are decoded."""

    def __init__(
        self,
        path: Path,
        origin: str,
        describe: Callable[[Path], "_Described"],
        decode: "Decode",
        *,
        names: Sequence[str] | None = None,
    ) -> None:
        self.path, self.origin = path, origin
        self.versions = (FileVersion.of(path),)
        self._decode = decode
        self.described: _Described = _explained(partial(describe, path), self)
        self.stored = self.described.schema.names
        called, self.remarks = name_columns(self.stored, names, origin)
        self.schema = _renamed_schema(self.described.schema, called)
        self.counts = [count for count in self.described.counts if count] or [0]
        self._numbers = [g for g, count in enumerate(self.described.counts) if count]

    def batches(self, begin: int, stop: int, names: list[str], step: int) -> Iterator[Any]:
        """Yield record batches that together are rows ``begin`` to ``stop`` of some columns, in that order."""
        starts = list(accumulate([0, *self.counts]))
        wanted = [i for i in range(len(self._numbers)) if starts[i] < stop and starts[i + 1] > begin]
        asked = set(names)
        kept = [(old, new) for old, new in zip(self.stored, self.schema.names, strict=True) if new in asked]
        stored = list(dict.fromkeys(old for old, _ in kept))
        decoded = self._decode(self.path, self.described, [self._numbers[i] for i in wanted], stored, step)
        at = starts[wanted[0]]
        while at < stop and (batch := _explained(partial(next, decoded, None), self)) is not None:
            low, high = max(begin - at, 0), min(stop - at, batch.num_rows)
            at += batch.num_rows
            if high > low:
                yield self._named(batch.slice(low, high - low)).select(names)

    def _named(self, batch: Any) -> Any:
        """Return a batch under the names that its columns have here: columns of one stored name come in order."""
        import pyarrow as pa

        if self.stored == self.schema.names:
            return batch
        called: dict[str, list[str]] = {}
        for old, new in zip(self.stored, self.schema.names, strict=True):
            called.setdefault(old, []).append(new)
        names = [called[old].pop(0) for old in batch.schema.names]
        return pa.RecordBatch.from_arrays(batch.columns, names=names)


def open_parquet(
    path: Path,
    origin: str,
    *,
    names: Sequence[str] | None = None,
    budget: int | None = None,
) -> OpenedTable:
    """Open a Parquet file by its description at the end."""
    return _opened(_Groups(path, origin, _describe_parquet, _decode_parquet, names=names), budget or memory_budget())


def open_arrow(
    path: Path,
    origin: str,
    *,
    names: Sequence[str] | None = None,
    budget: int | None = None,
) -> OpenedTable:
    """Open an Arrow file (Feather, IPC)."""
    return _opened(_Groups(path, origin, _describe_arrow, _decode_arrow, names=names), budget or memory_budget())


def _opened(groups: _Groups, budget: int) -> OpenedTable:
    names = tuple(field.name for field in groups.schema)
    _require_table(groups, names)
    stored = _index_columns(groups.schema)
    index = frozenset(name for old, name in zip(groups.stored, names, strict=True) if old in stored)
    return OpenedTable(
        groups.origin,
        sum(groups.counts),
        names,
        partial(_examined, groups, index, budget),
        partial(_rows, groups, budget),
        partial(_column, groups),
        frame_index=index,
        remarks=groups.remarks,
    )


def _examined(groups: _Groups, index: frozenset[str], budget: int, *, numbers: bool) -> dict[str, Any]:
    """Decode the columns by which roles are decided: of a long file the first rows of groups spread over it."""
    import pyarrow as pa

    kinds = {field.name: kind_of(field.type) for field in groups.schema}
    names = [name for name, kind in kinds.items() if numbers or kind not in ("number", "boolean") or name in index]
    if not names:
        return {}
    starts = list(accumulate([0, *groups.counts]))
    share, chosen = starts[-1], range(len(groups.counts))
    if (most := examined_rows(budget, len(names))) < starts[-1]:
        chosen = chosen[:: max(1, len(chosen) // 64)]
        share = -(-most // len(chosen))
    spans = [(starts[i], min(starts[i + 1], starts[i] + share)) for i in chosen]
    batches = [batch for span in spans for batch in groups.batches(*span, names, 1 << 16)]
    return {name: pa.chunked_array([batch.column(name) for batch in batches]) for name in names}


def _rows(
    groups: _Groups, budget: int, columns: Sequence[Column], texts: Sequence[str], *, lenient: bool, sentinels: bool
) -> RowFile:
    """Return the rows of some columns; where one is written as text, all are read once and kept."""
    names = tuple(column.name for column in columns)
    if all(kind_of(groups.schema.field(name).type) in ("number", "integer", "boolean") for name in names):
        readings = {j: column.reading for j, column in enumerate(columns) if sentinels and column.reading is not None}
        return GroupedFile(groups, names, readings=readings)
    kept = ArrowColumns(groups.origin, tuple(dict.fromkeys((*names, *texts))), budget=budget)
    for batch in groups.batches(0, sum(groups.counts), list(kept.names), 1 << 16):
        kept.add(batch)
    kept.finish()
    return ColumnFile(kept, columns, texts=texts, versions=groups.versions, lenient=lenient, sentinels=sentinels)


def _column(groups: _Groups, name: str) -> Any:
    """Decode a column whole."""
    import pyarrow as pa

    parts = [batch.column(0) for batch in groups.batches(0, sum(groups.counts), [name], 1 << 16)]
    return pa.chunked_array(parts, groups.schema.field(name).type)


def _renamed_schema(schema: Any, names: Sequence[str]) -> Any:
    import pyarrow as pa

    fields = [field.with_name(name) for field, name in zip(schema, names, strict=True)]
    return pa.schema(fields, metadata=schema.metadata)


def _index_columns(schema: Any) -> set[str]:
    """Return the columns that pandas wrote as the index of its frame; an index that only counts is no column."""
    try:
        found = json.loads((schema.metadata or {}).get(b"pandas", b"{}")).get("index_columns", [])
    except (ValueError, AttributeError):
        return set()  # what another program wrote under that name says nothing of an index
    return {name for name in found if isinstance(name, str)}


def _require_table(groups: _Groups, names: tuple[str, ...]) -> None:
    if not names or not sum(groups.counts):
        message = f"{groups.origin} has {len(names)} columns and {sum(groups.counts)} rows. Check what wrote the file."
        raise InputError(message)


def _explained(work: Callable[[], Any], groups: _Groups) -> Any:
    """Do some work on the file; say in a sentence what is wrong with it."""
    import pyarrow as pa

    try:
        return work()
    except MemoryError:  # Arrow's own is an exception of Arrow too, and says nothing of the file
        raise
    except (pa.ArrowException, OSError, EOFError) as error:
        for version in groups.versions:
            version.require_unchanged()
        if "Resource temporarily unavailable" in str(error):  # a thread or memory that the system refused
            raise MemoryError(str(error)) from error
        detail = str(error).partition("\n")[0].rstrip(". ")
        message = f"{groups.origin} is damaged or cut short ({detail}). Write the file again."
        raise InputError(message) from error


class _Described(NamedTuple):
    """What a file says of itself: its columns, the rows of each group, and what spares reading that again."""

    schema: Any
    counts: list[int]
    metadata: Any = None


Decode = Callable[[Path, _Described, list[int], list[str], int], Iterator[Any]]


def _describe_parquet(path: Path) -> _Described:
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        counts = [file.metadata.row_group(g).num_rows for g in range(file.metadata.num_row_groups)]
        return _Described(file.schema_arrow, counts, file.metadata)


def _decode_parquet(path: Path, described: _Described, groups: list[int], names: list[str], step: int) -> Iterator[Any]:
    from pyarrow import parquet

    # Short columns are read whole, long ones in pieces; one thread, since others of ours decode other rows. Groups
    # are asked for one at a time: asked for together, the bytes of all of them would be held to the end.
    long = max(described.metadata.row_group(g).total_byte_size for g in groups) > LONG_GROUP
    options = {"buffer_size": BUFFER if long else 0, "pre_buffer": False}
    with parquet.ParquetFile(path, metadata=described.metadata, **options) as file:
        for group in groups:
            yield from file.iter_batches(batch_size=step, row_groups=[group], columns=names, use_threads=False)


def _describe_arrow(path: Path) -> _Described:
    import pyarrow as pa
    from pyarrow import ipc

    with pa.OSFile(str(path)) as file:
        schema = ipc.open_file(file).schema
        # Only the first column is read to count the rows of a batch.
        slim = ipc.open_file(file, options=ipc.IpcReadOptions(included_fields=[0] if len(schema) else None))
        return _Described(schema, [slim.get_batch(g).num_rows for g in range(slim.num_record_batches)])


def _decode_arrow(path: Path, described: _Described, groups: list[int], names: list[str], _step: int) -> Iterator[Any]:
    import pyarrow as pa
    from pyarrow import ipc

    fields = [i for i, name in enumerate(described.schema.names) if name in names]
    with pa.OSFile(str(path)) as file:
        opened = ipc.open_file(file, options=ipc.IpcReadOptions(included_fields=fields, use_threads=False))
        for group in groups:
            yield opened.get_batch(group)


def _take(batches: Iterator[Any], pending: list[Any], rows: int, origin: str) -> tuple[list[Any], list[Any]]:
    """Return batches that together have ``rows`` rows, and what is left of the last one."""
    taken: list[Any] = []
    while rows:
        batch = pending.pop() if pending else next(batches, None)
        if batch is None:
            message = f"{origin} ends before its last row. Write the file again."
            raise InputError(message)
        taken.append(batch.slice(0, rows))
        if batch.num_rows > rows:
            pending = [batch.slice(rows)]
        rows -= taken[-1].num_rows
    return taken, pending
