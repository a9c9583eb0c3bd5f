"""Kernels of the Euclidean distance as functions of its square: their value, how fast they fall, and the way back.

A kernel of one's own joins by registering its profile::

    @radial_profile.register
    def _(kernel: MyKernel) -> RadialProfile:
        return RadialProfile(lambda squares: (value, fall))
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import singledispatch

import numpy as np

from gramian.arrays.namespace import HostArray
from gramian.errors import NotSupportedError
from gramian.kernels.combination import Scaled, Sum
from gramian.kernels.kernel import Kernel
from gramian.kernels.radial import Gaussian, Matern

SMALLEST_SHARE = 1e-100
"""Values under this share of the height count as it, since of their distance only that it is large is known."""


@dataclass(frozen=True)
class RadialProfile:
    """A kernel that is a decreasing function of s = |x - y|^2.

    Attributes
    ----------
    curve : function
        Gives k(s) and -k'(s) for an array of s.
    """

    curve: Callable[[HostArray], tuple[HostArray, HostArray]]

    @property
    def height(self) -> float:
        """k(0)."""
        return float(self.curve(np.zeros(1))[0][0])

    def squared_distance(self, values: HostArray) -> HostArray:
        """Return the squared distance at which the kernel has these values; zero for values above k(0).

        Computes  the root of k(s) = v  by bisection: 60 evaluations, to the last bits.

        Examples
        --------
        >>> radial_profile(Gaussian(0.5)).squared_distance(np.exp([-1.0, -8.0])).round(9)
        array([ 2., 16.])
        """
        values = np.maximum(values, SMALLEST_SHARE * self.height)
        low, high = np.zeros_like(values), np.ones_like(values)
        while (short := self.curve(high)[0] > values).any():
            high = np.where(short, 2 * high, high)
        for _ in range(60):
            middle = (low + high) / 2
            above = self.curve(middle)[0] > values
            low, high = np.where(above, middle, low), np.where(above, high, middle)
        return np.where(values >= self.height, 0.0, (low + high) / 2)


@singledispatch
def radial_profile(kernel: Kernel) -> RadialProfile:
    """Return a kernel as a function of the squared Euclidean distance.

    For the Gaussian and Matern kernels, with numbers for parameters, their sums and positive multiples.

    Raises
    ------
    NotSupportedError
        For kernels that are no such function.
    """
    message = (
        f"{kernel} is not known as a function of the Euclidean distance, which this pre-image needs. Use the ridge, "
        "which serves every kernel."
    )
    raise NotSupportedError(message)


@radial_profile.register
def _gaussian(kernel: Gaussian) -> RadialProfile:
    gamma = float(kernel.gamma)  # type: ignore[arg-type]  # a number, once resolved

    def curve(squares: HostArray) -> tuple[HostArray, HostArray]:
        value = np.exp(-gamma * squares)
        return value, gamma * value

    return RadialProfile(curve)


@radial_profile.register
def _matern(kernel: Matern) -> RadialProfile:
    factor = 4.0 * kernel.nu * float(kernel.gamma)  # type: ignore[arg-type]  # a number, once resolved

    def curve(squares: HostArray) -> tuple[HostArray, HostArray]:
        t = np.sqrt(factor * squares)
        decay = np.exp(-t)
        if kernel.nu == 0.5:
            # Its slope is infinite at zero, where a point meets a row: such a row keeps the point, as it should.
            return decay, factor / 2 * decay / np.maximum(t, 1e-9)
        if kernel.nu == 1.5:
            return (1.0 + t) * decay, factor / 2 * decay
        return (1.0 + t * (1.0 + t / 3.0)) * decay, factor / 6 * (1.0 + t) * decay

    return RadialProfile(curve)


@radial_profile.register
def _scaled(kernel: Scaled) -> RadialProfile:
    inner = radial_profile(kernel.kernel)

    def curve(squares: HostArray) -> tuple[HostArray, HostArray]:
        value, fall = inner.curve(squares)
        return kernel.factor * value, kernel.factor * fall

    return RadialProfile(curve)


@radial_profile.register
def _sum(kernel: Sum) -> RadialProfile:
    parts = [radial_profile(part) for part in kernel.terms]

    def curve(squares: HostArray) -> tuple[HostArray, HostArray]:
        value, fall = np.sum([part.curve(squares) for part in parts], axis=0)
        return value, fall

    return RadialProfile(curve)
