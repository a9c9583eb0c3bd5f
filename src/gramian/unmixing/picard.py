"""Picard: maximum likelihood by preconditioned L-BFGS on matrices, and Picard-O, which keeps to rotations.

Ablin, Cardoso and Gramfort, 2018, doi:10.1109/TSP.2018.2844203 and doi:10.1109/ICASSP.2018.8461662, with another rule
for the length of a step. W moves along  exp(t E) W.  The relative gradient G at any point of that path gives its slope,
<G, E>, so a step is judged by slopes alone: no objective is evaluated, and each point costs one pass. ``descend`` is
the method for any ``Objective``; Infomax uses it too.
"""

from abc import ABC, abstractmethod
from collections import deque
from dataclasses import dataclass

import numpy as np
from scipy.linalg import expm

from gramian.arrays.namespace import HostArray
from gramian.unmixing.contrast import Contrast
from gramian.unmixing.method import Unmixing, UnmixingMethod, nearest_rotation, reachable, skew
from gramian.unmixing.white_rows import ScoreMoments, WhiteRows

NEAR, FAST = 0.01, 0.3
"""The descent begins where the gradient on the rotations is under the first and a step of FastICA leaves more than the
second of it: where sources are independent FastICA is a Newton method, and far away no saddle point stops it."""

LONGEST_TURN = 1.0
"""Largest entry of a step: the approximate curvature is not to be trusted beyond a radian."""


@dataclass(frozen=True, eq=False)
class Objective(ABC):
    """What is minimized: its gradient and approximate curvature, from one pass each."""

    rows: WhiteRows
    contrast: Contrast

    def evaluate(self, W: HostArray) -> ScoreMoments:
        """Return the means at W: one pass."""
        return self.rows.score_moments(W, self.contrast)

    @abstractmethod
    def signs(self, W: HostArray, moments: ScoreMoments) -> HostArray:
        """Return +1 or -1 per source: which of two densities it is given, super- or sub-Gaussian."""

    @abstractmethod
    def gradient(self, W: HostArray, moments: ScoreMoments, signs: HostArray) -> HostArray:
        """Return the relative gradient (k, k)."""

    @abstractmethod
    def solve(self, W: HostArray, moments: ScoreMoments, signs: HostArray, gradient: HostArray) -> HostArray:
        """Return the inverse of the approximate, positive curvature times a gradient (k, k)."""


@dataclass(frozen=True, eq=False)
class Point:
    """What one pass tells of a W: its means, the signs of the sources, and the gradient there."""

    W: HostArray
    moments: ScoreMoments
    signs: HostArray
    gradient: HostArray

    @property
    def norm(self) -> float:
        """Largest entry of the gradient."""
        return float(np.abs(self.gradient).max(initial=0.0))


def descend(objective: Objective, start: HostArray, *, tol: float, max_iter: int, memory: int) -> Unmixing:
    """Follow the objective down from W = ``start`` until the gradient norm is at most ``tol``.

    Cost: one pass per iteration, a second one where a step overshoots, and k^3 operations a few times over.
    """
    point = point_at(objective, start)
    pairs: deque[tuple[HostArray, HostArray]] = deque(maxlen=memory)
    # Whoever starts near a solution, from rows in another precision, does not leap away from it.
    turning, leaping = 0.0, True
    for iteration in range(1, max_iter + 1):
        if point.norm <= reachable(tol, objective.rows, point.moments.cross):
            return Unmixing(point.W, point.norm, iteration, converged=True)
        before, turning = turning, _turning(point)
        # Steps of FastICA, at most, before the descent.
        leaping = leaping and iteration <= 25 and (turning > _near(point) or turning < FAST * before)
        if leaping:
            point = point_at(objective, fixed_point(point))
            continue
        direction = _direction(objective, point, pairs)
        reached, length = _step(objective, point, direction)
        if np.array_equal(reached.signs, point.signs):
            _remember(pairs, length * direction, reached.gradient - point.gradient)
        else:
            pairs.clear()
        point = reached
    converged = point.norm <= reachable(tol, objective.rows, point.moments.cross)
    return Unmixing(point.W, point.norm, max_iter, converged)


def _turning(point: Point) -> float:
    """Return the largest entry of the gradient on the rotations."""
    return float(np.abs(skew(point.signs[:, None] * point.moments.cross)).max(initial=0.0))


def _near(point: Point) -> float:
    """Return the gradient on the rotations under which a point is near a solution: a tenth of a radian of turning."""
    kappa = np.abs(point.moments.slope - np.diagonal(point.moments.cross))
    # Radians: sources of many columns are nearly Gaussian at first, with a small gradient far from any solution.
    return min(NEAR, 0.1 * float(np.median(kappa)))


def fixed_point(point: Point) -> HostArray:
    """Return where the fixed point iteration of FastICA goes from a rotation: far from a solution it finds the way."""
    moments = point.moments
    turn = nearest_rotation(point.signs[:, None] * (np.diag(moments.slope) - moments.cross))
    rotation: HostArray = turn @ point.W
    return rotation


