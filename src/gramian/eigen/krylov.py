"""Block Krylov with thick restarts: few passes, stopped on measured residuals.

The basis and the identity that it keeps are in :mod:`gramian.eigen.krylov_basis`. Here is its use: when residuals are
measured, in which precision products are asked for, when the matrix is formed, when the basis is cut back, and how the
rest of the space is searched for eigenvalues that were passed over. A solve goes through these phases:

coarse
    Products as coarse as the operator likes (float32 where the rows are float32), until residuals have come as far as
    such products can tell.
refine
    One product, of the Ritz vectors that are kept, good to a tenth of the tolerance: the basis begins anew with it.
    Left out where products were as good before.
full
    Products of that accuracy, until all wanted pairs meet the tolerance.
search
    The pairs are fixed and Gaussian columns, drawn only now, look for others. What they find above the pairs goes
    into the basis, and the full phase goes on.

References
----------
Wu and Simon (2000), thick-restart Lanczos, doi:10.1137/S0895479898334605.
Kuczynski and Wozniakowski (1992), estimating eigenvalues from a random start, doi:10.1137/0613066.
"""

from dataclasses import dataclass
from math import sqrt
from typing import Literal

import numpy as np

from gramian.arrays.namespace import Array, HostArray, gaussian
from gramian.arrays.precision import FLOAT32, FLOAT64, eps_of
from gramian.eigen.certificate import SEARCH_COLUMNS, can_be_certain, search_steps
from gramian.eigen.krylov_basis import KrylovBasis, RitzPairs
from gramian.eigen.orthonormal import orthonormalized, side_by_side
from gramian.eigen.pairs import Approximation, EigenPairs, EigenSolver, Probe, Watch
from gramian.machine import all_blas_threads
from gramian.operators.symmetric import COARSE_ACCURACY, Product, SymmetricOperator

EPS, SINGLE = eps_of(FLOAT64), eps_of(FLOAT32)


@dataclass(frozen=True)
class Krylov(EigenSolver):
    """Block Krylov iteration with thick restarts and measured residuals.

    Computes Ritz pairs of A in span[V, A V, A^2 V, ...] from a Gaussian block V; when the basis is full it is
    cut back to the best Ritz vectors and grown again. Stops when every wanted pair has
    |A v - lambda v| <= tol lambda_1, never on a count; ``max_applications`` is a cap that is reported.

    A block of b columns holds b copies of a tied eigenvalue at most, and a start may happen to miss a direction. So
    when all residuals are met, the rest of the space is searched from Gaussian columns drawn after the pairs were
    fixed; what such a search finds above them goes into the basis and the iteration goes on.

    Products are asked for coarsely (float32 where the rows are float32) until residuals reach what such a
    product can tell, then in full precision. The basis is kept in float32 as long as its products are made in it.

    Where the operator says what forming its matrix costs (``operator.forming``), the matrix is formed as soon as the
    products to come would cost more.

    Cost: one application per step, 4 m p b operations per step for orthogonality, 2 m p numbers, p being the
    columns of the basis.

    Not for small m, where :class:`~gramian.eigen.direct.Direct` is faster and proves more.

    Parameters
    ----------
    tol : float, default=1e-10
    block : int, optional
        Columns per product; by default enough that a pass is well used.
    basis : int, optional
        Columns p of the basis; default 10 (k + 10).
    max_applications : int, default=1000
    search : bool, optional
        Whether to search the rest of the space after convergence; by default unless the matrix is in memory, where a
        certificate can prove what a search makes probable.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.operators.symmetric import DenseMatrix
    >>> pairs = Krylov().solve(DenseMatrix(np.diag(np.arange(200.0))), 3)
    >>> pairs.values.round(8), pairs.converged
    (array([199., 198., 197.]), 3)
    """

    tol: float = 1e-10
    block: int | None = None
    basis: int | None = None
    max_applications: int = 1000
    search: bool | None = None

    @property
    def gains_from_start(self) -> bool:
        """Whether known pairs save products: one column at a time most of them, a block finds pairs as soon again."""
        return self.block == 1

    def solve(
        self,
        operator: SymmetricOperator,
        k: int,
        *,
        seed: int = 0,
        start: Approximation | None = None,
        watch: Watch | None = None,
    ) -> EigenPairs:
        """Return the ``k`` largest eigenpairs of ``operator``; of ``start`` the vectors are used."""
        iteration = _Iteration(self, operator, k, seed=seed, start=None if start is None else start.vectors)
        # One product at least: without it there is nothing to report.
        while not iteration.is_finished() and (
            iteration.basis is None or iteration.applications < self.max_applications
        ):
            iteration.step()
            if watch is not None:
                watch(iteration.applications, iteration.pace.worst)
        return iteration.result()


