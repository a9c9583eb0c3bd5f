"""Other forms that a kernel may have than its values: a curve over distances, a power of x.y, a density of waves.

A kernel declares those that it has (:meth:`Kernel.radial_profile`, :attr:`Kernel.polynomial_form`,
:meth:`Kernel.draw_waves`); pre-images, explicit features and random Fourier features ask for nothing else.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gramian.arrays.namespace import HostArray


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

        Computes  the root of k(s) = v  by bisection: 60 evaluations, to the last bits. Values under 1e-100 k(0) count
        as that: of their distance only that it is large is known.

        Examples
        --------
        >>> from gramian.kernels import Gaussian
        >>> Gaussian(0.5).radial_profile().squared_distance(np.exp([-1.0, -8.0])).round(9)
        array([ 2., 16.])
        """
        values = np.maximum(values, 1e-100 * self.height)
        low, high = np.zeros_like(values), np.ones_like(values)
        while (short := self.curve(high)[0] > values).any():
            high = np.where(short, 2 * high, high)
        for _ in range(60):
            middle = (low + high) / 2
            above = self.curve(middle)[0] > values
            low, high = np.where(above, middle, low), np.where(above, high, middle)
        return np.where(values >= self.height, 0.0, (low + high) / 2)


class PolynomialForm(NamedTuple):
    """A kernel that is  (gamma x.y + coef0)^degree."""

    degree: float
    gamma: float
    coef0: float

    @property
    def is_linear(self) -> bool:
        """Whether it is x.y itself, so that the rows are their own features."""
        return self == (1, 1.0, 0.0)

    @property
    def has_real_features(self) -> bool:
        """Whether finitely many real monomials have this kernel as their inner product."""
        return float(self.degree).is_integer() and self.degree >= 1 and self.coef0 >= 0 and self.gamma > 0

    def inner_product(self, values: HostArray) -> HostArray:
        """Return the x.y at which the kernel has these values; of two, as even degrees have, the larger.

        Examples
        --------
        >>> PolynomialForm(2, 1.0, 1.0).inner_product(np.array([9.0, 0.0]))
        array([ 2., -1.])
        """
        root = np.abs(values) ** (1.0 / self.degree)
        root *= np.sign(values) if self.degree % 2 == 1 else values > 0
        return np.asarray((root - self.coef0) / self.gamma)


class Waves(NamedTuple):
    """Frequencies (q, d) drawn from a spectral density, and the kernel's value k(0) at no distance."""

    frequencies: HostArray
    height: float


@dataclass(frozen=True)
class WaveDraw:
    """What is drawn: ``count`` frequencies in ``n_columns`` dimensions, in orthogonal groups or one by one."""

    count: int
    n_columns: int
    orthogonal: bool
    rng: np.random.Generator

    def normal(self) -> HostArray:
        """Draw standard normal vectors (count, d); where orthogonal, every d of them are so to each other.

        Orthogonal ones are rows of a random rotation, each with the length of a normal vector of its own, so that
        every single one is still standard normal.
        """
        free = self.rng.standard_normal((self.count, self.n_columns))
        if not self.orthogonal:
            return free
        groups, d = [], self.n_columns
        for _ in range(-(-self.count // d)):
            Q, R = np.linalg.qr(self.rng.standard_normal((d, d)))
            # Without the signs of R the rotation would not be uniform (Mezzadri, 2007).
            groups.append((Q * np.sign(np.diag(R))).T)
        turned = np.concatenate(groups)[: self.count]
        return np.asarray(turned * np.linalg.norm(free, axis=1, keepdims=True))
