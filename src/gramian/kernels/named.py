"""Kernels by scikit-learn's names, as text such as ``"rbf(0.1) + poly(2)"``, and a kernel matrix that is given."""

import ast
import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import numpy as np

from gramian.arrays.namespace import Array, HostArray
from gramian.errors import NotSupportedError, ParameterError
from gramian.kernels.chi_squared import ChiSquared
from gramian.kernels.inner_product import Cosine, Linear, Polynomial, Sigmoid
from gramian.kernels.kernel import Kernel, Prepared
from gramian.kernels.laplacian import Laplacian
from gramian.kernels.own import PointKernel
from gramian.kernels.radial import Gaussian, Matern
from gramian.kernels.widths import Gamma


@dataclass(frozen=True)
class Precomputed(Kernel):
    """Says that the rows given are the kernel matrix itself.

    Computes nothing: K was computed by the user, (n, n) for a fit and (m, n) for m new points. The operator holds it as
    it is.

    Not where n^2 numbers do not fit in memory: pass a function, and tiles are made as they are needed.

    Examples
    --------
    >>> Precomputed()
    Precomputed()
    """

    name: ClassVar[str] = "precomputed"
    is_precomputed: ClassVar[bool] = True

    def prepare(self, rows: Array, *, dtype: np.dtype[Any], origin: Array | None = None) -> Prepared:
        """Refuse: there are no rows."""
        del rows, dtype, origin
        _refuse()

    def evaluate(self, left: Prepared, right: Prepared, *, out: HostArray | None = None) -> Array:
        """Refuse: there is no function."""
        del left, right, out
        _refuse()

    def diagonal(self, rows: Array) -> HostArray:
        """Return the diagonal of the matrix given."""
        return np.asarray(np.diagonal(rows), dtype=np.float64)


def _refuse() -> NoReturn:
    message = (
        "A precomputed kernel is a matrix and cannot be evaluated on rows, nor added to or multiplied with kernels "
        "that are. Pass the kernel itself, or combine the matrices before they are passed."
    )
    raise NotSupportedError(message)


FAMILIES: dict[str, tuple[type[Kernel], tuple[str, ...]]] = {
    "linear": (Linear, ()),
    "poly": (Polynomial, ("degree", "gamma", "coef0")),
    "rbf": (Gaussian, ("gamma", "sigma")),
    "laplacian": (Laplacian, ("gamma",)),
    "matern": (Matern, ("nu", "gamma", "length_scale")),
    "sigmoid": (Sigmoid, ("gamma", "coef0")),
    "cosine": (Cosine, ()),
    "chi2": (ChiSquared, ("gamma",)),
    "precomputed": (Precomputed, ()),
}
"""Families by name: the class, which a model file may hold, and the parameters of :func:`as_kernel` that it takes."""

ALIASES = {"polynomial": "poly", "gaussian": "rbf"}
"""Further names."""


