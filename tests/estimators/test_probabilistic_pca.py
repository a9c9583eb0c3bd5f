"""Probabilistic PCA: the closed form of a complete table, the Gaussian it stands for of another, and planted truth."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import multivariate_normal

from gramian import PCA, ProbabilisticPCA
from gramian.errors import ConvergenceWarning, InputError, NotSupportedError, ParameterError


def planted(n=300, d=8, k=2, *, noise=0.3, share=0.2, seed=0):
    """A table of the model itself, and the same with missing values."""
    rng = np.random.default_rng(seed)
    truth = rng.standard_normal((n, k)) @ rng.standard_normal((k, d)) + noise * rng.standard_normal((n, d)) + 7.0
    incomplete = np.where(rng.random(truth.shape) < share, np.nan, truth)
    return truth, incomplete


def conditional(model, row):
    """Mean and covariance of the missing values of a row under the model's Gaussian, by textbook."""
    C, missing = model.get_covariance(), np.isnan(row)
    gain = C[np.ix_(missing, ~missing)] @ np.linalg.inv(C[np.ix_(~missing, ~missing)])
    mean = model.mean_[missing] + gain @ (row - model.mean_)[~missing]
    return mean, C[np.ix_(missing, missing)] - gain @ C[np.ix_(~missing, missing)]


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


@pytest.mark.parametrize("scale", [False, True])
def test_with_missing_values_every_answer_is_that_of_the_gaussian(scale):
    """Filled values, their deviations, those of the scores, and likelihoods equal the textbook's conditionals."""
    _, X = planted(60, 6, seed=1)
    model = ProbabilisticPCA(2, scale=scale).fit(X)
    filled, deviation, C = model.impute(X), model.impute_std(X), model.get_covariance()
    factor = 1.0 / np.nanstd(X, axis=0) if scale else np.ones(6)
    for i, row in enumerate(X):
        missing = np.isnan(row)
        mean, covariance = conditional(model, row)
        np.testing.assert_allclose(filled[i, missing], mean, atol=1e-8)
        np.testing.assert_allclose(deviation[i, missing] ** 2, np.diag(covariance), rtol=1e-8)
        V = (model.components_ * factor)[:, missing]
        np.testing.assert_allclose(model.transform_std(X)[i] ** 2, np.diag(V @ covariance @ V.T), atol=1e-9)
        known = multivariate_normal(model.mean_[~missing], C[np.ix_(~missing, ~missing)]).logpdf(row[~missing])
        np.testing.assert_allclose(model.score_samples(X)[i], known, rtol=1e-8)
    assert np.array_equal(filled[~np.isnan(X)], X[~np.isnan(X)])
    assert model.score(X) == pytest.approx(model.loglike_)


def test_em_ends_where_no_parameter_raises_the_likelihood():
    """Small moves of mean, components, variances and noise all lower the likelihood."""
    _, X = planted(80, 5, seed=2)
    model = ProbabilisticPCA(2, tol=1e-13, max_iter=20_000).fit(X)
    mean, C, rng = model.mean_, model.get_covariance(), np.random.default_rng(0)
    W = model.components_.T * np.sqrt(model.explained_variance_ - model.noise_variance_)

    def likelihood(mean, C):
        parts = (
            multivariate_normal(mean[o], C[np.ix_(o, o)]).logpdf(x[o]) for x, o in zip(X, ~np.isnan(X), strict=True)
        )
        return float(sum(parts))

    best = likelihood(mean, C)
    for _ in range(12):
        moved = W + 0.01 * rng.standard_normal(W.shape)
        noise = model.noise_variance_ * np.exp(0.01 * rng.standard_normal())
        assert likelihood(mean + 0.01 * rng.standard_normal(5), moved @ moved.T + noise * np.eye(5)) < best


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_planted_truth_is_found_and_its_uncertainty_is_honest(seed):
    """The planted plane and noise come back; filled values miss the truth as far as they say they do."""
    truth, X = planted(2000, 10, seed=seed)
    model, whole = ProbabilisticPCA(2).fit(X), PCA(2).fit(truth)
    assert np.linalg.svd(model.components_ @ whole.components_.T)[1].min() > 0.999
    assert model.noise_variance_ == pytest.approx(0.09, rel=0.05)
    missing = np.isnan(X)
    away = ((model.impute(X) - truth) / np.where(missing, model.impute_std(X), 1.0))[missing]
    assert away.std() == pytest.approx(1.0, abs=0.05)
    assert model.impute_std(X)[~missing].max() == 0.0


