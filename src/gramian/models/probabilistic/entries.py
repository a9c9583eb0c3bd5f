"""The known entries of a table: what a model with missing values is fitted to, whatever the table was.

A table with few missing values is kept dense, with zeros for what is missing and a sparse pattern of *missing* cells;
one with many is kept as its known cells alone. Both answer the same four questions for a chunk of rows, in which all
of the fit is written:

    sum over known j of T_j,   sum over known j of x_ij H_j      (per row)
    sum over rows i of T_i,    sum over rows i of x_ij G_i       (per column, over the rows that know it)

so that a sum over known cells of a nearly complete table is a total less what is missing. Rows of a dense table with
one pattern of missing values share their small system, and many of them are kept as their second moments: a million
complete rows cost a fit one pass.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp

from gramian.arrays.namespace import HostArray, to_host
from gramian.arrays.precision import FLOAT32, FLOAT64
from gramian.errors import InputError
from gramian.machine import memory_budget, worker_count
from gramian.sources.rows import Block, Merge, RowSource, all_rows, ranges, run_each, run_folds


class Rows(ABC):
    """Some rows of a table, by what is summed over their known cells.

    Attributes
    ----------
    n_rows : int
    shared : numpy array (n,) of int or None
        Rows of the same number know the same columns; None where all may differ.
    """

    n_rows: int
    shared: HostArray | None = None

    @abstractmethod
    def sums(self, T: HostArray) -> HostArray:
        """Return the sum of T_j over the known columns j of each row (of each pattern, where ``shared``)."""

    @abstractmethod
    def products(self, H: HostArray) -> HostArray:
        """Return the sum of x_ij H_j over the known columns j of each row."""

    @abstractmethod
    def column_sums(self, T: HostArray) -> HostArray:
        """Return, per column, the sum of T_i over the rows i that know it."""

    @abstractmethod
    def column_products(self, G: HostArray) -> HostArray:
        """Return, per column, the sum of x_ij G_i over the rows i that know it."""

    def squared(self, V: HostArray) -> HostArray:
        """Return X'(X V), with zeros for what is missing."""
        return self.column_products(self.products(V)).astype(FLOAT64, copy=False)


@dataclass(frozen=True, eq=False)
class SparseRows(Rows):
    """Rows kept as their known cells.

    Attributes
    ----------
    known, values : scipy sparse arrays (n, d)
        The same pattern: ones, and the entries.
    """

    known: Any
    values: Any

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """Number of rows."""
        return int(self.known.shape[0])

    def sums(self, T: HostArray) -> HostArray:
        """Return the sum of T_j over the known columns of each row."""
        return np.asarray(self.known @ T.astype(self.known.dtype))

    def products(self, H: HostArray) -> HostArray:
        """Return the sum of x_ij H_j over the known columns of each row."""
        return np.asarray(self.values @ H.astype(self.values.dtype))

    def column_sums(self, T: HostArray) -> HostArray:
        """Return the sum of T_i over the rows that know each column."""
        return np.asarray(self.known.T @ T.astype(self.known.dtype))

    def column_products(self, G: HostArray) -> HostArray:
        """Return the sum of x_ij G_i over the rows that know each column."""
        return np.asarray(self.values.T @ G.astype(self.values.dtype))


@dataclass(frozen=True, eq=False)
class DenseRows(Rows):
    """Rows kept dense, zeros for what is missing.

    Attributes
    ----------
    values : numpy array (n, d)
    patterns : scipy sparse array (p, d)
        Ones where values are missing, per pattern.
    shared : numpy array (n,)
        The pattern of each row.
    """

    values: HostArray
    patterns: Any
    shared: HostArray

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """Number of rows."""
        return len(self.values)

    def sums(self, T: HostArray) -> HostArray:
        """Return the sum of T_j over the known columns of each pattern."""
        return np.asarray(T.sum(axis=0) - self.patterns @ T)

    def products(self, H: HostArray) -> HostArray:
        """Return the sum of x_ij H_j over the known columns of each row."""
        return np.asarray(self.values @ H)

    def column_sums(self, T: HostArray) -> HostArray:
        """Return the sum of T_i over the rows that know each column."""
        member = sp.csr_array(
            (np.ones(len(self.values)), self.shared, np.arange(len(self.values) + 1)),
            shape=(len(self.values), self.patterns.shape[0]),
        )
        return np.asarray(T.sum(axis=0) - self.patterns.T @ (member.T @ T))

    def column_products(self, G: HostArray) -> HostArray:
        """Return the sum of x_ij G_i over the rows that know each column."""
        return np.asarray(self.values.T @ G)


