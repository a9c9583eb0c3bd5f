"""Categories and quantities as rows of numbers whose principal components are their correspondence analysis.

Escofier's and Pages' coding: a level that a share p of the rows has becomes a column of zeros and  sqrt(s / p);  a
quantity is centered and divided by its deviation. Rows are coded block by block, as they are read: the n x J matrix of
indicators is never held.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
import scipy

from gramian.arrays.namespace import Array, HostArray, host_floats
from gramian.arrays.precision import FLOAT64
from gramian.errors import InputError
from gramian.machine import worker_count
from gramian.sources.categories import LevelColumn, MixedTable
from gramian.sources.rows import Block, Fold, Merge, RowSource, WrappedRows, block_length, ranges

FILLED = 0.1
"""Share of entries that are not zero under which blocks are sparse: products then cost less than dense ones."""

UNKNOWN = -1
"""Code of a cell that stands for the average of its column: missing, or a level that the fit has not seen."""


@dataclass(frozen=True, eq=False)
class Coding:
    """How the columns of a table become numbers: fitted once, then the same for all rows.

    Attributes
    ----------
    quantities, categories : tuple of str
        Names of the columns, in the order they are coded.
    levels : tuple of tuple of str
        Of each category; the level "" stands for cells without a value.
    proportions : numpy array (J,)
        Share of the rows that has each level, of all categories one after the other.
    mean, deviation : numpy array (q,)
        Of the quantities; the deviation of a constant one is 1.
    share : float
        s: 1 / Q in multiple correspondence analysis of Q categories, where each has inertia 1 / Q; 1 for mixed data.
    """

    quantities: tuple[str, ...]
    categories: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    proportions: HostArray
    mean: HostArray
    deviation: HostArray
    share: float

    @property
    def n_columns(self) -> int:
        """Coded columns: quantities, then levels."""
        return len(self.quantities) + len(self.proportions)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the coded columns: "age", and "color=red" for a level."""
        pairs = zip(self.categories, self.levels, strict=True)
        return (*self.quantities, *(f"{name}={level or '(missing)'}" for name, own in pairs for level in own))

    @cached_property
    def groups(self) -> tuple[slice, ...]:
        """The coded columns of each category."""
        ends = np.cumsum([len(self.quantities), *map(len, self.levels)]).tolist()
        return tuple(slice(low, high) for low, high in pairwise(ends))

    @cached_property
    def weights(self) -> HostArray:
        """What an indicator is multiplied by, sqrt(s / p) (J,)."""
        return np.sqrt(self.share / self.proportions)

    @cached_property
    def averages(self) -> HostArray:
        """What a cell of unknown level has in the columns of its category, sqrt(s p) (J,): the mean of each."""
        return np.sqrt(self.share * self.proportions)

    @cached_property
    def units(self) -> HostArray:
        """What coded columns are multiplied by, and what is added then, to be as the table has them (2, D).

        A level is 1 in rows that have it and 0 in others.
        """
        J = len(self.proportions)
        return np.stack([np.r_[self.deviation, 1.0 / self.weights], np.r_[self.mean, np.zeros(J)]])

    def codes(self, columns: Mapping[str, LevelColumn], n_rows: int, *, unknown: str = "error") -> HostArray:
        """Return the place of each cell's level among the coded levels (n, Q); -1 for the average.

        Parameters
        ----------
        columns : mapping of str to LevelColumn
        n_rows : int
        unknown : str
            What is done with a level that the fit has not seen: "error" refuses it, "ignore" makes it the average.
        """
        if not self.categories:
            return np.empty((n_rows, 0), dtype=np.int32)
        coded = []
        for name, levels in zip(self.categories, self.levels, strict=True):
            column = columns[name]
            place = {level: i for i, level in enumerate(levels)}
            # The last entry is what -1, a cell without a value, stands for.
            table = np.array([place.get(level, UNKNOWN) for level in (*column.levels, "")], dtype=np.int32)
            odd = [i for i, level in enumerate(column.levels) if table[i] == UNKNOWN]
            if odd and unknown == "error":
                _refuse_level(name, levels, column, odd)
            coded.append(table[column.codes])
        return np.column_stack(coded)

    def dense(self, numbers: HostArray, codes: HostArray) -> HostArray:
        """Return coded rows (b, D)."""
        q, n = len(self.quantities), len(codes)
        out = np.zeros((n, self.n_columns))
        out[:, :q] = self.standardized(numbers)
        at, first = np.arange(n), 0
        for j, group in enumerate(self.groups):
            own, size = codes[:, j], group.stop - group.start
            known = own >= 0
            if known.all():
                out[at, group.start + own] = self.weights[first + own]
            else:
                out[at[known], group.start + own[known]] = self.weights[first + own[known]]
                out[~known, group] = self.averages[first : first + size]
            first += size
        return out

    def sparse(self, numbers: HostArray, codes: HostArray) -> Any:
        """Return coded rows (b, D) as CSR."""
        q, n = len(self.quantities), len(codes)
        starts = np.array([group.start for group in self.groups], dtype=np.int32)
        values, columns = self.standardized(numbers), codes + starts
        data = np.hstack([values, np.append(self.weights, 0.0)[columns - q]])
        places = np.hstack([np.broadcast_to(np.arange(q, dtype=np.int32), (n, q)), columns])
        if (codes >= 0).all():
            indptr = np.arange(0, data.size + 1, max(data.shape[1], 1), dtype=np.int64)
            return scipy.sparse.csr_array((data.ravel(), places.ravel(), indptr), shape=(n, self.n_columns))
        known = np.hstack([np.ones((n, q), dtype=bool), codes >= 0])
        rows = np.broadcast_to(np.arange(n)[:, None], data.shape)
        parts = [(data[known], rows[known], places[known])]
        for j, group in enumerate(self.groups):
            gone = np.flatnonzero(codes[:, j] < 0)
            fill = self.averages[group.start - q : group.stop - q]
            inside = np.arange(group.start, group.stop)
            parts.append((np.tile(fill, len(gone)), np.repeat(gone, len(fill)), np.tile(inside, len(gone))))
        data, rows, places = (np.concatenate(piece) for piece in zip(*parts, strict=True))
        found = scipy.sparse.csr_array((data, (rows, places)), shape=(n, self.n_columns))
        found.sort_indices()
        return found

    def standardized(self, numbers: HostArray) -> HostArray:
        """Return quantities (b, q), centered and divided by their deviations."""
        return (numbers - self.mean) / self.deviation


