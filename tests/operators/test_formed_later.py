"""An operator that forms its matrix only when the solver expects many more products."""

import numpy as np
import pytest

from gramian.eigen.krylov import Krylov
from gramian.models.decomposition import prepare_rows
from gramian.operators import Covariance, FormedLater, HeldMatrix
from gramian.planning.facts import Facts
from gramian.planning.plan import plan_pca
from gramian.sources import as_source
from gramian.testing import symmetric_with_spectrum


def covariance(X):
    """Return the covariance operator of centered rows."""
    facts = Facts(*X.shape, X.size, 8, 5, sparse=False, by_columns=True, tol=1e-10, solver="krylov", budget=10**10)
    rows = prepare_rows(as_source(X), plan=plan_pca(facts), center=True, scale=False)
    return Covariance(rows.source, rows.moments, rows.standardization)


@pytest.mark.parametrize("seed", [0, 1])
def test_a_hard_spectrum_is_formed_and_an_easy_one_is_not(seed):
    """Noise takes many products, a steep spectrum few; both answers are the covariance's own."""
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((600, 400))
    steep = noise * 0.5 ** np.arange(400)
    for X, formed in ((noise, True), (steep, False)):
        operator = FormedLater(covariance(X + 3.0), price=10, gain=0.9)
        pairs = Krylov(block=4).solve(operator, 5)
        exact = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[:5] ** 2
        assert np.allclose(pairs.values, exact, rtol=1e-10, atol=0)
        assert (operator.formed is not None) == formed
        assert operator.is_held == formed


def test_products_are_counted_before_and_after_forming():
    """Passes over the rows and products with the matrix are both applications."""
    A = covariance(np.random.default_rng(0).standard_normal((50, 20)))
    operator = FormedLater(A, price=5, gain=1.0)
    V = np.eye(20)[:, :3]
    before = operator.apply(V).values
    operator.expect(4)
    assert operator.formed is None
    operator.expect(6)
    after = operator.apply(V).values
    assert np.allclose(before, after, rtol=1e-12)
    assert operator.applications == A.applications + 1


def test_a_proof_is_worth_more_than_the_products_to_come():
    """Where products would prove nothing the matrix is formed though that takes longer, up to the stated factor."""
    A = covariance(np.random.default_rng(0).standard_normal((50, 20)))
    for certain, products, formed in ((True, 60, False), (False, 60, True), (False, 40, False), (True, 100, True)):
        operator = FormedLater(A, price=49, gain=0.5, worth=1.6)
        operator.expect(products, certain=certain)
        assert operator.is_held == formed


def test_forming_keeps_the_trace_the_root_and_the_size():
    """What is not a product still comes from the rows."""
    A = covariance(np.random.default_rng(1).standard_normal((30, 10)))
    operator = FormedLater(A, price=0, gain=1.0)
    operator.expect(1)
    held = operator.materialize().matrix
    assert np.isclose(operator.trace(), np.trace(held))
    R = operator.root(np.eye(10))
    assert np.allclose(R.T @ R, held)
    assert operator.size == 10


def test_krylov_searches_unless_the_matrix_is_held():
    """A certificate can prove by a held matrix what a search makes probable."""
    A, _ = symmetric_with_spectrum(np.linspace(1, 2, 60) ** 8, seed=0)
    assert Krylov(block=2).solve(HeldMatrix(A), 3).probe is None
    assert Krylov(block=2, search=True).solve(HeldMatrix(A), 3).probe is not None
