"""Block Davidson: the contract, what an approximation gains, and what one that knows nothing cannot hide."""

import numpy as np
import pytest

from gramian.eigen.davidson import CLUSTER, Davidson, first_block
from gramian.eigen.pairs import Approximation
from gramian.operators.symmetric import DenseMatrix
from gramian.testing import EigenSolverSuite, orthonormality_error


class TestDavidson(EigenSolverSuite):
    """The contract of a solver."""

    def make_solver(self):
        """A tight one."""
        return Davidson(tol=1e-12)


class TestThriftyDavidson(EigenSolverSuite):
    """The contract again, where columns are saved."""

    def make_solver(self):
        """A tight one."""
        return Davidson(tol=1e-12, thrifty=True)


class _Counted(DenseMatrix):
    """Counts the columns that it is applied to."""

    columns = 0

    def apply(self, V, *, accuracy=None):
        self.columns += V.shape[1]
        return super().apply(V, accuracy=accuracy)


def _planted(n, values, seed):
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    lam = np.concatenate([values, np.full(n - len(values), 1e-3)])
    return (Q * lam) @ Q.T, lam, Q


def _near(A, share, pairs, seed):
    """Leading pairs of A with a perturbation of that share of its norm."""
    E = np.random.default_rng(seed).standard_normal(A.shape)
    E = (E + E.T) * share * np.linalg.norm(A, 2) / np.linalg.norm(E + E.T, 2)
    values, vectors = np.linalg.eigh(A + E)
    return Approximation(values[::-1][:pairs], np.ascontiguousarray(vectors[:, ::-1][:, :pairs]).astype(np.float32))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_good_approximation_saves_products(seed):
    """Corrected residuals need fewer products than bare ones, for the same pairs."""
    A, lam, _ = _planted(400, np.geomspace(1.0, 0.05, 60), seed)
    near = _near(A, 1e-3, 100, seed)
    solver = Davidson(tol=1e-8)
    informed = solver.solve(DenseMatrix(A), 5, start=near)
    bare = solver.solve(DenseMatrix(A), 5)
    assert informed.converged == bare.converged == 5
    np.testing.assert_allclose(informed.values, lam[:5], rtol=1e-12)
    np.testing.assert_allclose(bare.values, lam[:5], rtol=1e-12)
    assert informed.applications < bare.applications


def test_a_worthless_approximation_is_given_up():
    """Vectors that have nothing to do with the matrix cost products, not the answer."""
    A, lam, _ = _planted(300, np.geomspace(1.0, 0.1, 40), 3)
    rng = np.random.default_rng(0)
    near = Approximation(np.linspace(2.0, 1.0, 50), np.linalg.qr(rng.standard_normal((300, 50)))[0])
    pairs = Davidson(tol=1e-8).solve(DenseMatrix(A), 4, start=near)
    assert pairs.converged == 4
    np.testing.assert_allclose(pairs.values, lam[:4], rtol=1e-10)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_thrifty_solve_takes_fewer_columns_for_the_same_pairs(seed):
    """The products of ten pairs are as wide as these and the probes, and the values are the same."""
    A, lam, _ = _planted(600, np.geomspace(1.0, 0.05, 80), seed)
    near, columns = _near(A, 1e-2, 60, seed), []
    for thrifty in (False, True):
        held = _Counted(A)
        pairs = Davidson(tol=1e-8, thrifty=thrifty).solve(held, 10, start=near)
        assert pairs.converged == 10
        np.testing.assert_allclose(pairs.values, lam[:10], rtol=1e-10)
        columns.append(held.columns)
    assert columns[1] < 0.8 * columns[0]


def test_a_thrifty_first_block_is_widened_for_a_cluster_alone():
    """Values a tenth apart are left to the steps; equal ones are taken whole."""
    falling, equal = 0.98 ** np.arange(100), np.r_[np.ones(40), np.full(60, 0.1)]
    assert first_block(falling, 10, width=16) == 30
    assert first_block(falling, 10, width=16, clear=CLUSTER) == 14
    assert first_block(equal, 10, width=16, clear=CLUSTER) == 46


@pytest.mark.parametrize("thrifty", [False, True])
@pytest.mark.parametrize("seed", [0, 1, 2, 3, 4])
def test_what_the_approximation_misses_altogether_is_found_by_the_probes(seed, thrifty):
    """A large eigenvalue whose vector is exactly orthogonal to the whole approximation shows itself."""
    A, lam, Q = _planted(500, np.geomspace(1.0, 0.05, 30), seed)
    near = Approximation(np.delete(lam, 1)[:60], np.delete(Q, 1, axis=1)[:, :60])
    pairs = Davidson(tol=1e-8, thrifty=thrifty).solve(DenseMatrix(A), 4, start=near)
    np.testing.assert_allclose(pairs.values, lam[:4], rtol=1e-10)


