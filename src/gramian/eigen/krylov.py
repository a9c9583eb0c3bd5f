"""Block Krylov with thick restarts: few passes, stopped on measured residuals.

The iteration keeps two blocks of columns, Q (orthonormal) and W = A Q, with the small matrix T = Q'W. The
identity W = A Q holds by construction, so the residual of a Ritz pair, |W s - theta Q s|, is a measured one and
costs no further product.

References
----------
Wu and Simon (2000), thick-restart Lanczos, doi:10.1137/S0895479898334605.
Kuczynski and Wozniakowski (1992), estimating eigenvalues from a random start, doi:10.1137/0613066.
"""

from dataclasses import dataclass

import numpy as np

from gramian.arrays.draws import gaussian
from gramian.arrays.namespace import Array, HostArray, device_of, from_host, namespace_of, to_host
from gramian.arrays.precision import FLOAT32, eps_of
from gramian.eigen.orthonormal import orthonormalized, projected, rotated
from gramian.eigen.pairs import EigenPairs, EigenSolver, Probe
from gramian.eigen.ranking import LARGEST_FAILURE
from gramian.operators.symmetric import SymmetricOperator

SEARCH_STEPS = 7
"""Products, at least, of the random search that follows convergence."""

SEARCH_COLUMNS = 4
"""Gaussian columns, at most, of that search: four of them for seven products say as much as sixteen for five."""

STANDING_OUT = 2 / 3
"""Share by which a pair exceeds all beyond the wanted ones when the search is to be long enough to call it probable."""

KEEP = 0.5
"""Share of the basis that survives a restart (applications on noise of size 2,000 are flat from 0.4 to 0.6)."""

PACE = 4
"""Products over which the fall of the residuals is measured to forecast how many more it takes."""

STALLED = 2
"""Looks without progress after which coarse products are taken to be worse than they say."""

EPS = float(np.finfo(float).eps)

COARSE_ACCURACY = 50 * eps_of(FLOAT32)
"""Accuracy asked of products while residuals are still above it."""


@dataclass(frozen=True)
class Krylov(EigenSolver):
    """Block Krylov iteration with thick restarts and measured residuals.

    Computes Ritz pairs of A in span[Q, A Q, A^2 Q, ...] from a Gaussian block Q; when the basis is full it is
    cut back to the best Ritz vectors and grown again. Stops when every wanted pair has
    |A v - lambda v| <= tol lambda_1, never on a count; ``max_applications`` is a cap that is reported.

    A block of b columns holds b copies of a tied eigenvalue at most, and a start may happen to miss a direction. So
    when all residuals are met, the rest of the space is searched from Gaussian columns drawn after the pairs were
    fixed; what such a search finds above them goes into the basis and the iteration goes on.

    Products are asked for coarsely (float32 where the rows are float32) until residuals reach what such a
    product can tell, then in full precision.

    Cost: one application a step, 4 m p b operations a step for orthogonality, 2 m p numbers, p being the
    columns of the basis.

    Not for small m, where :class:`~gramian.eigen.direct.Direct` is faster and proves more.

    Parameters
    ----------
    tol : float, default=1e-10
    block : int, optional
        Columns a product; by default enough that a pass is well used.
    basis : int, optional
        Columns p of the basis; default 10 (k + 10).
    max_applications : int, default=1000
    search : bool, optional
        Whether to search the rest of the space after convergence; by default unless the matrix is held, where a
        certificate can prove what a search makes probable.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.operators.held import HeldMatrix
    >>> pairs = Krylov().solve(HeldMatrix(np.diag(np.arange(200.0))), 3)
    >>> pairs.values.round(8), pairs.converged
    (array([199., 198., 197.]), 3)
    """

    tol: float = 1e-10
    block: int | None = None
    basis: int | None = None
    max_applications: int = 1000
    search: bool | None = None

    def solve(self, operator: SymmetricOperator, k: int, *, seed: int = 0, start: Array | None = None) -> EigenPairs:
        """Return the ``k`` largest eigenpairs of ``operator``; ``start`` holds guesses of leading eigenvectors."""
        m = operator.size
        block = min(m, self.block or 8)
        basis = min(m, max(self.basis or 10 * (k + 10), k + (search_steps(m, min(block, SEARCH_COLUMNS)) + 1) * block))
        iteration = _Iteration(operator, k, self.tol, block=block, basis=basis, seed=seed, search=self.search)
        iteration.begin(start)
        first = operator.applications
        while not iteration.finished() and operator.applications - first < self.max_applications:
            iteration.step()
        return iteration.result()


