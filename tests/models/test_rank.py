"""Orthonormal components from the way back, and the rank, against planted truth and their definitions."""

import numpy as np
import pytest

from gramian.models.pca.decomposition import Rows, all_count, rank_of, standardization_of
from gramian.operators.gram import orthonormal_features
from gramian.sources import DenseRows, measure_moments

EPS = np.finfo(float).eps


def _contaminated(d, norms, amount, *, seed, order):
    """Components times singular values, each small one with a part of the first as an inexact Gram matrix leaves it."""
    V = np.linalg.qr(np.random.default_rng(seed).standard_normal((d, len(norms))))[0]
    Y = V * norms
    Y[:, 1:] += amount * norms[0] * V[:, :1]
    return np.array(Y, order=order), V


@pytest.mark.parametrize("order", ["F", "C"])
@pytest.mark.parametrize("seed, d, amount", [(0, 40, 0.0), (1, 400, 1e-9), (2, 9000, 1e-5), (3, 9000, 1e-3)])
def test_components_become_orthonormal_and_the_first_stays(seed, d, amount, order):
    """What a small column has of the first is taken off the small one, never added to the first."""
    norms = np.array([1.0, 0.5, 0.1, 0.01])
    Y, V = _contaminated(d, norms, amount, seed=seed, order=order)
    found = orthonormal_features(Y, norms**2, Y.T @ Y)
    np.testing.assert_allclose(found.T @ found, np.eye(4), atol=1e-13)
    np.testing.assert_allclose(found, V, atol=1e-12)


@pytest.mark.parametrize("last", [1e-6, 0.0])
def test_a_null_column_becomes_some_orthogonal_direction(last):
    """Where the last singular value is lost, the first columns keep their place and all are orthonormal."""
    norms = np.array([1.0, 0.3, last])
    Y, V = _contaminated(300, norms, 0.0, seed=0, order="F")
    found = orthonormal_features(Y, norms**2, Y.T @ Y)
    np.testing.assert_allclose(found.T @ found, np.eye(3), atol=1e-13)
    np.testing.assert_allclose(found[:, :2], V[:, :2], atol=1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_the_rank_is_what_a_look_at_every_vector_says(seed):
    """Values far above all rounding are counted without their vectors: the count is that of the definition."""
    rng = np.random.default_rng(seed)
    n, d, k, known = 30, 50, 6, int(rng.integers(6, 12))
    squares = np.sort(10.0 ** rng.uniform(-2 * rng.integers(1, 14), 0, known))[::-1]
    V = np.linalg.qr(rng.standard_normal((d, k)))[0]
    rounding = 10.0 ** rng.uniform(-14, -3) * rng.uniform(0, 1, d) ** 4
    reach = (np.sqrt(n) + np.sqrt(d)) / 2
    seen = np.linalg.norm(rounding[:, None] * V, axis=0)
    noise = reach * np.concatenate([seen, np.sort(rounding)[::-1][: known - k]])
    s = np.sqrt(squares)
    counted = np.flatnonzero(s > np.maximum(noise, n * EPS * s[0]))
    assert rank_of(squares, V, n=n, eps=EPS, rounding=rounding) == (counted[-1] + 1 if len(counted) else 0)


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("mean", [0.0, -1e6, 1e200])
def test_no_column_is_larger_than_the_largest_size(mean, scale):
    """Whatever column has the mean and whatever column the spread; of equal columns it is their size."""
    X = np.random.default_rng(0).standard_normal((20, 5)) * [1.0, 1e3, 1e-3, 0.0, 2.0] + [0.0, 1.0, mean, mean, 3.0]
    moments = measure_moments(DenseRows(X), scatter=False)
    rows = Rows(None, moments, standardization_of(moments, center=True, scale=scale))
    assert rows.column_sizes.max() <= rows.largest_size * (1 + 1e-15)
    equal = measure_moments(DenseRows(np.repeat(X[:, :1] + 7.0, 3, axis=1)), scatter=False)
    rows = Rows(None, equal, standardization_of(equal, center=True, scale=scale))
    np.testing.assert_allclose(rows.largest_size, rows.column_sizes.max(), rtol=1e-15)


@pytest.mark.parametrize("last, rounding, count", [(1e-3, 1e-6, True), (1e-3, 1e-3, False), (0.0, 0.0, False)])
def test_values_far_above_all_rounding_count(last, rounding, count):
    """The largest rounding is all that is asked of it."""
    assert all_count(np.array([1.0, last**2]), n=30, d=50, eps=EPS, rounding=rounding) == count
