"""Small, plain tables are fitted in a short way: the answer, the proof and the refusals of the usual way."""

import copy
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from gramian import PCA, load
from gramian.errors import InputError, ParameterError
from gramian.models.few_rows import fit_few
from gramian.models.pca import PCAOptions
from gramian.testing import centered, jacobi_svd, largest_angle, rows_with_spectrum
from tests.accuracy.bounds import assert_components, assert_singular_values, promised

SHAPES = [(2, 1), (5, 4), (150, 4), (60, 13), (150, 40), (512, 4)]
FIELDS = ("components_", "explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_")


def _rows(n, d, seed=0, dtype="float64"):
    values = np.geomspace(4.0, 0.5, min(n - 1, d))
    mean = np.linspace(-3, 5, d)
    return rows_with_spectrum(n, d, values, mean=mean, dtype=dtype, seed=seed)[0]


def _is_short(pca):
    """Whether what is left for later is still to be drawn up: only the short way leaves anything."""
    return "_rest" in pca._model.__dict__


@pytest.fixture
def the_usual_way(monkeypatch):
    """Return a function that fits in the usual way, whatever the rows."""

    def fit(pca, X):
        with monkeypatch.context() as patched:
            patched.setattr("gramian.estimators.pca.is_few", lambda _: False)
            pca.fit(X)
        assert not _is_short(pca)
        return pca

    return fit


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n, d", SHAPES)
@pytest.mark.parametrize("order", ["C", "F", "strided"])
def test_answer_is_that_of_the_usual_way(n, d, dtype, order, the_usual_way):
    """Every field agrees to rounding, in type and in shape, for any layout of the rows."""
    X = _rows(n, d, dtype=dtype)
    X = {"C": X, "F": np.asfortranarray(X), "strided": np.repeat(np.repeat(X, 2, 0), 3, 1)[::2, ::3]}[order]
    short, usual = PCA().fit(X), the_usual_way(PCA(), X)
    assert _is_short(short)
    for name in FIELDS:
        here, there = getattr(short, name), getattr(usual, name)
        assert here.dtype == there.dtype == dtype
        assert here.flags.writeable
        np.testing.assert_allclose(here, there, rtol=0, atol=300 * np.finfo(dtype).eps * np.abs(there).max())
    assert vars(short).keys() == vars(usual).keys()
    assert (short.n_components_, short.n_samples_) == (usual.n_components_, n)
    assert short._model.rank == usual._model.rank
    assert short._model.total_variance == pytest.approx(usual._model.total_variance, rel=1e-12)


