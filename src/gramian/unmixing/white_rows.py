"""Rows seen as white: the whitening is part of the matrix that unmixes, and every evaluation is one pass.

For sources  s = W K (x - mean)  all algorithms need the same two means over the rows: E[psi(s) s'] and E[psi'(s)]. They
are computed together, on pieces of a block that stay in a core's cache.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gramian.arrays.namespace import Array, HostArray, from_host, namespace_of, to_host
from gramian.arrays.precision import FLOAT32, FLOAT64
from gramian.sources.dense import DenseRows
from gramian.sources.measuring import working_dtype
from gramian.sources.rows import ONE_WORKER, Block, RowSource
from gramian.unmixing.contrast import Contrast
from gramian.unmixing.held_rows import hold
from gramian.unmixing.projection import Projection, pieces, roomy

SMALL_MEAN = {np.dtype(np.float64): 1e3, np.dtype(np.float32): 3.0}
"""Mean, in deviations, up to which products are corrected for it afterwards: it costs three digits at most."""


class ScoreMoments(NamedTuple):
    """Means over the rows, in float64 on the host.

    ``cross`` is E[psi(s) s'] (k, k), or E[psi(s) z'] where z was asked for; ``slope`` is E[psi'(s)] (k,).
    """

    cross: HostArray
    slope: HostArray


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
        return self.precision or working_dtype(self.source)

    def score_moments(self, W: HostArray, contrast: Contrast, *, against_z: bool = False) -> ScoreMoments:
        """Return the means that algorithms need, for sources  s = W z: one pass.

        Cost: 2 n k (d + k) operations and n k nonlinearities; ``against_z`` (for the few sources of a deflation) has
        2 n k d in place of 2 n k^2.
        """
        project = self._projection(W @ self.whitening)
        fold = _Fold(project, contrast, against_z, None if project.before is not None else self.mean)
        sums = self.source.reduce(fold, _merge, state_bytes=ONE_WORKER if project.is_light else 0)
        cross = sums.cross / sums.weight
        if against_z:
            cross = cross @ self.whitening.T
        return ScoreMoments(cross, sums.slope / sums.weight)

    def sources(self, W: HostArray) -> Array:
        """Return the sources  W z  of all rows (n, k), in the library of the rows: one pass."""
        return self.source.map_rows(partial(_whole, self._projection(W @ self.whitening)))

    def held(self) -> "WhiteRows":
        """Return the same white rows held in memory (n, k): for rows much wider than their sources are many."""
        array = self.sources(np.eye(self.size))
        return WhiteRows(DenseRows(array, weights=self.source.weights), np.eye(self.size), None, self.second)

    def in_single(self) -> "WhiteRows | None":
        """Return the same white rows held in float32: one pass, and 4 n k bytes, half a copy of dense rows at most.

        A pass over them takes a third of the time. ``None`` for rows that are float32 already.
        """
        if self.dtype != FLOAT64:
            return None
        return replace(self.sampled(self.n_rows, dtype=FLOAT32), precision=FLOAT32)

    def sampled(self, most: int, *, dtype: np.dtype[Any] | None = None) -> "WhiteRows":
        """Return one white row of each run of m, ``most`` of them at most, held in memory: one pass.

        Which rows are taken depends on their position alone, so not on blocks or threads; the place in each run is a
        random-looking one, so that rows which repeat with a period are seen at all phases.
        """
        step = -(-self.n_rows // most)
        held = hold(self.source, self._projection(self.whitening), step, dtype or self.dtype)
        return WhiteRows(held, np.eye(self.size), None, self.second, self.precision)

    def _projection(self, matrix: HostArray) -> Projection:
        """Return x -> matrix (x - mean), centered afterwards where that costs no digits, else before."""
        if self.mean is None:
            return Projection(matrix.astype(self.dtype), None, None, self.dtype)
        white_mean = matrix @ self.mean
        after = self.source.is_sparse or float(np.abs(white_mean).max(initial=0.0)) <= SMALL_MEAN[self.dtype]
        offset = white_mean if after else None
        return Projection(matrix.astype(self.dtype), None if after else self.mean, offset, self.dtype)


class _Sums(NamedTuple):
    weight: float
    cross: HostArray
    slope: HostArray
    room: HostArray | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave the working memory where it is when the sums travel."""
        return _Sums, (self.weight, self.cross, self.slope)


@dataclass(frozen=True, eq=False)
class _Fold:
    """Take a block into the running sums, a piece that stays in cache at a time."""

    project: Projection
    contrast: Contrast
    against_z: bool
    mean: HostArray | None

    def __call__(self, state: _Sums | None, block: Block) -> _Sums:
        room = None if state is None else state.room
        for rows, weights in pieces(block, self.project):
            room = roomy(room, rows, self.project, 2)
            part = self._piece(rows, weights, room)
            state = part if state is None else _merge(state, part)
        assert state is not None  # noqa: S101 - a block has rows
        return state

    def _piece(self, rows: Array, weights: Array | None, room: HostArray | None) -> _Sums:
        rows = self.project.centered(rows)
        s = self.project.times(rows, None if room is None else room[0])
        w = None if weights is None else from_host(to_host(weights), like=s, dtype=self.project.dtype)
        psi, slope = self.contrast.summed(s, w, None if room is None else room[1, :, : len(rows)].T)
        if w is not None:
            psi = psi * w[:, None]
        cross = self._against_rows(psi, rows) if self.against_z else _host(psi.T @ s)
        return _Sums(float(s.shape[0] if w is None else w.sum()), cross, _host(slope), room)

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


def _merge(left: _Sums, right: _Sums) -> _Sums:
    return _Sums(left.weight + right.weight, left.cross + right.cross, left.slope + right.slope, right.room)


def _whole(project: Projection, block: Block) -> Array:
    with np.errstate(invalid="ignore", over="ignore"):
        return project(block.rows)


def _host(array: Array) -> HostArray:
    return np.asarray(to_host(array), dtype=FLOAT64)
