"""Variational Bayes on known entries: its bound, planted truth, the same answer however a table is held; filling."""

import warnings
from dataclasses import replace

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp

import gramian
from gramian.errors import ConvergenceWarning, InputError, MemoryBudgetError
from gramian.models.pca.fit import fit_pca
from gramian.models.pca.model import PCAOptions
from gramian.models.probabilistic import variational as vb
from gramian.models.probabilistic.entries import DenseEntries, SourceEntries, SparseEntries, known_entries, triplets
from gramian.models.probabilistic.filling import fill_missing, fill_rows
from gramian.models.probabilistic.fit import ProbabilisticPCAOptions, choose_components, fit_probabilistic_pca, hold_out
from gramian.sources.opening import as_source


def planted(n=200, d=8, k=2, *, noise=0.1, share=0.15, seed=0, biases=0.0):
    """A table of low rank and noise, the same with missing values, and where they are."""
    rng = np.random.default_rng(seed)
    truth = rng.standard_normal((n, k)) @ rng.standard_normal((k, d)) + noise * rng.standard_normal((n, d)) + 5.0
    truth += biases * rng.standard_normal((n, 1))
    missing = rng.random((n, d)) < share
    missing[:2] = False
    return truth, np.where(missing, np.nan, truth), missing


def as_sparse(X):
    """A dense table with NaN as a sparse one: what is known is stored."""
    i, j = np.nonzero(~np.isnan(X))
    return triplets(i, j, X[i, j], shape=X.shape)


def divergence(m, C, m0, variances):
    """Kullback-Leibler divergence of N(m, C) from N(m0, diag(variances))."""
    away = m - m0
    return 0.5 * (
        np.sum((np.diag(C) + away**2) / variances) - len(m) + np.log(variances).sum() - np.linalg.slogdet(C)[1]
    )


@pytest.mark.parametrize("biases", [False, True])
@pytest.mark.parametrize("share", [0.2, 0.6])
def test_bound_is_what_it_says(biases, share):
    """Expected log-likelihood less the divergences from the priors, written out entry by entry, is the bound."""
    _, X, _ = planted(30, 6, share=share, biases=float(biases))
    known = known_entries(X)
    columns = vb.improve(known, vb.start(known, 2, biases=biases, seed=0), tol=0.0, max_iter=3, least=2).columns
    layout, priors, v = columns.layout, columns.priors, columns.priors.noise
    found = vb.measure_rows(known, columns)
    expected = -0.5 * vb.PRIOR_ENTRIES * (np.log(v) + vb._prior_noise(known) / v)
    row, free = vb.row_posterior(known.rows(slice(0, 30)), columns), layout.of_columns
    prior = np.array([*np.ones(layout.k), *([priors.row_bias] if layout.biases else [])])
    for i in range(30):
        own = i if row.pattern is None else row.pattern[i]
        g, Cg = np.ones(layout.size), np.zeros((layout.size, layout.size))
        g[layout.of_rows], Cg[np.ix_(layout.of_rows, layout.of_rows)] = row.means[:, i], row.covariances[:, :, own]
        expected -= divergence(row.means[:, i], row.covariances[:, :, own], 0.0, prior)
        for j in np.flatnonzero(~np.isnan(X[i])):
            h, Ch = columns.means[j], columns.covariances[columns.pattern[j]]
            error = (X[i, j] - columns.shift[j] - g @ h) ** 2 + g @ Ch @ g + h @ Cg @ h + np.sum(Cg * Ch)
            expected -= 0.5 * (np.log(2 * np.pi * v) + error / v)
    for j in range(6):
        C, m0 = columns.covariances[columns.pattern[j]][np.ix_(free, free)], np.zeros(len(free))
        m0[-1] = priors.mean - columns.shift[j]
        expected -= divergence(columns.means[j, free], C, m0, np.array([*priors.components, priors.column_bias]))
    assert vb.bound(known, columns, found) == pytest.approx(expected, rel=1e-10)


TABLES = {
    "few missing": lambda: (known_entries(planted(80, 6)[1]), False),
    "few missing, biases": lambda: (known_entries(planted(80, 6, biases=2.0)[1]), True),
    "few patterns": lambda: (known_entries(np.where(np.arange(400)[:, None] % 4 == np.arange(5), np.nan, 1.0)
                                           * planted(400, 5)[0]), False),
    "most missing": lambda: (known_entries(planted(60, 40, share=0.8)[1]), True),
    "noise alone": lambda: (known_entries(planted(50, 6, 1, noise=3.0)[1]), True),
    "without noise": lambda: (known_entries(planted(40, 7, noise=0.0)[1]), False),
}  # fmt: skip