def _refuse_level(name: str, levels: tuple[str, ...], column: LevelColumn, odd: list[int]) -> None:
    row = int(np.argmax(np.isin(column.codes, odd)))
    level = column.levels[column.codes[row]]
    known = ", ".join(repr(known) for known in levels[:6]) + (", ..." if len(levels) > 6 else "")
    message = (
        f"Found unknown categories: column {name!r} has the level {level!r} in row {row:,}, and the fit saw {known}. "
        "Pass handle_unknown='ignore' to place such rows by their other columns."
    )
    raise InputError(message, row=row, column=name)


class _Windows(WrappedRows):
    """Rows in memory, in blocks of so few that a block stays small when it is coded; each is a task of its own."""

    def __init__(self, source: RowSource, step: int) -> None:
        super().__init__(source)
        self._windows = ranges(source.n_rows, step)

    @property
    def n_blocks(self) -> int:
        """Number of blocks that :meth:`block` can give."""
        return len(self._windows)

    def block_sizes(self) -> list[int]:
        """Return the number of rows of each block."""
        return [window.stop - window.start for window in self._windows]

    def block(self, i: int) -> Block:
        """Return block ``i``, a view of the array."""
        window = self._windows[i]
        rows = self.source.whole[window, :]  # type: ignore[index]
        return Block(rows, window.start, None if self.weights is None else self.weights[window])


