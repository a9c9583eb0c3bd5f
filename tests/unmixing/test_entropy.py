import numpy as np
import pytest
from scipy import stats

from gramian.unmixing.independence import GAUSSIAN_ENTROPY, entropy

RNG_ENTROPIES = {
    "uniform": (lambda rng, n: rng.uniform(0, 3, n), np.log(3.0)),
    "laplace": (lambda rng, n: rng.laplace(size=n), 1 + np.log(2.0)),
    "gaussian": (lambda rng, n: rng.standard_normal(n), GAUSSIAN_ENTROPY),
    "exponential": (lambda rng, n: rng.exponential(size=n), 1.0),
    "t": (lambda rng, n: rng.standard_t(3, size=n), float(stats.t(3).entropy())),
}


@pytest.mark.parametrize("name", RNG_ENTROPIES)
@pytest.mark.parametrize("n", [1_000, 20_000, 100_000])
def test_entropy_is_within_its_stated_error(name, n):
    """Five draws of each distribution: none is off by more than 3.5 standard errors and a bias of 3 / n^(3/4)."""
    draw, truth = RNG_ENTROPIES[name]
    for seed in range(5):
        found = entropy(draw(np.random.default_rng(seed), n))
        assert abs(found.value - truth) <= 3.5 * found.error + 3 / n**0.75


def test_stated_error_is_the_spread_over_draws():
    """The standard error is the standard deviation over 60 draws, within a third."""
    found = [entropy(np.random.default_rng(seed).laplace(size=2_000)) for seed in range(60)]
    spread = np.std([estimate.value for estimate in found])
    stated = np.mean([estimate.error for estimate in found])
    assert 0.66 * spread <= stated <= 1.5 * spread


@pytest.mark.parametrize("name", ["uniform", "laplace", "gaussian", "t"])
@pytest.mark.parametrize("n", [100, 1_000])
def test_bias_of_few_numbers_is_stated(name, n):
    """Nine of ten draws are within two standard errors and the bias stated."""
    draw, truth = RNG_ENTROPIES[name]
    found = [entropy(draw(np.random.default_rng(seed), n)) for seed in range(100)]
    assert np.mean([abs(e.value - truth) <= 2 * e.error + e.bias for e in found]) >= 0.9


def test_entropy_scales_as_it_must():
    """H(a x + b) = H(x) + log|a|."""
    x = np.random.default_rng(0).laplace(size=5_000)
    assert entropy(1e-6 * x + 7.0).value == pytest.approx(entropy(x).value + np.log(1e-6), abs=1e-6)


def test_repeated_numbers_have_no_density():
    """A discrete variable has the entropy -inf; too few numbers have none."""
    assert entropy(np.repeat([0.0, 1.0], 500)).value == -np.inf
    assert np.isnan(entropy(np.array([1.0, 2.0])).value)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_values_equal_to_rounding_have_no_density(dtype):
    """Rounding does not turn a discrete variable into one with a density; a continuous one keeps its entropy."""
    rng = np.random.default_rng(0)
    angles = np.array([[0.6, 0.8], [-0.8, 0.6]])
    poisson = (rng.poisson(3.0, (5_000, 2)) @ angles).astype(dtype) @ angles.T.astype(dtype)
    assert entropy(poisson[:, 0]).value == -np.inf
    assert np.isfinite(entropy(rng.standard_t(2, size=50_000).astype(dtype)).value)
