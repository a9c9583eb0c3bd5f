import pickle

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from gramian import PCA, IncrementalPCA, TruncatedSVD
from gramian.errors import InputError
from gramian.testing import rows_with_spectrum

ESTIMATORS = [PCA(2, whiten=True), IncrementalPCA(2), TruncatedSVD(2)]
NAMES = ["a", "b", "c", "d"]


@pytest.fixture
def X():
    """Rows of planted spectrum with a mean."""
    rows, _ = rows_with_spectrum(n=50, d=4, values=[9, 4, 1, 0.25], seed=5)
    return rows + 2.0


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_pickle_keeps_the_model(X, estimator):
    """A pickled model gives the same scores, certificate and plan."""
    fitted = clone(estimator).fit(X)
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.transform(X), fitted.transform(X))
    assert str(copy.certificate_) == str(fitted.certificate_)
    assert str(copy.plan_) == str(fitted.plan_)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_clone_forgets_the_fit_and_keeps_the_parameters(X, estimator):
    """A clone is unfitted, equal in parameters, and says so when it is used."""
    copy = clone(clone(estimator).fit(X))
    assert copy.get_params() == estimator.get_params()
    with pytest.raises(NotFittedError):
        copy.transform(X)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_representations(X, estimator):
    """The text shows the parameters that were set; the HTML is there, fitted or not."""
    assert repr(estimator).startswith(type(estimator).__name__)
    assert repr(PCA(2, whiten=True)) == "PCA(n_components=2, whiten=True)"
    assert type(estimator).__name__ in clone(estimator)._repr_html_()  # its parameters are scikit-learn 1.7's
    assert "Fitted" in clone(estimator).fit(X)._repr_html_()


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_set_output_gives_tables_with_names(X, estimator, library):
    """Scores come as a table whose columns bear the class's name; rows keep their index."""
    module = pytest.importorskip(library)
    table = module.DataFrame(X, columns=NAMES) if library == "pandas" else module.DataFrame(X, schema=NAMES)
    fitted = clone(estimator).set_output(transform=library).fit(table)
    scores = fitted.transform(table)
    prefix = type(estimator).__name__.lower()
    assert isinstance(scores, module.DataFrame)
    assert list(scores.columns) == [f"{prefix}0", f"{prefix}1"]
    assert list(fitted.get_feature_names_out()) == list(scores.columns)
    assert list(fitted.feature_names_in_) == NAMES
    if library == "pandas":
        assert (scores.index == table.index).all()


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_names_must_match_those_of_the_fit(X, estimator):
    """Tables with other names are refused, arrays are warned about, in scikit-learn's words."""
    pandas = pytest.importorskip("pandas")
    fitted = clone(estimator).fit(pandas.DataFrame(X, columns=NAMES))
    with pytest.raises(ValueError, match="Feature names must be in the same order"):
        fitted.transform(pandas.DataFrame(X, columns=NAMES)[NAMES[::-1]])
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        fitted.transform(X)
    assert not hasattr(fitted.fit(X), "feature_names_in_")


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_rows_of_another_width_are_refused(X, estimator):
    """The sentence has both numbers."""
    with pytest.raises(InputError, match=rf"X has 3 features, but {type(estimator).__name__} is expecting 4"):
        clone(estimator).fit(X).transform(X[:, :3])


def test_pipelines_and_grid_search_choose_k(X):
    """A grid search over a pipeline sets n_components, and one over PCA alone uses its likelihood."""
    y = (X[:, 0] > 2).astype(int)
    pipeline = make_pipeline(PCA(), LogisticRegression())
    search = GridSearchCV(pipeline, {"pca__n_components": [1, 2, 0.99]}, cv=3).fit(X, y)
    assert search.best_params_["pca__n_components"] in {1, 2, 0.99}
    assert search.predict(X).shape == (50,)
    by_likelihood = GridSearchCV(PCA(), {"n_components": [1, 2, 3]}, cv=3).fit(X)
    assert np.isfinite(by_likelihood.best_score_)


def test_weights_are_routed_to_where_they_are_asked_for(X):
    """With metadata routing a pipeline hands sample_weight to PCA.fit_transform."""
    y, w = (X[:, 0] > 2).astype(int), np.arange(50) % 3
    with config_context(enable_metadata_routing=True):
        pca = PCA(2).set_fit_request(sample_weight=True)
        model = LogisticRegression().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(pca, model).fit(X, y, sample_weight=w)
    np.testing.assert_allclose(pipeline[0].mean_, np.average(X, axis=0, weights=w))


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_failed_fit_keeps_the_model(X, estimator):
    """Bad rows and bad parameters leave the former model as it was, names and all."""
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X, columns=NAMES)
    fitted = clone(estimator).fit(table)
    before = fitted.transform(table)
    with pytest.raises(ValueError, match="NaN"):
        fitted.fit(np.full((9, 7), np.nan))
    with pytest.raises(ValueError, match="n_components"):
        fitted.set_params(n_components=99).fit(X)
    np.testing.assert_array_equal(fitted.transform(table), before)
    assert list(fitted.feature_names_in_) == NAMES
