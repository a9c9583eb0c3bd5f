"""A mean far larger than the spread costs nothing beyond the rounding of the input itself."""

import numpy as np
import pytest
import scipy.sparse as sp

from gramian import PCA, IncrementalPCA
from gramian.testing import centered, jacobi_svd, rows_with_spectrum
from tests.accuracy.bounds import assert_components, assert_singular_values, input_rounding, promised

VALUES = [9.0, 4.0, 2.0, 1.0, 0.25]
MEANS = {"same": np.full(6, 1e8), "mixed": np.array([1e8, -1e8, 3e7, 0.0, 1.0, -5e7])}
DEFAULT_AND_NAMED = ["auto", "full", "covariance_eigh", "gram", "krylov"]


@pytest.mark.parametrize("svd_solver", DEFAULT_AND_NAMED)
@pytest.mark.parametrize("mean", MEANS)
@pytest.mark.parametrize("n", [600, 100, 7])
def test_float64_mean_1e8_times_the_spread(n, mean, svd_solver):
    """Values, components and scores are right to the input's rounding, and far better against what is stored."""
    X, planted = rows_with_spectrum(n, 6, VALUES, mean=MEANS[mean], seed=n)
    s, V = jacobi_svd(centered(X))
    k = 5 if svd_solver != "krylov" else 3
    pca = PCA(n_components=k, svd_solver=svd_solver, random_state=0).fit(X)
    assert_singular_values(pca.singular_values_, planted.singular_values, input_rounding(X))
    assert_singular_values(pca.singular_values_, s, promised(n, 6, s))
    assert_components(pca.components_, V, s, promised(n, 6, s))
    scores = centered(X) @ V[:, :k]
    signs = np.sign(np.sum(pca.components_ * V[:, :k].T, axis=1))
    assert np.abs(pca.transform(X) - scores * signs).max() <= input_rounding(X)


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array])
def test_float64_sparse_mean_1e8_times_the_spread(make):
    """Sparse rows, which cannot be shifted before the product, still keep the input's own rounding."""
    X, planted = rows_with_spectrum(500, 6, VALUES, mean=MEANS["mixed"], seed=1)
    pca = PCA(n_components=5).fit(make(X))
    assert_singular_values(pca.singular_values_, planted.singular_values, input_rounding(X))


@pytest.mark.parametrize("batch", [10, 64, 500])
def test_float64_batches_with_a_mean_1e8_times_the_spread(batch):
    """Merged batches are as good as one fit."""
    X, planted = rows_with_spectrum(500, 6, VALUES, mean=MEANS["mixed"], seed=2)
    fit = IncrementalPCA(n_components=5, batch_size=batch).fit(X)
    assert_singular_values(fit.singular_values_, planted.singular_values, input_rounding(X))


@pytest.fixture(scope="module", params=[0, 1])
def million(request):
    """A million float32 rows of 4 columns whose mean is 1e4 times the spread; their truth in float64."""
    rng = np.random.default_rng(request.param)
    spread = rng.standard_normal((1_000_000, 4)) * [2.0, 1.5, 1.0, 0.5]
    rotation = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    X = (spread @ rotation + 1e4 * np.array([1.0, -1.0, 1.0, 0.5])).astype(np.float32)
    Xc = X - X.mean(axis=0, dtype=np.float64)
    _, s, Vt = np.linalg.svd(Xc - Xc.mean(axis=0), full_matrices=False)
    planted = np.linalg.svd(spread - spread.mean(axis=0), compute_uv=False)
    return X, s, Vt.T, planted


def test_float32_a_million_rows_with_a_mean_1e4_times_the_spread(million):
    """A million float32 rows: right to the input's own rounding, components and mean included."""
    X, s, V, planted = million
    pca = PCA().fit(X)
    assert_singular_values(pca.singular_values_, planted, input_rounding(X))
    assert_singular_values(pca.singular_values_, s, promised(*X.shape, s, "float32"))
    assert_components(pca.components_, V, s, promised(*X.shape, s, "float32"))
    np.testing.assert_allclose(pca.mean_, X.mean(axis=0, dtype=np.float64), rtol=1e-7)


@pytest.mark.parametrize("svd_solver", DEFAULT_AND_NAMED)
@pytest.mark.parametrize("n, d", [(600, 20), (20, 600), (60, 60)])
def test_float32_mean_1e4_times_the_spread(n, d, svd_solver):
    """The same for other shapes and for every solver."""
    X, planted = rows_with_spectrum(n, d, VALUES, mean=1e4, dtype="float32", seed=3)
    pca = PCA(n_components=5, svd_solver=svd_solver, random_state=0).fit(X)
    assert_singular_values(pca.singular_values_, planted.singular_values, input_rounding(X))
    s = np.linalg.svd(centered(X).astype(float), compute_uv=False)
    assert_singular_values(pca.singular_values_, s, promised(n, d, s, "float32"))
