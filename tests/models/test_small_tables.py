"""Small tables: the answer, its proof, and the refusals."""

import copy
import pickle

import numpy as np
import pytest

from gramian import PCA, load
from gramian.errors import InputError, ParameterError
from gramian.testing import centered, jacobi_svd, largest_angle, rows_with_spectrum
from tests.accuracy.bounds import assert_components, assert_singular_values, promised


def _rows(n, d, seed=0, dtype="float64"):
    values = np.geomspace(4.0, 0.5, min(n - 1, d))
    mean = np.linspace(-3, 5, d)
    return rows_with_spectrum(n, d, values, mean=mean, dtype=dtype, seed=seed)[0]


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
    rng = np.random.default_rng(n)
    for _ in range(12):
        X = _hard_rows(rng, n, d).astype(dtype)
        pca = PCA().fit(X)
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


def test_bounds_hold_where_every_rounding_goes_one_way():
    """Rows that round alike again and again: the bound has every rounding in it."""
    X = 0.1 + 0.3 * (np.random.default_rng(0).random((500, 4)) < 0.4)
    pca = PCA().fit(X)
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
def test_signs_that_rounding_would_decide_are_the_same_by_any_door(seed):
    """Columns of one spread make components of two equal entries: the same numbers have the same signs by any door."""
    x = np.random.default_rng(seed).standard_normal(120)
    X = np.column_stack([x, np.random.default_rng(seed + 100).permutation(x)])
    np.testing.assert_array_equal(PCA().fit(X).components_, PCA().fit(X.tolist()).components_)


def test_what_counts_as_false_is_not_nothing():
    """A progress that is an empty list is told all the same, and an empty device is refused."""

    class Told(list):
        __call__ = list.append

    told = Told()
    PCA(progress=told).fit(_rows(60, 4))
    assert len(told) > 0
    with pytest.raises(ParameterError, match="device=''"):
        PCA(device="").fit(_rows(60, 4))


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
