from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from gramian import PCA
from gramian.errors import ParameterError
from gramian.models.pca.fit import fit_pca
from gramian.models.pca.model import PCAOptions
from gramian.models.pca.scoring import find_outliers
from gramian.pictures import outlier_map
from gramian.sources.opening import as_source


def rows(n=400, d=10, seed=0):
    """Gaussian rows with three strong directions."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 3)) @ rng.standard_normal((3, d)) * 4 + rng.standard_normal((n, d))


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_distances_are_those_of_the_textbook(scale, dtype):
    """T2 and SPE equal sums over scores and residuals made with NumPy alone."""
    X = rows().astype(dtype)
    found = PCA(scale=scale).fit(X).outliers(X, n_components=3)
    Z = X.astype(np.float64) - X.mean(axis=0, dtype=np.float64)
    Z = Z / Z.std(axis=0, ddof=1) if scale else Z
    U, s, Vt = np.linalg.svd(Z, full_matrices=False)
    tolerance = 1e-3 if dtype == "float32" else 1e-9
    np.testing.assert_allclose(found.t2, (U[:, :3] ** 2).sum(axis=1) * (len(X) - 1), rtol=tolerance)
    left = Z - (U[:, :3] * s[:3]) @ Vt[:3]
    np.testing.assert_allclose(found.spe, (left**2).sum(axis=1), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("seed", range(3))
def test_limits_are_passed_by_about_as_many_gaussian_rows_as_they_say(seed):
    """Of 20,000 new rows, one in a hundred passes each limit, give or take four standard errors."""
    model = fit_pca(as_source(rows(4000, seed=0)))
    rng = np.random.default_rng(0)
    rng.standard_normal((4000, 3))
    mixing = rng.standard_normal((3, 10)) * 4
    fresh = np.random.default_rng(100 + seed)
    X = fresh.standard_normal((20_000, 3)) @ mixing + fresh.standard_normal((20_000, 10))
    found = find_outliers(model, as_source(X), n_components=3, level=0.99)
    for values, limit in ((found.t2, found.t2_limit), (found.spe, found.spe_limit)):
        assert abs((values > limit).mean() - 0.01) < 4 * np.sqrt(0.01 * 0.99 / 20_000) + 0.001


def test_limit_of_t2_is_hotellings():
    """The limit is the F quantile of the formula."""
    n, k = 50, 2
    found = find_outliers(fit_pca(as_source(rows(n))), as_source(rows(n)), n_components=k, level=0.95)
    assert found.t2_limit == pytest.approx(k * (n * n - 1) / (n * (n - k)) * stats.f.ppf(0.95, k, n - k))


@pytest.mark.parametrize("keep", [3, None])
def test_planted_rows_are_found_with_their_columns(keep):
    """One row far out within the components and one off them are flagged, each for the right reason and column."""
    X = rows()
    V = fit_pca(as_source(X), PCAOptions(3)).components
    X[5] = X.mean(axis=0) + 300 * V[0]
    X[9, 4] += 25.0
    model = fit_pca(as_source(X), PCAOptions(n_components=keep))
    view = outlier_map(model, X, n_components=3)
    first = {row.row: row for row in view.unusual}
    assert set(view.found.flagged[:2]) == {5, 9}
    assert first[5].beyond == "within the components"
    assert first[9].beyond in {"off the components", "within and off the components"}
    assert first[9].blame[0].name == "column 5"
    assert first[9].blame[0].value == pytest.approx(X[9, 4])
    off = [row for row in view.unusual if row.beyond == "off the components"]
    assert all(0.0 < sum(blame.share for blame in row.blame) <= 1.0 + 1e-9 for row in off)


def test_with_every_component_nothing_is_off():
    """A model of all directions has no error to judge by: its limit is infinite, and no row passes it."""
    found = PCA().fit(rows()).outliers(rows())
    assert found.spe_limit == np.inf
    assert found.expected == pytest.approx(4.0)


@pytest.mark.parametrize("level", [0.0, 1.0, 1.5])
def test_level_outside_its_range_is_refused(level):
    """A level that is no share of rows is refused in words."""
    with pytest.raises(ParameterError, match="is no share of rows"):
        PCA().fit(rows()).outliers(rows(), level=level)


def test_too_many_components_are_refused():
    """More components than the model has are refused with both numbers."""
    with pytest.raises(ParameterError, match=r"n_components=11 lies outside 0..10"):
        PCA().fit(rows()).outliers(rows(), n_components=11)


def test_sparse_rows_give_the_same_distances():
    """Sparse rows and the same rows dense agree."""
    sparse = pytest.importorskip("scipy.sparse")
    X = np.where(np.random.default_rng(0).random((60, 8)) < 0.3, rows(60, 8), 0.0)
    dense, thin = PCA(3).fit(X), PCA(3).fit(sparse.csr_array(X))
    np.testing.assert_allclose(thin.outliers(sparse.csr_array(X)).spe, dense.outliers(X).spe, rtol=1e-8, atol=1e-10)


UNEVEN = np.array([9.0, 5.0, 3.0, 1.0, 0.5, 0.3, 0.2, 0.1])


def test_limits_do_not_depend_on_how_many_components_the_model_holds():
    """The same Gaussian rows are named by a model of two components and by one of all eight, about one in a hundred."""
    X = np.random.default_rng(0).normal(size=(1000, 8)) * UNEVEN
    few, all_of_them = PCA(2).fit(X).outliers(X), PCA(8).fit(X).outliers(X, n_components=2)
    assert few.spe_limit == pytest.approx(all_of_them.spe_limit, rel=1e-9)
    np.testing.assert_array_equal(few.flagged, all_of_them.flagged)
    assert (few.spe > few.spe_limit).mean() < 0.02


@pytest.mark.parametrize("solver", ["full", "arpack"])
def test_limit_of_a_part_of_a_large_spectrum_is_that_of_the_whole(solver):
    """Where only some pairs of a held matrix are found, its entries tell how the rest spreads."""
    X = np.random.default_rng(0).normal(size=(600, 300)) * np.linspace(3.0, 0.1, 300) ** 2
    few, whole = PCA(5, svd_solver=solver).fit(X), PCA(svd_solver="full").fit(X)
    assert few.outliers(X).spe_limit == pytest.approx(whole.outliers(X, n_components=5).spe_limit, rel=1e-2)


@pytest.mark.parametrize("outliers", [0, 40])
def test_without_the_spread_of_the_fit_the_rows_tell_it(outliers):
    """A model that never measured the spread takes it from the rows, and a few far ones do not hide in it."""
    X = np.random.default_rng(1).normal(size=(1000, 8)) * UNEVEN
    model = replace(fit_pca(as_source(X), PCAOptions(2)), left_out_dimensions=None)
    X[:outliers, 4] += 40.0
    found = find_outliers(model, as_source(X))
    assert (found.spe[outliers:] > found.spe_limit).mean() < 0.03
    assert set(range(outliers)) <= set(found.flagged)
