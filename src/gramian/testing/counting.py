"""A row source that counts how often its rows are read."""

from collections.abc import Callable
from typing import Any

from gramian.arrays.namespace import Array
from gramian.sources.rows import Block, ColumnBlock, Fold, Merge, PairFold, RowSource

__all__ = ["CountingRows"]


class CountingRows(RowSource):
    """Any source, with a count of the passes made over it.

    Each ``reduce``, ``map_rows``, ``reduce_columns`` and ``reduce_pairs`` is one pass;
    single blocks are counted apart. Proves that a documented number of passes is the real one.

    Parameters
    ----------
    inner : RowSource

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.sources.dense import DenseRows
    >>> rows = CountingRows(DenseRows(np.ones((4, 2))))
    >>> float(rows.reduce(lambda s, b: b.rows.sum() + (s or 0.0), lambda a, b: a + b))
    8.0
    >>> rows.passes
    1
    """

    def __init__(self, inner: RowSource) -> None:
        self.inner = inner
        self.passes = 0
        self.blocks_read = 0
        self.n_rows, self.n_columns, self.dtype = inner.n_rows, inner.n_columns, inner.dtype
        self.column_names, self.weights = inner.column_names, inner.weights
        self.is_sparse, self.has_columns, self.is_local = inner.is_sparse, inner.has_columns, inner.is_local

    def __getattr__(self, name: str) -> Any:
        """Give whatever else the wrapped source has."""
        if name == "inner":
            raise AttributeError(name)
        return getattr(self.inner, name)

    @property
    def n_entries(self) -> int:
        """Stored numbers of the wrapped source."""
        return self.inner.n_entries

    @property
    def n_blocks(self) -> int:
        """Number of blocks of the wrapped source."""
        return self.inner.n_blocks

    def block(self, i: int) -> Block:
        """Return block ``i`` and count it."""
        self.blocks_read += 1
        return self.inner.block(i)

    def like(self) -> Array:
        """Return what the wrapped source returns."""
        return self.inner.like()

    def reduce(self, fold: Fold, merge: Merge, *, state_bytes: int = 0) -> Any:
        """Count a pass, then reduce."""
        self.passes += 1
        return self.inner.reduce(fold, merge, state_bytes=state_bytes)

    def map_rows(self, local: Callable[[Block], Array]) -> Array:
        """Count a pass, then map."""
        self.passes += 1
        return self.inner.map_rows(local)

    def reduce_columns(self, fold: Callable[[Any, ColumnBlock], Any], merge: Merge, *, state_bytes: int = 0) -> Any:
        """Count a pass, then reduce over columns."""
        self.passes += 1
        return self.inner.reduce_columns(fold, merge, state_bytes=state_bytes)

    def reduce_pairs(self, fold: PairFold, merge: Merge, *, symmetric: bool, block_rows: int | None = None) -> Any:
        """Count a pass, then reduce over pairs."""
        self.passes += 1
        return self.inner.reduce_pairs(fold, merge, symmetric=symmetric, block_rows=block_rows)
