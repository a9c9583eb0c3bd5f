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

from gramian.arrays.namespace import Array, HostArray, dtype_of, is_numpy, namespace_of
from gramian.arrays.precision import FLOAT32, FLOAT64, eps_of
from gramian.machine import all_blas_threads

COARSE_ACCURACY = 50 * eps_of(FLOAT32)
"""Accuracy that a solver asks of products while its residuals are larger, and at which float32 rows are multiplied in
float32."""


class Product(NamedTuple):
    """A @ V, and the error of that product relative to the norm of A times the norm of V."""

    values: Array
    error: float


class Forming(NamedTuple):
    """What forming the matrix of an operator costs, measured in products with it.

    An easy spectrum is solved in a dozen passes over the rows, a hard one takes a hundred, and nobody knows which it is
    before the first residuals are seen.

    Attributes
    ----------
    price : float
        Products that take as long as forming the matrix, and checking that none of its eigenvalues was missed.
    gain : float
        Part of a product that one with the formed matrix saves.
    worth : float, default=1
        How many times as long as the products to come a proof may take.
    """

    price: float
    gain: float
    worth: float = 1.0

    def pays(self, products: float, *, certain: bool = True) -> bool:
        """Tell whether the matrix is to be formed when so many products are to come.

        Computes  price + (1 - gain) products < products. Eigenvalues that lie close together cannot be ranked by
        products, only by the matrix: where an answer would not be ``certain``, it may take ``worth`` times as long.

        Examples
        --------
        >>> Forming(price=20, gain=0.5).pays(30), Forming(price=20, gain=0.5).pays(50)
        (False, True)
        """
        return self.price + (1 - self.gain) * products < (1 if certain else self.worth) * products


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
    absolute_error : float
        Further rounding, in the units of the eigenvalues: of the sums that a matrix of rows was made of, or what a mean
        that is taken off after a product has cost.
    is_measured : bool
        Whether ``error`` was measured on some of the products that a matrix was formed from, and so is not proved.
    data_eps : float
        Unit of rounding (eps) of the data as they were given: no answer need be finer.
    forming : Forming or None
        When a solver that makes products had better form the matrix; ``None`` for never.
    matrix : array (m, m) or None
        The matrix, where it is in memory: then none of its eigenvalues can be missed unseen.
    may_overwrite : bool
        Whether a check may work in the lower triangle of ``matrix``, which it puts back.
    """

    size: int
    dtype: np.dtype[Any]
    is_psd: bool
    applications: int
    error: float
    absolute_error: float = 0.0
    is_measured: bool = False
    data_eps: float = eps_of(FLOAT64)
    forming: Forming | None = None
    matrix: Array = None
    may_overwrite: bool = False

    @property
    def is_dense(self) -> bool:
        """Whether the matrix is in memory."""
        return self.matrix is not None

    @abstractmethod
    def apply(self, V: Array, *, accuracy: float | None = None) -> Product:
        """Return A @ V and the relative error of that product.

        The operator picks the cheapest precision that meets ``accuracy``; ``None`` asks for its best.
        """

    @abstractmethod
    def like(self) -> Array:
        """Return a small array of the library and device that vectors must have."""

    @abstractmethod
    def trace(self) -> float:
        """Return the sum of all eigenvalues."""

    @abstractmethod
    def materialize(self) -> "SymmetricOperator":
        """Return the same map with its matrix in memory: m^2 numbers."""

    @abstractmethod
    def root(self, V: Array) -> HostArray | None:
        """Return R with R'R = V'AV, from a QR factorization of the factor; ``None`` when there is no factor."""

    def inner(self, V: Array, *, within: float = 0.0) -> HostArray | None:
        """Return V'AV as  (F V)'(F V);  ``None`` without a factor.

        It is exact to rounding relative to its own norm, not to A's. ``within`` is an error that F v may have, in the
        norm, if that makes the product cheaper.
        """
        del V, within
        return None

    def residual_weight(self, values: HostArray) -> HostArray:
        """Return, for each eigenvalue, how much a residual grows on its way to the caller's space: here, not at all."""
        return np.ones_like(values)

    def components(self, vectors: Array, values: HostArray, *, repaired: int = 0, room: int = 0) -> Array:
        """Return eigenvectors (m, k) as orthonormal columns in the caller's space; here they are that already.

        ``repaired`` of all values were computed without squaring: see :class:`~gramian.eigen.pairs.EigenPairs`. An
        operator that makes new columns leaves ``room`` for that many, zero beyond the k.
        """
        del values, repaired, room
        return vectors

    def rough_components(self, vectors: Array, values: HostArray) -> Array:
        """Return the same to a few digits, for some of the eigenvectors."""
        del values
        return vectors


