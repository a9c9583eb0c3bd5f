"""Many small values of a Gram matrix: recomputed from the rows only where a sample of them shows lost digits."""

import numpy as np
import pytest

from gramian import PCA
from gramian.eigen.direct import SAMPLE, Direct
from gramian.operators.covariance import Covariance
from gramian.operators.standardization import Standardization
from gramian.sources import DenseRows
from gramian.sources.moments import measure_moments
from gramian.testing import rows_with_spectrum

EPS = np.finfo(np.float64).eps


class _Recorder(Covariance):
    """Remembers how many columns it was asked the squares of, each time."""

    def inner(self, V, **options):
        self.asked = [*getattr(self, "asked", []), V.shape[1]]
        return super().inner(V, **options)


def _operator(X):
    source = DenseRows(X)
    moments = measure_moments(source, scatter=True)
    return _Recorder(source, moments, Standardization(moments.mean))


def _solved(X, k=None, **options):
    return Direct(**options).solve(_operator(X), k or X.shape[1])


def _truth(X):
    X = X.astype(np.longdouble)  # a mean in float64 is not exact enough beside 1e8
    return np.linalg.svd((X - X.mean(axis=0)).astype(np.float64), compute_uv=False)


def _decaying(d, last, dtype, seed):
    spectrum = np.maximum(0.8 ** np.arange(d), last * np.linspace(1.5, 1.0, d)) ** 2
    # float32 rows so many that they are multiplied in float32.
    n = 2_000 if dtype == np.float64 else 30_000
    return rows_with_spectrum(n, d, spectrum, seed=seed)[0].astype(dtype)


@pytest.mark.parametrize("d, dtype, last", [(300, np.float64, 1e-4), (400, np.float64, 8e-5), (100, np.float32, 2e-4)])
@pytest.mark.parametrize("seed", range(3))
def test_sound_values_are_left_and_keep_the_promise(d, dtype, last, seed):
    """Under what is read off a Gram matrix unseen, and right all the same."""
    X = _decaying(d, last, dtype, seed)
    pairs, s = _solved(X), _truth(X)
    assert pairs.repaired == 0
    assert np.abs(np.sqrt(pairs.values) - s).max() <= 35 * d * np.finfo(dtype).eps * s[0]


@pytest.mark.parametrize("dtype, last", [(np.float64, 1e-7), (np.float64, 1e-9), (np.float32, 1e-5)])
@pytest.mark.parametrize("seed", range(3))
def test_lost_values_are_seen_and_recomputed(dtype, last, seed):
    """Where squares have cost the digits the sample shows it, and the values come from the rows."""
    X = _decaying(100, last, dtype, seed)
    pairs, s = _solved(X), _truth(X)
    assert pairs.repaired > 0
    assert np.abs(np.sqrt(np.maximum(pairs.values, 0)) - s).max() <= 35 * 100 * np.finfo(dtype).eps * s[0]


@pytest.mark.parametrize("rank", [40, 99])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_no_zero_is_taken_for_a_value(rank, dtype):
    """Zeros come out of a Gram matrix as rounding, which a sample of the last pairs tells from values."""
    rng = np.random.default_rng(rank)
    X = (rng.integers(-8, 9, (3_000, rank)) @ rng.integers(-1, 2, (rank, 100))).astype(dtype)
    assert np.sum(_solved(X).values > 1e-9 * _truth(X)[0] ** 2) <= rank


def test_pairs_beyond_a_share_are_not_recomputed():
    """The pairs that hold 95% are far above the floor: no second pass is made for the others."""
    X = _decaying(100, 1e-7, np.float64, 0)
    assert _solved(X, share=0.95).repaired == 0
    assert _solved(X, share=1.0).repaired > 0
    few, every = PCA(0.95).fit(X), PCA().fit(X)
    k = few.n_components_
    np.testing.assert_allclose(few.singular_values_, every.singular_values_[:k], rtol=1e-13)
    np.testing.assert_allclose(few.noise_variance_, every.explained_variance_[k:].mean(), rtol=1e-6)


@pytest.mark.parametrize("last, looks", [(1e-4, [8]), (2e-6, None), (1e-7, []), (1e-9, [])])
@pytest.mark.parametrize("seed", range(3))
def test_a_sample_is_looked_at_only_where_it_may_pass(last, looks, seed):
    """Where the values alone say that digits are lost, no pass is spent on seeing it."""
    X = _decaying(100, last, np.float64, seed)
    operator = _operator(X)
    pairs = Direct().solve(operator, 100)
    sampled = [columns for columns in operator.asked if columns == SAMPLE]
    assert looks is None or sampled == looks
    assert (pairs.repaired == 0) == (last == 1e-4)


@pytest.mark.parametrize("offset", [0.0, 30.0, 1e4, 1e8])
@pytest.mark.parametrize("d, last", [(100, 4e-4), (300, 1e-4)])
def test_the_promise_holds_wherever_the_mean_is(offset, d, last):
    """Sampled products that are corrected for the mean afterwards are used only where the mean is small enough."""
    X = _decaying(d, last, np.float64, 0) + offset
    assert np.abs(np.sqrt(_solved(X).values) - _truth(X)).max() <= 35 * d * EPS * _truth(X)[0]


@pytest.mark.parametrize("offset", [0.0, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("columns, weighted", [(1, False), (8, True), (8, False), (40, True)])
def test_cheaper_squares_keep_to_the_error_they_may_have(offset, columns, weighted):
    """With and without copies of the rows, in pieces or not: F v is as near as was asked, and nearer by default."""
    rng = np.random.default_rng(columns)
    X = rng.standard_normal((20_000, 60)) * 0.5 ** np.arange(60) + offset
    w = rng.uniform(0.5, 2.0, len(X)) if weighted else None
    V = np.linalg.qr(rng.standard_normal((60, columns)))[0]
    source = DenseRows(X, weights=w)
    moments = measure_moments(source)
    operator = Covariance(source, moments, Standardization(moments.mean))
    Y = (X - moments.mean) @ V * (1.0 if w is None else np.sqrt(w)[:, None])
    norms = np.linalg.norm(Y, axis=0)
    np.testing.assert_allclose(operator.inner(V), Y.T @ Y, rtol=1e-12, atol=1e-13 * norms.max() ** 2)
    for within in (1e-12, 1e-9, 1e-3):
        error = np.abs(np.sqrt(np.diag(operator.inner(V, within=within))) - norms)
        assert error.max() <= within + 1e-13 * norms.max()
