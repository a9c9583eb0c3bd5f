from itertools import islice

import numpy as np
import pytest

from gramian.choosing.parallel import noise_after
from gramian.choosing.spectrum import read_spectrum
from tests.choosing.designs import fitted, planted, uneven_columns


def _after(fit, k, **known):
    spectrum = read_spectrum(fit.variances, **fit.shape)
    return next(islice(noise_after(spectrum, **known), k, None))


def test_the_noise_of_columns_comes_back():
    """Once the planted components are out, each column has the variance of its own noise."""
    rng = np.random.default_rng(0)
    noise = uneven_columns(rng, 2000, 30)
    fit = fitted(noise + rng.standard_normal((2000, 2)) @ rng.standard_normal((2, 30)) * 5.0)
    left = _after(fit, 2, **fit.columns)
    assert np.allclose(left.variances, noise.var(axis=0), rtol=0.1, atol=0.2)


@pytest.mark.parametrize("columns", [True, False])
def test_restored_noise_has_its_own_level(columns):
    """Components take noise with them; what is left still measures one a cell."""
    fit = fitted(planted(100, 60, np.full(15, 50.0), seed=1))
    left = _after(fit, 15, **(fit.columns if columns else {}))
    assert float(left.multiplicity @ left.variances) / float(left.multiplicity.sum()) == pytest.approx(1.0, rel=0.08)
    assert float(left.multiplicity.sum()) == pytest.approx(45.0)
    assert left.degrees == 84.0


def test_squares_are_those_of_sampled_noise():
    """The expected sum of squared variances of noise, against a draw."""
    fit = fitted(planted(500, 100, [], seed=2, make_noise=uneven_columns))
    left = _after(fit, 0, **fit.columns)
    assert left.sum_of_squares(1.0) == pytest.approx(float(fit.variances @ fit.variances), rel=0.03)
