import inspect
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.decomposition
from scipy.optimize import brentq
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning as TheirConvergenceWarning
from sklearn.exceptions import NotFittedError

import gramian
from gramian import ICA, FastICA, fastica
from gramian.errors import (
    ConvergenceWarning,
    IdentifiabilityWarning,
    InputError,
    ParameterError,
    PrecisionWarning,
    RankWarning,
)
from gramian.sources.dense import DenseRows
from gramian.testing import CountingRows, amari_distance, mixed_sources
from gramian.unmixing.contrast import Cube, LogCosh
from gramian.unmixing.white_rows import WhiteRows

ALGORITHMS = ["picard", "parallel", "deflation", "infomax"]


@pytest.fixture
def mixed():
    """Four mixed sources with a mean, and the mixing matrix."""
    A = np.random.default_rng(5).standard_normal((4, 4))
    return mixed_sources(4_000, 4, seed=5) @ A.T + 2.0, A


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


@pytest.mark.parametrize("whiten, variance", [("unit-variance", 1.0), ("arbitrary-variance", 1 / 4000)])
def test_meanings_of_whiten(mixed, whiten, variance):
    """Sources of variance 1 or 1/n; components = unmixing @ whitening; mixing is the pseudo-inverse."""
    X, _ = mixed
    ica = ICA(whiten=whiten).fit(X)
    np.testing.assert_allclose(ica.transform(X).var(axis=0), variance, rtol=1e-6)
    np.testing.assert_allclose(ica._unmixing @ ica.whitening_, ica.components_, atol=1e-12)
    np.testing.assert_allclose(ica.mixing_, np.linalg.pinv(ica.components_), rtol=1e-6, atol=1e-9)
    theirs = sklearn.decomposition.FastICA(whiten=whiten, random_state=0, tol=1e-9, max_iter=1000).fit(X)
    P = np.abs(ica.components_ @ theirs.mixing_)
    np.testing.assert_allclose(P.max(axis=1), 1.0, atol=1e-4)
    np.testing.assert_allclose(np.abs(ica.whitening_), np.abs(theirs.whitening_), atol=1e-6)


def test_whiten_false_takes_rows_as_they_are():
    """White rows are not centered, n_components is ignored with a warning, and nothing is whitened."""
    z = mixed_sources(3_000, 3, seed=0)
    with pytest.warns(UserWarning, match="Ignoring n_components with whiten=False"):
        ica = ICA(n_components=2, whiten=False).fit(z)
    assert not hasattr(ica, "mean_")
    assert not hasattr(ica, "whitening_")
    assert ica.components_.shape == (3, 3)
    np.testing.assert_allclose(ica.transform(z), z @ ica.components_.T)


def test_signatures_are_scikit_learns():
    """FastICA and fastica take scikit-learn's parameters with its defaults; ICA takes them and more."""
    for name in ("FastICA", "fastica"):
        ours, theirs = (inspect.signature(getattr(home, name)) for home in (gramian, sklearn.decomposition))
        assert {p: v.default for p, v in ours.parameters.items()} == {
            p: v.default for p, v in theirs.parameters.items()
        }
    assert set(FastICA().get_params()) < set(ICA().get_params())


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


def test_remove_takes_a_repeated_source_out_once(mixed):
    """[0, 0] and [0, -k] name one source: its opposite must not be left in the rows."""
    X, _ = mixed
    ica = ICA(n_components=3).fit(X)
    once = ica.remove(X, sources=[0])
    for repeated in ([0, 0], [0, -3], np.array([0, 0, -3])):
        np.testing.assert_array_equal(ica.remove(X, sources=repeated), once)
    np.testing.assert_allclose(ica.transform(once)[:, 0], 0.0, atol=1e-9)


