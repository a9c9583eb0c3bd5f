"""Probabilistic PCA: the closed form of a complete table, the posterior of another, planted truth, and edge cases."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from scipy.stats import multivariate_normal
from sklearn.base import clone

import gramian
from gramian import PCA, ProbabilisticPCA, triplets
from gramian.errors import ConvergenceWarning, InputError, ParameterError


def planted(n=300, d=8, k=2, *, noise=0.3, share=0.2, seed=0):
    """A table of the model itself, and the same with missing values."""
    rng = np.random.default_rng(seed)
    truth = rng.standard_normal((n, k)) @ rng.standard_normal((k, d)) + noise * rng.standard_normal((n, d)) + 7.0
    incomplete = np.where(rng.random(truth.shape) < share, np.nan, truth)
    return truth, incomplete


def stars(n=800, d=150, k=2, *, share=0.06, seed=0):
    """Known and held-out cells of ratings with biases of rows and columns, and what the noise alone leaves."""
    rng = np.random.default_rng(seed)
    truth = 3.5 + 0.5 * rng.standard_normal((n, 1)) + 0.5 * rng.standard_normal(d)
    truth = truth + 0.6 * rng.standard_normal((n, k)) @ rng.standard_normal((k, d))
    i, j = np.nonzero(rng.random((n, d)) < share)
    x = truth[i, j] + 0.5 * rng.standard_normal(len(i))
    out = rng.random(len(i)) < 0.1
    return (i[~out], j[~out], x[~out]), (i[out], j[out], x[out]), (n, d)


@pytest.mark.parametrize("shape", [(300, 8), (12, 30), (40, 5)])
@pytest.mark.parametrize("scale", [False, True])
def test_of_a_complete_table_it_is_the_closed_form(shape, scale):
    """Components, variances, noise, scores and likelihood are those of PCA with the divisor n."""
    X, _ = planted(*shape)
    found, pca = ProbabilisticPCA(2, scale=scale).fit(X), PCA(2, ddof=0, scale=scale).fit(X)
    np.testing.assert_allclose(found.components_, pca.components_, atol=1e-10)
    np.testing.assert_allclose(found.explained_variance_, pca.explained_variance_, rtol=1e-10)
    np.testing.assert_allclose(found.explained_variance_ratio_, pca.explained_variance_ratio_, rtol=1e-10)
    np.testing.assert_allclose(found.transform(X), pca.transform(X), atol=1e-10)
    np.testing.assert_allclose(found.inverse_transform(found.transform(X)), pca.inverse_transform(pca.transform(X)))
    if shape[0] > shape[1]:
        np.testing.assert_allclose(found.noise_variance_, pca.noise_variance_, rtol=1e-10)
        np.testing.assert_allclose(found.score_samples(X), pca.score_samples(X), rtol=1e-8)
        # Tipping and Bishop's W = V' diag(lam - v)^(1/2), by its covariance.
        lam, V = np.linalg.eigh(np.cov((X / X.std(axis=0) if scale else X).T, ddof=0))
        noise = lam[:-2].mean()
        C = (V[:, -2:] * (lam[-2:] - noise)) @ V[:, -2:].T + noise * np.eye(shape[1])
        np.testing.assert_allclose(found.get_covariance() / np.outer(*2 * [X.std(axis=0) if scale else [1]]), C,
                                   atol=1e-10)  # fmt: skip
    assert found.evidence_ == pytest.approx(found.score(X) / shape[1], rel=1e-8)


def test_likelihood_is_that_of_the_gaussian():
    """What is known of a row has the density of the model's mean and covariance there, columns scaled or not."""
    _, X = planted(60, 6, seed=1)
    for model in (ProbabilisticPCA(2).fit(X), ProbabilisticPCA(2, scale=True, biases=True).fit(X)):
        C = model.get_covariance()
        for x, score in zip(X, model.score_samples(X), strict=True):
            o = ~np.isnan(x)
            assert score == pytest.approx(multivariate_normal(model.mean_[o], C[np.ix_(o, o)]).logpdf(x[o]), rel=1e-8)
    assert model.score(X) == pytest.approx(model.score_samples(X).mean())


