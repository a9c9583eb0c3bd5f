"""A symmetric matrix held in memory, as an operator."""

import numpy as np

from gramian.arrays.namespace import Array, HostArray, dtype_of, is_numpy, namespace_of
from gramian.arrays.precision import eps_of
from gramian.operators.symmetric import MatrixLike, Product


class HeldMatrix(MatrixLike):
    """A symmetric matrix held in memory.

    Cost of ``apply`` to k vectors: 2 m^2 k operations and one pass over m^2 numbers.

    Parameters
    ----------
    matrix : array (m, m)
        Symmetric; both triangles filled.
    error : float, default=0
        Rounding made while forming it, relative to its largest eigenvalue.
    lost : float, default=0
        Further rounding, in the units of the eigenvalues.
    is_measured : bool, default=False
        Whether ``error`` was measured on some of the products that it was formed from.
    is_psd : bool, default=True

    Examples
    --------
    >>> import numpy as np
    >>> HeldMatrix(np.diag([2.0, 1.0])).apply(np.ones((2, 1))).values
    array([[2.],
           [1.]])
    """

    def __init__(
        self,
        matrix: Array,
        *,
        error: float = 0.0,
        lost: float = 0.0,
        is_measured: bool = False,
        is_psd: bool = True,
    ) -> None:
        # Symmetric, so the transpose is the same matrix: row order is the faster one to multiply by a thin block.
        self.matrix = matrix.T if is_numpy(matrix) and matrix.flags.f_contiguous else matrix
        self.error = error
        self.lost = lost
        self.is_measured = is_measured
        self.size = matrix.shape[0]
        self.dtype = dtype_of(matrix)
        self.is_psd = is_psd
        self.applications = 0

    def apply(self, V: Array, *, accuracy: float | None = None) -> Product:
        """Return the matrix times V."""
        del accuracy
        self.applications += 1
        # The same product by symmetry; OpenBLAS multiplies a thin block from the left 1.5 times faster.
        values = (V.T @ self.matrix).T if is_numpy(self.matrix) else self.matrix @ V
        return Product(values, self.error + 4 * eps_of(self.dtype))

    def like(self) -> Array:
        """Return an empty piece of the matrix."""
        return self.matrix[:0, :0]

    def trace(self) -> float:
        """Return the sum of the diagonal."""
        if is_numpy(self.matrix):
            return float(np.trace(self.matrix))
        return float(namespace_of(self.matrix).linalg.trace(self.matrix))

    def materialize(self) -> "HeldMatrix":
        """Return itself."""
        return self

    def root(self, V: Array) -> HostArray | None:
        """Return ``None``: the factor of a held matrix is not known."""
        del V
        return None

    def cost(self, k: int) -> float:
        """Return the operations of a product with ``k`` vectors."""
        return 2.0 * self.size**2 * k

    def amplification(self, values: HostArray) -> HostArray:
        """Return ones: residuals are measured where they are used."""
        return np.ones_like(values)
