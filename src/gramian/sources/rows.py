"""The contract of a row source, and the schedule that in-memory sources share.

A source owns the order of work: how many rows a block has, how many threads run, how partial results
are put together. Everything above it (moments, operators, scores) is written as small callables:

``fold(state, block) -> state``
    take one more block into a running value; ``state`` is ``None`` at the start, and may be reused.
``merge(left, right) -> state``
    put two running values together; may reuse ``left``.

Blocks go to workers in contiguous runs and runs are merged in order, so a result never depends on who
finished first; with another number of workers it differs by rounding alone.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, wait
from functools import partial, reduce
from itertools import pairwise
from threading import Event
from typing import Any, NamedTuple

import numpy as np

from gramian.arrays.namespace import Array, device_of, namespace_of
from gramian.errors import NotSupportedError
from gramian.planning.machine import LARGE_STATE, MEGABYTE, as_worker, blas_threads, cores, worker_pool

BLOCK_ROWS = 2048
"""Enough rows, or columns, in a block for a product at full speed (measured for 100 to 1,000 columns)."""

SMALL_BLOCK, LARGE_BLOCK = MEGABYTE, 16 * MEGABYTE
"""Bytes that a block has at least, so that calls are few, and at most, so that a worker's memory stays small."""

ONE_WORKER = LARGE_STATE + 1
"""``state_bytes`` that asks for one worker and BLAS's own threads: for folds that are BLAS calls and nothing else."""


class Block(NamedTuple):
    """Consecutive rows of a source.

    ``rows`` is (b, d): a dense array, or a SciPy CSR array when the source is sparse; ``start`` is the
    position of the first row; ``weights`` is (b,) or ``None``.
    """

    rows: Array
    start: int
    weights: Array | None


class ColumnBlock(NamedTuple):
    """All rows of consecutive columns: ``columns`` is (n, c), ``start`` the first column's position."""

    columns: Array
    start: int
    weights: Array | None


Fold = Callable[[Any, Block], Any]
PairFold = Callable[[Any, Block, Block], Any]
Merge = Callable[[Any, Any], Any]


