"""A symmetric matrix held in memory, as an operator."""

from functools import partial
from typing import Any

import numpy as np

from gramian.arrays.namespace import Array, HostArray, dtype_of, is_numpy, namespace_of
from gramian.arrays.precision import eps_of
from gramian.arrays.products import empty_on_lines, is_thin, thin_product
from gramian.operators.symmetric import MatrixLike, Product
from gramian.sources.rows import even_ranges, run_folds

SHARED_OUT = 1 << 20
"""Numbers from which on a product is shared out among workers."""

TASK_ROWS = 512
"""Rows of a worker's task, about."""


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
    is_spare : bool, default=False
        Whether a check may work in its lower triangle, which it puts back, and so save a copy.
    by_workers : bool, default=False
        Whether products are shared out among workers, where BLAS is held to one thread: up to twice as fast for few
        columns, slower where threads of BLAS still spin.

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
        is_spare: bool = False,
        by_workers: bool = False,
    ) -> None:
        # Symmetric, so the transpose is the same matrix: row order is the faster one to multiply by a thin block.
        self.matrix = matrix.T if is_numpy(matrix) and matrix.flags.f_contiguous else matrix
        self.error = error
        self.lost = lost
        self.is_measured = is_measured
        self.size = matrix.shape[0]
        self.dtype = dtype_of(matrix)
        self.is_psd = is_psd
        self.is_spare = is_spare
        self.by_workers = by_workers
        self.applications = 0

    def apply(self, V: Array, *, accuracy: float | None = None) -> Product:
        """Return the matrix times V."""
        del accuracy
        self.applications += 1
        return Product(self._times(V), self.error + 4 * eps_of(self.dtype))

    def _times(self, V: Array) -> Array:
        if not is_numpy(self.matrix):
            return self.matrix @ V
        if self.by_workers and self.matrix.size >= SHARED_OUT and self.matrix.flags.c_contiguous:
            right, out = (empty_on_lines(*V.shape, dtype=self.matrix.dtype) for _ in range(2))
            right[...] = V
            if is_thin(right):
                run_folds(even_ranges(self.size, TASK_ROWS), partial(_fill, self.matrix, right, out), _nothing)
                return out
        # The same product by symmetry; OpenBLAS multiplies a thin block from the left 1.5 times faster.
        return (V.T @ self.matrix).T

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


def _fill(matrix: HostArray, V: HostArray, out: HostArray, state: None, rows: slice) -> None:
    """Fill some rows of  matrix V."""
    del state
    thin_product(matrix[rows], V, out=out[rows])


def _nothing(left: Any, right: Any) -> None:
    """Merge what workers have filled in place."""
    del left, right
