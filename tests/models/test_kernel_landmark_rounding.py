"""Kernel PCA on landmarks holds its digits where directions between landmarks are nearly lost to rounding."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse

from gramian.errors import InputError
from gramian.kernels import BlockKernel, Gaussian, Matern
from gramian.models.kernel_pca import approximate as kernel_landmarks
from gramian.models.kernel_pca.fit import fit_kernel_pca
from gramian.models.kernel_pca.model import KernelPCAOptions
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


def test_bounds_of_float32_strips_grow_as_the_values_do(monkeypatch):
    """Rows that count four times have values four times as large, and bounds too: rounding is relative."""
    monkeypatch.setattr(kernel_landmarks, "SINGLE_WORK", 0.0)
    X = np.random.default_rng(0).normal(size=(800, 3))
    once, often = (_fit(X, 0.05, 8, m=200, weights=np.full(800, weight)) for weight in (1.0, 4.0))
    np.testing.assert_allclose(often.eigenvalues, 4 * once.eigenvalues, rtol=1e-5)
    np.testing.assert_allclose(often.certificate.bounds, 4 * once.certificate.bounds, rtol=0.2)


def test_float64_strips_where_float32_leaves_too_few_directions(monkeypatch):
    """As many components as were asked for are found, whatever the work."""
    monkeypatch.setattr(kernel_landmarks, "SINGLE_WORK", 0.0)
    X = np.random.default_rng(0).normal(size=(300, 3))
    model = _fit(X, 0.01, 30)
    np.testing.assert_allclose(model.eigenvalues[:20], _exact(X, model, 20), rtol=1e-5)


def _exact_far(X, model, k):
    """The same, with kernel values of differences in long double: no distance is lost to an origin far away."""
    phi = model.expansion.phi
    squares = ((X.astype(np.longdouble)[:, None] - np.asarray(phi.landmarks, np.longdouble)) ** 2).sum(axis=2)
    t = np.sqrt(6 * phi.kernel.gamma * squares)
    K = np.exp(-phi.kernel.gamma * squares) if isinstance(phi.kernel, Gaussian) else (1 + t) * np.exp(-t)
    features = K.astype(float) @ phi.root
    return np.linalg.svd(features - features.mean(axis=0), compute_uv=False)[:k] ** 2


@pytest.mark.parametrize("kernel", [Gaussian(0.5), Matern(1.5, 0.5)])
@pytest.mark.parametrize("apart", [0.0, 1e4, 1e6, 1e7])
@pytest.mark.parametrize("n, m", [(500, 100), (700, 350)])
@pytest.mark.parametrize("sparse", [False, True])
def test_groups_of_rows_far_apart_are_rounded_and_not_called_indefinite(n, m, apart, kernel, sparse):
    """Distances within a group lose digits: directions below that are left out, and the bounds say what it costs."""
    X = np.random.default_rng(n).normal(size=(n, 3))
    X[: n // 3] += apart
    rows = scipy.sparse.csr_array(X) if sparse else X
    model = fit_kernel_pca(as_source(rows), KernelPCAOptions(3, kernel, landmarks=m))
    model_of_rows = replace(model, expansion=replace(model.expansion, phi=_dense_landmarks(model.expansion.phi)))
    exact = _exact_far(X, model_of_rows, 3)
    assert np.all(np.abs(model.eigenvalues - exact) <= model.certificate.bounds)
    np.testing.assert_allclose(model.eigenvalues, exact, rtol=1e-9 + 1e-15 * apart**2)
    np.testing.assert_allclose(model.vectors.T @ model.vectors, np.eye(3), atol=1e-10)


def _dense_landmarks(phi):
    return phi if isinstance(phi.landmarks, np.ndarray) else replace(phi, landmarks=phi.landmarks.toarray())


def test_a_kernel_that_is_not_known_to_be_positive_is_still_refused():
    """Of a user's function, a negative eigenvalue is not taken for rounding."""
    X = np.random.default_rng(0).normal(size=(80, 3))
    own = BlockKernel(lambda A, B: A @ B.T - 3.0 * np.outer(A[:, 2], B[:, 2]))
    with pytest.raises(InputError, match="not positive semidefinite"):
        fit_kernel_pca(as_source(X), KernelPCAOptions(2, own, landmarks=40))