@dataclass(frozen=True, eq=False)
class RowMoments:
    """Many rows that know the same columns, as their moments: all that a step of the fit asks of them.

    Attributes
    ----------
    count : int
    columns : numpy array (m,)
        Those that are known.
    sums : numpy array (m,)
    squares : numpy array (m, m)
        X'X of the known columns.
    """

    count: int
    columns: HostArray
    sums: HostArray
    squares: HostArray

    def squared(self, V: HostArray) -> HostArray:
        """Return X'(X V), with zeros for what is missing."""
        found = np.zeros_like(V)
        found[self.columns] = self.squares @ V[self.columns]
        return found


@dataclass(frozen=True, eq=False)
class KnownEntries(ABC):
    """The known entries of an n x d table, centered by ``center`` and multiplied by ``factor``, per column.

    Attributes
    ----------
    center, factor : numpy array (d,)
        A column of the table is  center + values / factor.
    counts, sums : numpy array (d,)
        Known entries per column, and the sum of their centered values.
    squares : float
        Sum of all squared values.
    of_sparse : bool
        Whether the table was a sparse one, of which what is not stored is missing; however its entries are held.
    way : str
        How they are held, in the words of a plan.
    """

    way: ClassVar[str]
    center: HostArray
    factor: HostArray
    counts: HostArray
    sums: HostArray
    squares: float
    of_sparse: bool

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Number of rows, n."""

    @property
    def n_columns(self) -> int:
        """Number of columns, d."""
        return len(self.center)

    @property
    def n_known(self) -> int:
        """Number of known entries."""
        return int(self.counts.sum())

    @property
    def is_complete(self) -> bool:
        """Whether nothing is missing."""
        return self.n_known == self.n_rows * self.n_columns

    @property
    def column_patterns(self) -> tuple[HostArray, HostArray]:
        """One column for each pattern of known rows, and the pattern of each column."""
        return np.arange(self.n_columns), np.arange(self.n_columns)

    @abstractmethod
    def reduce(self, fold: Callable[[Any, Any], Any], merge: Merge, *, state_bytes: int = 0) -> Any:
        """Fold all rows, in chunks of :class:`Rows` or :class:`RowMoments`, into one value: one pass."""

    @abstractmethod
    def sample(self, cells: int, entries: int) -> Any:
        """Return about so many cells of a dense table, or known entries of a sparse one, as a table again."""

    @abstractmethod
    def map_rows(self, local: Callable[[Rows], Any]) -> list[Any]:
        """Return ``local(rows)`` of all rows, a chunk at a time, in their order."""

    def squared(self, V: HostArray) -> HostArray:
        """Return X'(X V), with zeros for what is missing."""
        return np.asarray(self.reduce(partial(_add_squared, V), np.add, state_bytes=V.nbytes))


def _add_squared(V: HostArray, state: HostArray | None, chunk: Rows | RowMoments) -> HostArray:
    found = chunk.squared(V)
    return found if state is None else state + found


@dataclass(frozen=True, eq=False)
class HeldEntries(KnownEntries):
    """Known entries in memory: any rows can be had."""

    @abstractmethod
    def rows(self, part: slice) -> Rows:
        """Return some rows."""

    def slices(self) -> list[slice]:
        """Return slices of rows, in their order, that suit one product each."""
        return ranges(self.n_rows, chunk_rows(self.n_columns))

    def map_rows(self, local: Callable[[Rows], Any]) -> list[Any]:
        """Return ``local(rows)`` of all rows, shared out over the cores."""
        return run_each(self.slices(), lambda part: local(self.rows(part)))


