import numpy as np
import pytest
from scipy import stats

from gramian.testing import haar
from gramian.unmixing.independence import (
    GAUSSIAN_ENTROPY,
    entropy,
    least_rows,
    measure_independence,
    merged,
    pairwise_dependence,
)

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


def test_entropy_scales_as_it_must():
    """H(a x + b) = H(x) + log|a|."""
    x = np.random.default_rng(0).laplace(size=5_000)
    assert entropy(1e-6 * x + 7.0).value == pytest.approx(entropy(x).value + np.log(1e-6), abs=1e-6)


def test_repeated_numbers_have_no_density():
    """A discrete variable has the entropy -inf; too few numbers have none."""
    assert entropy(np.repeat([0.0, 1.0], 500)).value == -np.inf
    assert np.isnan(entropy(np.array([1.0, 2.0])).value)


def _uniform(rng, n):
    return rng.uniform(-np.sqrt(3), np.sqrt(3), n)


def _laplace(rng, n):
    return rng.laplace(scale=np.sqrt(0.5), size=n)


def test_dependence_of_pairs():
    """Independent pairs stay under the noise stated, a parabola does not."""
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal(20_000), rng.standard_normal(20_000)
    D = pairwise_dependence(np.column_stack([x, y, x**2]))
    assert D[0, 1] < 0.002
    assert D[0, 2] > 0.5
    np.testing.assert_allclose(D, D.T, atol=1e-12)


def _split(rng, values, n):
    """Two independent discrete sources, each with the correlation 2 / sqrt(N) that an error of W leaves in them."""
    s = rng.choice(values, size=(n, 2)).astype(float)
    s = (s - s.mean(axis=0)) / s.std(axis=0)
    return s @ (np.eye(2) + 2 / np.sqrt(n) * (1 - np.eye(2)))


@pytest.mark.parametrize("values", [[0, 1], [0, 0, 0, 1], [1, 2, 3, 4, 5, 6]])
@pytest.mark.parametrize("n", [1_000, 20_000])
def test_values_that_the_error_of_w_parts_are_one(values, n):
    """Coins, biased coins and dice stay independent, in classes that rounding and the error of W would cut in two."""
    for seed in range(5):
        s = _split(np.random.default_rng(seed), values, n)
        assert len(np.unique(merged(s[:, 0]))) == len(set(values))
        # A correlation of 4 / sqrt(N) is 8 / N nats by itself; the rest is four deviations of its estimate.
        assert pairwise_dependence(s)[0, 1] <= 8 / n + 42 / (2 * n)


def test_dependent_coins_are_seen_and_never_exceed_log_two():
    """A coin and its copy, to rounding: log 2 nats, the most that two binary variables can have."""
    rng = np.random.default_rng(0)
    coin = rng.integers(0, 2, 5_000) - 0.5
    other = np.where(rng.uniform(size=5_000) < 0.9, coin, -coin)
    noise = 1e-15 * rng.standard_normal((5_000, 3))
    D = pairwise_dependence(np.column_stack([coin, 3 * coin, other]) + noise)
    assert D[0, 1] == pytest.approx(np.log(2.0), abs=1e-3)
    assert D[0, 2] == pytest.approx(np.log(2.0) + 0.9 * np.log(0.9) + 0.1 * np.log(0.1), abs=0.03)


@pytest.mark.parametrize("draw", [np.random.Generator.standard_normal, np.random.Generator.standard_cauchy])
@pytest.mark.parametrize("n", [200, 5_000, 20_000])
def test_values_with_a_density_are_left_as_they_are(draw, n):
    """Gaussian values and those with far outliers keep their classes."""
    x = draw(np.random.default_rng(0), size=n)
    np.testing.assert_array_equal(merged(x), x)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_values_equal_to_rounding_have_no_density(dtype):
    """Rounding does not turn a discrete variable into one with a density; a continuous one keeps its entropy."""
    rng = np.random.default_rng(0)
    angles = np.array([[0.6, 0.8], [-0.8, 0.6]])
    poisson = (rng.poisson(3.0, (5_000, 2)) @ angles).astype(dtype) @ angles.T.astype(dtype)
    assert entropy(poisson[:, 0]).value == -np.inf
    assert np.isfinite(entropy(rng.standard_t(2, size=50_000).astype(dtype)).value)


@pytest.mark.parametrize("n, k", [(4, 3), (49, 2), (199, 20)])
def test_too_few_rows_are_not_reported_on(n, k):
    """Every number is NaN, no source is named, and the sentence has both numbers."""
    found = measure_independence(np.random.default_rng(0).standard_normal((n, k)), np.eye(k))
    assert np.isnan([found.drop, found.drop_error, *found.negentropy, *found.kurtosis, *found.dependence.ravel()]).all()
    assert found.gaussian == ()
    assert str(found) == f"{n} rows are too few to tell how independent {k} sources are: pass {least_rows(k)} or more."


def test_one_source_depends_on_none():
    """A single source is not said to depend on itself."""
    assert "none" in str(measure_independence(_laplace(np.random.default_rng(0), 500)[:, None], np.eye(1)))


def test_report_prints_a_line_a_source():
    """The table names what is too Gaussian."""
    rng = np.random.default_rng(1)
    s = np.column_stack([_laplace(rng, 5_000), rng.standard_normal(5_000), rng.standard_normal(5_000)])
    found = measure_independence(s, np.eye(3))
    assert found.gaussian == (1, 2)
    assert str(found).count("\n") == 4
    assert "too Gaussian" in str(found)


def test_kurtosis_and_negentropy_of_known_sources():
    """Laplace: kurtosis 3, negentropy 0.0724; uniform: -1.2 and 0.1765."""
    rng = np.random.default_rng(2)
    s = np.column_stack([_laplace(rng, 100_000), _uniform(rng, 100_000)])
    found = measure_independence(s, np.eye(2))
    np.testing.assert_allclose(found.kurtosis, [3.0, -1.2], atol=0.25)
    expected = [GAUSSIAN_ENTROPY - 1 - np.log(np.sqrt(2.0)), GAUSSIAN_ENTROPY - np.log(2 * np.sqrt(3))]
    np.testing.assert_allclose(found.negentropy, expected, atol=0.012)


@pytest.mark.parametrize("angle", [0.3, np.pi / 4])
def test_drop_of_two_rotated_uniforms_is_the_analytic_one(angle):
    """Two uniforms turned by an angle: each column is a sum of two uniforms, a trapezoid of known entropy."""
    rng = np.random.default_rng(3)
    s = np.column_stack([_uniform(rng, 100_000), _uniform(rng, 100_000)])
    Q = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    wide, narrow = (2 * np.sqrt(3) * part for part in (np.cos(angle), np.sin(angle)))
    # A uniform of width a plus one of width b <= a: log a + b / 2a.
    trapezoid = np.log(wide) + narrow / (2 * wide)
    truth = 2 * trapezoid - 2 * np.log(2 * np.sqrt(3))
    found = measure_independence(s @ Q.T, Q.T)
    assert abs(found.drop - truth) <= 0.02
    assert abs(found.drop - truth) <= 1.5 * found.drop_error


def test_rotation_alone_has_no_determinant():
    """The term log|det W| is zero for rotations and counts a scale otherwise."""
    z = _laplace(np.random.default_rng(0), 6_000).reshape(3_000, 2)
    Q = haar(2, 2, seed=0)
    one, other = measure_independence(z, Q), measure_independence(z, 10 * Q)
    assert one.drop == pytest.approx(other.drop, abs=1e-6)
