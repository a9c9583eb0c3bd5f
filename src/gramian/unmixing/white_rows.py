"""Rows seen as white: the whitening is part of the matrix that unmixes, and every evaluation is one pass.

For sources  s = W K (x - mean)  all algorithms need the same three means over the rows: E[psi(s) s'], E[psi'(s)] and,
for some, E[psi'(s) s^2']. They are computed together, on pieces of a block that stay in a core's cache.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gramian.arrays.namespace import Array, HostArray, cast, device_of, from_host, is_numpy, namespace_of, to_host
from gramian.arrays.precision import FLOAT64
from gramian.sources.dense import DenseRows
from gramian.sources.moments import working_dtype
from gramian.sources.rows import Block, RowSource, ranges
from gramian.unmixing.contrast import Contrast

PIECE_NUMBERS = 1 << 16
"""Sources computed at a time: 512 KB in float64, so that s, psi(s) and psi'(s) stay in a core's cache."""

SMALL_MEAN = {np.dtype(np.float64): 1e3, np.dtype(np.float32): 3.0}
"""Mean, in deviations, up to which products are corrected for it afterwards: it costs three digits at most."""


class ScoreMoments(NamedTuple):
    """Means over the rows, in float64 on the host.

    ``cross`` is E[psi(s) s'] (k, k), or E[psi(s) z'] where z was asked for; ``slope`` is E[psi'(s)] (k,);
    ``curvature`` is E[psi'(s) s^2'] (k, k) where it was asked for.
    """

    cross: HostArray
    slope: HostArray
    curvature: HostArray | None


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
        """Precision in which the pass computes: that of the rows, float64 for few of them."""
        return working_dtype(self.source)

    def score_moments(
        self, W: HostArray, contrast: Contrast, *, curvature: bool = False, against_z: bool = False
    ) -> ScoreMoments:
        """Return the means that algorithms need, for sources  s = W z: one pass.

        Cost: 2 n k (d + k) operations and n k nonlinearities; ``curvature`` adds 2 n k^2, ``against_z`` (for the few
        sources of a deflation) has 2 n k d in place of 2 n k^2.
        """
        project = self._projection(W @ self.whitening)
        fold = _Fold(project, contrast, curvature, against_z, None if project.before is not None else self.mean)
        sums = self.source.reduce(fold, _merge)
        cross = sums.cross / sums.weight
        if against_z:
            cross = cross @ self.whitening.T
        more = None if sums.curvature is None else sums.curvature / sums.weight
        return ScoreMoments(cross, sums.slope / sums.weight, more)

    def sources(self, W: HostArray) -> Array:
        """Return the sources  W z  of all rows (n, k), in the library of the rows: one pass."""
        return self.source.map_rows(partial(_whole, self._projection(W @ self.whitening)))

    def held(self) -> "WhiteRows":
        """Return the same white rows held in memory (n, k): for rows much wider than their sources are many."""
        array = self.sources(np.eye(self.size))
        return WhiteRows(DenseRows(array, weights=self.source.weights), np.eye(self.size), None, self.second)

    def sampled(self, most: int) -> "WhiteRows":
        """Return every m-th white row, ``most`` of them at most, held in memory: one pass.

        Which rows are taken depends on their position alone, so not on blocks or threads.
        """
        step = -(-self.n_rows // most)
        parts = self.source.reduce(_Take(self._projection(self.whitening), step), _chain)
        rows = namespace_of(parts[0][0]).concat([rows for rows, _ in parts])
        weights = None if parts[0][1] is None else np.concatenate([to_host(w) for _, w in parts])
        return WhiteRows(DenseRows(rows, weights=weights), np.eye(self.size), None, self.second)

    def _projection(self, matrix: HostArray) -> "_Projection":
        """Return x -> matrix (x - mean), centered afterwards where that costs no digits, else before."""
        if self.mean is None:
            return _Projection(matrix.astype(self.dtype), None, None, self.dtype)
        white_mean = matrix @ self.mean
        after = self.source.is_sparse or float(np.abs(white_mean).max(initial=0.0)) <= SMALL_MEAN[self.dtype]
        offset = white_mean if after else None
        return _Projection(matrix.astype(self.dtype), None if after else self.mean, offset, self.dtype)


@dataclass(frozen=True, eq=False)
class _Projection:
    """Rows to  (x - before) A' - after."""

    matrix: HostArray
    before: HostArray | None
    after: HostArray | None
    dtype: np.dtype[Any]

    def centered(self, rows: Array) -> Array:
        if hasattr(rows, "indptr"):
            return rows.astype(self.dtype, copy=False)
        rows = cast(rows, self.dtype)
        return rows if self.before is None else rows - from_host(self.before, like=rows, dtype=self.dtype)

    def times(self, rows: Array) -> Array:
        """Return the product for rows that are centered already."""
        if hasattr(rows, "indptr"):
            s = rows @ np.ascontiguousarray(self.matrix.T)
        else:
            s = rows @ from_host(self.matrix, like=rows).T
        if self.after is not None:
            s -= from_host(self.after, like=s, dtype=self.dtype)
        return s

    def __call__(self, rows: Array) -> Array:
        return self.times(self.centered(rows))


class _Sums(NamedTuple):
    weight: float
    cross: HostArray
    slope: HostArray
    curvature: HostArray | None


@dataclass(frozen=True, eq=False)
class _Fold:
    """Take a block into the running sums, a piece that stays in cache at a time."""

    project: _Projection
    contrast: Contrast
    curvature: bool
    against_z: bool
    mean: HostArray | None

    def __call__(self, state: _Sums | None, block: Block) -> _Sums:
        for rows, weights in _pieces(block, len(self.project.matrix)):
            part = self._piece(rows, weights)
            state = part if state is None else _merge(state, part)
        assert state is not None  # noqa: S101 - a block has rows
        return state

    def _piece(self, rows: Array, weights: Array | None) -> _Sums:
        rows = self.project.centered(rows)
        s = self.project.times(rows)
        psi, slope = self.contrast.evaluate(s)
        if weights is None:
            ones = namespace_of(s).ones(s.shape[0], dtype=s.dtype, **device_of(s))
        else:
            ones = from_host(to_host(weights), like=s, dtype=self.project.dtype)
            psi = psi * ones[:, None]
        cross = self._against_rows(psi, rows) if self.against_z else _host(psi.T @ s)
        curvature = _host((slope * ones[:, None]).T @ (s * s)) if self.curvature else None
        # A product with ones is six times faster than a sum along the first axis.
        return _Sums(float(ones.sum()), cross, _host(ones @ slope), curvature)

    def _against_rows(self, psi: Array, rows: Array) -> HostArray:
        """Return the sum of psi(s) (x - mean)', for rows that may not be centered yet."""
        if hasattr(rows, "indptr"):
            cross = np.asarray((rows.T @ np.ascontiguousarray(psi)).T, dtype=FLOAT64)
        else:
            cross = _host(psi.T @ rows)
        if self.mean is None:
            return cross
        total: HostArray = cross - np.outer(_host(namespace_of(psi).sum(psi, axis=0)), self.mean)
        return total


def _pieces(block: Block, k: int) -> Iterator[tuple[Array, Array | None]]:
    step = max(64, PIECE_NUMBERS // k)
    if not is_numpy(block.rows) or block.rows.shape[0] <= step:
        yield block.rows, block.weights
        return
    for part in ranges(block.rows.shape[0], step):
        yield block.rows[part], None if block.weights is None else block.weights[part]


def _merge(left: _Sums, right: _Sums) -> _Sums:
    curvature = None
    if left.curvature is not None and right.curvature is not None:
        curvature = left.curvature + right.curvature
    return _Sums(left.weight + right.weight, left.cross + right.cross, left.slope + right.slope, curvature)


def _whole(project: _Projection, block: Block) -> Array:
    with np.errstate(invalid="ignore", over="ignore"):
        return project(block.rows)


@dataclass(frozen=True, eq=False)
class _Take:
    """Gather every ``step``-th row by position."""

    project: _Projection
    step: int

    def __call__(self, state: list[tuple[Array, Any]] | None, block: Block) -> list[tuple[Array, Any]]:
        first = -block.start % self.step
        rows = block.rows[first :: self.step]
        weights = None if block.weights is None else block.weights[first :: self.step]
        found = [(self.project(rows), weights)] if rows.shape[0] else []
        return (state or []) + found


def _chain(left: list[Any], right: list[Any]) -> list[Any]:
    return left + right


def _host(array: Array) -> HostArray:
    return np.asarray(to_host(array), dtype=FLOAT64)
