"""Correspondence analyses: the identities that define them, without an estimator in sight."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg

from gramian.errors import InputError, ParameterError
from gramian.models.categories.fit import fit_famd, fit_mca
from gramian.models.categories.model import CategoryOptions
from gramian.models.pca.fit import fit_pca
from gramian.models.pca.model import PCAOptions
from gramian.sources.categories import open_mixed
from gramian.sources.dense import DenseRows
from gramian.sources.indicator import IndicatorRows
from gramian.sources.opening import as_source


def related(n=300, seed=0):
    """Four categories that depend on one hidden number, and two quantities, one of which does."""
    rng = np.random.default_rng(seed)
    hidden = rng.standard_normal(n)
    cut = [np.digitize(hidden + s * rng.standard_normal(n), [-1.0, 0.3, 1.2]).astype(str) for s in (0.5, 1, 1, 2)]
    quantities = [hidden + rng.standard_normal(n), rng.gamma(2.0, size=n)]
    return np.column_stack([*cut, *quantities]).astype(object)


def mixed(X):
    """Its last two columns as numbers."""
    Y = X.copy()
    Y[:, 4:] = Y[:, 4:].astype(float)
    return open_mixed(Y)


def indicators(X):
    """The n x J matrix of zeros and ones."""
    return np.column_stack([X[:, j] == level for j in range(X.shape[1]) for level in sorted(set(X[:, j]))]).astype(
        float
    )


def test_eigenvalues_are_those_of_correspondence_analysis_of_the_indicators_and_of_the_burt_table():
    """Singular values of the indicator matrix squared; those of the Burt table are their squares."""
    X = related()[:, :4]
    model = fit_mca(open_mixed(X))

    def correspondence(table):
        P = table / table.sum()
        r, c = P.sum(axis=1), P.sum(axis=0)
        return scipy.linalg.svdvals((P - np.outer(r, c)) / np.sqrt(np.outer(r, c))) ** 2

    Z = indicators(X)
    k = model.n_components
    assert k == Z.shape[1] - 4
    np.testing.assert_allclose(model.eigenvalues, correspondence(Z)[:k], atol=1e-12)
    np.testing.assert_allclose(model.eigenvalues**2, correspondence(Z.T @ Z)[:k], atol=1e-12)
    np.testing.assert_allclose(model.pca.total_variance, (Z.shape[1] - 4) / 4, rtol=1e-12)


def test_rows_and_levels_are_means_of_each_other():
    """A level stands at the mean of its rows over sqrt(w), a row at the mean of its levels over sqrt(w)."""
    X = related()[:, :4]
    table = open_mixed(X)
    model = fit_mca(table)
    rows, Z = model.project(IndicatorRows(table, model.coding)), indicators(X)
    root = np.sqrt(model.eigenvalues)
    np.testing.assert_allclose(model.column_coordinates, Z.T @ rows / Z.sum(axis=0)[:, None] / root, atol=1e-10)
    np.testing.assert_allclose(rows, Z @ model.column_coordinates / 4 / root, atol=1e-10)


@pytest.mark.parametrize("fit", [fit_mca, fit_famd])
def test_an_eigenvalue_is_the_sum_of_what_variables_explain(fit):
    """eta2 of all variables sums to the eigenvalue (its mean for MCA), contributions to one, cos2 to one."""
    X = related()
    table = mixed(X) if fit is fit_famd else open_mixed(X[:, :4])
    model = fit(table)
    total = model.eta2.sum(axis=0) * model.coding.share
    np.testing.assert_allclose(total, model.eigenvalues, atol=1e-12)
    np.testing.assert_allclose(model.contributions.sum(axis=0), 1.0)
    np.testing.assert_allclose(model.cos2.sum(axis=1), 1.0, atol=1e-10)
    rows = model.project(IndicatorRows(table, model.coding))
    first = model.coding.categories[0]
    codes = table.categories[first].codes
    means = np.array([rows[codes == level].mean(axis=0) for level in range(4)])
    between = (np.bincount(codes)[:, None] * means**2).sum(axis=0) / (rows**2).sum(axis=0)
    np.testing.assert_allclose(model.eta2[len(model.coding.quantities)], between, atol=1e-10)


def test_mixed_data_without_categories_are_scaled_principal_components():
    """FAMD of quantities alone is PCA of the correlations."""
    X = np.random.default_rng(0).standard_normal((80, 5)) * [1, 10, 100, 1, 5] + 50
    famd = fit_famd(open_mixed(X))
    pca = fit_pca(as_source(X), PCAOptions(scale=True, ddof=0))
    np.testing.assert_allclose(famd.eigenvalues, pca.variances, rtol=1e-12)
    np.testing.assert_allclose(np.abs(famd.components), np.abs(pca.components), atol=1e-10)
    np.testing.assert_allclose(famd.column_coordinates, famd.pca.loadings)


def test_mixed_data_without_quantities_are_categories():
    """FAMD of Q categories has Q times the eigenvalues of their MCA and the same directions."""
    table = open_mixed(related()[:, :4])
    famd, mca = fit_famd(table), fit_mca(table)
    np.testing.assert_allclose(famd.eigenvalues, 4 * mca.eigenvalues, atol=1e-12)
    np.testing.assert_allclose(famd.components, mca.components, atol=1e-7)


@pytest.mark.parametrize("fit", [fit_mca, fit_famd])
@pytest.mark.parametrize("missing", ["level", "passive"])
def test_a_weight_is_a_repetition(fit, missing):
    """Weighted rows give the model of repeated ones; rows of weight zero give none of their levels."""
    X = related(120)
    X[:20, 0] = None
    X[20, 1] = "rare"
    weights = np.random.default_rng(1).integers(0, 4, 120)
    weights[20] = 0
    options = CategoryOptions(missing=missing)
    quantities = fit is fit_famd

    def opened(rows, **more):
        rows = rows.copy()
        rows[:, 4:] = rows[:, 4:].astype(float)
        return open_mixed(rows if quantities else rows[:, :4], **more)

    here = fit(opened(X, weights=weights), options)
    there = fit(opened(np.repeat(X, weights, axis=0)), options)
    assert here.column_names == there.column_names
    np.testing.assert_allclose(here.eigenvalues, there.eigenvalues, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(here.cos2[:, :2], there.cos2[:, :2], atol=1e-9)


def test_a_missing_cell_is_a_level_or_nothing():
    """As a level it is one more; passive, rows without a value are where their other columns put them."""
    X = related()[:, :4]
    X[::7, 0] = None
    table = open_mixed(X)
    level, passive = (fit_mca(table, CategoryOptions(missing=missing)) for missing in ("level", "passive"))
    assert len(level.column_names) == len(passive.column_names) + 1
    assert "x0=(missing)" in level.column_names
    # The share of the category that is missing has no inertia.
    known = np.mean([value is not None for value in X[:, 0]])
    np.testing.assert_allclose(passive.pca.total_variance, 3 * (3 + known) / 4, rtol=1e-12)
    rows = IndicatorRows(table, passive.coding, passive=True)
    centered = rows.map_rows(lambda block: block.rows) - passive.pca.mean
    np.testing.assert_allclose(centered[::7, rows.coding.groups[0]], 0.0, atol=1e-12)


def test_missing_quantities_are_passed_over_in_blocks_of_any_size():
    """Of the known values of all blocks, a quantity has its mean and its spread."""
    X = related()
    X[::9, 4] = np.nan
    whole = mixed(X)
    numbers = whole.numbers.block(0).rows
    blocks = replace(whole, numbers=DenseRows(numbers, block_rows=70))
    for table in (whole, blocks):
        coding = fit_famd(table, CategoryOptions(missing="passive")).coding
        np.testing.assert_allclose(coding.mean, np.nanmean(numbers, axis=0), rtol=1e-12)
        np.testing.assert_allclose(coding.deviation, np.nanstd(numbers, axis=0), rtol=1e-12)


def test_supplementary_columns_change_nothing_and_stand_where_active_ones_do():
    """A fit with them has the numbers of one without; a copy of an active column stands on it."""
    X = related()
    Y = open_mixed(np.column_stack([X[:, :4], X[:, 0], X[:, 4].astype(float)]))
    without, with_ = fit_mca(open_mixed(X[:, :4])), fit_mca(Y, supplementary=["x4", "x5"])
    np.testing.assert_allclose(with_.eigenvalues, without.eigenvalues, rtol=1e-12)
    more = with_.supplementary
    np.testing.assert_allclose(more.coordinates, with_.column_coordinates[:4], atol=1e-9)
    np.testing.assert_allclose(more.v_tests, with_.v_tests[:4], atol=1e-7)
    np.testing.assert_allclose(more.eta2[0], with_.eta2[0], atol=1e-10)


def test_correlations_of_supplementary_quantities_are_those_of_numpy():
    """Over the rows where the quantity is known."""
    X = related()
    Y = X.copy()
    Y[:, 4:] = Y[:, 4:].astype(float)
    Y[5:30, 4] = None
    table = open_mixed(Y)
    model = fit_mca(table, supplementary=["x4", "x5"])
    rows = model.project(IndicatorRows(table, model.coding))
    known = [i for i in range(len(Y)) if Y[i, 4] is not None]
    truth = [[np.corrcoef(Y[known, 4].astype(float), rows[known, s])[0, 1] for s in range(2)]]
    truth += [[np.corrcoef(Y[:, 5].astype(float), rows[:, s])[0, 1] for s in range(2)]]
    np.testing.assert_allclose(model.supplementary.correlations[:, :2], truth, atol=1e-10)


def test_corrected_inertias_are_those_of_the_formulas():
    """Benzecri's eigenvalues and Greenacre's shares, also where few components were kept."""
    table = open_mixed(related()[:, :4])
    whole, few = fit_mca(table), fit_mca(table, CategoryOptions(2))
    w = whole.eigenvalues
    by_hand = np.where(w > 0.25, (4 / 3 * (w - 0.25)) ** 2, 0.0)
    np.testing.assert_allclose(whole.benzecri, by_hand, atol=1e-14)
    between = 4 / 3 * ((w**2).sum() - 12 / 16)
    np.testing.assert_allclose(whole.greenacre_shares, by_hand / between, rtol=1e-9)
    np.testing.assert_allclose(few.greenacre_shares, whole.greenacre_shares[:2], rtol=1e-6)


@pytest.mark.parametrize("n_levels", [(3, 4, 5, 6), (2, 2, 9, 30)])
def test_independent_categories_seldom_stand_out(n_levels):
    """The automatic rule finds something in at most 6 of 60 tables of independent categories; 3 are expected."""
    found = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = np.column_stack([rng.integers(0, size, 150) for size in n_levels])
        model = fit_mca(open_mixed(X, categories="all"), CategoryOptions("auto"))
        found += not model.pca.verdict.startswith("Component 1 ")
    assert found <= 6


def test_one_hidden_number_stands_out():
    """Categories and a quantity that follow one number leave components that shuffled columns do not."""
    model = fit_famd(mixed(related()), CategoryOptions("auto"))
    assert 1 <= model.n_components <= 3
    assert "shuffled reach" in model.pca.verdict
    assert model.eta2[0, 0] > 0.3  # the quantity that follows it


def test_certificates_hold_for_the_truth():
    """Every eigenvalue lies within its bound of the dense one."""
    X = related()[:, :4]
    model = fit_mca(open_mixed(X), CategoryOptions(3))
    Z = indicators(X)
    coded = Z / np.sqrt(4 * Z.mean(axis=0))
    truth = np.linalg.eigvalsh(np.cov(coded.T, ddof=0))[::-1][:3]
    bounds = [line.value_bound for line in model.certificate.lines]
    assert (np.abs(model.eigenvalues - truth) <= np.array(bounds) + 1e-14).all()


def test_what_cannot_be_fitted_is_refused_in_sentences():
    """More components than there can be, columns without values, nothing but supplementary columns."""
    X = related()[:, :4]
    with pytest.raises(ParameterError, match=r"13.* is more than the 12 components"):
        fit_mca(open_mixed(X), CategoryOptions(13))
    empty = X.copy()
    empty[:, 1] = None
    with pytest.raises(InputError, match="'x1' has no value in any row"):
        fit_mca(open_mixed(empty), CategoryOptions(missing="passive"))
    with pytest.raises(InputError, match="No column is left"):
        fit_mca(open_mixed(X), supplementary=["x0", "x1", "x2", "x3"])
    Y = np.column_stack([X, np.full(len(X), np.nan, dtype=object)])
    Y[0, 4] = 1.0
    with pytest.raises(InputError, match="missing='passive'"):
        fit_famd(open_mixed(Y))
