"""Kernels made of kernels: sums, products and positive multiples, which are kernels again."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gramian.arrays.namespace import Array, HostArray
from gramian.errors import ParameterError
from gramian.kernels.kernel import DataFacts, Kernel, Prepared
from gramian.kernels.widths import plain_number
from gramian.kernels.wrapped import Wrapped


@dataclass(frozen=True, repr=False)
class Sum(Kernel):
    """The sum of kernels: the features of all of them side by side.

    Computes  k(x, y) = k_1(x, y) + k_2(x, y) + ...  Cost of a tile: that of each, and one more tile of memory.

    Not for kernels of very different sizes without scaling: the largest one rules the matrix.

    Parameters
    ----------
    terms : tuple of kernels

    Examples
    --------
    >>> from gramian.kernels import Gaussian, Linear
    >>> kernel = Gaussian(0.5) + 2 * Linear()
    >>> kernel
    Gaussian(gamma=0.5) + 2.0 * Linear()
    >>> kernel([[1.0, 1.0]])
    array([[5.]])
    """

    terms: tuple[Kernel, ...]
    name: ClassVar[str] = "sum"

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", _flat(self.terms, Sum))

    def __repr__(self) -> str:
        return " + ".join(repr(term) for term in self.terms)

    @property
    def parts(self) -> tuple[Kernel, ...]:
        """The terms."""
        return self.terms

    @property
    def shift_invariant(self) -> bool:
        """Whether every term is."""
        return all(term.shift_invariant for term in self.terms)

    @property
    def shift_invariant_centered(self) -> bool:
        """Whether every term is: centering a sum centers each term."""
        return all(term.shift_invariant_centered for term in self.terms)

    @property
    def takes_sparse(self) -> bool:
        """Whether every term does."""
        return all(term.takes_sparse for term in self.terms)

    @property
    def is_psd(self) -> bool:
        """Whether every term is."""
        return all(term.is_psd for term in self.terms)

    def prepare(self, rows: Array, *, dtype: np.dtype[Any], origin: Array | None = None) -> Prepared:
        """Prepare the rows for each term."""
        return tuple(term.prepare(rows, dtype=dtype, origin=origin) for term in self.terms)

    def evaluate(self, left: Prepared, right: Prepared, *, out: HostArray | None = None) -> Array:
        """Return the sum of the tiles of all terms."""
        first, *rest = zip(self.terms, left, right, strict=True)
        tile = first[0].evaluate(first[1], first[2], out=out)
        for term, mine, other in rest:
            tile += term.evaluate(mine, other)
        return tile

    def diagonal(self, rows: Array) -> HostArray:
        """Return the sum of the diagonals."""
        return np.asarray(np.sum([term.diagonal(rows) for term in self.terms], axis=0))

    def resolved(self, facts: DataFacts) -> "Sum":
        """Return the sum of the resolved terms."""
        return Sum(tuple(term.resolved(facts) for term in self.terms))


@dataclass(frozen=True, repr=False)
class Product(Kernel):
    """The product of kernels: all products of a feature of one with a feature of another.

    Computes  k(x, y) = k_1(x, y) k_2(x, y) ...  Cost of a tile: that of each, and one more tile of memory.

    Not for two Gaussians: their product is the Gaussian whose gamma is the sum of theirs.

    Parameters
    ----------
    factors : tuple of kernels

    Examples
    --------
    >>> from gramian.kernels import Gaussian, Linear
    >>> (Gaussian(0.5) * Linear())([[1.0, 1.0]])
    array([[2.]])
    """

    factors: tuple[Kernel, ...]
    name: ClassVar[str] = "product"

    def __post_init__(self) -> None:
        object.__setattr__(self, "factors", _flat(self.factors, Product))

    def __repr__(self) -> str:
        return " * ".join(_in_brackets(factor) for factor in self.factors)

    @property
    def parts(self) -> tuple[Kernel, ...]:
        """The factors."""
        return self.factors

    @property
    def shift_invariant(self) -> bool:
        """Whether every factor is."""
        return all(factor.shift_invariant for factor in self.factors)

    @property
    def shift_invariant_centered(self) -> bool:
        """Whether every factor is shift-invariant itself: centering a product does not center its factors."""
        return self.shift_invariant

    @property
    def takes_sparse(self) -> bool:
        """Whether every factor does."""
        return all(factor.takes_sparse for factor in self.factors)

    @property
    def is_psd(self) -> bool:
        """Whether every factor is (Schur, 1911)."""
        return all(factor.is_psd for factor in self.factors)

    def prepare(self, rows: Array, *, dtype: np.dtype[Any], origin: Array | None = None) -> Prepared:
        """Prepare the rows for each factor."""
        return tuple(factor.prepare(rows, dtype=dtype, origin=origin) for factor in self.factors)

    def evaluate(self, left: Prepared, right: Prepared, *, out: HostArray | None = None) -> Array:
        """Return the product, entry by entry, of the tiles of all factors."""
        first, *rest = zip(self.factors, left, right, strict=True)
        tile = first[0].evaluate(first[1], first[2], out=out)
        for factor, mine, other in rest:
            tile *= factor.evaluate(mine, other)
        return tile

    def diagonal(self, rows: Array) -> HostArray:
        """Return the product of the diagonals."""
        return np.asarray(np.prod([factor.diagonal(rows) for factor in self.factors], axis=0))

    def resolved(self, facts: DataFacts) -> "Product":
        """Return the product of the resolved factors."""
        return Product(tuple(factor.resolved(facts) for factor in self.factors))


@dataclass(frozen=True, repr=False)
class Scaled(Wrapped):
    """A positive multiple of a kernel: its features times the square root of the factor.

    Computes  factor k(x, y).  Cost of a tile: that of the kernel, and one multiplication an entry.

    Not needed alone: components do not change, only eigenvalues. It weighs the terms of a sum.

    Parameters
    ----------
    kernel : Kernel
    factor : float
        Above zero.

    Examples
    --------
    >>> from gramian.kernels import Linear
    >>> (3 * Linear())([[2.0]])
    array([[12.]])
    """

    kernel: Kernel
    factor: float
    name: ClassVar[str] = "scaled"

    def __post_init__(self) -> None:
        factor = plain_number(self.factor)
        if factor is None or not 0 < factor < np.inf:
            message = (
                f"{self.factor!r} times the kernel {self.kernel!r}: the factor must be a finite number above zero, for "
                "a negative multiple of a kernel is not positive semidefinite."
            )
            raise ParameterError(message)
        inner = self.kernel
        if isinstance(inner, Scaled):
            factor, inner = factor * inner.factor, inner.kernel
        object.__setattr__(self, "kernel", inner)
        object.__setattr__(self, "factor", factor)

    def __repr__(self) -> str:
        return f"{self.factor!r} * {_in_brackets(self.kernel)}"

    def prepare(self, rows: Array, *, dtype: np.dtype[Any], origin: Array | None = None) -> Prepared:
        """Prepare the rows for the kernel."""
        return self.kernel.prepare(rows, dtype=dtype, origin=origin)

    def evaluate(self, left: Prepared, right: Prepared, *, out: HostArray | None = None) -> Array:
        """Return the tile of the kernel times the factor."""
        tile = self.kernel.evaluate(left, right, out=out)
        tile *= self.factor
        return tile

    def diagonal(self, rows: Array) -> HostArray:
        """Return the diagonal of the kernel times the factor."""
        return self.factor * self.kernel.diagonal(rows)

    def resolved(self, facts: DataFacts) -> "Scaled":
        """Return the multiple of the resolved kernel."""
        return Scaled(self.kernel.resolved(facts), self.factor)


def _flat(parts: tuple[Kernel, ...], kind: type[Kernel]) -> tuple[Kernel, ...]:
    """Open sums inside a sum (or products inside a product), so that (a + b) + c equals a + (b + c)."""
    parts = tuple(parts)
    if not parts or not all(isinstance(part, Kernel) for part in parts):
        message = f"A {kind.name} of kernels needs at least one kernel, and only kernels; it was given {parts!r}."
        raise ParameterError(message)
    return tuple(piece for part in parts for piece in (part.parts if isinstance(part, kind) else (part,)))


def _in_brackets(kernel: Kernel) -> str:
    return f"({kernel!r})" if isinstance(kernel, (Sum, Product, Scaled)) else repr(kernel)