@pytest.mark.parametrize("table", TABLES)
def test_bound_never_falls(table):
    """Round by round, with components and biases removed on the way, the bound rises or stays, to rounding."""
    known, biases = TABLES[table]()
    columns = vb.start(known, 5, biases=biases, seed=1)
    found = vb.improve(known, columns, tol=0.0, max_iter=120, least=0)
    rises = np.diff(found.bounds)
    # Without noise what is divided by it has lost its digits.
    rounding = 1e-8 if table == "without noise" else 1e-10
    assert rises.min() >= -rounding * np.abs(found.bounds).max()
    assert found.bounds[-1] > found.bounds[0]


@pytest.mark.parametrize("seed", range(3))
def test_bound_of_entries_in_float32_falls_by_their_rounding_alone(seed, monkeypatch):
    """Of the columns of each round the bound in float64 never falls; that in float32 is off it by rounding alone."""
    known, measured = known_entries(as_sparse(planted(300, 50, 3, share=0.7, seed=seed)[1])), []
    assert known.values.dtype == np.float32
    exact = replace(known, values=known.values.astype(np.float64), ones=known.ones.astype(np.float64))

    def both(of, columns, found, bound=vb.bound):
        sums, in_float32 = vb.measure_rows(exact, columns), bound(of, columns, found)
        measured.append((in_float32, bound(exact, columns, sums), spread_of_rounding(columns, sums)))
        return in_float32

    monkeypatch.setattr(vb, "bound", both)
    found = vb.improve(known, vb.start(known, 5, biases=True, seed=1), tol=0.0, max_iter=120, least=0)
    in_float32, in_float64, spread = np.array(measured).T
    assert found.bounds == tuple(in_float32)
    assert np.diff(in_float64).min() >= -1e-10 * np.abs(in_float64).max()
    # In 200 rounds the furthest was 2.5 deviations off.
    assert np.all(np.abs(in_float32 - in_float64) <= 6 * spread + 1e-10 * np.abs(in_float64).max())


def spread_of_rounding(columns, sums):
    """Return how far rounding E[h h'] and E[h] of each column to float32 moves the bound (one deviation).

    Each is rounded once for all rows, by u = 2^-24 of itself at most. To first order the bound moves by
    sum of <E[h h'], sum E[g g']> / 2v and <E[h], sum x E[g]> / v, each term times its own rounding, of any sign.
    Roundings within the sums of a row, as many as it has entries, differ from row to row, and come to about as much.
    """
    i, j = columns.layout.half
    twice = np.where(i == j, 1.0, 2.0)
    squares = columns.packed() * sums.squares * twice / (2 * columns.priors.noise)
    products = (columns.means * sums.products)[:, : columns.layout.k] / columns.priors.noise
    return 2.0**-24 * np.sqrt(np.sum(squares**2) + np.sum(products**2))


def test_what_is_not_needed_is_removed():
    """Of eight components two are planted and two are left; row biases that are not there are removed too."""
    _, X, _ = planted(400, 12, share=0.3)
    model = fit_probabilistic_pca(known_entries(X), ProbabilisticPCAOptions(8, biases=True))
    assert model.n_components == 2
    assert model.row_bias_variance < 1e-3
    model = fit_probabilistic_pca(
        known_entries(planted(400, 12, biases=2.0)[1]), ProbabilisticPCAOptions(2, biases=True)
    )
    assert model.row_bias_variance == pytest.approx(4.0, rel=0.3)


def test_few_known_entries_do_not_overfit():
    """With two known values of twelve per row, of noise around means, predictions are no worse than the means."""
    rng = np.random.default_rng(0)
    truth = 3.0 + rng.standard_normal((80, 12))
    X = np.where(rng.random(truth.shape) < 2 / 12, truth, np.nan)
    with np.errstate(all="ignore"):
        means = np.nanmean(X, axis=0)
    model = fit_probabilistic_pca(known_entries(X), ProbabilisticPCAOptions(4, biases=False))
    missing = np.isnan(X)
    by_means = np.mean((np.broadcast_to(means, X.shape) - truth)[missing] ** 2)
    assert np.mean((model.impute(X) - truth)[missing] ** 2) <= by_means


