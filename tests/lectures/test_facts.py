"""Facts F1 to F4, F6 and F10 to F14 of the lectures."""

import numpy as np
import pytest

from gramian import PCA
from gramian.testing import assert_same_subspace, haar, largest_angle, rows_with_spectrum, singular_values

EPS = np.finfo(np.float64).eps


class TestF1Particle:
    """A particle moving on a straight line at speed u along p, t = 0..T-1, seen by three sensors."""

    @pytest.mark.parametrize("svd_solver", ["auto", "full", "covariance_eigh", "gram", "krylov", "power"])
    @pytest.mark.parametrize("T, speed", [(100, 0.5), (2, 3.0), (1000, 1e-3)])
    def test_one_component_holds_all(self, T, speed, svd_solver):
        """The first component is +-p, with variance u^2 (T^2 - 1) / 12 and all of the share."""
        p = np.array([2.0, -1.0, 2.0]) / 3.0
        X = np.array([5.0, 1.0, -2.0]) + speed * np.arange(T)[:, np.newaxis] * p
        k = 1 if svd_solver in {"krylov", "power"} else None
        pca = PCA(n_components=k, svd_solver=svd_solver, ddof=0, random_state=0).fit(X)
        variance = speed**2 * (T**2 - 1) / 12
        np.testing.assert_allclose(pca.explained_variance_[0], variance, rtol=1e-9)
        np.testing.assert_allclose(pca.explained_variance_ratio_[0], 1.0, rtol=1e-12)
        assert largest_angle(pca.components_[0], p) <= 1e-7
        np.testing.assert_allclose(pca.explained_variance_[1:], 0.0, atol=1e-12 * variance)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("n, d", [(40, 7), (7, 40)])
def test_f2_share_kept(n, d, seed):
    """The share kept by k components is the sum of the first k eigenvalues over the sum of all."""
    lam = np.array([8.0, 4.0, 2.0, 1.0, 0.5])
    X, _ = rows_with_spectrum(n, d, lam, mean=4.0, seed=seed)
    for k in range(1, 6):
        ratios = PCA(n_components=k).fit(X).explained_variance_ratio_
        np.testing.assert_allclose(ratios, lam[:k] / lam.sum(), rtol=1e-10)
        np.testing.assert_allclose(ratios.sum(), lam[:k].sum() / lam.sum(), rtol=1e-10)


@pytest.mark.parametrize("svd_solver", ["auto", "full", "covariance_eigh", "gram", "krylov"])
@pytest.mark.parametrize("n, d", [(50, 12), (12, 50)])
def test_f3_the_95_percent_rule(n, d, svd_solver):
    """0.95 chooses the least k whose share passes 95%: here 60, 84, 94, 97.5 give four."""
    X, _ = rows_with_spectrum(n, d, [60.0, 24.0, 10.0, 3.5, 1.5, 1.0], seed=5)
    pca = PCA(n_components=0.95, svd_solver=svd_solver, random_state=0).fit(X)
    assert pca.n_components_ == 4
    assert pca.explained_variance_ratio_.sum() > 0.95 > pca.explained_variance_ratio_[:3].sum()


@pytest.mark.parametrize("d", [2, 3, 10])
def test_f4_round_cloud_gains_nothing(d):
    """All directions of a round cloud hold the same variance, 1/d each, so 95% needs nearly all of them."""
    X, _ = rows_with_spectrum(64, d, np.ones(d), seed=d)
    np.testing.assert_allclose(PCA().fit(X).explained_variance_ratio_, 1.0 / d, rtol=1e-12)
    assert PCA(n_components=0.95).fit(X).n_components_ == int(np.floor(0.95 * d)) + 1


@pytest.mark.parametrize("n, d", [(30, 8), (8, 30), (9, 9)])
def test_f6_both_gram_matrices_share_their_values(n, d):
    """X X' and X'X have the same non-zero eigenvalues, and |X v| = sqrt(lambda)."""
    X, _ = rows_with_spectrum(n, d, np.geomspace(4.0, 0.1, min(n - 1, d)), seed=1)
    k = min(n - 1, d) - 1
    primal = PCA(n_components=k, svd_solver="covariance_eigh").fit(X)
    dual = PCA(n_components=k, svd_solver="gram").fit(X)
    np.testing.assert_allclose(primal.explained_variance_, dual.explained_variance_, rtol=1e-10)
    Xc = X - X.mean(axis=0)
    for fit in (primal, dual):
        lengths = np.linalg.norm(Xc @ fit.components_.T, axis=0)
        np.testing.assert_allclose(lengths, np.sqrt(fit.explained_variance_ * (n - 1)), rtol=1e-10)
        np.testing.assert_allclose(lengths, fit.singular_values_, rtol=1e-10)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n, d", [(60, 9), (9, 60)])
