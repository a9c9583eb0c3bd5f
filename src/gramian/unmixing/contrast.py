"""Contrasts: the nonlinearity psi of a source, and its derivative.

A contrast G measures how far a source is from a Gaussian; an algorithm only ever needs its derivative psi = G' and
psi'. A new contrast is one small class; :func:`check_contrast` tests it by finite differences.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from gramian.arrays.namespace import Array, HostArray, dtype_of, from_host, namespace_of, to_host
from gramian.arrays.precision import FLOAT32
from gramian.errors import ParameterError


class Contrast(ABC):
    """A nonlinearity psi and its derivative. Small, frozen, and able to be pickled.

    A contrast that ``fun`` takes by name declares it, and stands in ``CONTRASTS``.
    """

    name: ClassVar[str] = ""

    @property
    def fun_args(self) -> dict[str, Any]:
        """What ``fun_args`` must be for ``fun`` to give this contrast."""
        return {}

    @abstractmethod
    def evaluate(self, s: Array) -> tuple[Array, Array]:
        """Return psi(s) and psi'(s) for sources s (b, k), both (b, k) and new; s is left as it is."""

    def pointwise(self, s: Array) -> tuple[Array, Array]:
        """Return the same where psi' must be known number by number, and not only its mean over the rows."""
        return self.evaluate(s)


@dataclass(frozen=True)
class LogCosh(Contrast):
    """G(s) = log cosh(alpha s) / alpha,  psi = tanh(alpha s),  psi' = alpha (1 - psi^2).

    A good contrast for nearly everything: robust to outliers, and right for super- and sub-Gaussian sources alike when
    signs are adapted, as every algorithm here does. Cost: one tanh per number.

    Examples
    --------
    >>> import numpy as np
    >>> LogCosh().evaluate(np.array([[0.0]]))
    (array([[0.]]), array([[1.]]))
    """

    name: ClassVar[str] = "logcosh"
    alpha: float = 1.0

    @property
    def fun_args(self) -> dict[str, Any]:
        """The slope at zero, where it is not one."""
        return {} if self.alpha == 1.0 else {"alpha": self.alpha}

    def evaluate(self, s: Array) -> tuple[Array, Array]:
        """Return tanh(alpha s) and alpha (1 - tanh^2)."""
        psi = namespace_of(s).tanh(s if self.alpha == 1.0 else self.alpha * s)
        slope = psi * psi
        slope *= -self.alpha
        slope += self.alpha
        return psi, slope


@dataclass(frozen=True)
class Exp(Contrast):
    """G(s) = -exp(-s^2 / 2),  psi = s exp(-s^2 / 2),  psi' = (1 - s^2) exp(-s^2 / 2).

    For very peaked sources, and where outliers must not count: beyond three deviations psi is nearly zero.
    """

    name: ClassVar[str] = "exp"

    def evaluate(self, s: Array) -> tuple[Array, Array]:
        """Return s e and (1 - s^2) e with e = exp(-s^2 / 2)."""
        bell = namespace_of(s).exp(-0.5 * (s * s))
        psi = s * bell
        return psi, bell - s * psi


@dataclass(frozen=True)
class Cube(Contrast):
    """G(s) = s^4 / 4,  psi = s^3,  psi' = 3 s^2: the kurtosis.

    The cheapest, and good for bounded sources. Not for data with outliers: one row can decide a source.
    """

    name: ClassVar[str] = "cube"

    def evaluate(self, s: Array) -> tuple[Array, Array]:
        """Return s^3 and 3 s^2."""
        square = s * s
        psi = square * s
        square *= 3
        return psi, square


@dataclass(frozen=True)
class Own(Contrast):
    """A function of one's own, in scikit-learn's manner:  function(x) -> psi(x), mean of psi'(x) along the last axis.

    ``x`` is (k, b), one source per row. Because the function averages by itself, psi' of rows with weights is found by
    differences of psi.

    Examples
    --------
    >>> import numpy as np
    >>> own = Own(lambda x: (x**3, (3 * x**2).mean(axis=-1)))
    >>> own.evaluate(np.array([[1.0], [2.0]]))[0].ravel()
    array([1., 8.])
    """

    function: Callable[..., Any]
    arguments: Mapping[str, Any] = field(default_factory=dict)

    @property
    def fun_args(self) -> dict[str, Any]:
        """The arguments of the function."""
        return dict(self.arguments)

    def evaluate(self, s: Array) -> tuple[Array, Array]:
        """Return psi(s), and psi'(s) averaged over the rows, repeated for every row."""
        xp = namespace_of(s)
        # A copy, because such functions may work in place.
        result = self.function(xp.asarray(s.T, copy=True), **self.arguments)
        k, b = s.shape[1], s.shape[0]
        if not isinstance(result, tuple) or len(result) != 2:
            raise ParameterError(_OWN_SENTENCE.format(shape=(k, b), got="something else"))
        psi, slope = xp.asarray(result[0]), xp.asarray(result[1])
        if tuple(psi.shape) != (k, b) or tuple(slope.shape) != (k,):
            got = f"arrays of shapes {tuple(psi.shape)} and {tuple(slope.shape)}"
            raise ParameterError(_OWN_SENTENCE.format(shape=(k, b), got=got))
        return psi.T, xp.broadcast_to(slope, (b, k))

    def pointwise(self, s: Array) -> tuple[Array, Array]:
        """Return psi(s), and psi'(s) by differences: the function itself gives only its mean."""
        step = 1e-2 if dtype_of(s) == FLOAT32 else 1e-4
        above, below = self.evaluate(s + step)[0], self.evaluate(s - step)[0]
        return self.evaluate(s)[0], (above - below) / (2 * step)


