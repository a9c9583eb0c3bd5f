"""Dense rows in memory: NumPy arrays of any layout, torch tensors, any array of the array API."""

from collections.abc import Callable
from functools import partial
from typing import Any

from gramian.arrays.namespace import Array, dtype_of, free_bytes, is_torch, on_device
from gramian.machine import memory_budget, workers_for
from gramian.sources.rows import (
    LARGE_BLOCK,
    Block,
    ColumnBlock,
    Fold,
    Merge,
    PairFold,
    RowSource,
    block_length,
    even_ranges,
    fold_pairs,
    ranges,
    run_folds,
    stack_rows,
)


class DenseRows(RowSource):
    """Rows of a dense (n, d) array, float32 or float64, never copied whole.

    Parameters
    ----------
    array : array (n, d)
        Any strides; NumPy, torch, or another library of the array API.
    weights : array (n,), optional
        Repetitions of each row.
    column_names : tuple of str, optional
    block_rows : int, optional
        Rows per block; by default as many as stay in a core's cache.
    budget : int, optional
        Bytes that a fit may take in addition to the rows; that of the process when not given.
    origin : RowSource, optional
        The rows that these are a copy of.

    Examples
    --------
    >>> import numpy as np
    >>> rows = DenseRows(np.arange(6.0).reshape(3, 2))
    >>> rows.n_rows, rows.n_columns, rows.n_blocks
    (3, 2, 1)
    >>> rows.reduce(lambda s, b: b.rows.sum() + (s or 0.0), lambda a, b: a + b)
    np.float64(15.0)
    """

    has_columns = True

    def __init__(
        self,
        array: Array,
        *,
        weights: Array | None = None,
        column_names: tuple[str, ...] | None = None,
        block_rows: int | None = None,
        budget: int | None = None,
        origin: RowSource | None = None,
    ) -> None:
        self.array, self.origin = array, origin
        self.n_rows, self.n_columns = array.shape
        self.dtype = dtype_of(array)
        self.weights, self.column_names = weights, column_names
        self.is_elsewhere = on_device(array[:0, :0])
        self.block_rows = block_rows or self._block_length(self.n_columns)
        self.budget = budget or memory_budget()

    def _block_length(self, width: int) -> int:
        """Return how many rows, or columns, of so many numbers make a block.

        On a device a float64 copy of it, and twice as much of what is made of that, fit into half of what is free.
        """
        if self.is_elsewhere:
            return max(16, free_bytes(self.array[:0, :0]) // (48 * max(width, 1)))
        return block_length(width * self.dtype.itemsize)

    @property
    def whole(self) -> Array:
        """The array."""
        return self.array

    def copied(self) -> "DenseRows":
        """Return a source over a copy of the array."""
        array = self.array.clone() if is_torch(self.array) else self.array.copy()
        names, step = self.column_names, self.block_rows
        return DenseRows(array, weights=self.weights, column_names=names, block_rows=step, budget=self.budget)

    def locate(self, row: int) -> tuple[str | None, int]:
        """Return the file that a row came from, if it came from one, and its position there."""
        return super().locate(row) if self.origin is None else self.origin.locate(row)

    @property
    def n_blocks(self) -> int:
        """Number of blocks that :meth:`block` can give."""
        return max(1, -(-self.n_rows // self.block_rows))

    def block(self, i: int) -> Block:
        """Return block ``i``, a view of the array."""
        return self.cut(slice(i * self.block_rows, min((i + 1) * self.block_rows, self.n_rows)))

    def cut(self, rows: slice) -> Block:
        """Return some consecutive rows, a view of the array."""
        return Block(self.array[rows, :], rows.start, None if self.weights is None else self.weights[rows])

    def like(self) -> Array:
        """Return an empty piece of the array."""
        return self.array[:0, :0]

    def reduce(self, fold: Fold, merge: Merge, *, state_bytes: int = 0) -> Any:
        """Fold every block into one value: one pass over the rows, by all cores (see :meth:`_workers`).

        Blocks grow with the workers, who share Python's interpreter between two blocks (16 cores, 1,000,000 x 100: 0.23
        s with blocks of 2,048 rows, 0.16 with four times as many), and with the running value, which is touched once
        per block; within 16 MB in float64.
        """
        if self.is_elsewhere:
            return run_folds(ranges(self.n_rows, self.block_rows), partial(_fold_rows, self, fold), merge, workers=1)
        workers = self._workers(state_bytes)
        row = max(self.n_columns * 8, 1)
        wanted = max(self.block_rows * row * workers // 4, state_bytes // 4)
        tasks = even_ranges(self.n_rows, max(self.block_rows, min(wanted, LARGE_BLOCK) // row), workers)
        return run_folds(tasks, partial(_fold_rows, self, fold), merge, workers=workers)

    def map_rows(self, local: Callable[[Block], Array]) -> Array:
        """Stack ``local(block)`` over all blocks, filled in place: n rows out and no second copy."""
        pieces = [partial(self.cut, rows) for rows in even_ranges(self.n_rows, self.block_rows, self._most_workers)]
        return stack_rows(self, local, pieces=pieces)

    def reduce_columns(self, fold: Callable[[Any, ColumnBlock], Any], merge: Merge, *, state_bytes: int = 0) -> Any:
        """Fold blocks of columns, all rows of each, into one value: one pass."""
        workers = self._workers(state_bytes)
        tasks = even_ranges(self.n_columns, self._block_length(self.n_rows), workers)
        return run_folds(tasks, partial(_fold_columns, self, fold), merge, workers=workers)

    def reduce_pairs(self, fold: PairFold, merge: Merge, *, symmetric: bool, block_rows: int | None = None) -> Any:
        """Fold pairs of blocks into one value; with ``symmetric`` only the pairs i <= j."""
        return fold_pairs(self, fold, merge, symmetric=symmetric, block_rows=block_rows, cut=self.cut)

    @property
    def _most_workers(self) -> int | None:
        return 1 if self.is_elsewhere else None

    def _workers(self, state_bytes: int) -> int:
        """Return all workers while their running values take no more than the rows and an eighth of the budget.

        Beyond that, merging the values costs more than the pass that made them, and one worker with BLAS's threads is
        the faster too.
        """
        room = min(self.n_entries * self.dtype.itemsize, self.budget // 8)
        return self._most_workers or workers_for(state_bytes, room=room)


def _fold_rows(source: DenseRows, fold: Fold, state: Any, rows: slice) -> Any:
    return fold(state, source.cut(rows))


def _fold_columns(source: DenseRows, fold: Callable[[Any, ColumnBlock], Any], state: Any, columns: slice) -> Any:
    return fold(state, ColumnBlock(source.array[:, columns], columns.start, source.weights))