@pytest.mark.parametrize("scale", [False, True])
def test_what_is_likely_of_a_cell_is_a_density(scale):
    """It sums to one over all values that a cell may have, about the prediction, with its standard deviation."""
    _, X, _ = planted(60, 5)
    model = fit_probabilistic_pca(known_entries(X, scale=scale), ProbabilisticPCAOptions(2, keep_rows=True))
    (mean,), (std,) = model.predict([7], [3])
    values = np.linspace(mean - 10 * std, mean + 10 * std, 2001)
    density = np.exp(model.log_likelihood([7], [3], values)) * (values[1] - values[0])
    assert density.sum() == pytest.approx(1.0, rel=1e-9)
    assert density @ values == pytest.approx(mean, rel=1e-9)
    assert density @ (values - mean) ** 2 == pytest.approx(std**2, rel=1e-9)


@pytest.mark.parametrize("share", [0.2, 0.7])
def test_rows_of_a_sparse_table_are_as_likely(share):
    """What is stored of a sparse row has the density of the same values among NaN, up to its float32."""
    _, X, _ = planted(60, 9, share=share)
    model = fit_probabilistic_pca(known_entries(X), ProbabilisticPCAOptions(2))
    np.testing.assert_allclose(model.score_samples(as_sparse(X)), model.score_samples(X), atol=1e-3)


@pytest.mark.parametrize("share", [0.1, 0.7])
@pytest.mark.parametrize("scale", [False, True])
def test_files_and_dask_give_what_memory_gives(tmp_path, share, scale):
    """A table that is read anew in each round, from a file or from Dask's chunks, has the same model."""
    _, X, _ = planted(600, 10, share=share)
    np.save(tmp_path / "t.npy", X)
    options = ProbabilisticPCAOptions(3, biases=False, keep_rows=True)
    here = fit_probabilistic_pca(known_entries(X, scale=scale), options)
    far = known_entries(as_source(tmp_path / "t.npy"), scale=scale, budget=40_000)
    chunks = known_entries(as_source(da.from_array(X, chunks=(170, 10))), scale=scale)
    for known in (far, chunks):
        assert isinstance(known, SourceEntries)
        model = fit_probabilistic_pca(known, options)
        assert model.n_steps == here.n_steps
        np.testing.assert_allclose(model.components, here.components, atol=1e-9)
        np.testing.assert_allclose(model.evidence, here.evidence, rtol=1e-9)
        rows, columns = np.arange(600), np.arange(600) % 10
        np.testing.assert_allclose(model.predict(rows, columns), here.predict(rows, columns), rtol=1e-4)


def test_a_file_that_is_mostly_empty_is_kept_as_its_known_entries(tmp_path):
    """Of a dense file larger than the budget, what is known may fit: it is read once and kept."""
    _, X, _ = planted(3000, 20, share=0.95)
    np.save(tmp_path / "t.npy", X)
    known = known_entries(as_source(tmp_path / "t.npy"), budget=800_000)
    assert isinstance(known, SparseEntries)
    assert known.n_known == (~np.isnan(X)).sum()


def test_sparse_and_dense_tables_have_the_same_model():
    """What is stored and what is not NaN are the same entries: float32 and float64 agree to float32's digits."""
    _, X, _ = planted(500, 12, share=0.4)
    options = ProbabilisticPCAOptions(2, biases=True)
    dense, sparse = (fit_probabilistic_pca(known_entries(T), options) for T in (X, as_sparse(X)))
    assert isinstance(known_entries(X), DenseEntries)
    np.testing.assert_allclose(sparse.mean, dense.mean, atol=1e-3)
    np.testing.assert_allclose(sparse.noise_variance, dense.noise_variance, rtol=1e-2)


def test_a_sparse_file_has_one_model_in_memory_and_over_the_budget(tmp_path):
    """Rows of a sparse table have biases by default, of a dense one none, whatever the budget and its share missing."""
    X = planted(300, 12, share=0.6, biases=2.0)[1]
    sp.save_npz(tmp_path / "X.npz", as_sparse(X).tocsr())
    source = as_source(tmp_path / "X.npz")
    held, read = known_entries(source), known_entries(source, budget=1000)
    assert isinstance(held, SparseEntries)
    assert isinstance(read, SourceEntries)
    memory, file = (fit_probabilistic_pca(known, ProbabilisticPCAOptions(2)) for known in (held, read))
    assert memory.row_bias_variance == pytest.approx(4.0, rel=0.3)
    assert file.row_bias_variance == pytest.approx(memory.row_bias_variance, rel=1e-3)
    np.testing.assert_allclose(file.impute(X), memory.impute(X), atol=1e-3)
    np.save(tmp_path / "X.npy", X)
    source = as_source(tmp_path / "X.npy")
    for known in (known_entries(X), known_entries(source), known_entries(source, budget=1000)):
        assert fit_probabilistic_pca(known, ProbabilisticPCAOptions(2)).row_bias_variance == 0.0


