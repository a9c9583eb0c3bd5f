"""Kernel PCA on landmarks holds its digits where directions between landmarks are nearly lost to rounding."""

import numpy as np
import pytest

from gramian.kernels import Gaussian
from gramian.models import kernel_landmarks
from gramian.models.kernel_pca import KernelPCAOptions, fit_kernel_pca
from gramian.sources import as_source


def _fit(X, gamma, k, m=100, weights=None):
    options = KernelPCAOptions(k, Gaussian(gamma), landmarks=m)
    return fit_kernel_pca(as_source(X, weights=weights), options)


def _exact(X, model, k, weights=None):
    """Eigenvalues of the centered Nystroem matrix of the model's own map, by singular values in float64."""
    phi, w = model.expansion.phi, np.ones(len(X)) if weights is None else weights
    features = Gaussian(phi.kernel.gamma)(X.astype(float), np.asarray(phi.landmarks, float)) @ phi.root
    features = features - w @ features / w.sum()
    return np.linalg.svd(features * np.sqrt(w)[:, None], compute_uv=False)[:k] ** 2


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("gamma, k", [(0.05, 10), (0.01, 15)])
def test_values_are_those_of_the_nystroem_matrix(gamma, k, dtype):
    """Also in the tail, for rows of both types, with orthonormal eigenvectors and shares of at most one."""
    X = np.random.default_rng(0).normal(size=(500, 3)).astype(dtype)
    model = _fit(X, gamma, k)
    np.testing.assert_allclose(model.eigenvalues, _exact(X, model, k), rtol=1e-6)
    np.testing.assert_allclose(model.vectors.T @ model.vectors, np.eye(k), atol=1e-10)
    assert model.shares.sum() <= 1


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("gamma", [0.01, 0.05, 1.0])
def test_float32_strips_stay_within_the_certificate(monkeypatch, gamma, weighted):
    """Strips of much work are float32: directions below its rounding are left out, and the bound covers the rest."""
    monkeypatch.setattr(kernel_landmarks, "SINGLE_WORK", 0.0)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 3))
    w = rng.integers(1, 4, 800).astype(float) if weighted else None
    model = _fit(X, gamma, 8, m=200, weights=w)
    exact = _exact(X, model, 8, w)
    assert np.all(np.abs(model.eigenvalues - exact) <= model.certificate.bounds)
    np.testing.assert_allclose(model.eigenvalues, exact, rtol=1e-3)
    np.testing.assert_allclose(model.vectors.T @ model.vectors, np.eye(8), atol=1e-10)


def test_float64_strips_where_float32_leaves_too_few_directions(monkeypatch):
    """As many components as were asked for are found, whatever the work."""
    monkeypatch.setattr(kernel_landmarks, "SINGLE_WORK", 0.0)
    X = np.random.default_rng(0).normal(size=(300, 3))
    model = _fit(X, 0.01, 30)
    np.testing.assert_allclose(model.eigenvalues[:20], _exact(X, model, 20), rtol=1e-5)
