"""The contract of an unmixing method, and what one returns."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np

from gramian.arrays.namespace import Array, HostArray
from gramian.arrays.precision import eps_of
from gramian.unmixing.contrast import Contrast, LogCosh
from gramian.unmixing.white_rows import WhiteRows


@dataclass(frozen=True, eq=False)
class Unmixing:
    """What a method found.

    Attributes
    ----------
    matrix : numpy array (k, k)
        W: sources are  s = W z.
    gradient_norm : float
        Largest entry of the relative gradient of the method's own objective at W.
    n_iter : int
        Iterations made.
    converged : bool
    """

    matrix: HostArray
    gradient_norm: float
    n_iter: int
    converged: bool


@dataclass(frozen=True)
class UnmixingMethod(ABC):
    """A way to unmix white rows. A frozen value: ``PicardO(tol=1e-8)``.

    Attributes
    ----------
    contrast : Contrast
    tol : float
        Gradient norm at which the method stops.
    max_iter : int
    """

    contrast: Contrast = field(default_factory=LogCosh)
    tol: float = 1e-6
    max_iter: int = 200

    def require_suited(self, like: Array) -> None:
        """Refuse a contrast that this method cannot use, tried on numbers of the library of ``like``: before any pass.

        Every contrast suits a method that does not say otherwise.
        """
        del like

    @abstractmethod
    def solve(self, rows: WhiteRows, start: HostArray) -> Unmixing:
        """Unmix from W = ``start`` (k, k)."""


def reachable(tol: float, rows: WhiteRows, cross: HostArray) -> float:
    """Return the tolerance, or the rounding of the gradient where that is larger.

    A mean of psi(s) s' of size m is computed to about 4 eps m: no iteration gets below it.
    """
    return max(tol, 4 * eps_of(rows.dtype) * float(np.abs(np.diagonal(cross)).max(initial=0.0)))


def nearest_rotation(matrix: HostArray) -> HostArray:
    """Return the orthogonal matrix nearest to one, (M M')^(-1/2) M, by its singular vectors.

    Examples
    --------
    >>> nearest_rotation(np.diag([2.0, 5.0]))
    array([[1., 0.],
           [0., 1.]])
    """
    U, _, Vt = np.linalg.svd(matrix)
    rotation: HostArray = U @ Vt
    return rotation


def skew(matrix: HostArray) -> HostArray:
    """Return the part of a matrix that rotates, (M - M') / 2."""
    part: HostArray = (matrix - matrix.T) / 2
    return part
