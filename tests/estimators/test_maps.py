import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import Nystroem as PeerNystroem
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils.estimator_checks import parametrize_with_checks

from gramian import PCA, FourierFeatures, Nystroem, PolynomialMap, kernels
from gramian.errors import InputError, MemoryBudgetError, NotSupportedError, ParameterError
from tests.catalog import DOORS, host, parameters

ESTIMATORS = [
    PolynomialMap(),
    PolynomialMap(3, gamma=None, coef0=0.5),
    FourierFeatures(gamma=0.1, n_components=20),
    Nystroem(n_components=8),
    Nystroem("laplacian", n_components=8, landmarks="kmeans"),
    Nystroem(kernels.Matern(2.5, 0.1), n_components=8, landmarks="pivoted"),
]


@pytest.fixture
def X():
    """Rows with a mean."""
    return 1.0 + np.random.default_rng(5).standard_normal((50, 4))


@parametrize_with_checks(
    [
        PolynomialMap(),
        PolynomialMap(weights=False),
        FourierFeatures(),
        FourierFeatures(kernels.Matern(1.5), orthogonal=True),
        *(Nystroem(landmarks=name) for name in ("uniform", "kmeans", "pivoted")),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    """Every map keeps scikit-learn's conventions."""
    check(estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_features_have_the_kernel_as_inner_product(X, estimator):
    """The measured error of K is the true one, and phi phi' is within it."""
    fitted = clone(estimator).fit(X)
    features = fitted.transform(X)
    kernel = fitted._map.kernel
    K = kernel(X)
    truth = np.linalg.norm(features @ features.T - K) / np.linalg.norm(K)
    np.testing.assert_allclose(fitted.error_estimate_.relative, truth, rtol=1e-6, atol=1e-14)
    np.testing.assert_array_equal(fitted.fit_transform(X), features)


@pytest.mark.parametrize("door", parameters(DOORS))
@pytest.mark.parametrize("estimator", [PolynomialMap(), FourierFeatures(gamma=0.1), Nystroem(gamma=0.1)], ids=str)
def test_every_door_gives_the_same_inner_products(X, estimator, door):
    """Arrays, tables, tensors and sparse rows have the same inner products of features."""
    truth, rows = clone(estimator).fit_transform(X), door(X)
    features = host(clone(estimator).fit_transform(rows))
    np.testing.assert_allclose(features @ features.T, truth @ truth.T, atol=1e-8 * np.abs(truth @ truth.T).max())


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_float32_stays_float32(X, estimator):
    """Features have the precision of the rows."""
    assert clone(estimator).fit_transform(X.astype("float32")).dtype == np.float32


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_set_output_gives_tables_with_names(X, estimator, library):
    """Features come as a table with names: monomials by their columns, others by the class."""
    module = pytest.importorskip(library)
    names = ["a", "b", "c", "d"]
    table = module.DataFrame(X, columns=names) if library == "pandas" else module.DataFrame(X, schema=names)
    fitted = clone(estimator).set_output(transform=library).fit(table)
    features = fitted.transform(table)
    assert list(features.columns) == list(fitted.get_feature_names_out())
    assert list(fitted.feature_names_in_) == names
    if not isinstance(estimator, PolynomialMap):
        assert features.columns[0] == f"{type(estimator).__name__.lower()}0"


def test_monomials_are_named_as_scikit_learn_names_them(X):
    """Names of features, given columns or not, are those of PolynomialFeatures."""
    ours, theirs = PolynomialMap(3, weights=False).fit(X), PolynomialFeatures(3).fit(X)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), rtol=1e-12)
    for columns in (None, ["a", "b", "c", "d"]):
        np.testing.assert_array_equal(ours.get_feature_names_out(columns), theirs.get_feature_names_out(columns))
    assert ours.n_output_features_ == theirs.n_output_features_
    assert ours.error_estimate_ is None
    with pytest.raises(InputError, match="input_features should have length equal to number of features"):
        ours.get_feature_names_out(["a"])


@pytest.mark.parametrize(
    "name, options", [("rbf", {"gamma": 0.2}), ("poly", {"degree": 2, "coef0": 0.5, "gamma": 0.3})]
)
def test_nystroem_approximates_as_scikit_learn_does(X, name, options):
    """With every row a landmark both have the kernel matrix as inner products; attributes have the same meaning."""
    ours = Nystroem(name, n_components=50, **options).fit(X)
    theirs = PeerNystroem(name, n_components=50, random_state=0, **options).fit(X)
    features, peer = ours.transform(X), theirs.transform(X)
    np.testing.assert_allclose(features @ features.T, peer @ peer.T, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(ours.components_, X[ours.component_indices_])
    np.testing.assert_allclose(ours.kernel_(X, ours.components_) @ ours.normalization_.T, features, atol=1e-6)


def test_functions_can_be_kernels(X):
    """A function of two points, with parameters by name, makes a Nystroem map."""

    def histogram(x, y, scale):
        return scale * np.minimum(x, y).sum()

    rows = np.abs(X)
    features = Nystroem(histogram, kernel_params={"scale": 2.0}, n_components=50).fit_transform(rows)
    K = 2.0 * np.minimum(rows[:, None], rows).sum(axis=2)
    np.testing.assert_allclose(features @ features.T, K, atol=1e-6)


def test_a_pipeline_with_pca_is_kernel_pca():
    """PCA of polynomial features has the spectrum of the centered polynomial kernel."""
    X = np.random.default_rng(0).standard_normal((80, 3))
    pipeline = make_pipeline(PolynomialMap(2), PCA(4)).fit(X)
    K = (1 + X @ X.T) ** 2
    H = np.eye(80) - 1 / 80
    values = np.linalg.eigvalsh(H @ K @ H)[::-1][:4]
    np.testing.assert_allclose(pipeline[-1].explained_variance_ * 79, values, rtol=1e-9)


def test_features_serve_a_linear_model():
    """A ridge on random features learns what a line cannot."""
    X = np.linspace(-3, 3, 200)[:, None]
    y = np.sin(3 * X).ravel()
    for estimator in (FourierFeatures(gamma=1.0), Nystroem(gamma=1.0, n_components=30)):
        assert make_pipeline(estimator, Ridge(1e-3)).fit(X, y).score(X, y) > 0.99


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_pickle_clone_and_refusals(X, estimator):
    """A pickled map gives the same features; a clone is unfitted; a failed fit leaves the former map."""
    fitted = clone(estimator).fit(X)
    features = fitted.transform(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).transform(X), features)
    with pytest.raises(NotFittedError):
        clone(fitted).transform(X)
    with pytest.raises(ValueError, match="NaN"):
        fitted.fit(np.full((9, 4), np.nan))
    np.testing.assert_array_equal(fitted.transform(X), features)
    bad = X.copy()
    bad[3, 2] = np.inf
    with pytest.raises(InputError, match="row 3"):
        fitted.transform(bad)


def test_seeds():
    """The same random_state gives the same features, and None is a fixed seed."""
    X = np.random.default_rng(0).standard_normal((40, 3))
    first, again, other = (FourierFeatures(random_state=s).fit_transform(X) for s in (None, None, 7))
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 0.1


def test_sparse_rows_have_dense_features():
    """Sparse rows are taken, and features are dense."""
    X = sp.random_array((40, 30), density=0.1, random_state=0, format="csr")
    for estimator in (PolynomialMap(), FourierFeatures(), Nystroem(n_components=10)):
        assert isinstance(estimator.fit_transform(X), np.ndarray)


@pytest.mark.parametrize(
    "estimator, error, words",
    [
        (PolynomialMap(0), ParameterError, "degree=0 is not a value that PolynomialMap takes"),
        (PolynomialMap(coef0=-1.0), ParameterError, "coef0=-1.0 is not a value"),
        (PolynomialMap(200), MemoryBudgetError, r"C\(204, 200\) = 70,058,751 features"),
        (FourierFeatures(n_components=0), ParameterError, "n_components=0 is not a value that FourierFeatures takes"),
        (FourierFeatures("poly"), NotSupportedError, "has no spectral density here"),
        (FourierFeatures(kernels.Gaussian(0.1), gamma=2.0), ParameterError, "Set it in the kernel itself"),
        (Nystroem("precomputed"), NotSupportedError, "precomputed kernel is a matrix"),
        (Nystroem(landmarks="best"), ParameterError, "landmarks='best' is not a value that Nystroem takes"),
        (Nystroem("unknown"), ParameterError, "kernel='unknown' is not known"),
        (Nystroem("sigmoid", gamma=2.0, coef0=-1.0), InputError, "is not positive semidefinite on these rows"),
    ],
)
def test_what_cannot_be_done_is_refused(X, estimator, error, words):
    """Each refusal is a sentence in the words of the parameters."""
    with pytest.raises(error, match=words):
        estimator.fit(X)


def test_overflow_is_a_sentence(X):
    """Powers beyond the type are refused, with and without a kernel to compare with."""
    with pytest.raises(InputError, match="overflow"):
        PolynomialMap(4).fit(1e90 * X)
    with pytest.raises(InputError, match="features of these rows overflow float64"):
        PolynomialMap(4, weights=False).fit_transform(1e90 * X)


def test_results_that_do_not_fit_are_refused_with_both_numbers(X, monkeypatch):
    """Before any feature is made, the sentence says how much they need and how much is free."""
    monkeypatch.setattr("gramian.estimators.maps.available_memory", lambda: 1000)
    with pytest.raises(MemoryBudgetError, match=r"50 rows of 15 features are 6 kB, and 1 kB are free"):
        PolynomialMap().fit(X).transform(X)
