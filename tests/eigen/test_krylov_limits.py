"""Krylov at the limits of what it is given: a small basis, a small cap."""

import numpy as np
import pytest

from gramian.eigen.krylov import Krylov
from gramian.models.pca.decomposition import prepare_rows
from gramian.operators import Covariance, DenseMatrix
from gramian.planning.plan import Facts, plan_pca
from gramian.sources import as_source


@pytest.mark.parametrize("basis", [120, 150, 200, 250])
def test_ties_found_by_the_search_fit_into_a_small_basis(basis):
    """150 tied values, of which 100 are wanted: the search finds more of them, and all residuals are met."""
    values = np.r_[np.full(150, 2.0), np.linspace(0, 1, 650)]
    pairs = Krylov(basis=basis, search=True, tol=1e-8).solve(DenseMatrix(np.diag(values)), 100)
    assert pairs.converged == 100
    np.testing.assert_allclose(pairs.values, 2.0, rtol=1e-12)


@pytest.mark.parametrize("cap", range(0, 40, 3))
def test_every_cap_is_reported_and_no_more_products_are_made(cap):
    """Wherever the cap falls, also where products were about to be made again in full, pairs come back."""
    X = np.random.default_rng(0).standard_normal((300, 300)).astype("float32")
    facts = Facts(300, 300, X.size, 4, 5, sparse=False, by_columns=True, tol=1e-10, solver="krylov", budget=10**10)
    rows = prepare_rows(as_source(X), plan=plan_pca(facts), center=True, scale=False)
    operator = Covariance(rows.source, rows.moments, rows.standardization)
    pairs = Krylov(tol=1e-10, max_applications=cap).solve(operator, 5)
    assert len(pairs.values) == 5
    assert operator.applications <= max(cap, 1)
    Xc = X - X.mean(axis=0, dtype=float)
    V = pairs.vectors[:, : pairs.converged]
    left = np.linalg.norm(Xc.T @ (Xc @ V) - V * pairs.values[: pairs.converged], axis=0)
    assert (left <= 2e-10 * np.linalg.norm(Xc, 2) ** 2).all(), "pairs called converged are not"
