"""A solver from outside the package: one class, and the shipped suite, operators and certificates accept it."""

from dataclasses import dataclass

import numpy as np
import pytest

from gramian.arrays.namespace import gaussian
from gramian.eigen.certificate import certify
from gramian.eigen.pairs import EigenPairs, EigenSolver
from gramian.models.pca.decomposition import prepare_rows
from gramian.operators import Covariance, Gram
from gramian.planning.plan import Facts, plan_pca
from gramian.sources import as_source
from gramian.testing import EigenSolverSuite, rows_with_spectrum


@dataclass(frozen=True)
class SubspaceIteration(EigenSolver):
    """Apply the operator to a block again and again, orthonormalized each time: Bauer's method of 1957."""

    tol: float = 1e-10
    max_applications: int = 5000

    def solve(self, operator, k, *, seed=0, start=None, watch=None):
        """Return the ``k`` largest eigenpairs, by a block with some columns to spare."""
        del start  # a hint that it has no use for
        m, before = operator.size, operator.applications
        V = gaussian((m, min(m, k + 6)), seed=seed, like=operator.like(), dtype=operator.dtype)
        while True:
            V = np.linalg.qr(V)[0]
            AV = operator.apply(V).values
            lam, S = np.linalg.eigh(V.T @ AV)
            lam, S = lam[::-1], S[:, ::-1]
            left = np.linalg.norm(AV @ S - V @ S * lam, axis=0)[:k]
            made = operator.applications - before
            if watch is not None:
                watch(operator.applications, float(left.max()))
            if (left <= self.tol * max(lam[0], 0.0)).all() or made >= self.max_applications:
                break
            V = AV @ S
        met = int(np.count_nonzero(left <= self.tol * max(lam[0], 0.0)))
        return EigenPairs(lam[:k], (V @ S)[:, :k], left, operator.applications, met, "subspace iteration")


class TestSubspaceIteration(EigenSolverSuite):
    """The suite that comes with the package."""

    def make_solver(self):
        """Return the solver of this file."""
        return SubspaceIteration()


@pytest.mark.parametrize("shape", [(60, 12), (12, 60)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_it_finds_planted_components_and_is_certified(shape, dtype):
    """It meets rows in either form of the problem, and what it returns is graded like any other answer."""
    X, planted = rows_with_spectrum(*shape, values=[9.0, 4.0, 1.0], dtype=dtype)
    source, solver = as_source(X), "gram" if shape[0] < shape[1] else "krylov"
    facts = Facts(*shape, X.size, X.itemsize, 3, sparse=False, by_columns=True, tol=1e-8, solver=solver, budget=10**9)
    rows = prepare_rows(source, plan=plan_pca(facts), center=True, scale=False)
    make = Gram if solver == "gram" else Covariance
    operator = make(rows.source, rows.moments, rows.standardization)
    pairs = SubspaceIteration(tol=1e-8).solve(operator, 3)
    tol = 1e-5 if dtype == "float32" else 1e-8
    np.testing.assert_allclose(np.sqrt(pairs.values), planted.singular_values[:3], rtol=tol)
    assert "rejected" not in certify(operator, pairs, tol=1e-8).grades