@pytest.mark.parametrize("fun", ["cube", Cube(), lambda x: (x**3, (3 * x**2).mean(axis=-1))])
@pytest.mark.parametrize("rows", ["laplace", "uniform"])
def test_infomax_refuses_a_contrast_that_is_no_density(fun, rows):
    """A psi that grows as fast as s is refused before any pass, with what to pass instead."""
    S = getattr(np.random.default_rng(0), rows)(size=(2_000, 3))
    counted = CountingRows(DenseRows(S))
    with pytest.raises(ParameterError, match=r"'infomax' cannot use this contrast.+Pass fun='logcosh' or 'exp'"):
        ICA(algorithm="infomax", fun=fun).fit(counted)
    assert counted.passes == 0


@pytest.mark.parametrize("fun", ["logcosh", "exp", LogCosh(2.0)])
@pytest.mark.parametrize("seed", range(3))
def test_infomax_unmixes_with_the_contrasts_it_takes(fun, seed):
    """Peaked and flat sources are found with every contrast that infomax takes."""
    A = np.random.default_rng(seed).standard_normal((3, 3))
    ica = ICA(algorithm="infomax", fun=fun, independence=False).fit(mixed_sources(20_000, 3, seed=seed) @ A.T)
    assert amari_distance(ica.components_, A) <= 0.05


@pytest.mark.parametrize(
    "w_init, words",
    [
        (np.full((4, 4), np.nan), "w_init has nan in row 0, column 0"),
        (np.where(np.eye(4) > 0, np.inf, 0.0), "w_init has inf in row 0, column 0"),
        (np.eye(4)[:, :3], r"w_init has invalid shape \(4, 3\) -- should be \(k, k\)"),
        (np.ones(4), r"w_init has invalid shape \(4,\)"),
        ([["a", "b"], ["c", "d"]], "w_init is no matrix of numbers"),
        ([[1.0, 2.0], [3.0]], "w_init is no matrix of numbers"),
    ],
)
def test_a_start_that_is_no_matrix_of_finite_numbers_is_refused(mixed, w_init, words):
    """Before any pass, with the place of the first bad number."""
    rows = CountingRows(DenseRows(mixed[0]))
    with pytest.raises(ParameterError, match=words):
        ICA(w_init=w_init).fit(rows)
    assert rows.passes == 0


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


@pytest.mark.parametrize(
    "make, category",
    [
        (lambda X: ICA(max_iter=1, tol=0.0, independence=False).fit(X), ConvergenceWarning),
        (lambda X: FastICA(algorithm="deflation", max_iter=1, tol=0.0).fit(X), ConvergenceWarning),
        (lambda X: ICA(9, independence=False).fit(X), RankWarning),
        (lambda X: ICA(independence=False).fit(np.column_stack([X, X])), RankWarning),
        (lambda X: ICA(tol=1.0).fit(np.random.default_rng(3).standard_normal(X.shape)), IdentifiabilityWarning),
        (lambda X: ICA(2, whiten=False, independence=False, tol=1.0).fit(X), UserWarning),
    ],
)
def test_warnings_point_at_the_line_that_called_fit(mixed, make, category):
    """Not at a line of the library."""
    with pytest.warns(category) as caught:
        make(mixed[0])
    assert {warning.filename for warning in caught} == {__file__}


@pytest.mark.parametrize("estimator", [ICA(2), ICA(2, runs=3), FastICA(2), FastICA(2, algorithm="deflation")])
def test_pickle_and_clone(mixed, estimator):
    """A pickled model gives the same sources; a clone is unfitted."""
    X, _ = mixed
    fitted = clone(estimator).fit(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).transform(X), fitted.transform(X))
    with pytest.raises(NotFittedError):
        clone(fitted).transform(X)


