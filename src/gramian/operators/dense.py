"""A symmetric matrix in memory, as an operator; a kernel matrix, whose small eigenvalues keep digits of their own."""

import numpy as np

from gramian.arrays.namespace import Array, HostArray, dtype_of, is_numpy, namespace_of
from gramian.arrays.precision import eps_of
from gramian.machine import all_blas_threads
from gramian.operators.symmetric import Product, SymmetricOperator


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
