"""A rule's components on wide rows: those that are kept are mapped alone, and are those that asking for k gives."""

import numpy as np
import pytest

from gramian import PCA
from tests.catalog import slowly


def _rows(n, d, seed, dtype):
    rng = np.random.default_rng(seed)
    falling = rng.standard_normal((n, n // 2)) * 0.8 ** np.arange(n // 2)
    signal = 10 * falling @ rng.standard_normal((n // 2, d)) / np.sqrt(n)
    return (signal + 0.1 * rng.standard_normal((n, d))).astype(dtype)


@pytest.mark.parametrize("dtype, tolerance", [(np.float64, 1e-10), (np.float32, 2e-5)])
@pytest.mark.parametrize("rule", [0.5, 0.95, "auto"])
@pytest.mark.parametrize("n, d, seed", [(40, 900, 0), (120, 4000, 1)])
def test_a_rule_gives_what_asking_for_its_number_gives(n, d, seed, rule, dtype, tolerance):
    """Components, variances and noise are those of the same k by number, and of the singular values of the rows."""
    X = _rows(n, d, seed, dtype)
    ruled = PCA(rule).fit(X)
    asked = PCA(ruled.n_components_).fit(X)
    np.testing.assert_allclose(ruled.components_, asked.components_, atol=tolerance)
    assert ruled.noise_variance_ == pytest.approx(asked.noise_variance_, rel=1e-5)
    s = np.linalg.svd(X.astype(float) - X.astype(float).mean(axis=0), compute_uv=False)
    np.testing.assert_allclose(ruled.singular_values_, s[: ruled.n_components_], rtol=1e-4)


@pytest.mark.parametrize(
    "seed, n, d, rank", [(0, 30, 500, 4), *slowly((1, 200, 70_000, 150)), (1, 60, 70_000, 45), (2, 90, 60, 5)]
)
def test_null_directions_complete_the_basis(seed, n, d, rank):
    """All components of rows of low rank are orthonormal, however many are drawn, and the true ones span the rows."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d))
    pca = PCA().fit(X)
    V = pca.components_
    np.testing.assert_allclose(V @ V.T, np.eye(min(n, d)), atol=1e-12)
    centered = X - X.mean(axis=0)
    np.testing.assert_allclose((centered @ V[:rank].T) @ V[:rank], centered, atol=1e-9 * np.abs(X).max())
