"""A weight is a repetition, in every estimator that takes weights."""

import numpy as np
import pytest
import scipy.sparse as sp

from gramian import ICA, PCA, FastICA, IncrementalPCA, KernelPCA, TruncatedSVD
from gramian.errors import InputError


def _name(estimator):
    """Name the estimator without the address of a function, which differs between processes."""
    return str(estimator).split("<function")[0]


ESTIMATORS = [
    PCA(2, whiten=True),
    IncrementalPCA(2),
    TruncatedSVD(2),
    KernelPCA(2, kernel="rbf", gamma=0.1, tol=1e-12),
    ICA(tol=1e-9),
    ICA(tol=1e-9, whiten="arbitrary-variance", algorithm="infomax"),
    FastICA(tol=1e-9),
    FastICA(tol=1e-9, algorithm="deflation"),
    FastICA(tol=1e-9, fun=lambda x: (x**3, (3 * x**2).mean(axis=-1))),
]


@pytest.fixture(scope="module")
def weighted():
    """Mixed sources, none of them Gaussian, and integer weights of which some are zero."""
    rng = np.random.default_rng(3)
    X = rng.laplace(size=(900, 3)) @ rng.standard_normal((3, 3)) + 4.0
    return X, rng.integers(0, 4, size=900)


def fields(fitted):
    """Fitted numbers, other than those of the rows themselves."""
    of_rows = {"eigenvectors_", "X_fit_", "n_samples_", "n_samples_seen_", "n_iter_", "gradient_norm_"}
    return {
        name: value
        for name, value in vars(fitted).items()
        if name.endswith("_") and name not in of_rows and isinstance(value, np.ndarray | float)
    }


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=_name)
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_a_weight_is_a_repetition(estimator, kind, weighted):
    """Fitting rows with weights is fitting each row so many times; rows of weight zero are not there."""
    X, w = weighted
    repeated = X.repeat(w, axis=0)
    one = estimator.fit(kind(X), sample_weight=w)
    numbers, scores = fields(one), one.transform(X)
    other = estimator.fit(kind(repeated))
    np.testing.assert_allclose(scores, other.transform(X), rtol=1e-6, atol=1e-7)
    for name, value in fields(other).items():
        np.testing.assert_allclose(numbers[name], value, rtol=1e-6, atol=1e-7, err_msg=name)


@pytest.mark.parametrize("make", [PCA, IncrementalPCA])
def test_weighted_batches_are_one_weighted_table(make, weighted):
    """partial_fit takes weights too."""
    X, w = weighted
    batches = make(2).partial_fit(X[:400], sample_weight=w[:400]).partial_fit(X[400:], sample_weight=w[400:])
    whole = make(2).fit(X, sample_weight=w)
    for name, value in fields(whole).items():
        np.testing.assert_allclose(getattr(batches, name), value, rtol=1e-9, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=_name)
def test_scores_of_a_fit_do_not_depend_on_its_weights(estimator, weighted):
    """fit_transform with weights gives each row its own scores, once."""
    X, w = weighted
    scores = estimator.fit_transform(X, sample_weight=w)
    np.testing.assert_allclose(scores, estimator.transform(X), rtol=1e-6, atol=1e-7)


def test_weights_that_sum_to_one_leave_nothing_to_divide_by(weighted):
    """Repetitions, not shares: the sentence says what a weight is."""
    X, _ = weighted
    for make in (PCA, IncrementalPCA):
        with pytest.raises(InputError, match="A weight is a number of repetitions"):
            make(2).fit(X, sample_weight=np.full(len(X), 1 / len(X)))


def test_independence_of_weighted_rows_is_that_of_their_distribution():
    """A row of weight 0 is not seen, and weights that thin a half give the independence of the thinned rows."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(8_000, 2)) @ np.array([[2.0, 1.0], [1.0, 1.0]])
    X[4_000:] *= rng.standard_normal((4_000, 1))
    w = np.repeat([1.0, 0.0], 4_000)
    one, other = ICA().fit(X, sample_weight=w).independence_, ICA().fit(X[:4_000]).independence_
    assert one.n_rows == other.n_rows == 4_000
    np.testing.assert_allclose(one.negentropy, other.negentropy, atol=1e-3)
    half = ICA().fit(X, sample_weight=rng.integers(1, 3, size=8_000)).independence_
    assert 5_500 < half.n_rows < 6_500
    assert np.isfinite(half.drop)
