"""The contract of a row source, and the schedule of passes that sources share.

A source declares its facts (shape, type, where its rows are) and owns the order of work: how many rows a block has, how
many threads run, how partial results are merged. Nobody asks for its type. Everything above it (moments, operators,
scores) is written as small callables:

``fold(state, block) -> state``
    take one more block into a running value; ``state`` is ``None`` at the start, and may be reused.
``merge(left, right) -> state``
    put two running values together; may reuse ``left``.

Blocks go to workers in contiguous runs, and runs are merged in pairs of neighbors, so that a result never depends on
which worker finished first; with another number of workers it differs by rounding alone.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial, reduce
from itertools import pairwise
from operator import concat
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gramian.arrays.namespace import Array, HostArray, device_of, is_dask, namespace_of
from gramian.errors import NotSupportedError
from gramian.machine import (
    MEGABYTE,
    all_blas_threads,
    as_worker,
    memory_budget,
    worker_count,
    worker_pool,
    workers_for,
)

if TYPE_CHECKING:
    from gramian.sources.table_facts import TableFacts

BLOCK_ROWS = 2048
"""Enough rows, or columns, in a block for a product at full speed (measured for 100 to 1,000 columns)."""

SMALL_BLOCK, LARGE_BLOCK = MEGABYTE, 16 * MEGABYTE
"""Bytes that a block has at least, so that calls are few, and at most, so that a worker's memory stays small."""


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

    A new kind of rows is one final subclass with its shape, its type, :attr:`n_blocks` and :meth:`block`. All else has
    defaults: facts are those of dense rows in this process, and passes go over the blocks by the schedule of this
    module. :class:`~gramian.testing.RowSourceSuite` checks the rest.

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
        :meth:`map_rows` is lazy (see :func:`rows_here`) and :meth:`map_against` works.
    on_disk : bool
        Whether each pass reads the rows anew, from a file or by Dask, so that passes cost more than operations.
    collection : Dask array, data frame or None
        What the rows are of where they are not local.
    facts : TableFacts or None
        What each column of a table file is used for.
    row_shape : tuple of int or None
        The shape that rows had before they were flattened, such as height and width of an image.
    label_names : tuple of str
        What :meth:`labels` can give, the likeliest first.
    id_name : str or None
        What :meth:`ids` are called, where the rows have names.
    remarks : tuple of str
        What a person should know of how the rows were read.
    origin : RowSource or None
        The rows on the host of which these are a copy on a device, moved there for a fit.
    moved : str
        How they were moved, in words.
    """

    n_rows: int
    n_columns: int
    dtype: np.dtype[Any]
    column_names: tuple[str, ...] | None = None
    weights: Array | None = None
    is_sparse: bool = False
    has_columns: bool = False
    is_local: bool = True
    on_disk: bool = False
    collection: Any = None
    facts: "TableFacts | None" = None
    row_shape: tuple[int, ...] | None = None
    label_names: tuple[str, ...] = ()
    id_name: str | None = None
    remarks: tuple[str, ...] = ()
    origin: "RowSource | None" = None
    moved: str = ""

    @property
    def n_entries(self) -> int:
        """Stored numbers: n d for dense rows."""
        return self.n_rows * self.n_columns

    @property
    def whole(self) -> Array | None:
        """All rows as one array, or one CSR array, where they are so in memory; ``None`` where they are not."""
        return None

    def copied(self) -> "RowSource":
        """Return a source whose rows in memory are its own; rows that are elsewhere cannot be changed."""
        return self

    @property
    def files(self) -> tuple[Path, ...]:
        """Files that the rows are read from."""
        return ()

    @property
    def pass_bytes(self) -> int:
        """Bytes that a pass holds at most: per worker a block, a copy of it in float64, and what is made of it."""
        return (min(2 * LARGE_BLOCK, 2 * 8 * self.n_entries) + 6 * MEGABYTE) * worker_count()

    @property
    @abstractmethod
    def n_blocks(self) -> int:
        """Number of blocks that :meth:`block` can give."""

    @property
    def sampled_blocks(self) -> Sequence[int]:
        """Blocks that a sample of the rows is taken from: at most some dozens, spread evenly, cheap to read."""
        return range(0, self.n_blocks, max(1, self.n_blocks // 32))

    @abstractmethod
    def block(self, i: int) -> Block:
        """Return block ``i``."""

    def locate(self, row: int) -> tuple[str | None, int]:
        """Return the file that a row is in, if it is in one, and its position there."""
        return None, row

    def labels(self, name: str | None = None) -> HostArray | None:  # noqa: ARG002 - most rows have none
        """Return the label of each row, by default the first one's, n strings, where the rows have labels."""
        return None

    def ids(self) -> HostArray | None:
        """Return the name of each row, n strings, where the rows have names."""
        return None

    def block_sizes(self) -> list[int]:
        """Return the number of rows of each block."""
        return [self.block(i).rows.shape[0] for i in range(self.n_blocks)]

    def evenly(self, count: int) -> Iterable[Array]:
        """Give about ``count`` rows, spread evenly over the sampled blocks: one piece per block, one at a time."""
        blocks = self.sampled_blocks
        each = -(-count // len(blocks))
        pieces = (self.block(i).rows for i in blocks)
        return (rows[:: max(1, rows.shape[0] // each), :] for rows in pieces)

    def like(self) -> Array:
        """Return a small array of the library and device that results have: NumPy's, unless rows are in another."""
        return np.empty((0, 0), dtype=self.dtype)

    def spread(self, values: HostArray) -> Array:
        """Return n rows that are here laid out as :meth:`map_rows` lays out its result."""
        return values

    def reduce(self, fold: Fold, merge: Merge, *, state_bytes: int = 0) -> Any:
        """Fold every block into one value: one pass over the rows.

        ``state_bytes`` is the size of a running value; a source uses it to choose its blocks and workers.
        """
        workers = workers_for(state_bytes, room=memory_budget() // 8)
        return run_folds(range(self.n_blocks), partial(fold_block, self, fold), merge, workers=workers)

    def map_rows(self, local: Callable[[Block], Array]) -> Array:
        """Stack ``local(block)`` over all blocks: one pass, n rows out."""
        return stack_rows(self, local)

    def map_blocks(self, local: Callable[[Block], Array]) -> Iterator[Array]:
        """Give ``local(block)`` block after block: for results that are written to a file, not held."""
        return (local(self.block(i)) for i in range(self.n_blocks))

    def map_against(
        self, other: "RowSource", fold: PairFold, finish: Callable[[Any, Block], Array], *, example: HostArray
    ) -> Array:
        """Return ``finish(state, block)`` stacked lazily, the state of each block folded over all rows of ``other``.

        Only where neither source is local; refused elsewhere. ``example`` is a result without rows.
        """
        del other, fold, finish, example
        message = f"{type(self).__name__} has its rows in this process: map_rows works on them."
        raise NotSupportedError(message)

    def reduce_columns(self, fold: Callable[[Any, ColumnBlock], Any], merge: Merge, *, state_bytes: int = 0) -> Any:
        """Fold blocks of columns into one value: one pass; only where ``has_columns``, refused elsewhere."""
        del fold, merge, state_bytes
        message = f"{type(self).__name__} is read by rows: blocks of columns cannot be had (has_columns is False)."
        raise NotSupportedError(message)

    def reduce_pairs(self, fold: PairFold, merge: Merge, *, symmetric: bool, block_rows: int | None = None) -> Any:
        """Fold pairs of blocks into one value; with ``symmetric`` only the pairs i <= j.

        Blocks have at most ``block_rows`` rows where it is given: the tiles of a kernel matrix must fit a cache.
        """
        return fold_pairs(self, fold, merge, symmetric=symmetric, block_rows=block_rows)


class WrappedRows(RowSource):
    """The rows of another source, changed or counted on their way: it has the facts of that source.

    Parameters
    ----------
    source : RowSource
    """

    def __init__(self, source: RowSource) -> None:
        self.source = source
        self.n_rows, self.n_columns, self.dtype = source.n_rows, source.n_columns, source.dtype
        self.column_names, self.weights, self.facts = source.column_names, source.weights, source.facts
        self.is_sparse, self.has_columns = source.is_sparse, source.has_columns
        self.is_local, self.on_disk = source.is_local, source.on_disk
        self.row_shape, self.remarks = source.row_shape, source.remarks
        self.label_names, self.id_name = source.label_names, source.id_name

    @property
    def n_entries(self) -> int:
        """Stored numbers of the source."""
        return self.source.n_entries

    @property
    def files(self) -> tuple[Path, ...]:
        """Files that the rows are read from."""
        return self.source.files

    @property
    def pass_bytes(self) -> int:
        """Bytes that a pass of the source holds at most."""
        return self.source.pass_bytes

    @property
    def n_blocks(self) -> int:
        """Number of blocks of the source."""
        return self.source.n_blocks

    def block_sizes(self) -> list[int]:
        """Return the number of rows of each block."""
        return self.source.block_sizes()

    def locate(self, row: int) -> tuple[str | None, int]:
        """Return the file that a row is in, and its position there."""
        return self.source.locate(row)

    def labels(self, name: str | None = None) -> HostArray | None:
        """Return the label of each row."""
        return self.source.labels(name)

    def ids(self) -> HostArray | None:
        """Return the name of each row."""
        return self.source.ids()

    def like(self) -> Array:
        """Return a small array of the source."""
        return self.source.like()

    def spread(self, values: HostArray) -> Array:
        """Return n rows that are here laid out as those of the source."""
        return self.source.spread(values)


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


def even_ranges(total: int, step: int, workers: int | None = None) -> list[slice]:
    """Cut ``range(total)`` into slices of ``step`` or somewhat less, of one size and as many for each worker.

    Examples
    --------
    >>> [part.stop for part in even_ranges(5, 8, 2)]
    [5]
    >>> [part.stop for part in even_ranges(50, 10, 4)]
    [7, 14, 21, 28, 35, 42, 49, 50]
    """
    count = -(-total // step)
    workers = max(min(workers or worker_count(), count), 1)
    return ranges(total, -(-total // max(-(-count // workers) * workers, 1)) or step)


def run_folds(
    tasks: Sequence[Any],
    fold: Callable[[Any, Any], Any],
    merge: Merge,
    *,
    workers: int | None = None,
    stop: Event | None = None,
) -> Any:
    """Fold ``tasks`` in contiguous runs, one per worker, and merge the runs: neighbors first, then pairs of pairs.

    There are as many workers as :func:`~gramian.machine.worker_count` allows unless ``workers`` says otherwise, each
    with one BLAS thread; where ``workers`` is one, BLAS has its threads. The calling thread is one of them. ``stop`` is
    set when the pass is given up (Ctrl-C, or a fold that raises): workers look at it between tasks, and a fold whose
    tasks are long should do so too.
    """
    allowed = worker_count()
    if workers == 1 and allowed > 1:  # of a running value that is held once
        with all_blas_threads():
            return _fold_run(tasks, fold, stop or Event())
    workers = max(min(workers or allowed, len(tasks)), 1)
    if workers == 1 and stop is None:
        return reduce(fold, tasks, None)
    stop = stop or Event()
    if workers == 1:
        return _fold_run(tasks, fold, stop)
    bounds = [round(w * len(tasks) / workers) for w in range(workers + 1)]
    runs = [tasks[low:high] for low, high in pairwise(bounds)]
    share_out = partial(_shared_out, worker_pool(max(allowed - 1, 1)), stop)
    with as_worker():
        states = share_out(partial(_fold_run, fold=fold, stop=stop), [(run,) for run in runs])
        while len(states) > 1:
            odd = states[-1:] if len(states) % 2 else []
            states = share_out(merge, list(zip(states[::2], states[1::2], strict=False))) + odd
    return states[0]


def run_each(tasks: Sequence[Any], work: Callable[[Any], Any]) -> list[Any]:
    """Return what ``work`` gives for each of one or more tasks, in order, shared out as by :func:`run_folds`."""
    done: list[Any] = run_folds(tasks, lambda state, task: [*(state or []), work(task)], concat)
    return done


def _shared_out(
    pool: ThreadPoolExecutor, stop: Event, work: Callable[..., Any], calls: Sequence[tuple[Any, ...]]
) -> list[Any]:
    """Make each call in a worker of its own, the first one here, and return the results in order."""
    futures: list[Future[Any]] = []
    try:
        futures += (pool.submit(work, *call) for call in calls[1:])
        first = work(*calls[0])
        wait(futures)
    except BaseException as reason:
        stop.set()
        if isinstance(reason, Exception):  # Ctrl-C is answered at once
            wait(futures)
        raise
    return [first, *(future.result() for future in futures)]


def rows_here(rows: Array) -> Array:
    """Return what ``map_rows`` gave as an array in memory: a lazy one is computed now, any other is as it should be."""
    if not is_dask(rows):
        return rows
    from gramian.sources.dask import computed

    return computed(rows)


def require_local(source: RowSource, what: str) -> None:
    """Refuse rows that are elsewhere for work that would bring all of them here."""
    if not source.is_local:
        message = f"{what} needs all rows in this process, and these are Dask's. Pass X.compute() if they fit here."
        raise NotSupportedError(message)


def stack_rows(
    source: RowSource, local: Callable[[Block], Array], *, pieces: Sequence[Callable[[], Block]] | None = None
) -> Array:
    """Stack ``local(block)`` over all blocks of an in-memory source, filled in place by workers.

    ``pieces`` give the rows in other cuts than the source's blocks.
    """
    pieces = pieces or [partial(source.block, i) for i in range(source.n_blocks)]
    first = pieces[0]()
    if len(pieces) == 1:
        return local(first)
    # One row tells shape and type; then all pieces go to the workers, none to BLAS's threads, which would spin on.
    row = local(_part(first, slice(0, 1)))
    xp = namespace_of(row)
    out = xp.empty((source.n_rows, *row.shape[1:]), dtype=row.dtype, **device_of(row))
    run_each(pieces, lambda piece: fill_rows(local, out, None, piece()))
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
    if cut is not None:  # pieces are views of what is in memory: made once, not once per pair
        blocks = [piece() for piece in pieces]
        return run_folds(pairs, lambda state, ij: fold(state, blocks[ij[0]], blocks[ij[1]]), merge)
    return run_folds(pairs, lambda state, ij: fold(state, pieces[ij[0]](), pieces[ij[1]]()), merge)


def _pieces(
    source: RowSource, block_rows: int | None, cut: Callable[[slice], Block] | None
) -> list[Callable[[], Block]]:
    """Return what gives each block, or piece of a block, when it is called."""
    if block_rows is None:
        return [partial(source.block, i) for i in range(source.n_blocks)]
    if cut is not None:
        return [partial(cut, rows) for rows in ranges(source.n_rows, block_rows)]
    sizes = source.block_sizes()
    return [partial(_part_of, source, i, rows) for i, size in enumerate(sizes) for rows in ranges(size, block_rows)]


def _part_of(source: RowSource, i: int, rows: slice) -> Block:
    return _part(source.block(i), rows)


def _part(block: Block, rows: slice) -> Block:
    return Block(block.rows[rows], block.start + rows.start, None if block.weights is None else block.weights[rows])


def fold_block(source: RowSource, fold: Fold, state: Any, i: int) -> Any:
    """Fold block ``i``."""
    return fold(state, source.block(i))


def fill_rows(local: Callable[[Block], Array], out: Array, _state: None, block: Block) -> None:
    """Write ``local(block)`` to its rows of an array that is there already."""
    out[block.start : block.start + block.rows.shape[0], ...] = local(block)


def all_rows(source: RowSource) -> Array:
    """Return all rows as one array where they live, CSR from sparse ones: a pass where they are not one in memory."""
    if source.is_sparse and source.whole is None:
        from scipy.sparse import vstack

        return vstack(list(source.map_blocks(rows_of)), format="csr")
    if source.whole is None:
        return source.map_rows(rows_of)
    return source.whole if source.is_sparse else source.whole[:, :]


def rows_of(block: Block) -> Array:
    """Return the rows of a block: what :meth:`RowSource.map_rows` stacks where the rows themselves are wanted."""
    return block.rows


def rows_by_pass(source: RowSource, local: Callable[[Block], Array]) -> Array:
    """Stack ``local(block)`` over all blocks of a source by a pass of its own schedule, filled in place."""
    first = local(source.block(0))
    if source.n_blocks == 1:
        return first
    out = namespace_of(first).empty((source.n_rows, *first.shape[1:]), dtype=first.dtype, **device_of(first))
    source.reduce(partial(fill_rows, local, out), left_of)
    return out


def left_of(left: Any, _right: Any) -> Any:
    """Merge by keeping the left value: for folds that leave none."""
    return left


def add_each(left: Any, right: Any) -> tuple[Any, ...]:
    """Merge by adding what stands at the same place: for folds that leave several sums."""
    return tuple(one + other for one, other in zip(left, right, strict=True))


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