@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("ddof", [0, 1, 3])
def test_fewer_components_leave_the_same_rest(k, ddof, the_usual_way):
    """Noise, likelihood, scores and whatever else rests on what is left out agree with the usual way."""
    X = _rows(80, 6)
    short, usual = PCA(k, ddof=ddof, whiten=True).fit(X), the_usual_way(PCA(k, ddof=ddof, whiten=True), X)
    assert _is_short(short)
    assert short.noise_variance_ == pytest.approx(usual.noise_variance_, rel=1e-12)
    assert short._model.left_out_dimensions == pytest.approx(usual._model.left_out_dimensions, rel=1e-12)
    np.testing.assert_allclose(short.transform(X), usual.transform(X), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(short.fit_transform(X), short.transform(X))
    assert short.score(X) == pytest.approx(usual.score(X), rel=1e-12)
    np.testing.assert_allclose(short.get_covariance(), usual.get_covariance(), rtol=0, atol=1e-12)


def _hard_rows(rng, n, d):
    """Rows of few values, of ties, of columns that depend on each other almost, or of no kind at all."""
    kinds = [
        lambda: rng.standard_normal((n, d)),
        lambda: rng.choice([0.1, 0.7], (n, d)) * rng.uniform(0.5, 2.0, d),
        lambda: np.resize(rng.standard_normal((d + 3, d)), (n, d)),
        lambda: rng.standard_normal((n, d)) @ (np.eye(d) + 0.2) + 20.0,
        lambda: rng.integers(0, 5, (n, d)) * rng.uniform(1.0, 3.0, d),
    ]
    return kinds[rng.integers(len(kinds))]()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n, d", [(5, 4), (64, 2), (150, 4), (256, 2), (80, 7)])
def test_values_and_components_are_right_and_bounds_hold(n, d, dtype):
    """Singular values and directions keep what is promised of every fit, and what their certificates say."""
    rng, fits = np.random.default_rng(n), 0
    while fits < 12:
        X = _hard_rows(rng, n, d).astype(dtype)
        pca = PCA().fit(X)
        if not _is_short(pca):
            continue
        fits += 1
        s, V = jacobi_svd(centered(X))
        allowed = promised(n, d, s, dtype)
        assert_singular_values(pca.singular_values_, s, allowed)
        assert_components(pca.components_, V, s, allowed)
        for i, line in enumerate(pca.certificate_.lines):
            assert line.grade == "proved"
            assert abs(np.longdouble(pca.explained_variance_[i]) - s[i] ** 2 / (n - 1)) <= line.quadratic_bound
            if np.isfinite(line.angle_bound):
                assert (
                    largest_angle(pca.components_[i].astype(float), V[:, i].astype(float)) <= line.angle_bound + 1e-16
                )


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_proof_is_drawn_up_when_it_is_read(dtype, the_usual_way):
    """The certificate is proved, no looser than that of the usual way, and what it rests on is then let go."""
    X = _rows(150, 4, dtype=dtype)
    short, usual = PCA(3).fit(X), the_usual_way(PCA(3), X)
    lines, others = short.certificate_.lines, usual.certificate_.lines
    assert not _is_short(short)
    assert [line.grade for line in lines] == [line.grade for line in others] == ["proved"] * 3
    for line, other in zip(lines, others, strict=True):
        assert line.value == pytest.approx(other.value, rel=1e-13)
        assert line.quadratic_bound <= 3 * other.quadratic_bound
        assert line.gap == pytest.approx(other.gap, rel=1e-12)
    assert short.certificate_.note == usual.certificate_.note
    assert str(short.plan_) == str(usual.plan_)


def test_bounds_hold_where_every_rounding_goes_one_way():
    """Rows that round alike again and again: the proof is made of products that do not, and sees the difference."""
    X = 0.1 + 0.3 * (np.random.default_rng(0).random((500, 4)) < 0.4)
    pca = PCA().fit(X)
    assert _is_short(pca)
    truth = jacobi_svd(centered(X))[0] ** 2 / (len(X) - 1)
    for line, value in zip(pca.certificate_.lines, truth, strict=True):
        assert abs(np.longdouble(line.value) - value) <= line.value_bound
        assert line.grade == "proved"


def test_fields_changed_in_place_do_not_reach_the_proof():
    """The proof is of what was fitted, whatever has been written over the fitted arrays since."""
    X = _rows(100, 5)
    pca = PCA().fit(X)
    before = PCA().fit(X).certificate_
    pca.components_[:] = 0.0
    pca.explained_variance_[:] = -1.0
    X[:] = np.nan
    np.testing.assert_array_equal(pca.certificate_.values, before.values)
    np.testing.assert_array_equal(pca.certificate_.bounds, before.bounds)


@pytest.mark.parametrize("send", [copy.copy, copy.deepcopy, lambda pca: pickle.loads(pickle.dumps(pca))])
def test_models_travel_with_their_proof_and_without_rows(send, tmp_path):
    """A copy, a pickle and a file hold the certificate; none of them holds the rows."""
    X = _rows(300, 4)
    pca = PCA().fit(X)
    sent = send(pca)
    assert sent.certificate_.grade == "proved"
    np.testing.assert_array_equal(sent.transform(X), pca.transform(X))
    fresh = PCA().fit(X)
    assert len(pickle.dumps(fresh)) < X.nbytes
    fresh.save(tmp_path / "small.gramian")
    assert load(tmp_path / "small.gramian").certificate_.grade == "proved"


NOT_PLAIN = {
    "one row": lambda X: X[:1],
    "as many rows as columns": lambda X: X[:4],
    "a constant column": lambda X: X * [1, 1, 0, 1] + 3,
    "a small deviation": lambda X: X * [1, 1, 1e-6, 1],
    "a mean far off": lambda X: X + 1e6,
    "numbers that overflow": lambda X: X * 1e160,
    "numbers near the limit": lambda X: X / np.abs(X).max() * 1.7e308,
    "numbers that underflow": lambda X: X * 1e-200,
    "dependent columns": lambda X: X[:, [0, 1, 2, 0]],
    "integers": lambda X: (10 * X).astype(int),
    "a list": lambda X: X.tolist(),
    "many rows a column": lambda X: np.tile(X, (9, 1)),
    "products that BLAS shares out": lambda _: _rows(200, 65),
    "signs that rounding decides": lambda X: np.column_stack([X[:, 0], np.roll(X[:, 0], 7)]),
}


@pytest.mark.filterwarnings("ignore::gramian.errors.PrecisionWarning")
@pytest.mark.parametrize("kind", NOT_PLAIN)
def test_other_tables_go_the_usual_way(kind, the_usual_way):
    """A table that is not plain gets what it always got, to the last digit."""
    X = NOT_PLAIN[kind](_rows(60, 4))
    pca, usual = PCA().fit(X), the_usual_way(PCA(), X)
    assert not _is_short(pca)
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(pca, name), getattr(usual, name))


@pytest.mark.parametrize(
    "asked",
    [
        {"n_components": 0.9},
        {"n_components": "mle"},
        {"n_components": "auto"},
        {"n_components": 0},
        {"scale": True},
        {"center": False},
        {"svd_solver": "krylov"},
        {"svd_solver": "power", "n_components": 2},
        {"memory_budget": 10**9},
        {"device": "cpu"},
        {"progress": lambda _: None},
        {"random_state": np.random.default_rng(0)},
    ],
)
def test_other_wishes_go_the_usual_way(asked):
    """Whatever asks for more than components is answered by the usual way."""
    assert not _is_short(PCA(**asked).fit(_rows(60, 4)))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.filterwarnings("error")
