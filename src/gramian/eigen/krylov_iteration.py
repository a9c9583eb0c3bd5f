"""The state of a block Krylov iteration: its basis, the products with it, and what is done next."""

from math import sqrt
from typing import Any

import numpy as np

from gramian.arrays.draws import gaussian
from gramian.arrays.namespace import Array, HostArray, cast, device_of, from_host, is_numpy, namespace_of, to_host
from gramian.arrays.precision import FLOAT32, FLOAT64, eps_of
from gramian.eigen.orthonormal import beside, longest, orthonormalized, projected, rotate, rotated, stretches
from gramian.eigen.pairs import EigenPairs, Probe
from gramian.eigen.searching import SEARCH_COLUMNS, can_be_certain, search_steps
from gramian.operators.symmetric import Product, SymmetricOperator

KEEP = 0.5
"""Share of the basis that survives a restart (applications on noise of size 2,000 are flat from 0.4 to 0.6)."""

PACE = 2
"""Products over which the fall of the residuals is measured to forecast how many more it takes: they fall steeply at
first, while the leading pairs are found."""

FIRST_FORECAST = 4
"""Products after which that fall is looked at first."""

UNSEEN, UNSEEN_HELD = 4, 8
"""Products, at most, between two looks at how far it has come: more where no matrix is left to be formed."""

STALLED = 2
"""Looks without progress after which coarse products are taken to be worse than they say."""

EPS = eps_of(FLOAT64)

SINGLE = eps_of(FLOAT32)
"""Error of a product from which on it was made in float32."""

COARSE_ACCURACY = 50 * eps_of(FLOAT32)
"""Accuracy asked of products while residuals are still above it."""


