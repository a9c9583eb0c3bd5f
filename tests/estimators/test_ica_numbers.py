import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import brentq

from gramian import ICA
from gramian.errors import ConvergenceWarning, IdentifiabilityWarning, ParameterError, PrecisionWarning, RankWarning
from gramian.sources.dense import DenseRows
from gramian.testing import amari_distance, mixed_sources
from gramian.unmixing.contrast import LogCosh
from gramian.unmixing.white_rows import WhiteRows

ALGORITHMS = ["picard", "parallel", "deflation", "infomax"]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sources_have_unit_variance_order_and_signs(mixed, algorithm, dtype):
    """Unit variances, most explained variance first, the largest entry of each mixing column positive."""
    X = mixed[0].astype(dtype)
    ica = ICA(algorithm=algorithm, tol=1e-5).fit(X)
    S = ica.transform(X)
    assert S.dtype == ica.components_.dtype == ica.mixing_.dtype == dtype
    np.testing.assert_allclose(S.var(axis=0), 1.0, rtol=1e-4)
    np.testing.assert_allclose(S.mean(axis=0), 0.0, atol=1e-5)
    assert (np.diff(ica.explained_variance_) <= 0).all()
    assert (ica.mixing_[np.abs(ica.mixing_).argmax(axis=0), np.arange(4)] > 0).all()
    np.testing.assert_allclose(ica.explained_variance_, (ica.mixing_**2).sum(axis=0), rtol=1e-4)
    np.testing.assert_allclose(ica.inverse_transform(S), X, atol=1e-4)


def test_remove_takes_out_the_sources_named_and_nothing_else(mixed):
    """Removed sources are zero afterwards, the others are untouched; removing none changes nothing."""
    X, _ = mixed
    ica = ICA(n_components=3).fit(X[:2000])
    before, after = ica.transform(X), ica.transform(ica.remove(X, sources=[1]))
    np.testing.assert_allclose(after[:, 1], 0.0, atol=1e-9)
    np.testing.assert_allclose(after[:, [0, 2]], before[:, [0, 2]], atol=1e-9)
    np.testing.assert_allclose(ica.remove(X, sources=[]), X)
    np.testing.assert_allclose(ica.remove(X, sources=np.array([0, 2])), ica.remove(X, sources=[2, -3]), atol=1e-9)
    with pytest.raises(ParameterError, match=r"sources holds 3, and this ICA has the sources 0 to 2"):
        ica.remove(X, sources=[3])


@pytest.mark.parametrize("fun", ["logcosh", "exp", LogCosh(2.0)])
@pytest.mark.parametrize("seed", range(3))
def test_infomax_unmixes_with_the_contrasts_it_takes(fun, seed):
    """Peaked and flat sources are found with every contrast that infomax takes."""
    A = np.random.default_rng(seed).standard_normal((3, 3))
    ica = ICA(algorithm="infomax", fun=fun, independence=False).fit(mixed_sources(20_000, 3, seed=seed) @ A.T)
    assert amari_distance(ica.components_, A) <= 0.05


def test_discrete_sources_are_reported_as_such():
    """Two mixed fair coins: no entropy is claimed, and the coins found are as independent as those mixed."""
    coins = np.random.default_rng(0).integers(0, 2, (5_000, 2)).astype(float)
    ica = ICA().fit(coins @ np.array([[2.0, 1.0], [1.0, 1.0]]))
    report = ica.independence_
    assert np.isnan(ica.mutual_information_drop_)
    assert report.dependence[0, 1] <= report.dependence_noise
    assert str(report).count("discrete: no density") == 2
    assert "nan" not in str(report)
    assert "inf" not in str(report).replace("information", "")


@pytest.mark.filterwarnings("ignore::gramian.errors.IdentifiabilityWarning")
def test_few_rows_get_no_report(mixed):
    """Four rows can be turned into any sources: no number is given, and the report says how many rows it takes."""
    ica = ICA(tol=1.0).fit(mixed[0][:4, :3])
    assert np.isnan(ica.mutual_information_drop_)
    assert str(ica.independence_) == "4 rows are too few to tell how independent 3 sources are: pass 50 or more."
    assert np.isfinite(ICA(tol=1.0).fit(mixed[0][:50, :3]).mutual_information_drop_)