class _Iteration:
    """One solve: the basis, the directions that it is expanded by next, and the phase that it is in."""

    def __init__(self, solver: Krylov, operator: SymmetricOperator, k: int, *, seed: int, start: Array | None) -> None:
        m = operator.size
        self.solver, self.tol, self.k, self.seed = solver, solver.tol, k, seed
        self.given = self.operator = operator
        self.applied = operator.applications
        self.block = min(m, solver.block or 8)
        longest_search = (search_steps(m, min(self.block, SEARCH_COLUMNS)) + 1) * self.block
        # Room for the pairs wanted and, after a search that found more, for their residuals and its columns.
        self.capacity = min(m, max(solver.basis or 10 * (k + 10), k + longest_search, 2 * (k + self.block)))
        self.phase: Literal["coarse", "refine", "full", "search"] = "coarse" if self.tol < 1e-2 else "full"
        # The process: products are kept times ``unit``, and ``error`` is the largest that they state.
        self.basis: KrylovBasis | None = None
        self.unit, self.error = 1.0, 0.0
        # What was last measured of it.
        self.measured: RitzPairs | None = None
        self.residuals = np.full(k, np.inf)
        self.pace = _Pace(self.tol)
        # The search: its columns and products, and the largest value seen beyond the pairs wanted.
        self.probe, self.beyond = Probe(0, 0), -np.inf
        # The first block: the vectors given, and Gaussian columns.
        self.guesses = 0 if start is None else start.shape[1]
        draw = self._gaussian(max(1, self.block // 2) if 0 < self.guesses <= self.block else self.block)
        self.directions = orthonormalized(draw if start is None else side_by_side(start, draw))

    def step(self) -> None:
        """Make one product, take it into the basis, and decide how to go on."""
        if self.basis is not None and self.basis.columns + self.directions.shape[1] > self.capacity:
            self._restart(self.basis)
        basis = self._expanded(self.operator.apply(self.directions, accuracy=self._accuracy()))
        confirmed = False
        if self.phase == "refine":
            self._measure()
            self.phase, confirmed = "full", self._met() == self.k
        exhausted = not confirmed and self._is_exhausted(basis)
        # A matrix in memory has one precision: what was made from coarse products before it was formed is made again.
        if self.phase == "coarse" and (self.operator.is_dense or exhausted):
            if self.error > self.tol / 10:
                if self.applications < self.solver.max_applications:
                    self._refine(basis)
                return
            self.phase = "full"
            if exhausted:
                self._measure()
        if self.phase == "full" and self.wants_search and not basis.is_whole and self._met() == self.k:
            self._begin_search(basis)
        elif self.phase == "search" and self._met() < self.k:
            self._leave_search(basis)

    @property
    def applications(self) -> int:
        """Products made so far; a pass over the rows each, or two."""
        formed = 0 if self.operator is self.given else self.operator.applications
        return self.given.applications - self.applied + formed

    @property
    def wants_search(self) -> bool:
        """Whether the rest of the space is to be searched after convergence."""
        return not self.operator.is_dense if self.solver.search is None else self.solver.search

    def is_finished(self) -> bool:
        """Tell whether every wanted pair meets the tolerance by full-precision products."""
        if self.basis is None or self.measured is None or len(self.measured.values) < self.k:
            return False
        if self.basis.is_whole:
            return True
        return self.phase != "coarse" and self._has_searched() and self._met() == self.k

    def result(self) -> EigenPairs:
        """Return the wanted Ritz pairs."""
        self._measure()
        basis, pairs = self._known()
        k = min(self.k, basis.columns)
        converged, values = self._met(), pairs.values / self.unit
        stopped = "residuals met" if converged >= self.k else f"cap of {self.applications} applications"
        stopped = "the basis spans the whole space" if basis.is_whole else stopped
        formed = None if self.operator is self.given else self.operator
        if formed is not None:
            stopped = f"{stopped}, {formed.applications} products with the matrix, formed on the way"
        return EigenPairs(
            values=values[:k],
            vectors=basis.vectors(pairs.leading(k)),
            residuals=self.residuals[:k] / self.unit,
            applications=self.applied + self.applications,
            converged=converged,
            stopped=stopped,
            complete=basis.is_whole,
            next_value=max(float(values[k]), self.beyond) if len(values) > k else None,
            probe=self.probe if self.phase == "search" else None,
            error=self.error if self.error - self.operator.error > SINGLE / 2 else 0.0,
            formed=formed,
        )

    # The process

    def _expanded(self, product: Product) -> KrylovBasis:
        """Take the product of the directions into the basis, and set the next ones."""
        refining, searching, skip = self.phase == "refine", self.phase == "search", 0
        if self.basis is None:
            self.basis = self._new_basis(product)
            # Many guesses are pairs found before, nearly invariant: the way to further ones leads from other columns.
            skip = self.guesses if self.guesses > self.block and not refining else 0
        basis = self.basis
        values = product.values if self.unit == 1 else product.values * self.unit
        # Residuals of Ritz vectors lie, but for rounding, in the one block that would have come next. In a search, what
        # ties the pairs to it is known from their own products: a coarse one would tie them by its error.
        most, trusted = self.block if refining else None, self.k if searching else 0
        basis.expand(self.directions, values, skip=skip, most=most, trusted=trusted)
        self.error = self.error if searching else max(self.error, product.error)
        self.probe = self.probe._replace(steps=self.probe.steps + 1)
        self.directions = basis.R
        if basis.R.shape[1] == 0 and not basis.is_whole:
            fresh = orthonormalized(self._gaussian(self.block), basis.V)
            self.directions = fresh[:, : basis.size - basis.columns]
        return basis

    def _new_basis(self, first: Product) -> KrylovBasis:
        """Make room for a basis: in float32, as is its first product, where products will be made again.

        Numbers in float32 are taken by a power of two to where squares of them are safe.
        """
        coarse = self.phase == "coarse" and not self.operator.is_dense
        single = coarse and first.error >= SINGLE and first.error > self.tol / 10
        largest = float(abs(first.values).max()) if single else 1.0
        self.unit = float(2.0 ** -np.frexp(largest)[1]) if single else 1.0
        return KrylovBasis(self.capacity, FLOAT32 if single else FLOAT64, like=first.values)

    def _gaussian(self, columns: int) -> Array:
        self.seed += 1
        dtype = FLOAT64 if self.basis is None else self.basis.dtype
        return gaussian((self.given.size, columns), seed=self.seed, like=self.given.like(), dtype=dtype)

    def _known(self) -> tuple[KrylovBasis, RitzPairs]:
        """Return the basis, and the pairs last measured in it."""
        if self.basis is None or self.measured is None:
            message = "nothing has been measured yet"
            raise RuntimeError(message)
        return self.basis, self.measured

    def _restart(self, basis: KrylovBasis) -> None:
        """Cut the basis back to the best Ritz vectors.

        Half of it survives: applications on noise of size 2,000 are flat from 0.4 to 0.6.
        """
        most = min(basis.columns - 1, self.capacity - self.directions.shape[1])
        self._shrink(basis, min(most, max(self.k + self.block // 2, self.capacity // 2)))

    def _shrink(self, basis: KrylovBasis, keep: int) -> None:
        """Keep the leading Ritz vectors, measured before; a basis that spans no more than them is left as it is."""
        self._measure()
        if keep < basis.columns:
            basis.shrink(basis.ritz().leading(keep))
            self.measured = basis.ritz()

    # Convergence

    def _measure(self) -> None:
        """Find Ritz pairs of the whole basis, unless that is done, and the measured residuals of the wanted ones."""
        if self.basis is None or self.measured is self.basis.ritz():
            return
        self.measured = self.basis.ritz()
        wanted = self.measured.leading(self.k)
        self.residuals = np.full(self.k, np.inf)
        self.residuals[: len(wanted.values)] = self.basis.residuals(wanted)

    def _met(self) -> int:
        """Count the leading pairs whose residual, when last measured, meets the tolerance as the caller will see it."""
        if self.measured is None or len(self.measured.values) < self.k:
            return 0
        # No product can show a residual below its own rounding; coarse ones are made again before they count.
        values, rounding = self.measured.values, 0.0 if self.phase == "coarse" else 2 * self.error
        met = self.residuals <= np.maximum(self._asked(values), rounding) * abs(values[0])
        return self.k if met.all() else int(np.argmin(met))

    def _asked(self, values: HostArray) -> HostArray:
        """Return the residual asked of each wanted pair, relative to the first value, so that the caller sees tol."""
        return self.tol / self.given.residual_weight(values[: self.k])

    def _is_exhausted(self, basis: KrylovBasis) -> bool:
        """Measure residuals when an estimate says that they are small; tell whether coarse products are used up.

        They are when the basis spans the whole space, or when the residuals have come as far as they can tell.
        """
        if basis.columns < self.k:
            return False
        if self.phase == "search" or basis.is_whole:
            if self._has_searched() or basis.is_whole:
                self._measure()
            return basis.is_whole
        if not self.pace.is_due():
            return False
        ritz = basis.ritz()
        estimates = basis.estimates(ritz.leading(self.k))
        worst = float(estimates.max()) / max(abs(float(ritz.values[0])), EPS)
        products = self.pace.forecast(worst)
        self._form_if_it_pays(products, ritz.values)
        # Residuals are estimated again after a part of what is to come; later where no matrix is left to be formed.
        self.pace.wait(products, most=8 if self.operator.is_dense else 4)
        if self.phase == "coarse":
            return self._is_spent(worst)
        if worst <= 2 * self.tol:
            self._measure()
            self._add_unexplained(estimates)
        return False

    def _add_unexplained(self, estimates: HostArray) -> None:
        """Take residuals that the way to the next directions does not explain as directions too.

        Pairs from coarse products have errors of their own, one per pair, that no step along other directions mends.
        """
        basis, pairs = self._known()
        asked = np.maximum(self._asked(pairs.values), 4 * self.error) * abs(pairs.values[0])
        unexplained = np.flatnonzero((self.residuals > asked) & (self.residuals > 2 * estimates))
        if 0 < len(unexplained) <= self.capacity // 4 - self.directions.shape[1]:
            left = basis.remainders(RitzPairs(pairs.values[unexplained], pairs.S[:, unexplained]))
            self.directions = orthonormalized(side_by_side(left, self.directions), basis.V)

    def _form_if_it_pays(self, products: float, values: HostArray) -> None:
        """Go over to the matrix when forming it costs less than the products to come, or a proof is worth it."""
        forming = self.given.forming
        if forming is None or self.operator is not self.given:
            return
        certain = can_be_certain(values, k=self.k, m=self.given.size, block=self.block)
        if forming.pays(products, certain=certain):
            with all_blas_threads():
                self.operator = self.given.materialize()

    # Precision

    def _accuracy(self) -> float:
        """Return what is asked of the next product.

        What a search would find above the pairs shows in coarse products too. One column at a time, errors of products
        are not mended by going on in full precision, which adds one direction per step where each pair has its own.
        """
        if self.phase == "coarse" and self.block == 1:
            return min(COARSE_ACCURACY, 2 * self.tol)
        return self.tol / 10 if self.phase in {"refine", "full"} else COARSE_ACCURACY

    def _is_spent(self, worst: float) -> bool:
        """Tell whether residuals, ``worst`` relative to the first value, are as small as coarse products can tell."""
        limit = self._coarse_limit()
        if worst > 2 * limit:
            return False
        if self.guesses:
            # The estimate knows nothing of what products of guesses have outside the basis.
            self._measure()
            top = abs(float(self._known()[1].values[0]))
            worst = max(worst, float(self.residuals.max()) / max(top, np.finfo(float).tiny))
        # A product whose error is worse than it says would hold the residual up for ever.
        return self.pace.has_stalled(worst) or worst <= limit

    def _coarse_limit(self) -> float:
        """Return the residual, relative to the first value, from which on coarse products teach nothing more.

        The error that a product states is a cautious one: residuals fall to a part of it, and every coarse product that
        is still useful is one in full precision less.
        """
        if self.basis is None or self.error <= self.tol / 10:
            return self.tol
        asked, blur = float(self._asked(self.basis.ritz().values).min()), self.error / 4
        # What is left for the residual when the errors of products, which are of other directions, are taken off.
        return max(blur, 0.9 * sqrt(max(asked**2 - blur**2, asked**2 / 4)), 2 * SINGLE)

    def _refine(self, basis: KrylovBasis) -> None:
        """Begin again in full precision, from the Ritz vectors that are kept."""
        # Where coarse products came as far as is asked, further columns have little left to do.
        more = self.block if self._coarse_limit() > self.tol else self.block // 4
        pairs = basis.ritz()
        vectors = basis.vectors(pairs.leading(min(basis.columns, self.k + more)))
        self.directions = orthonormalized(vectors, before=vectors, overwrite=True)
        self.beyond = float(pairs.values[self.k]) / self.unit if basis.columns > self.k else -np.inf
        self.basis = self.measured = None
        self.phase, self.unit, self.error = "refine", 1.0, 0.0

    # The search for eigenvalues that were passed over

    def _has_searched(self) -> bool:
        """Tell whether the search, if one is wanted, has made as many products as it needs."""
        if not self.wants_search:
            return True
        return self.phase == "search" and self.probe.steps >= search_steps(self.given.size, self.probe.columns)

    def _begin_search(self, basis: KrylovBasis) -> None:
        """Fix the pairs found and look for others from columns that do not depend on them."""
        self._measure()
        if self._met() < self.k:
            # They were met when last measured; a tied one has come in between since.
            return
        _, pairs = self._known()
        if len(pairs.values) > self.k:
            self.beyond = max(self.beyond, float(pairs.values[self.k]))
        self._shrink(basis, self.k)
        columns = min(self.block, SEARCH_COLUMNS, basis.size - self.k)
        self.directions = orthonormalized(self._gaussian(columns), basis.V)
        self.phase, self.probe = "search", Probe(columns, 0)

    def _leave_search(self, basis: KrylovBasis) -> None:
        """Go on: the search has found something above the pairs, whose residuals are new directions too."""
        self.phase, self.beyond = "full", -np.inf
        left = side_by_side(basis.remainders(basis.ritz().leading(self.k)), self.directions)
        self.directions = orthonormalized(left, basis.V)


class _Pace:
    """How fast residuals fall: how many more products that makes, and when to estimate them next."""

    def __init__(self, tol: float) -> None:
        self.tol, self.worst = tol, np.inf
        self.products = self.due = self.stalled = 0
        self.best = np.inf
        self.history: list[tuple[int, float]] = []

    def is_due(self) -> bool:
        """Count one more product; tell whether residuals are to be estimated after it."""
        self.products += 1
        return self.products >= self.due

    def forecast(self, worst: float) -> float:
        """Return how many more products it takes at the pace of the last two or more; 0 before a pace is seen.

        Residuals fall steeply at first, while the leading pairs are found: the first four products tell nothing.
        """
        self.worst = worst
        self.history.append((self.products, np.log(max(worst, EPS))))
        before, level = next((past for past in reversed(self.history) if self.products - past[0] >= 2), (0, np.inf))
        if np.isinf(level) or self.products <= 4:
            return 0.0
        pace = max((level - self.history[-1][1]) / (self.products - before), 1e-3)
        return float(max(self.history[-1][1] - np.log(self.tol), 0.0) / pace)

    def wait(self, products: float, *, most: int) -> None:
        """Let the next estimate come after a quarter of the products to come, or made; ``most`` at most."""
        self.due = self.products + 1 + min(int(products / 4), most, self.products // 4)

    def has_stalled(self, worst: float) -> bool:
        """Tell whether three estimates in a row have brought no progress."""
        self.stalled = 0 if worst < 0.9 * self.best else self.stalled + 1
        self.best = min(self.best, worst)
        return self.stalled > 2
