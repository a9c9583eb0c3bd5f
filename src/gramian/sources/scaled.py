"""Rows multiplied by powers of two as they are read, for data whose squares leave the floating-point range."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import scipy

from gramian.arrays.namespace import Array, HostArray, from_host, is_numpy, is_sparse
from gramian.sources.rows import Block, ColumnBlock, Fold, Merge, PairFold, RowSource, WrappedRows

Exponents: TypeAlias = int | HostArray
"""One power of two for all columns, or integers (d,), one per column."""


class ScaledRows(WrappedRows):
    """The rows of another source times 2**exponent, one for all columns or one per column: exact, and block by block.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.sources.dense import DenseRows
    >>> ScaledRows(DenseRows(np.array([[2.0**600]])), -600).block(0).rows
    array([[1.]])
    """

    def __init__(self, source: RowSource, exponent: Exponents) -> None:
        super().__init__(source)
        self.exponent = exponent

    @property
    def _scale(self) -> Callable[[Block], Block]:
        """What scales a block; it holds the exponent and not this source, for folds may travel to where rows are."""
        return partial(_scaled_rows, self.exponent)

    def block(self, i: int) -> Block:
        """Return block ``i``, scaled."""
        return _scaled_rows(self.exponent, self.source.block(i))

    def evenly(self, count: int) -> Iterable[Array]:
        """Return about ``count`` scaled rows, spread evenly."""
        return (_times(self.exponent, rows) for rows in self.source.evenly(count))

    def reduce(self, fold: Fold, merge: Merge, *, state_bytes: int = 0) -> Any:
        """Fold every scaled block into one value."""
        return self.source.reduce(partial(_fold_changed, self._scale, fold), merge, state_bytes=state_bytes)

    def map_rows(self, local: Callable[[Block], Array]) -> Array:
        """Stack ``local`` of every scaled block."""
        return self.source.map_rows(partial(_map_changed, self._scale, local))

    def map_blocks(self, local: Callable[[Block], Array]) -> Iterator[Array]:
        """Give ``local`` of every scaled block, one after the other."""
        return self.source.map_blocks(partial(_map_changed, self._scale, local))

    def reduce_columns(self, fold: Callable[[Any, ColumnBlock], Any], merge: Merge, *, state_bytes: int = 0) -> Any:
        """Fold every scaled block of columns into one value."""
        scaled = partial(_fold_changed, partial(_scaled_columns, self.exponent), fold)
        return self.source.reduce_columns(scaled, merge, state_bytes=state_bytes)

    def reduce_pairs(self, fold: PairFold, merge: Merge, *, symmetric: bool, block_rows: int | None = None) -> Any:
        """Fold pairs of scaled blocks into one value."""
        scaled = partial(_fold_changed, self._scale, fold)
        return self.source.reduce_pairs(scaled, merge, symmetric=symmetric, block_rows=block_rows)


def _fold_changed(change: Callable[[Any], Any], fold: Callable[..., Any], state: Any, *blocks: Any) -> Any:
    return fold(state, *map(change, blocks))


def _map_changed(change: Callable[[Any], Any], local: Callable[[Block], Array], block: Block) -> Array:
    return local(change(block))


def _scaled_rows(exponent: Exponents, block: Block) -> Block:
    return block._replace(rows=_times(exponent, block.rows))


def _scaled_columns(exponent: Exponents, block: ColumnBlock) -> ColumnBlock:
    part = slice(block.start, block.start + block.columns.shape[1])
    own = exponent if isinstance(exponent, int) else exponent[part]
    return block._replace(columns=_times(own, block.columns))


def _times(exponent: Exponents, rows: Array) -> Array:
    if is_numpy(rows):
        return np.ldexp(rows, exponent)
    if is_sparse(rows):
        own = exponent if isinstance(exponent, int) else exponent[rows.indices]
        return scipy.sparse.csr_array((np.ldexp(rows.data, own), rows.indices, rows.indptr), shape=rows.shape)
    # Two factors: 2**exponent itself may overflow or underflow.
    half = np.asarray(exponent) // 2
    return rows * from_host(2.0**half, like=rows) * from_host(2.0 ** (exponent - half), like=rows)


def exponent_of(source: RowSource, mean: HostArray, *, each: bool = False) -> Exponents:
    """Return e such that the largest |x - mean| is about 2**e, of all columns or of ``each``; 0 where constant.

    One pass over the rows.
    """

    def fold(state: HostArray | None, block: Block) -> HostArray:
        largest = _largest(block.rows, mean)
        return largest if state is None else np.maximum(state, largest)

    largest = np.asarray(source.reduce(fold, np.maximum))
    if not each:
        largest = largest.max(initial=0.0)
    exponent = np.where(np.isfinite(largest) & (largest > 0), np.frexp(largest)[1], 0)
    return exponent if each else int(exponent)


def _largest(rows: Any, mean: HostArray) -> HostArray:
    """Return the largest |x - mean| of each column, computed at an eighth so that it cannot overflow."""
    if is_sparse(rows):
        return np.asarray(np.maximum(np.abs(rows).max(axis=0).toarray().ravel(), np.abs(mean)))
    values = np.asarray(rows if is_numpy(rows) else rows.detach().cpu().numpy(), dtype=np.float64)
    exact = np.abs(values / 8 - mean / 8).max(axis=0, initial=0.0)
    return np.asarray(np.where(exact < 1e307, exact * 8, np.finfo(float).max))
