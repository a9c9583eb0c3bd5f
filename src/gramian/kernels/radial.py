"""Kernels of the Euclidean distance of two rows: Gaussian and Matern."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gramian.arrays.namespace import Array, HostArray, is_numpy, namespace_of
from gramian.errors import ParameterError
from gramian.kernels.blocks import shifted
from gramian.kernels.distances import augmented, exact_distances, half_squared_distances, squared_lengths
from gramian.kernels.kernel import DataFacts, Kernel, Prepared
from gramian.kernels.tiles import LOWEST_EXPONENT, exponential, strips, with_unit_diagonal
from gramian.kernels.widths import Gamma, checked_gamma, gamma_of_width, number_of, plain_number, resolved_gamma


@dataclass(frozen=True, init=False)
class Gaussian(Kernel):
    """The Gaussian or RBF kernel.

    Computes  k(x, y) = exp(-gamma |x - y|^2),  with gamma = 1 / (2 sigma^2).
    Rows are scaled once and carry their squared norms as columns, so a tile is one matrix product, which gives the
    exponent, and one exponential in place.

    Cost of a tile (a, b): 2 a b (d + 2) operations, a b exponentials, no memory but the tile. Sparse rows stay sparse.

    Not for rows whose columns have unlike units (scale them first: one width serves all columns), nor, in float32, for
    widths far smaller than the distances that matter: the exponent is accurate to about eps gamma |x|^2, |x| counted
    from ``origin`` (measured: 0.4 to 2.4 times that in the mean square, for 5 to 784 columns).

    Equals scikit-learn's ``rbf_kernel``.

    Parameters
    ----------
    gamma : float, "scale", "median" or None, default=None
        None is 1/d, as in scikit-learn's KernelPCA; "scale" is 1 / (d variance), the variance being the mean of those
        of the columns; "median" is 1 / (2 m^2), m being the median distance of pairs of rows.
    sigma : float, optional
        The width instead of gamma: gamma = 1 / (2 sigma^2).

    Examples
    --------
    >>> Gaussian(sigma=1.0)
    Gaussian(gamma=0.5)
    >>> Gaussian(gamma=0.5)([[0.0, 0.0], [1.0, 1.0]]).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """

    gamma: Gamma
    name: ClassVar[str] = "Gaussian"
    shift_invariant: ClassVar[bool] = True
    shift_invariant_centered: ClassVar[bool] = True
    takes_sparse: ClassVar[bool] = True
    is_psd: ClassVar[bool] = True

    def __init__(self, gamma: Gamma = None, *, sigma: float | None = None) -> None:
        object.__setattr__(self, "gamma", _one_width(gamma, sigma, kernel=self.name, width="sigma"))

    @property
    def sigma(self) -> float | None:
        """The width 1 / sqrt(2 gamma); None while gamma is not a number."""
        return _width(self.gamma)

    def prepare(self, rows: Array, *, dtype: np.dtype[Any], origin: Array | None = None) -> Prepared:
        """Scale rows by sqrt(2 gamma) and join their squared norms."""
        scale = math.sqrt(2.0 * number_of(self.gamma, rows.shape[1]))
        return augmented(shifted(rows, origin), scale, dtype=dtype)

    def evaluate(self, left: Prepared, right: Prepared, *, out: HostArray | None = None) -> Array:
        """Return exp of the product of two prepared blocks."""
        tile = half_squared_distances(left, right, out=out)
        # Clipping is a pass of its own, so made only where there can be much to cut: about the diagonal, and underflow.
        lowest = -0.5 * (left.reach + right.reach) ** 2
        clip = left is right or not is_numpy(tile) or lowest < LOWEST_EXPONENT[tile.dtype]
        return with_unit_diagonal(exponential(tile, clip=clip), same_block=left is right)

    def diagonal(self, rows: Array) -> HostArray:
        """Return ones."""
        return np.ones(rows.shape[0])

    def resolved(self, facts: DataFacts) -> "Gaussian":
        """Return the kernel with gamma a number."""
        return Gaussian(resolved_gamma(self.gamma, facts))


@dataclass(frozen=True, init=False)
class Matern(Kernel):
    """The Matern kernel of smoothness 1/2, 3/2 or 5/2.

    Computes, with  t = sqrt(2 nu) |x - y| / length_scale:

    - nu = 1/2:  exp(-t), as rough as Brownian motion;
    - nu = 3/2:  (1 + t) exp(-t), once differentiable;
    - nu = 5/2:  (1 + t + t^2/3) exp(-t), twice differentiable.

    As nu grows it becomes the Gaussian of sigma = length_scale, so gamma = 1 / (2 length_scale^2) means the same width
    in both (Rasmussen and Williams, 2006, eq. 4.14).

    Cost of a tile (a, b): that of the Gaussian, and a b square roots. With nu = 1/2 the kernel has a kink where rows
    meet; the distance of rows closer than a few hundredths of their length is taken again from their difference, at d
    operations a pair. Sparse rows stay sparse.

    Not for data so smooth that a Gaussian fits: its eigenvalues fall more slowly, and more components are needed.

    Equals scikit-learn's ``gaussian_process.kernels.Matern``.

    Parameters
    ----------
    nu : {0.5, 1.5, 2.5}, default=1.5
    gamma : float, "scale", "median" or None, default=None
        As in :class:`Gaussian`.
    length_scale : float, optional
        The width instead of gamma: gamma = 1 / (2 length_scale^2).

    Examples
    --------
    >>> Matern(0.5, length_scale=1.0)([[0.0], [1.0]]).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """

    nu: float
    gamma: Gamma
    name: ClassVar[str] = "Matern"
    shift_invariant: ClassVar[bool] = True
    shift_invariant_centered: ClassVar[bool] = True
    takes_sparse: ClassVar[bool] = True
    is_psd: ClassVar[bool] = True

    def __init__(self, nu: float = 1.5, gamma: Gamma = None, *, length_scale: float | None = None) -> None:
        if plain_number(nu) not in {0.5, 1.5, 2.5}:
            message = f"nu={nu!r} for the Matern kernel: pass 0.5, 1.5 or 2.5, the smoothnesses with a short formula."
            raise ParameterError(message)
        object.__setattr__(self, "nu", float(nu))
        object.__setattr__(self, "gamma", _one_width(gamma, length_scale, kernel=self.name, width="length_scale"))

    @property
    def length_scale(self) -> float | None:
        """The width 1 / sqrt(2 gamma); None while gamma is not a number."""
        return _width(self.gamma)

    def prepare(self, rows: Array, *, dtype: np.dtype[Any], origin: Array | None = None) -> Prepared:
        """Scale rows by sqrt(2 nu) / length_scale and join their squared norms."""
        scale = 2.0 * math.sqrt(self.nu * number_of(self.gamma, rows.shape[1]))
        return augmented(shifted(rows, origin), scale, dtype=dtype)

    def evaluate(self, left: Prepared, right: Prepared, *, out: HostArray | None = None) -> Array:
        """Return the formula of t, a few rows at a time."""
        tile = half_squared_distances(left, right, out=out)
        if not is_numpy(tile):
            xp = namespace_of(tile)
            return _matern(xp.sqrt(xp.clip(-2.0 * tile, min=0.0)), self.nu)
        for rows in strips(len(tile)):
            _distances_in_place(tile[rows])
            if self.nu == 0.5:
                _retake_close_pairs(tile, rows, left, right)
            _matern_in_place(tile[rows], self.nu)
        return with_unit_diagonal(tile, same_block=left is right)

    def diagonal(self, rows: Array) -> HostArray:
        """Return ones."""
        return np.ones(rows.shape[0])

    def resolved(self, facts: DataFacts) -> "Matern":
        """Return the kernel with gamma a number."""
        return Matern(self.nu, resolved_gamma(self.gamma, facts))


CLOSE = {4: 2e-3, 8: 1e-5}
"""Share of |z|^2 under which a squared distance is taken again, by bytes of a number. The product leaves an error of
about eps |z|^2 in it, so its root is wrong by eps |z| / (2 sqrt(share)): 1e-6 |z| in float32, 4e-14 |z| in float64."""


def _distances_in_place(strip: HostArray) -> None:
    np.multiply(strip, -2.0, out=strip)
    np.maximum(strip, 0.0, out=strip)
    np.sqrt(strip, out=strip)


def _retake_close_pairs(tile: HostArray, rows: slice, left: Prepared, right: Prepared) -> None:
    close = np.sqrt(CLOSE[tile.dtype.itemsize] * squared_lengths(left)[rows, None]).astype(tile.dtype)
    found = tile[rows] < close
    if not found.any():
        return
    i, j = np.nonzero(found)
    i += rows.start
    tile[i, j] = exact_distances(left, right, i, j)


def _matern_in_place(t: HostArray, nu: float) -> None:
    polynomial: HostArray | None = None
    if nu == 1.5:
        polynomial = t + 1.0
    elif nu == 2.5:
        polynomial = t * (1.0 / 3.0)
        polynomial += 1.0
        polynomial *= t
        polynomial += 1.0
    np.negative(t, out=t)
    exponential(t)
    if polynomial is not None:
        t *= polynomial


def _matern(t: Array, nu: float) -> Array:
    factor = {0.5: 1.0, 1.5: 1.0 + t, 2.5: 1.0 + t * (1.0 + t / 3.0)}[nu]
    return factor * namespace_of(t).exp(-t)


def _one_width(gamma: object, width_given: object, *, kernel: str, width: str) -> Gamma:
    if width_given is None:
        return checked_gamma(gamma, kernel=kernel)
    if gamma is not None:
        message = f"gamma={gamma!r} and {width}={width_given!r} are two names of one width. Pass one of them."
        raise ParameterError(message)
    return gamma_of_width(width_given, name=width)


def _width(gamma: Gamma) -> float | None:
    return math.sqrt(0.5 / gamma) if isinstance(gamma, float) and gamma > 0 else None
