import pickle

import numpy as np
import pytest

from gramian import ICA, check_contrast
from gramian.errors import IdentifiabilityWarning, ParameterError
from gramian.unmixing.contrast import Cube, Exp, LogCosh, Own, contrast_of


def bent(x):
    """A contrast of one's own: psi(x) = x^3 / (1 + x^2)."""
    return x**3 / (1 + x**2), ((3 * x**2 + x**4) / (1 + x**2) ** 2).mean(axis=-1)


@pytest.mark.parametrize("fun", ["logcosh", "exp", "cube", LogCosh(1.7), bent, Own(bent)])
def test_every_contrast_passes_its_check(fun):
    """psi' is the derivative of psi for every contrast that is shipped, and for a good one of one's own."""
    check_contrast(fun)


@pytest.mark.parametrize(
    "fun, words",
    [
        (lambda x: (x**3, (2 * x**2).mean(axis=-1)), "finite differences give"),
        (lambda x: (2 * x, np.full(len(x), 2.0)), "linear"),
        (lambda x: (np.where(x > 3, np.inf, x), np.ones(len(x))), "not finite at x = 3.2"),
        (np.tanh, "must return a tuple of two"),
        (lambda x: (x, x), "arrays of shapes"),
        ("square", "is no contrast"),
        (5, "fun=5 is no contrast"),
        (None, "fun=None is no contrast"),
    ],
)
def test_a_wrong_contrast_is_refused_with_the_reason(fun, words):
    """The sentence says what is wrong."""
    with pytest.raises(ParameterError, match=words):
        check_contrast(fun)


@pytest.mark.parametrize("contrast", [LogCosh(), LogCosh(1.5), Exp(), Cube()])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_evaluation_keeps_type_and_input(contrast, dtype):
    """psi and psi' have the type of s, and s is not written to."""
    s = np.random.default_rng(0).standard_normal((7, 3)).astype(dtype)
    before = s.copy()
    assert [part.dtype for part in contrast.evaluate(s)] == [dtype, dtype]
    np.testing.assert_array_equal(s, before)


def test_contrasts_are_values():
    """They compare, print and pickle."""
    assert contrast_of("logcosh", {"alpha": 1.5}) == LogCosh(1.5)
    assert pickle.loads(pickle.dumps(LogCosh(1.2))) == LogCosh(1.2)
    assert repr(Cube()) == "Cube()"


def test_alpha_outside_its_limits_is_refused():
    """The sentence has the limits and the number."""
    with pytest.raises(ParameterError, match=r"alpha must be in \[1,2\], and it is 3"):
        contrast_of("logcosh", {"alpha": 3})


@pytest.mark.parametrize(
    "fun, arguments, words",
    [
        ("logcosh", {"alfa": 2}, "fun_args has 'alfa', and fun='logcosh' takes 'alpha' alone"),
        ("cube", {"power": 3}, "fun_args has 'power', and fun='cube' takes 'alpha' alone"),
        ("logcosh", {"alpha": "x"}, r"alpha must be in \[1,2\], and it is 'x'"),
        ("logcosh", {"alpha": None}, r"alpha must be in \[1,2\], and it is None"),
        ("logcosh", {"alpha": float("nan")}, r"alpha must be in \[1,2\], and it is nan"),
        (LogCosh(1.5), {"alpha": 1.2}, r"fun=LogCosh\(alpha=1.5\) has its arguments already"),
    ],
)
def test_arguments_that_would_be_ignored_are_refused(fun, arguments, words):
    """A misspelt or useless argument is named, and so is an alpha that is no number."""
    with pytest.raises(ParameterError, match=words):
        contrast_of(fun, arguments)


def test_arguments_of_a_function_are_its_own():
    """A function of one's own gets whatever arguments it takes, alpha of any size too."""
    own = contrast_of(lambda x, alpha: (alpha * x**3, (3 * alpha * x**2).mean(axis=-1)), {"alpha": 5.0})
    np.testing.assert_allclose(own.evaluate(np.array([[2.0]]))[0], 40.0)


def test_a_check_takes_the_arguments_that_a_fit_takes():
    """With them a function is tested as it will be used, good or wrong."""

    def power(x, p):
        return x**p, (3 * x ** (p - 1)).mean(axis=-1)

    check_contrast(power, {"p": 3})
    check_contrast("logcosh", fun_args={"alpha": 1.5})
    with pytest.raises(ParameterError, match="finite differences give"):
        check_contrast(power, {"p": 5})


@pytest.mark.parametrize(
    "fun, words",
    [
        (lambda x: (np.log(x), (1 / x).mean(axis=-1)), "not finite at x = -4"),
        (lambda x: (x, np.ones(len(x))), "linear"),
        (lambda x: (0 * x, np.zeros(len(x))), "linear"),
    ],
)
@pytest.mark.parametrize("algorithm", ["picard", "parallel", "deflation"])
def test_a_fit_refuses_a_contrast_that_cannot_tell_sources_apart(fun, words, algorithm):
    """With the sentence of the check, and not an arbitrary rotation or an error of linear algebra."""
    X = np.random.default_rng(0).laplace(size=(500, 3))
    with pytest.raises(ParameterError, match=words):
        ICA(algorithm=algorithm, fun=fun).fit(X)


def test_a_fit_warns_of_a_wrong_derivative():
    """It may still find sources, so it goes on; the point and both numbers are named."""
    X = np.random.default_rng(0).laplace(size=(500, 3))
    with pytest.warns(IdentifiabilityWarning, match="At x = -4 the contrast's derivative is 32, and finite diff"):
        ICA(fun=lambda x: (x**3, (2 * x**2).mean(axis=-1)), max_iter=1000, independence=False).fit(X)