def test_fit_transform_is_fit_then_transform(mixed):
    """The same sources either way, and from the function."""
    X, _ = mixed
    np.testing.assert_allclose(ICA(3).fit_transform(X), ICA(3).fit(X).transform(X))
    K, W, S, mean, n_iter = fastica(X, 3, return_X_mean=True, return_n_iter=True)
    np.testing.assert_allclose((X - mean) @ (W @ K).T, S, atol=1e-10)
    assert n_iter >= 1
    assert fastica(X, compute_sources=False)[2] is None


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
def test_rows_that_may_not_be_held_agree(algorithm, monkeypatch):
    """Too little memory for white rows in float32 changes the way and not the answer."""
    A = np.random.default_rng(5).standard_normal((4, 4))
    X = mixed_sources(50_000, 4, seed=5) @ A.T
    held = ICA(algorithm=algorithm, tol=1e-9, independence=False).fit(X)
    monkeypatch.setattr("gramian.models.ica.HELD_SHARE", 1 << 50)
    not_held = ICA(algorithm=algorithm, tol=1e-9, independence=False).fit(X)
    np.testing.assert_allclose(held.components_, not_held.components_, atol=1e-7)
    assert max(held.gradient_norm_, not_held.gradient_norm_) <= 1e-9


def test_tables_give_names(mixed):
    """Column names are remembered and outputs bear the class's name."""
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(mixed[0], columns=list("abcd"))
    ica = ICA(2).set_output(transform="pandas").fit(table)
    assert list(ica.transform(table).columns) == ["ica0", "ica1"]
    assert list(ica.feature_names_in_) == list("abcd")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_not_converged_is_said_with_what_to_try(mixed, algorithm):
    """A warning of both libraries' classes, with iterations, norm and advice; deflation too."""
    with pytest.warns(ConvergenceWarning, match="did not converge.*after 2 iterations the gradient norm is") as caught:
        ica = ICA(algorithm=algorithm, max_iter=2, tol=0.0).fit(mixed[0])
    assert issubclass(caught[0].category, TheirConvergenceWarning)
    assert ica.n_iter_ == 2
    assert ica.gradient_norm_ > 0


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_iterations_over_all_rows_are_at_most_those_asked_for(algorithm):
    """Where nothing converges, both precisions together make no more iterations than max_iter."""
    X = np.random.default_rng(0).standard_normal((3_000, 6))
    with pytest.warns(ConvergenceWarning, match="after 20 iterations"):
        ica = ICA(algorithm=algorithm, max_iter=20, independence=False).fit(X)
    assert ica.n_iter_ == 20


def test_hopeless_rows_are_refused():
    """One row, constant rows, NaN: a sentence each."""
    with pytest.raises(InputError, match=r"1 sample\(s\)"):
        ICA().fit(np.ones((1, 3)))
    with pytest.raises(InputError, match="All 50 rows are equal"):
        ICA().fit(np.full((50, 3), 7.0))
    with pytest.raises(InputError, match="NaN"):
        ICA().fit(np.where(np.eye(4) > 0, np.nan, 1.0))


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


def test_bad_parameters_are_refused(mixed):
    """Each sentence names the parameter."""
    X, _ = mixed
    for words, bad in [("algorithm", {"algorithm": "jade"}), ("whiten", {"whiten": True}), ("runs", {"runs": 0})]:
        with pytest.raises(ParameterError, match=words):
            ICA(**bad).fit(X)
    with pytest.raises(ParameterError, match=r"w_init has invalid shape.+should be \(4, 4\)"):
        ICA(w_init=np.eye(3)).fit(X)
    with pytest.raises(InputError, match="has 4 sources"):
        ICA().fit(X).inverse_transform(X[:, :2])


def test_same_seed_same_digits_and_any_block_size(mixed):
    """The same seed gives the same digits; blocks of another size the same to rounding."""
    X, _ = mixed
    one, again = ICA(random_state=3).fit(X), ICA(random_state=3).fit(X)
    np.testing.assert_array_equal(one.components_, again.components_)
    for block_rows in (100, 999):
        other = ICA(random_state=3).fit(DenseRows(X, block_rows=block_rows))
        np.testing.assert_allclose(other.components_, one.components_, atol=1e-9)
    np.testing.assert_allclose(ICA(random_state=3).fit(np.asfortranarray(X)).components_, one.components_, atol=1e-9)


