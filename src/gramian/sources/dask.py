"""Rows of a Dask array or data frame: every pass is a tree of tasks on the workers, and only small results travel.

Three parts: the source (:class:`DaskRows`), which lays out the tasks of a pass; what a worker does with a chunk of rows
(:class:`Chunk` and the functions around it); and running tasks, by :func:`computed` alone, on the cluster of the
current ``Client`` or in the threads of this process.

A chunk is opened on the worker that holds it by :func:`~gramian.sources.opening.as_source`, as any other X, and folded
there. Running values come back, merged along a tree that depends on the chunks alone.
"""

import sys
from asyncio import CancelledError as LoopCancelled
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy

from gramian.arrays.namespace import Array, HostArray, cast, is_numpy, is_sparse
from gramian.errors import ClusterLostError, InputError, NotSupportedError
from gramian.machine import MEGABYTE, one_blas_thread
from gramian.sources.conversion import require_real_kind, working_dtype
from gramian.sources.dense import DenseRows
from gramian.sources.finiteness import require_finite
from gramian.sources.locations import Names
from gramian.sources.rows import Block, Fold, Merge, PairFold, RowSource, ranges
from gramian.sources.sparse import SparseRows, sparse_pass_bytes
from gramian.sources.table import open_table


class DaskRows(RowSource):
    """Rows of a Dask array (n, d) or data frame, dense or with CSR chunks, never collected.

    Parameters
    ----------
    collection : dask array (n, d) or data frame
        Chunked in any way: an array that is cut between columns is rechunked, lazily, to whole rows. Chunks may be
        dense (any real type) or SciPy sparse, all of one kind.
    weights : numpy array (n,), optional
        Repetitions of each row.
    column_names : tuple of str, optional

    Notes
    -----
    Cost: a pass computes every chunk again, so rows that are expensive to make are better persisted first
    (``X = X.persist()``). Unknown chunk sizes and sparse chunks take one more pass, to count rows and entries. A sample
    of rows computes four chunks. Results of the size of a fold (d x k, d x d) come to the client, and n x k
    numbers where eigenvectors have n entries: dual PCA and exact kernel PCA.

    Not for rows that fit into memory: a task costs about a millisecond, whatever is in it.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> rows = DaskRows(da.from_array(np.arange(6.0).reshape(3, 2), chunks=(2, 1)))
    >>> rows.n_rows, rows.n_columns, rows.n_chunks
    (3, 2, 2)
    >>> rows.reduce(lambda s, b: b.rows.sum() + (s or 0.0), lambda a, b: a + b)
    np.float64(15.0)
    """

    is_local = False
    on_disk = True

    def __init__(
        self, collection: Any, *, weights: HostArray | None = None, column_names: tuple[str, ...] | None = None
    ) -> None:
        sizes: Sequence[float] = ()
        if hasattr(collection, "columns"):
            array, names = open_table(made_up_row(collection))
            self.is_sparse, self.n_columns = is_sparse(array), array.shape[1]
        else:
            collection, names = _whole_rows(collection), None
            array, sizes = declared(collection), collection.chunks[0]
            self.is_sparse, self.n_columns = hasattr(array, "tocsr"), collection.shape[1]
        require_real_kind(np.dtype(array.dtype))
        self.collection, self.weights, self.column_names = collection, weights, column_names or names
        self.dtype = working_dtype(np.empty(0, array.dtype))
        self._pieces = list(np.ravel(np.array(collection.to_delayed(), dtype=object)))
        self._declared = None if not sizes or np.isnan(sum(sizes)) else [int(size) for size in sizes]
        self._opening = ChunkOpening(self.dtype, self.is_sparse, self.n_columns, self.column_names)
        self.block_rows = max(16, min(2048, MEGABYTE // (self.n_columns * self.dtype.itemsize)))

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """Number of rows; a pass of its own where chunk sizes are not known."""
        return sum(self.sizes)

    @property
    def n_chunks(self) -> int:
        """Number of chunks, empty ones too."""
        return len(self._pieces)

    @cached_property
    def sizes(self) -> list[int]:
        """Rows of each chunk."""
        sizes = self._declared or [rows for rows, _ in self._counted]
        if sum(sizes) == 0:
            message = (
                f"Found array with 0 sample(s) (shape={(0, self.n_columns)}) while a minimum of 1 is required. "
                "Check the filter or the files that X comes from."
            )
            raise InputError(message)
        return sizes

    @property
    def n_entries(self) -> int:
        """Stored numbers; a pass of its own for sparse chunks."""
        return sum(entries for _, entries in self._counted) if self.is_sparse else self.n_rows * self.n_columns

    @property
    def pass_bytes(self) -> int:
        """Bytes that a pass holds at most in addition to chunks, where the threads of this process work on them."""
        return sparse_pass_bytes(self) if self.is_sparse else super().pass_bytes

    @property
    def n_blocks(self) -> int:
        """Number of blocks that :meth:`block` can give: pieces of a megabyte of each chunk."""
        return len(self._block_parts)

    def block_sizes(self) -> list[int]:
        """Return the number of rows of each block, without computing one."""
        return [rows.stop - rows.start for _, rows in self._block_parts]

    def block(self, i: int) -> Block:
        """Return block ``i``: its chunk is computed where it lives, the block alone comes here."""
        chunk, rows = self._block_parts[i]
        block: Block = computed(task(cut_chunk, rows, *self._chunk(chunk)))
        return block

    def evenly(self, count: int) -> list[Array]:
        """Return about ``count`` rows, spread evenly over four chunks: each of them is computed once more for it."""
        filled = self._filled()
        chosen = filled[:: max(1, -(-len(filled) // 4))]
        each = -(-count // len(chosen))
        return list(computed([task(spread_rows, each, *self._chunk(i)) for i in chosen]))

    def reduce(self, fold: Fold, merge: Merge, *, state_bytes: int = 0) -> Any:
        """Fold every chunk into one value, by a tree of merges on the workers."""
        folded, merged = shared(fold), shared(merge)
        states = [task(fold_chunk, folded, merged, state_bytes, *chunk) for chunk in self.filled_chunks()]
        fan_in = max(2, min(8, 64 * MEGABYTE // max(1, state_bytes)))  # a task that merges holds 64 MB of values
        return computed(_tree(states, merged, fan_in))

    def map_rows(self, local: Callable[[Block], Array]) -> Any:
        """Return ``local(block)`` stacked as a Dask array, lazily; NaN and infinity are refused when it is computed."""
        with np.errstate(all="ignore"):
            example = np.asarray(local(self._opening.probe()))[:0]
        mapped, none = shared(local), shared(example)
        parts = [task(map_chunk, mapped, none, *self._chunk(i, lazily=True)) for i in range(self.n_chunks)]
        return self._stacked(parts, example)

    def map_blocks(self, local: Callable[[Block], Array]) -> Iterator[Array]:
        """Yield ``local(block)`` block after block, for results that are written: each chunk comes here once, alone."""
        for i in self._filled():
            whole: Block = computed(task(cut_chunk, slice(0, self.sizes[i]), *self._chunk(i)))
            for rows in ranges(self.sizes[i], self.block_rows):
                weights = None if whole.weights is None else whole.weights[rows]
                yield local(Block(whole.rows[rows], whole.start + rows.start, weights))

    def map_against(
        self, other: Any, fold: PairFold, finish: Callable[[Any, Block], Array], *, example: HostArray
    ) -> Any:
        """Return ``finish(state, block)`` of each chunk stacked lazily, its state folded over every chunk of ``other``.

        ``other`` is Dask's too. ``example`` is a result without rows. Cost: a task for each pair of chunks.
        """
        folded, finished, none = shared(fold), shared(finish), shared(example)
        others = other.filled_chunks()
        parts = []
        for i in range(self.n_chunks):
            state, mine = None, self._chunk(i, lazily=True)
            for theirs in others:
                state = task(expand_chunk, folded, state, *mine, *theirs)
            parts.append(task(finish_chunk, finished, state, none, *mine))
        return self._stacked(parts, example)

    def spread(self, values: HostArray) -> Any:
        """Return n rows that are here as a Dask array in chunks like those of these rows."""
        import dask.array as da

        return da.from_array(values, chunks=(tuple(self.sizes), *values.shape[1:]))

    def reduce_pairs(self, fold: PairFold, merge: Merge, *, symmetric: bool, block_rows: int | None = None) -> Any:
        """Fold pairs of blocks into one value; with ``symmetric`` only the pairs i <= j.

        Pairs of chunks are worked off in as many chains as there are chunks, of equal length and fixed: each carries
        one running value, and a worker holds two chunks at a time.
        """
        step, filled = block_rows or self.block_rows, self._filled()
        pairs = [(i, j) for a, i in enumerate(filled) for j in (filled[a:] if symmetric else filled)]
        folded, chains = shared(fold), []
        for run in ranges(len(pairs), -(-len(pairs) // len(filled))):
            state = None
            for i, j in pairs[run]:
                halved = symmetric and i == j
                state = task(fold_chunk_pair, folded, state, step, halved, *self._chunk(i), *self._chunk(j))
            chains.append(state)
        return computed(_tree(chains, shared(merge), 2))

    def filled_chunks(self) -> list[tuple[Any, ...]]:
        """Return the chunks that have rows, each as a task takes it."""
        return [self._chunk(i) for i in self._filled()]

    @cached_property
    def _counted(self) -> list[tuple[int, int]]:
        """Rows and stored entries of each chunk: one pass."""
        unplaced = [(self._described, piece, i, None, None, None) for i, piece in enumerate(self._pieces)]
        return list(computed([task(count_chunk, *chunk) for chunk in unplaced]))

    @cached_property
    def _described(self) -> Any:
        return shared(self._opening)

    @cached_property
    def _block_parts(self) -> list[tuple[int, slice]]:
        return [(i, rows) for i, size in enumerate(self.sizes) for rows in ranges(size, self.block_rows)]

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *np.cumsum(self.sizes).tolist()]

    @property
    def _sizes_are_known(self) -> bool:
        """Whether the sizes of chunks are known already."""
        return self._declared is not None or "sizes" in self.__dict__

    def _filled(self) -> list[int]:
        return [i for i, size in enumerate(self.sizes) if size]

    def _chunk(self, i: int, *, lazily: bool = False) -> tuple[Any, ...]:
        """Return chunk ``i`` as a task takes it; ``lazily`` without its position, where finding it takes a pass."""
        if lazily and not self._sizes_are_known:
            return (self._described, self._pieces[i], i, None, None, None)
        start, size = self._starts[i], self.sizes[i]
        weights = None if self.weights is None else self.weights[start : start + size]
        return (self._described, self._pieces[i], i, start, size, weights)

    def _stacked(self, parts: list[Any], example: HostArray) -> Any:
        import dask.array as da

        sizes = self.sizes if self._sizes_are_known else [np.nan] * len(parts)
        arrays = [
            da.from_delayed(part, shape=(size, *example.shape[1:]), meta=example)
            for part, size in zip(parts, sizes, strict=True)
        ]
        return da.concatenate(arrays, allow_unknown_chunksizes=True)


def require_rows(X: Any) -> None:
    """Refuse a Dask collection that is no array or data frame: others have no rows of numbers.

    Raises
    ------
    InputError
        A wrong number of dimensions.
    NotSupportedError
        Bags, delayed values and other collections without rows.
    """
    if not hasattr(X, "to_delayed") or not hasattr(X, "ndim"):
        message = (
            f"X is a Dask {type(X).__name__}, which has no rows and columns. Pass a Dask array or data frame, for "
            "example dask.array.from_delayed(...)."
        )
        raise NotSupportedError(message)
    if X.ndim != 2:
        message = (
            f"Expected 2D array, got {X.ndim}D array instead: X is a Dask {type(X).__name__} of {X.ndim} dimension(s). "
            "Pass rows and columns: X.reshape(-1, 1), or X.to_frame(), if it is one column."
        )
        raise InputError(message)


def _whole_rows(array: Any) -> Any:
    """Return an array whose chunks hold whole rows."""
    d = array.shape[1]
    if np.isnan(d):
        message = "X is a Dask array whose number of columns is not known. Call X.compute_chunk_sizes() first."
        raise InputError(message)
    if d == 0 or array.shape[0] == 0:
        what = "feature" if d == 0 else "sample"
        message = f"Found array with 0 {what}(s) (shape={array.shape}) while a minimum of 1 is required."
        raise InputError(message)
    return array if len(array.chunks[1]) == 1 else array.rechunk({1: -1})


def _tree(states: Sequence[Any], merge: Any, fan_in: int) -> Any:
    """Merge states in order, ``fan_in`` at a time, level by level: a tree that depends on their number alone."""
    while len(states) > 1:
        states = [task(merge_states, merge, *states[i : i + fan_in]) for i in range(0, len(states), fan_in)]
    return states[0]


ARGUMENTS = 6
"""How many arguments of a task stand for one chunk."""


@dataclass(frozen=True)
class ChunkOpening:
    """How every chunk of a collection is opened: what the collection says of them.

    Attributes
    ----------
    dtype : numpy.dtype
    sparse : bool
    n_columns : int
    names : tuple of str or None
    """

    dtype: np.dtype[Any]
    sparse: bool
    n_columns: int
    names: Names

    def open(self, piece: Any) -> DenseRows | SparseRows:
        """Return the rows of a chunk as a source of its own; a chunk that is not as declared is refused."""
        from gramian.sources.opening import as_source

        if not is_sparse(piece) and hasattr(piece, "tocsr"):
            piece = piece.tocsr()
        # A null is a NaN, as it is in chunks of floats: who cannot use one refuses both, with its row in the whole.
        source = as_source(piece, missing=True)
        if source.is_sparse != self.sparse:
            kinds = ("dense", "sparse")
            message = (
                f"its rows are {kinds[source.is_sparse]}, and the collection says that they are {kinds[self.sparse]}. "
                "Say what chunks are where the collection is made (meta=)."
            )
            raise InputError(message)
        if source.n_columns != self.n_columns:
            message = f"it has {source.n_columns:,} columns, and the collection says {self.n_columns:,}."
            raise InputError(message)
        rows: Any = source.whole
        if self.sparse:
            return SparseRows(rows.astype(self.dtype, copy=False), column_names=self.names)
        rows = rows if source.dtype == self.dtype else cast(rows[:, :], self.dtype)
        return DenseRows(rows, column_names=self.names)

    def probe(self) -> Block:
        """Return one made-up row, by which the shape of a result is learned."""
        if self.sparse:
            return Block(
                scipy.sparse.csr_array(([1.0], ([0], [0])), shape=(1, self.n_columns), dtype=self.dtype), 0, None
            )
        return Block(np.ones((1, self.n_columns), self.dtype), 0, None)


class Chunk:
    """A chunk on the worker that holds it.

    Parameters
    ----------
    opening : ChunkOpening
    piece : array, sparse array or table
        What the collection has there.
    index : int
        Its number.
    start, size : int or None
        Position of its first row and number of its rows, where they are known.
    weights : numpy array or None
    """

    def __init__(  # noqa: PLR0917 - the arguments of a task
        self,
        opening: ChunkOpening,
        piece: Any,
        index: int,
        start: int | None,
        size: int | None,
        weights: HostArray | None,
    ) -> None:
        self.opening, self.piece, self.index, self.weights = opening, piece, index, weights
        self.known, self.start = start is not None, start or 0
        self.size = int(piece.shape[0])
        if size is not None and size != self.size:
            message = (
                f"Chunk {index} has {self.size:,} rows, and the collection says {size:,}. Say the right chunk sizes, "
                "or none (numpy.nan)."
            )
            raise InputError(message)

    @cached_property
    def source(self) -> DenseRows | SparseRows:
        """The rows, opened; an error about them names the chunk."""
        source: DenseRows | SparseRows = self.reported(self.opening.open, self.piece)
        source.weights = self.weights
        return source

    def reported(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function; an error about the rows names the chunk."""
        try:
            return function(*arguments)
        except InputError as error:
            begins = f", which begins at row {self.start:,}" if self.known else ""
            row = error.row if error.row is None or not self.known else self.start + error.row
            message = f"In chunk {self.index} of the Dask collection{begins}: {error}"
            raise InputError(message, row=row, column=error.column) from error

    def positioned(self, block: Block) -> Block:
        """Return a block of this chunk with its position among all rows."""
        return block._replace(start=block.start + self.start)

    def cut(self, rows: slice) -> Block:
        """Return some rows."""
        return self.positioned(self.source.cut(rows))

    def pieces(self, step: int) -> list[slice]:
        """Return the rows of each piece of ``step`` rows."""
        return ranges(self.size, step)


def count_chunk(*chunk: Any) -> tuple[int, int]:
    """Return the number of rows, and of entries where they are sparse."""
    this = Chunk(*chunk)
    return this.size, this.source.n_entries if this.opening.sparse and this.size else 0


def cut_chunk(rows: slice, *chunk: Any) -> Block:
    """Return a copy of some rows of a chunk."""
    block = Chunk(*chunk).cut(rows)
    return block._replace(rows=block.rows.copy())


def spread_rows(count: int, *chunk: Any) -> Array:
    """Return about ``count`` rows of a chunk, spread evenly over it."""
    this = Chunk(*chunk)
    step = max(1, this.size // count)
    rows: Any = this.source.whole
    if this.opening.sparse:
        return rows[::step]
    return rows[::step].copy() if is_numpy(rows) else np.vstack([rows[i : i + 1, :] for i in range(0, this.size, step)])


def fold_chunk(fold: Fold, merge: Merge, state_bytes: int, *chunk: Any) -> Any:
    """Fold all rows of a chunk; ``None`` where it has none."""
    this = Chunk(*chunk)
    if this.size == 0:
        return None
    return this.source.reduce(partial(_fold_positioned, this, fold), merge, state_bytes=state_bytes)


def fold_chunk_pair(fold: PairFold, state: Any, step: int, halved: bool, *chunks: Any) -> Any:  # noqa: FBT001
    """Fold the pairs of pieces of two chunks, of one chunk with itself only those i <= j where ``halved``."""
    left, right = Chunk(*chunks[:ARGUMENTS]), Chunk(*chunks[ARGUMENTS:])
    theirs = right.pieces(step)
    for i, rows in enumerate(left.pieces(step)):
        block = left.cut(rows)
        for others in theirs[i:] if halved else theirs:
            state = fold(state, block, right.cut(others))
    return state


def expand_chunk(fold: PairFold, state: Any, *chunks: Any) -> Any:
    """Fold a whole chunk against a whole other one; rows that are not there change nothing."""
    left, right = Chunk(*chunks[:ARGUMENTS]), Chunk(*chunks[ARGUMENTS:])
    if left.size == 0 or right.size == 0:
        return state
    return fold(state, left.cut(slice(0, left.size)), right.cut(slice(0, right.size)))


def finish_chunk(finish: Callable[[Any, Block], Array], state: Any, example: Array, *chunk: Any) -> Array:
    """Turn what was folded for a chunk into one row out for each of its rows."""
    this = Chunk(*chunk)
    if this.size == 0:
        return example
    this.reported(require_finite, this.source)
    return finish(state, this.cut(slice(0, this.size)))


def map_chunk(local: Callable[[Block], Array], example: Array, *chunk: Any) -> Array:
    """Return one row out for each row of a chunk; ``example``, with no row, where it has none."""
    this = Chunk(*chunk)
    if this.size == 0:
        return example
    this.reported(require_finite, this.source)
    return this.source.map_rows(lambda block: local(this.positioned(block)))


def merge_states(merge: Merge, *states: Any) -> Any:
    """Merge running values in order; chunks without rows have none."""
    result = None
    for state in states:
        result = state if result is None else result if state is None else merge(result, state)
    return result


def _fold_positioned(chunk: Chunk, fold: Fold, state: Any, block: Block) -> Any:
    return fold(state, chunk.positioned(block))


def declared(X: Any) -> Any:
    """Return an empty array or table of the kind that the chunks of a collection are said to be.

    Nothing is computed, but where a release of Dask does not tell: then the first chunk is, and shows it.
    """
    try:
        if hasattr(X, "columns"):
            from dask.dataframe.utils import make_meta

            return make_meta(X)
        from dask.array.utils import meta_from_array

        return meta_from_array(X)
    except (ImportError, AttributeError):
        return _first_chunk(X)[:0]


def made_up_row(X: Any) -> Any:
    """Return one row of a data frame that tells the types of its columns; made up, but where Dask makes none up."""
    try:
        from dask.dataframe.utils import meta_nonempty

        # Dask makes two, the second of them missing where a type can be.
        return meta_nonempty(declared(X)).iloc[:1]
    except (ImportError, AttributeError):
        return _first_chunk(X).dropna().iloc[:1]


def _first_chunk(X: Any) -> Any:
    return computed(X.partitions[0] if hasattr(X, "columns") else X.blocks[0])


def task(function: Any, *arguments: Any) -> Any:
    """Return a call as a task of Dask, done when it is computed."""
    from dask import delayed

    # Not pure: a key that is a digest of the arguments would cost a look at every number in them.
    return delayed(function, pure=False, traverse=False)(*arguments)


def shared(value: Any) -> Any:
    """Return a value as a task of its own, so that it is sent to a worker once, however many tasks there use it.

    It stays part of the graph: should the worker that holds it die, the scheduler makes it again.
    """
    return task(_unboxed, _Box(value))


def computed(lazy: Any) -> Any:
    """Compute a task, a list of tasks or a lazy array, and return what comes of it.

    Raises
    ------
    ClusterLostError
        When the scheduler is gone, or a task has taken several workers with it.
    """
    import dask

    client = _client()
    large_graphs = {"distributed.admin.large-graph-warning-threshold": "1 GB"}
    # Without a client nothing is set: were distributed imported meanwhile, leaving the setting would take its others.
    with one_blas_thread() if client is None else dask.config.set(large_graphs):
        try:
            return dask.compute(lazy)[0]
        except (Exception, LoopCancelled) as error:
            if client is None or not _is_loss(error, client):
                raise
            raise ClusterLostError(_sentence(error)) from error


class _Box:
    """Keeps Dask from looking into a value for tasks: what is inside may be long."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _unboxed(box: _Box) -> Any:
    return box.value


def _client() -> Any:
    """Return the client that Dask would compute with; ``None`` where the threads of this process do."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        from dask.base import get_scheduler

        owner = getattr(get_scheduler(), "__self__", None)
    except ImportError:  # in another release: the client that was made last, if any
        try:
            owner = distributed.get_client()
        except ValueError:
            owner = None
    return owner if isinstance(owner, distributed.Client) else None


def _is_loss(error: BaseException, client: Any) -> bool:
    """Tell a cluster that is gone, or a part of it that cannot be spared, from what a task itself has raised."""
    kinds = ("KilledWorker", "CommClosedError")
    return (
        isinstance(error, CancelledError | LoopCancelled) or type(error).__name__ in kinds or client.status != "running"
    )


def _sentence(error: BaseException) -> str:
    if type(error).__name__ == "KilledWorker":
        return (
            f"Several workers of the Dask cluster died over the same task ({error}). Mostly they run out of memory: "
            "give them more, make the chunks smaller, or ask for fewer components."
        )
    first = str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__
    return (
        f"The Dask cluster is lost: {first}. Nothing of this fit is left; start the scheduler and its workers, connect "
        "a new Client, and fit again."
    )