def test_f10_most_variance_is_least_error(n, d, seed):
    """Kept + lost = total for every subspace, and no other subspace keeps more than PCA's."""
    X, _ = rows_with_spectrum(n, d, [9.0, 5.0, 2.0, 1.0, 0.5], mean=1.0, seed=seed)
    Xc = X - X.mean(axis=0)
    total = np.sum(Xc**2)

    def kept_and_lost(W):
        return np.sum((Xc @ W) ** 2), np.sum((Xc - Xc @ W @ W.T) ** 2)

    kept, lost = kept_and_lost(PCA(n_components=2).fit(X).components_.T)
    np.testing.assert_allclose(kept + lost, total, rtol=1e-12)
    for other in range(20):
        rival_kept, rival_lost = kept_and_lost(haar(d, 2, seed=other))
        np.testing.assert_allclose(rival_kept + rival_lost, total, rtol=1e-12)
        assert rival_kept < kept
        assert rival_lost > lost


@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize("n, d", [(40, 6), (6, 40)])
def test_f11_error_is_the_sum_of_the_values_left_out(n, d, k):
    """Mean squared error over n points is the sum of what was left out; (n-1)/n of it with ddof=1."""
    lam = np.array([7.0, 5.0, 3.0, 2.0, 1.0])
    for ddof in (0, 1):
        X, _ = rows_with_spectrum(n, d, lam, mean=2.0, seed=k, ddof=ddof)
        pca = PCA(n_components=k, ddof=ddof).fit(X)
        error = np.sum((X - pca.inverse_transform(pca.transform(X))) ** 2) / n
        np.testing.assert_allclose(error, lam[k:].sum() * (n - ddof) / n, rtol=1e-10)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("rank", [1, 3, 5])
@pytest.mark.parametrize("n, d", [(50, 12), (12, 50)])
def test_f12_zero_values_mean_an_exact_subspace(n, d, rank, dtype):
    """With k = rank the rows are rebuilt exactly, and every value after the rank is zero to rounding."""
    X, planted = rows_with_spectrum(n, d, np.linspace(2.0, 1.0, rank), mean=3.0, seed=rank, dtype=dtype)
    eps = np.finfo(dtype).eps
    pca = PCA().fit(X)
    # What is stored carries the rounding of its type, so zeros are zeros to that rounding.
    assert pca.singular_values_[rank:].max() <= 35 * min(n, d) * eps * np.linalg.norm(X, 2)
    k_fit = PCA(n_components=rank).fit(X)
    rebuilt = k_fit.inverse_transform(k_fit.transform(X))
    assert np.abs(rebuilt - X).max() <= 50 * eps * np.abs(X).max()
    assert_same_subspace(k_fit.components_.T, planted.vectors, tol=1e3 * eps)


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("n, d", [(60, 8), (8, 60)])
def test_f13_components_are_uncorrelated(n, d, whiten):
    """Scores have mean zero and a diagonal covariance: centering, then a rotation."""
    X, _ = rows_with_spectrum(n, d, [9.0, 4.0, 2.0, 1.0], mean=7.0, seed=4)
    pca = PCA(n_components=4, whiten=whiten).fit(X)
    Y = pca.transform(X)
    expected = np.eye(4) if whiten else np.diag(pca.explained_variance_)
    np.testing.assert_allclose(Y.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(np.cov(Y.T), expected, atol=1e-10)
    np.testing.assert_allclose(pca.components_ @ pca.components_.T, np.eye(4), atol=1e-13)


@pytest.mark.parametrize("svd_solver", ["auto", "full", "gram"])
@pytest.mark.parametrize("n, d, rank", [(10, 25, 6), (30, 12, 5), (6, 40, 5)])
def test_f14_components_lie_in_the_span_of_the_data(n, d, rank, svd_solver):
    """Components with a non-zero value lie in the span of the centered rows; the rest see none of them."""
    X, _ = rows_with_spectrum(n, d, np.geomspace(4.0, 0.5, rank), mean=1.0, seed=rank)
    pca = PCA(svd_solver=svd_solver).fit(X)
    Xc = X - X.mean(axis=0)
    basis = np.linalg.svd(Xc, full_matrices=False)[2][:rank].T
    inside, outside = pca.components_[:rank].T, pca.components_[rank:].T
    assert np.linalg.norm(inside - basis @ (basis.T @ inside), 2) <= 1e-10
    assert outside.shape[1] == min(n, d) - rank
    assert np.abs(Xc @ outside).max(initial=0.0) <= 100 * EPS * np.abs(Xc).max() * np.sqrt(n * d)
    np.testing.assert_allclose(pca.components_ @ pca.components_.T, np.eye(min(n, d)), atol=1e-12)


def test_planted_truth_is_the_truth():
    """The planted singular values are those that long double arithmetic finds in what is stored."""
    X, planted = rows_with_spectrum(40, 10, np.geomspace(9.0, 0.5, 6), mean=3.0, seed=9)
    np.testing.assert_allclose(singular_values(X)[:6].astype(float), planted.singular_values, rtol=1e-13)