def test_a_long_solve_restarts_and_ends_orthonormal():
    """Noise takes many products; restarts keep the vectors orthonormal and the residuals measured."""
    rng = np.random.default_rng(0)
    B = rng.standard_normal((300, 600))
    A = B @ B.T
    pairs = Davidson(tol=1e-9, width=8).solve(DenseMatrix(A), 6)
    assert pairs.converged == 6
    assert pairs.applications > 12
    assert orthonormality_error(pairs.vectors) < 1e-12
    np.testing.assert_allclose(pairs.values, np.linalg.eigvalsh(A)[::-1][:6], rtol=1e-12)


def test_a_cap_is_kept_and_said():
    """What did not converge is not called converged."""
    B = np.random.default_rng(0).standard_normal((200, 400))
    pairs = Davidson(tol=1e-12, max_applications=2).solve(DenseMatrix(B @ B.T), 5)
    assert pairs.applications == 2
    assert pairs.converged < 5
    assert "cap of 2" in pairs.stopped


class _Coarse(DenseMatrix):
    """A matrix whose products carry errors that it does not state."""

    def apply(self, V, *, accuracy=None):
        """Add noise of 1e-6 to an exact product."""
        product = super().apply(V, accuracy=accuracy)
        noise = np.random.default_rng(self.applications).standard_normal(product.values.shape)
        return product._replace(values=product.values + 1e-6 * noise)


def test_residuals_that_no_longer_fall_end_the_iteration():
    """Errors of products hold the residuals up: twenty products without progress are enough, and it is said so."""
    A, lam, _ = _planted(400, np.geomspace(1.0, 0.05, 60), 0)
    pairs = Davidson(tol=1e-10).solve(_Coarse(A), 5)
    assert 20 < pairs.applications < 60
    assert pairs.converged < 5
    assert "no progress in 20 products" in pairs.stopped
    np.testing.assert_allclose(pairs.values, lam[:5], rtol=1e-4)


@pytest.mark.parametrize("seed", [0, 1])
def test_slow_progress_is_progress(seed):
    """A spectrum with hardly a gap takes many products, each a little better, and is solved to the end."""
    lam = np.linspace(1.0, 0.5, 800)
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((800, 800)))[0]
    pairs = Davidson(tol=1e-6, max_applications=1000).solve(DenseMatrix((Q * lam) @ Q.T), 3, seed=seed)
    assert pairs.converged == 3
    assert pairs.applications > 30
    np.testing.assert_allclose(pairs.values, lam[:3], rtol=1e-6)


def test_the_compression_adds_up():
    """|A|_F^2 = |T|_F^2 + 2 |R|_F^2 + the rest, and the lowest Ritz value is no eigenvalue's lower bound."""
    A, lam, _ = _planted(120, np.array([3.0, 2.0, 1.0, -0.5]), 1)
    pairs = Davidson(tol=1e-10).solve(DenseMatrix(A, is_psd=False), 3)
    seen = pairs.compression
    assert np.sum(seen.values**2) + 2 * seen.coupling**2 <= np.sum(A**2) * (1 + 1e-12)
    assert lam.min() - 1e-12 <= seen.values[-1]


def test_each_product_is_told():
    """A watcher hears of every product and of the residual after it."""
    A, _, _ = _planted(200, np.geomspace(1.0, 0.1, 20), 0)
    told = []
    pairs = Davidson(tol=1e-8).solve(DenseMatrix(A), 3, watch=lambda product, worst: told.append((product, worst)))
    assert [product for product, _ in told] == list(range(1, pairs.applications + 1))
    assert told[-1][1] <= 1e-8


@pytest.mark.parametrize(
    "values, k, expected",
    [(np.geomspace(1, 1e-4, 100), 3, 14), (np.ones(100), 3, 14), (np.r_[np.ones(40), np.full(60, 0.1)], 10, 46)],
)
def test_the_first_block_ends_at_a_gap_where_there_is_one(values, k, expected):
    """Whole blocks of sixteen, less two probes; clusters are taken whole, endless ones are not."""
    assert first_block(values, k, width=16) == expected


@pytest.mark.parametrize("k", [40, 120])
def test_many_pairs_are_found_in_steps_of_half_of_them(k):
    """The basis never overflows, whatever k is."""
    A, lam, _ = _planted(500, np.geomspace(1.0, 1e-2, 300), 0)
    for near in (None, _near(A, 1e-3, 200, 1)):
        pairs = Davidson(tol=1e-8).solve(DenseMatrix(A), k, start=near)
        assert pairs.converged == k
        np.testing.assert_allclose(pairs.values, lam[:k], rtol=1e-8)
