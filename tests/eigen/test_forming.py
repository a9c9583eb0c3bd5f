"""An iteration on the rows forms the matrix only when it expects many more products."""

import numpy as np
import pytest

from gramian.eigen.krylov import Krylov
from gramian.models.pca.decomposition import prepare_rows
from gramian.operators import Covariance, DenseMatrix, Forming
from gramian.planning.plan import Facts, plan_pca
from gramian.sources import as_source
from gramian.testing import symmetric_with_spectrum


def covariance(X, forming=None):
    """Return the covariance operator of centered rows."""
    facts = Facts(*X.shape, X.size, 8, 5, sparse=False, by_columns=True, tol=1e-10, solver="krylov", budget=10**10)
    rows = prepare_rows(as_source(X), plan=plan_pca(facts), center=True, scale=False)
    return Covariance(rows.source, rows.moments, rows.standardization, forming=forming)


@pytest.mark.parametrize("seed", [0, 1])
def test_a_hard_spectrum_is_formed_and_an_easy_one_is_not(seed):
    """Noise takes many products, a steep spectrum few; both answers are the covariance's own."""
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((600, 400))
    steep = noise * 0.5 ** np.arange(400)
    for X, formed in ((noise, True), (steep, False)):
        operator = covariance(X + 3.0, Forming(price=10, gain=0.9))
        pairs = Krylov(block=4).solve(operator, 5)
        exact = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[:5] ** 2
        assert np.allclose(pairs.values, exact, rtol=1e-10, atol=0)
        assert (pairs.formed is not None) == formed
        assert ("formed on the way" in pairs.stopped) == formed


def test_products_are_counted_before_and_after_forming():
    """Passes over the rows and products with the matrix are both applications, and both count for the cap."""
    noise = np.random.default_rng(0).standard_normal((600, 400))
    operator = covariance(noise, Forming(price=10, gain=0.9))
    pairs = Krylov(block=4).solve(operator, 5)
    assert pairs.formed.is_dense
    assert pairs.formed.applications > 0
    assert pairs.applications == operator.applications + pairs.formed.applications
    capped = Krylov(block=4, max_applications=pairs.applications - 3).solve(
        covariance(noise, Forming(price=10, gain=0.9)), 5
    )
    assert capped.formed is not None
    assert capped.applications == pairs.applications - 3
    assert capped.converged < 5


def test_an_operator_without_a_price_is_never_formed():
    """Nothing is formed that was not planned for."""
    noise = np.random.default_rng(0).standard_normal((600, 400))
    assert Krylov(block=4).solve(covariance(noise), 5).formed is None


def test_a_proof_is_worth_more_than_the_products_to_come():
    """Where products would prove nothing the matrix is formed though that takes longer, up to the stated factor."""
    forming = Forming(price=49, gain=0.5, worth=1.6)
    for certain, products, pays in ((True, 60, False), (False, 60, True), (False, 40, False), (True, 100, True)):
        assert forming.pays(products, certain=certain) == pays


def test_krylov_searches_unless_the_matrix_is_in_memory():
    """A certificate can prove by the matrix what a search makes probable."""
    A, _ = symmetric_with_spectrum(np.linspace(1, 2, 60) ** 8, seed=0)
    assert Krylov(block=2).solve(DenseMatrix(A), 3).probe is None
    assert Krylov(block=2, search=True).solve(DenseMatrix(A), 3).probe is not None
