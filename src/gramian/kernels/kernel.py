"""The contract of a kernel: a small frozen value that evaluates one tile of the kernel matrix at a time.

A tile is k(x, y) for every x of one block of rows and every y of another. What can be done once for a block (scaling,
squared norms, a change of type) is done by ``prepare``; what has to be done for every pair of blocks by ``evaluate``::

    left, right = kernel.prepare(X, dtype=dtype), kernel.prepare(Y, dtype=dtype)
    tile = kernel.evaluate(left, right)        # (a, b); left and right serve in many tiles

A new kernel is one class with these methods, and a line in ``named`` if it has a name.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np

from gramian.arrays.namespace import Array, HostArray
from gramian.arrays.precision import FLOAT64

Prepared = Any
"""A block of rows as its kernel wants it; only the kernel that made it looks inside."""


class DataFacts(NamedTuple):
    """What a kernel may ask of the data when it replaces words by numbers (``gamma="scale"``, ``"median"``).

    Attributes
    ----------
    n_columns : int
    variance : float
        Mean of the variances of all columns (divided by n).
    median_distance : callable
        Gives the median Euclidean distance of pairs of rows; called only when it is needed.
    median_cityblock : callable or None
        The same for the sum of absolute differences; ``None`` when the caller cannot tell.
    """

    n_columns: int
    variance: float
    median_distance: Callable[[], float]
    median_cityblock: Callable[[], float] | None = None


class Kernel(ABC):
    """A similarity k(x, y) of two rows, evaluated a tile at a time.

    Every kernel is a frozen dataclass: it prints, compares, pickles, and can be shared by threads. Kernels can be added
    and multiplied, and multiplied by a positive number: the result is a kernel.

    Attributes
    ----------
    name : str
        What it is called in sentences.
    """

    name: ClassVar[str]
    __array_ufunc__: ClassVar[None] = None  # So that np.float64(2) * kernel is asked of the kernel, not of NumPy.

    @property
    @abstractmethod
    def shift_invariant(self) -> bool:
        """Whether k(x + c, y + c) = k(x, y): rows may then be shifted to their mean, for accurate distances."""

    @property
    @abstractmethod
    def shift_invariant_centered(self) -> bool:
        """Whether the centered matrix H K H stays the same when all rows are shifted (also true of a linear kernel)."""

    @property
    @abstractmethod
    def takes_sparse(self) -> bool:
        """Whether blocks may be SciPy CSR matrices, which are never made dense."""

    @property
    @abstractmethod
    def is_psd(self) -> bool:
        """Whether K is known to be positive semidefinite for every data set; False means that it is not known."""

    @property
    def parts(self) -> tuple["Kernel", ...]:
        """The kernels that this one is made of; none for a plain one."""
        return ()

    @property
    def leaves(self) -> tuple["Kernel", ...]:
        """The plain kernels that this one is made of in the end: itself, where it is one."""
        return tuple(leaf for part in self.parts for leaf in part.leaves) if self.parts else (self,)

    @abstractmethod
    def prepare(self, rows: Array, *, dtype: np.dtype[Any], origin: Array | None = None) -> Prepared:
        """Make a block of rows ready, once, for many tiles.

        Parameters
        ----------
        rows : (b, d) array or CSR matrix
            Finite numbers. Distances are accurate when the rows are near the origin: see ``origin``.
        dtype : numpy.dtype
            float32 or float64: the precision of the tiles.
        origin : (d,) array, optional
            A point near the rows, the same for every block. Kernels (and parts of a sum or product) that do not change
            under a shift subtract it from dense rows in float64 before anything is rounded or squared; the others
            ignore it. Not needed when the rows are shifted already.
        """

    @abstractmethod
    def evaluate(self, left: Prepared, right: Prepared, *, out: HostArray | None = None) -> Array:
        """Return the tile k(x, y), (a, b), of two prepared blocks, written into ``out`` when given.

        Where ``left is right`` a kernel may use that its diagonal is known and that half of the pairs are enough.
        """

    @abstractmethod
    def diagonal(self, rows: Array) -> HostArray:
        """Return k(x, x) for each row, (b,), in float64."""

    @abstractmethod
    def resolved(self, facts: DataFacts) -> "Kernel":
        """Return this kernel with every parameter a number: None, "scale" and "median" are replaced."""

    def __call__(self, X: Array, Y: Array | None = None) -> Array:
        """Return the matrix k(x, y), (n, m), in float64; Y = X when it is not given.

        For looking at a kernel and for small problems: the whole matrix is formed. Parameters that are words or None
        are resolved on X.

        Parameters
        ----------
        X : (n, d) array, list of rows or CSR matrix
        Y : (m, d) array, list of rows or CSR matrix, optional
        """
        from gramian.kernels.blocks import as_block, column_means, require_same_columns
        from gramian.kernels.naming import named_rows
        from gramian.kernels.widths import facts_of

        left = as_block(X, kernel=self)
        right = left if Y is None else as_block(Y, kernel=self)
        require_same_columns(left, right)
        kernel = self.resolved(facts_of(left))
        origin = column_means(left)
        with named_rows(0):
            ready = other = kernel.prepare(left, dtype=FLOAT64, origin=origin)
        if Y is not None:
            with named_rows(0, ending=" of Y"):
                other = kernel.prepare(right, dtype=FLOAT64, origin=origin)
        with named_rows(0):
            return kernel.evaluate(ready, other)

    def __add__(self, other: object) -> "Kernel":
        from gramian.kernels.combination import Sum

        return Sum((self, other)) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: object) -> "Kernel":
        from gramian.kernels.combination import Product, Scaled

        if isinstance(other, Kernel):
            return Product((self, other))
        return Scaled(self, float(other)) if isinstance(other, (int, float, np.number)) else NotImplemented

    def __rmul__(self, other: object) -> "Kernel":
        return self * other
