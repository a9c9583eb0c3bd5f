"""An operator that is applied without its matrix until forming the matrix pays: by time saved, or by a proof."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from gramian.arrays.namespace import Array, HostArray
from gramian.operators.symmetric import MatrixLike, Product, SymmetricOperator


class FormedLater(SymmetricOperator):
    """An operator that begins without its matrix, and forms it when many more products are expected.

    An easy spectrum is solved in a dozen passes over the rows, a hard one takes a hundred, and nobody knows which it is
    before the first residuals are seen. A product with the formed matrix costs less by the share ``gain`` of a pass;
    forming it, and the check that none of its eigenvalues was missed, cost ``price`` passes; so it is formed when
    price + (1 - gain) expected  is less than the passes ``expected``. Eigenvalues that lie close together cannot be
    ranked by products, only by the matrix: then it is formed if that costs less than ``worth`` times those passes.

    Parameters
    ----------
    operator : SymmetricOperator
    price : float
        Passes that take as long as forming the matrix.
    gain : float
        Part of a pass that a product with the formed matrix saves.
    worth : float, default=1
        How many times as long as the passes to come a proof may take.
    around : callable, optional
        Makes the context in which the matrix is formed.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.operators.held import HeldMatrix
    >>> operator = FormedLater(HeldMatrix(np.eye(2)), price=20, gain=0.5)
    >>> operator.expect(30); operator.formed is None
    True
    >>> operator.expect(50); operator.formed is None
    False
    """

    def __init__(
        self,
        operator: SymmetricOperator,
        *,
        price: float,
        gain: float,
        worth: float = 1.0,
        around: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self.operator = operator
        self.price = price
        self.gain = gain
        self.worth = worth
        self.around = around
        self.formed: MatrixLike | None = None
        self.size, self.dtype, self.is_psd = operator.size, operator.dtype, operator.is_psd

    @property
    def current(self) -> SymmetricOperator:
        """The matrix once it is formed, the operator before."""
        return self.operator if self.formed is None else self.formed

    @property
    def is_held(self) -> bool:
        """Whether the matrix has been formed."""
        return self.formed is not None

    @property
    def applications(self) -> int:  # type: ignore[override]
        """Passes over the data, and products with the matrix once it is formed."""
        return self.operator.applications + (0 if self.formed is None else self.formed.applications)

    @property
    def error(self) -> float:  # type: ignore[override]
        """Rounding in the operator itself."""
        return self.current.error

    @property
    def lost(self) -> float:  # type: ignore[override]
        """Rounding from a mean that is taken off after products."""
        return self.current.lost

    @property
    def is_measured(self) -> bool:  # type: ignore[override]
        """Whether ``error`` was measured on some of the products that the matrix was formed from."""
        return self.current.is_measured

    def apply(self, V: Array, *, accuracy: float | None = None) -> Product:
        """Return A @ V, by the matrix once it is formed."""
        return self.current.apply(V, accuracy=accuracy)

    def expect(self, products: float, *, certain: bool = True) -> None:
        """Form the matrix when that many products would save more than it costs, or a proof is worth it."""
        if self.formed is None and self.price + (1 - self.gain) * products < (1 if certain else self.worth) * products:
            with self.around():
                self.formed = self.operator.materialize()

    def like(self) -> Array:
        """Return a small array of the library and device that vectors must have."""
        return self.operator.like()

    def trace(self) -> float:
        """Return the sum of all eigenvalues."""
        return self.operator.trace()

    def materialize(self) -> MatrixLike:
        """Return the matrix."""
        return self.formed if self.formed is not None else self.operator.materialize()

    def root(self, V: Array) -> HostArray | None:
        """Return R with R'R = V'AV, from the factor."""
        return self.operator.root(V)

    def inner(self, V: Array, *, within: float = 0.0) -> HostArray | None:
        """Return V'AV from the factor."""
        return self.operator.inner(V, within=within)

    def cost(self, k: int) -> float:
        """Return the operations of a product with ``k`` vectors."""
        return self.current.cost(k)

    def amplification(self, values: HostArray) -> HostArray:
        """Return how much a residual grows on its way to the caller's space."""
        return self.operator.amplification(values)
