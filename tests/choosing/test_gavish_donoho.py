import numpy as np
import pytest

from gramian.choosing import gavish_donoho
from gramian.choosing.gavish_donoho import marchenko_pastur_median, optimal_factor
from gramian.errors import ParameterError
from tests.choosing.designs import fitted, planted


@pytest.mark.parametrize("beta, factor", [(1.0, 2.8582), (0.5, 2.1711), (0.1, 1.6089), (0.05, 1.5194)])
def test_the_factor_is_the_published_one(beta, factor):
    """The threshold in units of the median singular value, against the paper's table."""
    ours = (optimal_factor(beta) / marchenko_pastur_median(beta)) ** 0.5
    assert ours == pytest.approx(factor, abs=2e-4)


def test_the_median_is_that_of_noise():
    """Half of the variances of simulated noise lie below the computed median."""
    X = np.random.default_rng(0).standard_normal((1200, 300))
    values = np.linalg.eigvalsh(X.T @ X / 1200)
    assert float(np.mean(values < marchenko_pastur_median(0.25))) == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("n, d", [(400, 50), (50, 400), (100, 100)])
def test_strong_components_are_found_in_every_shape(n, d):
    """Tall, wide and square tables of unit noise keep three strong components."""
    fit = fitted(planted(n, d, [60.0, 50.0, 40.0], seed=n))
    unknown = gavish_donoho(fit.variances, **fit.shape)
    known = gavish_donoho(fit.variances[:6], noise_variance=1.0, **fit.shape)
    assert unknown.n_components == known.n_components == 3
    assert unknown.detail["noise_variance"] == pytest.approx(1.0, rel=0.1)


def test_noise_alone_keeps_nothing():
    """Nothing passes the threshold in white noise."""
    fit = fitted(planted(300, 60, [], seed=0))
    assert gavish_donoho(fit.variances, **fit.shape).n_components == 0


def test_leading_variances_are_refused_when_the_noise_is_unknown():
    """The median needs all of them."""
    with pytest.raises(ParameterError, match="median of all 20 variances, and 2 were given"):
        gavish_donoho([5.0, 4.0], n_rows=100, n_columns=20, total_variance=30.0)
