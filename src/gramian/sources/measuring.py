"""The pass that measures the moments of rows, safe for any mean.

The scatter is never  X'X - n mean mean'. Rows are shifted by a provisional mean first, so that what is
squared is of the size of the spread; the small difference between the provisional mean and the true one
is corrected afterwards by a rank-one term that is small too.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gramian.arrays.namespace import Array, HostArray, cast, device_of, from_host, is_numpy, namespace_of, to_host
from gramian.arrays.precision import FLOAT64
from gramian.arrays.squares import (
    SquareSum,
    add_squares,
    by_syrk,
    completed,
    merge_squares,
    squares_of,
    weighted_sum,
)
from gramian.sources.finiteness import require_finite
from gramian.sources.moments import UNIT, Moments, drift_rounding
from gramian.sources.rows import Block, RowSource, ranges
from gramian.sources.sparse import column_sums, squares_about

SAMPLE_ROWS = 1024
"""Rows, at most, whose mean is the provisional shift, spread evenly over the source."""

SAMPLE_NUMBERS = 1 << 20
"""Numbers, about, that such a sample has at most."""

PIECE = 1 << 17
"""Numbers of dense rows that are summed at a time where no scatter is: they and a copy stay in a core's cache."""

SMALL_PROBLEM = 1 << 21
"""Numbers under which float32 rows are simply taken to float64: nothing is gained by less."""

FAR = 100.0
"""Sum of squares of the distance from shift to mean, beside that about the mean, from which on it is measured again:
taking the one off the other has cost two digits."""

SYRK_ROWS = 512
"""Rows that SYRK squares at a time, in no more time than all at once: fresh memory for more of them costs more."""

