"""Kernels by scikit-learn's names."""

from collections.abc import Callable, Mapping
from typing import Any

from gramian.errors import ParameterError
from gramian.kernels.chi_squared import ChiSquared
from gramian.kernels.inner_product import Cosine, Linear, Polynomial, Sigmoid
from gramian.kernels.kernel import Kernel
from gramian.kernels.laplacian import Laplacian
from gramian.kernels.own import PointKernel
from gramian.kernels.precomputed import Precomputed
from gramian.kernels.radial import Gaussian, Matern
from gramian.kernels.widths import Gamma

_MAKERS: dict[str, Callable[..., Kernel]] = {
    "linear": lambda **_: Linear(),
    "poly": lambda *, gamma, degree, coef0, **_: Polynomial(degree, gamma, coef0),
    "rbf": lambda *, gamma, sigma, **_: Gaussian(gamma, sigma=sigma),
    "laplacian": lambda *, gamma, **_: Laplacian(gamma),
    "matern": lambda *, gamma, sigma, nu, **_: Matern(nu, gamma, length_scale=sigma),
    "sigmoid": lambda *, gamma, coef0, **_: Sigmoid(gamma, coef0),
    "cosine": lambda **_: Cosine(),
    "chi2": lambda *, gamma, **_: ChiSquared(gamma),
    "precomputed": lambda **_: Precomputed(),
}
_ALIASES = {"polynomial": "poly", "gaussian": "rbf"}

NAMES = (*_MAKERS, *_ALIASES)
"""Every name that :func:`as_kernel` knows."""


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
        "chi2", "precomputed". A callable is a function of two points, as in scikit-learn; wrap one of two blocks in
        :class:`~gramian.kernels.own.BlockKernel`. A kernel is returned as it is.
    gamma, degree, coef0 : as in scikit-learn's KernelPCA
        A named kernel takes those it has and ignores the others; a word for gamma that has no meaning for a kernel
        with a gamma ("median" for an inner product) is refused, since no number would be what was asked for.
    sigma : float, optional
        Width of "rbf", and length scale of "matern", instead of gamma.
    nu : {0.5, 1.5, 2.5}, default=1.5
        Smoothness of "matern".
    parameters : mapping, optional
        Passed by name to a callable (scikit-learn's ``kernel_params``).

    Raises
    ------
    ParameterError
        Where a kernel or a function is given beside parameters that it does not see, or a name beside ``parameters``.

    Returns
    -------
    Kernel

    Examples
    --------
    >>> as_kernel("rbf", gamma=0.1)
    Gaussian(gamma=0.1)
    >>> as_kernel("poly", degree=2)
    Polynomial(degree=2, gamma=None, coef0=1.0)
    """
    given: dict[str, Any] = {"gamma": gamma, "sigma": sigma, "degree": degree, "coef0": coef0}
    beside: dict[str, Any] = {"kernel_params": parameters or None}
    if isinstance(kernel, Kernel):
        _require_nothing_beside(f"the kernel {kernel!r}", given | beside, "Set it in the kernel itself.")
        return kernel
    if callable(kernel):
        advice = "A function takes its parameters from kernel_params={...}."
        _require_nothing_beside("a kernel that is a function", given, advice)
        return PointKernel(kernel, parameters or {})
    name = _ALIASES.get(kernel, kernel) if isinstance(kernel, str) else None
    if name not in _MAKERS:
        message = (
            f"kernel={kernel!r} is not known. Pass a kernel, a function of two points, or one of {', '.join(NAMES)}."
        )
        raise ParameterError(message)
    _require_nothing_beside(f"kernel={kernel!r}", beside, "Those are for functions: pass gamma, degree, coef0 instead.")
    return _MAKERS[name](gamma=gamma, degree=degree, coef0=coef0, sigma=sigma, nu=nu)


_UNSET = {"degree": 3, "coef0": 1.0}
"""What a parameter is when nothing is said, where that is not None."""


def _require_nothing_beside(kernel: str, given: Mapping[str, Any], advice: str) -> None:
    """Refuse a parameter that would be ignored: one that differs from its default."""
    for name, value in given.items():
        unset = value is None if name not in _UNSET else value == _UNSET[name]
        if not unset:
            message = f"{name}={value!r} is given beside {kernel}, which does not see it. {advice}"
            raise ParameterError(message)