def test_a_failed_fit_keeps_the_model(mixed):
    """Bad rows leave the former model as it was."""
    X, _ = mixed
    ica = ICA(2).fit(X)
    before = ica.transform(X)
    with pytest.raises(InputError):
        ica.fit(np.full((9, 7), np.nan))
    np.testing.assert_array_equal(ica.transform(X), before)


def test_own_contrast_and_function(mixed):
    """A function of one's own gives what the contrast of that name gives."""
    X, _ = mixed
    own = ICA(fun=lambda x: (x**3, (3 * x**2).mean(axis=-1))).fit(X)
    np.testing.assert_allclose(own.components_, ICA(fun="cube").fit(X).components_, atol=1e-8)


def test_rows_that_repeat_are_sampled_at_every_phase():
    """A sine of ten rows a period among 200,000: stable, and independent of the others, though samples take a tenth."""
    rng = np.random.default_rng(0)
    S = np.column_stack([np.sin(2 * np.pi * np.arange(200_000) / 10 + 0.3), rng.laplace(size=(200_000, 2))])
    ica = ICA(runs=5).fit(S @ rng.standard_normal((3, 3)))
    assert ica.stability_.min() > 0.9
    assert ica.independence_.dependence.max() < 0.05


@pytest.mark.parametrize("algorithm", ["parallel", "deflation"])
def test_advice_of_fastica_is_one_that_can_be_followed(mixed, algorithm):
    """FastICA has no algorithm 'picard': its warning names the class that has."""
    with pytest.warns(ConvergenceWarning, match=r"try gramian\.ICA, whose algorithm='picard'"):
        FastICA(algorithm=algorithm, max_iter=2, tol=0.0).fit(mixed[0])
    with pytest.warns(ConvergenceWarning, match=r"try algorithm='picard'"):
        ICA(algorithm=algorithm, max_iter=2, tol=0.0, independence=False).fit(mixed[0])


def test_white_rows_of_wide_tables_are_held_within_the_budget(monkeypatch):
    """20,000 rows of two sources are 320,000 bytes: held where there is room for that, and not with less."""
    A = np.random.default_rng(5).standard_normal((12, 2))
    X, calls, held = mixed_sources(20_000, 2, seed=5) @ A.T, [], WhiteRows.held
    monkeypatch.setattr(WhiteRows, "held", lambda rows: calls.append(rows.n_rows) or held(rows))
    fits = []
    for room, times in [(319_999, 0), (320_000, 1)]:
        monkeypatch.setattr("gramian.models.ica._room", lambda _, room=room: room)
        fits.append(ICA(2, tol=1e-8, independence=False).fit(X).components_)
        assert len(calls) == times
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


@pytest.mark.parametrize("change", [lambda z: 2 * z, lambda z: z + 1.0, lambda z: z + 0.2 * z[:, ::-1]])
def test_rows_that_are_not_white_are_said_to_be_so(change):
    """Scaled, not centered or correlated rows with whiten=False: a warning, also without a report."""
    z = mixed_sources(3_000, 3, seed=0)
    ICA(whiten=False).fit(z)
    with pytest.warns(IdentifiabilityWarning, match="the second moments of these differ from the identity by up to"):
        ICA(whiten=False, independence=False, tol=1.0).fit(change(z))


@pytest.mark.parametrize("value, columns", [(0.0, 3), (0.1, 3), (1.0, 1), (1e160, 2)])
def test_equal_rows_are_refused_with_whiten_false_too(value, columns):
    """Also a column of ones, whose second moment is that of a white one."""
    with pytest.raises(InputError, match="All 100 rows are equal"):
        ICA(whiten=False).fit(np.full((100, columns), value))


@pytest.mark.parametrize("size", [1e-160, 1e-60, 1e60, 1e160])
def test_rows_of_hopeless_size_are_refused_with_whiten_false(size):
    """Float32 would make them zero or infinite: a sentence, and no bare warning."""
    with pytest.raises(InputError, match=r"the largest mean square of these columns is .+ Let ICA whiten them"):
        ICA(whiten=False).fit(size * mixed_sources(3_000, 3, seed=0))


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