def test_stored_nan_is_missing_and_duplicates_are_their_mean_wherever_they_are_read():
    """The fit, filled values, draws and held-out entries read one table: that with each known cell once."""
    X = planted(60, 5, share=0.3)[1]
    i, j = np.nonzero(~np.isnan(X))
    none, twice = np.argwhere(np.isnan(X))[:4], X[i, j][:50]
    values = np.concatenate([X[i, j], twice, np.full(4, np.nan)])
    values[:50] += 0.5
    values[len(i) : len(i) + 50] -= 0.5
    rows, columns = np.concatenate([i, i[:50], none[:, 0]]), np.concatenate([j, j[:50], none[:, 1]])
    messy, clean = sp.coo_array((values, (rows, columns)), shape=X.shape), as_sparse(X)
    model = fit_probabilistic_pca(known_entries(messy), ProbabilisticPCAOptions(2))
    np.testing.assert_allclose(model.impute(messy), model.impute(clean), atol=1e-5)
    np.testing.assert_allclose(model.project_std(messy), model.project_std(clean), atol=1e-5)
    np.testing.assert_allclose(next(model.sample(messy, 1)), next(model.sample(clean, 1)), atol=1e-4)
    np.testing.assert_allclose(model.impute(messy)[i, j], X[i, j], rtol=1e-12)
    assert np.isfinite(hold_out(messy).values).all()
    estimator = gramian.ProbabilisticPCA(2).fit(messy)
    np.testing.assert_allclose(estimator.impute(messy)[i, j], X[i, j], rtol=1e-6)


def test_the_error_of_a_sum_of_shares_is_that_of_the_sum():
    """Shares are a whole: the error of all of them is far below the root of the sum of their squared errors."""
    model = fit_probabilistic_pca(known_entries(planted(60, 8, noise=0.05)[1]), ProbabilisticPCAOptions(2))
    assert model.cumulative_share_errors[0] == pytest.approx(model.share_errors[0], rel=1e-12)
    left = 1.0 - model.shares.sum()
    assert left < 0.01
    # What the two leave is noise, known to a share of itself.
    assert 0.0 < model.cumulative_share_errors[1] < left
    assert np.sqrt((model.share_errors**2).sum()) > 5 * left


def test_a_sparse_table_is_never_made_dense():
    """A fit of 20,000 known entries of 100,000 x 1,500 takes megabytes, as planned."""
    import tracemalloc

    rng = np.random.default_rng(0)
    X = triplets(rng.integers(0, 100_000, 20_000), rng.integers(0, 1500, 20_000), rng.random(20_000),
                 shape=(100_000, 1500))  # fmt: skip
    options = ProbabilisticPCAOptions(2, tol=1e-2)
    fit_probabilistic_pca(known_entries(X), options)
    tracemalloc.start()
    fit_probabilistic_pca(known_entries(X), options)
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert used < 100_000_000  # dense: 600,000,000 in float32
    assert used <= gramian.plan(X, 2, missing=True).peak_bytes


def test_a_fit_beyond_the_budget_is_refused_with_what_would_do():
    """The plan says bytes and a reason, and what does not fit is refused before the first round."""
    _, X, _ = planted(300, 100)
    plan = gramian.plan(X, 5, missing=True)
    assert "variational Bayes on dense rows, 5 components at most, because 84.9%" in str(plan)
    assert "dense rows, 1 component at most, because" in str(gramian.plan(X, 1, missing=True))
    whole = planted(300, 100, share=0.0)[1]
    assert gramian.plan(whole, 5, missing=True).way == "closed form"
    assert "the closed form, 1 component, because" in str(gramian.plan(whole, 1, missing=True))
    with pytest.raises(MemoryBudgetError, match=r"needs .* and memory_budget is 10 kB"):
        gramian.ProbabilisticPCA(5, memory_budget=10_000).fit(X)


