"""Scores of rows near the origin and far from it: as many digits as centering first gives, but for three bits."""

import numpy as np
import pytest

from gramian import PCA
from gramian.models.pca.model import NEAR

OFFSETS = [0.0, 1.0, 0.9 * NEAR, 1.1 * NEAR, 100.0, 1e4, 1e6]


def _fitted(offset, dtype, **options):
    """Return a model of 300 x 20 rows, their mean ``offset`` deviations from the origin, and the rows."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((300, 20)) * np.geomspace(3.0, 0.01, 20)
    deviation = np.sqrt(X.var(axis=0, ddof=1).sum())
    direction = rng.standard_normal(20)
    X = (X + offset * deviation * direction / np.linalg.norm(direction)).astype(dtype)
    return PCA(8, **options).fit(X), X


def _exact(pca, X):
    """Return the scores in higher precision, of the components and the mean as they are held."""
    X, mean, V = (np.asarray(part, dtype=np.longdouble) for part in (X, pca.mean_, pca.components_))
    scale = 1 if pca.scale_ is None else np.asarray(1 / pca._model.factor, dtype=np.longdouble)
    return (X - mean) / scale @ V.T


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("offset", OFFSETS)
def test_scores_keep_their_digits_wherever_the_mean_is(offset, dtype, scale):
    """Scores are wrong by a few roundings of a row's deviation, never of its distance from the origin."""
    pca, X = _fitted(offset, dtype, scale=scale)
    exact = _exact(pca, X)
    deviation = np.sqrt((exact**2).sum(axis=1).mean())
    wrong = np.abs(pca.transform(X) - exact).max()
    assert wrong <= 8 * NEAR * np.finfo(dtype).eps * deviation


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("offset", OFFSETS)
def test_rows_come_back_wherever_the_mean_is(offset, dtype):
    """What scores stand for is wrong by a few roundings of the row itself."""
    pca, X = _fitted(offset, dtype)
    Y = pca.transform(X)
    V, mean = (np.asarray(part, dtype=np.longdouble) for part in (pca.components_, pca.mean_))
    exact = Y.astype(np.longdouble) @ V + mean
    assert np.abs(pca.inverse_transform(Y) - exact).max() <= 8 * np.finfo(dtype).eps * np.abs(X).max()


@pytest.mark.parametrize("offset, corrected", [(offset, offset < NEAR) for offset in OFFSETS])
def test_the_rule_is_the_distance_of_the_mean(offset, corrected):
    """Up to eight deviations the product is corrected for the mean afterwards; a mean that is given counts too."""
    pca, _ = _fitted(offset, "float64")
    assert pca._fitted_model()._standardization().corrected == corrected
    pca.mean_ = pca.mean_ + 1e6
    assert not pca._fitted_model()._standardization().corrected


def test_rows_of_another_type_score_in_the_type_of_the_fit():
    """float64 rows of a float32 model give float32 scores, near the origin and far from it."""
    for offset in (0.0, 100.0):
        pca, X = _fitted(offset, "float32")
        scores = pca.transform(X.astype("float64"))
        assert scores.dtype == np.float32
        np.testing.assert_allclose(scores, pca.transform(X), rtol=0, atol=1e-5)


def test_variances_out_of_range_are_centered_first():
    """Where the total variance overflows nothing is known of the distance, and scores are right all the same."""
    X = 1e200 * np.random.default_rng(0).standard_normal((50, 4))
    with pytest.warns(UserWarning, match="cannot be held"):
        pca = PCA(2).fit(X)
    np.testing.assert_allclose(pca.transform(X), (X - X.mean(axis=0)) @ pca.components_.T, rtol=1e-10, atol=1e188)
