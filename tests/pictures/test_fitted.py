import numpy as np
import pytest

from gramian import ICA, PCA, KernelPCA
from gramian.errors import NotSupportedError
from gramian.pictures import column_map, model_of, names_of

X = np.random.default_rng(0).laplace(size=(200, 3)) @ np.random.default_rng(1).standard_normal((3, 3))
FITTED = {
    "pca": lambda: PCA(2).fit(X),
    "kernel": lambda: KernelPCA(2, kernel="rbf", gamma=0.1).fit(X),
    "ica": lambda: ICA(2, random_state=0).fit(X),
}


@pytest.fixture(params=FITTED, scope="module")
def model(request):
    """A frozen model of each kind."""
    return model_of(FITTED[request.param]())


def test_every_model_tells_what_pictures_ask_of_it(model):
    """Shares are parts of a whole, variances have their order, and names begin with the prefix of the kind."""
    assert model.kind in FITTED
    assert model.n_components == len(model.shares) == len(model.variances) == 2
    assert 0 < np.sum(model.shares) <= 1 + 1e-12
    assert np.all(np.diff(model.variances) <= 0)
    assert names_of(model) == [f"{model.prefix}1", f"{model.prefix}2"]
    assert (model.is_centered, model.is_scaled) == (True, False)


def test_loadings_are_covariances_with_unit_components(model):
    """Loadings are those of NumPy's covariance, directions their unit vectors; a kernel has neither."""
    if model.loadings is None:
        assert model.directions is None
        return
    scores = np.asarray(model.project(X))
    expected = (X - X.mean(axis=0)).T @ (scores - scores.mean(axis=0)) / len(X) / scores.std(axis=0)
    np.testing.assert_allclose(model.loadings, expected, rtol=1e-2, atol=1e-2)
    np.testing.assert_allclose(np.linalg.norm(model.directions, axis=1), 1.0)
    cosines = np.abs(np.sum(model.directions.T * model.loadings, axis=0)) / np.linalg.norm(model.loadings, axis=0)
    np.testing.assert_allclose(cosines, 1.0)


def test_picture_of_another_kind_names_both():
    """A refusal says which models a picture is of, and which was given."""
    with pytest.raises(NotSupportedError, match="one of PCA or ICA, and the model is KernelPCA"):
        column_map(FITTED["kernel"]())


def test_what_is_no_model_is_refused():
    """Neither an array nor a model of another library is taken for a fitted one."""
    with pytest.raises(NotSupportedError, match="A ndarray is no fitted model"):
        model_of(X)
