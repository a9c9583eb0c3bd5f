import warnings

import numpy as np
import pytest

from gramian.errors import ConvergenceWarning, InputError, RankWarning
from gramian.models.pca.fit import fit_pca
from gramian.models.pca.model import PCAOptions
from gramian.models.probabilistic import filling as probabilistic
from gramian.models.probabilistic.filling import choose_filling, fill_missing, fill_rows
from gramian.sources.opening import as_source


def planted(n=200, d=8, k=2, *, noise=0.1, share=0.15, seed=0, scales=None):
    """A table of low rank and noise, the same with missing values, and where they are."""
    rng = np.random.default_rng(seed)
    truth = rng.standard_normal((n, k)) @ rng.standard_normal((k, d)) + noise * rng.standard_normal((n, d))
    truth = truth * (np.ones(d) if scales is None else scales) + 5.0
    X = truth.copy()
    X[rng.random((n, d)) < share] = np.nan
    X[0], X[1] = truth[0], truth[1]
    return truth, X, np.isnan(X)


@pytest.mark.parametrize("shape", [(200, 8), (60, 100), (25, 5)])
@pytest.mark.parametrize("seed", [0, 1])
def test_planted_low_rank_is_filled_to_the_noise(shape, seed):
    """Missing values of a table of rank two are filled far better than by the mean, to a few times the noise."""
    truth, X, missing = planted(*shape, seed=seed)
    filled = fill_missing(X, 2)
    error = np.sqrt(np.mean((filled.rows - truth)[missing] ** 2))
    by_mean = np.sqrt(np.mean((np.nanmean(X, axis=0) - truth)[missing.any(axis=0).nonzero()[0][0]] ** 2)) + 1.0
    assert filled.converged
    assert error < 4 * 0.1
    assert error < by_mean / 3


def test_exact_low_rank_is_recovered():
    """Without noise the missing values are what they were, to the tolerance of the alternation."""
    truth, X, missing = planted(noise=0.0, share=0.1)
    assert np.abs((fill_missing(X, 2).rows - truth)[missing]).max() < 1e-3


def test_number_of_components_is_found():
    """Held-out entries find the planted rank where the noise is the same in every column."""
    for k in (1, 2, 3):
        _, X, _ = planted(300, 10, k, seed=k)
        assert fill_missing(X, scale=False).n_components == k


@pytest.mark.parametrize("seed", range(4))
def test_noise_of_different_size_is_not_taken_for_components(seed):
    """In scaled columns of unequal noise the planted two components are chosen, in any units, and fill well."""
    rng = np.random.default_rng(seed)
    signal = rng.standard_normal((60, 2)) @ rng.standard_normal((2, 10))
    truth = signal + 0.5 * np.exp(0.7 * rng.standard_normal(10)) * rng.standard_normal((60, 10))
    units = 10.0 ** rng.uniform(-2, 2, 10)
    X = np.where(rng.random(truth.shape) < 0.1, np.nan, truth * units)
    filled = fill_missing(X)
    assert filled.n_components == 2
    assert choose_filling(X / units) == 2
    assert choose_filling(X, seed=9) in {1, 2, 3}
    assert np.array_equal(fill_missing(X).rows, filled.rows)


def test_choice_serves_small_and_empty_corners():
    """Few rows, one column, hardly a value in a column: a number is chosen, and no entry is left to nothing."""
    rng = np.random.default_rng(0)
    assert choose_filling(rng.standard_normal((30, 1))) == 0
    assert choose_filling(rng.standard_normal((3, 2))) in {0, 1}
    X = rng.standard_normal((20, 4))
    X[2:, 1] = np.nan
    assert fill_missing(X).converged


def test_noise_alone_is_filled_with_the_means():
    """Where columns have nothing to do with each other, no component is used."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 6))
    X[rng.random(X.shape) < 0.1] = np.nan
    filled = fill_missing(X)
    assert filled.n_components == 0
    assert np.allclose(filled.rows[filled.missing], np.nanmean(X, axis=0)[np.where(filled.missing)[1]])


def test_observed_values_stay_and_scales_do_not_matter():
    """What is known is untouched; other units give the same filling in those units."""
    scales = 10.0 ** np.arange(-4, 4)
    _, X, missing = planted(scales=None)
    filled = fill_missing(X, 2)
    assert np.array_equal(filled.rows[~missing], X[~missing])
    other = fill_missing((X - 5.0) * scales + 5.0, 2)
    assert np.allclose((other.rows - 5.0) / scales + 5.0, filled.rows, atol=1e-4)


def test_complete_table_is_returned():
    """Nothing to fill, nothing done."""
    X = np.random.default_rng(0).standard_normal((10, 3))
    filled = fill_missing(X)
    assert filled.n_steps == 0
    assert np.array_equal(filled.rows, X)


def test_empty_column_and_infinity_are_refused():
    """A column with one value, and infinity, are said with their place."""
    X = np.ones((5, 2))
    X[1:, 1] = np.nan
    with pytest.raises(InputError, match="Column 1 has 1 values"):
        fill_missing(X)
    X[:, 1] = [1, 2, np.inf, 3, np.nan]
    with pytest.raises(InputError, match="Row 2 holds infinity in column 1"):
        fill_missing(X)


def test_cap_is_a_warning(monkeypatch):
    """An alternation that does not settle says so, and points at the line of the user."""
    monkeypatch.setattr(probabilistic, "MOST_STEPS", 2)
    with pytest.warns(ConvergenceWarning, match="has not settled after 2 steps") as caught:
        fill_missing(planted()[1], 2)
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


def test_as_many_components_are_tried_as_help():
    """Eight that stand out are found, and a cap that was reached is said."""
    _, X, _ = planted(200, 16, 8, share=0.1)
    assert choose_filling(X) == 8
    with pytest.warns(RankWarning, match="All of the 6 components"):
        assert choose_filling(X, most=6) == 6


def test_slow_spectrum_is_filled_in_few_decompositions(monkeypatch):
    """A wide table whose spectrum decays slowly, 1% missing: hundreds of steps for the choice, a few to fill."""
    rng = np.random.default_rng(0)
    U, V = (np.linalg.qr(rng.standard_normal((side, 40)))[0] for side in (40, 300))
    X = (U / np.sqrt(np.arange(1, 41))) @ V.T * 100
    truth = X.copy()
    X[rng.random(X.shape) < 0.01] = np.nan
    taken = []
    plain = probabilistic._shrunken

    def counted(Z, k):
        taken.append(k)
        return plain(Z, k)

    monkeypatch.setattr(probabilistic, "_shrunken", counted)
    k = choose_filling(X, scale=False)
    assert len(taken) < 1000
    taken.clear()
    filled = fill_missing(X, k, scale=False)
    assert filled.converged
    assert len(taken) == filled.n_steps < 50
    missing = np.isnan(X)
    assert np.mean((filled.rows - truth)[missing] ** 2) < 0.9 * np.mean((np.nanmean(X, axis=0) - truth)[missing] ** 2)
