"""Methods M1, M2, M3 and M5 of the lectures, with the lectures' 1/n (``ddof=0``)."""

import numpy as np
import pytest

from gramian import PCA
from gramian.testing import assert_same_subspace, largest_angle, rows_with_spectrum, singular_values

SHAPES = [(50, 8), (8, 50), (20, 20)]


def _rows(n, d, seed):
    X, _ = rows_with_spectrum(n, d, np.geomspace(9.0, 0.01, min(n - 1, d)), mean=3.0, seed=seed)
    return X


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("n, d", SHAPES)
@pytest.mark.parametrize("k", [1, 3, 7])
def test_m1_components_are_eigenvectors_of_the_covariance(n, d, k, seed):
    """W has the top-k eigenvectors of C = Xc'Xc / n, scores are Xc W, and Y W' + mean rebuilds the rows."""
    X = _rows(n, d, seed)
    pca = PCA(n_components=k, ddof=0).fit(X)
    Xc = X - X.mean(axis=0)
    C = Xc.T @ Xc / n
    W, lam = pca.components_.T, pca.explained_variance_
    assert np.linalg.norm(C @ W - W * lam, 2) <= 1e-10 * lam[0]
    np.testing.assert_allclose(lam, np.linalg.eigvalsh(C)[::-1][:k], atol=1e-12 * lam[0])
    Y = pca.transform(X)
    np.testing.assert_allclose(Y, Xc @ W, atol=1e-10)
    np.testing.assert_allclose(pca.inverse_transform(Y), Y @ W.T + X.mean(axis=0), atol=1e-10)


@pytest.mark.parametrize("n, d", SHAPES)
def test_m2_the_svd_gives_the_same_numbers(n, d):
    """Xc = U S V': eigenvalues of C are s^2 / n and scores are U S."""
    X = _rows(n, d, 2)
    pca = PCA(ddof=0).fit(X)
    U, s, Vt = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    rank = min(n - 1, d)
    np.testing.assert_allclose(pca.singular_values_[:rank], s[:rank], rtol=1e-10)
    np.testing.assert_allclose(pca.explained_variance_[:rank], s[:rank] ** 2 / n, rtol=1e-10)
    signs = np.sign(np.sum(pca.components_ * Vt, axis=1))
    np.testing.assert_allclose(pca.transform(X)[:, :rank], (U * s * signs)[:, :rank], atol=1e-8 * s[0])


def test_m2_keeps_the_digits_that_squaring_loses():
    """Singular values a hundred million times under the first one come out where X'X has lost them."""
    values = np.array([1.0, 1e-4, 1e-9]) ** 2
    X, _ = rows_with_spectrum(40, 6, values, seed=3)
    truth = singular_values(X).astype(float)
    # Cramer's bound of the squared path: half the digits are gone.
    squared = np.sqrt(np.abs(np.linalg.eigvalsh(np.cov(X.T, bias=True) * 40)[::-1]))
    assert abs(squared[2] - truth[2]) > 0.1 * truth[2]
    found = PCA().fit(X).singular_values_
    np.testing.assert_allclose(found[:3], truth[:3], rtol=1e-5)


