"""The contract of an explicit map, whose inner products are, or are near to, a kernel; and its features as rows."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.arrays.namespace import Array, cast, namespace_of
from gramian.kernels.blocks import named_rows
from gramian.sources.rows import Block, Fold, Merge, PairFold, RowSource, block_length, fold_pairs, ranges, stack_rows

if TYPE_CHECKING:
    from gramian.features.nystrom import LandmarkMap


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
    roundings : int
        How many roundings, each of eps relative to its size, a feature is made with.
    """

    kernel: Any
    n_columns: int
    n_features: int
    is_exact: bool = False
    bounds_trace: bool = False
    roundings: int = 4

    @property
    def by_landmarks(self) -> "LandmarkMap | None":
        """The map itself where its features are combinations of kernel values with landmarks; else ``None``."""
        return None

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
    """What is asked of a map, before any row is seen. A frozen value: it prints, compares and pickles.

    Attributes
    ----------
    n_landmarks : int
        Landmarks that a fit would choose for the recipe's kernel; zero for maps of another kind.
    """

    n_landmarks: int = 0

    @abstractmethod
    def fit(self, source: RowSource) -> FeatureMap:
        """Return the map for the rows of a source."""


class MappedRows(RowSource):
    """Rows phi(x) of D features, for each row x of another source.

    All that takes rows takes these: PCA of them is kernel PCA with the kernel that phi stands for, in D x D instead
    of n x n. Every pass computes phi again; nothing of size n D is kept.

    Parameters
    ----------
    source : RowSource
    phi : FeatureMap
    dtype : numpy.dtype, optional
        In which phi is computed; that of the rows where it is not given.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.features import Monomials
    >>> from gramian.models.pca.fit import fit_pca
    >>> from gramian.sources import as_source
    >>> t = 2 * np.pi * np.arange(8) / 8
    >>> circle = as_source(10 * np.column_stack([np.cos(t), np.sin(t)]))
    >>> phi = Monomials(degree=2).fit(circle)
    >>> fit_pca(MappedRows(circle, phi)).variances[:4].round(6) * 7 / 8
    array([2500., 2500.,  100.,  100.])
    """

    is_sparse = False
    has_columns = False

    def __init__(self, source: RowSource, phi: FeatureMap, *, dtype: np.dtype[Any] | None = None) -> None:
        self.source = source
        self.phi: FeatureMap | _InType = phi
        if dtype is not None and dtype != source.dtype:
            self.phi = _InType(phi, dtype)
        self.n_rows, self.n_columns = source.n_rows, phi.n_features
        self.dtype = source.dtype if dtype is None else dtype
        self.weights = source.weights
        self.column_names = None
        self.is_local, self.on_disk = source.is_local, source.on_disk
        self._step = block_length(self.n_columns * self.dtype.itemsize)

    @cached_property
    def _places(self) -> list[tuple[int, slice]]:
        return [(i, part) for i, size in enumerate(self.source.block_sizes()) for part in ranges(size, self._step)]

    @property
    def n_entries(self) -> int:
        """Numbers that a pass makes."""
        return self.n_rows * self.n_columns

    @property
    def n_blocks(self) -> int:
        """Number of blocks that :meth:`block` can give."""
        return len(self._places)

    def block(self, i: int) -> Block:
        """Return block ``i``: computed now."""
        j, part = self._places[i]
        return _mapped(self.phi, self.source.block(j), part)

    def block_sizes(self) -> list[int]:
        """Return the number of rows of each block, without making a feature."""
        return [part.stop - part.start for _, part in self._places]

    def evenly(self, count: int) -> Iterable[Array]:
        """Return the features of about ``count`` rows, spread evenly."""
        return (self.phi.map_block(rows) for rows in self.source.evenly(count))

    def like(self) -> Array:
        """Return a small array of the library and device that the features have."""
        return cast(self.source.like(), self.dtype)

    def reduce(self, fold: Fold, merge: Merge, *, state_bytes: int = 0) -> Any:
        """Fold every block into one value: one pass over the source, by its own schedule."""
        inner = partial(_fold_parts, self.phi, self._step, fold)
        return self.source.reduce(inner, merge, state_bytes=state_bytes)

    def map_rows(self, local: Callable[[Block], Array]) -> Array:
        """Stack ``local(block)`` over all blocks; lazily where the rows are not in this process."""
        return (
            stack_rows(self, local)
            if self.is_local
            else self.source.map_rows(partial(_map_parts, self.phi, self._step, local))
        )

    def reduce_pairs(self, fold: PairFold, merge: Merge, *, symmetric: bool, block_rows: int | None = None) -> Any:
        """Fold pairs of blocks into one value; with ``symmetric`` only the pairs i <= j."""
        if block_rows is None:
            return fold_pairs(self, fold, merge, symmetric=symmetric)
        inner = partial(_fold_pair, self.phi, fold)
        return self.source.reduce_pairs(inner, merge, symmetric=symmetric, block_rows=block_rows)


@dataclass(frozen=True)
class _InType:
    """A map whose rows are brought to a type first, so that features are rounded in that one."""

    phi: FeatureMap
    dtype: np.dtype[Any]

    @property
    def n_features(self) -> int:
        return self.phi.n_features

    def map_block(self, rows: Array) -> Array:
        return self.phi.map_block(cast(rows, self.dtype))


def _mapped(phi: "FeatureMap | _InType", block: Block, part: slice) -> Block:
    weights = None if block.weights is None else block.weights[part]
    return Block(phi.map_block(block.rows[part]), block.start + part.start, weights)


def _map_parts(phi: "FeatureMap | _InType", step: int, local: Callable[[Block], Array], block: Block) -> Array:
    parts = [local(_mapped(phi, block, part)) for part in ranges(block.rows.shape[0], step)]
    return parts[0] if len(parts) == 1 else namespace_of(parts[0]).concat(parts, axis=0)


def _fold_pair(phi: "FeatureMap | _InType", fold: PairFold, state: Any, left: Block, right: Block) -> Any:
    everything = slice(0, None)
    return fold(state, _mapped(phi, left, everything), _mapped(phi, right, everything))


def _fold_parts(phi: "FeatureMap | _InType", step: int, fold: Fold, state: Any, block: Block) -> Any:
    for part in ranges(block.rows.shape[0], step):
        state = fold(state, _mapped(phi, block, part))
    return state
