"""The contract between a matrix and a method: a symmetric map that a solver can only apply.

A solver never sees rows, kernels or files. It asks an operator for products with blocks of vectors, and
each product is at least one pass over the data, so products are counted::

    product = operator.apply(V)          # product.values = A @ V, product.error = its relative error

An operator that has a factor (A = F'F) also gives ``root``: the triangle R of a QR factorization of F V,
which keeps the digits that forming V'AV would square away.
"""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from gramian.arrays.namespace import Array, HostArray
from gramian.arrays.precision import FLOAT64, eps_of


class Product(NamedTuple):
    """A @ V, and the error of that product relative to the norm of A times the norm of V."""

    values: Array
    error: float


class SymmetricOperator(ABC):
    """A symmetric m x m map (m is d or n) known by what it does to blocks of vectors.

    Attributes
    ----------
    size : int
        m.
    dtype : numpy.dtype
        Precision of the vectors.
    is_psd : bool
        Whether no eigenvalue is negative.
    applications : int
        Passes over the data made so far; a product is at least one.
    error : float
        Rounding in the operator itself, relative to its largest eigenvalue; zero when it is exact as given.
    lost : float
        Further rounding, in the units of the eigenvalues: of the sums that a matrix of rows was made of, or what a mean
        that is taken off after a product has cost.
    is_measured : bool
        Whether ``error`` was measured on some of the products that a matrix was formed from, and so is not proved.
    data_eps : float
        Unit of rounding (eps) of the data as they were given: no answer need be finer.
    """

    size: int
    dtype: np.dtype[Any]
    is_psd: bool
    applications: int
    error: float
    lost: float = 0.0
    is_measured: bool = False
    data_eps: float = eps_of(FLOAT64)

    @property
    def is_held(self) -> bool:
        """Whether the matrix is in memory, so that none of its eigenvalues can be missed unseen."""
        return False

    @abstractmethod
    def apply(self, V: Array, *, accuracy: float | None = None) -> Product:
        """Return A @ V and the relative error of that product.

        The operator picks the cheapest precision that meets ``accuracy``; ``None`` asks for its best.
        """

    def expect(self, products: float, *, certain: bool = True) -> None:  # noqa: B027
        """Hear how many more products a solver expects to need; an operator may change its way by it.

        ``certain`` is False where eigenvalues lie so close together that products alone will not tell whether one was
        missed.
        """

    @abstractmethod
    def like(self) -> Array:
        """Return a small array of the library and device that vectors must have."""

    @abstractmethod
    def trace(self) -> float:
        """Return the sum of all eigenvalues."""

    @abstractmethod
    def materialize(self) -> "MatrixLike":
        """Form the matrix: m^2 numbers."""

    @abstractmethod
    def root(self, V: Array) -> HostArray | None:
        """Return R with R'R = V'AV, from a QR factorization of the factor; ``None`` when there is no factor."""

    def inner(self, V: Array, *, within: float = 0.0) -> HostArray | None:
        """Return V'AV as  (F V)'(F V),  exact to rounding beside its own norm, not A's; ``None`` without a factor.

        ``within`` is an error that F v may have, in the norm, if that makes the product cheaper.
        """
        del V, within
        return None

    @abstractmethod
    def cost(self, k: int) -> float:
        """Return the operations of a product with ``k`` vectors."""

    @abstractmethod
    def amplification(self, values: HostArray) -> HostArray:
        """Return, for each eigenvalue, how much a residual grows on its way to the caller's space."""


class MatrixLike(SymmetricOperator):
    """An operator whose matrix is held in memory.

    Attributes
    ----------
    matrix : array (m, m)
    is_spare : bool
        Whether a check may work in its lower triangle, which it puts back.
    """

    matrix: Array
    is_spare: bool = False

    @property
    def is_held(self) -> bool:
        """True."""
        return True
