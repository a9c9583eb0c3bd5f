"""What every explicit map shares: phi takes rows to features whose inner products are, or are near to, a kernel."""

from abc import ABC, abstractmethod
from typing import Any

from gramian.arrays.namespace import Array
from gramian.kernels.naming import named_rows
from gramian.sources.rows import Block, RowSource


class FeatureMap(ABC):
    """A map phi that has seen its rows: (b, d) rows in, (b, D) features out.

    Its promise is  phi(x) . phi(y) = k(x, y),  to rounding where :attr:`is_exact`, else within the error that
    :func:`~gramian.features.kernel_error.measure_kernel_error` measures.

    Attributes
    ----------
    kernel : Kernel or None
        The k of the promise, without unknown parameters; ``None`` where there is no such kernel.
    n_columns, n_features : int
        d and D.
    is_exact : bool
    bounds_trace : bool
        Whether K - phi phi' is positive semidefinite, so that its trace bounds its eigenvalues.
    """

    kernel: Any
    n_columns: int
    n_features: int
    is_exact: bool = False
    bounds_trace: bool = False

    @abstractmethod
    def map_block(self, rows: Array) -> Array:
        """Return phi of rows (b, d), dense or CSR, as a dense (b, D) array in their precision."""

    def map_rows(self, source: RowSource) -> Array:
        """Return phi of all rows of a source (n, D): one pass, n D numbers out."""
        return source.map_rows(self._map)

    def _map(self, block: Block) -> Array:
        with named_rows(block.start):
            return self.map_block(block.rows)


class FeatureRecipe(ABC):
    """What is asked of a map, before any row is seen. A frozen value: it prints, compares and pickles."""

    @abstractmethod
    def fit(self, source: RowSource) -> FeatureMap:
        """Return the map for the rows of a source."""
