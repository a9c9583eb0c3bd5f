"""Many small values of a Gram matrix: recomputed from the rows only where a sample of them shows lost digits."""

import numpy as np
import pytest

from gramian import PCA
from gramian.eigen.direct import Direct
from gramian.models.decomposition import Standardization
from gramian.operators.covariance import Covariance
from gramian.sources import DenseRows
from gramian.sources.moments import measure_moments
from gramian.testing import rows_with_spectrum


def _solved(X, k=None, **options):
    source = DenseRows(X)
    moments = measure_moments(source, scatter=True)
    operator = Covariance(source, moments, Standardization(moments.mean))
    return Direct(**options).solve(operator, k or X.shape[1])


def _truth(X):
    X = X.astype(np.float64)
    return np.linalg.svd(X - X.mean(axis=0), compute_uv=False)


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
