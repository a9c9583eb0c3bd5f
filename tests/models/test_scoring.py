import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import multivariate_normal

from gramian.models.pca import scoring
from gramian.models.pca.fit import fit_pca
from gramian.models.pca.model import PCAOptions
from gramian.sources.opening import as_source
from gramian.testing import rows_with_spectrum


@pytest.fixture
def X():
    """Rows of planted spectrum with a mean."""
    rows, _ = rows_with_spectrum(n=60, d=6, values=[9, 5, 3, 1, 0.5, 0.1], seed=6)
    return rows + np.arange(6)


def fitted(X, k=3, **options):
    """A model of rows."""
    return fit_pca(as_source(X), PCAOptions(n_components=k, **options))


@pytest.mark.parametrize("scale", [False, True])
def test_likelihood_is_that_of_the_gaussian_with_the_models_covariance(X, scale):
    """Log-densities equal those of an independent implementation with the d x d covariance."""
    model = fitted(X, scale=scale)
    expected = multivariate_normal(model.mean, scoring.covariance(model)).logpdf(X)
    np.testing.assert_allclose(scoring.log_likelihood(model, as_source(X)), expected, rtol=1e-9)


@pytest.mark.parametrize("k", [0, 2, 6])
@pytest.mark.parametrize("scale", [False, True])
def test_precision_inverts_the_covariance(X, k, scale):
    """Precision times covariance is the identity, whatever is left out."""
    model = fitted(X, k, scale=scale)
    np.testing.assert_allclose(scoring.covariance(model) @ scoring.precision(model), np.eye(6), atol=1e-11)


def test_precision_of_a_flat_gaussian_is_the_pseudo_inverse():
    """Where the covariance is singular its pseudo-inverse is given."""
    rng = np.random.default_rng(0)
    model = fitted(rng.normal(size=(40, 2)) @ rng.normal(size=(2, 5)), None)
    np.testing.assert_allclose(
        scoring.precision(model), np.linalg.pinv(scoring.covariance(model), rcond=1e-10), atol=1e-9
    )


def test_all_components_give_the_sample_covariance(X):
    """With nothing left out, the model's covariance is that of the rows, scaled or not."""
    for scale in (False, True):
        np.testing.assert_allclose(
            scoring.covariance(fitted(X, None, scale=scale)), np.cov(X, rowvar=False), atol=1e-11
        )


def test_deviations_hold_where_variances_overflow(X):
    """Deviations come from singular values, so rows of size 1e200 are whitened all the same."""
    with pytest.warns(UserWarning, match="Variances of these rows"):
        large = fitted(X * 1e200)
    np.testing.assert_allclose(scoring.deviations(large), scoring.deviations(fitted(X)) * 1e200, rtol=1e-9)


def test_sparse_rows_are_taken_a_few_at_a_time(X, monkeypatch):
    """Cutting sparse blocks into pieces changes no error."""
    model, rows = fitted(X), as_source(sp.csr_array(X))
    whole = scoring.reconstruction_error(model, rows)
    monkeypatch.setattr(scoring, "PIECE_NUMBERS", 12)
    np.testing.assert_allclose(scoring.reconstruction_error(model, rows), whole, rtol=1e-12)
    np.testing.assert_allclose(scoring.reconstruction_error(model, as_source(X)), whole, rtol=1e-9)


def test_one_row_has_no_deviation():
    """A single row is its own mean: nothing varies, and whitening gives zeros."""
    model = fitted(np.array([[1.0, 2.0]]), 1)
    assert not np.any(scoring.whitening(model))
    assert not np.any(scoring.covariance(model))
