"""A fit that fails leaves the former model whole."""

import copy

import numpy as np
import pytest

from gramian import PCA, IncrementalPCA
from gramian.testing import rows_with_spectrum


def _fitted_state(estimator):
    return {name: copy.deepcopy(value) for name, value in vars(estimator).items() if name.endswith("_")}


def assert_unchanged(estimator, before, X, scores):
    """Every fitted attribute is what it was, and the model still works."""
    after = _fitted_state(estimator)
    assert after.keys() == before.keys()
    for name, value in before.items():
        if isinstance(value, np.ndarray | np.generic | int | float):
            np.testing.assert_array_equal(after[name], value, err_msg=name)
    np.testing.assert_array_equal(estimator.transform(X), scores)


def _with(X, row, column, value):
    bad = X.copy()
    bad[row, column] = value
    return bad


X, _ = rows_with_spectrum(40, 6, [4.0, 2.0, 1.0], mean=1.0, seed=0)

BAD_ROWS = {
    "nan": _with(X, 17, 3, np.nan),
    "inf": _with(X, 39, 0, -np.inf),
    "text": np.array([["a", "b"], ["c", "d"]]),
    "complex": X + 1j,
    "one dimension": X[0],
    "no rows": X[:0],
}


@pytest.mark.parametrize("bad", BAD_ROWS)
@pytest.mark.parametrize("options", [{}, {"n_components": 2}, {"n_components": 2, "whiten": True}], ids=str)
def test_failed_fit_leaves_the_former_model(bad, options):
    """Rows that are refused change nothing."""
    pca = PCA(**options).fit(X)
    scores = pca.transform(X)
    before = _fitted_state(pca)
    with pytest.raises((ValueError, TypeError)):
        pca.fit(BAD_ROWS[bad])
    assert_unchanged(pca, before, X, scores)


@pytest.mark.parametrize("setting", [{"n_components": 7}, {"n_components": -1}, {"svd_solver": "no such"}], ids=str)
def test_failed_parameters_leave_the_former_model(setting):
    """A parameter that is refused changes nothing that was fitted."""
    pca = PCA(n_components=2).fit(X)
    scores = pca.transform(X)
    before = _fitted_state(pca)
    pca.set_params(**setting)
    with pytest.raises(ValueError):  # noqa: PT011 - each parameter has its own sentence, tested where it is said
        pca.fit(X)
    assert_unchanged(pca, before, X, scores)


@pytest.mark.parametrize("bad", BAD_ROWS)
@pytest.mark.parametrize("make", [PCA, IncrementalPCA])
def test_failed_partial_fit_leaves_the_former_model(make, bad):
    """A batch that is refused leaves model and state: the next good batch goes on from before."""
    estimator = make(n_components=2).partial_fit(X[:20])
    scores = estimator.transform(X)
    before = _fitted_state(estimator)
    with pytest.raises((ValueError, TypeError)):
        estimator.partial_fit(BAD_ROWS[bad])
    assert_unchanged(estimator, before, X, scores)
    estimator.partial_fit(X[20:])
    whole = PCA(n_components=2).fit(X)
    np.testing.assert_allclose(estimator.singular_values_, whole.singular_values_, rtol=1e-12)


@pytest.mark.parametrize("make", [PCA, IncrementalPCA])
def test_a_batch_with_other_columns_is_refused(make):
    """A batch with another number of columns is refused and changes nothing."""
    estimator = make(n_components=2).partial_fit(X[:20])
    scores = estimator.transform(X)
    before = _fitted_state(estimator)
    with pytest.raises(ValueError, match="6"):
        estimator.partial_fit(X[:, :5])
    assert_unchanged(estimator, before, X, scores)


def test_a_nan_is_refused_with_its_place():
    """The error names the row and the column of the first bad value."""
    with pytest.raises(ValueError, match="17") as refused:
        PCA().fit(BAD_ROWS["nan"])
    assert "3" in str(refused.value)
    assert "NaN" in str(refused.value)