@pytest.mark.parametrize("options", [{}, {"scale": True}, {"biases": True}])
def test_drawn_tables_have_the_moments_that_are_told(options):
    """Over many imputations the mean and deviation of a cell, and of a score, are those of impute and transform."""
    _, X = planted(25, 5, share=0.25, seed=1)
    model, missing = ProbabilisticPCA(2, **options).fit(X), np.isnan(X)
    drawn = model.sample_imputations(X, 2000, random_state=0)
    filled, std = model.impute(X, return_std=True)
    error = 5 * std / np.sqrt(2000)
    assert (np.abs(drawn.mean(axis=0) - filled) <= error + 1e-12).all()
    np.testing.assert_allclose(drawn.std(axis=0)[missing], std[missing], rtol=0.15)
    assert np.array_equal(filled[~missing], X[~missing])
    assert (drawn[:, ~missing] == X[~missing]).all()
    assert std[~missing].max() == 0.0
    if not options:
        factor = model._model.factor
        scores = (drawn - model.mean_) * factor @ model.components_.T
        told = model.transform_std(X)
        assert (np.abs(scores.mean(axis=0) - model.transform(X)) <= 5 * told / np.sqrt(2000) + 1e-9).all()
        assert np.median(scores.std(axis=0)[told > 0] / told[told > 0]) == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_planted_truth_is_found_and_its_uncertainty_is_honest(seed):
    """The planted plane, noise and shares come back; filled values miss the truth as far as they say they do."""
    truth, X = planted(2000, 10, seed=seed)
    model, whole = ProbabilisticPCA(2).fit(X), PCA(2, ddof=0).fit(truth)
    assert np.linalg.svd(model.components_ @ whole.components_.T)[1].min() > 0.999
    assert model.noise_variance_ == pytest.approx(0.09, rel=0.05)
    filled, std = model.impute(X, return_std=True)
    missing = np.isnan(X)
    away = ((filled - truth)[missing]) / std[missing]
    assert away.std() == pytest.approx(1.0, abs=0.05)
    assert np.mean(np.abs(away) < 1.96) == pytest.approx(0.95, abs=0.015)
    shares = np.abs(model.explained_variance_ratio_ - whole.explained_variance_ratio_)
    assert (shares < 0.02).all()
    assert (model.explained_variance_ratio_std_ > 0).all()


def test_share_of_variance_is_not_raised_by_what_is_filled():
    """Of a table 60% empty the model's share is that of the truth; PCA of the filled table says far more."""
    truth, X = planted(400, 12, noise=1.0, share=0.6, seed=5)
    model = ProbabilisticPCA(2).fit(X)
    true = PCA(2).fit(truth).explained_variance_ratio_.sum()
    said, filled = model.explained_variance_ratio_.sum(), PCA(2).fit(model.impute(X)).explained_variance_ratio_.sum()
    assert abs(said - true) < 0.04
    assert filled - true > 2 * abs(said - true)


def test_shares_differ_between_tables_by_what_is_told():
    """Over 60 planted tables of 50 rows, a third missing, the shares spread as one of them says."""
    rng = np.random.default_rng(0)
    W, told, found = np.array([2.0, 1.0])[:, None] * np.linalg.qr(rng.standard_normal((6, 2)))[0].T, [], []
    for _ in range(60):
        X = rng.standard_normal((50, 2)) @ W + 0.4 * rng.standard_normal((50, 6))
        model = ProbabilisticPCA(2).fit(np.where(rng.random(X.shape) < 1 / 3, np.nan, X))
        if model.n_components_ == 2:
            found.append(model.explained_variance_ratio_)
            told.append(model.explained_variance_ratio_std_)
    np.testing.assert_allclose(np.mean(told, axis=0), np.std(found, axis=0), rtol=0.35)