def test_sparse_and_dense_rows_agree(mixed):
    """CSR rows give the sources of the same dense rows."""
    X, _ = mixed
    np.testing.assert_allclose(ICA().fit(sp.csr_array(X)).components_, ICA().fit(X).components_, atol=1e-8)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_tensors_and_arrays_agree(mixed, algorithm):
    """Torch rows give tensors, and the sources of the same NumPy rows to what tol leaves open."""
    torch = pytest.importorskip("torch")
    X, A = mixed
    there, here = (ICA(algorithm=algorithm, tol=1e-8).fit(rows) for rows in (torch.asarray(X), X))
    assert isinstance(there.components_, torch.Tensor)
    np.testing.assert_allclose(there.components_.numpy(), here.components_, atol=1e-6)
    assert isinstance(there.transform(torch.asarray(X)), torch.Tensor)
    assert amari_distance(here.components_, A) <= 0.1


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_rows_that_are_not_copied_agree(algorithm, monkeypatch):
    """Too little memory for white rows in float32 changes the way and not the answer."""
    A = np.random.default_rng(5).standard_normal((4, 4))
    X = mixed_sources(50_000, 4, seed=5) @ A.T
    held = ICA(algorithm=algorithm, tol=1e-9, independence=False).fit(X)
    monkeypatch.setattr("gramian.models.ica.fit._copy_pays", lambda *_: False)
    not_held = ICA(algorithm=algorithm, tol=1e-9, independence=False).fit(X)
    np.testing.assert_allclose(held.components_, not_held.components_, atol=1e-7)
    assert max(held.gradient_norm_, not_held.gradient_norm_) <= 1e-9


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_iterations_over_all_rows_are_at_most_those_asked_for(algorithm):
    """Where nothing converges, both precisions together make no more iterations than max_iter."""
    X = np.random.default_rng(0).standard_normal((3_000, 6))
    with pytest.warns(ConvergenceWarning, match="after 20 iterations"):
        ica = ICA(algorithm=algorithm, max_iter=20, independence=False).fit(X)
    assert ica.n_iter_ == 20


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_repeated_and_constant_columns_reduce_the_sources(algorithm):
    """Duplicated sensors and constant ones are no sources: the rank is respected, and said."""
    A = np.random.default_rng(0).standard_normal((3, 3))
    X = mixed_sources(3_000, 3, seed=1) @ A.T
    wide = np.column_stack([X, X[:, 0], X @ [1.0, 2.0, 3.0], np.full(3_000, 5.0)])
    with pytest.warns(RankWarning, match="the rows have 3 directions, so 3 sources are returned and not 6"):
        ica = ICA(algorithm=algorithm, independence=False).fit(wide)
    assert ica.components_.shape == (3, 6)
    P = ica.transform(wide).T @ mixed_sources(3_000, 3, seed=1) / 3_000
    assert np.abs(P).max(axis=1).min() > 0.98
    np.testing.assert_allclose(ica.inverse_transform(ica.transform(wide)), wide, atol=1e-8)


def test_fewer_rows_than_columns():
    """n - 1 directions at most, whatever the number of sensors."""
    X = np.random.default_rng(0).laplace(size=(30, 50))
    ica = ICA(independence=False, tol=1e-3, max_iter=2000).fit(X)
    assert ica.components_.shape == (29, 50)
    with pytest.warns(RankWarning, match="n_components is too large: it will be set to 30"):
        ICA(40, independence=False, tol=1e-2, max_iter=2000).fit(X)


def test_gaussian_sources_are_named():
    """Among Gaussian sources there is nothing to find, and the fit says which they are."""
    X = np.random.default_rng(3).standard_normal((10_000, 4))
    with pytest.warns(IdentifiabilityWarning, match="Sources IC1, IC2, IC3, IC4 are too Gaussian"):
        ICA(tol=1e-4, max_iter=2000).fit(X)


def test_too_few_rows_for_the_sources_are_warned_of_once():
    """60 rows can be turned into 50 sources of any shape, and the fit says so."""
    X = np.random.default_rng(0).standard_normal((60, 50))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ICA(tol=1.0).fit(X)
    told = [str(warning.message) for warning in caught if warning.category is IdentifiabilityWarning]
    assert len(told) == 1
    assert told[0].startswith("60 rows for 50 sources")


def test_same_seed_same_digits_and_any_block_size(mixed):
    """The same seed gives the same digits; blocks of another size the same to rounding."""
    X, _ = mixed
    one, again = ICA(random_state=3).fit(X), ICA(random_state=3).fit(X)
    np.testing.assert_array_equal(one.components_, again.components_)
    for block_rows in (100, 999):
        other = ICA(random_state=3).fit(DenseRows(X, block_rows=block_rows))
        np.testing.assert_allclose(other.components_, one.components_, atol=1e-9)
    np.testing.assert_allclose(ICA(random_state=3).fit(np.asfortranarray(X)).components_, one.components_, atol=1e-9)


