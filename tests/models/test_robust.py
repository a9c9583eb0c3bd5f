"""Rows that lie apart do not move what is found among the others: PCA(robust=True), and the rows it leaves out."""

import warnings

import numpy as np
import pytest
from scipy.stats import rankdata
from sklearn.covariance import fast_mcd

import gramian
from gramian import PCA, load
from gramian.errors import IdentifiabilityWarning, NotSupportedError, ParameterError, PrecisionWarning
from gramian.models.pca.fit import fit_pca
from gramian.models.pca.model import PCAOptions
from gramian.models.pca.robust import _mcd, _ranks, fit_robust
from gramian.sources import as_source

# robustbase 0.95.0, wood[, 1:5]: Rousseeuw and Leroy (1987), page 243.
WOOD = """
.573 .1059 .465 .538 .841  .651 .1356 .527 .545 .887  .606 .1273 .494 .521 .920  .437 .1591 .446 .423 .992
.547 .1135 .531 .519 .915  .444 .1628 .429 .411 .984  .489 .1231 .562 .455 .824  .413 .1673 .418 .430 .978
.536 .1182 .592 .464 .854  .685 .1564 .631 .564 .914  .664 .1588 .506 .481 .867  .703 .1335 .519 .484 .812
.653 .1395 .625 .519 .892  .586 .1114 .505 .565 .889  .534 .1143 .521 .570 .889  .523 .1320 .505 .612 .919
.580 .1249 .546 .608 .954  .448 .1028 .522 .534 .918  .417 .1687 .405 .415 .981  .528 .1057 .424 .566 .909
"""

# robustbase 0.95.0, starsCYG: log of temperature and of light of 47 stars.
STARS = """
4.37 5.23 4.56 5.74 4.26 4.93 4.56 5.74 4.30 5.19 4.46 5.46 3.84 4.65 4.57 5.27 4.26 5.57 4.37 5.12 3.49 5.73 4.43 5.45
4.48 5.42 4.01 4.05 4.29 4.26 4.42 4.58 4.23 3.94 4.42 4.18 4.23 4.18 3.49 5.89 4.29 4.38 4.29 4.22 4.42 4.42 4.49 4.85
4.38 5.02 4.42 4.66 4.29 4.66 4.38 4.90 4.22 4.39 3.48 6.05 4.38 4.42 4.56 5.10 4.45 5.22 3.49 6.29 4.23 4.34 4.62 5.62
4.53 5.10 4.45 5.22 4.53 5.18 4.43 5.57 4.38 4.62 4.45 5.06 4.50 5.34 4.45 5.34 4.55 5.54 4.45 4.98 4.42 4.50
"""


def left_out(X, **options):
    """Rows that a robust fit does not use, counted from 1 as the books do."""
    return (np.flatnonzero(~PCA(robust=True, **options).fit(X).support_) + 1).tolist()


def test_wood_gravity_has_the_four_outliers_of_the_book():
    """Rows 4, 6, 8 and 19, which Rousseeuw replaced, and no others: as rrcov's PcaHubert(wood[, 1:5], k = 2) flags."""
    X = np.array(WOOD.split(), dtype=float).reshape(-1, 5)
    assert left_out(X) == left_out(X, n_components=2) == [4, 6, 8, 19]
    # rrcov 1.7.2, PcaHubert(wood[, 1:5], k = 2)@loadings[, 1].
    assert abs(PCA(1, robust=True).fit(X).components_[0] @ [0.939, 0.176, 0.291, -0.023, -0.040]) > 0.9


def test_variances_of_wood_gravity_are_those_of_covmcd_but_for_its_factors():
    """robustbase's covMcd uses the same 16 rows, and multiplies by 1.331990 (consistency) and 1.395098 (few rows)."""
    X = np.array(WOOD.split(), dtype=float).reshape(-1, 5)
    # robustbase 0.95.0, eigen(covMcd(wood[, 1:5], alpha = 0.75)$cov)$values.
    theirs = [0.0114322640, 0.0058630632, 0.0046151674, 0.0007558638, 0.0001683669]
    ours = PCA(robust=True).fit(X).explained_variance_
    assert ours * 1.331990 * 1.395098 == pytest.approx(theirs, rel=2e-6)


@pytest.mark.parametrize("n, d, k", [(20, 3, 2), (30, 12, 5), (40, 200, 5)], ids=["tall", "few rows", "wide"])
def test_gaussian_rows_are_not_said_to_lie_far_out(n, d, k):
    """In 60 Gaussian tables at most three have a row far out, where 1% of them may; one at 40 deviations always is."""
    said = 0
    for seed in range(60):
        X = np.random.default_rng([seed, n, d]).standard_normal((n, d))
        model = fit_pca(as_source(X))
        said += bool(fit_robust(model, np.asarray(model.project(as_source(X))), k=k).far_rows(k).any())
    assert said <= 3
    X[7] *= 40.0
    model = fit_pca(as_source(X))
    assert fit_robust(model, np.asarray(model.project(as_source(X))), k=k).far_rows(k)[7]


