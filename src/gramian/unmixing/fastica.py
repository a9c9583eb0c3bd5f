"""FastICA: the fixed point iteration of Hyvarinen (1999, doi:10.1109/72.761722), symmetric and by deflation."""

from dataclasses import dataclass

import numpy as np

from gramian.arrays.namespace import HostArray
from gramian.unmixing.method import Unmixing, UnmixingMethod, nearest_rotation, reachable
from gramian.unmixing.picard import Rotations, fixed_point, point_at
from gramian.unmixing.white_rows import WhiteRows

PATIENCE = 8
"""Iterations without a smaller gradient after which steps are halved: the iteration may circle around a solution."""


@dataclass(frozen=True)
class SymmetricFastICA(UnmixingMethod):
    """All sources at once.

    Computes  W <- (C C')^(-1/2) C  with  C = (E[psi(s) s'] - diag E[psi'(s)]) W  until the gradient on the rotations,
    the skew part of E[psi(s) s'] with signs adapted, is at most ``tol``.

    Cost: one pass per iteration. Quadratic convergence when the sources are independent; slow or circling when they are
    not, as in most recordings: take :class:`~gramian.unmixing.picard.PicardO` there.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.sources.dense import DenseRows
    >>> z = np.random.default_rng(0).uniform(-1.7, 1.7, size=(2000, 2))
    >>> rows = WhiteRows(DenseRows(z), np.eye(2), None, np.eye(2))
    >>> SymmetricFastICA().solve(rows, np.eye(2)).converged
    True
    """

    def descend(self, rows: WhiteRows, start: HostArray) -> Unmixing:
        """Unmix from W = ``start`` (k, k), made orthogonal first."""
        objective, halved = Rotations(rows, self.contrast), False
        best, waited = np.inf, 0
        at = point_at(objective, nearest_rotation(start))
        for iteration in range(1, self.max_iter + 1):
            if at.norm <= reachable(self.tol, rows, at.moments.cross):
                return Unmixing(at.W, at.norm, iteration, converged=True)
            best, waited = (at.norm, 0) if at.norm < best else (best, waited + 1)
            halved = halved or waited >= PATIENCE
            after = fixed_point(at)
            at = point_at(objective, nearest_rotation(after + at.W) if halved else after)
        converged = at.norm <= reachable(self.tol, rows, at.moments.cross)
        return Unmixing(at.W, at.norm, self.max_iter, converged)


@dataclass(frozen=True)
class Deflation(UnmixingMethod):
    """One source after another, each orthogonal to those before.

    Computes  w <- P (E[psi(w'z) z] - E[psi'(w'z)] w),  P removing what lies along the sources found so far, normalized;
    until the part of E[psi(w'z) z] that could still turn w is at most ``tol``.

    Cost: one pass over d columns an iteration and source, so k times the passes of the symmetric iteration; errors of
    early sources stay in the later ones. For the few strongest of many sources, not for all of them.
    """

    def descend(self, rows: WhiteRows, start: HostArray) -> Unmixing:
        """Unmix from the rows of ``start`` (k, k)."""
        k = len(start)
        W = np.zeros((k, k))
        norms, counts = np.zeros(k), np.zeros(k, dtype=int)
        converged = True
        for j in range(k):
            found = W[:j]
            w, norms[j], counts[j], done = self._one(rows, found, _off(start[j], found))
            W[j] = w
            converged &= done
        return Unmixing(W, float(norms.max(initial=0.0)), int(counts.max(initial=0)), bool(converged))

    def _one(self, rows: WhiteRows, found: HostArray, w: HostArray) -> tuple[HostArray, float, int, bool]:
        """Return a source, the gradient norm left, the iterations, and whether that is within ``tol``."""
        norm, done, after = self._at(rows, found, w)
        for iteration in range(1, self.max_iter + 1):
            if done:
                return w, norm, iteration, True
            w = after
            norm, done, after = self._at(rows, found, w)
        return w, norm, self.max_iter, done

    def _at(self, rows: WhiteRows, found: HostArray, w: HostArray) -> tuple[float, bool, HostArray]:
        """Return the gradient norm at w, whether it is within ``tol``, and the next w."""
        moments = rows.score_moments(w[None, :], self.contrast, against_z=True)
        toward, slope = moments.cross[0], float(moments.slope[0])
        along = float(toward @ w)
        norm = float(np.abs(_removed(toward - along * w, found)).max(initial=0.0))
        after = _off((toward - slope * w) * (-1.0 if along < slope else 1.0), found)
        return norm, norm <= reachable(self.tol, rows, np.array([[along]])), after


def _removed(w: HostArray, found: HostArray) -> HostArray:
    """Remove what lies along orthonormal rows, twice: once leaves rounding that later steps would magnify."""
    for _ in range(2):
        w = w - (w @ found.T) @ found
    return w


def _off(w: HostArray, found: HostArray) -> HostArray:
    """Return a unit vector off the orthonormal rows ``found``, near ``w`` where that is possible."""
    size = float(np.linalg.norm(w))
    left = _removed(w, found)
    if np.linalg.norm(left) <= 1e-10 * size or size == 0:
        # All of w lies along the sources found: any direction that is left will do.
        left = _removed(np.eye(len(w))[int(np.argmin((found * found).sum(axis=0)))], found)
    unit: HostArray = left / np.linalg.norm(left)
    return unit
