"""Count, mean and scatter of rows, weighted and mergeable, with a bound on what rounding has cost them.

The scatter is never  X'X - n mean mean'. Rows are shifted by a provisional mean first, so that what is squared is of
the size of the spread; the small difference between the provisional mean and the true one is corrected afterwards by a
rank-one term that is small too.

Where a block of columns can be read it holds every row, so its means are known at once: :func:`measure_gram` centers
it, adds its inner products, and has the moments in the same pass.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gramian.arrays.namespace import (
    Array,
    HostArray,
    cast,
    device_of,
    from_host,
    is_numpy,
    is_sparse,
    namespace_of,
    on_device,
    to_host,
)
from gramian.arrays.precision import FLOAT32, FLOAT64, eps_of
from gramian.arrays.squares import PIECE, SUM_DEPTH, SquareSum, add_squares, completed, merge_squares, weighted_sum
from gramian.sources.finiteness import require_finite
from gramian.sources.rows import Block, ColumnBlock, RowSource, ranges
from gramian.sources.sparse import column_sums, squares_about

UNIT = eps_of(FLOAT64) / 2
"""Relative rounding error of one operation, at most."""

SAFE_SQUARES = {FLOAT64: (1e-200, 1e200), FLOAT32: (1e-24, 1e28)}
"""Sums of squares outside this range have lost digits to underflow, or all of them to overflow."""


SMALL_PROBLEM = 1 << 21
"""Numbers up to which float32 rows are multiplied in float64: their answer is then proved, not measured."""


@dataclass(frozen=True, eq=False)
class Moments:
    """What one pass over the rows leaves: enough for the covariance and for merging.

    Computes  mean = sum w x / W,  scatter = sum w (x - mean)(x - mean)',  W = sum w.

    Attributes
    ----------
    count : int
        Rows seen.
    weight : float
        W, the sum of the weights; the count when there are none.
    mean : array (d,), float64
        On the host; with the rows where :func:`measure_gram` found it.
    squares : array (d,), float64
        Diagonal of the scatter, where the mean is.
    scatter : array (d, d), float64, or None
        On the host for NumPy and sparse rows, with the rows for torch.
    error : float
        Rounding of float32 products in the scatter, measured, relative to its largest eigenvalue; zero without any.
    lost : float
        Upper bound of the sum of squares that a rank-limited state has dropped; zero when exact.
    rounding : numpy array (d,), or None where no scatter is
        What float64 arithmetic has cost at most: entry (i, j) of the scatter, or of what stands for it, is wrong by
        sqrt(rounding_i rounding_j),  so that its eigenvalues are wrong by the sum of ``rounding``.
    mean_rounding : numpy array (d,), or None
        What the mean is wrong by at most.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.sources.dense import DenseRows
    >>> from gramian.sources.moments import measure_moments
    >>> X = np.array([[1.0, 2.0], [3.0, 2.0], [5.0, 5.0]])
    >>> whole = measure_moments(DenseRows(X))
    >>> halves = measure_moments(DenseRows(X[:1])).merge(measure_moments(DenseRows(X[1:])))
    >>> bool(np.allclose(whole.scatter, halves.scatter)) and whole.count == halves.count
    True
    """

    count: int
    weight: float
    mean: Array
    squares: Array
    scatter: Array | None
    error: float = 0.0
    lost: float = 0.0
    rounding: HostArray | None = None
    mean_rounding: HostArray | None = None

    @property
    def is_offset(self) -> bool:
        """Whether the mean is so far from the origin, relative to the spread, that squaring it costs eight digits."""
        return self.offset > 100

    @cached_property
    def offset(self) -> float:
        """Size of the mean relative to the spread,  |1 mean'| / |X - 1 mean'|  in the Frobenius norm.

        By that factor rounding grows where a product is corrected for the mean afterwards.
        """
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            # Not by BLAS, whose threads would go on spinning in the pass that follows.
            mean, spread = float((self.mean * self.mean).sum()), float(self.squares.sum())
            return float(np.sqrt(np.divide(self.weight * mean, spread)))

    def on_host(self) -> "Moments":
        """Return the same with mean and squares on the host."""
        return replace(self, mean=to_host(self.mean), squares=to_host(self.squares))

    def merge(self, other: "Moments") -> "Moments":
        """Return the moments of both sets of rows together (Chan, Golub and LeVeque, 1979, eq. 2.1)."""
        weight = self.weight + other.weight
        delta = other.mean - self.mean
        step = self.weight * (other.weight / weight)
        scatter = None
        if self.scatter is not None and other.scatter is not None:
            shift = from_host(delta, like=self.scatter)
            scatter = self.scatter + other.scatter + step * (shift[:, None] * shift[None, :])
        merged = Moments(
            count=self.count + other.count,
            weight=weight,
            mean=self.mean + delta * (other.weight / weight),
            squares=self.squares + other.squares + step * delta * delta,
            scatter=scatter,
            error=max(self.error, other.error),
            lost=self.lost + other.lost,
        )
        unknown = scatter is None and (self.rounding is None or other.rounding is None)
        return merged if unknown else merged._rounded_like(self, other)

    def _rounded_like(self, left: "Moments", right: "Moments") -> "Moments":
        """State the rounding of moments that two others were merged to: theirs, that of their means, and of the sums.

        Entries add up:  sqrt(a_i a_j) + sqrt(b_i b_j) <= sqrt((a + b)_i (a + b)_j)  (Cauchy and Schwarz).
        """
        delta, share = right.mean - left.mean, right.weight / self.weight
        first, second = left.known_mean_rounding, right.known_mean_rounding
        wrong = first + second + UNIT * np.abs(delta)
        drift = drift_rounding(left.weight * share, delta, wrong)
        mean = (1 - share) * first + share * second + UNIT * (np.abs(self.mean) + 4 * share * np.abs(delta))
        return replace(
            self,
            rounding=left.known_rounding + right.known_rounding + drift + 8 * UNIT * self.squares,
            mean_rounding=mean,
        )

    def lost_by_rounding(self, factor: HostArray | None) -> float:
        """Return what rounding has cost the eigenvalues at most, if columns are multiplied by ``factor``.

        Factors have some from the squares: with columns times 1 + e, |e_j| <= e, eigenvalues are wrong by  2 e  of the
        largest.
        """
        rounding = self.known_rounding
        if factor is None:
            return float(rounding.sum())
        doubt = np.divide(rounding, self.squares, out=np.zeros_like(rounding), where=self.squares > 0)
        scaled = self.squares * factor**2
        return float(doubt @ scaled + (doubt.max(initial=0.0) + 8 * UNIT) * scaled.sum())

    @property
    def known_rounding(self) -> HostArray:
        """``rounding``, or that of a few operations where nothing else is known."""
        return 8 * UNIT * self.squares if self.rounding is None else self.rounding

    @property
    def known_mean_rounding(self) -> HostArray:
        """``mean_rounding``, or what a sum of all rows is wrong by at most, and the mean as it is held."""
        if self.mean_rounding is not None:
            return self.mean_rounding
        return np.asarray(UNIT * (np.abs(self.mean) + (self.count + 8) * np.sqrt(self.squares / self.weight)))


def drift_rounding(weight: float, delta: HostArray, wrong: HostArray) -> HostArray:
    """Return r with  weight |(delta + e)(delta + e)' - delta delta'|_ij <= sqrt(r_i r_j)  for any  |e_j| <= wrong_j.

    As  a_i b_j + b_i a_j <= sqrt(t a_i^2 + b_i^2 / t) sqrt(t a_j^2 + b_j^2 / t),  for any t: here the one that makes
    the sum of r least.
    """
    size, miss = float(np.sqrt(delta @ delta)), float(np.sqrt(wrong @ wrong))
    if size == 0 or miss == 0 or not np.isfinite(size * miss):
        return weight * wrong**2
    t = miss / size
    return np.asarray(weight * (t * delta**2 + (1 + 1 / t) * wrong**2))


def squares_are_safe(moments: Moments, dtype: np.dtype[Any], *, each: bool = False) -> bool:
    """Tell whether the squares, those of ``each`` column where asked, kept to the range of the rows' precision.

    Only the largest column counts where columns are added to one another; each counts where each is scaled by its own.
    A column whose squares are all zero is constant, unless its mean is so small that they may have underflowed.
    """
    low, high = SAFE_SQUARES[np.dtype(dtype)]
    squares = moments.squares
    if not each:
        return low < largest(squares) < high
    vanished = (squares == 0) & (moments.mean != 0) & (np.abs(moments.mean) < np.sqrt(low))
    return bool(np.all(squares < high) and np.all((squares > low) | (squares == 0)) and not np.any(vanished))


def largest(sizes: Array) -> float:
    """Return the largest of some sizes, zero where there are none."""
    return float(sizes.max()) if len(sizes) else 0.0


def measure_moments(
    source: RowSource, *, scatter: bool = True, center: bool = True, about: HostArray | None = None
) -> Moments:
    """Measure count, mean and scatter in one pass over the rows.

    A second pass is made only when the provisional shift turns out to be far from the mean compared with
    the spread (a source whose even sample misleads), so that the correction would cost digits.

    Parameters
    ----------
    source : RowSource
    scatter : bool, default=True
        Whether to form the d x d matrix; without it only its diagonal is summed.
    center : bool, default=True
        With ``False`` the mean is taken as zero: second moments about the origin.
    about : numpy array (d,), optional
        The mean, where it is known but for rounding: what is measured about it need not be corrected.

    Cost: n d^2 operations with ``scatter`` (4 n d without), one pass, and memory for one d x d matrix
    and one block per worker.
    """
    shift = np.zeros(source.n_columns)
    if center:
        shift = _provisional_mean(source) if about is None else about
    moments, far = _pass(source, shift, scatter=scatter, center=center)
    if not np.isfinite(moments.mean if center else moments.squares).all():
        require_finite(source)
    if center and far.any():
        # Shifting a column of sparse rows fills it: only where it is far from zero, which a column that is stored in
        # less than half of the rows never is.
        shift = np.where(far, moments.mean, 0.0) if source.is_sparse else moments.mean
        moments, _ = _pass(source, shift, scatter=scatter, center=True)
    return moments


def _provisional_mean(source: RowSource) -> HostArray:
    """Return the mean of evenly spaced rows, exact for constant columns; zero for sparse rows."""
    if source.is_sparse:
        return np.zeros(source.n_columns)
    # 256 rows, or about a million numbers of wide ones, are enough for a shift.
    wanted = min(256, max(8, (1 << 20) // max(source.n_columns, 1)))
    first = None
    sums, count = np.zeros(source.n_columns), 0
    with np.errstate(over="ignore", invalid="ignore"):
        for rows in _in_pieces(source.evenly(wanted)):
            sample = cast(rows, FLOAT64)
            first = sample[0, :] if first is None else first
            sums += to_host((sample - first).sum(axis=0))
            count += sample.shape[0]
        return sums if first is None else to_host(first) + sums / count


def _in_pieces(arrays: Iterable[Array]) -> Iterator[Array]:
    """Cut rows on the host into pieces whose copies fit a core's cache and use the same memory, one after another."""
    for rows in arrays:
        step = max(1, PIECE // max(rows.shape[1], 1)) if is_numpy(rows) else rows.shape[0]
        yield from (rows[part, :] for part in ranges(rows.shape[0], max(step, 1)))


class _Sums(NamedTuple):
    """Running sums about a fixed shift."""

    weight: float
    first: HostArray
    second: HostArray | None
    squares: SquareSum | None
    buffer: Array | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel without the buffer, which is as large as a block."""
        return _Sums, (self.weight, self.first, self.second, self.squares)


@dataclass(frozen=True, eq=False)
class _Fold:
    """Take a block of rows into the running sums about a fixed shift."""

    shift: HostArray
    scatter: bool
    dtype: np.dtype[Any]

    def __call__(self, state: _Sums | None, block: Block) -> _Sums | None:
        n, d = block.rows.shape
        # Without products that gain by many rows, a piece that fits a core's cache is enough, and less memory to touch.
        step = max(1, PIECE // max(d, 1)) if is_numpy(block.rows) and not self.scatter else max(n, 1)
        if step >= n:  # a slice of sparse rows would be a copy
            return self._taken(state, block)
        for part in ranges(n, step):
            weights = None if block.weights is None else block.weights[part]
            state = self._taken(state, Block(block.rows[part, :], block.start + part.start, weights))
        return state

    def _taken(self, state: _Sums | None, block: Block) -> _Sums:
        weight = float(block.rows.shape[0]) if block.weights is None else float(block.weights.sum())
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            part = (self._sparse if is_sparse(block.rows) else self._dense)(state, block, weight)
        return part if state is None else _join(state, part, part.squares)

    def _dense(self, state: _Sums | None, block: Block, weight: float) -> _Sums:
        rows, buffer = self._shifted(block.rows, None if state is None else state.buffer)
        xp = namespace_of(rows)
        if block.weights is None:
            root = xp.ones(rows.shape[0], dtype=rows.dtype, **device_of(rows))
        else:
            root = from_host(np.sqrt(to_host(block.weights)), like=rows, dtype=self.dtype)
            rows *= root[:, None]
        first = to_host(weighted_sum(root, rows)).astype(FLOAT64, copy=False)
        if self.scatter:
            return _Sums(weight, first, None, add_squares(None if state is None else state.squares, rows), buffer)
        second = np.einsum("ij,ij->j", rows, rows) if xp is np else to_host(xp.sum(rows * rows, axis=0))
        return _Sums(weight, first, second.astype(FLOAT64, copy=False), None, buffer)

    def _shifted(self, rows: Array, buffer: Array | None) -> tuple[Array, Array | None]:
        """Return rows - shift; host rows go to a buffer that is used again, because fresh memory costs page faults."""
        shift = from_host(self.shift, like=rows, dtype=self.dtype)
        if not is_numpy(rows):
            return cast(rows, self.dtype) - shift, None
        if buffer is None or len(buffer) < len(rows):
            buffer = np.empty_like(rows, dtype=self.dtype)
        return np.subtract(rows, shift, out=buffer[: len(rows)]), buffer

    def _sparse(self, state: _Sums | None, block: Block, weight: float) -> _Sums:
        rows, w = block.rows, block.weights
        stored, first, second = column_sums(rows, w, self.shift)
        # Absent entries are zeros, -shift after shifting: counted by the weight that each column does not store.
        absent = weight - stored
        first -= absent * self.shift
        second += absent * self.shift**2
        if not self.scatter:
            return _Sums(weight, first, second, None)
        square = SquareSum(squares_about(rows, w, self.shift), 0.0, rows.shape[0])
        if state is not None and state.squares is not None:
            square = merge_squares(state.squares, square)
        return _Sums(weight, first, second, square)


def _join(left: _Sums, right: _Sums, squares: SquareSum | None) -> _Sums:
    second = None if left.second is None or right.second is None else left.second + right.second
    return _Sums(left.weight + right.weight, left.first + right.first, second, squares, right.buffer)


def _merge(left: _Sums, right: _Sums) -> _Sums:
    if left.squares is None or right.squares is None:
        return _join(left, right, None)
    return _join(left, right, merge_squares(left.squares, right.squares))


def _pass(source: RowSource, shift: HostArray, *, scatter: bool, center: bool) -> tuple[Moments, HostArray]:
    """Make one pass; return the moments, and in which columns the shift was so far from the mean as to cost digits."""
    d = source.n_columns
    dtype = product_dtype(source)
    shift = shift.astype(dtype).astype(FLOAT64)
    sums = source.reduce(_Fold(shift, scatter, dtype), _merge, state_bytes=8 * d * d if scatter else 0)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        delta = sums.first / sums.weight if center else np.zeros(d)
        drift = sums.weight * delta * delta
        matrix = None if sums.squares is None else sums.squares.matrix
        second = to_host(namespace_of(matrix).linalg.diagonal(matrix)) if sums.second is None else sums.second
        squares = np.maximum(second - drift, 0.0)
        # Taking off a drift a hundred times the squares has cost two digits of them.
        far = (drift > 100.0 * squares) & np.isfinite(drift).all()
        mean = shift + delta if center else delta
        if sums.squares is None:
            return Moments(source.n_rows, sums.weight, mean, squares, None), far
        # What lies within rounding is not corrected: it is in the bound.
        is_at_mean = bool((drift <= UNIT * squares).all())
        unit = UNIT * (1 if source.weights is None else 2)
        roundings = sums.squares.depth + 8
        # The scatter about the shift is larger than the one about the mean, and so is its rounding. The terms of the
        # sums of the rows are  sqrt(second / W)  on average at most.
        wrong = (roundings + SUM_DEPTH) * unit * np.sqrt(second / sums.weight)
        rounding = roundings * unit * second
        if delta.any():
            rounding += drift_rounding(sums.weight, delta, wrong) + (drift if is_at_mean else 0.0)
        moments = Moments(
            source.n_rows,
            sums.weight,
            mean,
            squares,
            _recentered(sums.squares.matrix, sums.weight, np.zeros(d) if is_at_mean else delta),
            error=sums.squares.error,
            rounding=rounding,
            mean_rounding=wrong + UNIT * np.abs(mean),
        )
    return moments, far


def product_dtype(source: RowSource) -> np.dtype[Any]:
    """Return the precision in which blocks are multiplied: that of the rows, or float64 for few of them.

    On a device it is float64: the copy costs a pass over its memory, and products are as fast where it has units for
    them.
    """
    is_small = source.n_rows * source.n_columns <= SMALL_PROBLEM
    return FLOAT64 if is_small or on_device(source.like()) else source.dtype


def _recentered(scatter: Array, weight: float, delta: HostArray) -> Array:
    """Move the scatter from the shift to the mean, some rows at a time, and fill its upper triangle."""
    if not is_numpy(scatter):
        shift = from_host(delta, like=scatter)
        return scatter - weight * shift[:, None] * shift[None, :]
    for part in ranges(len(delta) if delta.any() else 0, max(1, PIECE // max(len(delta), 1))):
        scatter[part] -= (weight * delta[part])[:, None] * delta
    return completed(scatter)


class _ColumnSums(NamedTuple):
    means: dict[int, Array]
    squares: dict[int, Array]
    gram: SquareSum


def measure_gram(source: RowSource, *, center: bool) -> tuple[Moments, SquareSum]:
    """Return the moments (without a scatter) and the matrix Xc Xc' of a source whose columns can be read.

    Computes  Xc = diag(sqrt w) (X - 1 mean')  block by block, its means measured twice so that a large mean costs no
    digits, and the sum of Xc Xc' over the blocks. Cost: n^2 d operations, one pass, n^2 numbers per worker.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.sources.dense import DenseRows
    >>> moments, gram = measure_gram(DenseRows(np.array([[1.0, 5.0, 0.0], [3.0, 5.0, 4.0]])), center=True)
    >>> moments.mean, gram.matrix
    (array([2., 5., 2.]), array([[ 5., -5.],
           [-5.,  5.]]))
    """
    n = source.n_rows
    fold = _ColumnFold(center, product_dtype(source))
    sums = source.reduce_columns(fold, _merge_columns, state_bytes=8 * n * n)
    mean, squares = _in_order(sums.means), _in_order(sums.squares)
    if not bool(namespace_of(squares).isfinite(squares).all()):
        require_finite(source)
    weight = float(n) if source.weights is None else float(to_host(source.weights).sum())
    moments = Moments(n, weight, mean, squares, None, sums.gram.error)
    return moments, SquareSum(completed(sums.gram.matrix), sums.gram.error, sums.gram.depth)


@dataclass(frozen=True, eq=False)
class _ColumnFold:
    """Take a block of columns into the running sums."""

    center: bool
    dtype: np.dtype[Any]

    def __call__(self, state: _ColumnSums | None, block: ColumnBlock) -> _ColumnSums:
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            columns, mean, squares = self._centered(block)
            gram = add_squares(None if state is None else state.gram, columns.T)
        parts = _ColumnSums({}, {}, gram) if state is None else state._replace(gram=gram)
        parts.means[block.start] = mean
        parts.squares[block.start] = cast(squares, FLOAT64)
        return parts

    def _centered(self, block: ColumnBlock) -> tuple[Array, Array, Array]:
        """Return the weighted block about its means, the means, and the sum of squares of each column, where it lives.

        A second look at the means corrects the rounding of the first, where that is more than rounding of the squares.
        """
        columns = cast(block.columns, self.dtype)
        weights = np.ones(columns.shape[0]) if block.weights is None else to_host(block.weights)
        root = None if block.weights is None else from_host(np.sqrt(weights), like=columns, dtype=self.dtype)[:, None]
        if not self.center:
            columns = columns * (1 if root is None else root)
            squares = _column_squares(columns)
            return columns, cast(namespace_of(squares).zeros_like(squares), FLOAT64), squares
        share = from_host(weights / weights.sum(), like=columns[:0, :0], dtype=self.dtype)
        first = share @ columns
        columns = columns - first
        second = share @ columns
        mean, left = cast(first, FLOAT64), cast(second, FLOAT64)
        squares = None if root is not None else _column_squares(columns)
        if squares is None or not bool((float(weights.sum()) * left**2 <= eps_of(self.dtype) * squares).all()):
            columns -= second
            columns = columns if root is None else columns * root
            squares = _column_squares(columns)
        return columns, mean + left, squares


def _column_squares(columns: Array) -> Array:
    if isinstance(columns, np.ndarray):
        return np.asarray(np.einsum("ij,ij->j", columns, columns))
    return namespace_of(columns).sum(columns * columns, axis=0)


def _in_order(parts: dict[int, Array]) -> Array:
    """Return what was measured of blocks of columns as one vector, where the columns are."""
    found = [parts[start] for start in sorted(parts)]
    return found[0] if len(found) == 1 else namespace_of(found[0]).concat(found)


def _merge_columns(left: _ColumnSums, right: _ColumnSums) -> _ColumnSums:
    gram = merge_squares(left.gram, right.gram)
    return _ColumnSums(left.means | right.means, left.squares | right.squares, gram)