def test_cyg_ob1_has_its_four_giants():
    """The giants 11, 20, 30 and 34, and 7; covMcd(starsCYG) has 14 too. Classical distances find none of the giants."""
    X = np.array(STARS.split(), dtype=float).reshape(-1, 2)
    assert left_out(X) == [7, 11, 20, 30, 34]
    # robustbase 0.95.0, covMcd(starsCYG, alpha = 0.5)$center: 4.409, 4.949.
    assert PCA(robust=True).fit(X).mean_ == pytest.approx([4.409, 4.949], abs=0.03)
    assert not {10, 19, 29, 33} <= set(PCA().fit(X).outliers(X).flagged.tolist())


@pytest.mark.parametrize("n, d", [(200, 8), (60, 300)], ids=["MCD", "ROBPCA"])
@pytest.mark.parametrize("share", [0.05, 0.2])
def test_planted_rows_are_left_out_and_components_are_those_of_the_others(n, d, share):
    """A tenth of a degree from the fit without them, where the ordinary fit is turned by most of a right angle."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d)) * np.r_[12.0, 6.0, np.ones(d - 2)]
    m = int(share * n)
    X[:m] += np.r_[0.0, 0.0, 60.0, np.zeros(d - 3)]
    truth, robust, ordinary = PCA(2).fit(X[m:]), PCA(2, robust=True).fit(X), PCA(2).fit(X)
    assert not robust.support_[:m].any()
    assert robust.support_[m:].mean() > 0.95
    cosines = [np.linalg.svd(fit.components_ @ truth.components_.T)[1].min() for fit in (robust, ordinary)]
    assert cosines[0] > 0.98
    assert cosines[1] < 0.6


@pytest.mark.parametrize("p", [1, 2, 8, 20, 30])
@pytest.mark.parametrize("kind", ["shifted", "cells", "across"])
def test_the_first_look_takes_none_of_the_rows_that_lie_apart(p, kind):
    """From scores: a fifth of the rows moved, one cell in each, or moved across the narrowest direction; ten tables."""
    for seed in range(10):
        rng = np.random.default_rng([seed, p])
        n = int(rng.integers(10 * p + 50, 1_500))
        X = rng.standard_normal((n, p)) @ rng.standard_normal((p, p))
        m, (values, U) = n // 5, np.linalg.eigh(np.cov(X.T).reshape(p, p))
        if kind == "shifted":
            X[:m] += 100.0 * np.sqrt(values[-1]) * U[:, rng.integers(p)]
        elif kind == "cells":
            X[np.arange(m), rng.integers(0, p, m)] += 1000.0 * np.sqrt(values[-1])
        else:
            X[:m] += 100.0 * np.sqrt(values[0]) * U[:, 0]
        core = _mcd((X - X.mean(axis=0)) @ np.linalg.eigh(np.cov(X.T).reshape(p, p))[1])
        assert core.sum() == int(0.75 * n)
        assert not core[:m].any()


@pytest.mark.parametrize("p", [2, 5, 12, 20])
def test_the_first_look_is_as_close_as_that_of_scikit_learn(p):
    """Of ten tables with a fifth of the rows apart no determinant is a hundredth larger than FAST-MCD's."""
    for seed in range(10):
        rng = np.random.default_rng([seed, p])
        X = rng.standard_normal((400, p))
        X[:80] += 6.0 * rng.standard_normal(p)
        cores = _mcd(X), fast_mcd(X, 0.75, random_state=0)[2]
        ours, theirs = (np.linalg.slogdet(np.cov(X[core].T))[1] for core in cores)
        assert ours < theirs + 0.01


def test_of_more_than_a_quarter_some_are_taken():
    """Where three tenths of the rows lie apart, the first look takes all others: and so a sixth of those apart."""
    X = np.random.default_rng(0).standard_normal((500, 4))
    X[:150] += 50.0
    core = _mcd(X)
    assert core[150:].all()
    assert core[:150].sum() == 25
    X[:, 3] = X[:, 0]
    assert _mcd(X) is None


