"""The contract of an eigensolver, as tests that any solver can be put through."""

from typing import Any

import numpy as np
import numpy.typing as npt

from gramian.arrays.namespace import to_host
from gramian.eigen.pairs import Approximation, EigenPairs, EigenSolver
from gramian.operators.symmetric import DenseMatrix
from gramian.testing.angles import assert_same_subspace, orthonormality_error
from gramian.testing.planted import exact_symmetric

Array = npt.NDArray[Any]

__all__ = ["EigenSolverSuite"]


class EigenSolverSuite:
    """Tests that every eigensolver must pass, on matrices whose spectrum is known to the last bit.

    Subclass it with a name that starts with ``Test`` and give it :meth:`make_solver`.

    Examples
    --------
    >>> from gramian.eigen.direct import Direct
    >>> class TestDirect(EigenSolverSuite):
    ...     def make_solver(self):
    ...         return Direct()
    >>> TestDirect().test_residuals_are_measured()
    """

    tol: float = 1e-8
    spectra: tuple[tuple[float, ...], ...] = (
        tuple(np.geomspace(1.0, 1e-3, 16)),
        (5.0, 5.0, 3.0, 3.0, 3.0, 1.0, 0.5, 0.25),
        (1.0, 0.9, 0.8, *([0.1] * 29)),
    )
    counts: tuple[int, ...] = (3, 5, 3)

    def make_solver(self) -> EigenSolver:
        """Return the solver under test."""
        raise NotImplementedError

    def _solve(self, spectrum: tuple[float, ...], k: int, *, seed: int = 0) -> tuple[EigenPairs, Array, Array]:
        A, lam, V = exact_symmetric(spectrum, seed=seed)
        return self.make_solver().solve(DenseMatrix(A), k, seed=seed), lam, V

    def _each(self) -> list[tuple[EigenPairs, Array, Array, int]]:
        solved = zip(self.spectra, self.counts, strict=True)
        return [(*self._solve(spectrum, k), k) for spectrum, k in solved]

    def test_planted_values_are_found(self) -> None:
        """The leading eigenvalues come out, largest first."""
        for pairs, lam, _, k in self._each():
            np.testing.assert_allclose(to_host(pairs.values), lam[:k], rtol=0, atol=self.tol * lam[0])

    def test_planted_space_is_found(self) -> None:
        """The vectors span the planted space; each k ends at a gap, so ties lie wholly inside."""
        for pairs, _, V, k in self._each():
            assert_same_subspace(to_host(pairs.vectors), V[:, :k], tol=1e3 * self.tol)

    def test_vectors_are_orthonormal(self) -> None:
        """V'V = I, ties included."""
        for pairs, _, _, _ in self._each():
            assert orthonormality_error(to_host(pairs.vectors)) <= self.tol

    def test_residuals_are_measured(self) -> None:
        """The residuals reported are those of the pairs returned, and converged ones are small."""
        for (spectrum, k), (pairs, lam, _, _) in zip(
            zip(self.spectra, self.counts, strict=True), self._each(), strict=True
        ):
            A = exact_symmetric(spectrum, seed=0)[0]
            V = to_host(pairs.vectors)
            actual = np.linalg.norm(A @ V - V * to_host(pairs.values), axis=0)
            assert (actual <= to_host(pairs.residuals) + 64 * np.finfo(float).eps * lam[0]).all()
            assert pairs.converged == k

    def test_applications_are_reported(self) -> None:
        """The number of applications reported is the number the operator counted."""
        operator = DenseMatrix(exact_symmetric(self.spectra[0], seed=1)[0])
        pairs = self.make_solver().solve(operator, 2, seed=0)
        assert pairs.applications == operator.applications

    def test_a_start_changes_no_answer(self) -> None:
        """Known pairs are a hint: the same values come out from them, whether they save products or not."""
        A, lam, V = exact_symmetric(self.spectra[0], seed=2)
        start = Approximation(lam[:4], V[:, :4])
        pairs = self.make_solver().solve(DenseMatrix(A), 3, seed=0, start=start)
        np.testing.assert_allclose(to_host(pairs.values), lam[:3], rtol=0, atol=self.tol * lam[0])

    def test_a_watcher_hears_of_the_products_made(self) -> None:
        """Each step is told with the products made so far, never fewer than before."""
        told: list[tuple[int, float]] = []
        operator = DenseMatrix(exact_symmetric(self.spectra[0], seed=3)[0])
        pairs = self.make_solver().solve(operator, 2, seed=0, watch=lambda *step: told.append(step))
        products = [made for made, _ in told]
        assert len(told) > 0
        assert products == sorted(products)
        assert products[-1] == pairs.applications
        assert all(worst >= 0 for _, worst in told)

    def test_same_seed_same_answer(self) -> None:
        """Two solves with one seed agree to the last bit."""
        first, second = (self._solve(self.spectra[0], 3, seed=7)[0] for _ in range(2))
        np.testing.assert_array_equal(to_host(first.values), to_host(second.values))
        np.testing.assert_array_equal(to_host(first.vectors), to_host(second.vectors))

    def test_zero_matrix(self) -> None:
        """The zero matrix has zero eigenvalues and orthonormal vectors, and no division by zero."""
        pairs = self.make_solver().solve(DenseMatrix(np.zeros((8, 8))), 3, seed=0)
        np.testing.assert_array_equal(to_host(pairs.values), np.zeros(3))
        assert orthonormality_error(to_host(pairs.vectors)) <= self.tol

    def test_all_pairs(self) -> None:
        """Asking for all pairs gives the whole spectrum."""
        pairs, lam, _ = self._solve(self.spectra[1], len(self.spectra[1]))
        np.testing.assert_allclose(to_host(pairs.values), lam, rtol=0, atol=self.tol * lam[0])

    def test_solver_is_a_value(self) -> None:
        """A solver prints with its settings and equals another one made the same way."""
        assert self.make_solver() == self.make_solver()
        assert type(self.make_solver()).__name__ in repr(self.make_solver())
