import inspect

import numpy as np
import pytest
import sklearn.decomposition

import gramian
from gramian.errors import ParameterError
from gramian.estimators import every_estimator
from gramian.estimators.inputs import check_parameters, seed_of

THEIRS = ["PCA", "IncrementalPCA", "TruncatedSVD", "KernelPCA", "FastICA"]
X = np.random.default_rng(0).normal(size=(20, 3))


@pytest.mark.parametrize("name", THEIRS)
def test_scikit_learn_signature_is_kept(name):
    """Every parameter of scikit-learn's class is there, with its default and its kind."""
    ours = inspect.signature(getattr(gramian, name)).parameters
    theirs = inspect.signature(getattr(sklearn.decomposition, name)).parameters
    assert {key: (p.default, p.kind) for key, p in theirs.items()} == {
        key: (ours[key].default, ours[key].kind) for key in theirs
    }


@pytest.mark.parametrize("kind", every_estimator())
def test_every_parameter_has_limits(kind):
    """The table of limits and the signature name the same parameters, and the defaults are within them."""
    defaults = kind().get_params()
    assert set(kind._LIMITS) == set(defaults)
    for parameter, limits in kind._LIMITS.items():
        assert any(limit.holds(defaults[parameter]) for limit in limits), parameter


@pytest.mark.parametrize(
    "name, parameter, value",
    [
        ("PCA", "n_components", -1),
        ("PCA", "n_components", 1.0),
        ("PCA", "n_components", 0.0),
        ("PCA", "n_components", True),
        ("PCA", "n_components", "most"),
        ("PCA", "copy", 1),
        ("PCA", "whiten", "yes"),
        ("PCA", "svd_solver", "svd"),
        ("PCA", "tol", -1e-9),
        ("PCA", "tol", np.nan),
        ("PCA", "iterated_power", -2),
        ("PCA", "n_oversamples", 0),
        ("PCA", "power_iteration_normalizer", "SVD"),
        ("PCA", "random_state", -3),
        ("PCA", "random_state", "seed"),
        ("PCA", "center", None),
        ("PCA", "scale", 2),
        ("PCA", "ddof", -1),
        ("PCA", "memory_budget", 0),
        ("PCA", "device", 0),
        ("PCA", "progress", "bar"),
        ("IncrementalPCA", "n_components", 0),
        ("IncrementalPCA", "batch_size", 2.5),
        ("TruncatedSVD", "n_components", None),
        ("TruncatedSVD", "algorithm", "full"),
        ("TruncatedSVD", "n_iter", -1),
    ],
)
def test_a_value_outside_its_limits_is_refused(name, parameter, value):
    """The sentence names the parameter, the value, the class and what to pass instead."""
    estimator = getattr(gramian, name)(**{parameter: value})
    with pytest.raises(ParameterError) as caught:
        estimator.fit(X)
    sentence = str(caught.value)
    assert sentence.startswith(f"{parameter}={value!r} is not a value that {name} takes. Pass ")
    assert sentence.endswith(".")


@pytest.mark.parametrize("value", [np.int64(2), np.float32(0.9), np.minimum(2, 3)])
def test_numbers_of_numpy_are_numbers(value):
    """NumPy's own integers and floats are taken like Python's."""
    check_parameters(gramian.PCA(n_components=value))
    assert gramian.PCA(n_components=value).fit(X).n_components_ >= 1


def test_seeds():
    """None is a fixed seed, an integer is itself, and a generator gives a new one each time."""
    state, generator = np.random.RandomState(0), np.random.default_rng(0)
    assert seed_of(None) == seed_of(None)
    assert seed_of(7) == 7
    assert seed_of(state) != seed_of(state)
    assert seed_of(generator) != seed_of(generator)


@pytest.mark.parametrize("value", ["1GB", 1e9, 0])
@pytest.mark.parametrize("name", ["PCA", "KernelPCA", "ICA"])
def test_a_budget_is_refused_in_the_word_of_its_unit(name, value):
    """Who writes a budget as a float or a word is told that it is a whole number of bytes."""
    with pytest.raises(ParameterError, match="at least 1, in bytes, such as 2_000_000_000") as caught:
        getattr(gramian, name)(memory_budget=value).fit(X)
    assert f"memory_budget={value!r} is not a value" in str(caught.value)


@pytest.mark.parametrize(
    "estimator, words",
    [
        (gramian.KernelPCA(landmarks=np.zeros((20, 30))), r"landmarks=<ndarray of shape \(20, 30\)> is not a value"),
        (gramian.PCA(scale=np.ones(500)), r"scale=<ndarray of shape \(500,\)> is not a value"),
        (gramian.PCA(svd_solver="x" * 5000), r"svd_solver='xxx.*\.\.\..*xxx' is not a value"),
        (gramian.PCA(n_components=list(range(5000))), r"n_components=\[0, 1, 2, 3, 4, 5, \.\.\.\] is not a value"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_refused_value_is_not_printed_whole(estimator, words):
    """The sentence stays a sentence, however large what was passed."""
    with pytest.raises(ParameterError, match=words) as caught:
        estimator.fit(X)
    assert len(str(caught.value)) < 300