def test_number_of_components_is_chosen():
    """Without a number, or with "auto", held-out entries decide."""
    X = planted(k=3)[1]
    for k in (None, "auto"):
        model = ProbabilisticPCA(k).fit(X)
        assert model.n_components_ == 3
        assert "predict held-out entries best" in model.n_components_reason_


@pytest.mark.parametrize("seed", range(2))
def test_where_no_component_predicts_none_is_kept_and_predictions_are_no_worse_than_means(seed):
    """Ten planted components of which five entries per row say too little: one makes predictions worse than none."""
    from benchmarks.missing import column_means, planted, rmse

    table = planted(1000, 100, 5000, 50_000, seed=seed)
    model = ProbabilisticPCA().fit(X := triplets(*table.known, shape=table.shape))
    held, means = table.held, rmse(column_means(table.known, table.shape, table.held), table.held)

    def error(fitted):
        return np.sqrt(np.mean((fitted.predict(held.rows, held.columns) - held.values) ** 2))

    assert model.n_components_ == 0
    assert error(model) <= 1.001 * means < error(ProbabilisticPCA(1, biases=False).fit(X))
    assert model.transform(X).shape == (1000, 0)


def test_noise_has_no_components_and_is_a_gaussian():
    """Of noise alone, complete or not, the model is means and one variance, and all methods take it."""
    X = np.random.default_rng(0).standard_normal((100, 5))
    for share in (0.0, 0.2):
        Y = np.where(np.random.default_rng(1).random(X.shape) < share, np.nan, X)
        model = ProbabilisticPCA().fit(Y)
        assert model.n_components_ == 0
        assert model.components_.shape == (0, 5)
        np.testing.assert_allclose(model.get_covariance(), model.noise_variance_ * np.eye(5), atol=1e-12)
        np.testing.assert_allclose(model.inverse_transform(model.transform(Y)), np.tile(model.mean_, (100, 1)))
        filled, std = model.impute(Y, return_std=True)
        assert np.isfinite(filled).all()
        assert model.transform_std(Y).shape == (100, 0)
        assert (std[np.isnan(Y)] > np.sqrt(model.noise_variance_)).all()
        assert model.sample_imputations(Y, 2).shape == (2, 100, 5)
        assert np.isfinite(model.score(Y))


def test_ratings_are_predicted_better_than_by_biases_and_as_well_as_said():
    """Sparse triplets: biases and two components beat the means, intervals cover, and stars stay within bounds."""
    known, (i, j, x), shape = stars()
    model = ProbabilisticPCA(5, bounds=(1, 5)).fit(triplets(*known, shape=shape))
    mean = model.predict(i, j)
    means = np.bincount(known[1], known[2]) / np.bincount(known[1])
    assert np.sqrt(np.mean((mean - x) ** 2)) < 0.85 * np.sqrt(np.mean((means[j] - x) ** 2))
    free = ProbabilisticPCA(5).fit(triplets(*known, shape=shape))
    away = np.abs(free.predict(i, j) - x) / free.predict(i, j, return_std=True)[1]
    assert 0.92 < np.mean(away < 1.96) < 0.98
    assert mean.min() >= 1.0
    assert mean.max() <= 5.0
    assert free.row_bias_variance_ == pytest.approx(0.25, rel=0.3)
    assert free.score_entries(i, j, x) > -np.log(np.std(x)) - 0.5 * np.log(2 * np.pi) - 0.5


def test_as_many_components_as_columns():
    """All components are a full covariance; one column is its mean and variance."""
    _, X = planted(200, 4, 4, seed=3)
    model = ProbabilisticPCA(4).fit(X)
    assert model.explained_variance_ratio_.sum() <= 1.0 + 1e-12
    pairs = np.ma.cov(np.ma.masked_invalid(X).T, ddof=0)
    np.testing.assert_allclose(model.get_covariance(), pairs.data, atol=0.15 * np.abs(pairs.data).max())
    one = ProbabilisticPCA().fit(X[:, :1])
    assert one.get_covariance()[0, 0] == pytest.approx(np.nanvar(X[:, 0]), rel=0.05)


