"""Noisy matrices whose leading values lie close together: right, certified, and never stopped on a count."""

import numpy as np
import pytest
import scipy.linalg
from sklearn.decomposition import PCA as ReferencePCA

from gramian import PCA
from gramian.eigen.certificate import certify
from gramian.eigen.krylov import Krylov
from gramian.eigen.pairs import EigenPairs
from gramian.operators.symmetric import DenseMatrix, Forming
from gramian.planning.plan import PROOF
from gramian.testing import exact_symmetric, largest_angle, symmetric_with_spectrum
from tests.catalog import slowly

K = 20


@pytest.fixture(scope="module", params=["float64", "float32"])
def noisy(request):
    """A thousand rows of a thousand columns of noise, and their spectrum by LAPACK in float64."""
    X = np.random.default_rng(7).standard_normal((1000, 1000)).astype(request.param)
    _, s, Vt = np.linalg.svd(X - X.mean(axis=0, dtype=np.float64), full_matrices=False)
    return X, s, Vt.T


def assert_right(pca, noisy):
    """Values to rounding, and the space of all k to the tolerance over the gap, which is small here."""
    X, s, V = noisy
    tol = 1e-10 if X.dtype == np.float64 else 1e-6
    np.testing.assert_allclose(pca.singular_values_, s[:K], rtol=tol)
    gap = (s[K - 1] ** 2 - s[K] ** 2) / s[0] ** 2
    assert gap < 0.02
    assert largest_angle(pca.components_.T, V[:, :K]) <= np.sqrt(K) * tol / gap
    assert len(pca.certificate_.lines) == K


@pytest.mark.parametrize("svd_solver", ["auto", "krylov", "arpack", "gram", "randomized"])
def test_noise_is_solved(noisy, svd_solver):
    """k = 20 of pure noise: values and space are right by every solver, and no line is rejected."""
    pca = PCA(n_components=K, svd_solver=svd_solver, random_state=0).fit(noisy[0])
    assert_right(pca, noisy)
    assert "rejected" not in {line.grade for line in pca.certificate_.lines}


def test_noise_is_certified_by_default(noisy):
    """By default every line of the certificate is proved."""
    pca = PCA(n_components=K).fit(noisy[0])
    assert {line.grade for line in pca.certificate_.lines} == {"proved"}


@pytest.mark.slow
def test_four_thousand_noisy_rows_are_right_where_a_count_of_passes_is_wrong():
    """At 4,000 x 4,000 every line is proved; scikit-learn's default is wrong by a sine of 0.99, without a word."""
    X = np.random.default_rng(7).standard_normal((4000, 4000))
    Xc = X - X.mean(axis=0)
    values, V = scipy.linalg.eigh(Xc.T @ Xc, subset_by_index=(4000 - K - 1, 3999), overwrite_a=True)
    values, V = values[::-1] / 3999, V[:, ::-1]
    pca = PCA(n_components=K).fit(X)
    gap = (values[K - 1] - values[K]) / values[0]
    assert largest_angle(pca.components_.T, V[:, :K]) <= np.sqrt(K) * 1e-10 / gap
    np.testing.assert_allclose(pca.explained_variance_, values[:K], rtol=1e-12)
    lines = pca.certificate_.lines
    assert (np.abs(pca.explained_variance_ - values[:K]) <= [line.quadratic_bound for line in lines]).all()
    assert [line.grade for line in lines] == ["proved"] * K
    assert [line.gap_grade for line in lines] == ["proved"] * K
    assert max(line.residual for line in lines) <= 1e-10 * values[0]
    theirs = ReferencePCA(n_components=K, random_state=0).fit(X)
    assert largest_angle(theirs.components_.T, V[:, :K]) > 0.99


@pytest.mark.parametrize("seed", [1, *slowly(2)])
@pytest.mark.parametrize("shape", [(1800, 1800), (2600, 1700)])
def test_noise_is_proved_on_the_way_at_other_sizes(shape, seed):
    """Where a dense solve is too dear an iteration forms the matrix on the way: all lines proved, all bounds kept."""
    X = np.random.default_rng(seed).standard_normal(shape) * 1.1 ** -np.arange(shape[1]).clip(0, 9)
    pca = PCA(n_components=K).fit(X)
    assert pca.plan_.forming is not None
    assert "formed on the way" in pca.certificate_.note
    truth = np.linalg.eigvalsh(np.cov(X, rowvar=False))[::-1]
    assert {line.grade for line in pca.certificate_.lines} == {"proved"}
    for line, value, following in zip(pca.certificate_.lines, truth, truth[1:], strict=False):
        assert abs(line.value - value) <= line.quadratic_bound + 1e-14 * truth[0]
        assert line.gap <= value - following + 1e-14 * truth[0]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("missed", [1, 11, K])
