"""Pre-images by the fixed point of Mika et al.: move a row to the weighted mean that it itself defines."""

from dataclasses import dataclass

import numpy as np

from gramian.arrays.namespace import HostArray
from gramian.arrays.precision import FLOAT64
from gramian.errors import ParameterError
from gramian.models.kernel_expansion import KernelExpansion
from gramian.models.preimage import FittedPreimage, PreimageMethod, Preimages
from gramian.models.radial_profile import RadialProfile, radial_profile

NEIGHBORS = 10
"""Rows whose mean is the first start."""

HALVINGS = 12
"""Times that a step may be halved before a point is left where it is."""

VANISHED = 1e-8
"""Share of the absolute weights under which their sum counts as zero: the mean they define is rounding."""


@dataclass(frozen=True)
class FixedPoint(PreimageMethod):
    """The fixed point iteration for kernels of the distance (Mika et al., 1998, NIPS 11, eq. 10).

    Computes  z <- sum_j w_j k'(|z - x_j|^2) x_j / sum_j w_j k'(|z - x_j|^2),  at whose fixed points |phi(z) - P|^2 is
    stationary; k' is the derivative of the kernel in the squared distance, the kernel itself for a Gaussian. Several
    starts are tried for every point (the mean of the rows nearest to P in feature space, then these rows one by one)
    and the one that ends nearest to P is kept. A step that leads away, as negative weights can make it, is halved;
    where the weights vanish the start itself is the answer and ``found`` is False.

    Cost: m n kernel values a start and step, some tens of steps. The answer lies in the span of the rows, near those
    that P is near to: for denoising. Not for kernels of inner products, nor for large n: use the ridge or distances.

    Parameters
    ----------
    n_starts : int
    tol : float
        Step, relative to the spread of the rows, at which a point has settled.
    max_steps : int

    Examples
    --------
    >>> from gramian.kernels import Gaussian
    >>> from gramian.models.kernel_expansion import solve_densely
    >>> t = 2 * np.pi * np.arange(60) / 60
    >>> expansion = solve_densely(np.column_stack([np.cos(t), np.sin(t)]), Gaussian(0.5), 4)
    >>> noisy = np.array([[1.3, 0.1], [0.0, -0.6]])
    >>> rebuilt = FixedPoint().fit(expansion).rebuild(expansion.project(noisy))
    >>> np.linalg.norm(rebuilt.rows, axis=1).round(2)
    array([1., 1.])
    """

    n_starts: int = 3
    tol: float = 1e-5
    max_steps: int = 500

    def fit(self, expansion: KernelExpansion) -> "FixedPointMap":
        """Bind the iteration to an expansion over rows."""
        if self.n_starts < 1 or self.max_steps < 1 or not self.tol > 0:
            message = f"{self} cannot run. Pass at least one start and one step, and a positive tol."
            raise ParameterError(message)
        radial_profile(expansion.kernel)
        return FixedPointMap(self, expansion)


