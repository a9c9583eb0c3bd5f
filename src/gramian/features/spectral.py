"""Spectral densities of kernels: by Bochner's theorem  k(x - y) = k(0) E cos w.(x - y)  for random frequencies w.

A kernel of one's own joins by registering how its frequencies are drawn::

    @draw_waves.register
    def _(kernel: MyKernel, draw: Draw) -> Waves: ...
"""

from dataclasses import dataclass
from functools import singledispatch
from typing import NamedTuple

import numpy as np

from gramian.arrays.namespace import HostArray
from gramian.errors import NotSupportedError, ParameterError
from gramian.kernels.combination import Product, Scaled, Sum
from gramian.kernels.kernel import Kernel
from gramian.kernels.laplacian import Laplacian
from gramian.kernels.radial import Gaussian, Matern


class Waves(NamedTuple):
    """Frequencies (q, d) drawn from a spectral density, and the kernel's value k(0) at no distance."""

    frequencies: HostArray
    height: float


@dataclass(frozen=True)
class Draw:
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
        return np.asarray(self._turned() * np.linalg.norm(free, axis=1, keepdims=True))

    def _turned(self) -> HostArray:
        d = self.n_columns
        groups = []
        for _ in range(-(-self.count // d)):
            Q, R = np.linalg.qr(self.rng.standard_normal((d, d)))
            # Without the signs of R the rotation would not be uniform (Mezzadri, 2007).
            groups.append((Q * np.sign(np.diag(R))).T)
        return np.concatenate(groups)[: self.count]


@singledispatch
def draw_waves(kernel: Kernel, draw: Draw) -> Waves:
    """Draw frequencies for a kernel that has numbers for parameters.

    ===============================  ===================================================
    kernel                           frequencies
    ===============================  ===================================================
    Gaussian                         normal, of variance 2 gamma
    Laplacian                        independent Cauchy, of scale gamma
    Matern                           Student's t in d dimensions, 2 nu degrees of freedom
    c k                              those of k
    k1 + k2                          of k1 or of k2, by the share of each in k(0)
    k1 k2                            one of k1 plus one of k2
    ===============================  ===================================================

    Raises
    ------
    NotSupportedError
        For kernels that are not a function of x - y, or whose density is not known here.

    Examples
    --------
    >>> waves = draw_waves(Gaussian(0.5), Draw(2000, 1, False, np.random.default_rng(0)))
    >>> bool(abs(np.cos(waves.frequencies * 1.5).mean() - np.exp(-0.5 * 1.5**2)) < 0.03)
    True
    """
    del draw
    known = "Gaussian, Laplacian and Matern kernels, their sums, products and positive multiples"
    message = f"{kernel} has no spectral density here: random Fourier features are for {known}. Use landmarks instead."
    raise NotSupportedError(message)


@draw_waves.register
def _gaussian(kernel: Gaussian, draw: Draw) -> Waves:
    return Waves(np.sqrt(2.0 * _number(kernel.gamma)) * draw.normal(), 1.0)


@draw_waves.register
def _matern(kernel: Matern, draw: Draw) -> Waves:
    # Student's t is a normal vector over the root of an independent chi-squared: one a frequency, for all columns.
    spread = draw.rng.chisquare(2.0 * kernel.nu, size=(draw.count, 1)) / (2.0 * kernel.nu)
    return Waves(np.sqrt(2.0 * _number(kernel.gamma) / spread) * draw.normal(), 1.0)


@draw_waves.register
def _laplacian(kernel: Laplacian, draw: Draw) -> Waves:
    if draw.orthogonal:
        message = (
            "orthogonal=True is for kernels of the Euclidean distance, whose frequencies have no preferred direction; "
            "those of the Laplacian lie along the columns. Use orthogonal=False."
        )
        raise ParameterError(message)
    return Waves(_number(kernel.gamma) * draw.rng.standard_cauchy((draw.count, draw.n_columns)), 1.0)


@draw_waves.register
def _scaled(kernel: Scaled, draw: Draw) -> Waves:
    waves = draw_waves(kernel.kernel, draw)
    return waves._replace(height=kernel.factor * waves.height)


@draw_waves.register
def _sum(kernel: Sum, draw: Draw) -> Waves:
    parts = [draw_waves(part, draw) for part in kernel.terms]
    heights = np.array([part.height for part in parts])
    which = draw.rng.choice(len(parts), draw.count, p=heights / heights.sum())
    stacked = np.stack([part.frequencies for part in parts])
    return Waves(stacked[which, np.arange(draw.count)], float(heights.sum()))


@draw_waves.register
def _product(kernel: Product, draw: Draw) -> Waves:
    parts = [draw_waves(part, draw) for part in kernel.factors]
    frequencies = np.sum([part.frequencies for part in parts], axis=0)
    return Waves(frequencies, float(np.prod([part.height for part in parts])))


def _number(gamma: object) -> float:
    if isinstance(gamma, float):
        return gamma
    message = f"gamma={gamma!r} is not a number yet. Use kernel.resolved(facts) first."
    raise ParameterError(message)
