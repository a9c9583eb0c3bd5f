"""Rows seen as white: the whitening is part of the matrix that unmixes, and every evaluation is one pass.

For sources  s = W K (x - mean)  all algorithms need the same two means over the rows: E[psi(s) s'] and E[psi'(s)]. A
third one, E[psi'(s_i) s_j^2], tells a minimum from a saddle.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from operator import concat
from typing import Any, NamedTuple

import numpy as np

from gramian.arrays.namespace import (
    Array,
    HostArray,
    cast,
    device_of,
    from_host,
    host_floats,
    is_numpy,
    is_sparse,
    namespace_of,
    picked,
    to_host,
)
from gramian.arrays.precision import FLOAT32, FLOAT64
from gramian.sources.dense import DenseRows
from gramian.sources.moments import product_dtype
from gramian.sources.rows import Block, RowSource, add_each, ranges
from gramian.unmixing.contrast import Contrast

SMALL_MEAN = {FLOAT64: 1e3, FLOAT32: 3.0}
"""Mean, in deviations, up to which products are corrected for it afterwards: it costs three digits at most."""


class ScoreMoments(NamedTuple):
    """Means over the rows, in float64 on the host.

    ``cross`` is E[psi(s) s'] (k, k), or E[psi(s) z'] where z was asked for; ``slope`` is E[psi'(s)] (k,).
    """

    cross: HostArray
    slope: HostArray


class TurnMoments(NamedTuple):
    """Means over the rows, in float64 on the host: E[psi(s) s] (k,), E[psi'(s)] (k,) and E[psi'(s_i) s_j^2] (k, k)."""

    along: HostArray
    slope: HostArray
    squares: HostArray


@dataclass(frozen=True, eq=False)
class WhiteRows:
    """Rows x of a source as  z = K (x - mean),  never stored.

    Attributes
    ----------
    source : RowSource
    whitening : numpy array (k, d)
        K, in float64; the identity for rows that are white already.
    mean : numpy array (d,) or None
        ``None`` for rows that are not to be centered.
    second : numpy array (k, k)
        E[z z']: the identity after whitening.
    precision : numpy.dtype or None
        Precision in which a pass computes; ``None`` for that of the rows, float64 for few of them.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.unmixing.contrast import Cube
    >>> rows = WhiteRows(DenseRows(np.array([[1.0], [-1.0]])), np.eye(1), None, np.eye(1))
    >>> rows.score_moments(np.eye(1), Cube()).cross
    array([[1.]])
    """

    source: RowSource
    whitening: HostArray
    mean: HostArray | None
    second: HostArray
    precision: np.dtype[Any] | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.source.n_rows

    @property
    def size(self) -> int:
        """Number of white columns, k."""
        return len(self.whitening)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Precision in which a pass computes."""
        return self.precision or product_dtype(self.source)

    def score_moments(self, W: HostArray, contrast: Contrast, *, against_z: bool = False) -> ScoreMoments:
        """Return the means that algorithms need, for sources  s = W z: one pass.

        Cost: 2 n k (d + k) operations and n k nonlinearities; ``against_z`` (for the few sources of a deflation) has
        2 n k d in place of 2 n k^2.
        """
        project = self._projection(W @ self.whitening)
        cross, slope = self._means(project, partial(_row_scores if against_z else _scores, contrast))
        return ScoreMoments(cross @ self.whitening.T if against_z else cross, slope)

    def turn_moments(self, W: HostArray, contrast: Contrast) -> TurnMoments:
        """Return the means that tell how the contrast bends where pairs of sources turn: one pass.

        Cost: that of :meth:`score_moments`.
        """
        return TurnMoments(*self._means(self._projection(W @ self.whitening), partial(_turns, contrast)))

    def sources(self, W: HostArray, *, dtype: np.dtype[Any] | None = None) -> Array:
        """Return the sources  W z  of all rows (n, k), in the library of the rows: one pass."""
        return self.source.map_rows(partial(_sources, self._projection(W @ self.whitening), dtype or self.dtype))

    def in_memory(self, dtype: np.dtype[Any]) -> "WhiteRows":
        """Return the same white rows in memory, in another precision: one pass, for rows in this process."""
        return self._of(self.sources(np.eye(self.size), dtype=dtype), self.source.weights)

    def sampled(self, most: int, *, dtype: np.dtype[Any] | None = None) -> "WhiteRows":
        """Return one white row of each run of m, ``most`` of them at most, in memory: one pass.

        Which rows are taken depends on their position alone, so not on blocks or threads; the place in each run is a
        random-looking one, so that rows which repeat with a period are seen at all phases.
        """
        dtype = dtype or self.dtype
        if most >= self.n_rows and self.source.is_local:
            return self.in_memory(dtype)
        places = thinned(self.n_rows, -(-self.n_rows // most))
        parts = self.source.reduce(partial(_gather, self._projection(self.whitening), dtype, places), concat)
        weights = None if parts[0][1] is None else np.concatenate([to_host(w) for _, w in parts])
        return self._of(namespace_of(parts[0][0]).concat([rows for rows, _ in parts]), weights)

    def _of(self, array: Array, weights: Array | None) -> "WhiteRows":
        """Return rows in memory that are white already; a pass over them computes in their own precision."""
        rows, size = DenseRows(array, weights=weights), self.size
        return WhiteRows(rows, np.eye(size), None, self.second, precision=rows.dtype)

    def _projection(self, matrix: HostArray) -> "_Projection":
        """Return x -> matrix (x - mean), centered afterwards where that costs no digits, else before."""
        cut = matrix.astype(self.dtype)
        if self.mean is None:
            return _Projection(cut, None, None, None)
        offset = cut.astype(FLOAT64) @ self.mean
        if self.source.is_sparse or float(np.abs(offset).max(initial=0.0)) <= SMALL_MEAN[self.dtype]:
            return _Projection(cut, None, self.mean, offset)
        return _Projection(cut, self.mean, None, None)

    def _means(self, project: "_Projection", measure: "_Measure") -> tuple[HostArray, ...]:
        """Return the weighted means over the rows of what ``measure`` sums over a block."""
        weight, *sums = self.source.reduce(partial(_fold, project, measure), add_each)
        return tuple(total / weight for total in sums)


@dataclass(frozen=True, eq=False)
class _Projection:
    """The map  x -> A (x - mean)  in the precision of A.

    The mean is ``before`` where it is taken off first, else ``after``, and A times it is ``offset``.
    """

    matrix: HostArray
    before: HostArray | None
    after: HostArray | None
    offset: HostArray | None

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.matrix.dtype

    def prepared(self, rows: Array) -> Array:
        """Return rows in the precision of the product, less the mean where it is taken off before."""
        if is_sparse(rows):
            return rows.astype(self.dtype, copy=False)
        rows = cast(rows, self.dtype)
        return rows if self.before is None else rows - from_host(self.before, like=rows, dtype=self.dtype)

    def times(self, rows: Array) -> Array:
        """Return the sources (b, k) of prepared rows."""
        if is_sparse(rows):
            s = rows @ np.ascontiguousarray(self.matrix.T)
        else:
            # The values of a source lie one after another: what follows runs over consecutive numbers.
            s = (from_host(self.matrix, like=rows) @ rows.T).T
        if self.offset is not None:
            s -= from_host(self.offset, like=s, dtype=self.dtype)
        return s

    def __call__(self, rows: Array) -> Array:
        """Return the sources of rows, (b, d) to (b, k)."""
        return self.times(self.prepared(rows))


class _Seen(NamedTuple):
    """A block as a measure sees it: its prepared rows, the mean that they still have, their sources and weights."""

    rows: Array
    mean: HostArray | None
    sources: Array
    weights: Array | None

    def weighted(self, values: Array) -> Array:
        return values if self.weights is None else values * self.weights[:, None]

    def scores(self, contrast: Contrast) -> tuple[Array, Array]:
        """Return psi(s) and psi'(s), times the weights: a mean of psi' over rows of unequal weight would be wrong."""
        if self.weights is None:
            return contrast.evaluate(self.sources)
        psi, slope = contrast.pointwise(self.sources)
        return self.weighted(psi), self.weighted(slope)


_Measure = Callable[[_Seen], tuple[HostArray, ...]]
"""What is summed over a block."""


def _pieces(project: _Projection, block: Block) -> list[slice]:
    """Cut a block on the host: what is computed from a piece is several arrays as large as it, for each worker."""
    count = block.rows.shape[0]
    # Bytes of sources that a worker computes at a time.
    step = max(64, (1 << 18) // (project.dtype.itemsize * len(project.matrix)))
    return ranges(count, step if is_numpy(block.rows) else count)


def _fold(project: _Projection, measure: _Measure, state: tuple[Any, ...] | None, block: Block) -> tuple[Any, ...]:
    for part in _pieces(project, block):
        rows = project.prepared(block.rows[part])
        s = project.times(rows)
        w = None if block.weights is None else from_host(to_host(block.weights[part]), like=s, dtype=project.dtype)
        found = (float(s.shape[0] if w is None else w.sum()), *measure(_Seen(rows, project.after, s, w)))
        state = found if state is None else add_each(state, found)
    assert state is not None  # noqa: S101 - a block has rows
    return state


def _scores(contrast: Contrast, seen: _Seen) -> tuple[HostArray, ...]:
    """Return the sums of psi(s) s' and of psi'(s)."""
    psi, slope = seen.scores(contrast)
    return host_floats(psi.T @ seen.sources), _total(slope)


def _row_scores(contrast: Contrast, seen: _Seen) -> tuple[HostArray, ...]:
    """Return the sums of psi(s) (x - mean)' and of psi'(s)."""
    psi, slope = seen.scores(contrast)
    if is_sparse(seen.rows):
        cross = np.asarray((seen.rows.T @ np.ascontiguousarray(psi)).T, dtype=FLOAT64)
    else:
        cross = host_floats(psi.T @ seen.rows)
    return cross if seen.mean is None else cross - np.outer(_total(psi), seen.mean), _total(slope)


def _turns(contrast: Contrast, seen: _Seen) -> tuple[HostArray, ...]:
    """Return the sums of psi(s) s, of psi'(s), and of psi'(s_i) s_j^2."""
    s = seen.sources
    psi, slope = map(seen.weighted, contrast.pointwise(s))
    return _total(psi * s), _total(slope), host_floats(slope.T @ (s * s))


def _total(values: Array) -> HostArray:
    # A product with ones is six times faster than a sum along the first axis.
    return host_floats(namespace_of(values).ones(values.shape[0], dtype=values.dtype, **device_of(values)) @ values)


def _sources(project: _Projection, dtype: np.dtype[Any], block: Block) -> Array:
    with np.errstate(invalid="ignore", over="ignore"):
        if not is_numpy(block.rows):
            return cast(project(block.rows), dtype)
        found = np.empty((block.rows.shape[0], len(project.matrix)), dtype=dtype)
        for part in _pieces(project, block):
            found[part] = project(block.rows[part])
        return found


def _gather(
    project: _Projection,
    dtype: np.dtype[Any],
    places: HostArray,
    state: list[tuple[Array, Any]] | None,
    block: Block,
) -> list[tuple[Array, Any]]:
    """Project the rows of a block that stand at ``places`` of the source."""
    first, last = np.searchsorted(places, [block.start, block.start + block.rows.shape[0]])
    taken = places[first:last] - block.start
    if not len(taken):
        return state or []
    weights = None if block.weights is None else picked(block.weights, taken)
    return [*(state or []), (cast(project(picked(block.rows, taken)), dtype), weights)]


def thinned(n: int, step: int, *, shift: int = 0) -> HostArray:
    """Return the rows, of n, that a sample of one row in each run of ``step`` takes, in order.

    Every ``step``-th row would see rows that repeat with a period at a few of their phases only, or at one. So the
    place in a run is random-looking, and depends on the position of the run alone. Samples of other shifts below
    ``step`` share no row but in the last run, which may be shorter.

    Examples
    --------
    >>> thinned(12, 4)
    array([ 3,  4, 11])
    >>> thinned(12, 4, shift=1)
    array([0, 5, 8])
    """
    runs = np.arange(-(-n // step))
    # SplitMix64 (Steele, Lea and Flood, 2014) turns consecutive numbers into random-looking ones.
    x = (runs.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    inside = ((x ^ (x >> np.uint64(31))) % np.uint64(step)).astype(np.int64)
    lengths = np.minimum(step, n - runs * step)
    places: HostArray = runs * step + (inside + shift) % step % lengths
    return places
