import inspect
import pickle
import warnings

import numpy as np
import pytest
import sklearn.decomposition
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning as TheirConvergenceWarning
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

import gramian
from gramian import ICA, FastICA, fastica
from gramian.errors import ConvergenceWarning, IdentifiabilityWarning, InputError, ParameterError, RankWarning
from gramian.sources.dense import DenseRows
from gramian.testing import CountingRows, mixed_sources
from gramian.unmixing.contrast import Cube

ALGORITHMS = ["picard", "parallel", "deflation", "infomax"]


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
    for name, ours_alone in (("FastICA", {"memory_budget", "device", "progress"}), ("fastica", set())):
        ours, theirs = (inspect.signature(getattr(home, name)) for home in (gramian, sklearn.decomposition))
        assert {p: v.default for p, v in ours.parameters.items() if p not in ours_alone} == {
            p: v.default for p, v in theirs.parameters.items()
        }
    assert set(FastICA().get_params()) < set(ICA().get_params())


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


def test_hopeless_rows_are_refused():
    """One row, constant rows, NaN: a sentence each."""
    with pytest.raises(InputError, match=r"1 sample\(s\)"):
        ICA().fit(np.ones((1, 3)))
    with pytest.raises(InputError, match="All 50 rows are equal"):
        ICA().fit(np.full((50, 3), 7.0))
    with pytest.raises(InputError, match="NaN"):
        ICA().fit(np.where(np.eye(4) > 0, np.nan, 1.0))


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


@pytest.mark.parametrize("algorithm", ["parallel", "deflation"])
def test_advice_of_fastica_is_one_that_can_be_followed(mixed, algorithm):
    """FastICA has no algorithm 'picard': its warning names the class that has."""
    with pytest.warns(ConvergenceWarning, match=r"try gramian\.ICA, whose algorithm='picard'"):
        FastICA(algorithm=algorithm, max_iter=2, tol=0.0).fit(mixed[0])
    with pytest.warns(ConvergenceWarning, match=r"try algorithm='picard'"):
        ICA(algorithm=algorithm, max_iter=2, tol=0.0, independence=False).fit(mixed[0])


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


@pytest.mark.parametrize("asked", ["some", 2, None])
def test_independence_is_measured_or_not_or_on_all_rows(mixed, asked):
    """What is none of these is refused before any work, in the words of the parameter."""
    with pytest.raises(ParameterError, match=r"independence=.* is not a value that ICA takes"):
        ICA(independence=asked).fit(mixed[0])


def test_page_is_written_by_report_as_for_other_models(mixed, tmp_path):
    """One name for the page of every model; sources have one name on it, in the table and in warnings."""
    ica = ICA().fit(mixed[0])
    page = ica.report(tmp_path / "page.html", mixed[0])
    assert "IC1" in page.read_text(encoding="utf-8")
    assert "\nIC1 " in str(ica.independence_)


@pytest.mark.parametrize(
    "call",
    [
        lambda X: ICA(max_iter=1).fit(X),
        lambda X: ICA(max_iter=1).fit_transform(X),
        lambda X: FastICA(max_iter=1).fit_transform(X),
        lambda X: fastica(X, max_iter=1),
        lambda X: fastica(X, max_iter=1, compute_sources=False),
        lambda X: ICA(9).fit_transform(X),
        lambda X: ICA(2, whiten=False).fit(X),
        lambda X: ICA(2, whiten=False).fit_transform(X),
        lambda X: ICA(2, whiten=False, max_iter=1).fit_transform(X),
        lambda X: make_pipeline(ICA(max_iter=1)).fit(X),
        lambda X: ICA(fun=lambda x: (x**3, (2 * x**2).mean(axis=-1))).fit_transform(X),
    ],
)
def test_every_warning_points_at_the_line_of_the_user(call):
    """Not into Gramian nor into scikit-learn, by whichever way the fit was asked for."""
    G = np.random.default_rng(0).standard_normal((3000, 3))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(3.0 * np.hstack([G, G[:, :1]]))
    assert caught
    assert {warning.filename for warning in caught} == {__file__}


@pytest.mark.parametrize(
    "sources",
    [
        np.array([True, False, False, True]),
        [True, False, False, True],
        {0, 3},
        (i for i in (0, 3)),
        ["IC1", "IC4"],
        np.array(["IC4", "IC1"]),
        np.array([0, -1]),
        range(0, 4, 3),
    ],
    ids=["mask", "list of bools", "set", "generator", "names", "array of names", "array", "range"],
)
def test_sources_to_remove_are_positions_names_or_a_mask(sources, mixed):
    """All of them take out the same two."""
    X, ica = mixed[0], ICA().fit(mixed[0])
    np.testing.assert_allclose(ica.remove(X, sources), ica.remove(X, [0, 3]), atol=1e-12)


@pytest.mark.parametrize(
    "sources, words",
    [
        ([True, False], "a mask of 2, and this ICA has 4 sources"),
        ("IC5", "sources holds 'IC5', and this ICA has the sources 0 to 3, called IC1 to IC4"),
        ([0.5], "sources holds 0.5.+Pass positions, names or a mask of 4"),
        (None, "sources holds None"),
        ([0, True], "sources holds True"),
    ],
)
def test_sources_that_are_not_there_are_refused(sources, words, mixed):
    """The sentence says what there is, and in which ways it can be named."""
    with pytest.raises(ParameterError, match=words):
        ICA().fit(mixed[0]).remove(mixed[0], sources)


def test_many_gaussian_sources_are_named_in_short():
    """Eight by name, the others by their number."""
    with pytest.warns(IdentifiabilityWarning, match=r"IC8 and 4 more are too Gaussian"):
        ICA().fit(np.random.default_rng(0).standard_normal((4000, 12)))