class Iteration:
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
        self.dtype: np.dtype[Any] = FLOAT64
        self.unit = 1.0
        self.ritz: tuple[HostArray, HostArray] | None = None
        self.steps = self.next_estimate = self.guesses = 0
        self.refined = self.spent = self.started = False
        self.history: list[tuple[int, float]] = []
        self.room: list[HostArray] = []

    def begin(self, start: Array | None) -> None:
        """Make the first block: the guesses given, and Gaussian columns."""
        many = start is not None and start.shape[1] > self.block
        draw = self._gaussian(self.block if start is None or many else max(1, self.block // 2))
        self.T = np.zeros((self.basis, self.basis))
        self.pending = orthonormalized(draw if start is None else beside(start, draw))
        self.values, self.rotation = np.zeros(0), np.zeros((0, 0))
        self.residuals = np.full(self.k, np.inf)
        self.guesses = start.shape[1] if start is not None and many else 0
        self.started = start is not None

    def step(self) -> None:
        """Add the pending directions, apply the operator to them, and find the new Ritz pairs."""
        if self.columns + self.pending.shape[1] > self.basis:
            self._restart()
        new = slice(self.columns, self.columns + self.pending.shape[1])
        product = self.operator.apply(self.pending, accuracy=self._accuracy())
        if new.start == 0:
            self._make_room(product)
        self.Q[:, new] = self.pending
        self.W[:, new] = product.values if self.unit == 1 else product.values * self.unit
        self.columns = new.stop
        self.error = self.error if self.searching else max(self.error, product.error)
        self.probe = self.probe._replace(steps=self.probe.steps + 1)
        if not self._is_confirmed():
            self._extend(new)
            self._plan_next()
            self._look_when_due(new)
        # A held matrix has one precision: what was made from coarse products before it was formed is made again.
        if self.coarse and (self.operator.is_held or self.spent):
            self.coarse = False
            if self.error > self.tol / 10:
                self._refine()
                return
            if self.spent:
                self._look()
        if self._has_settled():
            self._begin_search()
        elif self.searching and self._met() < self.k:
            self._leave_search()

    def _accuracy(self) -> float:
        """Return what is asked of the next product.

        What a search would find above the pairs shows in coarse products too. One column at a time, errors of products
        are not mended by going on in full precision, which adds one direction a step where each pair has its own.
        """
        if self.coarse and self.block == 1:
            return min(COARSE_ACCURACY, 2 * self.tol)
        return COARSE_ACCURACY if self.coarse or self.searching else self.tol / 10

    def _make_room(self, first: Product) -> None:
        """Make the basis: in float32, as is its first product, where the product will be made again.

        Numbers in float32 are taken by a power of two to where squares of them are safe.
        """
        single = self.coarse and not self.operator.is_held and first.error >= SINGLE and first.error > self.tol / 10
        self.dtype = FLOAT32 if single else FLOAT64
        largest = float(abs(first.values).max()) if single else 1.0
        self.unit = float(2.0 ** -np.frexp(largest)[1]) if single else 1.0
        # Vectors lie one after the other in memory, so that adding some touches only them.
        self.Q, self.W = (self._room_for(i, first.values).T for i in range(2))

    def _room_for(self, i: int, like: Array) -> Array:
        """Return memory for Q or W: on the host the same for both precisions, because fresh one costs page faults."""
        shape, xp = (self.basis, self.operator.size), namespace_of(like)
        if not is_numpy(like):
            return xp.empty(shape, dtype=getattr(xp, self.dtype.name), **device_of(like))
        if len(self.room) <= i:
            self.room.append(np.empty(shape))
        return self.room[i].reshape(-1).view(self.dtype)[: self.room[i].size].reshape(shape)

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
        values = self.values / self.unit
        return EigenPairs(
            values=values[:k],
            vectors=self._ritz_vectors(k),
            residuals=self.residuals[:k] / self.unit,
            applications=self.operator.applications,
            converged=converged,
            stopped="the basis spans the whole space" if complete else stopped,
            complete=complete,
            next_value=max(float(values[k]), self.next_seen) if len(values) > k else None,
            probe=self.probe if self.searching else None,
            error=self.error if self.error - self.operator.error > SINGLE / 2 else 0.0,
        )

    def _ritz_vectors(self, count: int) -> Array:
        """Return the leading Ritz vectors (m, count) of the pairs last found, in float64."""
        Q, rotation = self.Q[:, : self.columns], self.rotation[:, :count]
        if not is_numpy(Q):
            return cast(rotated(Q, rotation), FLOAT64)
        vectors = np.empty((count, self.operator.size)).T
        rotate(Q, rotation, vectors)
        return vectors

    def _gaussian(self, columns: int) -> Array:
        self.seed += 1
        return gaussian((self.operator.size, columns), seed=self.seed, like=self.operator.like(), dtype=self.dtype)

    def _extend(self, new: slice) -> None:
        """Fill the rows and columns of T that the new directions add, and find what their product adds to the basis."""
        Q, block = self.Q[:, : new.stop], self.W[:, new]
        left, part = projected(block, Q, slice(self.linked, new.stop))
        if self.searching:
            # By the products of the pairs: a coarse one would tie them to the search by its own error.
            part[: self.k] = to_host(self.W[:, : self.k].T @ self.Q[:, new])
        self.T[: new.stop, new] = part
        self.T[new, : new.start] = part[: new.start].T
        self.T[new, new] = (part[new.start :] + part[new.start :].T) / 2
        # Many guesses are pairs found before, nearly invariant: the way to further ones leads from the other columns.
        fresh: slice | Array = slice(self.guesses, None)
        if self.refined:
            # Residuals of Ritz vectors lie, but for rounding, in the one block that would have come next.
            fresh, self.refined = from_host(longest(left, self.block), like=left), False
        self.pending = orthonormalized(left[:, fresh], Q, before=block[:, fresh])
        self.coupling = to_host(self.pending.T @ block)
        self.linked, self.guesses = (0 if self.guesses else new.start), 0

    def _is_confirmed(self) -> bool:
        """Tell whether full-precision products of refined pairs meet the tolerance, so that no direction is missing."""
        if not self.refined:
            return False
        p = self.columns
        part = to_host(self.Q[:, :p].T @ self.W[:, :p])
        self.T[:p, :p] = (part + part.T) / 2
        self._look()
        self.refined = self._met() < self.k
        return not self.refined

    def _look_when_due(self, last: slice) -> None:
        """Measure residuals when an estimate says that they are small, and at the end of a search.

        What the last product adds to the basis, P R, is all that A Q has outside Q, so the residual of a Ritz pair with
        coordinates s is about |R s_last|: a small eigenproblem tells it without touching a long vector.
        """
        if self.columns < self.k:
            return
        if self.searching or self.columns == self.operator.size:
            self.spent = self.columns == self.operator.size
            if self._has_searched() or self.spent:
                self._look()
            return
        self.steps += 1
        if self.steps < self.next_estimate:
            return
        values, rotation = self._find_ritz()
        estimate = np.linalg.norm(self.coupling @ rotation[last, : self.k], axis=0)
        worst = float(estimate.max()) / max(abs(float(values[0])), EPS)
        forecast = self._forecast(worst)
        certain = can_be_certain(values, k=self.k, m=self.operator.size, block=self.block)
        self.operator.expect(forecast, certain=certain)
        unseen = UNSEEN_HELD if self.operator.is_held else UNSEEN
        self.next_estimate = self.steps + 1 + min(int(forecast / 4), unseen, self.steps // 4)
        if self.coarse:
            self.spent = self._is_spent(worst)
        elif worst <= 2 * self.tol:
            self._look()
            self._add_unexplained(estimate)

    def _add_unexplained(self, estimate: HostArray) -> None:
        """Take residuals that the way to the next directions does not explain as directions too.

        Pairs from coarse products have errors of their own, one a pair, that no step along other directions mends.
        """
        asked = np.maximum(self._asked(self.values), 4 * self.error) * abs(self.values[0])
        unexplained = np.flatnonzero((self.residuals > asked) & (self.residuals > 2 * estimate))
        if 0 < len(unexplained) <= self.basis // 4 - self.pending.shape[1]:
            left = beside(self._differences(unexplained), self.pending)
            self.pending = orthonormalized(left, self.Q[:, : self.columns])
            self.linked = 0

    def _forecast(self, worst: float) -> float:
        """Return how many more products it takes at the pace of the last ones; 0 before a pace is seen."""
        self.history.append((self.steps, np.log(max(worst, EPS))))
        step, level = next((past for past in reversed(self.history) if self.steps - past[0] >= PACE), (0, np.inf))
        if np.isinf(level) or self.steps <= FIRST_FORECAST:
            return 0.0
        pace = max((level - self.history[-1][1]) / (self.steps - step), 1e-3)
        return float(max(self.history[-1][1] - np.log(self.tol), 0.0) / pace)

    def _find_ritz(self) -> tuple[HostArray, HostArray]:
        """Return the eigenvalues, descending, and eigenvectors of T."""
        if self.ritz is None or len(self.ritz[0]) != self.columns:
            values, rotation = np.linalg.eigh(self.T[: self.columns, : self.columns])
            self.ritz = values[::-1], rotation[:, ::-1]
        return self.ritz

    def _look(self) -> None:
        """Find Ritz pairs of the whole basis, unless that is done, and the measured residuals of the wanted ones."""
        if len(self.rotation) == self.columns:
            return
        k = min(self.k, self.columns)
        self.values, self.rotation = self._find_ritz()
        squares = np.zeros(k)
        for rows in stretches(self.Q):
            part = self._differences(slice(k), rows)
            squares += to_host(namespace_of(part).sum(part * part, axis=0))
        self.residuals = np.full(self.k, np.inf)
        self.residuals[:k] = squares**0.5

    def _differences(self, pairs: slice | HostArray, rows: slice = slice(None)) -> Array:
        """Return  A v - lambda v  of some of the Ritz pairs last looked at, or stretches of them."""
        p, wanted = self.columns, self.rotation[:, pairs]
        return rotated(self.W[rows, :p], wanted) - rotated(self.Q[rows, :p], wanted * self.values[pairs])

    def _met(self) -> int:
        """Count the leading pairs whose residual, as the caller will see it, meets the tolerance."""
        if len(self.values) < self.k:
            return 0
        # No product can show a residual below its own rounding.
        met = self.residuals <= np.maximum(self._asked(self.values), 2 * self.error) * abs(self.values[0])
        return self.k if met.all() else int(np.argmin(met))

    def _asked(self, values: HostArray) -> HostArray:
        """Return the residual asked of each wanted pair, relative to the first value, so that the caller sees tol."""
        return self.tol / self.operator.amplification(values[: self.k])

    def _is_spent(self, worst: float) -> bool:
        """Tell whether residuals, at most ``worst`` beside the first value, are at what coarse products can tell."""
        limit = self._coarse_limit()
        if worst > 2 * limit:
            return False
        if self.started:
            # The estimate knows nothing of what products of guesses have outside the basis.
            self._look()
            worst = max(worst, float(self.residuals.max() / abs(self.values[0])))
        # A product whose error is worse than it says would hold the residual up for ever.
        self.stalled = 0 if worst < 0.9 * self.best else self.stalled + 1
        self.best = min(self.best, worst)
        return self.stalled > STALLED or worst <= limit

    def _coarse_limit(self) -> float:
        """Return the residual, relative to the first value, from which on coarse products teach nothing more.

        The error that a product states is a cautious one: residuals fall to a part of it, and every coarse product that
        is still useful is one in full precision less.
        """
        if self.error <= self.tol / 10:
            return self.tol
        asked, blur = float(self._asked(self._find_ritz()[0]).min()), self.error / 4
        # What is left for the residual beside the errors of products, which are of other directions.
        return max(blur, 0.9 * sqrt(max(asked**2 - blur**2, asked**2 / 4)), 2 * SINGLE)

    def _refine(self) -> None:
        """Go on in full precision; coarse products are made again for the Ritz vectors that are kept."""
        self.values, self.rotation = self._find_ritz()
        # Where coarse products came as far as is asked, further columns have little left to do.
        beside = self.block if self._coarse_limit() > self.tol else self.block // 4
        keep = min(self.columns, self.k + beside)
        vectors = self._ritz_vectors(keep)
        self.pending, self.ritz = orthonormalized(vectors, before=vectors, overwrite=True), None
        self.next_seen = float(self.values[self.k]) / self.unit if self.columns > self.k else -np.inf
        # Elsewhere than on the host, what was in float32 is let go before more is held.
        self.Q = self.W = None
        self.dtype, self.unit, self.error = FLOAT64, 1.0, 0.0
        self.columns, self.linked, self.refined = 0, 0, True
        self.values, self.rotation = np.zeros(0), np.zeros((0, 0))

    def _begin_search(self) -> None:
        """Fix the pairs found and look for others from columns that do not depend on them."""
        self._look()
        if len(self.values) > self.k:
            self.next_seen = max(self.next_seen, float(self.values[self.k]))
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
        left = beside(self._differences(slice(self.k)), self.pending)
        self.pending = orthonormalized(left, self.Q[:, : self.columns])

    def _restart(self) -> None:
        """Cut the basis back to the best Ritz vectors."""
        self._cut_to(min(self.columns - 1, max(self.k + self.block // 2, int(KEEP * self.basis))))

    def _cut_to(self, keep: int) -> None:
        """Let the basis be the leading Ritz vectors; one that spans no more than them is left as it is."""
        self._look()
        self.linked = 0
        if keep == self.columns:
            return
        rotation = self.rotation[:, :keep]
        rotate(self.Q[:, : self.columns], rotation, self.Q[:, :keep])
        rotate(self.W[:, : self.columns], rotation, self.W[:, :keep])
        self.T[:keep, :keep] = np.diag(self.values[:keep])
        self.columns, self.ritz = keep, None
        self.values, self.rotation = self.values[:keep], np.eye(keep)