class RowSource(ABC):
    """n rows of d numbers that can be read again and again, one block at a time.

    Attributes
    ----------
    n_rows, n_columns : int
        n and d.
    dtype : numpy.dtype
        float32 or float64: the precision of the rows.
    column_names : tuple of str or None
    weights : array (n,) or None
        Repetitions of each row.
    is_sparse : bool
        Whether blocks are CSR.
    has_columns : bool
        Whether :meth:`reduce_columns` works: the rows are in memory and a range of columns is cheap.
    is_local : bool
        Whether passes run in this process, so that a fold may write into an array of the caller. Where they do not,
        :meth:`map_rows` is lazy (see :func:`rows_here`).
    """

    n_rows: int
    n_columns: int
    dtype: np.dtype[Any]
    column_names: tuple[str, ...] | None
    weights: Array | None
    is_sparse: bool
    has_columns: bool
    is_local: bool = True

    @property
    @abstractmethod
    def n_entries(self) -> int:
        """Stored numbers: n d for dense rows."""

    @property
    @abstractmethod
    def n_blocks(self) -> int:
        """Number of blocks that :meth:`block` can give."""

    @property
    def sampled_blocks(self) -> Sequence[int]:
        """Blocks to look at for a first idea of the mean: at most some dozens, spread evenly, cheap to read."""
        return range(0, self.n_blocks, max(1, self.n_blocks // 32))

    @abstractmethod
    def block(self, i: int) -> Block:
        """Return block ``i``."""

    def locate(self, row: int) -> tuple[str | None, int]:
        """Return the file in which a row stands, if it stands in one, and its position there."""
        return None, row

    def block_sizes(self) -> list[int]:
        """Return the number of rows of each block."""
        return [self.block(i).rows.shape[0] for i in range(self.n_blocks)]

    def evenly(self, count: int) -> Iterable[Array]:
        """Give about ``count`` rows, spread evenly over the sampled blocks: one piece a block, one at a time."""
        blocks = self.sampled_blocks
        each = -(-count // len(blocks))
        pieces = (self.block(i).rows for i in blocks)
        return (rows[:: max(1, rows.shape[0] // each), :] for rows in pieces)

    @abstractmethod
    def like(self) -> Array:
        """Return a small array of the library and device that the blocks have (NumPy for sparse rows)."""

    @abstractmethod
    def reduce(self, fold: Fold, merge: Merge, *, state_bytes: int = 0) -> Any:
        """Fold every block into one value: one pass over the rows.

        ``state_bytes`` is the size of a running value; a source uses it to choose its blocks and workers.
        """

    @abstractmethod
    def map_rows(self, local: Callable[[Block], Array]) -> Array:
        """Stack ``local(block)`` over all blocks: one pass, n rows out."""

    def reduce_columns(self, fold: Callable[[Any, ColumnBlock], Any], merge: Merge, *, state_bytes: int = 0) -> Any:
        """Fold blocks of columns into one value: one pass; only where ``has_columns``, refused elsewhere."""
        del fold, merge, state_bytes
        message = f"{type(self).__name__} is read by rows: blocks of columns cannot be had (has_columns is False)."
        raise NotSupportedError(message)

    @abstractmethod
    def reduce_pairs(self, fold: PairFold, merge: Merge, *, symmetric: bool, block_rows: int | None = None) -> Any:
        """Fold pairs of blocks into one value; with ``symmetric`` only the pairs i <= j.

        Blocks have at most ``block_rows`` rows where it is given: the tiles of a kernel matrix must fit a cache.
        """


def block_length(bytes_each: int) -> int:
    """Return how many rows (or columns) of ``bytes_each`` make a block.

    Examples
    --------
    >>> block_length(800), block_length(8 * 100_000)
    (2048, 20)
    """
    bytes_each = max(bytes_each, 1)
    return max(16, min(max(BLOCK_ROWS, SMALL_BLOCK // bytes_each), LARGE_BLOCK // bytes_each))


def ranges(total: int, step: int) -> list[slice]:
    """Cut ``range(total)`` into slices of ``step``.

    Examples
    --------
    >>> ranges(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return [slice(start, min(start + step, total)) for start in range(0, total, step)]


def even_ranges(total: int, step: int) -> list[slice]:
    """Cut ``range(total)`` into slices of ``step`` or somewhat less, of one size and as many for each worker.

    Examples
    --------
    >>> [part.stop for part in even_ranges(5, 8)]
    [5]
    >>> len(even_ranges(30, 10)) <= 2 * len(ranges(30, 10))
    True
    """
    count = -(-total // step)
    workers = max(min(worker_count(), count), 1)
    return ranges(total, -(-total // max(-(-count // workers) * workers, 1)) or step)


def run_folds(
    tasks: Sequence[Any],
    fold: Callable[[Any, Any], Any],
    merge: Merge,
    *,
    state_bytes: int = 0,
    stop: Event | None = None,
) -> Any:
    """Fold ``tasks`` in contiguous runs, one a worker, and merge the runs in order.

    Several workers run with one BLAS thread each. The calling thread is one of them: it has a core already, and threads
    that are all woken at once may be put on one core for as long as a short pass takes. One worker is used, with
    threaded BLAS, when there is one task or when a running value is too large to be held once a worker. ``stop`` is set
    when the pass is given up (Ctrl-C, or a fold that raises): workers look at it between tasks, and a fold whose tasks
    are long should do so too.
    """
    workers = 1 if len(tasks) < 2 or state_bytes > LARGE_STATE else min(worker_count(), len(tasks))
    if workers == 1 and stop is None:
        return reduce(fold, tasks, None)
    stop = stop or Event()
    if workers == 1:
        return _fold_run(tasks, fold, stop)
    bounds = [round(w * len(tasks) / workers) for w in range(workers + 1)]
    runs = [tasks[low:high] for low, high in pairwise(bounds)]
    futures: list[Future[Any]] = []
    with as_worker():
        try:
            futures += (worker_pool(workers - 1).submit(_fold_run, run, fold, stop) for run in runs[1:])
            state = _fold_run(runs[0], fold, stop)
            wait(futures)
        except BaseException as reason:
            stop.set()
            if isinstance(reason, Exception):  # Ctrl-C is answered at once
                wait(futures)
            raise
    return reduce(merge, [state, *(future.result() for future in futures)])


def rows_here(rows: Array) -> Array:
    """Return what ``map_rows`` gave as an array in memory: a lazy one is computed now, any other is as it should be."""
    from gramian.sources.cluster import computed, is_dask

    return computed(rows) if is_dask(rows) else rows


def require_local(source: RowSource, what: str) -> None:
    """Refuse rows that are elsewhere for work that would bring all of them here."""
    if not source.is_local:
        message = f"{what} needs all rows in this process, and these are Dask's. Pass X.compute() if they fit here."
        raise NotSupportedError(message)


def stack_rows(source: RowSource, local: Callable[[Block], Array]) -> Array:
    """Stack ``local(block)`` over all blocks of an in-memory source, filled in place by workers."""
    first = local(source.block(0))
    if source.n_blocks == 1:
        return first
    xp = namespace_of(first)
    out = xp.empty((source.n_rows, *first.shape[1:]), dtype=first.dtype, **device_of(first))
    out[: first.shape[0], ...] = first
    run_folds(range(1, source.n_blocks), partial(_fill, source, local, out), _first)
    return out


def fold_pairs(
    source: RowSource,
    fold: PairFold,
    merge: Merge,
    *,
    symmetric: bool,
    block_rows: int | None = None,
    cut: Callable[[slice], Block] | None = None,
) -> Any:
    """Fold the pairs of blocks of an in-memory source, row by row of the square of pairs.

    With ``block_rows`` the blocks are pieces of that many rows: cut from the whole where ``cut`` can do so, from the
    source's own blocks, which are then never joined, where it cannot.
    """
    pieces = _pieces(source, block_rows, cut)
    count = len(pieces)
    pairs = [(i, j) for i in range(count) for j in range(i if symmetric else 0, count)]
    return run_folds(pairs, lambda state, ij: fold(state, pieces[ij[0]](), pieces[ij[1]]()), merge)


def worker_count() -> int:
    """Return how many workers may run: never more than the cores, nor than the BLAS threads now allowed."""
    return min(cores(), blas_threads())


def _pieces(
    source: RowSource, block_rows: int | None, cut: Callable[[slice], Block] | None
) -> list[Callable[[], Block]]:
    """Return what gives each block, or piece of a block, when it is called."""
    if block_rows is None:
        return [partial(source.block, i) for i in range(source.n_blocks)]
    if cut is not None:
        return [partial(cut, rows) for rows in ranges(source.n_rows, block_rows)]
    sizes = source.block_sizes()
    return [partial(_part, source, i, rows) for i, size in enumerate(sizes) for rows in ranges(size, block_rows)]


def _part(source: RowSource, i: int, rows: slice) -> Block:
    block = source.block(i)
    return Block(block.rows[rows], block.start + rows.start, None if block.weights is None else block.weights[rows])


def _fill(source: RowSource, local: Callable[[Block], Array], out: Array, _state: None, i: int) -> None:
    block = source.block(i)
    out[block.start : block.start + block.rows.shape[0], ...] = local(block)


def _first(left: Any, _right: Any) -> Any:
    return left


def _fold_run(tasks: Sequence[Any], fold: Callable[[Any, Any], Any], stop: Event) -> Any:
    state = None
    for task in tasks:
        if stop.is_set():  # nobody waits for the result any more
            break
        try:
            state = fold(state, task)
        except BaseException:
            stop.set()  # what the others would still do is for nothing
            raise
    return state
