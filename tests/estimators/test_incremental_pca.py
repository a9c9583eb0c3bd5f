import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.decomposition

from gramian import PCA, IncrementalPCA
from gramian.errors import NotSupportedError, ParameterError, PrecisionWarning
from gramian.testing import rows_with_spectrum


@pytest.fixture
def X():
    """Rows of planted spectrum with a mean."""
    rows, _ = rows_with_spectrum(n=90, d=5, values=[9, 5, 3, 1, 0.5], seed=3)
    return rows + 10.0


def test_same_fields_as_scikit_learn_in_one_batch(X):
    """With one batch scikit-learn truncates nothing, and every field agrees."""
    ours = IncrementalPCA(5).fit(X)
    theirs = sklearn.decomposition.IncrementalPCA(5, batch_size=90).fit(X)
    fields = ("components_", "explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_", "var_")
    for name in (*fields, "n_samples_seen_", "n_components_", "noise_variance_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-9, atol=1e-11, err_msg=name)


@pytest.mark.parametrize("batch_size", [None, 7, 90])
def test_the_answer_does_not_depend_on_the_batches(X, batch_size):
    """Any batch size gives the model of PCA, and is recorded."""
    ours, reference = IncrementalPCA(2, batch_size=batch_size).fit(X), PCA(2).fit(X)
    np.testing.assert_allclose(ours.components_, reference.components_, atol=1e-11)
    np.testing.assert_allclose(ours.explained_variance_ratio_, reference.explained_variance_ratio_, rtol=1e-10)
    assert ours.batch_size_ == (batch_size or 25)


def test_sparse_rows_are_for_fit_alone(X):
    """fit takes sparse rows; partial_fit refuses them as scikit-learn does and names the way out."""
    rows = sp.csr_array(X)
    np.testing.assert_allclose(IncrementalPCA(2).fit_transform(rows), IncrementalPCA(2).fit_transform(X), atol=1e-10)
    with pytest.raises(NotSupportedError, match=r"PCA\.partial_fit takes sparse batches"):
        IncrementalPCA(2).partial_fit(rows)


def test_scikit_learn_refusals_are_kept(X):
    """A small first batch, a changed k and too large a k are refused with the way out."""
    with pytest.raises(ParameterError, match="n_components=4 must be less or equal to the batch number of samples 3"):
        IncrementalPCA(4).partial_fit(X[:3])
    with pytest.raises(ParameterError, match="n_components=6 invalid for n_features=5"):
        IncrementalPCA(6).fit(X)
    with pytest.raises(ParameterError, match="changed from 2 to 3 between calls"):
        IncrementalPCA(2).fit(X).set_params(n_components=3).partial_fit(X)


def test_none_is_fixed_by_the_first_batch(X):
    """Without n_components the first batch decides."""
    ipca = IncrementalPCA().partial_fit(X[:3])
    assert ipca.n_components_ == 3
    assert ipca.partial_fit(X[3:]).components_.shape == (3, 5)


def test_fit_goes_on_with_batches(X):
    """Batches after fit are added to its rows."""
    ipca = IncrementalPCA(2).fit(X[:40]).partial_fit(X[40:])
    np.testing.assert_allclose(ipca.components_, PCA(2).fit(X).components_, atol=1e-11)
    assert ipca.n_samples_seen_ == 90


def test_a_failed_fit_keeps_the_model(X):
    """Refused rows leave the components of the former fit."""
    ipca = IncrementalPCA(2).fit(X)
    before = ipca.components_
    with pytest.raises(ValueError, match="NaN"):
        ipca.fit(np.full((9, 5), np.nan))
    assert ipca.components_ is before
    assert ipca.n_samples_seen_ == 90


def test_wide_rows_need_no_square_matrix(monkeypatch):
    """Where d x d does not fit, fit is exact all the same, and batches say what may be lost."""
    rows, _ = rows_with_spectrum(n=60, d=50, values=np.geomspace(9, 0.01, 50), seed=10)
    monkeypatch.setattr("gramian.estimators.projection.memory_budget", lambda: 30_000)
    ipca, reference = IncrementalPCA(2).fit(rows), PCA(2).fit(rows)
    np.testing.assert_allclose(ipca.components_, reference.components_, atol=1e-10)
    np.testing.assert_allclose(ipca.var_, rows.var(axis=0), rtol=1e-10)
    batches = IncrementalPCA(2).partial_fit(rows[:30]).partial_fit(rows[30:])
    with pytest.warns(PrecisionWarning, match="are kept between batches"):
        np.testing.assert_allclose(batches.explained_variance_, reference.explained_variance_, rtol=0.05)
    with pytest.warns(PrecisionWarning, match="are kept between batches"):
        assert ipca.partial_fit(rows).components_.shape == (2, 50)


def test_batch_size_is_kept_by_fit_alone(X):
    """``batch_size_`` is a field of ``fit``; batches that a person makes have no size to report."""
    assert IncrementalPCA(2).fit(X).batch_size_ == 5 * X.shape[1]
    assert not hasattr(IncrementalPCA(2).partial_fit(X), "batch_size_")