def point_at(objective: Objective, W: HostArray) -> Point:
    """Look at an objective at W: one pass."""
    moments = objective.evaluate(W)
    signs = objective.signs(W, moments)
    return Point(W, moments, signs, objective.gradient(W, moments, signs))


def _direction(objective: Objective, point: Point, pairs: deque[tuple[HostArray, HostArray]]) -> HostArray:
    """Return the two-loop product of L-BFGS, with the approximate curvature in place of a multiple of the identity."""
    q = point.gradient
    used = []
    for step, change in reversed(pairs):
        scale = 1.0 / float(np.vdot(step, change))
        alpha = scale * float(np.vdot(step, q))
        q = q - alpha * change
        used.append((step, change, scale, alpha))
    r = objective.solve(point.W, point.moments, point.signs, q)
    for step, change, scale, alpha in reversed(used):
        r = r + (alpha - scale * float(np.vdot(change, r))) * step
    if np.vdot(r, point.gradient) <= 0:
        # Rounding or a crooked memory: the plain quasi-Newton direction always goes down.
        pairs.clear()
        r = objective.solve(point.W, point.moments, point.signs, point.gradient)
    longest = float(np.abs(r).max(initial=0.0))
    return -r if longest <= LONGEST_TURN else -r * (LONGEST_TURN / longest)


def _step(objective: Objective, point: Point, direction: HostArray) -> tuple[Point, float]:
    """Return where a step ends and its length; shortened by the secant rule while the slope there is far uphill."""
    before = float(np.vdot(point.gradient, direction))
    length = 1.0
    for _ in range(6):
        reached = point_at(objective, expm(length * direction) @ point.W)
        gradient = objective.gradient(reached.W, reached.moments, point.signs)
        after = float(np.vdot(gradient, direction))
        # Share of the first slope that a step may end with, uphill, before it is shortened.
        if after <= 0.5 * abs(before):
            break
        length *= max(0.1, before / (before - after))
    return reached, length


def _remember(pairs: deque[tuple[HostArray, HostArray]], step: HostArray, change: HostArray) -> None:
    product = float(np.vdot(step, change))
    if product > 1e-12 * float(np.linalg.norm(step) * np.linalg.norm(change)):
        pairs.append((step, change))


LEAST_CURVATURE = 0.01
"""Floor of the approximate curvature: nearly Gaussian pairs have none, and would be turned at random."""


@dataclass(frozen=True)
class PicardO(UnmixingMethod):
    """All sources at once, over rotations: the same solutions as symmetric FastICA, found in fewer passes on real data.

    Minimizes  sum_i sign_i E[G(s_i)]  over W W' = I,  sign_i = sign(E[psi'(s_i)] - E[psi(s_i) s_i]).  The gradient is
    the skew part of  sign_i E[psi(s_i) s_j],  the approximate curvature of a pair  (kappa_i + kappa_j) / 2  with
    kappa_i = sign_i (E[psi'(s_i)] - E[psi(s_i) s_i]),  refined by L-BFGS.

    Cost: one pass per iteration, seldom two.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.sources.dense import DenseRows
    >>> z = np.random.default_rng(0).uniform(-1.7, 1.7, size=(2000, 2))
    >>> PicardO().solve(WhiteRows(DenseRows(z), np.eye(2), None, np.eye(2)), np.eye(2)).converged
    True
    """

    memory: int = 10

    def descend(self, rows: WhiteRows, start: HostArray) -> Unmixing:
        """Unmix from W = ``start`` (k, k), made orthogonal first."""
        objective = Rotations(rows, self.contrast)
        W = nearest_rotation(start)
        found = descend(objective, W, tol=self.tol, max_iter=self.max_iter, memory=self.memory)
        # Rounding of many turns adds up to a few eps; one projection takes it away.
        return Unmixing(nearest_rotation(found.matrix), found.gradient_norm, found.n_iter, found.converged)


@dataclass(frozen=True, eq=False)
class Rotations(Objective):
    """The objective of :class:`PicardO`, and of symmetric FastICA: a contrast on rotations."""

    def signs(self, W: HostArray, moments: ScoreMoments) -> HostArray:
        """Return which way the contrast bends at each source."""
        del W
        return np.where(moments.slope < np.diagonal(moments.cross), -1.0, 1.0)

    def gradient(self, W: HostArray, moments: ScoreMoments, signs: HostArray) -> HostArray:
        """Return the skew part: W stays a rotation."""
        del W
        return skew(signs[:, None] * moments.cross)

    def solve(self, W: HostArray, moments: ScoreMoments, signs: HostArray, gradient: HostArray) -> HostArray:
        """Divide by the curvature of each pair, within the floor."""
        del W
        kappa = signs * (moments.slope - np.diagonal(moments.cross))
        curvature = (kappa[:, None] + kappa[None, :]) / 2
        solved: HostArray = gradient / np.maximum(curvature, LEAST_CURVATURE)
        return solved
