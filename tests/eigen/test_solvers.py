"""Every solver on matrices of known spectrum, and where each should fall short."""

import numpy as np
import pytest

from gramian.eigen import Direct, Krylov, Power
from gramian.eigen.pairs import Approximation
from gramian.operators import DenseMatrix
from gramian.testing import symmetric_with_spectrum
from tests.catalog import parameters, solvers


@pytest.mark.parametrize("solver", parameters(solvers()))
@pytest.mark.parametrize("m, seed", [(40, 0), (120, 1)])
def test_residuals_are_measured_and_vectors_orthonormal(solver, m, seed):
    """A V = V diag(lambda) to the residuals stated, and V'V = I."""
    A, _ = symmetric_with_spectrum(0.7 ** np.arange(m), seed=seed)
    pairs = solver.solve(DenseMatrix(A), 4, seed=seed)
    difference = np.linalg.norm(A @ pairs.vectors - pairs.vectors * pairs.values, axis=0)
    assert np.all(difference <= pairs.residuals + 1e-14)
    assert pairs.converged == 4
    np.testing.assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(4), atol=1e-12)


def test_a_harder_spectrum_takes_more_products():
    """No iteration stops on a count: closer eigenvalues cost more."""
    needed = []
    for ratio in (0.5, 0.9, 0.99):
        A, _ = symmetric_with_spectrum(ratio ** np.arange(300), seed=0)
        operator = DenseMatrix(A)
        Krylov(block=4, basis=60).solve(operator, 4, seed=0)
        needed.append(operator.applications)
    assert needed[0] < needed[1] < needed[2]


@pytest.mark.parametrize("tol", [1e-3, 1e-7, 1e-12])
def test_krylov_keeps_the_tolerance_it_was_given(tol):
    """Residuals are at most tol times the first eigenvalue, and a smaller tol costs more."""
    A, _ = symmetric_with_spectrum(0.95 ** np.arange(200), seed=2)
    pairs = Krylov(tol=tol).solve(DenseMatrix(A), 5, seed=0)
    assert np.all(pairs.residuals <= tol * pairs.values[0])


def test_a_cap_is_reported_and_what_converged_is_counted():
    """Stopped early, a solve says so and counts only the pairs that meet the tolerance."""
    A, _ = symmetric_with_spectrum(np.linspace(1.0, 0.9, 400), seed=0)
    pairs = Krylov(max_applications=3).solve(DenseMatrix(A), 5, seed=0)
    assert pairs.converged < 5
    assert "cap of 3" in pairs.stopped


def test_krylov_goes_to_full_precision_after_coarse_products():
    """An operator that is coarse when allowed costs no digit in the end."""

    class Coarse(DenseMatrix):
        def apply(self, V, *, accuracy=None):
            product = super().apply(V)
            if accuracy is None:
                return product
            noise = np.random.default_rng(self.applications).standard_normal(V.shape)
            return product._replace(values=product.values + 1e-8 * noise, error=1e-6)

    A, _ = symmetric_with_spectrum(0.8 ** np.arange(150), seed=3)
    pairs = Krylov(tol=1e-11).solve(Coarse(A), 5, seed=0)
    np.testing.assert_allclose(pairs.values, 0.8 ** np.arange(5), atol=1e-12)
    assert pairs.converged == 5


@pytest.mark.parametrize("solver", [Direct(), Krylov(), Power()])
def test_zero_and_identity_matrices_are_solved(solver):
    """A matrix without any direction of its own still gives orthonormal pairs."""
    for A in (np.zeros((90, 90)), np.eye(90)):
        pairs = solver.solve(DenseMatrix(A), 3, seed=0)
        np.testing.assert_allclose(pairs.values, A[0, 0], atol=1e-14)
        np.testing.assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(3), atol=1e-12)


def test_indefinite_matrices_give_the_largest_not_the_largest_in_size():
    """Eigenvalues are ordered by value: -5 comes after 1."""
    A, _ = symmetric_with_spectrum(np.concatenate([[3.0, 1.0], np.linspace(0.2, -5.0, 98)]), seed=0)
    for solver in (Direct(), Krylov()):
        pairs = solver.solve(DenseMatrix(A, is_psd=False), 2, seed=0)
        np.testing.assert_allclose(pairs.values, [3.0, 1.0], atol=1e-9)


def test_solvers_are_values():
    """They compare, hash and print as what they are."""
    assert Krylov(tol=1e-8) == Krylov(tol=1e-8) != Krylov(tol=1e-9)
    assert "tol=1e-08" in repr(Krylov(tol=1e-8))
    assert len({Direct(), Direct(), Power()}) == 2


def test_low_rank_leaves_no_rounding_in_the_basis():
    """When a small space is exhausted, directions that are rounding alone are dropped, whatever the start."""
    A, _ = symmetric_with_spectrum(np.concatenate([[3.0, 2.7, 1.4, 0.5], np.zeros(12)]), seed=0)
    for seed in range(200):
        pairs = Krylov(block=4, basis=40).solve(DenseMatrix(A), 3, seed=seed)
        np.testing.assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(3), atol=1e-10)
        np.testing.assert_allclose(pairs.values, [3.0, 2.7, 1.4], atol=1e-9)


def test_pairs_known_before_save_products():
    """One column at a time, a solve for twice as many pairs that begins with those found takes fewer products."""
    A, _ = symmetric_with_spectrum(0.97 ** np.arange(400), seed=4)
    few = Krylov(block=1, basis=160).solve(DenseMatrix(A), 16, seed=0)
    needed = {}
    for name, start in {"cold": None, "warm": Approximation(few.values, few.vectors)}.items():
        operator = DenseMatrix(A)
        pairs = Krylov(block=1, basis=160).solve(operator, 32, seed=0, start=start)
        assert pairs.converged == 32
        np.testing.assert_allclose(pairs.values, 0.97 ** np.arange(32), rtol=1e-9)
        needed[name] = operator.applications
    assert needed["warm"] < 0.85 * needed["cold"]


@pytest.mark.parametrize("seed", [0, 1])
def test_a_tied_value_that_comes_in_late_does_not_end_the_search_wrongly(seed):
    """Six equal values from single columns, near rounding: what was met before a restart may not be met after it."""
    A, _ = symmetric_with_spectrum(np.concatenate([[3.0] * 6, np.linspace(1, 0, 150)]), seed=seed)
    pairs = Krylov(tol=1e-12, block=1, basis=40, max_applications=300, search=True).solve(DenseMatrix(A), 4, seed=seed)
    np.testing.assert_allclose(pairs.values, 3.0, rtol=1e-12)
    np.testing.assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(4), atol=1e-12)
