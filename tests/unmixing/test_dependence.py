import numpy as np
import pytest

from gramian.unmixing.independence import merged, pairwise_dependence


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
