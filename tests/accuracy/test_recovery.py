"""ICA against planted sources: every algorithm, ill-conditioned mixing, large offsets, one precision or the other."""

import numpy as np
import pytest

from gramian import ICA
from gramian.testing import amari_distance, haar, mixed_sources

ALGORITHMS = ["picard", "parallel", "deflation", "infomax"]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("k, n", [(10, 20_000), (30, 100_000)])
def test_planted_sources_are_recovered(algorithm, k, n):
    """Peaked and flat sources come out within an Amari distance of 0.02."""
    if algorithm == "deflation" and k > 10:
        pytest.skip("one pass an iteration and source: a minute at this size")
    A = np.random.default_rng(k).standard_normal((k, k))
    ica = ICA(algorithm=algorithm, report=False).fit(mixed_sources(n, k, seed=k) @ A.T)
    assert ica.gradient_norm_ <= 1e-6
    assert amari_distance(ica.components_, A) <= 0.02


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_condition_of_one_hundred_million(algorithm):
    """Mixing by a matrix of condition 1e8 costs half of the digits and no source."""
    A = (haar(6, 6, seed=0) * np.geomspace(1.0, 1e-8, 6)) @ haar(6, 6, seed=1).T
    ica = ICA(algorithm=algorithm, report=False).fit(mixed_sources(20_000, 6, seed=2) @ A.T)
    assert ica.components_.shape == (6, 6)
    assert amari_distance(ica.components_, A) <= 0.02


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_offset_of_one_hundred_million(algorithm):
    """Rows a hundred million deviations from zero are unmixed like the same rows about zero."""
    A = np.random.default_rng(3).standard_normal((6, 6))
    X = mixed_sources(20_000, 6, seed=3) @ A.T
    ica = ICA(algorithm=algorithm, report=False).fit(X + 1e8)
    assert amari_distance(ica.components_, A) <= 0.02
    near = ICA(algorithm=algorithm, report=False).fit(X)
    assert amari_distance(ica.components_, np.linalg.inv(near.components_)) <= 1e-5


def test_single_precision_finds_the_same_sources():
    """float32 rows give the sources of float64 rows to single precision."""
    A = np.random.default_rng(4).standard_normal((10, 10))
    X = mixed_sources(250_000, 10, seed=4) @ A.T
    single, double = ICA(report=False, tol=1e-5).fit(X.astype(np.float32)), ICA(report=False, tol=1e-5).fit(X)
    assert single.components_.dtype == np.float32
    assert amari_distance(single.components_, np.linalg.inv(double.components_)) <= 1e-4


@pytest.mark.parametrize("k", [2, 3, 5])
def test_mutual_information_drop_is_the_analytic_one(k):
    """Sums of independent uniforms and Laplaces: the drop is within 0.02 nats of the integral, at 100,000 rows."""
    S = np.column_stack(
        [
            np.random.default_rng(j).laplace(scale=np.sqrt(0.5), size=100_000)
            if j % 2
            else np.random.default_rng(j).uniform(-np.sqrt(3), np.sqrt(3), 100_000)
            for j in range(k)
        ]
    )
    # Made white exactly, by the least change: the rows' own correlations, of size 1/sqrt(n), would turn W by more.
    values, vectors = np.linalg.eigh(np.cov(S.T, bias=True))
    S = (S - S.mean(axis=0)) @ (vectors / np.sqrt(values)) @ vectors.T
    Q = haar(k, k, seed=k)
    ica = ICA(whiten=False).fit(S @ Q.T)
    truth = sum(_entropy_of_sum(row) for row in Q) - sum(_entropy_of_sum(row) for row in np.eye(k))
    assert abs(ica.mutual_information_drop_ - truth) <= 0.02
    assert abs(ica.mutual_information_drop_ - truth) <= 1.5 * ica.independence_.drop_error


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