def test_what_is_not_finite_is_refused_with_its_place(bad, dtype):
    """A refusal names the place, warns of nothing, and leaves the former model."""
    X = _rows(150, 4, dtype=dtype)
    pca = PCA().fit(X)
    former = pca.components_.copy()
    X[17, 2] = bad
    X[18, 2] = -bad
    with pytest.raises(InputError, match=r"row 17.*column 2"):
        pca.fit(X)
    np.testing.assert_array_equal(pca.components_, former)
    assert pca.certificate_.grade == "proved"


def test_refusals_are_those_of_every_fit():
    """Parameters out of range, too many components, too few rows: the same sentences."""
    X = _rows(60, 4)
    for asked, words in [
        ({"tol": -1.0}, "tol=-1.0 is not a value"),
        ({"n_components": 5}, "n_components=5 must be between 0 and min"),
        ({"n_components": True}, "n_components=True is not a value"),
    ]:
        with pytest.raises(ParameterError, match=words):
            PCA(**asked).fit(X)
    with pytest.raises(InputError, match="ddof=60"):
        PCA(ddof=60).fit(X)


@pytest.mark.parametrize("seed", range(20))
def test_signs_that_rounding_would_decide_are_those_of_the_usual_way(seed):
    """Columns of one spread make components of two equal entries: the same numbers have the same signs by any door."""
    x = np.random.default_rng(seed).standard_normal(120)
    X = np.column_stack([x, np.random.default_rng(seed + 100).permutation(x)])
    np.testing.assert_array_equal(PCA().fit(X).components_, PCA().fit(X.tolist()).components_)


def test_one_persons_numbers_are_not_the_next_persons():
    """A parameter of another type of integer stays with the fit that it was given to."""
    X = _rows(300, 4)
    first = PCA(ddof=np.uint8(1)).fit(X)
    assert _is_short(first)
    assert type(PCA(ddof=1).fit(X)._model.options.ddof) is int
    np.testing.assert_array_equal(first.explained_variance_, PCA().fit(X).explained_variance_)


def test_what_counts_as_false_is_not_nothing():
    """A progress that is an empty list is told all the same, and an empty device is refused."""

    class Told(list):
        __call__ = list.append

    told = Told()
    PCA(progress=told).fit(_rows(60, 4))
    assert len(told) > 0
    with pytest.raises(ParameterError, match="device=''"):
        PCA(device="").fit(_rows(60, 4))


def test_many_threads_may_read_one_proof():
    """Whoever reads first draws it up; the others get it too."""
    interval, X = sys.getswitchinterval(), _rows(60, 4)
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            for _ in range(100):
                pca = PCA().fit(X)
                grades = pool.map(lambda pca: pca.certificate_.grade, [pca] * 8)
                assert set(grades) == {"proved"}
    finally:
        sys.setswitchinterval(interval)


@pytest.mark.filterwarnings("error")
def test_a_signaling_nan_is_refused_like_any_other():
    """The place is named, and NumPy warns of nothing."""
    X = _rows(60, 4, dtype="float32")
    X.view(np.uint32)[7, 1] = 0x7FA00000
    with pytest.raises(InputError, match=r"row 7.*column 1"):
        PCA().fit(X)


def test_underflow_is_no_fault():
    """Where a person has asked NumPy to raise, entries whose squares vanish are fitted as ever."""
    X = _rows(60, 4)
    X[::7, 1] = 1e-170
    with np.errstate(all="raise"):
        assert PCA().fit(X).certificate_.grade == "proved"


def test_a_subclass_may_have_fewer_parameters():
    """Parameters that a subclass does not take keep their defaults."""

    class Flat(PCA):
        def __init__(self, n_components=2):
            super().__init__(n_components)

    assert Flat().fit(_rows(60, 4)).components_.shape == (2, 4)
    with pytest.raises(ParameterError, match="n_components='all'"):
        Flat("all").fit(_rows(60, 4))


def test_a_wrong_pair_is_not_taken(monkeypatch):
    """Pairs that LAPACK got wrong are seen, and the usual way is asked instead."""
    from scipy.linalg import lapack

    X, right = _rows(80, 5), lapack.dsyevd

    def turned(matrix):
        values, vectors, failed = right(matrix)
        vectors[:, 0] += 1e-9 * vectors[:, 1]
        return values, vectors, failed

    monkeypatch.setattr("gramian.models.few_rows.lapack.dsyevd", turned)
    assert fit_few(X, PCAOptions()) is None
    pca = PCA().fit(X)
    monkeypatch.undo()
    assert largest_angle(pca.components_[0], PCA().fit(X).components_[0]) < 1e-14
