"""Wide float32 rows: components mapped back to the columns in float32 are as good as the matrix they come from."""

import numpy as np
import pytest

from gramian.eigen.pairs import signs_of
from gramian.models.pca.fit import fit_pca
from gramian.models.pca.model import PCAOptions
from gramian.operators.gram import orthonormal_features
from gramian.sources import as_source
from tests.catalog import slowly

EPS = float(np.finfo(np.float32).eps)


def _rows(n, d, *, decay, mean, seed):
    """Rows of geometrically falling singular values about means that may be hundreds of times their spread."""
    rng = np.random.default_rng(seed)
    U, V = (np.linalg.qr(rng.standard_normal((size, n // 2)))[0] for size in (n, d))
    X = (U * (np.sqrt(d) * decay ** np.arange(n // 2))) @ V.T
    return (X + mean * rng.standard_normal(d)).astype(np.float32)


def _truth(X, weights):
    """Centered, weighted rows in float64 and their singular value decomposition."""
    w = np.ones(len(X)) if weights is None else weights
    centered = np.sqrt(w)[:, None] * (X.astype(float) - w @ X.astype(float) / w.sum())
    return centered, np.linalg.svd(centered, full_matrices=False)


@pytest.mark.parametrize("mean", [0.0, *slowly(1.0), 300.0])
@pytest.mark.parametrize(
    "n, d, k, decay", [*slowly((60, 40_000, 20, 0.7)), (60, 40_000, 29, 0.9), (300, 9_000, 40, 0.85)]
)
@pytest.mark.parametrize("weighted", [*slowly(False), True])
def test_residuals_and_certified_angles_hold(n, d, k, decay, mean, weighted):
    """Residuals of the covariance are within 1e-6, components orthonormal, each within its certified angle."""
    X = _rows(n, d, decay=decay, mean=mean, seed=n + k)
    weights = np.random.default_rng(k).integers(1, 4, n).astype(float) if weighted else None
    model = fit_pca(as_source(X, weights=weights), PCAOptions(n_components=k))
    centered, (_, s, Vt) = _truth(X, weights)
    V = model.components.astype(float).T
    residuals = np.linalg.norm(centered.T @ (centered @ V) - V * s[:k] ** 2, axis=0)
    assert model.components.dtype == np.float32
    assert residuals.max() <= 1e-6 * s[0] ** 2
    np.testing.assert_allclose(V.T @ V, np.eye(k), atol=8 * EPS)
    sines = np.linalg.norm(V - Vt[:k].T * np.sum(Vt[:k].T * V, axis=0), axis=0)
    bounds = np.array([line.angle_bound for line in model.certificate.lines])
    assert np.all(sines <= bounds + 4 * EPS)


@pytest.mark.parametrize("n, d, mean", [(60, 9_000, 0.0), (300, 2_000, 5.0), (300, 400, 0.0)])
def test_all_components(n, d, mean):
    """All n of them, the last a direction that centered rows do not have: orthonormal, residuals within 1e-6."""
    X = (np.random.default_rng(n).standard_normal((n, d)) + mean).astype(np.float32)
    model = fit_pca(as_source(X))
    centered, (_, s, _) = _truth(X, None)
    V = model.components.astype(float).T
    assert V.shape == (d, n)
    assert model.rank == n - 1
    np.testing.assert_allclose(V.T @ V, np.eye(n), atol=16 * EPS)
    residuals = np.linalg.norm(centered.T @ (centered @ V) - V * s**2, axis=0)
    assert residuals.max() <= 1e-6 * s[0] ** 2
    np.testing.assert_allclose(model.singular_values, s, atol=35 * n * EPS * s[0])


@pytest.mark.parametrize("seed, d, amount", [(0, 400, 0.0), (1, 9000, 1e-5), (2, 9000, 1e-3)])
def test_float32_columns_become_orthonormal_and_the_first_stays(seed, d, amount):
    """What a small column has of the first is taken off it to the rounding of float32, in place."""
    norms = np.array([1.0, 0.5, 0.1, 0.01])
    V = np.linalg.qr(np.random.default_rng(seed).standard_normal((d, 4)))[0]
    Y = V * norms
    Y[:, 1:] += amount * V[:, :1]
    single = np.asfortranarray(Y.astype(np.float32))
    found = orthonormal_features(single, norms**2, Y.T @ Y)
    assert np.shares_memory(found, single)
    assert found.dtype == np.float32
    exact = found.astype(float)
    np.testing.assert_allclose(exact.T @ exact, np.eye(4), atol=4 * EPS)
    np.testing.assert_allclose(found, V, atol=4 * EPS + 100 * EPS * amount)


def test_signs_of_float32_columns_treat_entries_within_their_rounding_as_equal():
    """The first of two entries that differ by less than 10 eps decides, in the precision of the column."""
    column = np.array([[0.5], [-0.5 * (1 + 4 * EPS)]], dtype=np.float32)
    assert signs_of(column)[0] == 1
    assert signs_of(column.astype(float))[0] == -1
    assert signs_of(column).dtype == np.float32
