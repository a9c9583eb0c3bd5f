"""A kernel that sees each column times a number: one width a column."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gramian.arrays.namespace import Array, HostArray, cast, dtype_of, from_host
from gramian.arrays.precision import FLOAT64
from gramian.errors import ParameterError
from gramian.kernels.kernel import DataFacts, Kernel, Prepared
from gramian.kernels.wrapped import Wrapped


@dataclass(frozen=True, repr=False)
class Stretched(Wrapped):
    """A kernel of rows whose columns are multiplied first:  k(x, y) = kernel(f x, f y).

    With f the inverse deviations of the columns it is the kernel of the scaled table, without a scaled copy and with
    nothing to remember for new rows; in a Gaussian kernel it gives each column a width of its own.

    Cost: that of the kernel, and one product a number of the rows.

    Parameters
    ----------
    kernel : Kernel
        Words for its gamma ("median", "scale") mean the rows as they are, not the stretched ones: give a number.
    factors : tuple of float
        f, finite, one a column.

    Examples
    --------
    >>> from gramian.kernels import Gaussian
    >>> X = np.array([[0.0, 0.0], [1.0, 10.0]])
    >>> bool(np.allclose(Stretched(Gaussian(0.5), (1.0, 0.1))(X), Gaussian(0.5)(X * [1.0, 0.1])))
    True
    """

    kernel: Kernel
    factors: tuple[float, ...]
    name: ClassVar[str] = "stretched"

    def __post_init__(self) -> None:
        if not self.factors or not np.isfinite(self.factors).all():
            message = f"factors={self.factors!r} do not stretch columns. Pass a finite number for each."
            raise ParameterError(message)

    def prepare(self, rows: Array, *, dtype: np.dtype[Any], origin: Array | None = None) -> Prepared:
        """Stretch a block, moved to its origin first where there is one, and prepare it."""
        if origin is None:
            return self.kernel.prepare(self.stretched(rows), dtype=dtype)
        if self.shift_invariant and not hasattr(rows, "indptr"):
            return self.kernel.prepare(self.stretched(cast(rows, FLOAT64) - origin), dtype=dtype)
        # Sparse rows, and parts of a kernel that are not of differences, are for the kernel within to move or not.
        return self.kernel.prepare(self.stretched(rows), dtype=dtype, origin=origin * np.array(self.factors))

    def evaluate(self, left: Prepared, right: Prepared, *, out: HostArray | None = None) -> Array:
        """Return the tile of two prepared blocks."""
        return self.kernel.evaluate(left, right, out=out)

    def diagonal(self, rows: Array) -> HostArray:
        """Return k(x, x) for each row."""
        return self.kernel.diagonal(self.stretched(rows))

    def resolved(self, facts: DataFacts) -> "Stretched":
        """Return this kernel with every parameter a number."""
        if facts.n_columns != len(self.factors):
            message = f"{self} is for {len(self.factors):,} columns, and the rows have {facts.n_columns:,}."
            raise ParameterError(message)
        return Stretched(self.kernel.resolved(facts), self.factors)

    def stretched(self, rows: Any) -> Any:
        """Return rows as the kernel within sees them."""
        factors = np.array(self.factors)
        if hasattr(rows, "indptr"):
            return rows.multiply(factors[None, :]).tocsr()
        return rows * from_host(factors, like=rows, dtype=dtype_of(rows))

    def __repr__(self) -> str:
        shown = ", ".join(f"{factor:.3g}" for factor in self.factors[:4])
        more = f", ... {len(self.factors) - 4} more" if len(self.factors) > 4 else ""
        return f"Stretched({self.kernel!r}, ({shown}{more}))"


def leaves_on(kernel: Kernel, rows: Any) -> list[tuple[Kernel, Any]]:
    """Return the plain kernels that a kernel is made of (itself, where it is one), each with the rows as it sees them.

    Examples
    --------
    >>> from gramian.kernels import Gaussian, Linear
    >>> leaves_on(2 * Stretched(Gaussian(0.5), (10.0,)) + Linear(), np.ones((1, 1)))
    [(Gaussian(gamma=0.5), array([[10.]])), (Linear(), array([[1.]]))]
    """
    seen = kernel.stretched(rows) if isinstance(kernel, Stretched) else rows
    return [leaf for part in kernel.parts for leaf in leaves_on(part, seen)] if kernel.parts else [(kernel, rows)]
