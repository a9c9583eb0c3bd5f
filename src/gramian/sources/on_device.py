"""Rows of the host on a device: moved there once where they fit, else streamed, each block when a pass wants it.

Streams are fed by all workers: each reads its own run of blocks, is one block ahead, and folds on the device.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, NoReturn

from gramian.arrays.namespace import Array, device_of, free_bytes, from_host, namespace_of, to_host
from gramian.arrays.transfer import Lane, Sent, empty_on, on_stream, stream_of, wait_for
from gramian.errors import MemoryBudgetError, NotSupportedError
from gramian.machine import in_words, memory_budget, worker_count
from gramian.sources.dense import DenseRows
from gramian.sources.rows import (
    Block,
    ColumnBlock,
    Fold,
    Merge,
    PairFold,
    RowSource,
    WrappedRows,
    left_of,
    rows_by_pass,
)


def moved(source: RowSource, device: Any, *, whole: bool = False, dry: bool = False) -> RowSource:
    """Return rows of the host on a device: whole where they take at most half of what is free there, else streamed.

    Parameters
    ----------
    source : RowSource
        Dense rows in memory or in files.
    device : str or torch.device
    whole : bool
        Whether rows that do not fit are refused and not streamed.
    dry : bool
        Whether nothing is moved: the source tells what plans ask, and not its rows.

    Raises
    ------
    ParameterError
        Where the device is not there.
    NotSupportedError
        For sparse rows and Dask's.
    MemoryBudgetError
        For rows that must fit and do not.
    """
    like = empty_on(device)
    if source.is_sparse or not source.is_local:
        what = "sparse" if source.is_sparse else "Dask's"
        way = "X.toarray()" if source.is_sparse else "X.compute()"
        message = (
            f"device={str(device)!r} moves dense rows of this process, and these are {what}. Pass {way} if they fit "
            "here, or leave device=None."
        )
        raise NotSupportedError(message)
    n, d, itemsize = source.n_rows, source.n_columns, source.dtype.itemsize
    like = namespace_of(like).astype(like, getattr(namespace_of(like), source.dtype.name))
    size, free = n * d * itemsize, free_bytes(like)
    if size > free // 2:
        if not whole:
            return StreamedRows(source, like, words=f"{in_words(size)} of rows streamed to {like.device} in each pass")
        message = (
            f"{n:,} x {d:,} rows take {in_words(size)} on {like.device}, and half of the {in_words(free)} that are "
            f"free there has room for {free // 2 // max(d * itemsize, 1):,} of them, which this fit needs whole. Pass "
            "so many, or leave device=None."
        )
        raise MemoryBudgetError(message, needed=size, budget=free // 2)
    array = _zeros(like, n, d) if dry else _copied(source, like)
    held = DenseRows(array, weights=source.weights, column_names=source.column_names, origin=source)
    held.moved = f"{in_words(size)} of rows moved to {like.device} once"
    return held


def _zeros(like: Array, n: int, d: int) -> Array:
    """Return zeros that take no memory."""
    xp = namespace_of(like)
    return xp.broadcast_to(xp.zeros((1, 1), dtype=like.dtype, **device_of(like)), (n, d))


def _copied(source: RowSource, like: Array) -> Array:
    out = namespace_of(like).empty((source.n_rows, source.n_columns), dtype=like.dtype, **device_of(like))
    source.reduce(_Copy(like, stream_of(like), out), left_of)
    wait_for(like)
    return out


class _OnDevice:
    """A fold that works on a device of this process: it does not travel, and no checkpoint keeps its states."""

    def __reduce__(self) -> NoReturn:
        message = f"{type(self).__name__} works on a device of this process."
        raise TypeError(message)


@dataclass(frozen=True, eq=False)
class _Copy(_OnDevice):
    """Copy each block to its place in an array on the device."""

    like: Array
    stream: Any
    out: Array

    def __call__(self, lane: Lane | None, block: Block) -> Lane:
        with on_stream(self.stream):
            lane = lane or Lane(self.like)
            lane.send(block.rows, self.out[block.start : block.start + block.rows.shape[0]])
        return lane


class _Ahead(NamedTuple):
    """The running value of a worker, and the block that is on its way meanwhile."""

    lane: Lane | None
    sent: Sent | None
    block: Block | ColumnBlock | None
    state: Any


@dataclass(frozen=True, eq=False)
class _FoldThere(_OnDevice):
    """Send each block, and fold the one before it on the device."""

    like: Array
    stream: Any
    fold: Callable[[Any, Any], Any]
    merge: Merge

    def __call__(self, running: _Ahead | None, block: Block | ColumnBlock) -> _Ahead:
        with on_stream(self.stream):
            lane = Lane(self.like) if running is None or running.lane is None else running.lane
            sent = lane.send(block[0])
            return _Ahead(lane, sent, block, self.finished(running))

    def finished(self, running: _Ahead | None) -> Any:
        """Return the value with the block that was on its way."""
        if running is None or running.sent is None or running.block is None:
            return None if running is None else running.state
        with on_stream(self.stream):
            return self.fold(running.state, type(running.block)(running.sent.received(), *running.block[1:]))

    def merged(self, left: _Ahead, right: _Ahead) -> _Ahead:
        """Merge two values on the device."""
        with on_stream(self.stream):
            return _Ahead(None, None, None, self.merge(self.finished(left), self.finished(right)))


class StreamedRows(WrappedRows):
    """Rows of the host, whose blocks are tensors on a device: they cross anew in each pass.

    Examples
    --------
    >>> import numpy as np
    >>> rows = StreamedRows(DenseRows(np.ones((3, 2))), empty_on("cpu"))  # doctest: +SKIP
    >>> rows.block(0).rows.device  # doctest: +SKIP
    device(type='cpu')
    """

    def __init__(self, source: RowSource, like: Array, *, words: str = "") -> None:
        super().__init__(source)
        self._like, self.moved, self.origin = like, words, source

    def like(self) -> Array:
        """Return an empty piece of the rows there."""
        return self._like

    def block(self, i: int) -> Block:
        """Return block ``i``, on the device."""
        return self._there(self.source.block(i))

    def evenly(self, count: int) -> Iterable[Array]:
        """Return about ``count`` rows, spread evenly."""
        return (Lane(self._like).send(rows).received() for rows in self.source.evenly(count))

    def reduce(self, fold: Fold, merge: Merge, *, state_bytes: int = 0) -> Any:
        """Fold every block into one value, on the device; by one worker where it has no room for the values of all."""
        return self._reduced(self.source.reduce, fold, merge, state_bytes)

    def reduce_columns(self, fold: Callable[[Any, ColumnBlock], Any], merge: Merge, *, state_bytes: int = 0) -> Any:
        """Fold every block of columns into one value, on the device."""
        return self._reduced(self.source.reduce_columns, fold, merge, state_bytes)

    def _reduced(self, reduce: Any, fold: Callable[[Any, Any], Any], merge: Merge, state_bytes: int) -> Any:
        if state_bytes * worker_count() > free_bytes(self._like) // 8:
            state_bytes = max(state_bytes, memory_budget())
        there = _FoldThere(self._like, stream_of(self._like), fold, merge)
        return there.finished(reduce(there, there.merged, state_bytes=state_bytes))

    def map_rows(self, local: Callable[[Block], Array]) -> Array:
        """Stack ``local(block)`` over all blocks, where the results are."""
        return rows_by_pass(self, local)

    def map_blocks(self, local: Callable[[Block], Array]) -> Iterator[Array]:
        """Give ``local(block)`` block after block."""
        return self.source.map_blocks(lambda block: local(self._there(block)))

    def reduce_pairs(self, fold: PairFold, merge: Merge, *, symmetric: bool, block_rows: int | None = None) -> Any:
        """Fold pairs of blocks into one value, on the device: both blocks cross for each pair."""
        stream = stream_of(self._like)

        def there(state: Any, left: Block, right: Block) -> Any:
            with on_stream(stream):
                return fold(state, self._there(left), self._there(right))

        def merged(left: Any, right: Any) -> Any:
            with on_stream(stream):
                return merge(left, right)

        return self.source.reduce_pairs(there, merged, symmetric=symmetric, block_rows=block_rows)

    def _there(self, block: Block) -> Block:
        return block._replace(rows=Lane(self._like).send(block.rows).received())


def map_home(source: RowSource, local: Callable[[Block], Array]) -> Array:
    """Stack ``local(block)`` over all blocks where the rows came from, of rows that were moved; else where they are."""
    if source.origin is None:
        return source.map_rows(local)
    return source.map_rows(partial(_at_home, source.origin.like(), local))


def _at_home(like: Array, local: Callable[[Block], Array], block: Block) -> Array:
    return from_host(to_host(local(block)), like=like)
