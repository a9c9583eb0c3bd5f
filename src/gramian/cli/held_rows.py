"""Rows held in memory as one array, for what cannot be done block by block: holes filled, columns taken out."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from gramian.arrays.namespace import HostArray, to_host
from gramian.errors import MemoryBudgetError
from gramian.planning.machine import available_memory
from gramian.sources.dense import DenseRows
from gramian.sources.rows import Block, RowSource


def held(source: RowSource) -> HostArray:
    """Return all rows as one array, or refuse where they do not fit."""
    needed, free = 24 * source.n_rows * source.n_columns, available_memory()
    if needed > free:
        message = (
            f"Filling holes keeps the table in memory three times, {needed / 1e9:,.1f} GB, and {free / 1e9:,.1f} GB "
            "are free. Drop columns (--drop), or fill the holes first."
        )
        raise MemoryBudgetError(message, needed=needed, budget=free)
    return np.asarray(source.map_rows(dense_block), dtype=np.float64)


def dense_block(block: Block) -> HostArray:
    """Return the rows of a block as a dense array of NumPy's."""
    return block.rows.toarray() if hasattr(block.rows, "indptr") else to_host(block.rows)


def dense_rows(X: HostArray, names: tuple[str, ...] | None) -> RowSource:
    """Return a source of rows in memory."""
    return DenseRows(np.ascontiguousarray(X), column_names=names)


def varying(X: HostArray, names: tuple[str, ...]) -> tuple[HostArray, tuple[str, ...], list[str]]:
    """Return the columns of a table with holes that vary, their names, and the names of those that do not."""
    known = ~np.isnan(X)
    low, high = np.where(known, X, np.inf).min(axis=0), np.where(known, X, -np.inf).max(axis=0)
    constant = low >= high
    if constant.all():
        return X, names, []
    kept = tuple(name for name, still in zip(names, constant, strict=True) if not still)
    return X[:, ~constant], kept, [name for name, still in zip(names, constant, strict=True) if still]


def scaled_moments(source: RowSource, chosen: HostArray) -> tuple[HostArray, HostArray]:
    """Return deviations and means of columns whose squares leave the range of floats.

    Each column is divided by a power of two near its largest entry, which rounds nothing. Cost: three passes over the
    rows, one where all entries are zero.
    """

    def parts(power: Any = 0) -> Iterator[HostArray]:
        for i in range(source.n_blocks):
            yield np.ldexp(dense_block(source.block(i))[:, chosen].astype(np.float64), -power)

    largest = np.max([np.abs(part).max(axis=0) for part in parts()], axis=0)
    if not largest.any():
        return largest, largest.copy()
    _, power = np.frexp(largest)
    n = source.n_rows
    mean = np.sum([part.sum(axis=0) for part in parts(power)], axis=0) / n
    squares = np.sum([((part - mean) ** 2).sum(axis=0) for part in parts(power)], axis=0)
    return np.ldexp(np.sqrt(squares / max(n - 1, 1)), power), np.ldexp(mean, power)