@pytest.mark.parametrize("size", [1e200, 1e308])
@pytest.mark.parametrize("scale", [False, True])
def test_values_whose_squares_are_no_numbers_are_refused(scale, size):
    """One column beyond the range of squares, scaled or not, dense or sparse: a sentence, and nothing is filled."""
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (40, 4))
    X[:, 1] *= size
    X[3, 2] = np.nan
    with pytest.raises(InputError, match="a sum of squares is beyond the range of numbers"):
        fill_missing(X, 1, scale=scale)
    with pytest.raises(InputError, match="a sum of squares is beyond the range of numbers"):
        gramian.ProbabilisticPCA(1, scale=scale).fit(sp.csr_array(np.nan_to_num(X)))


def test_triplets_are_checked_and_duplicates_averaged():
    """Of a cell given twice the mean counts; positions are whole numbers within the shape."""
    X = triplets([0, 1, 1, 2], [0, 1, 1, 0], [4.0, 1.0, 2.0, 0.0], shape=(4, 3))
    assert X.nnz == 3
    assert X[1, 1] == 1.5
    twice = sp.coo_array(([1.0, 2.0, 5.0, 3.0], ([0, 0, 1, 1], [0, 0, 1, 0])), shape=(2, 2))
    assert known_entries(twice).n_known == 3
    with pytest.raises(InputError, match="Number them first"):
        triplets(["anna", "bert"], [0, 1], [1.0, 2.0])
    with pytest.raises(InputError, match="three sequences of one length"):
        triplets([0, 1], [0], [1.0, 2.0])
    with pytest.raises(InputError, match="outside of the shape"):
        triplets([0, 5], [0, 1], [1.0, 2.0], shape=(3, 3))
    with pytest.raises(InputError, match="There are no triplets"):
        triplets([], [], [])


def test_held_out_entries_are_gone_and_no_row_or_column_is_emptied():
    """A share of what is known is taken out, of a dense or a sparse table, and every row and column keeps one."""
    _, X, _ = planted(50, 10, share=0.5)
    for table in (X, as_sparse(X)):
        held = hold_out(table, share=0.2, seed=3)
        rest = known_entries(held.X)
        assert len(held.values) == round(0.2 * (~np.isnan(X)).sum())
        assert rest.n_known + len(held.values) == (~np.isnan(X)).sum()
        assert rest.counts.min() >= 1
        np.testing.assert_allclose(held.values, X[held.rows, held.columns])


def test_number_of_components_is_found():
    """Held-out entries find the planted number; of many the weakest may be within the error of what is held out."""
    for k in (1, 2, 3):
        _, X, _ = planted(300, 16, k, seed=k)
        assert choose_components(known_entries(X), ProbabilisticPCAOptions())[0] == k
    assert choose_components(known_entries(planted(300, 16, 8, seed=8)[1]), ProbabilisticPCAOptions())[0] in {7, 8}


@pytest.mark.parametrize("seed", range(4))
def test_noise_of_different_size_is_not_taken_for_components(seed):
    """In scaled columns of unequal noise about two components are chosen, and the filling is the same in any units."""
    rng = np.random.default_rng(seed)
    signal = rng.standard_normal((60, 2)) @ rng.standard_normal((2, 10))
    truth = signal + 0.5 * np.exp(0.7 * rng.standard_normal(10)) * rng.standard_normal((60, 10))
    units = 10.0 ** rng.uniform(-2, 2, 10)
    X = np.where(rng.random(truth.shape) < 0.1, np.nan, truth * units)
    filled = fill_missing(X)
    assert filled.n_components in {1, 2, 3}
    np.testing.assert_allclose(fill_missing(X / units).rows * units, filled.rows, rtol=1e-6)
    assert np.array_equal(fill_missing(X).rows, filled.rows)


@pytest.mark.parametrize("shape", [(200, 8), (60, 100), (25, 5)])
@pytest.mark.parametrize("seed", [0, 1])
def test_planted_low_rank_is_filled_to_the_noise(shape, seed):
    """Missing values of a table of rank two are filled to a few times the noise, and as far off as they say."""
    truth, X, missing = planted(*shape, seed=seed)
    filled = fill_missing(X, 2)
    away = (filled.rows - truth)[missing]
    assert np.sqrt(np.mean(away**2)) < 3 * 0.1
    assert 0.6 < np.sqrt(np.mean((away / filled.std[missing]) ** 2)) < 1.5
    assert np.array_equal(filled.rows[~missing], X[~missing])
    assert filled.std[~missing].max() == 0.0


def test_exact_low_rank_is_recovered():
    """Without noise the missing values are what they were, to the prior of the noise."""
    truth, X, missing = planted(noise=0.0, share=0.1)
    assert np.abs((fill_missing(X, 2).rows - truth)[missing]).max() < 0.02


