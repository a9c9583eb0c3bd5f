"""Rows in files that may be larger than memory: windows, read ahead by one, never the whole.

Each worker goes through its own stretch of the file in order, while a thread beside it reads the next window.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from threading import Event
from time import monotonic
from typing import Any

import numpy as np

from gramian.arrays.namespace import Array, HostArray, to_host
from gramian.planning.machine import LARGE_STATE, MEGABYTE, memory_budget
from gramian.sources.dense import large_block
from gramian.sources.pass_log import PassLog
from gramian.sources.progress import Meter, Say
from gramian.sources.read_ahead import read_ahead
from gramian.sources.row_file import RowFile
from gramian.sources.rows import (
    Block,
    Fold,
    Merge,
    PairFold,
    RowSource,
    block_length,
    ranges,
    run_folds,
    worker_count,
)
from gramian.sources.stretches import Stretch, cut_windows, fold_stretch, forget, runs_of
from gramian.sources.table_facts import TableFacts

SHARE_OF_BUDGET = 12
"""The windows of all workers, one each, take this part of the budget: each has two, a copy of one, and products."""

WINDOW = 20 * MEGABYTE
"""A window beside a scatter has at most this size: more gains nothing (measured at 1,000 columns, 8 to 40 MB)."""

SPARSE_WINDOW = 64 * MEGABYTE
"""A window of sparse rows has at most this size, and below that 120 bytes a column: ten entries, so that a product with
them costs more than the dense result that every window adds to."""

PANEL_SHARE = 8
"""Each of the two panels of rows that pairs are made of takes at most this part of the budget."""

MANY_FILES, SOME_SECONDS = 16, 0.5
"""With more files than this, whether they changed is looked at only so often: each look costs microseconds a file."""

SAMPLED = 8
"""Blocks of a file, at most, that are read out of turn for a first look at the mean; of groups, no more than one in
eight, because a few rows of a group cost the decoding of much of it."""


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
    block_rows : int, optional
        Rows a window; by default what suits a core's cache, within a part of the budget.
    budget : int, optional
        Bytes for everything: by default that of the process (``GRAMIAN_MEMORY``, else 3/4 of the machine).
    progress : callable, optional
        Called with a sentence about once a second: part done, rate, time left.
    log : PassLog, optional
        Where finished and half-finished passes are kept, so that a killed fit can go on.

    Notes
    -----
    Cost of a pass: reading the file once. Memory: two windows a worker. A file that changes size or date between or
    during passes is an error, not a different answer.
    """

    has_columns = False

    def __init__(
        self,
        file: RowFile,
        *,
        weights: Array | None = None,
        column_names: tuple[str, ...] | None = None,
        facts: TableFacts | None = None,
        block_rows: int | None = None,
        budget: int | None = None,
        progress: Say | None = None,
        log: PassLog | None = None,
    ) -> None:
        self.file = file
        self.n_rows, self.n_columns = file.shape
        self.dtype = file.dtype
        self.is_sparse = file.is_sparse
        self.column_names = file.names if column_names is None else column_names
        self.weights = weights
        self.facts = facts
        self.budget = budget or memory_budget()
        file.require_room(self.budget)
        self.log = log
        self._say = progress
        self._looked = 0.0
        self.block_rows = block_rows or self._window_rows(0)
        self._windows = cut_windows(self.n_rows, self.block_rows, file.starts)

    @property
    def n_entries(self) -> int:
        """Stored numbers."""
        return self.file.n_entries

    @property
    def n_blocks(self) -> int:
        """Number of blocks that :meth:`block` can give."""
        return len(self._windows)

    @property
    def sampled_blocks(self) -> Sequence[int]:
        """A few blocks, spread over the file, that are cheap to read out of turn."""
        if not self.file.starts:
            return range(0, self.n_blocks, max(1, self.n_blocks // SAMPLED))
        firsts = set(self.file.starts)
        cheap = [i for i, window in enumerate(self._windows) if window.start in firsts]
        return cheap[:: max(SAMPLED, len(cheap) // SAMPLED)]

    def block(self, i: int) -> Block:
        """Read block ``i``."""
        return self._block(self._windows[i], self._read(self._windows[i]))

    def evenly(self, count: int) -> list[Array]:
        """Return about ``count`` rows, the first ones of each sampled block: the rest of those need not be decoded."""
        windows = [self._windows[i] for i in self.sampled_blocks]
        each = -(-count // len(windows))
        return [self._read(slice(window.start, min(window.start + each, window.stop))) for window in windows]

    def like(self) -> Array:
        """Return an empty NumPy array."""
        return np.empty((0, 0), dtype=self.dtype)

    def locate(self, row: int) -> tuple[str | None, int]:
        """Return the file in which a row stands, and its position there."""
        return self.file.locate(row)

    def labels(self) -> HostArray | None:
        """Read the label column of a table: n strings, or ``None`` when there is none. One pass over that column."""
        return None if self.facts is None or self.facts.label is None else self.file.column(self.facts.label)

    def ids(self) -> HostArray | None:
        """Read the column that names the rows: n strings, or ``None`` when there is none."""
        return None if self.facts is None or self.facts.id is None else self.file.column(self.facts.id)

    def reduce(self, fold: Fold, merge: Merge, *, state_bytes: int = 0) -> Any:
        """Fold every block into one value: one pass over the file, each worker on its own stretch."""
        step = self.block_rows if state_bytes == 0 else max(self.block_rows, self._window_rows(state_bytes))
        windows = self._windows if step == self.block_rows else cut_windows(self.n_rows, step, self.file.starts)
        workers = 1 if state_bytes > LARGE_STATE else min(worker_count(), len(windows))
        runs = runs_of(windows, workers, self.file.starts)
        meter = Meter(self._say, self.file.origin, self.n_rows, self.n_rows * self.file.row_bytes)
        stretches = None if self.log is None else self.log.begin(fold, self.file.known_by, runs, self._taken)
        if stretches is None:
            tasks = [Stretch(run, None, forget) for run in runs]
        elif stretches.finished:
            return stretches.result
        else:
            tasks = [
                Stretch(run[at:], state, keep) for run, (at, state, keep) in zip(runs, stretches.parts, strict=True)
            ]
        stop = Event()
        way = partial(fold_stretch, self._blocks, fold, meter, stop)
        result = run_folds(tasks, way, merge, state_bytes=state_bytes, stop=stop)
        if stretches is not None:
            stretches.finish(result)
        return result

    def map_rows(self, local: Callable[[Block], Array]) -> Array:
        """Stack ``local(block)`` over all blocks: one pass, and n rows out, held in memory."""
        first = local(self.block(0))
        if self.n_blocks == 1:
            return first
        out = np.empty((self.n_rows, *first.shape[1:]), dtype=first.dtype)
        self.reduce(_Fill(local, out), _nothing)
        return out

    def map_blocks(self, local: Callable[[Block], Array]) -> Iterator[Array]:
        """Yield ``local(block)`` block after block, read ahead by one: for results that are written, not held."""
        meter = Meter(self._say, self.file.origin, self.n_rows, self.n_rows * self.file.row_bytes)
        for block in read_ahead(self._blocks(self._windows)):
            yield local(block)
            meter.add(block.rows.shape[0])

    def reduce_pairs(self, fold: PairFold, merge: Merge, *, symmetric: bool, block_rows: int | None = None) -> Any:
        """Fold pairs of blocks into one value; with ``symmetric`` only the pairs i <= j.

        Two panels of many blocks are held at a time, so that the file is read once for every panel, not once for
        every block; a file that fits one panel is read once.
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
        """What is taken of the files: the columns in their order, the type, and the weights."""
        names = self.file.names if self.facts is None else [column.name for column in self.facts.used]
        weights = "" if self.weights is None else hashlib.sha256(to_host(self.weights).tobytes()).hexdigest()
        return repr((None if names is None else list(names), self.file.shape, str(self.dtype), weights))

    def _panels(self, tiles: list[slice]) -> list[list[slice]]:
        room = max(1, self.budget // PANEL_SHARE // max(1, self.file.row_bytes))
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
        """Rows a window: what suits a cache, more for a large running value, within a part of the budget."""
        row = max(1, self.file.row_bytes)
        length = block_length(row)
        if self.is_sparse:
            length = max(length, min(120 * self.n_columns, SPARSE_WINDOW) // row)
        # Adding to a running value costs a look at all of it: a window has four times its size, or part of a large one.
        wanted = large_block(state_bytes) if state_bytes > LARGE_STATE else min(4 * state_bytes, WINDOW)
        length = max(length, wanted // row)
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
        """Look at every file: after each window when they are few, else now and then and at the end of a stretch."""
        if len(self.file.stamps) > MANY_FILES and not now and monotonic() - self._looked < SOME_SECONDS:
            return
        self._looked = monotonic()
        for stamp in self.file.stamps:
            stamp.require_unchanged()


@dataclass(frozen=True, eq=False)
class _Fill:
    """Write ``local(block)`` to its rows of an array that is there already."""

    local: Callable[[Block], Array]
    out: Array

    def __call__(self, _state: None, block: Block) -> None:
        self.out[block.start : block.start + block.rows.shape[0], ...] = self.local(block)


def _pair(fold: PairFold) -> Callable[[Any, tuple[Block, Block]], Any]:
    return lambda state, pair: fold(state, *pair)


def _nothing(_left: Any, _right: Any) -> None:
    return None
