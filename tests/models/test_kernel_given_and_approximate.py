"""A kernel matrix that is given, and models on landmarks or features near the kernel's."""

import warnings

import numpy as np
import pytest

from gramian.errors import IndefiniteKernelWarning
from gramian.features import Monomials, RandomFourier
from gramian.kernels import Gaussian, Polynomial, Precomputed, Sigmoid
from gramian.models.kernel_pca.fit import fit_kernel_pca
from gramian.models.kernel_pca.model import KernelPCAOptions
from gramian.sources import as_source
from gramian.testing import largest_angle


def _rows(n, d=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def _fit(X, kernel, k=4, weights=None, **options):
    return fit_kernel_pca(as_source(X, weights=weights), KernelPCAOptions(k, kernel, **options))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [50, 600])
def test_a_precomputed_matrix_is_the_kernel_it_came_from(n, weighted):
    """Values, scores and projections are those of the kernel on the rows."""
    X, new, kernel = _rows(n), _rows(6, seed=9), Gaussian(0.2)
    w = np.random.default_rng(1).integers(1, 3, n).astype(float) if weighted else None
    given, own = _fit(kernel(X), Precomputed(), weights=w), _fit(X, kernel, weights=w, way="dense")
    np.testing.assert_allclose(given.eigenvalues, own.eigenvalues, rtol=1e-7)
    np.testing.assert_allclose(given.project(kernel(new, X)), own.project(new), atol=1e-5)
    np.testing.assert_allclose(given.shares, own.shares, rtol=1e-7)
    np.testing.assert_allclose(given.centering.row_means, own.centering.row_means, rtol=1e-10)


@pytest.mark.parametrize("k", [0.9, None])
def test_a_share_of_a_precomputed_matrix(k):
    """The rules for k hold there too."""
    X = _rows(60, 2)
    given, own = _fit(Gaussian(0.2)(X), Precomputed(), k), _fit(X, Gaussian(0.2), k)
    assert abs(len(given.eigenvalues) - len(own.eigenvalues)) <= (0 if k else 3)


@pytest.mark.parametrize("kernel", [Gaussian(1e-5), Gaussian(5e-4), Sigmoid(0.01, 0.0)])
@pytest.mark.parametrize("n", [500, 1500])
def test_small_values_of_a_given_matrix_keep_their_digits(kernel, n):
    """Values down to a millionth of the first are good to six digits, smaller ones to 1e-12 of the first."""
    K = kernel(_rows(n, 8))
    A = K - K.mean(axis=0) - (K.mean(axis=0) - K.mean())[:, None]
    true = np.linalg.eigvalsh(A)[::-1][:16]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IndefiniteKernelWarning)
        values = _fit(K, Precomputed(), 16, strict=False).eigenvalues
    large = true >= 1e-6 * true[0]
    np.testing.assert_allclose(values[large], true[large], rtol=1e-6)
    np.testing.assert_allclose(values[~large], np.maximum(true[~large], 0.0), atol=1e-12 * true[0])


@pytest.mark.parametrize("choice", ["uniform", "kmeans", "pivoted"])
def test_landmarks_approximate_the_exact_model(choice):
    """Enough landmarks give the exact values; the model says that it is approximate, and by how much K is off."""
    X = _rows(900, 2)
    exact = _fit(X, Gaussian(0.2))
    near = _fit(X, Gaussian(0.2), landmarks=120, landmark_choice=choice)
    assert near.approximate
    assert not exact.approximate
    assert near.plan.way == "landmarks"
    assert "approximate" in str(near.plan)
    assert "of the approximate kernel" in str(near.certificate)
    assert "approximate" not in str(exact.certificate)
    assert near.error.relative < 1e-3
    np.testing.assert_allclose(near.eigenvalues, exact.eigenvalues, rtol=1e-3)
    assert largest_angle(near.scores, exact.scores) < 0.05
    assert near.total_variance == pytest.approx(exact.total_variance, rel=1e-3)


def test_fewer_landmarks_have_larger_errors():
    """The measured error falls as landmarks are added, and never promises more than there is."""
    X = _rows(1500, 3)
    errors = [_fit(X, Gaussian(0.3), landmarks=m).error.relative for m in (10, 40, 160)]
    assert errors[0] > errors[1] > errors[2]


def test_errors_of_rows_count_what_landmarks_leave_out():
    """The squared error of a row under a landmark model is its distance in the kernel's own feature space."""
    X = _rows(400, 2)
    exact, near = _fit(X, Gaussian(0.5)), _fit(X, Gaussian(0.5), landmarks=15)
    # No subspace of four dimensions does better on the rows of the fit than the exact one.
    assert near.squared_error(X).sum() >= exact.squared_error(X).sum() * (1 - 1e-6)
    assert near.squared_error(X).mean() <= exact.total_variance


@pytest.mark.parametrize("weighted", [False, True])
def test_features_of_a_map(weighted):
    """Random waves near the Gaussian; monomials are the polynomial kernel itself, and not called approximate."""
    X = _rows(500, 2)
    w = np.random.default_rng(1).integers(1, 3, 500).astype(float) if weighted else None
    exact = _fit(X, Gaussian(0.2), weights=w)
    waves = _fit(X, Gaussian(0.2), features=RandomFourier(Gaussian(0.2), 3000), weights=w)
    assert waves.approximate
    assert waves.error.relative < 0.1
    np.testing.assert_allclose(waves.eigenvalues, exact.eigenvalues, rtol=0.1)
    kernel = Polynomial(2, 1.0, 1.0)
    own = _fit(X, kernel, features=Monomials(2), weights=w)
    assert not own.approximate
    np.testing.assert_allclose(own.eigenvalues, _fit(X, kernel, way="dense", weights=w).eigenvalues, rtol=1e-8)


def test_scores_of_new_rows_agree_with_those_of_the_fit():
    """Projecting the rows of the fit gives their scores, exact or approximate."""
    X = _rows(300, 3)
    for options in ({}, {"landmarks": 60}, {"features": RandomFourier(Gaussian(0.2), 200)}):
        model = _fit(X, Gaussian(0.2), **options)
        np.testing.assert_allclose(model.project(X), model.scores, atol=1e-5)