def test_scaled_columns_know_no_units():
    """With scale=True other units give the same filling, in those units, and the same evidence but for the units."""
    _, X = planted(100, 5)
    units = 10.0 ** np.arange(-2, 3)
    a, b = ProbabilisticPCA(2, scale=True).fit(X), ProbabilisticPCA(2, scale=True).fit(X * units)
    for mine, other in zip(a.impute(X, return_std=True), b.impute(X * units, return_std=True), strict=True):
        np.testing.assert_allclose(other / units, mine, rtol=1e-6, atol=1e-9)
    counts = (~np.isnan(X)).sum(axis=0)
    assert b.evidence_ == pytest.approx(a.evidence_ - counts @ np.log(units) / counts.sum())


def test_rows_and_columns_of_which_nothing_is_known():
    """They are what is expected of any row and column, with the deviation of one, in the fit and after it."""
    _, X = planted()
    X[5], X[:, 3] = np.nan, np.nan
    model = ProbabilisticPCA(2).fit(X)
    filled, std = model.impute(X, return_std=True)
    np.testing.assert_allclose(filled[5], model.mean_)
    assert np.isfinite(filled).all()
    assert model.mean_[3] == pytest.approx(np.delete(model.mean_, 3).mean(), abs=0.01)
    np.testing.assert_allclose(np.delete(std[5], 3) ** 2, np.delete(np.diag(model.get_covariance()), 3), rtol=0.05)
    np.testing.assert_allclose(model.transform(np.full((1, 8), np.nan)), 0.0, atol=1e-12)
    with pytest.raises(InputError, match="X has 7 features"):
        model.transform(X[:, :7])


def test_new_users_films_and_wrong_ones():
    """-1 is a row or a column that the fit did not have, less certain than any it had; beyond the table is refused."""
    known, _, shape = stars()
    model = ProbabilisticPCA(2).fit(triplets(*known, shape=shape))
    mean, std = model.predict([-1, 0, -1, 0], [3, 3, -1, -1], return_std=True)
    assert mean[0] == pytest.approx(model.mean_[3])
    assert std[1] < std[0] < std[2]
    assert mean[2] == pytest.approx(model.mean_.mean(), abs=0.2)
    new = sp.csr_array(([5.0, 5.0], ([0, 0], [3, 7])), shape=(1, shape[1]))
    better, error = model.predict(new, return_std=True)
    assert better[0, 3] > model.mean_[3]
    assert error[0, 3] < std[0]
    with pytest.raises(InputError, match=r"There is no row 800 among the 800 of the fit"):
        model.predict([3, 800], [0, 0])
    with pytest.raises(InputError, match=r"There is no column -2 among"):
        model.predict([3, 799], [0, -2])
    with pytest.raises(InputError, match=r"Cells are pairs, and these are rows of shape \(2,\) and columns of \(3,\)"):
        model.predict([0, 1], [0, 1, 2])
    assert [part.shape for part in model.predict([], [], return_std=True)] == [(0,), (0,)]
    with pytest.raises(InputError, match="asked for by its position"):
        model.predict(["anna"], [0])