def test_rows_that_repeat_are_sampled_at_every_phase():
    """A sine of ten rows a period among 200,000: stable, and independent of the others, though samples take a tenth."""
    rng = np.random.default_rng(0)
    S = np.column_stack([np.sin(2 * np.pi * np.arange(200_000) / 10 + 0.3), rng.laplace(size=(200_000, 2))])
    ica = ICA(runs=5).fit(S @ rng.standard_normal((3, 3)))
    assert ica.stability_.min() > 0.9
    assert ica.independence_.dependence.max() < 0.05


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_white_rows_of_wide_tables_are_copied_within_the_budget(monkeypatch, dtype):
    """20,000 rows of two sources are 160,000 bytes in float32: copied where there is room for that, not with less."""
    A = np.random.default_rng(5).standard_normal((12, 2))
    X, calls, copied = (mixed_sources(20_000, 2, seed=5) @ A.T).astype(dtype), [], WhiteRows.in_memory
    monkeypatch.setattr(WhiteRows, "in_memory", lambda rows, dtype: calls.append(rows.n_rows) or copied(rows, dtype))
    fits = []
    for room, times in [(159_999, 0), (160_000, 1)]:
        monkeypatch.setattr("gramian.models.ica.fit.memory_budget", lambda room=room: 2 * room)
        fits.append(ICA(2, tol=1e-8, independence=False).fit(X).components_)
        assert calls.count(20_000) == times
    np.testing.assert_allclose(*fits, atol=1e-6)


@pytest.mark.parametrize("whiten", ["unit-variance", "arbitrary-variance"])
def test_gradient_norm_of_infomax_is_that_at_its_own_scales(mixed, whiten):
    """At unit variance the gradient is far from zero; where each source has E[psi(s) s] = 1 it is under tol."""
    ica = ICA(algorithm="infomax", whiten=whiten, tol=1e-9, independence=False).fit(mixed[0])
    S = ica.transform(mixed[0])
    S = S / S.std(axis=0)
    signs = np.where((1 - np.tanh(S) ** 2).mean(axis=0) < (np.tanh(S) * S).mean(axis=0), -1.0, 1.0)

    def gradient(S):
        return (S + signs * np.tanh(S)).T @ S / len(S) - np.eye(4)

    scales = [brentq(lambda c, j=j: gradient(c * S)[j, j], 0.1, 10.0, xtol=1e-14) for j in range(4)]
    assert np.abs(gradient(S)).max() > 0.01
    assert np.abs(gradient(S * scales)).max() <= 1e-8
    assert ica.gradient_norm_ <= 1e-9


@pytest.mark.filterwarnings("ignore:whiten=False takes")
@pytest.mark.parametrize("column", [0.0, 1.0])
def test_a_constant_column_with_whiten_false_gets_a_report_without_bare_warnings(column):
    """A source that does not vary has no density, and the report says so."""
    z = mixed_sources(3_000, 2, seed=0)
    report = (
        ICA(whiten=False, tol=1.0, w_init=np.eye(3)).fit(np.column_stack([z, np.full(3_000, column)])).independence_
    )
    assert not np.isfinite(report.drop)
    assert "not known" in str(report)


@pytest.mark.parametrize("dtype, size", [("float64", 1e160), ("float32", 1e25)])
def test_sizes_whose_squares_overflow_are_unmixed(mixed, dtype, size):
    """The order and the sources are those of rows of ordinary size; one warning says what cannot be held."""
    X = mixed[0].astype(dtype)
    with pytest.warns(PrecisionWarning, match="cannot be held") as caught:
        large = ICA(independence=False).fit(X * np.asarray(size, dtype))
    assert {warning.category for warning in caught} == {PrecisionWarning}
    usual = ICA(independence=False).fit(X)
    np.testing.assert_allclose(large.components_ * np.asarray(size, dtype), usual.components_, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n", [2_000, 20_000])
def test_a_coin_beside_a_laplace_source_has_no_drop_that_is_known(n, seed):
    """Not finite from many rows; from few, where the error of W parts its values, its error is of the drop's size."""
    rng = np.random.default_rng(seed)
    S = np.column_stack([rng.integers(0, 2, n) - 0.5, rng.laplace(size=n)])
    report = ICA().fit(S @ np.array([[2.0, 1.0], [1.0, 1.0]])).independence_
    assert np.isfinite(report.drop) == (n == 2_000)
    assert report.drop > 3.0
    assert report.drop_error > report.drop / 3 or not np.isfinite(report.drop)
    assert ("not known" in str(report)) == (n == 20_000)


def test_independence_is_measured_on_a_sample_or_on_all_rows():
    """12,500 of 30,000 rows of ten sources by default, within the errors stated of what all of them say."""
    X = mixed_sources(30_000, 10, seed=8) @ np.random.default_rng(8).standard_normal((10, 10)).T
    sample, whole = (ICA(independence=asked, random_state=0).fit(X).independence_ for asked in (True, "all"))
    assert 10_000 <= sample.n_rows <= 12_500
    assert whole.n_rows == len(X)
    assert abs(sample.drop - whole.drop) <= sample.drop_error
    assert np.all(np.abs(sample.negentropy - whole.negentropy) <= 2 * sample.negentropy_error)
    assert ICA(independence=False).fit(X).independence_ is None


def test_sources_that_only_all_rows_tell_from_a_gaussian_are_not_named():
    """Ten logistic sources, kurtosis 1.2: a sample may not see what they are, and 200,000 rows do."""
    rng = np.random.default_rng(9)
    X = rng.logistic(size=(200_000, 10)) @ rng.standard_normal((10, 10))
    assert ICA(random_state=0).fit(X).independence_.gaussian == ()