@pytest.mark.parametrize("n, p, share, near", [(200, 10, 0.2, 7.0), (400, 20, 0.15, 8.0)])
def test_a_tight_cluster_is_told_only_where_it_lies_far_out(n, p, share, near):
    """It is taken where that makes the determinant smaller: 1 + w r^2 < (1 - w)^-p, w its part of three quarters."""
    m, w = int(share * n), share / 0.75
    assert 1.0 + w * near**2 < (1.0 - w) ** -p
    for seed in range(5):
        X = np.random.default_rng([seed, p]).standard_normal((n, p))
        X[:m] *= 0.1
        X[:m, 0] += near
        assert _mcd(X)[:m].all()
        X[:m, 0] += 30.0
        assert not _mcd(X)[:m].any()


@pytest.mark.parametrize("size", [1e6, 1e7, 1e8, -1e9, 1e12])
@pytest.mark.parametrize("shape", [(200, 1), (200, 3), (40, 200)])
def test_one_row_may_lie_as_far_out_as_it_likes(shape, size):
    """From ten million deviations on it swelled the spread until the others seemed to lie in a plane."""
    X = np.random.default_rng(0).standard_normal(shape)
    X[7] = size
    used = PCA(robust=True).fit(X).support_
    assert not used[7]
    assert used.mean() > 0.95


def test_equal_numbers_share_a_rank():
    """As scipy's rankdata, which is not loaded with PCA."""
    y = np.random.default_rng(0).poisson(1.0, 200).astype(float)
    assert (_ranks(y) == rankdata(y)).all()


def test_the_first_look_ends_whatever_it_is_given(monkeypatch):
    """Numbers that are none took it round for ever; half of the rows at one point divided by zero."""
    assert _mcd(np.full((50, 2), np.nan)) is None
    with monkeypatch.context() as patch:
        patch.setattr("gramian.models.pca.robust._lengths", lambda Z, _core: (np.arange(float(len(Z))), float("nan")))
        assert _mcd(np.random.default_rng(0).standard_normal((40, 2))).sum() == 30
    core = _mcd(np.r_[np.zeros(50), np.random.default_rng(0).standard_normal(50)][:, None])
    assert core[:50].all()
    assert core.sum() == 75


def test_gaussian_rows_are_used_but_for_a_few():
    """Rows without outliers: all of ordinary PCA's rows are used but one in a hundred, and the limits hold."""
    X = np.random.default_rng(0).standard_normal((500, 6)) * [5.0, 4.0, 3.0, 2.0, 1.0, 1.0]
    model = fit_pca(as_source(X))
    found = fit_robust(model, model.project(as_source(X)), k=2)
    assert found.used.mean() > 0.99
    assert 0.3 < len(found.outliers(2).flagged) / found.outliers(2).expected < 2.0


def dry_days(share, columns):
    """300 days of rain in so many places, that share of them dry in all."""
    rng = np.random.default_rng([int(100 * share), columns])
    X = rng.gamma(1.0, 1.0, (300, columns))
    X[: round(share * 300)] = 0.0
    return X


@pytest.mark.parametrize("share", [0.5, 0.51, 0.6, 0.65, 0.7, 0.74, 0.75, 0.8, 0.95])
@pytest.mark.parametrize("columns", [1, 2, 3, 8, 120])
def test_equal_rows_are_not_all_that_is_fitted(columns, share):
    """Where more than half of the rows are one point, they are no measure of others: all are used, with a warning."""
    X = dry_days(share, columns)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        pca = PCA(robust=True).fit(X)
    assert pca.explained_variance_[0] > 0.01 * PCA().fit(X).explained_variance_[0]
    assert 2 * pca.support_.sum() > len(X)
    assert pca.support_.all() == any("robust=True tells no row" in str(one.message) for one in said)
    if share > 0.5:
        (one,) = said
        assert one.category is IdentifiabilityWarning
        assert "more than half of them are alike" in str(one.message)
        assert one.filename == __file__


@pytest.mark.parametrize("kind", ["gamma", "normal", "indicator"])
def test_a_column_of_zeros_for_most_rows_hides_no_row_far_out(kind):
    """Two thirds of one column of five are zero: rows thirty deviations out along another are left out."""
    rng = np.random.default_rng(0)
    X, zero = rng.standard_normal((300, 5)), rng.random(300) < 0.65
    X[:, 0] = np.where(zero, 0.0, {"gamma": rng.gamma(1.0, 1.0, 300), "normal": X[:, 0], "indicator": 1.0}[kind])
    X[:3, 4] += 30.0
    pca = PCA(robust=True).fit(X)
    assert not pca.support_[:3].any()
    assert pca.explained_variance_[-1] > 1e-3


def in_a_plane():
    """200 rows, the fourth column the sum of the first two but for five of them."""
    X = np.random.default_rng(0).standard_normal((200, 4))
    X[:, 3] = X[:, 0] + X[:, 1]
    X[:5, 3] += 5.0
    return X


