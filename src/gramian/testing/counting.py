"""A row source that counts how often its rows are read."""

from collections.abc import Callable
from typing import Any

from gramian.arrays.namespace import Array, HostArray
from gramian.sources.rows import Block, ColumnBlock, Fold, Merge, PairFold, RowSource, WrappedRows

__all__ = ["CountingRows"]


class CountingRows(WrappedRows):
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
        super().__init__(inner)
        self.passes = 0
        self.blocks_read = 0

    def block(self, i: int) -> Block:
        """Return block ``i`` and count it."""
        self.blocks_read += 1
        return self.source.block(i)

    def reduce(self, fold: Fold, merge: Merge, *, state_bytes: int = 0) -> Any:
        """Count a pass, then reduce."""
        self.passes += 1
        return self.source.reduce(fold, merge, state_bytes=state_bytes)

    def map_rows(self, local: Callable[[Block], Array]) -> Array:
        """Count a pass, then map."""
        self.passes += 1
        return self.source.map_rows(local)

    def reduce_columns(self, fold: Callable[[Any, ColumnBlock], Any], merge: Merge, *, state_bytes: int = 0) -> Any:
        """Count a pass, then reduce over columns."""
        self.passes += 1
        return self.source.reduce_columns(fold, merge, state_bytes=state_bytes)

    def map_against(
        self, other: RowSource, fold: PairFold, finish: Callable[[Any, Block], Array], *, example: HostArray
    ) -> Array:
        """Count a pass, then map against the rows of another source."""
        self.passes += 1
        return self.source.map_against(other, fold, finish, example=example)

    def reduce_pairs(self, fold: PairFold, merge: Merge, *, symmetric: bool, block_rows: int | None = None) -> Any:
        """Count a pass, then reduce over pairs."""
        self.passes += 1
        return self.source.reduce_pairs(fold, merge, symmetric=symmetric, block_rows=block_rows)