_OWN_SENTENCE = (
    "fun must return a tuple of two: psi(x), of the shape of x, and the mean of its derivative along the last axis. "
    "For x of shape {shape} it returned {got}. Example: lambda x: (x**3, (3 * x**2).mean(axis=-1))."
)

CONTRASTS: dict[str, type[Contrast]] = {kind.name: kind for kind in (LogCosh, Exp, Cube)}
"""Contrasts by the names that scikit-learn gives them; adding one is its class and its name here."""


def contrast_of(fun: object, arguments: Mapping[str, Any] | None = None) -> Contrast:
    """Return the contrast that a name, a function or a contrast stands for.

    Examples
    --------
    >>> contrast_of("logcosh", {"alpha": 1.5})
    LogCosh(alpha=1.5)
    """
    arguments = dict(arguments or {})
    if isinstance(fun, Contrast):
        if arguments:
            message = (
                f"fun={fun!r} has its arguments already, and fun_args={arguments!r} would change nothing. Drop them."
            )
            raise ParameterError(message)
        return fun
    if callable(fun):
        return Own(fun, arguments)
    if not isinstance(fun, str) or fun not in CONTRASTS:
        message = f"fun={fun!r} is no contrast. Pass {', '.join(map(repr, CONTRASTS))}, a function or a Contrast."
        raise ParameterError(message)
    alpha = _alpha(fun, arguments)
    kind = CONTRASTS[fun]
    return replace(kind(), alpha=alpha) if hasattr(kind, "alpha") else kind()  # type: ignore[type-var]


def _alpha(fun: str, arguments: Mapping[str, Any]) -> float:
    """Return the one argument of named contrasts; exp and cube take it as scikit-learn's do, and have no use for it."""
    others = [name for name in arguments if name != "alpha"]
    if others:
        message = f"fun_args has {others[0]!r}, and fun={fun!r} takes 'alpha' alone, for example {{'alpha': 1.5}}."
        raise ParameterError(message)
    alpha = arguments.get("alpha", 1.0)
    if not isinstance(alpha, int | float | np.integer | np.floating) or not 1 <= alpha <= 2:
        message = f"alpha must be in [1,2], and it is {alpha!r}. Pass fun_args={{'alpha': 1.0}}, or leave it out."
        raise ParameterError(message)
    return float(alpha)


def check_contrast(
    fun: str | Callable[..., Any] | Contrast, fun_args: Mapping[str, Any] | None = None, *, tol: float = 1e-5
) -> None:
    """Test a contrast by finite differences: psi' must be the derivative of psi, both finite and not linear.

    Computes  (psi(x + h) - psi(x - h)) / 2h  at points from -4 to 4, one at a time, and compares with psi'(x). A fit
    asks the same of a contrast of one's own: it refuses one that is linear or not finite, and warns of a wrong
    derivative.

    Parameters
    ----------
    fun : str, callable or Contrast
        What ``ICA(fun=...)`` takes.
    fun_args : dict or None, default=None
        What ``ICA(fun_args=...)`` takes.
    tol : float, default=1e-5
        Largest difference, relative to the largest derivative.

    Raises
    ------
    ParameterError
        With the point where it fails and both numbers.

    Examples
    --------
    >>> check_contrast("logcosh")
    >>> check_contrast(lambda x: (x**3, (2 * x**2).mean(axis=-1)))
    Traceback (most recent call last):
    ...
    gramian.errors.ParameterError: At x = -4 the contrast's derivative is 32, and finite differences give 48. ...
    """
    fault = derivative_fault(contrast_of(fun, fun_args), np.empty(0), tol=tol)
    if fault:
        raise ParameterError(fault)


def derivative_fault(contrast: Contrast, like: Array, *, tol: float = 1e-5) -> str:
    """Refuse a contrast that is not finite or linear; say where its derivative is wrong, if it is.

    It is tried on numbers of the library of ``like``. A derivative may be wrong at a kink alone, and do no harm.
    """
    points, step = np.linspace(-4.0, 4.0, 41), 1e-5
    psi, slope = _at(contrast, points, like)
    _require_finite(points, psi, slope)
    measured = (_at(contrast, points + step, like)[0] - _at(contrast, points - step, like)[0]) / (2 * step)
    if np.ptp(measured) <= tol * np.abs(measured).max():
        message = "The contrast is linear: it sees variances only, and cannot tell sources apart. Bend it."
        raise ParameterError(message)
    wrong = ~(np.abs(measured - slope) <= tol * max(1.0, float(np.abs(measured).max())))
    if not wrong.any():
        return ""
    i = int(np.argmax(wrong))
    return (
        f"At x = {points[i]:.4g} the contrast's derivative is {slope[i]:.6g}, and finite differences give "
        f"{measured[i]:.6g}. Correct the derivative, or psi."
    )


def _at(contrast: Contrast, points: HostArray, like: Array) -> tuple[HostArray, HostArray]:
    """Evaluate at points, one source each, so that a mean over rows is the value itself."""
    with np.errstate(all="ignore"):
        psi, slope = contrast.evaluate(from_host(points[None, :].copy(), like=like))
    return to_host(psi)[0], to_host(slope)[0]


def _require_finite(points: HostArray, psi: HostArray, slope: HostArray) -> None:
    bad = ~(np.isfinite(psi) & np.isfinite(slope))
    if bad.any():
        message = f"The contrast is not finite at x = {points[int(np.argmax(bad))]:.4g}. Bound it, for example by tanh."
        raise ParameterError(message)
