"""What a Dask worker does with a chunk of rows: open it, fold it, map it, cut it.

A chunk is given to a task as six arguments, plain ones, so that Dask need not look into them (see :class:`Chunk`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from gramian.arrays.namespace import Array, HostArray, cast
from gramian.errors import InputError
from gramian.sources.dense import DenseRows
from gramian.sources.finiteness import require_finite
from gramian.sources.places import Names
from gramian.sources.rows import Block, Fold, Merge, PairFold, ranges
from gramian.sources.sparse import SparseRows

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

        if not sp.issparse(piece) and hasattr(piece, "tocsr"):
            piece = piece.tocsr()
        source = as_source(piece)
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
        if isinstance(source, SparseRows):
            return SparseRows(source.matrix.astype(self.dtype, copy=False), column_names=self.names)
        array = source.array  # type: ignore[attr-defined]
        array = array if source.dtype == self.dtype else cast(array[:, :], self.dtype)
        return DenseRows(array, column_names=self.names)

    def probe(self) -> Block:
        """Return one made-up row, by which the shape of a result is learned."""
        if self.sparse:
            return Block(sp.csr_array(([1.0], ([0], [0])), shape=(1, self.n_columns), dtype=self.dtype), 0, None)
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
        """The rows, opened; what is wrong with them is told with the number of the chunk."""
        source: DenseRows | SparseRows = self.told(self.opening.open, self.piece)
        source.weights = self.weights
        return source

    def told(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function, and say of which chunk its complaints are."""
        try:
            return function(*arguments)
        except InputError as error:
            place = f", which begins at row {self.start:,}" if self.known else ""
            row = error.row if error.row is None or not self.known else self.start + error.row
            message = f"In chunk {self.index} of the Dask collection{place}: {error}"
            raise InputError(message, row=row, column=error.column) from error

    def placed(self, block: Block) -> Block:
        """Return a block of this chunk with its position among all rows."""
        return block._replace(start=block.start + self.start)

    def cut(self, rows: slice) -> Block:
        """Return some rows."""
        return self.placed(self.source._rows(rows))  # noqa: SLF001

    def pieces(self, step: int) -> list[slice]:
        """Return the places of pieces of ``step`` rows."""
        return ranges(self.size, step)


def look_at_chunk(*chunk: Any) -> tuple[int, int]:
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
    return this.source.matrix[::step] if isinstance(this.source, SparseRows) else _every(this.source.array, step)


def fold_chunk(fold: Fold, merge: Merge, state_bytes: int, *chunk: Any) -> Any:
    """Fold all rows of a chunk; ``None`` where it has none."""
    this = Chunk(*chunk)
    if this.size == 0:
        return None
    return this.source.reduce(partial(_fold_placed, this, fold), merge, state_bytes=state_bytes)


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
    this.told(require_finite, this.source)
    return finish(state, this.cut(slice(0, this.size)))


def map_chunk(local: Callable[[Block], Array], example: Array, *chunk: Any) -> Array:
    """Return one row out for each row of a chunk; ``example``, with no row, where it has none."""
    this = Chunk(*chunk)
    if this.size == 0:
        return example
    this.told(require_finite, this.source)
    return this.source.map_rows(lambda block: local(this.placed(block)))


def merge_states(merge: Merge, *states: Any) -> Any:
    """Merge running values in order; chunks without rows have none."""
    result = None
    for state in states:
        result = state if result is None else result if state is None else merge(result, state)
    return result


def _fold_placed(chunk: Chunk, fold: Fold, state: Any, block: Block) -> Any:
    return fold(state, chunk.placed(block))


def _every(array: Any, step: int) -> HostArray:
    if isinstance(array, np.ndarray):
        return array[::step].copy()
    return np.vstack([array[i : i + 1, :] for i in range(0, array.shape[0], step)])
