"""Rows in files that may be larger than memory: read in windows, one ahead, never all at once.

Each worker goes through its own run of windows in order, while a second thread reads its next window.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any, NamedTuple, TypeVar

from gramian.arrays.namespace import Array, HostArray, to_host
from gramian.machine import MEGABYTE, memory_budget, worker_count, workers_for
from gramian.sources.pass_log import PassLog
from gramian.sources.progress import Meter, Say
from gramian.sources.row_file import RowFile
from gramian.sources.rows import (
    Block,
    Fold,
    Merge,
    PairFold,
    RowSource,
    block_length,
    ranges,
    rows_by_pass,
    run_folds,
)
from gramian.sources.table_facts import TableFacts

Item = TypeVar("Item")
_END: Any = object()

SHARE_OF_BUDGET = 12
"""The windows of all workers, one each, take this part of the budget, and a window half of that at most: a worker has
two, a copy of one, and products."""

WINDOW = 20 * MEGABYTE
"""A window that is summed into a scatter has at most this size (measured at 1,000 columns: 8 to 40 MB are as fast)."""

SPARSE_WINDOW, SPARSE_COLUMN = 64 * MEGABYTE, 120
"""A window of sparse rows has at most this size, and below that so many bytes per column: ten entries, so that a
product with them costs more than the dense result that every window adds to."""


class Labels(NamedTuple):
    """Labels that a person gives: what they are called, and one string per row."""

    name: str
    values: HostArray


class FileRows(RowSource):
    """Rows of a file, a folder or a glob, read in windows; see :func:`~gramian.sources.opening.as_source`.

    Parameters
    ----------
    file : RowFile
    weights : array (n,), optional
        Repetitions of each row.
    column_names : tuple of str, optional
        In place of the file's own.
    facts : TableFacts, optional
        What was made of each column of a table.
    labels : Labels, optional
        In place of those the file has.
    block_rows : int, optional
        Rows per window; by default what suits a core's cache, within a part of the budget.
    budget : int, optional
        Bytes for everything: by default that of the process (``GRAMIAN_MEMORY``, else 3/4 of the machine).
    progress : callable, optional
        Called with a sentence about once a second: part done, rate, time left.
    log : PassLog, optional
        Where finished and half-finished passes are kept, so that a killed fit can go on.
    read_as : str
        What a person said about reading the file, which other passes must not be taken for.

    Notes
    -----
    Cost of a pass: reading the file once. Memory: two windows per worker. A file that changes size or date between or
    during passes is an error, not a different answer.
    """

    on_disk = True

    def __init__(
        self,
        file: RowFile,
        *,
        weights: Array | None = None,
        column_names: tuple[str, ...] | None = None,
        facts: TableFacts | None = None,
        labels: "Labels | None" = None,
        block_rows: int | None = None,
        budget: int | None = None,
        progress: Say | None = None,
        log: PassLog | None = None,
        read_as: str = "",
    ) -> None:
        self.file, self._read_as = file, read_as
        self.n_rows, self.n_columns = file.shape
        self.dtype = file.dtype
        self.is_sparse = file.is_sparse
        self.column_names = file.names if column_names is None else column_names
        self.weights = weights
        self.facts = facts
        self.row_shape = file.row_shape
        self.remarks = file.remarks if facts is None else facts.remarks
        found = file if facts is None else facts
        self._labels, self.id_name = labels, found.id
        own = () if found.label is None else (found.label,) if facts is None else facts.labels
        self.label_names = own if labels is None else (labels.name,)
        self.budget = budget or memory_budget()
        file.require_room(self.budget)
        self.log = log
        self._say = progress
        self._checked_at = 0.0
        self.block_rows = block_rows or self._window_rows(0)
        self._windows = cut_windows(self.n_rows, self.block_rows, file.starts)

    @property
    def n_entries(self) -> int:
        """Stored numbers."""
        return self.file.n_entries

    @property
    def files(self) -> tuple[Path, ...]:
        """Files that the rows are read from."""
        return tuple(version.path for version in self.file.known_by)

    @property
    def pass_bytes(self) -> int:
        """Bytes that a pass holds at most: per worker two windows, a copy of one in float64, and its products.

        Windows are cut to fit the budget: five of them are what all of that takes. Of sparse rows, products have eight
        columns, of six numbers each while they are merged.
        """
        windows = 5 * self.budget // SHARE_OF_BUDGET
        if not self.is_sparse:
            return min(super().pass_bytes, windows)
        window = min(SPARSE_WINDOW, max(2 * MEGABYTE, SPARSE_COLUMN * self.n_columns), 12 * self.n_entries)
        return (min(4 * window, windows // 2) + 8 * 6 * 8 * self.n_columns) * worker_count() + 4 * MEGABYTE

    @property
    def n_blocks(self) -> int:
        """Number of blocks that :meth:`block` can give."""
        return len(self._windows)

    @property
    def sampled_blocks(self) -> Sequence[int]:
        """At most eight blocks or so, spread over the file, that are cheap to read out of turn.

        Of a file in groups no more than one in eight: a few rows of a group cost the decoding of much of it.
        """
        if not self.file.starts:
            return range(0, self.n_blocks, max(1, self.n_blocks // 8))
        firsts = set(self.file.starts)
        cheap = [i for i, window in enumerate(self._windows) if window.start in firsts]
        return cheap[:: max(8, len(cheap) // 8)]

    def block(self, i: int) -> Block:
        """Read block ``i``."""
        return self._block(self._windows[i], self._read(self._windows[i]))

    def evenly(self, count: int) -> list[Array]:
        """Return about ``count`` rows, the first ones of each sampled block: the rest of those need not be decoded."""
        windows = [self._windows[i] for i in self.sampled_blocks]
        each = -(-count // len(windows))
        return [self._read(slice(window.start, min(window.start + each, window.stop))) for window in windows]

    def locate(self, row: int) -> tuple[str | None, int]:
        """Return the file in which a row stands, and its position there."""
        return self.file.locate(row)

    def labels(self, name: str | None = None) -> HostArray | None:
        """Return a column of labels, by default the first, or the labels that were given; ``None`` without any."""
        if self._labels is not None:
            return self._labels.values
        name = name or next(iter(self.label_names), None)
        blocks = () if self.facts is None else self.facts.blocks
        block = next((block for block in blocks if block.name == name), None)
        if block is not None:
            return block.labels(self.file.column)
        return None if name is None else self.file.column(name)

    def ids(self) -> HostArray | None:
        """Read the column that names the rows: n strings, or ``None`` when there is none."""
        return None if self.id_name is None else self.file.column(self.id_name)

    def reduce(self, fold: Fold, merge: Merge, *, state_bytes: int = 0) -> Any:
        """Fold every block into one value: one pass over the file, each worker on its own run of windows.

        There are as many workers as there are cores, or one with BLAS's threads where their running values would take
        more than an eighth of the budget; of sparse rows, which know no BLAS, as many as have room. What each of them
        decodes at a time fits into the budget too.
        """
        step = self.block_rows if state_bytes == 0 else max(self.block_rows, self._window_rows(state_bytes))
        windows = self._windows if step == self.block_rows else cut_windows(self.n_rows, step, self.file.starts)
        room = self.budget // 8
        workers = workers_for(state_bytes, room=room)
        if self.is_sparse:
            workers = max(min(worker_count(), room // max(state_bytes, 1)), 1)
        if self.file.worker_bytes:
            workers = max(min(workers, self.budget // self.file.worker_bytes), 1)
        runs = _runs(windows, min(workers, len(windows)), self.file.starts)
        meter = Meter(self._say, self.file.origin, self.n_rows, self.n_rows * self.file.row_bytes)
        logged = None if self.log is None else self.log.begin(fold, self.file.known_by, runs, self._taken)
        if logged is None:
            tasks = [_Run(run, None, _forget) for run in runs]
        elif logged.finished:
            return logged.result
        else:
            tasks = [_Run(run[at:], state, keep) for run, (at, state, keep) in zip(runs, logged.parts, strict=True)]
        stop = Event()
        result = run_folds(tasks, _FoldRun(self._blocks, fold, merge, meter, stop), merge, workers=workers, stop=stop)
        if logged is not None:
            logged.finish(result)
        return result

    def map_rows(self, local: Callable[[Block], Array]) -> Array:
        """Stack ``local(block)`` over all blocks: one pass, and n rows out, held in memory."""
        return rows_by_pass(self, local)

    def map_blocks(self, local: Callable[[Block], Array]) -> Iterator[Array]:
        """Yield ``local(block)`` block after block, read ahead by one: for results that are written, not held."""
        meter = Meter(self._say, self.file.origin, self.n_rows, self.n_rows * self.file.row_bytes)
        for block in read_ahead(self._blocks(self._windows)):
            yield local(block)
            meter.add(block.rows.shape[0])

    def reduce_pairs(self, fold: PairFold, merge: Merge, *, symmetric: bool, block_rows: int | None = None) -> Any:
        """Fold pairs of blocks into one value; with ``symmetric`` only the pairs i <= j.

        Two panels of many blocks are held at a time, each within an eighth of the budget, so that the file is read once
        for every panel, not once for every block; a file that fits one panel is read once.
        """
        tiles = self._windows if block_rows is None else ranges(self.n_rows, block_rows)
        panels = self._panels(tiles)
        total: Any = None
        for i, rows in enumerate(panels):
            left = self._panel(rows)
            others = panels[i + 1 :] if symmetric else panels[:i] + panels[i + 1 :]
            first = [(a, b) for p, a in enumerate(left) for b in (left[p:] if symmetric else left)]
            parts = [run_folds(first, _pair(fold), merge)]
            for right in read_ahead(map(self._panel, others)):
                parts.append(run_folds([(a, b) for a in left for b in right], _pair(fold), merge))
                parts = [merge(*parts)]
            total = parts[0] if i == 0 else merge(total, parts[0])
        return total

    @cached_property
    def _taken(self) -> str:
        """What is taken of the files, and how: the columns in their order, the type, the weights, what was said."""
        names = self.file.names if self.facts is None else [column.name for column in self.facts.used]
        weights = "" if self.weights is None else hashlib.sha256(to_host(self.weights).tobytes()).hexdigest()
        taken = (None if names is None else list(names), self.file.shape, str(self.dtype), weights)
        return repr((*taken, self._read_as) if self._read_as else taken)

    def _panels(self, tiles: list[slice]) -> list[list[slice]]:
        room = max(1, self.budget // 8 // max(1, self.file.row_bytes))
        panels: list[list[slice]] = []
        for tile in tiles:
            if panels and tile.stop - panels[-1][0].start <= room:
                panels[-1].append(tile)
            else:
                panels.append([tile])
        return panels

    def _panel(self, tiles: list[slice]) -> list[Block]:
        start = tiles[0].start
        rows = self._read(slice(start, tiles[-1].stop))
        return [self._block(tile, rows[tile.start - start : tile.stop - start]) for tile in tiles]

    def _window_rows(self, state_bytes: int) -> int:
        """Rows per window: what suits a cache, more for a large running value, within a part of the budget."""
        row = max(1, self.file.row_bytes)
        length = block_length(row)
        if self.is_sparse:
            length = max(length, min(SPARSE_COLUMN * self.n_columns, SPARSE_WINDOW) // row)
        # Adding to a running value costs a look at all of it: a window has four times its size, within a limit.
        length = max(length, min(4 * state_bytes, WINDOW) // row)
        room = self.budget // SHARE_OF_BUDGET // max(2, worker_count())
        return max(1, min(length, max(room, MEGABYTE // 4) // row))

    def _read(self, rows: slice) -> Array:
        found = self.file.read(rows)
        self._require_unchanged()
        return found

    def _block(self, window: slice, rows: Array) -> Block:
        return Block(rows, window.start, None if self.weights is None else self.weights[window])

    def _blocks(self, windows: Sequence[slice]) -> Iterator[Block]:
        for window, rows in zip(windows, self.file.stream(windows), strict=True):
            self._require_unchanged()
            yield self._block(window, rows)
        self._require_unchanged(now=True)

    def _require_unchanged(self, *, now: bool = False) -> None:
        """Check every file: after each window when they are few, else twice a second and at the end of a run."""
        # A check costs microseconds per file.
        if len(self.file.versions) > 16 and not now and monotonic() - self._checked_at < 0.5:
            return
        self._checked_at = monotonic()
        for version in self.file.versions:
            version.require_unchanged()


@dataclass(frozen=True, eq=False)
class _Run:
    """Consecutive windows of one worker, the value they begin with, and what is reported of each value on the way."""

    windows: Sequence[slice]
    state: Any
    keep: Callable[[int, Any], None]


@dataclass(frozen=True, eq=False)
class _FoldRun:
    """Fold the blocks of a run, read ahead by one, into the value it begins with; ``stop`` ends it early."""

    blocks: Callable[[Sequence[slice]], Iterator[Block]]
    fold: Fold
    merge: Merge
    meter: Meter
    stop: Event

    def __call__(self, before: Any, run: _Run) -> Any:
        """Return the value of the run; of this run and of ``before``, where the same worker did another one."""
        state = run.state
        for done, block in enumerate(read_ahead(self.blocks(run.windows)), start=1):
            if self.stop.is_set():
                break
            state = self.fold(state, block)
            run.keep(done, state)
            self.meter.add(block.rows.shape[0])
        return state if before is None else self.merge(before, state)


def _forget(_done: int, _state: Any) -> None:
    """Keep nothing of a value on the way."""
    return


def read_ahead(items: Iterator[Item]) -> Iterator[Item]:
    """Yield the items in order; the next one is made in the background while the last one is used.

    Never more than one item waits, so that memory stays that of two. An error in the background is raised where the
    item would have come. Where the system refuses a thread, the items are made in turn, without one.

    Examples
    --------
    >>> list(read_ahead(iter([1, 2, 3])))
    [1, 2, 3]
    """
    with ThreadPoolExecutor(1, thread_name_prefix="gramian-reader") as reader:
        try:
            coming = reader.submit(next, items, _END)
        except RuntimeError:  # no memory, or no number, left for a thread
            yield from items
            return
        while (item := coming.result()) is not _END:
            coming = reader.submit(next, items, _END)
            yield item
            del item


def cut_windows(n_rows: int, step: int, starts: Sequence[int]) -> list[slice]:
    """Cut the rows into even windows of at most ``step``; none crosses a start, where reading begins anew.

    Even ones, because a short window costs as many calls as a long one, and Arrow decodes it at a worse rate.

    Examples
    --------
    >>> cut_windows(5, 2, (0, 3))
    [slice(0, 2, None), slice(2, 3, None), slice(3, 5, None)]
    """
    bounds = [*starts, n_rows] if starts else [0, n_rows]
    cut = []
    for low, high in pairwise(bounds):
        even = -(-(high - low) // -(-(high - low) // step))
        cut += [slice(low + part.start, low + part.stop) for part in ranges(high - low, even)]
    return cut


def _runs(windows: list[slice], workers: int, starts: Sequence[int]) -> list[list[slice]]:
    """Share the windows out in contiguous runs, each beginning where reading is cheap if there are many such rows."""
    cheap = range(len(windows))
    if len(starts) >= 4 * workers:
        firsts = set(starts)
        cheap = [i for i, window in enumerate(windows) if window.start in firsts]  # type: ignore[assignment]
    bounds = sorted({0, len(windows), *(cheap[round(w * len(cheap) / workers)] for w in range(1, workers))})
    return [windows[low:high] for low, high in pairwise(bounds)]


def _pair(fold: PairFold) -> Callable[[Any, tuple[Block, Block]], Any]:
    return lambda state, pair: fold(state, *pair)