FEW_NUMBERS = 1 << 17
"""Numbers up to which calls cost more than arithmetic: then rows are measured in the way that makes the fewest."""


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

    Cost: n d^2 operations with ``scatter`` (4 n d without), one pass, and memory for one d x d matrix a
    worker and one block.
    """
    moments: Moments
    far = np.zeros(0, dtype=bool)
    if _are_few(source):
        moments = source.reduce(partial(_fold_few, scatter, center), Moments.merge)
    else:
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


def _are_few(source: RowSource) -> bool:
    """Tell whether rows are one small block on the host, without weights."""
    return (
        source.has_columns
        and source.weights is None
        and source.n_rows * source.n_columns <= FEW_NUMBERS
        and source.n_blocks == 1
        and is_numpy(source.like())
    )


def _fold_few(scatter: bool, center: bool, _: Moments | None, block: Block) -> Moments:  # noqa: FBT001 - a fold
    """Measure a block about its own mean: nothing is left to be corrected.

    Differences from the first row give a mean that is exact for a constant column. What rounding has cost it is seen in
    the differences from it, and taken off both: a difference is rounded beside its own size, not beside the mean's.
    """
    n, d = block.rows.shape
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        if center:
            origin, share = block.rows[0, :].astype(FLOAT64), np.full(n, 1 / n)
            rows = block.rows - origin
            mean = origin + share @ rows
            np.subtract(block.rows, mean, out=rows)
            left = share @ rows
            rows -= left
            mean += left
        else:
            rows, mean = np.ascontiguousarray(block.rows, dtype=FLOAT64), np.zeros(d)
        if not scatter:
            return Moments(n, float(n), mean, np.einsum("ij,ij->j", rows, rows), None)
        return centered_moments(rows, mean)


def centered_moments(rows: HostArray, mean: HostArray) -> Moments:
    """Return the moments of float64 rows whose mean has been taken off, in two subtractions at most."""
    n = len(rows)
    matrix, _error, depth = squares_of(rows)
    squares = matrix.diagonal()
    # An entry has two roundings of its own, and goes into a product twice.
    return Moments(n, float(n), mean, squares, matrix, rounding=(depth + 5) * UNIT * squares)


def _provisional_mean(source: RowSource) -> HostArray:
    """Return the mean of evenly spaced rows, exact for constant columns; zero for sparse rows."""
    if source.is_sparse:
        return np.zeros(source.n_columns)
    wanted = min(SAMPLE_ROWS, max(8, SAMPLE_NUMBERS // max(source.n_columns, 1)))
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
        if self.scatter and by_syrk(block.rows):
            step = SYRK_ROWS
        if step >= n:  # a slice of sparse rows would be a copy
            return self._taken(state, block)
        for part in ranges(n, step):
            weights = None if block.weights is None else block.weights[part]
            state = self._taken(state, Block(block.rows[part, :], block.start + part.start, weights))
        return state

    def _taken(self, state: _Sums | None, block: Block) -> _Sums:
        weight = float(block.rows.shape[0]) if block.weights is None else float(block.weights.sum())
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            part = (self._sparse if hasattr(block.rows, "indptr") else self._dense)(state, block, weight)
        return part if state is None else _join(state, part, part.squares)

    def _dense(self, state: _Sums | None, block: Block, weight: float) -> _Sums:
        rows, buffer = self._shifted(block.rows, None if state is None else state.buffer)
        xp = namespace_of(rows)
        if block.weights is None:
            root = xp.ones(rows.shape[0], dtype=rows.dtype, **device_of(rows))
        else:
            root = from_host(np.sqrt(to_host(block.weights)), like=rows, dtype=self.dtype)
            rows *= root[:, None]
        # A product by NumPy's BLAS would leave its threads spinning beside SciPy's, which squares large rows: 4,000 x
        # 4,000 take 0.85 s then, and 0.68 without.
        first = np.einsum("i,ij->j", root, rows) if self.scatter and by_syrk(rows) else weighted_sum(root, rows)
        first = to_host(first).astype(FLOAT64, copy=False)
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
    dtype = working_dtype(source)
    shift = shift.astype(dtype).astype(FLOAT64)
    sums = source.reduce(_Fold(shift, scatter, dtype), _merge, state_bytes=8 * d * d if scatter else 0)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        delta = sums.first / sums.weight if center else np.zeros(d)
        drift = sums.weight * delta * delta
        matrix = None if sums.squares is None else sums.squares.matrix
        second = to_host(namespace_of(matrix).linalg.diagonal(matrix)) if sums.second is None else sums.second
        squares = np.maximum(second - drift, 0.0)
        far = (drift > FAR * squares) & np.isfinite(drift).all()
        mean = shift + delta if center else delta
        moments = Moments(source.n_rows, sums.weight, mean, squares, matrix)
        if sums.squares is not None:
            # What lies within rounding is not corrected: it is in the bound.
            is_at_mean = bool((drift <= UNIT * squares).all())
            matrix = _recentered(sums.squares.matrix, sums.weight, np.zeros(d) if is_at_mean else delta)
            roundings = (sums.squares.depth + 8) * (1 if source.weights is None else 2)
            moments = _with_rounding(replace(moments, scatter=matrix), second, delta, roundings)
            rounding = moments.known_rounding + (drift if is_at_mean else 0.0)
            moments = replace(moments, error=sums.squares.error, rounding=rounding)
    return moments, far


def _with_rounding(moments: Moments, second: HostArray, delta: HostArray, roundings: int) -> Moments:
    """State what rounding has cost moments whose ``second`` ones were summed about a shift, ``delta`` from the mean.

    The scatter about the shift is larger than the one about the mean, and so is its rounding. The sums of the rows have
    as many ``roundings`` as their products, weights included; their terms are  sqrt(second / W)  on average at most.
    """
    wrong = roundings * UNIT * np.sqrt(second / moments.weight)
    rounding = roundings * UNIT * second
    if delta.any():
        rounding += drift_rounding(moments.weight, delta, wrong)
    return replace(moments, rounding=rounding, mean_rounding=wrong + UNIT * np.abs(moments.mean))


def working_dtype(source: RowSource) -> np.dtype[Any]:
    """Return the precision in which blocks are multiplied: that of the rows, or float64 for few of them."""
    return FLOAT64 if source.n_rows * source.n_columns <= SMALL_PROBLEM else source.dtype


def _recentered(scatter: Array, weight: float, delta: HostArray) -> Array:
    """Move the scatter from the shift to the mean and fill its upper triangle.

    Without BLAS, whose other threads would spin for a while after a call, on the cores that the next pass needs.
    """
    if not is_numpy(scatter):
        shift = from_host(delta, like=scatter)
        return scatter - weight * shift[:, None] * shift[None, :]
    columns = scatter.T
    for part in ranges(len(delta) if np.any(delta) else 0, 64):
        columns[part, part.start :] -= (weight * delta[part])[:, None] * delta[part.start :]
    return completed(scatter)