def test_noise_alone_is_filled_with_the_means():
    """Where columns have nothing to do with each other, no component is used: means, drawn together a little."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 6))
    X[rng.random(X.shape) < 0.1] = np.nan
    filled = fill_missing(X)
    assert filled.n_components == 0
    means = np.nanmean(X, axis=0)[np.where(filled.missing)[1]]
    np.testing.assert_allclose(filled.rows[filled.missing], means, atol=2 / np.sqrt(270))  # two standard errors


def test_small_and_empty_corners_are_filled():
    """One column, hardly a value in a column, a complete table: filled, or returned as it is."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 4))
    X[2:, 1] = np.nan
    assert np.isfinite(fill_missing(X).rows).all()
    one = np.array([[1.0], [np.nan], [3.0]])
    assert 1.0 < fill_missing(one).rows[1, 0] < 3.0
    whole = rng.standard_normal((10, 3))
    assert fill_missing(whole).model is None
    assert np.array_equal(fill_missing(whole).rows, whole)


def test_empty_column_and_infinity_are_refused():
    """A column with one value, and infinity, are said with their place."""
    X = np.ones((5, 2))
    X[1:, 1] = np.nan
    with pytest.raises(InputError, match="Column 1 has 1 values"):
        fill_missing(X)
    X[:, 1] = [1, 2, np.inf, 3, np.nan]
    with pytest.raises(InputError, match="Row 2 holds infinity in column 1"):
        fill_missing(X)


@pytest.mark.parametrize("as_sparse", [False, True])
def test_values_that_cannot_be_squared_are_refused(as_sparse):
    """A finite table whose sum of squares is not is refused in a sentence, and fits once it is divided."""
    X = np.random.default_rng(0).standard_normal((20, 4)) * (1e30 if as_sparse else 1e200)
    X[3, 1] = np.nan
    X = sp.csr_array(np.nan_to_num(X)) if as_sparse else X  # what is stored of a sparse table is held in float32
    with pytest.raises(InputError, match="Divide the table by its largest value"):
        fit_probabilistic_pca(known_entries(X), ProbabilisticPCAOptions(1))
    size = np.abs(X.data if as_sparse else np.nan_to_num(X)).max()
    assert np.isfinite(fit_probabilistic_pca(known_entries(X / size), ProbabilisticPCAOptions(1)).weights).all()


def test_cap_is_a_warning():
    """Rounds that are stopped while the evidence still rises say so, at the line of the user."""
    with pytest.warns(ConvergenceWarning, match="still rises after 2 rounds") as caught:
        fit_probabilistic_pca(known_entries(planted()[1]), ProbabilisticPCAOptions(2, max_iter=2))
    assert caught[0].filename == __file__


def test_new_rows_are_filled_as_the_model_expects():
    """Missing values of new rows come out near the truth; complete rows stay; all-empty ones are means."""
    truth, _, _ = planted(400)
    model = fit_pca(as_source(truth[:300]), PCAOptions(2, scale=True))
    new, rng = truth[300:].copy(), np.random.default_rng(3)
    missing = rng.random(new.shape) < 0.2
    new[missing] = np.nan
    filled = fill_rows(model, new)
    assert np.sqrt(np.mean((filled - truth[300:])[missing] ** 2)) < 0.4
    assert np.array_equal(filled[~missing], truth[300:][~missing])
    assert np.allclose(fill_rows(model, np.full((1, 8), np.nan)), model.mean)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fill_rows(fit_pca(as_source(truth)), new)


def test_columns_of_one_pattern_share_their_covariance_and_all_different_ones_keep_their_order():
    """Patterns of columns, however they sort, are a way to save work: each column apart gives the same model."""
    truth, X, _ = planted(60, 9, share=0.1, seed=4)
    shared = truth.copy()
    shared[::7, [1, 4, 5]] = np.nan
    shared[3, 8] = np.nan
    for table in (X, shared):
        known = known_entries(table)
        measured = (known.center, known.factor, known.counts, known.sums, known.squares, known.of_sparse)
        apart = SourceEntries(*measured, as_source(table))
        one, other = (fit_probabilistic_pca(entries, ProbabilisticPCAOptions(2)) for entries in (known, apart))
        np.testing.assert_allclose(one.weights, other.weights, atol=1e-9)
        np.testing.assert_allclose(one.column_covariances, other.column_covariances, rtol=1e-6)
