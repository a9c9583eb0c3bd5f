"""Dense rows in memory: NumPy arrays of any layout, torch tensors, any array of the array API."""

from collections.abc import Callable
from functools import partial
from typing import Any

from gramian.arrays.namespace import Array, dtype_of
from gramian.planning.machine import LARGE_STATE, MEGABYTE
from gramian.sources.rows import (
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
        Rows a block; by default as many as stay in a core's cache.

    Examples
    --------
    >>> import numpy as np
    >>> rows = DenseRows(np.arange(6.0).reshape(3, 2))
    >>> rows.n_rows, rows.n_columns, rows.n_blocks
    (3, 2, 1)
    >>> rows.reduce(lambda s, b: b.rows.sum() + (s or 0.0), lambda a, b: a + b)
    np.float64(15.0)
    """

    is_sparse = False
    has_columns = True

    def __init__(
        self,
        array: Array,
        *,
        weights: Array | None = None,
        column_names: tuple[str, ...] | None = None,
        block_rows: int | None = None,
    ) -> None:
        self.array = array
        self.n_rows, self.n_columns = array.shape
        self.dtype = dtype_of(array)
        self.weights = weights
        self.column_names = column_names
        self.block_rows = block_rows or block_length(self.n_columns * self.dtype.itemsize)

    @property
    def n_entries(self) -> int:
        """Stored numbers."""
        return self.n_rows * self.n_columns

    @property
    def n_blocks(self) -> int:
        """Number of blocks that :meth:`block` can give."""
        return max(1, -(-self.n_rows // self.block_rows))

    def block(self, i: int) -> Block:
        """Return block ``i``, a view of the array."""
        return self._rows(slice(i * self.block_rows, min((i + 1) * self.block_rows, self.n_rows)))

    def like(self) -> Array:
        """Return an empty piece of the array."""
        return self.array[:0, :0]

    def reduce(self, fold: Fold, merge: Merge, *, state_bytes: int = 0) -> Any:
        """Fold every block into one value: one pass over the rows.

        A large running value wants large blocks, so that it is touched seldom: blocks grow until they hold
        a quarter of its size, within 32 MB.
        """
        tasks = even_ranges(self.n_rows, self.block_rows)
        if state_bytes > LARGE_STATE:
            most = large_block(state_bytes) // (self.n_columns * self.dtype.itemsize)
            tasks = ranges(self.n_rows, max(self.block_rows, most))
        return run_folds(tasks, partial(_fold_rows, self, fold), merge, state_bytes=state_bytes)

    def map_rows(self, local: Callable[[Block], Array]) -> Array:
        """Stack ``local(block)`` over all blocks, filled in place: n rows out and no second copy."""
        return stack_rows(self, local)

    def reduce_columns(self, fold: Callable[[Any, ColumnBlock], Any], merge: Merge, *, state_bytes: int = 0) -> Any:
        """Fold blocks of columns, all rows of each, into one value: one pass."""
        step = block_length(self.n_rows * self.dtype.itemsize)
        tasks = even_ranges(self.n_columns, step)
        return run_folds(tasks, partial(_fold_columns, self, fold), merge, state_bytes=state_bytes)

    def reduce_pairs(self, fold: PairFold, merge: Merge, *, symmetric: bool, block_rows: int | None = None) -> Any:
        """Fold pairs of blocks into one value; with ``symmetric`` only the pairs i <= j."""
        return fold_pairs(self, fold, merge, symmetric=symmetric, block_rows=block_rows, cut=self._rows)

    def _rows(self, rows: slice) -> Block:
        return Block(self.array[rows, :], rows.start, None if self.weights is None else self.weights[rows])


def large_block(state_bytes: int) -> int:
    """Return the bytes of a block beside a large running value: a quarter of it, within 32 MB."""
    return min(state_bytes // 4, 32 * MEGABYTE)


def _fold_rows(source: DenseRows, fold: Fold, state: Any, rows: slice) -> Any:
    return fold(state, source._rows(rows))  # noqa: SLF001


def _fold_columns(source: DenseRows, fold: Callable[[Any, ColumnBlock], Any], state: Any, columns: slice) -> Any:
    return fold(state, ColumnBlock(source.array[:, columns], columns.start, source.weights))
