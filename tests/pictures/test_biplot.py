import numpy as np
import pytest

from gramian import PCA
from gramian.pictures import biplot_of, column_map

RNG = np.random.default_rng(0)
X = RNG.standard_normal((80, 6)) @ RNG.standard_normal((6, 6)) * np.arange(1, 7)


@pytest.mark.parametrize("scale, k", [(False, None), (True, None), (True, 2)])
def test_positions_are_correlations(scale, k):
    """Positions equal NumPy's correlations of columns with scores, whether or not columns were scaled."""
    pca = PCA(k, scale=scale).fit(X)
    view = column_map(pca)
    Y = pca.transform(X)
    expected = np.corrcoef(X.T, Y.T)[:6, 6:]
    assert view.correlations
    np.testing.assert_allclose(view.positions, expected, atol=1e-10)
    assert view.lengths.max() <= 1 + 1e-9


def test_unknown_deviations_leave_loadings_and_say_so():
    """Few components of unscaled columns do not tell correlations; given the deviations, they do."""
    pca = PCA(2).fit(X)
    assert not column_map(pca).correlations
    assert column_map(pca).scaling.startswith("loadings")
    view = column_map(pca, deviations=X.std(axis=0, ddof=1))
    np.testing.assert_allclose(view.positions, np.corrcoef(X.T, pca.transform(X).T)[:6, 6:], atol=1e-10)


@pytest.mark.parametrize("scaling", ["rows", "columns"])
def test_biplot_gives_the_table_back(scaling):
    """Points times arrows is the part of the table that two components hold, for both scalings."""
    pca = PCA(2).fit(X)
    view = biplot_of(pca, pca.transform(X), scaling=scaling)
    np.testing.assert_allclose(
        view.points @ view.arrows.T + pca.mean_, pca.inverse_transform(pca.transform(X)), atol=1e-9
    )
