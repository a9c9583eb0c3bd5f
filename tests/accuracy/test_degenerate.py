"""Rank zero, one row, one column, constant columns, duplicated rows: defined and finite."""

import numpy as np
import pytest

from gramian import PCA
from gramian.testing import orthonormality_error, rows_with_spectrum, singular_values

FIELDS = ["components_", "explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_"]


def assert_defined(pca, X):
    """Every fitted number is finite, components are orthonormal, and rows go there and back."""
    for name in FIELDS:
        assert np.isfinite(getattr(pca, name)).all(), f"{name} is not finite: {getattr(pca, name)}"
    assert np.isfinite(pca.noise_variance_)
    assert orthonormality_error(pca.components_.T) <= 1e-10
    Y = pca.transform(X)
    assert Y.shape == (X.shape[0], pca.n_components_)
    np.testing.assert_allclose(pca.inverse_transform(Y), X, atol=1e-10 * max(1.0, np.abs(X).max()))


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("value", [0.0, 7.0, 0.1, 1e8, 1e300])
@pytest.mark.parametrize("n, d", [(10, 4), (4, 10), (5, 5), (2, 1)])
def test_rank_zero(n, d, value, whiten):
    """Rows that are all alike have no variance: zeros, not NaN."""
    X = np.full((n, d), value)
    pca = PCA(whiten=whiten).fit(X)
    assert_defined(pca, X)
    np.testing.assert_array_equal(pca.explained_variance_, np.zeros(min(n, d)))
    np.testing.assert_array_equal(pca.singular_values_, np.zeros(min(n, d)))
    np.testing.assert_allclose(pca.mean_, value, rtol=1e-15)
    np.testing.assert_allclose(pca.transform(X), 0.0, atol=1e-14 * max(value, 1.0))


@pytest.mark.parametrize("ddof", [0, 1])
@pytest.mark.parametrize("d", [1, 5])
def test_one_row(d, ddof):
    """One row is its own mean: variance zero with either divisor, and its score is zero."""
    X = np.arange(1.0, d + 1.0)[np.newaxis]
    pca = PCA(ddof=ddof).fit(X)
    assert_defined(pca, X)
    np.testing.assert_array_equal(pca.mean_, X[0])
    np.testing.assert_array_equal(pca.explained_variance_, [0.0])
    np.testing.assert_array_equal(pca.transform(X), [[0.0]])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n", [2, 3, 1000])
def test_one_column(n, dtype):
    """One column has one component, (1), that holds its variance."""
    X = np.random.default_rng(n).standard_normal((n, 1)).astype(dtype) + 3
    pca = PCA().fit(X)
    np.testing.assert_array_equal(pca.components_, [[1.0]])
    np.testing.assert_allclose(pca.explained_variance_, X.astype(float).var(ddof=1), rtol=20 * np.finfo(dtype).eps)
    np.testing.assert_allclose(pca.explained_variance_ratio_, 1.0)


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("n, d", [(30, 6), (6, 30)])
@pytest.mark.parametrize("value", [0.0, 0.1, 1e8])
def test_constant_columns(n, d, value, scale):
    """Constant columns hold no variance, have no loading on a component that has some, and scale to nothing."""
    X, _ = rows_with_spectrum(n, d, [4.0, 2.0, 1.0], mean=1.0, seed=2)
    X[:, [1, 3]] = value
    pca = PCA(scale=scale).fit(X)
    assert_defined(pca, X)
    real = pca.explained_variance_ > 1e-10 * pca.explained_variance_[0]
    assert np.abs(pca.components_[real][:, [1, 3]]).max() <= 1e-12
    rest = np.delete(X, [1, 3], axis=1)
    other = PCA(scale=scale).fit(rest)
    np.testing.assert_allclose(pca.singular_values_[:3], other.singular_values_[:3], rtol=1e-12)


@pytest.mark.parametrize("copies", [2, 5])
@pytest.mark.parametrize("n, d", [(8, 4), (3, 9)])
def test_duplicated_rows(n, d, copies):
    """Rows repeated c times give the same components and sqrt(c) times the singular values."""
    X, _ = rows_with_spectrum(n, d, np.linspace(4.0, 1.0, min(n - 1, d)), mean=2.0, seed=1)
    rank = min(n - 1, d)
    once, often = PCA(n_components=rank).fit(X), PCA().fit(np.repeat(X, copies, axis=0))
    assert_defined(often, np.repeat(X, copies, axis=0))
    np.testing.assert_allclose(often.singular_values_[:rank], np.sqrt(copies) * once.singular_values_, rtol=1e-11)
    assert (often.singular_values_[rank:] <= 1e-12 * often.singular_values_[0]).all()
    np.testing.assert_allclose(often.components_[:rank], once.components_, atol=1e-9)


def test_two_equal_rows():
    """Two equal rows have rank zero."""
    X = np.tile(np.random.default_rng(0).standard_normal(7), (2, 1))
    pca = PCA().fit(X)
    assert_defined(pca, X)
    np.testing.assert_array_equal(pca.explained_variance_, [0.0, 0.0])


@pytest.mark.parametrize("weights", [[1.0, 0.0, 0.0], [2.0, 1.0, 0.0]])
def test_zero_weights_leave_rows_out(weights):
    """Rows of weight zero count for nothing, even when only one other row is left."""
    X = np.array([[1.0, 2.0], [3.0, 5.0], [100.0, -100.0]])
    pca = PCA(n_components=1).fit(X, sample_weight=np.array(weights))
    kept = np.repeat(X, np.array(weights).astype(int), axis=0)
    np.testing.assert_allclose(pca.mean_, kept.mean(axis=0), rtol=1e-14)
    np.testing.assert_allclose(pca.singular_values_[0], float(singular_values(kept)[0]), atol=1e-12)
    assert np.isfinite(pca.explained_variance_).all()