def test_a_missed_eigenvalue_in_noise_is_seen_by_the_matrix(seed, missed):
    """Pairs that skip one eigenvalue of noise are good pairs, and no line below the one skipped is accepted."""
    X = np.random.default_rng(seed).standard_normal((700, 500))
    A = np.cov(X, rowvar=False)
    A = (A + A.T) / 2
    values, V = (part[..., ::-1] for part in np.linalg.eigh(A))
    kept = np.delete(np.arange(K + 1), missed - 1)
    for spare in (True, False):
        held = DenseMatrix(A.copy(), may_overwrite=spare)
        wrong = EigenPairs(values[kept], V[:, kept], np.zeros(K), 1, K, "planted", next_value=values[K + 1])
        grades = certify(held, wrong, tol=1e-10).grades
        assert grades == ("proved",) * (missed - 1) + ("rejected",) * (K - missed + 1)
        np.testing.assert_array_equal(held.matrix, A)


@pytest.mark.parametrize("seed", range(3))
def test_a_wrong_pair_in_noise_is_rejected(seed):
    """A vector turned within the noise by 1e-3 is no eigenvector, and its line says so."""
    A = symmetric_with_spectrum(np.concatenate([[9.0, 8.0, 7.0], np.linspace(4.0, 0.1, 397)]), seed=seed)[0]
    values, V = (part[..., ::-1] for part in np.linalg.eigh(A))
    turned = V[:, :K].copy()
    turned[:, 9] += 1e-3 * V[:, 40]
    turned[:, 9] /= np.linalg.norm(turned[:, 9])
    pairs = EigenPairs(values[:K], turned, np.zeros(K), 1, K, "planted", next_value=values[K])
    certificate = certify(DenseMatrix(A, may_overwrite=True), pairs, tol=1e-10)
    assert [i for i, grade in enumerate(certificate.grades) if grade == "rejected"] == [9]


@pytest.mark.parametrize("price", [0.0, np.inf], ids=["formed at the first forecast", "never formed"])
def test_noise_is_solved_the_way_large_problems_are(noisy, monkeypatch, price):
    """Where a dense solve no longer pays, an iteration is as right; on the formed matrix its inertia proves it."""
    monkeypatch.setattr("gramian.planning.plan.DIRECT_SIZE", 100)
    monkeypatch.setattr("gramian.planning.plan.FORECAST", 10**9)
    monkeypatch.setattr("gramian.planning.plan._forming_price", lambda _: Forming(min(price, 1e8), 1.0, PROOF))
    pca = PCA(n_components=K).fit(noisy[0])
    assert isinstance(pca.plan_.solver, Krylov)
    assert_right(pca, noisy)
    grades = {line.grade for line in pca.certificate_.lines}
    assert grades == {"proved"} if price == 0 else grades <= {"probable", "conditional"}


@pytest.mark.parametrize("svd_solver", ["auto", "krylov"])
def test_the_bounds_on_noise_hold(noisy, svd_solver):
    """Each stated bound on a value and on an angle covers the error that was made."""
    X, s, V = noisy
    pca = PCA(n_components=K, svd_solver=svd_solver, random_state=1).fit(X)
    truth = s**2 / (len(X) - 1)
    for i, line in enumerate(pca.certificate_.lines):
        slack = 200 * np.finfo(float).eps * truth[0]
        assert abs(line.value - truth[i]) <= line.value_bound + slack
        sine = np.sin(largest_angle(pca.components_[i], V[:, i]))
        neighbors = np.abs(np.delete(truth, i) - truth[i]).min()
        assert sine <= line.angle_bound + slack / neighbors


def _applications(values, k, seed=0):
    operator = DenseMatrix(symmetric_with_spectrum(values, seed=seed)[0])
    pairs = Krylov(tol=1e-10).solve(operator, k, seed=seed)
    assert pairs.converged == k
    return pairs.applications


@pytest.mark.parametrize("seed", range(3))
def test_a_harder_spectrum_needs_more_applications(seed):
    """The closer the unwanted values come to the wanted ones, the more products are made."""
    m, k = 400, 5
    counts = []
    for ratio in (0.2, 0.9, 0.99, 0.999):
        tail = ratio * np.linspace(1.0, 0.5, m - k)
        counts.append(_applications(np.concatenate([np.linspace(1.2, 1.0, k), tail]), k, seed))
    assert counts == sorted(set(counts)), f"applications were {counts}"


@pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-10])
def test_the_tolerance_is_kept(tol):
    """Whatever the tolerance, every residual measured afterwards meets it."""
    A, lam, _ = exact_symmetric(np.linspace(1.0, 0.0, 256), seed=2)
    pairs = Krylov(tol=tol).solve(DenseMatrix(A), 6, seed=0)
    residuals = np.linalg.norm(A @ pairs.vectors - pairs.vectors * pairs.values, axis=0)
    assert (residuals <= tol * lam[0] * (1 + 1e-6)).all()


def test_a_smaller_tolerance_needs_more_applications():
    """Stopping is on residuals: each digit asked for costs products."""
    A, _, _ = exact_symmetric(np.linspace(1.0, 0.0, 256), seed=2)
    counts = [Krylov(tol=tol).solve(DenseMatrix(A), 6, seed=0).applications for tol in (1e-2, 1e-5, 1e-8, 1e-11)]
    assert counts == sorted(set(counts)), f"applications were {counts}"
