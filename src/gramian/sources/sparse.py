"""Sparse rows in memory, kept as CSR and never made dense; products and sums of their entries in float64."""

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import scipy

from gramian.arrays.namespace import Array, HostArray
from gramian.arrays.precision import FLOAT64
from gramian.machine import MEGABYTE, cores, memory_budget, worker_count
from gramian.sources.rows import Block, Fold, Merge, PairFold, RowSource, fold_block, fold_pairs, run_folds

PIECE = 1 << 18
"""Stored entries that are converted at a time (no array as long as all of them is made)."""

LEAST_ENTRIES = 1 << 19
"""Stored entries of a block, at least: a product with fewer takes less time than handing it to a worker (16 cores,
5,000,000 entries, one column at a time: 0.74 s for a fit in 16 blocks, 0.40 s in 8)."""


class SparseRows(RowSource):
    """Rows of a SciPy CSR array; absent entries are zeros.

    Blocks share the entries of the whole: one block per core by default, or fewer where there is little work, because
    a sparse product needs no cache-sized piece and each piece costs a dense result.

    Parameters
    ----------
    matrix : scipy.sparse.csr_array (n, d)
        float32 or float64, canonical (sorted, no duplicates).
    weights : array (n,), optional
    column_names : tuple of str, optional
    n_blocks : int, optional

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> rows = SparseRows(sp.csr_array([[1.0, 0.0], [0.0, 2.0]]), n_blocks=2)
    >>> rows.block(1).rows.toarray()
    array([[0., 2.]])
    """

    is_sparse = True

    def __init__(
        self,
        matrix: Any,
        *,
        weights: Array | None = None,
        column_names: tuple[str, ...] | None = None,
        n_blocks: int | None = None,
    ) -> None:
        self.matrix = matrix
        self.n_rows, self.n_columns = matrix.shape
        self.dtype = np.dtype(matrix.dtype)
        self.weights, self.column_names = weights, column_names
        self._bounds = _balanced_bounds(matrix.indptr, n_blocks or min(cores(), -(-matrix.nnz // LEAST_ENTRIES)))
        self._pieces: dict[int, Any] = {}

    @property
    def n_entries(self) -> int:
        """Stored numbers."""
        return int(self.matrix.nnz)

    @property
    def whole(self) -> Any:
        """The CSR array."""
        return self.matrix

    def copied(self) -> "SparseRows":
        """Return a source over a copy of the array."""
        matrix, names = self.matrix.copy(), self.column_names
        return SparseRows(matrix, weights=self.weights, column_names=names, n_blocks=self.n_blocks)

    @property
    def pass_bytes(self) -> int:
        """Bytes that a pass holds at most."""
        return sparse_pass_bytes(self)

    @property
    def n_blocks(self) -> int:
        """Number of blocks that :meth:`block` can give."""
        return len(self._bounds) - 1

    def block(self, i: int) -> Block:
        """Return block ``i`` as CSR; its entries are views of the whole."""
        low, high = self._bounds[i], self._bounds[i + 1]
        if i not in self._pieces:
            self._pieces[i] = _rows_view(self.matrix, low, high)
        return Block(self._pieces[i], low, None if self.weights is None else self.weights[low:high])

    def cut(self, rows: slice) -> Block:
        """Return some consecutive rows as CSR; its entries are views of the whole."""
        piece = _rows_view(self.matrix, rows.start, rows.stop)
        return Block(piece, rows.start, None if self.weights is None else self.weights[rows])

    def reduce(self, fold: Fold, merge: Merge, *, state_bytes: int = 0) -> Any:
        """Fold every block into one value: one pass over the stored entries, in threads.

        Sparse products are not threaded by BLAS: as many workers run as have room for a running value each.
        """
        workers = min(worker_count(), memory_budget() // 8 // max(state_bytes, 1))
        return run_folds(range(self.n_blocks), partial(fold_block, self, fold), merge, workers=max(workers, 1))

    def reduce_pairs(self, fold: PairFold, merge: Merge, *, symmetric: bool, block_rows: int | None = None) -> Any:
        """Fold pairs of blocks into one value; with ``symmetric`` only the pairs i <= j."""
        return fold_pairs(self, fold, merge, symmetric=symmetric, block_rows=block_rows, cut=self.cut)


def sparse_pass_bytes(source: RowSource) -> int:
    """Return the bytes of a pass over sparse rows: float32 entries in float64, and per worker a piece and its products.

    A piece has its entries, their indices and what is made of them; results have six numbers per column.
    """
    copied = 8 * source.n_entries if source.dtype.itemsize < 8 else 0
    each = 24 * min(PIECE, source.n_entries) + 8 * 6 * source.n_columns
    return copied + each * worker_count() + 4 * MEGABYTE


def _balanced_bounds(indptr: Any, n_blocks: int) -> list[int]:
    """Cut the rows so that every block holds about the same number of entries (and never no row)."""
    n = len(indptr) - 1
    n_blocks = max(1, min(n_blocks, n))
    targets = np.linspace(0, int(indptr[-1]), n_blocks + 1)[1:-1]
    inner = np.clip(np.searchsorted(indptr, targets), 1, max(n - 1, 1))
    return sorted({0, n, *(int(i) for i in inner)})


def _rows_view(matrix: Any, low: int, high: int) -> Any:
    """Return rows low..high as CSR sharing the entries (SciPy's own slicing copies them)."""
    begin, end = int(matrix.indptr[low]), int(matrix.indptr[high])
    piece = type(matrix)((high - low, matrix.shape[1]), dtype=matrix.dtype)
    piece.data = matrix.data[begin:end]
    piece.indices = matrix.indices[begin:end]
    piece.indptr = matrix.indptr[low : high + 1] - matrix.indptr[low]
    return piece


def in_float64(source: RowSource) -> RowSource:
    """Return sparse float32 rows in memory as float64 ones that share their indices; any other source as it is.

    SciPy converts the entries at every product with float64 vectors; once is enough. Cost: 8 bytes per entry.
    """
    if not source.is_sparse or source.whole is None or source.dtype == FLOAT64:
        return source
    matrix = entries_in_float64(source.whole)
    return SparseRows(matrix, weights=source.weights, column_names=source.column_names, n_blocks=source.n_blocks)


def entries_in_float64(rows: Any) -> Any:
    """Return CSR rows whose entries are float64 and whose indices are the same arrays."""
    if rows.dtype == FLOAT64:
        return rows
    converted = type(rows)(rows.shape, dtype=FLOAT64)
    converted.data, converted.indices, converted.indptr = rows.data.astype(FLOAT64), rows.indices, rows.indptr
    return converted


def transposed(rows: Any) -> Any:
    """Return the transpose of CSR rows as CSC sharing the entries (SciPy's ``.T`` copies those of a view each time)."""
    turned = scipy.sparse.csc_array(rows.shape[::-1], dtype=rows.dtype)
    turned.data, turned.indices, turned.indptr = rows.data, rows.indices, rows.indptr
    return turned


def pieces_in_float64(rows: Any, *, entries: int = PIECE) -> Iterator[tuple[slice, Any]]:
    """Give CSR rows, and which they are, in pieces with float64 copies of about so many of their entries.

    All copies are in one place, because fresh memory costs page faults: a piece is gone when the next one comes.
    """
    cuts = _cuts(rows.indptr, entries)
    room = np.empty(max((int(rows.indptr[part.stop] - rows.indptr[part.start]) for part in cuts), default=0))
    for part in cuts:
        piece = _rows_view(rows, part.start, part.stop)
        copied = room[: len(piece.data)]
        copied[...] = piece.data
        piece.data = copied
        yield part, piece


def _cuts(indptr: HostArray, entries: int) -> list[slice]:
    """Cut rows where about so many entries are full; never without a row."""
    cuts, n = [0], len(indptr) - 1
    while cuts[-1] < n:
        high = int(np.searchsorted(indptr, int(indptr[cuts[-1]]) + entries, side="right")) - 1
        cuts.append(max(high, cuts[-1] + 1))
    return [slice(low, high) for low, high in pairwise(cuts)]


def column_sums(rows: Any, weights: Any, shift: HostArray) -> tuple[HostArray, HostArray, HostArray]:
    """Return, per column, the weight stored and the first and second moments of stored entries about a shift.

    Each is a product of the transposed entries with the weights. Entries are taken some at a time, so that no array as
    long as all of them is made. The weight stored matters to a shift alone: it is not counted (zeros) without one.
    """
    shifts = bool(shift.any())
    stored, first, second = (np.zeros(rows.shape[1]) for _ in range(3))
    for part, piece in pieces_in_float64(rows):
        each = np.ones(piece.shape[0]) if weights is None else np.asarray(weights[part], dtype=FLOAT64)
        turned = transposed(piece)
        if shifts:
            piece.data -= shift[piece.indices]
        first += turned @ each
        piece.data *= piece.data
        second += turned @ each
        if shifts:
            piece.data[...] = 1.0
            stored += turned @ each
    return stored, first, second


def squares_about(rows: Any, weights: Any, shift: HostArray) -> HostArray:
    """Return  sum w (x - shift)(x - shift)'  of CSR rows, (d, d) in float64: a column that is shifted is made whole.

    Products are summed one after the other: in float32 a million of them would keep no digit. Columns are made whole
    some rows at a time, twice as many numbers as are stored at most; SciPy copies both sides of a product, which so
    are never more than the sum itself.
    """
    d, moved = len(shift), shift != 0
    out = np.zeros((d, d), order="F")
    for part, piece in pieces_in_float64(rows, entries=max(PIECE, d * d)):
        some = None if weights is None else weights[part]
        if moved.any():
            whole = piece[:, moved].toarray() - shift[moved]
            piece.data[moved[piece.indices]] = 0.0
            cross = _products(piece, some, whole)
            out[:, moved] += cross
            out[moved, :] += cross.T
            out[np.ix_(moved, moved)] += whole.T @ (whole if some is None else whole * some[:, None])
        _add_columns(out, _products(piece, some, piece))
    return out


def _products(left: Any, weights: Any, right: Any) -> Any:
    """Return  left' diag(weights) right,  by columns where ``right`` is sparse."""
    weighted = left if weights is None else left.multiply(np.asarray(weights)[:, None]).tocsr()
    return weighted.T @ right


def _add_columns(out: HostArray, sparse: Any) -> None:
    """Add a CSC matrix to ``out``, some columns at a time: a dense copy of all of it would take as much again."""
    step = max(1, PIECE // len(out))
    for start in range(0, len(out), step):
        part = slice(start, start + step)
        out[:, part] += sparse[:, part].toarray()