def as_kernel(
    kernel: object,
    *,
    gamma: Gamma = None,
    degree: float = 3,
    coef0: float = 1.0,
    sigma: float | None = None,
    nu: float = 1.5,
    parameters: Mapping[str, Any] | None = None,
) -> Kernel:
    """Return the kernel that a name, a function or a kernel stands for.

    Parameters
    ----------
    kernel : str, Kernel or callable
        A name: "linear", "poly" or "polynomial", "rbf" or "gaussian", "laplacian", "matern", "sigmoid", "cosine",
        "chi2", "precomputed". Names with parameters, their sums, products and multiples, as text:
        ``"2 * rbf(sigma=3) + poly(2, gamma=1)"``. A callable is a function of two points, as in scikit-learn; wrap one
        of two blocks in :class:`~gramian.kernels.own.BlockKernel`. A kernel is returned as it is.
    gamma, degree, coef0 : as in scikit-learn's KernelPCA
        A named kernel takes those it has and ignores the others; a word for gamma that has no meaning for a kernel
        with a gamma ("median" for an inner product) is refused, since no number would be what was asked for.
    sigma : float, optional
        Width of "rbf", and length scale of "matern", instead of gamma. Refused beside other names.
    nu : {0.5, 1.5, 2.5}, default=1.5
        Smoothness of "matern".
    parameters : mapping, optional
        Passed by name to a callable (scikit-learn's ``kernel_params``).

    Raises
    ------
    ParameterError
        Where a kernel or a function comes with parameters that it does not see, or a name with ``parameters``.

    Returns
    -------
    Kernel

    Examples
    --------
    >>> as_kernel("rbf", gamma=0.1)
    Gaussian(gamma=0.1)
    >>> as_kernel("poly", degree=2)
    Polynomial(degree=2, gamma=None, coef0=1.0)
    >>> as_kernel("rbf(0.1) + 2 * poly(2, gamma=1)")
    Gaussian(gamma=0.1) + 2.0 * Polynomial(degree=2, gamma=1.0, coef0=1.0)
    """
    given: dict[str, Any] = {"gamma": gamma, "sigma": sigma, "degree": degree, "coef0": coef0}
    for_functions: dict[str, Any] = {"kernel_params": parameters or None}
    if isinstance(kernel, Kernel):
        _require_nothing_ignored(f"the kernel {kernel!r}", given | for_functions, "Set it in the kernel itself.")
        return kernel
    if callable(kernel):
        advice = "A function takes its parameters from kernel_params={...}."
        _require_nothing_ignored("a kernel that is a function", given, advice)
        return PointKernel(kernel, parameters or {})
    if isinstance(kernel, str) and not kernel.strip().isidentifier():
        advice = "Write it into the text, as in rbf(0.1)."
        _require_nothing_ignored(f"kernel={kernel!r}", given | for_functions, advice)
        return _kernel_of_text(kernel)
    name = ALIASES.get(kernel, kernel) if isinstance(kernel, str) else None
    if name not in FAMILIES:
        known = ", ".join((*FAMILIES, *ALIASES))
        message = f"kernel={kernel!r} is not known. Pass a kernel, a function of two points, or one of {known}."
        raise ParameterError(message)
    _require_nothing_ignored(
        f"kernel={kernel!r}", for_functions, "Those are for functions: pass gamma, degree, coef0 instead."
    )
    family, taken = FAMILIES[name]
    if not {"sigma", "length_scale"} & {*taken}:
        _require_nothing_ignored(f"kernel={kernel!r}", {"sigma": sigma}, "It is a width of rbf and matern.")
    known_by = {"gamma": gamma, "degree": degree, "coef0": coef0, "nu": nu, "sigma": sigma, "length_scale": sigma}
    return family(**{parameter: known_by[parameter] for parameter in taken})


_UNSET = {"degree": 3, "coef0": 1.0}
"""What a parameter is when nothing is said, where that is not None."""


def _require_nothing_ignored(kernel: str, given: Mapping[str, Any], advice: str) -> None:
    """Refuse a parameter that would be ignored: one that differs from its default."""
    for name, value in given.items():
        unset = value is None if name not in _UNSET else value == _UNSET[name]
        if not unset:
            message = f"{name}={value!r} is given beside {kernel}, which does not see it. {advice}"
            raise ParameterError(message)


def _kernel_of_text(text: str) -> Kernel:
    """Return the kernel that a text writes: names with parameters, ``+``, ``*`` and numbers. Nothing is evaluated."""
    try:
        found = _read(ast.parse(text.strip(), mode="eval").body)
    except ParameterError:
        raise
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        found = None
    if not isinstance(found, Kernel):
        message = (
            f"kernel={text!r} is no kernel. Write names of kernels with their parameters, and +, * and numbers between "
            f"them, such as 2 * rbf(sigma=3) + poly(2, gamma=1). The names are {', '.join((*FAMILIES, *ALIASES))}."
        )
        raise ParameterError(message, parameter="kernel", value=text)
    return found


_OPERATORS = {ast.Add: operator.add, ast.Mult: operator.mul}


def _read(node: ast.expr) -> Any:
    """Return what an expression stands for: a kernel, a number, or the word of a width; ValueError for any other."""
    match node:
        case ast.Constant(value=int() | float() | str() as value) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            both = _read(left), _read(right)
            kernels = sum(isinstance(part, Kernel) for part in both)
            if kernels == 2 or (kernels == 1 and isinstance(op, ast.Mult) and not isinstance(both[0], str)):
                return _OPERATORS[type(op)](*both)
        case ast.Name(id=name):
            return _family(name)()
        case ast.Call(func=ast.Name(id=name), args=values, keywords=named) if all(word.arg for word in named):
            given = {str(word.arg): _read(word.value) for word in named}
            numbers = [_read(value) for value in values]
            try:
                return _family(name)(*numbers, **given)
            except TypeError:
                takes = ", ".join(FAMILIES[ALIASES.get(name, name)][1]) or "no parameters"
                message = f"kernel {ast.unparse(node)}: {name} takes {takes}."
                raise ParameterError(message, parameter="kernel", value=name) from None
    message = "no kernel"
    raise ValueError(message)


def _family(name: str) -> type[Kernel]:
    family, _ = FAMILIES.get(ALIASES.get(name, name), (None, ()))
    if family is None or family is Precomputed:
        message = f"no kernel has the name {name}"
        raise ValueError(message)
    return family