def mostly_zero():
    """100 rows of three columns, one of them zero for nine tenths."""
    X = np.random.default_rng(0).standard_normal((100, 3))
    X[:90, 2] = 0.0
    return X


@pytest.mark.parametrize(
    "X, why",
    [
        (in_a_plane(), "most of them lie in a plane"),
        (mostly_zero(), "most of them lie in a plane"),
        (np.r_[[[50.0, 50.0]], np.random.default_rng(0).standard_normal((8, 2))], "fewer than 10 rows"),
        (np.tile(mostly_zero(), (50, 1)), "most of them lie in a plane"),
        (np.ones((50, 3)), "variance is zero"),
        (1e-160 * np.random.default_rng(0).standard_normal((50, 3)), "too small"),
        (1e200 * np.random.default_rng(0).standard_normal((50, 3)), "large"),
        (1e-25 * np.random.default_rng(0).standard_normal((50, 3)).astype(np.float32), "too small"),
    ],
    ids=["plane", "zeros", "few rows", "more than are measured", "constant", "subnormal", "infinite", "float32"],
)
def test_a_fit_says_where_no_row_was_told_from_the_others(X, why):
    """All rows are used, and a warning at the caller's line says why."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert PCA(robust=True).fit(X).support_.all()
    (one,) = [one for one in said if one.category is not PrecisionWarning]
    assert one.category is IdentifiabilityWarning
    assert why in str(one.message)
    assert one.filename == __file__


@pytest.mark.parametrize("X", [dry_days(0.8, 1), dry_days(0.65, 3), in_a_plane()], ids=["zeros", "dry days", "plane"])
def test_an_analysis_warns_of_none_of_this(X):
    """Nobody asked it for rows that are not outlying; nor does it divide by zero."""
    assert gramian.analyze(X).findings


def test_weights_are_kept_and_the_file_remembers(tmp_path):
    """A robust fit is the fit of the rows that it uses, with their weights; saved and loaded it is robust still."""
    rng = np.random.default_rng(0)
    X, w = rng.standard_normal((80, 4)), rng.integers(1, 4, 80)
    X[:5] += 30.0
    robust = PCA(2, robust=True).fit(X, sample_weight=w)
    ordinary = PCA(2).fit(X, sample_weight=w * robust.support_)
    np.testing.assert_allclose(robust.components_, ordinary.components_)
    assert robust.certificate_.grades == ordinary.certificate_.grades
    assert load(robust.save(tmp_path / "robust.gramian")).robust
    assert not hasattr(robust.set_params(robust=False).fit(X), "support_")


def test_what_cannot_be_robust_is_refused():
    """Batches, and rows that are not centered, are refused before any work."""
    X = np.random.default_rng(0).standard_normal((30, 3))
    with pytest.raises(NotSupportedError, match=r"robust=True compares all rows"):
        PCA(robust=True).partial_fit(X)
    with pytest.raises(ParameterError, match=r"Leave center=True"):
        PCA(robust=True, center=False).fit(X)


def test_a_summary_is_of_the_rows_that_were_used():
    """Loadings, contributions and squared cosines of a robust fit are those of a PCA of the rows it used."""
    X = np.random.default_rng(0).standard_normal((60, 4)) * [3.0, 2.0, 1.0, 1.0]
    X[:6] += [0.0, 40.0, 0.0, 0.0]
    robust = PCA(2, robust=True).fit(X)
    found, known = robust.summary(X), PCA(2).fit(X[robust.support_]).summary(X[robust.support_])
    assert not robust.support_[:6].any()
    for name in ("loadings", "contributions", "cos2"):
        np.testing.assert_allclose(getattr(found, name), getattr(known, name), rtol=1e-9, atol=1e-12)
    parts = np.asarray(found.row_contributions)
    np.testing.assert_allclose(parts[robust.support_], known.row_contributions, rtol=1e-9, atol=1e-12)
    assert (parts[~robust.support_] == 0.0).all()


@pytest.mark.parametrize("size", [1e-5, 3e-6, 1e-6])
def test_what_is_left_may_be_almost_nothing(size):
    """A column of hardly any variance, not held by the components, sets no limit: rows have no distance from them."""
    X = np.random.default_rng(0).standard_normal((200, 5)) * [5.0, 4.0, 3.0, 2.0, size]
    model = fit_pca(as_source(X), PCAOptions(4))
    Z = np.asarray(model.project(as_source(X)))
    found = fit_robust(model, Z, k=4, beyond=np.square(X - np.asarray(model.reconstruct(Z))).sum(axis=1))
    assert found.limits(4)[1] == np.inf
    assert found.used.sum() >= 190
