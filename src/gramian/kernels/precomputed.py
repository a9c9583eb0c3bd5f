"""The name of a kernel matrix that is given instead of rows."""

from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import numpy as np

from gramian.arrays.namespace import Array, HostArray
from gramian.errors import NotSupportedError
from gramian.kernels.kernel import DataFacts, Kernel, Prepared


@dataclass(frozen=True)
class Precomputed(Kernel):
    """Says that the rows given are the kernel matrix itself.

    Computes nothing: K was computed by the user, (n, n) for a fit and (m, n) for m new points. The operator holds it as
    it is.

    Not where n^2 numbers do not fit in memory: pass a function, and tiles are made as they are needed.

    Examples
    --------
    >>> Precomputed()
    Precomputed()
    """

    name: ClassVar[str] = "precomputed"
    shift_invariant: ClassVar[bool] = False
    shift_invariant_centered: ClassVar[bool] = False
    takes_sparse: ClassVar[bool] = False
    is_psd: ClassVar[bool] = False

    def prepare(self, rows: Array, *, dtype: np.dtype[Any], origin: Array | None = None) -> Prepared:
        """Refuse: there are no rows."""
        del rows, dtype, origin
        _refuse()

    def evaluate(self, left: Prepared, right: Prepared, *, out: HostArray | None = None) -> Array:
        """Refuse: there is no function."""
        del left, right, out
        _refuse()

    def diagonal(self, rows: Array) -> HostArray:
        """Return the diagonal of the matrix given."""
        return np.asarray(np.diagonal(rows), dtype=np.float64)

    def resolved(self, facts: DataFacts) -> "Precomputed":
        """Return itself."""
        del facts
        return self


def _refuse() -> NoReturn:
    message = (
        "A precomputed kernel is a matrix and cannot be evaluated on rows, nor added to or multiplied with kernels "
        "that are. Pass the kernel itself, or combine the matrices before they are passed."
    )
    raise NotSupportedError(message)