class TestM3DualAlgorithm2:
    """The five steps of Alg. 2, with d much larger than n."""

    n, d, k = 12, 300, 5

    @pytest.fixture(params=[0, 1, 2])
    def fitted(self, request):
        """Wide rows, new rows, and a default fit to the first."""
        X, _ = rows_with_spectrum(self.n, self.d, np.geomspace(50.0, 1.0, 9), mean=2.0, seed=request.param)
        new = np.random.default_rng(request.param).standard_normal((4, self.d)) + 2.0
        return X, new, PCA(n_components=self.k, ddof=0).fit(X)

    def _dual(self, X):
        """Eigenvectors u of Xc Xc', largest first, with their values."""
        Xc = X - X.mean(axis=0)
        lam, U = np.linalg.eigh(Xc @ Xc.T)
        return Xc, lam[::-1][: self.k], U[:, ::-1][:, : self.k]

    def test_the_dual_is_chosen_by_itself(self, fitted):
        """With n < d the plan works on the n x n Gram matrix and says so."""
        _, _, pca = fitted
        assert "gram" in str(pca.plan_).lower()

    def test_step_1_recover_basis(self, fitted):
        """W = Xc' u / sqrt(lambda)."""
        X, _, pca = fitted
        Xc, lam, U = self._dual(X)
        W = Xc.T @ U / np.sqrt(lam)
        for i in range(self.k):
            assert largest_angle(pca.components_[i], W[:, i]) <= 1e-9
        np.testing.assert_allclose(pca.explained_variance_, lam / self.n, rtol=1e-10)

    def test_step_2_encode_training_data(self, fitted):
        """Y = sqrt(lambda) u, up to the sign of each component."""
        X, _, pca = fitted
        _, lam, U = self._dual(X)
        np.testing.assert_allclose(np.abs(pca.transform(X)), np.abs(U * np.sqrt(lam)), atol=1e-9 * np.sqrt(lam[0]))

    def test_step_3_reconstruct_training_data(self, fitted):
        """The rows are rebuilt as u u' Xc + mean, without W."""
        X, _, pca = fitted
        Xc, lam, U = self._dual(X)
        rebuilt = U @ (U.T @ Xc) + X.mean(axis=0)
        np.testing.assert_allclose(pca.inverse_transform(pca.transform(X)), rebuilt, atol=1e-9 * np.sqrt(lam[0]))

    def test_step_4_encode_test_example(self, fitted):
        """A new point x gets y = u' Xc (x - mean) / sqrt(lambda), inner products alone."""
        X, new, pca = fitted
        Xc, lam, U = self._dual(X)
        scores = (new - X.mean(axis=0)) @ Xc.T @ U / np.sqrt(lam)
        np.testing.assert_allclose(np.abs(pca.transform(new)), np.abs(scores), atol=1e-9 * np.abs(scores).max())

    def test_step_5_reconstruct_test_example(self, fitted):
        """A new point is rebuilt as Xc' u lambda^-1 u' Xc (x - mean) + mean."""
        X, new, pca = fitted
        Xc, lam, U = self._dual(X)
        rebuilt = (new - X.mean(axis=0)) @ Xc.T @ (U / lam) @ (U.T @ Xc) + X.mean(axis=0)
        np.testing.assert_allclose(pca.inverse_transform(pca.transform(new)), rebuilt, atol=1e-8)

    @pytest.mark.parametrize("svd_solver", ["gram", "full", "krylov", "arpack"])
    def test_every_other_path_finds_the_same(self, fitted, svd_solver):
        """Primal, dual and iterative fits span the same space with the same variances."""
        X, _, pca = fitted
        other = PCA(n_components=self.k, svd_solver=svd_solver, ddof=0, random_state=0).fit(X)
        np.testing.assert_allclose(other.explained_variance_, pca.explained_variance_, rtol=1e-9)
        assert_same_subspace(other.components_.T, pca.components_.T, tol=1e-7)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("n, d", SHAPES)
def test_m5_eigendecomposition_and_svd(n, d, seed):
    """With A = X'X and no 1/n: lambda_i = s_i^2 and A = V L V'."""
    X = _rows(n, d, seed)
    pca = PCA(center=False).fit(X)
    A = X.T @ X
    lam = pca.explained_variance_ * (n - 1)
    np.testing.assert_allclose(lam, pca.singular_values_**2, rtol=1e-10)
    np.testing.assert_allclose(pca.singular_values_, np.linalg.svd(X, compute_uv=False), atol=1e-12 * lam[0] ** 0.5)
    V = pca.components_.T
    np.testing.assert_allclose((V * lam) @ V.T, A, atol=1e-10 * lam[0])
