import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.decomposition

from gramian import PCA, TruncatedSVD
from gramian.errors import ParameterError
from gramian.testing import rows_with_spectrum


@pytest.fixture
def X():
    """Rows of planted spectrum with a mean."""
    rows, _ = rows_with_spectrum(n=40, d=6, values=[9, 5, 3, 1, 0.5, 0.1], seed=4)
    return rows + 1.0


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.coo_array])
def test_same_fields_as_scikit_learn(X, kind):
    """Fields and scores equal those of scikit-learn's exact algorithm."""
    ours = TruncatedSVD(3).fit(kind(X))
    theirs = sklearn.decomposition.TruncatedSVD(3, algorithm="arpack").fit(X)
    for name in ("components_", "singular_values_", "explained_variance_", "explained_variance_ratio_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-8, atol=1e-11, err_msg=name)
    np.testing.assert_allclose(ours.transform(kind(X)), theirs.transform(X), atol=1e-10)
    np.testing.assert_allclose(ours.fit_transform(kind(X)), theirs.transform(X), atol=1e-10)


def test_it_is_pca_without_centering(X):
    """Components and singular values are those of PCA(center=False)."""
    svd, pca = TruncatedSVD(3).fit(X), PCA(3, center=False).fit(X)
    np.testing.assert_allclose(svd.components_, pca.components_, atol=1e-12)
    np.testing.assert_allclose(svd.singular_values_, pca.singular_values_, rtol=1e-12)
    np.testing.assert_allclose(svd.inverse_transform(svd.transform(X)), pca.inverse_transform(pca.transform(X)))


@pytest.mark.parametrize("algorithm, most", [("randomized", 6), ("arpack", 5)])
def test_too_many_components_are_refused(X, algorithm, most):
    """The limit depends on the name of the algorithm, and is said."""
    with pytest.raises(ParameterError, match=rf"must be <= {most} .* n_samples=40 and n_features=6"):
        TruncatedSVD(most + 1, algorithm=algorithm).fit(X)
    assert TruncatedSVD(most, algorithm=algorithm).fit(X).components_.shape == (most, 6)


def test_a_failed_fit_keeps_the_model(X):
    """Refused rows leave the components of the former fit."""
    svd = TruncatedSVD().fit(X)
    before = svd.components_
    with pytest.raises(ValueError, match="NaN"):
        svd.fit(np.full((9, 6), np.nan))
    assert svd.components_ is before


@pytest.mark.parametrize("rows", [40, 1])
def test_certificate_is_of_squared_singular_values(X, rows):
    """Values of the certificate are squared singular values, and its bounds hold against an exact SVD."""
    k = min(rows, 3)
    svd = TruncatedSVD(k).fit(X[:rows])
    exact = np.linalg.svd(X[:rows], compute_uv=False)[:k] ** 2
    for line, value, true in zip(svd.certificate_.lines, svd.singular_values_**2, exact, strict=True):
        np.testing.assert_allclose(line.value, value, rtol=1e-12)
        assert abs(line.value - true) <= line.value_bound + 1e-14 * true
        assert line.value_bound < 1e-9 * exact[0]


def test_advice_names_another_algorithm_only_where_it_helps(X):
    """With 'arpack' one more component is to be had from 'randomized'; with 'randomized' it is not."""
    with pytest.raises(ParameterError, match=r"up to 5, or algorithm='randomized'\."):
        TruncatedSVD(6, algorithm="arpack").fit(X)
    with pytest.raises(ParameterError, match=r"Pass an integer up to 6\.$"):
        TruncatedSVD(7).fit(X)