def chunk_rows(n_columns: int) -> int:
    """Return how many rows one sparse product takes: as many as columns, for its result is as long as these."""
    return int(min(max(2048, n_columns), 32_768))


@dataclass(frozen=True, eq=False)
class SparseEntries(HeldEntries):
    """Known entries alone: 8 bytes each in float32."""

    way: ClassVar[str] = "known entries"
    values: Any
    ones: HostArray

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.values.shape[0])

    def rows(self, part: slice) -> SparseRows:
        """Return some rows, without a copy of their entries."""
        start, stop = part.start, part.stop
        pointers = self.values.indptr[start : stop + 1]
        low, high = int(pointers[0]), int(pointers[-1])
        indices, shape = self.values.indices[low:high], (stop - start, self.n_columns)
        pointers = (pointers - low).astype(indices.dtype)
        known = sp.csr_array((self.ones[: high - low], indices, pointers), shape=shape)
        return SparseRows(known, sp.csr_array((self.values.data[low:high], indices, pointers), shape=shape))

    def reduce(self, fold: Callable[[Any, Any], Any], merge: Merge, *, state_bytes: int = 0) -> Any:
        """Fold all rows into one value."""
        return _folded(self.slices(), lambda state, part: fold(state, self.rows(part)), merge, state_bytes)

    def sample(self, cells: int, entries: int) -> Any:
        """Return some rows with about so many known entries."""
        del cells
        return self.values[_some(self.n_rows, min(1.0, entries / self.n_known))]


@dataclass(frozen=True, eq=False)
class DenseEntries(HeldEntries):
    """A dense table of which little is missing.

    Attributes
    ----------
    values : numpy array (n, d)
        Zeros for what is missing.
    missing : numpy array (n, d) of bool
    """

    way: ClassVar[str] = "dense rows"
    values: HostArray
    missing: HostArray

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.values)

    @cached_property
    def _groups(self) -> tuple[HostArray, HostArray, HostArray]:
        """Rows sorted by pattern; the bounds of each pattern among them; one row of each."""
        first, pattern = _unique_rows(self.missing)
        order = np.argsort(pattern, kind="stable")
        bounds = np.concatenate([[0], np.cumsum(np.bincount(pattern, minlength=len(first)))])
        return order, bounds, first

    @cached_property
    def column_patterns(self) -> tuple[HostArray, HostArray]:
        """One column for each pattern of known rows, and the pattern of each column."""
        first, pattern = _unique_rows(self.missing.T)
        if len(first) == self.n_columns:  # all differ: then in the order of the columns, as where none is looked for
            return np.arange(self.n_columns), np.arange(self.n_columns)
        return first, pattern

    def rows(self, part: slice | HostArray) -> DenseRows:
        """Return some rows, by slice or by position."""
        missing = self.missing[part]
        first, pattern = _unique_rows(missing)
        return DenseRows(self.values[part], sp.csr_array(missing[first]).astype(FLOAT64), pattern)

    def reduce(self, fold: Callable[[Any, Any], Any], merge: Merge, *, state_bytes: int = 0) -> Any:
        """Fold all rows into one value; many with a common pattern are one chunk."""
        return _folded(self._chunks, fold, merge, state_bytes)

    def sample(self, cells: int, entries: int) -> Any:
        """Return some of the rows, or of the columns of a wide table: columns of which something is known."""
        del entries
        n, d = self.values.shape
        share = min(1.0, cells / (n * d))
        rows, columns = (_some(n, share), slice(None)) if n >= d else (slice(None), _some(d, share))
        X = np.where(self.missing[rows, columns], np.nan, self.values[rows, columns])
        return X[:, ~np.isnan(X).all(axis=0)]

    @cached_property
    def _chunks(self) -> list[Any]:
        order, bounds, first = self._groups
        # Moments of m rows are made once, for m d^2 operations, and hold d^2 numbers.
        many = np.diff(bounds) > 2 * self.n_columns
        found: list[Any] = [
            _moments(self.values, order[bounds[g] : bounds[g + 1]], ~self.missing[first[g]])
            for g in np.flatnonzero(many)
        ]
        rest = np.concatenate([order[:0], *(order[bounds[g] : bounds[g + 1]] for g in np.flatnonzero(~many))])
        return found + [self.rows(rest[part]) for part in ranges(len(rest), chunk_rows(self.n_columns))]


