"""ICA against planted sources: every algorithm, ill-conditioned mixing, large offsets, one precision or the other."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from gramian import ICA
from gramian.testing import amari_distance, haar, mixed_sources
from tests.catalog import slowly

ALGORITHMS = ["picard", "parallel", "deflation", "infomax"]


# Every algorithm at 10, 30 and 64 sources of 100,000 rows, plain, ill-conditioned and far from zero, is in
# benchmarks/ica_recovery.py, with its times: some of them take seconds.
@pytest.mark.parametrize(
    "algorithm, k, n",
    [(name, 10, 20_000) for name in ALGORITHMS]
    + [("deflation", 20, 40_000), ("picard", 30, 100_000)]
    + slowly(("parallel", 30, 100_000), ("infomax", 30, 100_000), ("picard", 64, 100_000), ("parallel", 64, 100_000)),
)
def test_planted_sources_are_recovered(algorithm, k, n):
    """Peaked and flat sources come out within an Amari distance of 0.02, at the gradient norm asked for."""
    A = np.random.default_rng(k).standard_normal((k, k))
    X = mixed_sources(n, k, seed=k) @ A.T
    ica = ICA(algorithm=algorithm, independence=False).fit(X)
    assert ica.gradient_norm_ <= 1e-6
    assert amari_distance(ica.components_, A) <= 0.02


@pytest.mark.parametrize("algorithm", ["picard", "parallel"])
def test_gradient_norm_is_that_of_all_rows_in_float64(algorithm):
    """What is reported after passes over a sample and in float32 is the skew part of E[psi(s) s'] of the answer."""
    A = np.random.default_rng(0).standard_normal((8, 8))
    X = mixed_sources(60_000, 8, seed=0) @ A.T
    for tol in (1e-6, 1e-9):
        ica = ICA(algorithm=algorithm, independence=False, tol=tol).fit(X)
        S = ica.transform(X)
        cross = np.tanh(S).T @ S / len(S)
        signs = np.sign((1 - np.tanh(S) ** 2).mean(axis=0) - np.diagonal(cross))
        turned = signs[:, None] * cross
        assert np.abs(turned - turned.T).max() / 2 == pytest.approx(ica.gradient_norm_, rel=1e-3, abs=1e-12)
        assert ica.gradient_norm_ <= tol


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_threads_do_not_change_the_sources_of_passes_in_float64(algorithm, monkeypatch):
    """One thread or several: the same sources to rounding, and as many steps, where no stage is made in float32."""
    monkeypatch.setattr("gramian.models.ica.fit._copy_pays", lambda *_: False)
    A = np.random.default_rng(1).standard_normal((6, 6))
    X = mixed_sources(20_000, 6, seed=1) @ A.T
    found = []
    for threads in (1, 2, 3):
        with threadpool_limits(threads):
            found.append(ICA(algorithm=algorithm, independence=False, random_state=2).fit(X))
    for other in found[1:]:
        assert other.n_iter_ == found[0].n_iter_
        np.testing.assert_allclose(other.components_, found[0].components_, atol=1e-10)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("tol", [1e-6, 1e-10])
def test_threads_do_not_change_the_sources(algorithm, tol):
    """One thread or several: the same sources to what tol leaves open, with all stages of the fit at work.

    Sums in float32 round otherwise, so a fit ends elsewhere within tol; angles are tol over curvatures of 0.1 or more.
    """
    A = np.random.default_rng(1).standard_normal((6, 6))
    X = mixed_sources(100_000, 6, seed=1) @ A.T
    found = []
    for threads in (1, 2, 3):
        with threadpool_limits(threads):
            found.append(ICA(algorithm=algorithm, independence=False, random_state=2, tol=tol).fit(X))
    for other in found[1:]:
        angles = other.components_ @ np.linalg.inv(found[0].components_) - np.eye(6)
        assert np.abs(angles).max() <= 20 * tol


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_condition_of_one_hundred_million(algorithm):
    """Mixing by a matrix of condition 1e8 costs half of the digits and no source."""
    A = (haar(6, 6, seed=0) * np.geomspace(1.0, 1e-8, 6)) @ haar(6, 6, seed=1).T
    ica = ICA(algorithm=algorithm, independence=False).fit(mixed_sources(20_000, 6, seed=2) @ A.T)
    assert ica.components_.shape == (6, 6)
    assert amari_distance(ica.components_, A) <= 0.02


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_offset_of_one_hundred_million(algorithm):
    """Rows a hundred million deviations from zero are unmixed like the same rows about zero."""
    A = np.random.default_rng(3).standard_normal((6, 6))
    X = mixed_sources(20_000, 6, seed=3) @ A.T
    ica = ICA(algorithm=algorithm, independence=False).fit(X + 1e8)
    assert amari_distance(ica.components_, A) <= 0.02
    near = ICA(algorithm=algorithm, independence=False).fit(X)
    assert amari_distance(ica.components_, np.linalg.inv(near.components_)) <= 1e-5


def test_single_precision_finds_the_same_sources():
    """float32 rows give the sources of float64 rows to single precision."""
    A = np.random.default_rng(4).standard_normal((10, 10))
    X = mixed_sources(250_000, 10, seed=4) @ A.T
    single, double = (
        ICA(independence=False, tol=1e-5).fit(X.astype(np.float32)),
        ICA(independence=False, tol=1e-5).fit(X),
    )
    assert single.components_.dtype == np.float32
    assert amari_distance(single.components_, np.linalg.inv(double.components_)) <= 1e-4


def _drop_and_truth(k, seed, **options):
    """A fit of rotated uniforms and Laplaces, and the drop from its white columns to the sources, by integrals."""
    n, rng = 100_000, np.random.default_rng([k, seed])
    S = np.column_stack(
        [
            rng.laplace(scale=np.sqrt(0.5), size=n) if j % 2 else rng.uniform(-np.sqrt(3), np.sqrt(3), n)
            for j in range(k)
        ]
    )
    Q = haar(k, k, seed=seed + 100 * k)
    ica = ICA(**options).fit(S @ Q.T)
    G = Q if options else ica.whitening_ * np.sqrt(n) @ Q
    truth = sum(_entropy_of_sum(row) for row in G) - sum(_entropy_of_sum(row) for row in np.eye(k))
    return ica, truth - np.linalg.slogdet(G)[1]


@pytest.mark.parametrize("seed", [0, 1, *slowly(*range(2, 10))])
@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_mutual_information_drop_is_the_analytic_one(k, seed):
    """Ten draws of 2 to 5 uniforms and Laplaces, 100,000 rows: within 0.02 nats, and within the error stated."""
    ica, truth = _drop_and_truth(k, seed)
    assert abs(ica.mutual_information_drop_ - truth) <= min(0.02, ica.independence_.drop_error)


@pytest.mark.parametrize("k, seed, options", [(8, 0, {}), (8, 1, {}), (12, 0, {}), (5, 0, {"whiten": False})])
def test_stated_error_of_the_drop_covers_more_sources(k, seed, options):
    """What W, known from 100,000 rows, leaves in more sources, or in rows that are nearly white, is in the error."""
    ica, truth = _drop_and_truth(k, seed, **options)
    assert abs(ica.mutual_information_drop_ - truth) <= ica.independence_.drop_error <= 0.2


def _entropy_of_sum(weights):
    """Entropy of sum_j w_j s_j by its characteristic function: uniforms in even places, Laplaces in odd ones."""
    t = np.fft.fftfreq(1 << 16, d=60.0 / (1 << 16)) * 2 * np.pi
    phi = np.ones_like(t)
    for j, w in enumerate(weights):
        phi *= 1 / (1 + (w * t) ** 2 / 2) if j % 2 else np.sinc(np.sqrt(3) * w * t / np.pi)
    density = np.maximum(np.real(np.fft.ifft(phi)) * (1 << 16) / 60.0, 0.0)
    step = 60.0 / (1 << 16)
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(-np.sum(np.where(density > 0, density * np.log(density), 0.0)) * step)
