"""Whitening never blows up a null direction."""

import numpy as np
import pytest

from gramian import PCA
from gramian.testing import rows_with_spectrum


@pytest.mark.parametrize("svd_solver", ["auto", "full", "covariance_eigh", "gram"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n, d, rank", [(50, 10, 3), (10, 50, 4), (12, 12, 11), (20, 5, 1)])
@pytest.mark.parametrize("mean", [0.0, 100.0])
def test_null_directions_stay_small(n, d, rank, mean, dtype, svd_solver):
    """Training scores have unit variance in real directions and never more in null ones."""
    X, _ = rows_with_spectrum(n, d, np.linspace(3.0, 1.0, rank), mean=mean, seed=rank, dtype=dtype)
    pca = PCA(whiten=True, svd_solver=svd_solver).fit(X)
    Y = pca.transform(X).astype(float)
    assert np.isfinite(Y).all()
    np.testing.assert_allclose(Y[:, :rank].var(axis=0, ddof=1), 1.0, rtol=1e3 * np.finfo(dtype).eps * max(mean, 1))
    assert (Y[:, rank:].var(axis=0, ddof=1) <= 1.0).all()
    assert np.abs(Y[:, rank:]).max(initial=0.0) <= 1.0


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n, d, rank", [(50, 10, 3), (10, 50, 4)])
def test_new_points_are_not_blown_up(n, d, rank, dtype):
    """A new point a rounding error off the data's subspace does not get an enormous score."""
    X, _ = rows_with_spectrum(n, d, np.linspace(3.0, 1.0, rank), mean=1.0, seed=rank, dtype=dtype)
    pca = PCA(whiten=True).fit(X)
    noise = np.finfo(dtype).eps * np.random.default_rng(0).standard_normal(X.shape)
    Y = pca.transform((X + noise).astype(dtype))
    assert np.abs(Y - pca.transform(X)).max() <= 1e-3


@pytest.mark.parametrize("n, d, rank", [(50, 10, 3), (10, 50, 4)])
def test_inverse_of_whitening(n, d, rank):
    """Whitened scores go back to the rows they came from."""
    X, _ = rows_with_spectrum(n, d, np.linspace(3.0, 1.0, rank), mean=1.0, seed=rank)
    pca = PCA(whiten=True).fit(X)
    np.testing.assert_allclose(pca.inverse_transform(pca.transform(X)), X, atol=1e-10)


def test_constant_rows_whiten_to_zeros():
    """Rank zero whitens to zeros."""
    Y = PCA(whiten=True).fit_transform(np.full((6, 3), 0.1))
    np.testing.assert_allclose(Y, 0.0, atol=1e-12)


@pytest.mark.parametrize("ratio", [1e-3, 1e-5, 1e-7])
def test_small_but_real_directions_are_whitened(ratio):
    """A direction well above rounding is real and gets unit variance, however small it is."""
    X, _ = rows_with_spectrum(60, 5, [1.0, ratio**2], seed=0)
    Y = PCA(n_components=2, whiten=True).fit_transform(X)
    np.testing.assert_allclose(Y.var(axis=0, ddof=1), 1.0, rtol=1e-6)
