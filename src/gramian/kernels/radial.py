"""Kernels of the distance of two rows."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gramian.arrays.namespace import Array, HostArray
from gramian.errors import ParameterError
from gramian.kernels.blocks import shifted
from gramian.kernels.distances import augmented, half_squared_distances
from gramian.kernels.kernel import DataFacts, Kernel, Prepared
from gramian.kernels.tiles import exponential
from gramian.kernels.widths import Gamma, checked_gamma, number_of, resolved_gamma, width_as_gamma


@dataclass(frozen=True, init=False)
class Gaussian(Kernel):
    """The Gaussian or RBF kernel.

    Computes  k(x, y) = exp(-gamma |x - y|^2),  with gamma = 1 / (2 sigma^2).
    Rows are scaled once and carry their squared norms as columns, so a tile is one matrix product, which gives the
    exponent, and one exponential in place.

    Cost of a tile (a, b): 2 a b (d + 4) operations, a b exponentials, no memory but the tile. Sparse rows stay sparse.

    Not for rows whose columns have unlike units (scale them first: one width serves all columns), nor, in float32, for
    widths far smaller than the spread: the exponent is accurate to about eps gamma |x|^2, |x| counted from ``origin``.

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

    def __init__(self, gamma: Gamma = None, *, sigma: float | None = None) -> None:
        if gamma is not None and sigma is not None:
            message = f"gamma={gamma!r} and sigma={sigma!r} are two names of one width. Pass one of them."
            raise ParameterError(message)
        chosen = checked_gamma(gamma, kernel=self.name) if sigma is None else width_as_gamma(sigma, name="sigma")
        object.__setattr__(self, "gamma", chosen)

    @property
    def sigma(self) -> float | None:
        """The width 1 / sqrt(2 gamma); None while gamma is not a number."""
        return float(np.sqrt(0.5 / self.gamma)) if isinstance(self.gamma, float) and self.gamma > 0 else None

    @property
    def shift_invariant(self) -> bool:
        """True: only the difference of two rows counts."""
        return True

    @property
    def shift_invariant_centered(self) -> bool:
        """True."""
        return True

    @property
    def takes_sparse(self) -> bool:
        """True."""
        return True

    @property
    def is_psd(self) -> bool:
        """True (Schoenberg, 1938)."""
        return True

    def prepare(self, rows: Array, *, dtype: np.dtype[Any], origin: Array | None = None) -> Prepared:
        """Scale rows by sqrt(2 gamma) and join their squared norms."""
        scale = float(np.sqrt(2.0 * number_of(self.gamma, rows.shape[1])))
        return augmented(shifted(rows, origin), scale, dtype=dtype)

    def evaluate(self, left: Prepared, right: Prepared, *, out: HostArray | None = None) -> Array:
        """Return exp of the product of two prepared blocks."""
        return exponential(half_squared_distances(left, right, out=out))

    def diagonal(self, rows: Array) -> HostArray:
        """Return ones."""
        return np.ones(rows.shape[0])

    def resolved(self, facts: DataFacts) -> "Gaussian":
        """Return the kernel with gamma a number."""
        return Gaussian(resolved_gamma(self.gamma, facts))