class DenseMatrix(SymmetricOperator):
    """A symmetric matrix in memory.

    Cost of ``apply`` to k vectors: 2 m^2 k operations and one pass over m^2 numbers.

    Parameters
    ----------
    matrix : array (m, m)
        Symmetric; both triangles filled.
    error : float, default=0
        Rounding made while forming it, relative to its largest eigenvalue.
    absolute_error : float, default=0
        Further rounding, in the units of the eigenvalues.
    is_measured : bool, default=False
        Whether ``error`` was measured on some of the products that it was formed from.
    is_psd : bool, default=True
    may_overwrite : bool, default=False
        Whether a check may work in its lower triangle, which it puts back, and so save a copy.

    Examples
    --------
    >>> import numpy as np
    >>> DenseMatrix(np.diag([2.0, 1.0])).apply(np.ones((2, 1))).values
    array([[2.],
           [1.]])
    """

    def __init__(
        self,
        matrix: Array,
        *,
        error: float = 0.0,
        absolute_error: float = 0.0,
        is_measured: bool = False,
        is_psd: bool = True,
        may_overwrite: bool = False,
    ) -> None:
        # Symmetric, so the transpose is the same matrix: row order is the faster one to multiply by a thin block.
        self.matrix = matrix.T if is_numpy(matrix) and matrix.flags.f_contiguous else matrix
        self.error = error
        self.absolute_error = absolute_error
        self.is_measured = is_measured
        self.size = matrix.shape[0]
        self.dtype = dtype_of(matrix)
        self.is_psd = is_psd
        self.may_overwrite = may_overwrite
        self.applications = 0

    def apply(self, V: Array, *, accuracy: float | None = None) -> Product:
        """Return the matrix times V."""
        del accuracy
        self.applications += 1
        return Product(self._times(V), self.error + 4 * eps_of(self.dtype))

    def _times(self, V: Array) -> Array:
        if not is_numpy(self.matrix):
            return self.matrix @ V
        # The same product by symmetry; OpenBLAS multiplies a thin block from the left 1.5 times faster.
        with all_blas_threads():
            return (V.T @ self.matrix).T

    def like(self) -> Array:
        """Return an empty piece of the matrix."""
        return self.matrix[:0, :0]

    def trace(self) -> float:
        """Return the sum of the diagonal."""
        if is_numpy(self.matrix):
            return float(np.trace(self.matrix))
        return float(namespace_of(self.matrix).linalg.trace(self.matrix))

    def materialize(self) -> "DenseMatrix":
        """Return itself."""
        return self

    def root(self, V: Array) -> HostArray | None:
        """Return ``None``: no factor of it is known."""
        del V
        return None


class DenseKernel(DenseMatrix):
    """A centered kernel matrix that was given: as :class:`DenseMatrix`, small values found to their own size.

    Examples
    --------
    >>> DenseKernel(np.diag([1.0, 1e-4])).residual_weight(np.array([1.0, 1e-4]))
    array([  1., 100.])
    """

    def residual_weight(self, values: HostArray) -> HostArray:
        """Return 0.01 lambda_1 / lambda_i where that is above one, and at most a million."""
        return small_value_weight(values, least=1e-8)


def small_value_weight(values: HostArray, *, least: float) -> HostArray:
    """Return by how much smaller than tol lambda_1 the residual of each value has to be.

    Computes  max(1, 0.01 lambda_1 / lambda_i),  values under ``least`` lambda_1 counting as that. A residual of
    tol lambda_1 says nothing of an eigenvalue of 1e-6 lambda_1; above 0.01 lambda_1 values are good to about
    residual^2 / gap and need no more.
    """
    top = max(float(np.max(values, initial=0.0)), np.finfo(float).tiny)
    return np.asarray(np.maximum(0.01 / np.maximum(values / top, least), 1.0))