@dataclass(frozen=True, eq=False)
class FixedPointMap(FittedPreimage):
    """The iteration of :class:`FixedPoint` over the rows of one expansion."""

    method: FixedPoint
    expansion: KernelExpansion

    def rebuild(self, scores: HostArray) -> Preimages:
        """Iterate from every start, and keep the best end of each line of scores."""
        scores = np.asarray(scores, dtype=FLOAT64)
        parts = [self._rebuild(scores[part]) for part in self.expansion.pieces(len(scores), each=2)]
        return Preimages(*(np.concatenate(fields) for fields in zip(*parts, strict=True)))

    def _rebuild(self, scores: HostArray) -> Preimages:
        expansion = self.expansion
        iteration = _Iteration.of(expansion, expansion.weights(scores), self.method)
        norms = expansion.squared_norms(scores)
        best = Preimages(np.zeros((len(scores), expansion.rows.shape[1])), np.full(len(scores), np.inf), norms > np.inf)
        for start in self._starts(scores):
            rows, objective, found = iteration.run(start)
            errors = iteration.profile.height - 2 * objective + norms
            # A start that never moved serves only where nothing else does.
            better = (errors < best.errors) & (found | ~best.found) | (found & ~best.found)
            best = Preimages(
                np.where(better[:, None], rows, best.rows),
                np.where(better, errors, best.errors),
                best.found | found,
            )
        return best._replace(rows=best.rows + expansion.origin, errors=np.maximum(best.errors, 0.0))

    def _starts(self, scores: HostArray) -> list[HostArray]:
        """Return the mean of the rows nearest to each P, then those rows, the nearest first, about the origin."""
        count = min(max(NEIGHBORS, self.method.n_starts), len(self.expansion.rows))
        nearness = self.expansion.inner_products(scores)
        near = np.argpartition(-nearness, count - 1, axis=1)[:, :count]
        order = np.argsort(-np.take_along_axis(nearness, near, axis=1), axis=1, kind="stable")
        near = np.take_along_axis(near, order, axis=1)
        rows = self.expansion.rows - self.expansion.origin
        single = [rows[near[:, i]] for i in range(min(self.method.n_starts - 1, count))]
        return [rows[near[:, :NEIGHBORS]].mean(axis=1), *single]


@dataclass(frozen=True, eq=False)
class _Iteration:
    """One run of the fixed point for many points at once; rows are about their mean."""

    rows: HostArray
    squares: HostArray
    weights: HostArray
    profile: RadialProfile
    step_floor: float
    max_steps: int

    @classmethod
    def of(cls, expansion: KernelExpansion, weights: HostArray, method: FixedPoint) -> "_Iteration":
        rows = expansion.rows - expansion.origin
        squares = np.einsum("ij,ij->i", rows, rows)
        floor = method.tol * float(np.sqrt(squares.mean()))
        return cls(rows, squares, weights, radial_profile(expansion.kernel), floor, method.max_steps)

    def run(self, start: HostArray) -> tuple[HostArray, HostArray, HostArray]:
        """Return the ends, their objective  P . phi(z), and whether any step was made."""
        z = start.copy()
        objective, target, sound = self._look(z, np.arange(len(z)))
        moved = sound & (objective > -np.inf)
        active, halvings = np.flatnonzero(moved), np.zeros(len(z), dtype=int)
        for _ in range(self.max_steps):
            if not active.size:
                break
            tried = target[active]
            value, after, sound = self._look(tried, active)
            worse = value < objective[active] - 1e-14 * np.abs(objective[active])
            # Back half the way: near enough to z the step climbs, if the weights around z are sound.
            target[active[worse]] = (z[active[worse]] + tried[worse]) / 2
            halvings[active[worse]] += 1
            on, steps = active[~worse], np.linalg.norm(tried - z[active], axis=1)
            z[on], objective[on], target[on] = tried[~worse], value[~worse], after[~worse]
            halvings[on] = 0
            ends = np.where(worse, halvings[active] > HALVINGS, (steps <= self.step_floor) | ~sound)
            active = active[~ends]
        return z, objective, moved

    def _look(self, z: HostArray, which: HostArray) -> tuple[HostArray, HostArray, HostArray]:
        """Return, at points z, the objective, the next point, and whether its weights have a sum to divide by."""
        distances = np.einsum("ij,ij->i", z, z)[:, None] + self.squares - 2 * z @ self.rows.T
        np.maximum(distances, 0.0, out=distances)
        value, fall = self.profile.curve(distances)
        w = self.weights[which]
        objective = np.einsum("ij,ij->i", w, value)
        w = w * fall
        total = w.sum(axis=1)
        sound = total > VANISHED * np.abs(w).sum(axis=1)
        target = (w @ self.rows) / np.where(sound, total, 1.0)[:, None]
        return objective, np.where(sound[:, None], target, z), sound