def test_edge_cases_are_defined():
    """Two known values, constants, integers, floats of 16 and 32 bits, duplicates: finite answers, no warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        two = ProbabilisticPCA(1).fit(np.array([[1.0, np.nan], [3.0, np.nan], [np.nan, np.nan]]))
        filled, std = two.impute([[np.nan, np.nan]], return_std=True)
        np.testing.assert_allclose(filled[0, 0], 2.0, atol=1e-6)
        assert std.min() > 0.5
        X = planted(50, 4)[1]
        X[:, 2] = np.where(np.isnan(X[:, 2]), np.nan, 6.0)
        constant = ProbabilisticPCA(2).fit(X)
        assert np.abs(constant.impute(X)[:, 2] - 6.0).max() < 0.2
        whole = np.random.default_rng(0).integers(0, 9, (40, 5))
        same = ProbabilisticPCA(2).fit(whole.astype(float))
        np.testing.assert_allclose(ProbabilisticPCA(2).fit(whole).components_, same.components_, atol=1e-12)
        for dtype in (np.float16, np.float32):
            half = X.astype(dtype)
            exact = ProbabilisticPCA(1).fit(half.astype(np.float64))
            np.testing.assert_allclose(ProbabilisticPCA(1).fit(half).mean_, exact.mean_, rtol=1e-6)
        flat = ProbabilisticPCA(2).fit(np.ones((6, 3)))
        assert np.isfinite(flat.impute([[1.0, np.nan, 1.0]])).all()
    twice = sp.coo_array(([1.0, 2.0, 5.0, 4.0], ([0, 0, 1, 1], [0, 0, 1, 0])), shape=(2, 2))
    np.testing.assert_allclose(ProbabilisticPCA(1).fit(twice).impute(twice)[0, 0], 1.5)


def test_what_it_cannot_do_is_refused_in_a_sentence():
    """All or nearly all missing, infinity, too many components, one row, bounds the wrong way, scores too wide."""
    X = planted(20, 4)[0]
    with pytest.raises(InputError, match="Nothing is known in this table"):
        ProbabilisticPCA(1).fit(np.full((3, 3), np.nan))
    with pytest.raises(InputError, match="Nothing is known in this table"):
        ProbabilisticPCA(1).fit(sp.csr_array((3, 3)))
    for unknowable in (np.where(np.eye(3), X[:3, :3], np.nan), sp.csr_array(np.diag(X[0]))):
        with pytest.raises(InputError, match="No column of this table has two known values"):
            ProbabilisticPCA(1).fit(unknowable)
    with pytest.raises(ParameterError, match="n_components=5 is more than min"):
        ProbabilisticPCA(5).fit(X)
    with pytest.raises(ParameterError, match="n_components=0"):
        ProbabilisticPCA(0).fit(X)
    with pytest.raises(ParameterError, match="two numbers, the smaller one first"):
        ProbabilisticPCA(1, bounds=(5, 1)).fit(X)
    with pytest.raises(InputError, match="1 sample"):
        ProbabilisticPCA().fit(X[:1])
    X[3, 2] = np.inf
    with pytest.raises(InputError, match="Row 3 holds infinity in column 2"):
        ProbabilisticPCA(1).fit(X)
    with pytest.raises(InputError, match="infinity in column 2"):
        ProbabilisticPCA(1).fit(X[4:]).transform(X)
    with pytest.raises(InputError, match="Pass scores as transform"):
        ProbabilisticPCA(1).fit(X[4:]).inverse_transform(np.ones((2, 3)))


def test_a_cap_is_a_warning_and_rows_in_a_plane_are_no_trouble():
    """Rounds that are stopped say so; a table without noise keeps a finite likelihood."""
    _, X = planted(60, 6)
    with pytest.warns(ConvergenceWarning, match="still rises after 2 rounds with 2 components"):
        ProbabilisticPCA(2, max_iter=2).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        flat = ProbabilisticPCA(2).fit(planted(40, 5, noise=0.0, share=0.0)[0])
    assert np.isfinite(flat.evidence_)
    assert flat.noise_variance_ < 1e-9


def test_rounds_end_early_and_are_told():
    """A looser tolerance takes fewer rounds, and progress hears of each with a bound that rises."""
    _, X = planted()
    heard = []
    loose, tight = ProbabilisticPCA(2, tol=1e-2, progress=heard.append).fit(X), ProbabilisticPCA(2, tol=1e-6).fit(X)
    assert loose.n_iter_ < tight.n_iter_
    said = [float(sentence.split()[-1]) for sentence in heard if sentence.startswith("round")]
    assert len(said) == loose.n_iter_
    assert said == sorted(said)


def test_saved_pickled_and_cloned_models_predict_the_same(tmp_path):
    """Every way of keeping a model keeps its predictions and their deviations."""
    known, (i, j, _), shape = stars(100, 40, share=0.3)
    model = ProbabilisticPCA(2, bounds=(1, 5)).fit(triplets(*known, shape=shape))
    model.save(tmp_path / "m.gramian")
    expected = model.predict(i, j, return_std=True)
    for other in (gramian.load(tmp_path / "m.gramian"), pickle.loads(pickle.dumps(model)),
                  clone(model).fit(triplets(*known, shape=shape))):  # fmt: skip
        np.testing.assert_array_equal(other.predict(i, j, return_std=True), expected)


def test_a_file_of_rows_is_filled_as_the_array(tmp_path):
    """A path gives what its rows give, in the fit and after it."""
    _, X = planted(100, 5)
    np.save(tmp_path / "t.npy", X)
    here, there = ProbabilisticPCA(2).fit(X), ProbabilisticPCA(2).fit(tmp_path / "t.npy")
    np.testing.assert_allclose(there.impute(tmp_path / "t.npy"), here.impute(X), atol=1e-10)
    np.testing.assert_allclose(there.transform(X), here.transform(X), atol=1e-10)


INCOMPLETE = {
    "pandas Int64": lambda cells: pd.DataFrame(cells).astype("Int64"),
    "pandas Float64": lambda cells: pd.DataFrame(cells).astype("Float64"),
    "pandas objects": lambda cells: pd.DataFrame(cells, dtype=object),
    "pandas Arrow": lambda cells: pd.DataFrame(cells).astype("int64[pyarrow]"),
    "Arrow": pa.table,
    "Arrow decimal": lambda cells: pa.table({name: pa.array(c, pa.decimal128(9, 1)) for name, c in cells.items()}),
    "polars": pl.DataFrame,
    "objects": lambda cells: np.array(list(cells.values()), dtype=object).T,
    "lists": lambda cells: [list(row) for row in zip(*cells.values(), strict=True)],
}


@pytest.mark.parametrize("in_pieces", [False, True])
@pytest.mark.parametrize("make", INCOMPLETE.values(), ids=INCOMPLETE)
def test_missing_cells_of_any_table_are_missing_values(make, in_pieces, monkeypatch):
    """Nulls, None and NA, of a table whole or in pieces, are filled as NaN of an array is, in the fit and after."""
    if in_pieces:
        monkeypatch.setattr("gramian.sources.table.CONVERTED_AT_ONCE", 0)
    X = np.round(10 * planted(30, 3, 1)[1])
    frame = make({name: [None if np.isnan(x) else int(x) for x in X[:, j]] for j, name in enumerate("abc")})
    np.testing.assert_array_equal(ProbabilisticPCA(1).fit(frame).impute(frame), ProbabilisticPCA(1).fit(X).impute(X))
    with pytest.raises(InputError, match="Input X contains NaN"):
        PCA(1).fit(frame)


def test_large_integers_and_text_beside_missing_cells_are_refused_where_they_stand():
    """An integer that float64 would round is named by its row, missing cells before it counted; text is no number."""
    frame = pl.DataFrame({"a": [1, None, 2, 2**53 + 1], "b": [1, 2, 3, 4]})
    with pytest.raises(InputError, match=r"9007199254740993 in row 3 \(counted from 0\), column 'a'"):
        ProbabilisticPCA(1).fit(frame)
    with pytest.raises(InputError, match="X holds text: '2' in row 1, column 1"):
        ProbabilisticPCA(1).fit([[1.0, None], [3.0, "2"]])


def test_ratings_in_the_shape_of_netflix_at_one_in_a_thousand():
    """Stars, a few films rated often and a few users who rate much: between the oracle's error and the biases'."""
    from benchmarks.missing import Guess, bias_fit, ratings, rmse, star_oracle

    table = ratings(0.002, k=3)
    model = ProbabilisticPCA(6, bounds=(1, 5)).fit(triplets(*table.known, shape=table.shape))
    held = table.held
    error = rmse(Guess(model.predict(held.rows, held.columns)), held)
    assert star_oracle(table) < error < rmse(bias_fit(table.known, table.shape, held, 5.0), held)