@dataclass(frozen=True, eq=False)
class SourceEntries(KnownEntries):
    """A table that each round reads anew, block by block: a file larger than the budget, or Dask's rows.

    Attributes
    ----------
    source : RowSource
    """

    way: ClassVar[str] = "blocks"
    source: RowSource

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.source.n_rows

    def map_rows(self, local: Callable[[Rows], Any]) -> list[Any]:
        """Return ``local(rows)`` of all rows, block by block."""
        standardized = Standardized(self.center, self.factor)
        return list(self.source.map_blocks(lambda block: local(standardized(block.rows))))

    def reduce(self, fold: Callable[[Any, Any], Any], merge: Merge, *, state_bytes: int = 0) -> Any:
        """Fold all rows into one value, where the source has them: one pass over the file, or a tree of tasks."""
        own = partial(_fold_block, Standardized(self.center, self.factor), fold)
        return self.source.reduce(own, merge, state_bytes=state_bytes)

    def sample(self, cells: int, entries: int) -> Any:
        """Return some rows, in the units of the model."""
        count = max(300, entries // max(1, self.n_known // self.n_rows) if self.source.is_sparse else 0)
        rows = list(self.source.evenly(max(count, cells // self.n_columns)))
        if self.source.is_sparse:
            return _scaled(sp.vstack(rows, format="csr"), self.center, self.factor)
        X = (np.concatenate([to_host(part) for part in rows]) - self.center) * self.factor
        return X[:, ~np.isnan(X).all(axis=0)]


@dataclass(frozen=True, eq=False)
class Standardized:
    """Blocks of a source as rows of known entries, in the units of the model.

    Attributes
    ----------
    center, factor : numpy array (d,)
    """

    center: HostArray
    factor: HostArray

    def __call__(self, rows: Any) -> Rows:
        """Return a block, dense with NaN or sparse."""
        if sp.issparse(rows):
            values = _scaled(rows, self.center, self.factor)
            known = values.copy()
            # What is stored as NaN counts as zero values of zero entries.
            known.data = (~np.isnan(values.data)).astype(values.dtype)
            values.data[np.isnan(values.data)] = 0.0
            return SparseRows(known, values)
        X = (to_host(rows).astype(FLOAT64) - self.center) * self.factor
        missing = np.isnan(X)
        first, pattern = _unique_rows(missing)
        X[missing] = 0.0
        return DenseRows(X, sp.csr_array(missing[first]).astype(FLOAT64), pattern)


def _fold_block(standardized: Standardized, fold: Callable[[Any, Any], Any], state: Any, block: Block) -> Any:
    return fold(state, standardized(block.rows))


def _scaled(rows: Any, center: HostArray, factor: HostArray) -> Any:
    data = (rows.data - center[rows.indices]) * factor[rows.indices]
    return sp.csr_array((data, rows.indices, rows.indptr), shape=rows.shape)


def _folded(tasks: list[Any], fold: Callable[[Any, Any], Any], merge: Merge, state_bytes: int) -> Any:
    """Fold tasks by as many workers as there is room for, a running value each."""
    room = memory_budget() // 4 // max(state_bytes, 1)
    return run_folds(tasks, fold, merge, workers=min(worker_count(), room) if room < worker_count() else None)


def _some(count: int, share: float) -> HostArray:
    """Return positions, evenly spread, of a share of all; 300 at least."""
    kept = min(count, max(300, round(share * count)))
    return np.linspace(0, count - 1, kept).astype(int)


def _moments(values: HostArray, rows: HostArray, known: HostArray) -> RowMoments:
    columns = np.flatnonzero(known)
    sums, squares = np.zeros(len(columns)), np.zeros((len(columns), len(columns)))
    everything = len(columns) == values.shape[1]
    for part in ranges(len(rows), max(2048, 1 << 22 >> max(values.shape[1].bit_length(), 1))):
        X = values[rows[part]] if everything else values[np.ix_(rows[part], columns)]
        sums += X.sum(axis=0)
        squares += X.T @ X
    return RowMoments(len(rows), columns, sums, squares)


def _unique_rows(flags: HostArray) -> tuple[HostArray, HostArray]:
    """Return the first place of each distinct row of flags, and which one each row is; rows without any come first."""
    some = np.flatnonzero(flags.any(axis=1))
    pattern, first = np.zeros(len(flags), dtype=int), np.zeros(0, dtype=int)
    if len(some) < len(flags):
        first = np.array([int(np.argmin(flags.any(axis=1)))])
    if len(some):
        packed = np.ascontiguousarray(np.packbits(flags[some], axis=1))
        keys = packed.view(np.dtype((np.void, packed.shape[1])))[:, 0]
        _, own, inverse = np.unique(keys, return_index=True, return_inverse=True)
        pattern[some] = len(first) + inverse.reshape(-1)
        first = np.concatenate([first, some[own]])
    return first, pattern


@np.errstate(over="ignore", invalid="ignore")  # A fit refuses what overflows by its sum of squares.
def known_entries(
    X: Any, *, scale: bool = False, units: tuple[HostArray, HostArray] | None = None, budget: int | None = None
) -> KnownEntries:
    """Return the known entries of a table: NaN of a dense array, and what a sparse one does not store, are missing.

    A zero that a sparse table stores is a known zero. Of cells that it stores twice, the mean is taken. Dense tables
    more than half empty are kept as their known entries. What is not in memory is brought there where it takes at most
    half of the budget, and else read anew in each round.

    Parameters
    ----------
    X : numpy array or scipy sparse array (n, d), a RowSource, or KnownEntries, returned as they are
    scale : bool
        Whether columns are divided by the deviation of what is known in them.
    units : (center, factor), optional
        What is subtracted from columns, and what they are then multiplied by: those of a model, for new rows.
    budget : int, optional
        Bytes that a source may be brought into.

    Examples
    --------
    >>> known_entries(np.array([[1.0, np.nan], [3.0, 5.0]])).n_known
    3
    >>> known_entries(sp.csr_array([[1.0, 0.0], [3.0, 5.0]])).n_known
    3
    """
    if isinstance(X, KnownEntries):
        return X
    if isinstance(X, RowSource):
        return _entries_of(X, scale=scale, room=(budget or memory_budget()) // 2)
    if sp.issparse(X):
        return _sparse_entries(X, scale=scale, units=units, of_sparse=True)
    X = np.asarray(X, dtype=FLOAT64)
    missing = np.isnan(X)
    if 2 * missing.sum() > X.size:
        return _sparse_entries(_coo(X, ~missing), scale=scale, units=units, of_sparse=False)
    infinite = np.isinf(X)
    if infinite.any():
        _refuse_infinity(*(int(i) for i in np.argwhere(infinite)[0]))
    counts = (~missing).sum(axis=0)
    center = np.where(missing, 0.0, X).sum(axis=0) / np.maximum(counts, 1) if units is None else units[0]
    values = X - center
    values[missing] = 0.0
    factor = np.ones(X.shape[1]) if units is None else units[1]
    if scale and units is None:
        factor = _factor(np.einsum("ij,ij->j", values, values), counts, center)
    values *= factor
    sums, squares = values.sum(axis=0), float(np.vdot(values, values))
    return DenseEntries(center, factor, counts, sums, squares, of_sparse=False, values=values, missing=missing)


def _entries_of(source: RowSource, *, scale: bool, room: int) -> KnownEntries:
    n, d = source.n_rows, source.n_columns
    if source.whole is not None:
        return known_entries(source.whole if source.is_sparse else to_host(source.whole[:, :]), scale=scale)
    if source.is_local and source.is_sparse and SPARSE_BYTES * source.n_entries <= room:
        return known_entries(all_rows(source), scale=scale)
    if source.is_local and not source.is_sparse and DENSE_BYTES * n * d <= room:
        return known_entries(source.map_rows(lambda block: to_host(block.rows).astype(FLOAT64)), scale=scale)
    found: _ColumnSums = source.reduce(_add_columns, _merged, state_bytes=24 * d)
    if not np.isfinite(found.squares).all():
        column = int(np.argmin(np.isfinite(found.squares)))
        message = (
            f"Column {column} holds infinity, or values whose squares are beyond the range of numbers. Remove what is "
            "infinite, or leave it empty if it is unknown; divide what is too large."
        )
        raise InputError(message, column=column)
    known = int(found.counts.sum())
    if source.is_local and not source.is_sparse and 2 * known < n * d and SPARSE_BYTES * known <= room:
        sparse = (
            _coo(X := to_host(rows), ~np.isnan(X)).tocsr() for rows in source.map_blocks(lambda block: block.rows)
        )
        table = sp.vstack(list(sparse), format="csr")
        return _sparse_entries(table, scale=scale, units=None, of_sparse=False)
    factor = _factor(found.squares, found.counts, found.means) if scale else np.ones(d)
    squares = float(found.squares @ factor**2)
    return SourceEntries(found.means, factor, found.counts, np.zeros(d), squares, source.is_sparse, source)


SPARSE_BYTES, DENSE_BYTES = 32, 26
"""Bytes per known entry of a sparse table, and per cell of a dense one, while it is brought into memory: as it comes,
centered in float64, and as it is kept."""


class _ColumnSums(NamedTuple):
    """Of what is known in each column: how many, their means, and their squares about these."""

    counts: HostArray
    means: HostArray
    squares: HostArray


def _add_columns(state: _ColumnSums | None, block: Block) -> _ColumnSums:
    rows: Any = block.rows
    with np.errstate(invalid="ignore", over="ignore"):
        if hasattr(rows, "indices"):
            X, j = rows.data.astype(FLOAT64), rows.indices
            known = ~np.isnan(X)
            X, j, d = X[known], j[known], rows.shape[1]
            counts = np.bincount(j, minlength=d)
            means = np.bincount(j, X, minlength=d) / np.maximum(counts, 1)
            squares = np.bincount(j, (X - means[j]) ** 2, minlength=d)
        else:
            X = to_host(rows).astype(FLOAT64)
            known = ~np.isnan(X)
            counts = known.sum(axis=0)
            means = np.where(known, X, 0.0).sum(axis=0) / np.maximum(counts, 1)
            squares = (np.where(known, X - means, 0.0) ** 2).sum(axis=0)
    found = _ColumnSums(counts, means, squares)
    return found if state is None else _merged(state, found)


def _merged(left: _ColumnSums, right: _ColumnSums) -> _ColumnSums:
    counts = left.counts + right.counts
    share = right.counts / np.maximum(counts, 1)
    with np.errstate(invalid="ignore", over="ignore"):
        away = right.means - left.means
        squares = left.squares + right.squares + away**2 * left.counts * share
        return _ColumnSums(counts, left.means + away * share, squares)


def _coo(X: HostArray, known: HostArray) -> Any:
    rows, columns = np.nonzero(known)
    return sp.coo_array((X[rows, columns], (rows, columns)), shape=X.shape)


def triplets(rows: Any, columns: Any, values: Any, *, shape: tuple[int, int] | None = None) -> Any:
    """Return the sparse table of (row, column, value) triplets; of a cell given more than once, the mean.

    Parameters
    ----------
    rows, columns : integers (m,), from 0
    values : numbers (m,)
    shape : (n, d), optional
        One more than the largest positions, unless given.

    Examples
    --------
    >>> triplets([0, 1, 1], [0, 1, 1], [5.0, 1.0, 3.0]).toarray()
    array([[5., 0.],
           [0., 2.]])
    """
    rows, columns, values = (np.asarray(part) for part in (rows, columns, values))
    if not (rows.ndim == columns.ndim == values.ndim == 1 and len(rows) == len(columns) == len(values)):
        message = (
            f"Triplets are three sequences of one length, and these have the shapes {rows.shape}, {columns.shape} and "
            f"{values.shape}. Pass rows, columns and values."
        )
        raise InputError(message)
    if len(rows) == 0:
        message = "There are no triplets: nothing is known. Pass at least two."
        raise InputError(message)
    for name, part in (("rows", rows), ("columns", columns)):
        if part.dtype.kind not in "iu":
            message = (
                f"The {name} of triplets are positions, whole numbers from 0, and these are of type {part.dtype}. "
                "Number them first, for example with numpy.unique(names, return_inverse=True)."
            )
            raise InputError(message)
    least = (int(rows.max()) + 1, int(columns.max()) + 1)
    size = least if shape is None else (int(shape[0]), int(shape[1]))
    if min(int(rows.min()), int(columns.min())) < 0 or size[0] < least[0] or size[1] < least[1]:
        message = (
            f"Triplets reach from ({int(rows.min())}, {int(columns.min())}) to ({least[0] - 1:,}, {least[1] - 1:,}), "
            f"outside of the shape {size}. Pass positions from 0, and a shape that holds them."
        )
        raise InputError(message)
    return one_value_per_cell(sp.coo_array((values, (rows, columns)), shape=size))


def one_value_per_cell(X: Any) -> Any:
    """Return a sparse table in CSR form in which each known cell is stored once: the mean of what was stored for it.

    A cell for which NaN was stored is not known.
    """
    if X.format == "csr" and X.has_canonical_format:
        return _without_nan(X)
    X = X.tocoo()
    values = X.data if X.dtype.kind == "f" and X.dtype.itemsize >= 4 else X.data.astype(FLOAT64)
    # A COO table adds what it stores twice; so do its counts.
    total = sp.coo_array((values, X.coords), shape=X.shape).tocsr()
    if total.nnz < X.nnz:
        count = sp.coo_array((np.ones(X.nnz, dtype=values.dtype), X.coords), shape=X.shape).tocsr()
        for table in (total, count):
            table.sum_duplicates()
            table.sort_indices()
        total.data /= count.data
    return _without_nan(total)


def _without_nan(X: Any) -> Any:
    known = ~np.isnan(X.data)
    if known.all():
        return X
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    return sp.coo_array((X.data[known], (rows[known], X.indices[known])), shape=X.shape).tocsr()


def _sparse_entries(
    X: Any, *, scale: bool, units: tuple[HostArray, HostArray] | None, of_sparse: bool
) -> SparseEntries:
    X, dtype = one_value_per_cell(X), FLOAT32 if of_sparse else FLOAT64
    data = X.data.astype(FLOAT64)
    if np.isinf(data).any():
        place = int(np.flatnonzero(np.isinf(data))[0])
        row = int(np.searchsorted(X.indptr, place, side="right")) - 1
        _refuse_infinity(row, int(X.indices[place]))
    d = X.shape[1]
    counts = np.bincount(X.indices, minlength=d)
    center = np.bincount(X.indices, data, minlength=d) / np.maximum(counts, 1) if units is None else units[0]
    data = data - center[X.indices]
    factor = np.ones(d) if units is None else units[1]
    if scale and units is None:
        factor = _factor(np.bincount(X.indices, data**2, minlength=d), counts, center)
    data *= factor[X.indices]
    integers = np.int32 if X.nnz < 2**31 else np.int64
    with np.errstate(over="ignore"):
        sums, squares, data = np.bincount(X.indices, data, minlength=d), float(np.vdot(data, data)), data.astype(dtype)
    values = sp.csr_array((data, X.indices.astype(np.int32), X.indptr.astype(integers)), shape=X.shape)
    squares = squares if squares <= float(np.finfo(dtype).max) else np.inf  # float32 holds less, of products too
    longest = max((int(X.indptr[p.stop] - X.indptr[p.start]) for p in ranges(X.shape[0], chunk_rows(d))), default=0)
    return SparseEntries(center, factor, counts, sums, squares, of_sparse, values, np.ones(longest, dtype=dtype))


def _factor(squares: HostArray, counts: HostArray, center: HostArray) -> HostArray:
    spread = np.sqrt(squares / np.maximum(counts, 1))
    return 1.0 / np.where(spread > 8 * np.finfo(FLOAT64).eps * np.abs(center), spread, 1.0)


def _refuse_infinity(row: int, column: int) -> None:
    message = f"Row {row:,} holds infinity in column {column}. Remove it, or leave it empty if it is unknown."
    raise InputError(message, row=row, column=column)
