import numpy as np
import pytest

from gramian import PCA
from gramian.errors import InputError
from gramian.models.pca.fit import require_divisor


@pytest.fixture
def X():
    """Five rows."""
    return np.random.default_rng(0).standard_normal((5, 3))


@pytest.mark.parametrize("ddof", [5, 9])
def test_ddof_must_be_less_than_the_number_of_rows(X, ddof):
    """A fit of n rows with ddof >= n is refused with both numbers and what to do."""
    said = f"There are 5 rows and ddof={ddof}.*Pass more than {ddof} rows, or a ddof below 5"
    with pytest.raises(InputError, match=said):
        PCA(ddof=ddof).fit(X)
    np.testing.assert_allclose(PCA(ddof=4).fit(X).explained_variance_, 4 * PCA().fit(X).explained_variance_)


def test_batches_are_refused_until_there_are_enough_rows(X):
    """Components of too few rows are refused when they are read, and later batches make up for it."""
    pca = PCA(ddof=4).partial_fit(X[:3])
    with pytest.raises(InputError, match="There are 3 rows and ddof=4"):
        _ = pca.components_
    pca.partial_fit(X[3:])
    np.testing.assert_allclose(pca.explained_variance_, PCA(ddof=4).fit(X).explained_variance_)


def test_weighted_batches_need_a_divisor_too(X):
    """Weights of batches that sum to ddof at most are refused in words about weights."""
    pca = PCA().partial_fit(X, sample_weight=np.full(5, 0.1))
    with pytest.raises(InputError, match=r"sample_weight sums to 0\.5 and ddof=1"):
        _ = pca.explained_variance_


@pytest.mark.parametrize("learn", [PCA.fit, PCA.partial_fit])
def test_one_row_has_no_variance(X, learn):
    """One row with ddof=1 is its own mean: variances are zero, and nothing is refused."""
    assert not learn(PCA(), X[:1]).explained_variance_.any()


def test_one_row_is_no_excuse_for_a_larger_ddof():
    """The exception is for ddof=1 alone."""
    with pytest.raises(InputError, match="There is 1 row and ddof=2"):
        require_divisor(1, 2, weight=1.0)