def test_number_of_components_is_chosen_and_none_is_too_small():
    """Without a number, held-out entries decide; noise alone still has one direction to look at."""
    assert ProbabilisticPCA().fit(planted(k=3)[1]).n_components_ == 3
    assert ProbabilisticPCA().fit(np.random.default_rng(0).standard_normal((100, 5))).n_components_ == 1


def test_as_many_components_as_columns_are_a_full_covariance():
    """All components, or all but one, are the same Gaussian: that of EM without any structure."""
    _, X = planted(200, 4, 4, seed=3)
    most, less = (ProbabilisticPCA(k, tol=1e-12, max_iter=5000).fit(X) for k in (4, 3))
    np.testing.assert_allclose(most.get_covariance(), less.get_covariance(), rtol=1e-6)
    assert most.explained_variance_ratio_.sum() == pytest.approx(1.0)
    one = ProbabilisticPCA().fit(X[:, :1])
    assert one.explained_variance_[0] == pytest.approx(np.nanvar(X[:, 0]), rel=1e-6)


def test_rows_that_are_empty_or_new():
    """A row of which nothing is known is the mean, with the deviation of its column; new rows need the same columns."""
    _, X = planted()
    model = ProbabilisticPCA(2).fit(X)
    empty = np.full((1, 8), np.nan)
    np.testing.assert_allclose(model.impute(empty)[0], model.mean_)
    np.testing.assert_allclose(model.impute_std(empty)[0] ** 2, np.diag(model.get_covariance()))
    np.testing.assert_allclose(model.transform(empty), 0.0, atol=1e-12)
    with pytest.raises(InputError, match="X has 7 features"):
        model.transform(X[:, :7])


def test_scaled_columns_know_no_units():
    """With scale=True other units give the same filling, in those units."""
    _, X = planted(100, 5)
    units = 10.0 ** np.arange(-2, 3)
    a, b = ProbabilisticPCA(2, scale=True).fit(X), ProbabilisticPCA(2, scale=True).fit(X * units)
    np.testing.assert_allclose(b.impute(X * units) / units, a.impute(X), rtol=1e-6)
    np.testing.assert_allclose(b.impute_std(X * units) / units, a.impute_std(X), atol=1e-6)


def test_what_it_cannot_do_is_refused_in_a_sentence():
    """Sparse tables, infinity, too many components, one row, and scores of another width."""
    X = planted(20, 4)[0]
    with pytest.raises(NotSupportedError, match="not stored is zero or unknown"):
        ProbabilisticPCA().fit(sp.csr_array(X))
    with pytest.raises(ParameterError, match="n_components=5 is more than min"):
        ProbabilisticPCA(5).fit(X)
    with pytest.raises(ParameterError, match="n_components=0"):
        ProbabilisticPCA(0).fit(X)
    with pytest.raises(InputError, match="1 sample"):
        ProbabilisticPCA().fit(X[:1])
    X[3, 2] = np.inf
    with pytest.raises(InputError, match="Row 3 holds infinity in column 2"):
        ProbabilisticPCA(1).fit(X)
    with pytest.raises(InputError, match="Row 3 holds infinity in column 2"):
        ProbabilisticPCA(1).fit(X[4:]).transform(X)
    with pytest.raises(InputError, match="Pass scores as transform"):
        ProbabilisticPCA(1).fit(X[4:]).inverse_transform(np.ones((2, 3)))


def test_a_cap_is_a_warning_and_rows_in_a_plane_are_no_trouble():
    """EM that is stopped says so; a table without noise keeps a finite likelihood."""
    _, X = planted(60, 6)
    with pytest.warns(ConvergenceWarning, match="still rises after 2 steps"):
        ProbabilisticPCA(2, max_iter=2).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        flat = ProbabilisticPCA(2).fit(planted(40, 5, noise=0.0, share=0.0)[0])
    assert np.isfinite(flat.loglike_)
    assert flat.noise_variance_ < 1e-9


def test_warning_counts_the_components_that_were_asked_for():
    """As many components as columns are fitted as one fewer and the noise, and the warning says so."""
    _, X = planted()
    with pytest.warns(ConvergenceWarning, match=r"with 8 components \(fitted as 7 and the noise\)"):
        ProbabilisticPCA(8, max_iter=2, tol=0.0).fit(X)