class IndicatorRows(WrappedRows):
    """The rows of a mixed table, coded as they are read.

    Cost of a pass: that of the quantities, and a block of coded rows per worker, sparse where levels are many.

    Parameters
    ----------
    table : MixedTable
    coding : Coding
    unknown : str
        See :meth:`Coding.codes`.
    passive : bool
        Whether a quantity that is missing stands at its mean; else it stays NaN, which a fit refuses.

    Examples
    --------
    >>> from gramian.sources.categories import open_mixed
    >>> table = open_mixed(np.array([["a"], ["b"], ["a"], ["a"]], dtype=object))
    >>> coding = Coding((), ("x0",), (("a", "b"),), np.array([0.75, 0.25]), np.empty(0), np.empty(0), 1.0)
    >>> IndicatorRows(table, coding).block(0).rows.round(3)
    array([[1.155, 0.   ],
           [0.   , 2.   ],
           [1.155, 0.   ],
           [1.155, 0.   ]])
    """

    def __init__(self, table: MixedTable, coding: Coding, *, unknown: str = "error", passive: bool = False) -> None:
        filled = len(coding.quantities) + len(coding.categories)
        is_sparse = filled < FILLED * coding.n_columns
        self.piece = block_length(12 * filled if is_sparse else 8 * coding.n_columns)
        super().__init__(table.numbers if table.numbers.whole is None else _Windows(table.numbers, self.piece))
        self.coding, self.passive, self.is_sparse = coding, passive, is_sparse
        self.n_columns, self.dtype, self.column_names = coding.n_columns, FLOAT64, coding.names
        self.has_columns, self.row_shape, self.facts = False, None, None
        self._codes = coding.codes(table.categories, table.n_rows, unknown=unknown)
        self._used = [table.quantities.index(name) for name in coding.quantities]

    @property
    def n_entries(self) -> int:
        """Stored numbers."""
        filled = len(self.coding.quantities) + len(self.coding.categories)
        return self.n_rows * (filled if self.is_sparse else self.n_columns)

    @property
    def pass_bytes(self) -> int:
        """Bytes that a pass holds at most: that of the quantities, and per worker a coded block and its products."""
        filled = len(self.coding.quantities) + len(self.coding.categories)
        row = 12 * filled if self.is_sparse else 8 * self.n_columns
        piece = 3 * row * min(self.piece, self.n_rows) + 8 * 6 * self.n_columns
        return self.source.pass_bytes + piece * worker_count()

    def block(self, i: int) -> Block:
        """Return block ``i``, coded."""
        return self.coded(self.source.block(i))

    def evenly(self, count: int) -> Iterable[Array]:
        """Return about ``count`` coded rows, spread evenly over the sampled blocks."""
        blocks = self.sampled_blocks
        each = -(-count // len(blocks))
        for i in blocks:
            block = self.source.block(i)
            b = block.rows.shape[0]
            yield self._rows(block.rows, block.start, slice(0, b, max(1, b // each)))

    def reduce(self, fold: Fold, merge: Merge, *, state_bytes: int = 0) -> Any:
        """Fold every coded block into one value."""
        return self.source.reduce(partial(self._fold, fold), merge, state_bytes=state_bytes)

    def map_rows(self, local: Callable[[Block], Array]) -> Array:
        """Stack ``local`` of every coded block."""
        return self.source.map_rows(partial(self._map, local))

    def map_blocks(self, local: Callable[[Block], Array]) -> Iterator[Array]:
        """Give ``local`` of every coded block, one after the other."""
        return self.source.map_blocks(partial(self._map, local))

    def coded(self, block: Block) -> Block:
        """Return a block of quantities as coded rows."""
        return block._replace(rows=self._rows(block.rows, block.start, slice(None)))

    def _rows(self, numbers: Array, start: int, taken: slice) -> Any:
        values = self._known(numbers[taken])
        codes = self._codes[start : start + numbers.shape[0]][taken]
        return (self.coding.sparse if self.is_sparse else self.coding.dense)(values, codes)

    def _known(self, numbers: Array) -> HostArray:
        """Return the quantities that are coded; missing ones at their mean where they are passive."""
        values = host_floats(numbers)[:, self._used]
        if self.passive and np.isnan(values).any():
            values = np.where(np.isnan(values), self.coding.mean, values)
        return values

    def pieces(self, block: Block) -> Iterator[tuple[Block, Array]]:
        """Cut a block of quantities into pieces of few rows; give each coded, and as it was."""
        for part in ranges(block.rows.shape[0], self.piece):
            weights, numbers = None if block.weights is None else block.weights[part], block.rows[part]
            yield self.coded(Block(numbers, block.start + part.start, weights)), numbers

    def cells(self) -> tuple[HostArray, HostArray]:
        """Return the code of each category (n, Q) and the standardized quantities (n, q) of all rows."""
        if not self._used:
            return self._codes, np.empty((self.n_rows, 0))
        return self._codes, self.source.map_rows(self._quantities)

    def _quantities(self, block: Block) -> HostArray:
        return self.coding.standardized(self._known(block.rows))

    def _fold(self, fold: Fold, state: Any, block: Block) -> Any:
        for piece, _ in self.pieces(block):
            state = fold(state, piece)
        return state

    def _map(self, local: Callable[[Block], Array], block: Block) -> Array:
        parts = [local(piece) for piece, _ in self.pieces(block)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)