def search_steps(m: int, columns: int) -> int:
    """Return the products of a random search from so many Gaussian columns.

    Enough that the chance of a miss, (1.648 sqrt(m) exp(-sqrt(e) (2 q - 1)))^columns, is within what is called probable
    at e = ``STANDING_OUT``. Further steps lower it by more than further columns do, which each pay for sqrt(m).

    Examples
    --------
    >>> [search_steps(50_000, columns) for columns in (1, 2, 4, 16)]
    [9, 7, 7, 7]
    """
    exponent = np.log(1.648 * np.sqrt(m)) - np.log(LARGEST_FAILURE) / columns
    return max(SEARCH_STEPS, int(np.ceil((exponent / np.sqrt(STANDING_OUT) + 1) / 2)))


class _Iteration:
    """The state of one solve: Q, W = A Q, T = Q'W, and the directions to add next."""

    def __init__(
        self, operator: SymmetricOperator, k: int, tol: float, *, block: int, basis: int, seed: int, search: bool | None
    ) -> None:
        self.operator = operator
        self.k = k
        self.tol = tol
        self.block = block
        self.basis = basis
        self.seed = seed
        self.coarse = tol < 1e-2
        self.applied = operator.applications
        self.columns = self.linked = 0
        self.asked_to_search, self.searching, self.next_seen = search, False, -np.inf
        self.probe = Probe(0, 0)
        self.best, self.stalled, self.error = np.inf, 0, 0.0
        self.steps = self.next_estimate = self.guesses = 0
        self.refined = False
        self.history: list[tuple[int, float]] = []

    def begin(self, start: Array | None) -> None:
        """Make the first block: the guesses given, and Gaussian columns."""
        operator = self.operator
        many = start is not None and start.shape[1] > self.block
        draw = self._gaussian(self.block if start is None or many else max(1, self.block // 2))
        xp = namespace_of(draw)
        # Vectors lie one after the other in memory, so that adding some touches only them.
        shape = (self.basis, operator.size)
        self.Q = xp.empty(shape, dtype=draw.dtype, **device_of(draw)).T
        self.W = xp.empty(shape, dtype=draw.dtype, **device_of(draw)).T
        self.T = np.zeros((self.basis, self.basis))
        self.pending = orthonormalized(draw if start is None else _beside(start, draw))
        self.values, self.rotation = np.zeros(0), np.zeros((0, 0))
        self.residuals = np.full(self.k, np.inf)
        self.guesses = start.shape[1] if start is not None and many else 0

    def step(self) -> None:
        """Add the pending directions, apply the operator to them, and find the new Ritz pairs."""
        if self.columns + self.pending.shape[1] > self.basis:
            self._restart()
        new = slice(self.columns, self.columns + self.pending.shape[1])
        # What a search would find above the pairs shows in coarse products too.
        coarse = self.coarse or self.searching
        product = self.operator.apply(self.pending, accuracy=COARSE_ACCURACY if coarse else self.tol / 10)
        self.Q[:, new] = self.pending
        self.W[:, new] = product.values
        self.columns = new.stop
        self._extend(new)
        self.error = self.error if self.searching else product.error
        self.probe = self.probe._replace(steps=self.probe.steps + 1)
        self._plan_next()
        self._look_when_due(new)
        # A held matrix has one precision: what was made from coarse products before it was formed is made again.
        if self.coarse and (self.operator.is_held or self._coarse_is_spent()):
            self.coarse = False
            if self.error > self.tol / 10:
                self._refine()
                return
        if self._has_settled():
            self._begin_search()
        elif self.searching and self._met() < self.k:
            self._leave_search()

    @property
    def search(self) -> bool:
        """Whether the rest of the space is to be searched after convergence."""
        return not self.operator.is_held if self.asked_to_search is None else self.asked_to_search

    def finished(self) -> bool:
        """Tell whether every wanted pair meets the tolerance by full-precision products."""
        if len(self.values) < self.k:
            return False
        if self.columns == self.operator.size:
            return True
        return not self.coarse and (not self.search or self._has_searched()) and self._met() == self.k

    def _has_searched(self) -> bool:
        return self.searching and self.probe.steps >= search_steps(self.operator.size, self.probe.columns)

    def _has_settled(self) -> bool:
        """Tell whether all pairs are met in full precision and the rest of the space is still to be searched."""
        whole = self.columns == self.operator.size
        waiting = not self.coarse and self.search and not self.searching and not whole
        return waiting and self._met() == self.k

    def result(self) -> EigenPairs:
        """Return the wanted Ritz pairs."""
        self._look()
        k = min(self.k, self.columns)
        converged = self._met()
        stopped = (
            "residuals met"
            if converged >= self.k
            else f"cap of {self.operator.applications - self.applied} applications"
        )
        complete = self.columns == self.operator.size
        return EigenPairs(
            values=self.values[:k].copy(),
            vectors=rotated(self.Q[:, : self.columns], self.rotation[:, :k]),
            residuals=self.residuals[:k],
            applications=self.operator.applications,
            converged=converged,
            stopped="the basis spans the whole space" if complete else stopped,
            complete=complete,
            next_value=max(float(self.values[k]), self.next_seen) if len(self.values) > k else None,
            probe=self.probe if self.searching else None,
        )

    def _gaussian(self, columns: int) -> Array:
        self.seed += 1
        return gaussian((self.operator.size, columns), seed=self.seed, like=self.operator.like())

    def _extend(self, new: slice) -> None:
        """Fill the rows and columns of T that the new directions add, and find what their product adds to the basis."""
        Q, block = self.Q[:, : new.stop], self.W[:, new]
        left, part = projected(block, Q, slice(self.linked, new.stop))
        self.T[: new.stop, new] = part
        self.T[new, : new.start] = part[: new.start].T
        self.T[new, new] = (part[new.start :] + part[new.start :].T) / 2
        # Many guesses are pairs found before, nearly invariant: the way to further ones leads from the other columns.
        fresh: slice | Array = slice(self.guesses, None)
        if self.refined:
            # Residuals of Ritz vectors lie, but for rounding, in the one block that would have come next.
            fresh, self.refined = from_host(_longest(left, self.block), like=left), False
        self.pending = orthonormalized(left[:, fresh], Q, before=block[:, fresh])
        self.coupling = to_host(self.pending.T @ block)
        self.linked, self.guesses = (0 if self.guesses else new.start), 0

    def _look_when_due(self, last: slice) -> None:
        """Measure residuals when an estimate says that they are small, and at the end of a search.

        What the last product adds to the basis, P R, is all that A Q has outside Q, so the residual of a Ritz pair with
        coordinates s is about |R s_last|: a small eigenproblem tells it without touching a long vector.
        """
        if self.columns < self.k:
            return
        if self.searching or self.columns == self.operator.size:
            if self._has_searched() or self.columns == self.operator.size:
                self._look()
            return
        self.steps += 1
        if self.steps < self.next_estimate:
            return
        values, rotation = np.linalg.eigh(self.T[: self.columns, : self.columns])
        estimate = np.linalg.norm(self.coupling @ rotation[last, -self.k :], axis=0)
        accuracy = self._coarse_limit() if self.coarse else self.tol
        worst = float(estimate.max()) / max(abs(float(values[-1])), EPS)
        forecast = self._forecast(worst)
        self.operator.expect(forecast)
        self.next_estimate = self.steps + 1 + min(int(forecast / 4), PACE)
        if worst <= 2 * accuracy:
            self._look()

    def _forecast(self, worst: float) -> float:
        """Return how many more products it takes at the pace of the last ones; 0 before a pace is seen."""
        self.history.append((self.steps, np.log(max(worst, EPS))))
        step, level = next((past for past in reversed(self.history) if self.steps - past[0] >= PACE), (0, np.inf))
        if np.isinf(level):
            return 0.0
        pace = max((level - self.history[-1][1]) / (self.steps - step), 1e-3)
        return float(max(self.history[-1][1] - np.log(self.tol), 0.0) / pace)

    def _look(self) -> None:
        """Find Ritz pairs of the whole basis, unless that is done, and the measured residuals of the wanted ones."""
        if len(self.rotation) == self.columns:
            return
        p, k = self.columns, min(self.k, self.columns)
        values, rotation = np.linalg.eigh(self.T[:p, :p])
        self.values, self.rotation = values[::-1], rotation[:, ::-1]
        wanted = self.rotation[:, :k]
        difference = rotated(self.W[:, :p], wanted) - rotated(self.Q[:, :p], wanted * self.values[:k])
        self.difference, xp = difference, namespace_of(difference)
        self.residuals = np.full(self.k, np.inf)
        self.residuals[:k] = to_host(xp.sum(difference * difference, axis=0)) ** 0.5

    def _met(self) -> int:
        """Count the leading pairs whose residual, as the caller will see it, meets the tolerance."""
        if len(self.values) < self.k:
            return 0
        asked = self.tol / self.operator.amplification(self.values[: self.k])
        # No product can show a residual below its own rounding.
        met = self.residuals <= np.maximum(asked, 2 * self.error) * abs(self.values[0])
        return self.k if met.all() else int(np.argmin(met))

    def _coarse_is_spent(self) -> bool:
        """Tell whether residuals have reached what coarse products can tell."""
        if len(self.rotation) != self.columns or len(self.values) < self.k:
            return False
        worst = float(np.max(self.residuals))
        # A product whose error is worse than it says would hold the residual up for ever.
        self.stalled = 0 if worst < 0.9 * self.best else self.stalled + 1
        self.best = min(self.best, worst)
        return self.stalled > STALLED or worst <= self._coarse_limit() * abs(float(self.values[0]))

    def _coarse_limit(self) -> float:
        """Return the residual, relative to the first value, from which on coarse products teach nothing more.

        The error that a product states is a cautious one: residuals fall to a part of it, and every coarse product that
        is still useful is one in full precision less.
        """
        return self.tol if self.error <= self.tol / 10 else max(self.error / 4, self.tol / 2)

    def _refine(self) -> None:
        """Go on in full precision; coarse products are made again for the Ritz vectors that are kept."""
        self._look()
        # Where coarse products came as far as is asked, further columns have little left to do.
        beside = self.block if self._coarse_limit() > self.tol else self.block // 4
        keep = min(self.columns, self.k + beside)
        self.pending = orthonormalized(rotated(self.Q[:, : self.columns], self.rotation[:, :keep]))
        self.columns, self.linked, self.refined = 0, 0, True
        self.values, self.rotation = np.zeros(0), np.zeros((0, 0))

    def _begin_search(self) -> None:
        """Fix the pairs found and look for others from columns that do not depend on them."""
        self._look()
        self.next_seen = float(self.values[self.k]) if len(self.values) > self.k else -np.inf
        self._cut_to(self.k)
        columns = min(self.block, SEARCH_COLUMNS, self.operator.size - self.k)
        self.pending = orthonormalized(self._gaussian(columns), self.Q[:, : self.k])
        self.searching, self.probe = True, Probe(columns, 0)

    def _plan_next(self) -> None:
        """Take what the last product adds to the basis as the next directions, or new ones where it adds nothing."""
        if self.pending.shape[1] == 0 and self.columns < self.operator.size:
            self.pending = orthonormalized(self._gaussian(self.block), self.Q[:, : self.columns])
        self.pending = self.pending[:, : max(self.operator.size - self.columns, 0)]

    def _leave_search(self) -> None:
        """Go on: the search has found something above the pairs, whose residuals are new directions too."""
        self.searching, self.next_seen, self.linked = False, -np.inf, 0
        self.pending = orthonormalized(_beside(self.difference, self.pending), self.Q[:, : self.columns])

    def _restart(self) -> None:
        """Cut the basis back to the best Ritz vectors."""
        self._cut_to(min(self.columns - 1, max(self.k + self.block // 2, int(KEEP * self.basis))))

    def _cut_to(self, keep: int) -> None:
        self._look()
        rotation = self.rotation[:, :keep]
        self.Q[:, :keep] = rotated(self.Q[:, : self.columns], rotation)
        self.W[:, :keep] = rotated(self.W[:, : self.columns], rotation)
        self.T[:keep, :keep] = np.diag(self.values[:keep])
        self.columns, self.linked = keep, 0
        self.values, self.rotation = self.values[:keep], np.eye(keep)


def _longest(block: Array, columns: int) -> HostArray:
    """Return the positions of the longest columns, in order."""
    squares = to_host(namespace_of(block).sum(block * block, axis=0))
    return np.sort(np.argsort(-squares, kind="stable")[:columns])


def _beside(left: Array, right: Array) -> Array:
    return namespace_of(left).concat([left, right], axis=1)
