import numpy as np
import pytest

from gramian.choosing.parallel import noise_edge, tracy_widom_quantile


@pytest.mark.parametrize("n, d", [(400, 100), (100, 400), (50, 50), (10, 100_000)])
def test_even_columns_give_the_marchenko_pastur_edge(n, d):
    """Equal variances put the edge at (1 + sqrt(d / n))^2."""
    assert noise_edge(np.full(d, 2.0), float(n)).edge == pytest.approx(2.0 * (1.0 + (d / n) ** 0.5) ** 2)


def test_simulated_noise_lies_where_the_edge_says():
    """Mean and spread of the largest variance of uneven noise, against a hundred draws."""
    rng = np.random.default_rng(0)
    tau = np.exp(rng.uniform(-1.5, 1.5, 60))
    draws = (rng.standard_normal((150, 60)) * np.sqrt(tau) for _ in range(100))
    tops = np.array([np.linalg.norm(X, 2) ** 2 / 150 for X in draws])
    edge = noise_edge(tau, 150.0)
    assert tops.mean() == pytest.approx(edge.mean, rel=0.03)
    assert tops.std() == pytest.approx(edge.spread, rel=0.3)


def test_multiplicity_stands_for_repeated_columns():
    """An entry that counts three times is three columns."""
    tau = np.array([3.0, 2.0, 1.0])
    repeated = noise_edge(np.repeat(tau, 3), 40.0)
    counted = noise_edge(tau, 40.0, multiplicity=np.full(3, 3.0))
    assert counted.edge == pytest.approx(repeated.edge)
    assert counted.scale == pytest.approx(repeated.scale)


def test_many_columns_may_be_grouped(monkeypatch):
    """Grouping thousands of columns moves the edge by less than a tenth of its own spread."""
    tau = np.exp(np.random.default_rng(1).normal(0.0, 1.0, 5000))
    grouped = noise_edge(tau, 1000.0)
    monkeypatch.setattr("gramian.choosing.parallel.GROUPS", 5000)
    assert abs(grouped.edge - noise_edge(tau, 1000.0).edge) < 0.1 * grouped.spread


def test_no_variance_has_no_edge():
    """Constant columns have noise of zero."""
    assert noise_edge(np.zeros(4), 10.0).edge == 0.0


@pytest.mark.parametrize("level, value", [(0.05, -3.1808), (0.5, -1.2686), (0.95, 0.9793), (0.99, 2.0234)])
def test_quantiles_are_those_of_tracy_and_widom(level, value):
    """Within a hundredth of the tabulated quantiles."""
    assert tracy_widom_quantile(level) == pytest.approx(value, abs=0.01)
