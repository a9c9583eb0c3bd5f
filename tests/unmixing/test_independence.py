import warnings

import numpy as np
import pytest

from gramian import ICA
from gramian.testing import haar
from gramian.unmixing.independence import GAUSSIAN_ENTROPY, least_rows, measure_independence


def _uniform(rng, n):
    return rng.uniform(-np.sqrt(3), np.sqrt(3), n)


def _laplace(rng, n):
    return rng.laplace(scale=np.sqrt(0.5), size=n)


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
    assert abs(found.drop - truth) <= found.drop_error


def test_rotation_alone_has_no_determinant():
    """The term log|det W| is zero for rotations and counts a scale otherwise."""
    z = _laplace(np.random.default_rng(0), 6_000).reshape(3_000, 2)
    Q = haar(2, 2, seed=0)
    one, other = measure_independence(z, Q), measure_independence(z, 10 * Q)
    assert one.drop == pytest.approx(other.drop, abs=1e-6)


@pytest.mark.parametrize("k, n", [(2, 200), (5, 500), (10, 1_000), (20, 1_000), (5, 5_000)])
def test_few_rows_of_clear_sources_are_not_called_gaussian(k, n):
    """Of Laplace and of uniform sources at most one in a hundred is called too Gaussian; of Gaussian ones 97 are named.

    Of 200 rows of two sources it is said that they cannot tell.
    """
    named = {"laplace": 0, "uniform": 0, "standard_normal": 0}
    for draw in named:
        for seed in range(8 if k < 20 else 2):
            rng = np.random.default_rng([seed, k])
            X = getattr(rng, draw)(size=(n, k)) @ rng.standard_normal((k, k))
            found = _fitted(X)
            named[draw] += len(found.gaussian) if found.can_tell or draw == "standard_normal" else 0
    total = k * (8 if k < 20 else 2)
    assert max(named["laplace"], named["uniform"]) <= 0.01 * total
    assert named["standard_normal"] >= 0.97 * total


def _fitted(X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ICA(tol=1e-4).fit(X).independence_


def test_rows_too_few_to_tell_are_said_to_be():
    """100 rows of ten Laplace sources: they are not called Gaussian, for so few rows show nothing else."""
    rng = np.random.default_rng(0)
    found = _fitted(rng.laplace(size=(100, 10)) @ rng.standard_normal((10, 10)))
    assert found.gaussian
    assert not found.can_tell
    assert "too Gaussian" not in str(found) + found.doubt("IC1 and IC2")
    assert "100 rows cannot tell IC1 and IC2 from" in found.doubt("IC1 and IC2")
