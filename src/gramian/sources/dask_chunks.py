"""Rows of a Dask array or data frame: every pass is a tree of tasks on the workers, and only small results travel.

A chunk is opened on the worker that holds it by the same door as any table (:func:`~gramian.sources.opening.as_source`)
and folded there; what comes back is the running value of a fold, merged pairwise along a tree that depends on the
chunks alone. With a distributed ``Client`` the cluster works, without one the threads of this process.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from gramian.arrays.namespace import Array, HostArray
from gramian.errors import InputError, NotSupportedError
from gramian.planning.machine import LARGE_STATE, MEGABYTE
from gramian.sources.chunk_tasks import (
    ChunkOpening,
    cut_chunk,
    expand_chunk,
    finish_chunk,
    fold_chunk,
    fold_chunk_pair,
    look_at_chunk,
    map_chunk,
    merge_states,
    spread_rows,
)
from gramian.sources.cluster import computed, shared, task
from gramian.sources.conversion import require_real_kind, working_dtype
from gramian.sources.rows import Block, Fold, Merge, PairFold, RowSource, ranges
from gramian.sources.table import open_table

FAN_IN = 8
"""Small running values that one task merges; two of those that are large, so that few are in memory at once."""

SAMPLED_CHUNKS = 4
"""Chunks that a sample of rows is taken from: each of them is computed once more for it."""


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

    has_columns = False
    is_local = False

    def __init__(
        self, collection: Any, *, weights: HostArray | None = None, column_names: tuple[str, ...] | None = None
    ) -> None:
        declared: Sequence[float] = ()
        if hasattr(collection, "columns"):
            # A made-up row tells the types. Dask makes two, the second of them missing where a type can be.
            array, names = open_table(collection._meta_nonempty.iloc[:1])  # noqa: SLF001
            self.is_sparse, self.n_columns = sp.issparse(array), array.shape[1]
        else:
            collection, names = _whole_rows(collection), None
            array, declared = collection._meta, collection.chunks[0]  # noqa: SLF001
            self.is_sparse, self.n_columns = hasattr(array, "tocsr"), collection.shape[1]
        require_real_kind(np.dtype(array.dtype))
        self.array, self.weights, self.column_names = collection, weights, column_names or names
        self.dtype = working_dtype(np.empty(0, array.dtype))
        self._pieces = list(np.ravel(np.array(collection.to_delayed(), dtype=object)))
        self._declared = None if not declared or np.isnan(sum(declared)) else [int(size) for size in declared]
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
        sizes = self._declared or [rows for rows, _ in self._looked]
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
        return sum(entries for _, entries in self._looked) if self.is_sparse else self.n_rows * self.n_columns

    @property
    def n_blocks(self) -> int:
        """Number of blocks that :meth:`block` can give: pieces of a megabyte of each chunk."""
        return len(self._places)

    def block_sizes(self) -> list[int]:
        """Return the number of rows of each block, without computing one."""
        return [rows.stop - rows.start for _, rows in self._places]

    def block(self, i: int) -> Block:
        """Return block ``i``: its chunk is computed where it lives, the block alone comes here."""
        chunk, rows = self._places[i]
        block: Block = computed(task(cut_chunk, rows, *self._chunk(chunk)))
        return block

    def like(self) -> Array:
        """Return an empty NumPy array: results of a fold are host arrays."""
        return np.empty((0, 0), dtype=self.dtype)

    def evenly(self, count: int) -> list[Array]:
        """Return about ``count`` rows, spread evenly over four chunks."""
        filled = self._filled()
        chosen = filled[:: max(1, -(-len(filled) // SAMPLED_CHUNKS))]
        each = -(-count // len(chosen))
        return list(computed([task(spread_rows, each, *self._chunk(i)) for i in chosen]))

    def reduce(self, fold: Fold, merge: Merge, *, state_bytes: int = 0) -> Any:
        """Fold every chunk into one value, by a tree of merges on the workers."""
        way, joined = shared(fold), shared(merge)
        states = [task(fold_chunk, way, joined, state_bytes, *chunk) for chunk in self.filled_chunks()]
        return computed(_tree(states, joined, 2 if state_bytes > LARGE_STATE else FAN_IN))

    def map_rows(self, local: Callable[[Block], Array]) -> Any:
        """Return ``local(block)`` stacked as a Dask array, lazily; NaN and infinity are refused when it is computed."""
        with np.errstate(all="ignore"):
            example = np.asarray(local(self._opening.probe()))[:0]
        way, none = shared(local), shared(example)
        parts = [task(map_chunk, way, none, *self._chunk(i, lazily=True)) for i in range(self.n_chunks)]
        return self._stacked(parts, example)

    def map_blocks(self, local: Callable[[Block], Array]) -> Iterator[Array]:
        """Yield ``local(block)`` block after block, for results that are written: each chunk comes here once, alone."""
        for i in self._filled():
            whole: Block = computed(task(cut_chunk, slice(0, self.sizes[i]), *self._chunk(i)))
            for rows in ranges(self.sizes[i], self.block_rows):
                weights = None if whole.weights is None else whole.weights[rows]
                yield local(Block(whole.rows[rows], whole.start + rows.start, weights))

    def map_against(
        self, other: "DaskRows", fold: PairFold, finish: Callable[[Any, Block], Array], *, example: HostArray
    ) -> Any:
        """Return ``finish(state, block)`` of each chunk stacked lazily, its state folded over every chunk of ``other``.

        ``example`` is a result without rows. Cost: a task for each pair of chunks.
        """
        way, end, none = shared(fold), shared(finish), shared(example)
        parts = []
        for i in range(self.n_chunks):
            state, mine = None, self._chunk(i, lazily=True)
            for theirs in other.filled_chunks():
                state = task(expand_chunk, way, state, *mine, *theirs)
            parts.append(task(finish_chunk, end, state, none, *mine))
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
        way, chains = shared(fold), []
        for run in ranges(len(pairs), -(-len(pairs) // len(filled))):
            state = None
            for i, j in pairs[run]:
                halved = symmetric and i == j
                state = task(fold_chunk_pair, way, state, step, halved, *self._chunk(i), *self._chunk(j))
            chains.append(state)
        return computed(_tree(chains, shared(merge), 2))

    def filled_chunks(self) -> list[tuple[Any, ...]]:
        """Return the chunks that have rows, each as a task takes it."""
        return [self._chunk(i) for i in self._filled()]

    @cached_property
    def _looked(self) -> list[tuple[int, int]]:
        """Rows and stored entries of each chunk: one pass."""
        unplaced = [(self._described, piece, i, None, None, None) for i, piece in enumerate(self._pieces)]
        return list(computed([task(look_at_chunk, *chunk) for chunk in unplaced]))

    @cached_property
    def _described(self) -> Any:
        return shared(self._opening)

    @cached_property
    def _places(self) -> list[tuple[int, slice]]:
        return [(i, rows) for i, size in enumerate(self.sizes) for rows in ranges(size, self.block_rows)]

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *np.cumsum(self.sizes).tolist()]

    @property
    def _is_placed(self) -> bool:
        """Whether the sizes of chunks are known already."""
        return self._declared is not None or "sizes" in self.__dict__

    def _filled(self) -> list[int]:
        return [i for i, size in enumerate(self.sizes) if size]

    def _chunk(self, i: int, *, lazily: bool = False) -> tuple[Any, ...]:
        """Return chunk ``i`` as a task takes it; ``lazily`` without its place, where finding that would take a pass."""
        if lazily and not self._is_placed:
            return (self._described, self._pieces[i], i, None, None, None)
        start, size = self._starts[i], self.sizes[i]
        weights = None if self.weights is None else self.weights[start : start + size]
        return (self._described, self._pieces[i], i, start, size, weights)

    def _stacked(self, parts: list[Any], example: HostArray) -> Any:
        import dask.array as da

        sizes = self.sizes if self._is_placed else [np.nan] * len(parts)
        arrays = [
            da.from_delayed(part, shape=(size, *example.shape[1:]), meta=example)
            for part, size in zip(parts, sizes, strict=True)
        ]
        return da.concatenate(arrays, allow_unknown_chunksizes=True)


def open_dask(X: Any) -> DaskRows:
    """Open a Dask collection; only arrays and data frames have rows of numbers.

    Raises
    ------
    InputError
        Columns that hold no numbers, each by name; a wrong number of dimensions; an unknown number of columns.
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
    return DaskRows(X)


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
