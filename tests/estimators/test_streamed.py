import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from gramian import PCA, IncrementalPCA
from gramian.errors import InputError, NotSupportedError, ParameterError, PrecisionWarning
from gramian.testing import rows_with_spectrum


@pytest.fixture
def X():
    """Rows of planted spectrum, far from the origin."""
    rows, _ = rows_with_spectrum(n=120, d=6, values=[9, 5, 3, 1, 0.5, 0.1], seed=2)
    return rows + 100.0


def assert_same_model(left, right):
    """Compare every array that a fit leaves."""
    for name in ("components_", "explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_"):
        np.testing.assert_allclose(getattr(left, name), getattr(right, name), rtol=1e-9, atol=1e-10, err_msg=name)
    assert left.noise_variance_ == pytest.approx(right.noise_variance_, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("sizes", [(60, 60), (1, 119), (1,) * 120, (119, 1), (7, 100, 13)])
def test_batches_of_any_size_equal_one_fit(X, sizes):
    """Two halves, single rows and uneven batches all give the model of one fit."""
    pca = PCA(3)
    for batch in np.split(X, np.cumsum(sizes)[:-1]):
        pca.partial_fit(batch)
    assert_same_model(pca, PCA(3).fit(X))
    assert pca.n_samples_ == 120


def test_sparse_batches_and_dense_ones_mix(X):
    """Sparse batches are taken as they are."""
    X = np.where(X > 100, X, 0.0)
    pca = PCA(3).partial_fit(sp.csr_array(X[:50])).partial_fit(X[50:70]).partial_fit(sp.csc_array(X[70:]))
    assert_same_model(pca, PCA(3).fit(X))


def test_weighted_batches_equal_one_weighted_fit(X):
    """Weights are taken batch by batch."""
    w = np.random.default_rng(0).integers(0, 3, size=len(X))
    pca = PCA(3).partial_fit(X[:40], sample_weight=w[:40]).partial_fit(X[40:], sample_weight=w[40:])
    assert_same_model(pca, PCA(3).fit(X, sample_weight=w))


@pytest.mark.parametrize("options", [{"scale": True}, {"center": False}, {"ddof": 0}, {"n_components": 0.9}])
def test_options_hold_for_batches(X, options):
    """Scaling, no centering, the divisor and a share mean the same for batches as for one fit."""
    options = {"n_components": 3} | options
    pca = PCA(**options).partial_fit(X[:30]).partial_fit(X[30:])
    assert_same_model(pca, PCA(**options).fit(X))


def test_a_first_batch_may_be_smaller_than_k(X):
    """There are as many components as rows until there are enough."""
    pca = PCA(4).partial_fit(X[:2])
    assert pca.n_components_ == 2
    assert pca.partial_fit(X[2:]).n_components_ == 4


def test_state_does_not_grow_over_a_thousand_batches(X):
    """What is kept is one set of moments, whatever the number of batches."""
    pca = PCA(2).partial_fit(X[:3])
    size = len(pickle.dumps(pca))
    for _ in range(1000):
        pca.partial_fit(X[:3])
    assert abs(len(pickle.dumps(pca)) - size) <= 64
    assert pca.n_samples_ == 3003
    assert pca.components_.shape == (2, 6)


def test_batches_after_a_complete_fit_are_added_to_it(X):
    """A fit that kept everything can be continued exactly."""
    assert_same_model(PCA().fit(X[:70]).partial_fit(X[70:]), PCA().fit(X))
    assert_same_model(PCA(scale=True).fit(X[:70]).partial_fit(X[70:]), PCA(scale=True).fit(X))


def test_batches_after_an_incomplete_fit_say_what_may_be_lost(X):
    """A fit that left variance out can be continued within stated bounds."""
    pca = PCA(2).fit(X[:70]).partial_fit(X[70:])
    with pytest.warns(PrecisionWarning, match="batches follow a fit that left components out"):
        found = pca.explained_variance_
    truth = PCA(2).fit(X).explained_variance_
    bounds = np.array([line.value_bound for line in pca.certificate_.lines])
    assert np.all(np.abs(found - truth) <= bounds)
    assert pca.n_components_ == 2
    assert pca.n_samples_ == 120


def test_batches_after_a_fit_need_its_mean(X):
    """A fit about the origin cannot be continued about the mean; about the origin it can, exactly."""
    pca = PCA(center=False).fit(X[:70])
    with pytest.raises(NotSupportedError, match="fitted with center=False"):
        pca.set_params(center=True).partial_fit(X[70:])
    assert_same_model(pca.set_params(center=False).partial_fit(X[70:]), PCA(center=False).fit(X))


def test_fit_forgets_the_batches(X):
    """A fit after batches starts anew."""
    assert_same_model(PCA(2).partial_fit(X[:50] * 3).fit(X), PCA(2).fit(X))


@pytest.mark.parametrize("make", [PCA, IncrementalPCA])
def test_a_refused_batch_leaves_the_state(X, make):
    """NaN, another width and a bad parameter leave the batches before them in place."""
    model, reference = make(2).partial_fit(X[:50]), make(2).partial_fit(X[:50]).partial_fit(X[50:])
    with pytest.raises(InputError, match="NaN"):
        model.partial_fit(np.full((4, 6), np.nan))
    with pytest.raises(InputError, match=r"X has 5 features, but .* is expecting 6"):
        model.partial_fit(X[:, :5])
    with pytest.raises(ParameterError):
        model.set_params(n_components=-1).partial_fit(X[50:])
    assert_same_model(model.set_params(n_components=2).partial_fit(X[50:]), reference)


def test_batches_can_be_pickled_between(X):
    """The state goes through pickle, solved or not."""
    half = pickle.loads(pickle.dumps(PCA(2).partial_fit(X[:50])))
    assert half.transform(X).shape == (120, 2)
    assert_same_model(pickle.loads(pickle.dumps(half)).partial_fit(X[50:]), PCA(2).fit(X))


def test_a_field_that_is_not_there_is_not_made_up(X):
    """Reading an unknown or unfitted attribute is an AttributeError, before and after batches."""
    for pca in (PCA(), PCA().partial_fit(X)):
        with pytest.raises(AttributeError, match="'PCA' object has no attribute 'nonsense_'"):
            _ = pca.nonsense_
    assert not hasattr(PCA(), "components_")


def test_names_are_kept_from_the_first_batch(X):
    """Batches of tables must have the columns of the first."""
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X, columns=list("abcdef"))
    pca = PCA(2).partial_fit(table[:50])
    assert list(pca.feature_names_in_) == list("abcdef")
    with pytest.raises(ValueError, match="Feature names must be in the same order"):
        pca.partial_fit(table[list("fedcba")])
    assert list(pca.partial_fit(table[50:]).feature_names_in_) == list("abcdef")
    assert_same_model(pca, PCA(2).fit(X))


@pytest.mark.parametrize("cls", [PCA, IncrementalPCA])
@pytest.mark.parametrize("name", ["certificate_", "plan_", "loadings_"])
def test_a_property_of_an_unfitted_estimator_says_that_it_is_not_fitted(cls, name):
    """Not that there is no such attribute; ``hasattr`` is False all the same."""
    with pytest.raises(NotFittedError, match=f"This {cls.__name__} instance is not fitted yet"):
        getattr(cls(), name)
    assert not hasattr(cls(), name)
    with pytest.raises(AttributeError, match="has no attribute 'certificat_'"):
        _ = cls().certificat_
