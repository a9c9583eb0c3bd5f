"""Kernels made of kernels, sums, products, positive multiples and scaled columns; and every kernel as text."""

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, is_dataclass
from functools import reduce
from typing import Any, ClassVar

import numpy as np

from gramian.arrays.namespace import Array, HostArray, cast, dtype_of, from_host, is_sparse
from gramian.arrays.precision import FLOAT64
from gramian.errors import ParameterError
from gramian.kernels.kernel import Kernel, Prepared, RadialProfile, WaveDraw, Waves
from gramian.kernels.widths import DataFacts, plain_number


class Combined(Kernel, ABC):
    """A kernel made of others, its ``parts``; what it says of rows holds where each of them says it."""

    @property
    @abstractmethod
    def parts(self) -> tuple[Kernel, ...]:
        """The kernels that it is made of."""

    @property
    def shift_invariant(self) -> bool:
        """Whether every part is."""
        return all(part.shift_invariant for part in self.parts)

    @property
    def takes_sparse(self) -> bool:
        """Whether every part does."""
        return all(part.takes_sparse for part in self.parts)

    @property
    def is_psd(self) -> bool:
        """Whether every part is; so are sums, products (Schur, 1911) and positive multiples of such kernels."""
        return all(part.is_psd for part in self.parts)


class Wrapped(Combined, ABC):
    """A kernel made from one other, ``kernel``."""

    kernel: Kernel

    @property
    def parts(self) -> tuple[Kernel, ...]:
        """The kernel within."""
        return (self.kernel,)

    @property
    def shift_invariant_centered(self) -> bool:
        """As the kernel within."""
        return self.kernel.shift_invariant_centered


class Several(Combined, ABC):
    """A kernel made of any number of others, whose entries are put together by one operation."""

    in_place: ClassVar[str]
    """The operation, by its name among those of ``operator``: it writes into its first array."""

    def _together(self, first: Any, others: Iterable[Any]) -> Any:
        return reduce(getattr(operator, self.in_place), others, first)

    def prepare(self, rows: Array, *, dtype: np.dtype[Any], origin: Array | None = None) -> Prepared:
        """Prepare the rows for each part."""
        return tuple(part.prepare(rows, dtype=dtype, origin=origin) for part in self.parts)

    def evaluate(self, left: Prepared, right: Prepared, *, out: HostArray | None = None) -> Array:
        """Return the tiles of all parts put together."""
        (part, mine, other), *rest = zip(self.parts, left, right, strict=True)
        return self._together(part.evaluate(mine, other, out=out), (p.evaluate(x, y) for p, x, y in rest))

    def diagonal(self, rows: Array) -> HostArray:
        """Return the diagonals put together."""
        first, *rest = (part.diagonal(rows) for part in self.parts)
        return np.asarray(self._together(first.copy(), rest))


@dataclass(frozen=True, repr=False)
class Sum(Several):
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
    in_place: ClassVar[str] = "iadd"

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", _flat(self.terms, Sum))

    def __repr__(self) -> str:
        return " + ".join(repr(term) for term in self.terms)

    @property
    def parts(self) -> tuple[Kernel, ...]:
        """The terms."""
        return self.terms

    @property
    def shift_invariant_centered(self) -> bool:
        """Whether every term is: centering a sum centers each term."""
        return all(term.shift_invariant_centered for term in self.terms)

    def resolved(self, facts: DataFacts) -> "Sum":
        """Return the sum of the resolved terms."""
        return Sum(tuple(term.resolved(facts) for term in self.terms))

    def radial_profile(self) -> RadialProfile:
        """Return the sum of the profiles."""
        parts = [term.radial_profile() for term in self.terms]

        def curve(squares: HostArray) -> tuple[HostArray, HostArray]:
            value, fall = np.sum([part.curve(squares) for part in parts], axis=0)
            return value, fall

        return RadialProfile(curve)

    def draw_waves(self, draw: WaveDraw) -> Waves:
        """Draw each frequency of one of the terms, by its share in k(0)."""
        parts = [term.draw_waves(draw) for term in self.terms]
        heights = np.array([part.height for part in parts])
        which = draw.rng.choice(len(parts), draw.count, p=heights / heights.sum())
        stacked = np.stack([part.frequencies for part in parts])
        return Waves(stacked[which, np.arange(draw.count)], float(heights.sum()))


@dataclass(frozen=True, repr=False)
class Product(Several):
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
    in_place: ClassVar[str] = "imul"

    def __post_init__(self) -> None:
        object.__setattr__(self, "factors", _flat(self.factors, Product))

    def __repr__(self) -> str:
        return " * ".join(_in_brackets(factor) for factor in self.factors)

    @property
    def parts(self) -> tuple[Kernel, ...]:
        """The factors."""
        return self.factors

    @property
    def shift_invariant_centered(self) -> bool:
        """Whether every factor is shift-invariant itself: centering a product does not center its factors."""
        return self.shift_invariant

    def resolved(self, facts: DataFacts) -> "Product":
        """Return the product of the resolved factors."""
        return Product(tuple(factor.resolved(facts) for factor in self.factors))

    def draw_waves(self, draw: WaveDraw) -> Waves:
        """Draw a frequency of every factor, and add them."""
        parts = [factor.draw_waves(draw) for factor in self.factors]
        frequencies = np.sum([part.frequencies for part in parts], axis=0)
        return Waves(frequencies, float(np.prod([part.height for part in parts])))


@dataclass(frozen=True, repr=False)
class Scaled(Wrapped):
    """A positive multiple of a kernel: its features times the square root of the factor.

    Computes  factor k(x, y).  Cost of a tile: that of the kernel, and one multiplication per entry.

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

    def radial_profile(self) -> RadialProfile:
        """Return the profile of the kernel times the factor."""
        inner = self.kernel.radial_profile()

        def curve(squares: HostArray) -> tuple[HostArray, HostArray]:
            value, fall = inner.curve(squares)
            return self.factor * value, self.factor * fall

        return RadialProfile(curve)

    def draw_waves(self, draw: WaveDraw) -> Waves:
        """Draw the frequencies of the kernel."""
        waves = self.kernel.draw_waves(draw)
        return waves._replace(height=self.factor * waves.height)


def _flat(parts: tuple[Kernel, ...], kind: type[Kernel]) -> tuple[Kernel, ...]:
    """Open sums inside a sum (or products inside a product), so that (a + b) + c equals a + (b + c)."""
    parts = tuple(parts)
    if not parts or not all(isinstance(part, Kernel) for part in parts):
        message = f"A {kind.name} of kernels needs at least one kernel, and only kernels; it was given {parts!r}."
        raise ParameterError(message)
    return tuple(piece for part in parts for piece in (part.parts if isinstance(part, kind) else (part,)))


def _in_brackets(kernel: Kernel) -> str:
    return f"({kernel!r})" if isinstance(kernel, (Sum, Product, Scaled)) else repr(kernel)


@dataclass(frozen=True, repr=False)
class Stretched(Wrapped):
    """A kernel of rows whose columns are multiplied first:  k(x, y) = kernel(f x, f y).

    With f the inverse deviations of the columns it is the kernel of the scaled table, without a scaled copy and with
    nothing to remember for new rows; in a Gaussian kernel it gives each column a width of its own.

    Cost: that of the kernel, and one product per number of the rows.

    Parameters
    ----------
    kernel : Kernel
        Words for its gamma ("median", "scale") mean the rows as they are, not the stretched ones: give a number.
    factors : tuple of float
        f, finite, one per column.

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
        if self.shift_invariant and not is_sparse(rows):
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
        if is_sparse(rows):
            return rows.multiply(factors[None, :]).tocsr()
        return rows * from_host(factors, like=rows, dtype=dtype_of(rows))

    def __repr__(self) -> str:
        shown = ", ".join(f"{factor:.3g}" for factor in self.factors[:4])
        more = f", ... {len(self.factors) - 4} more" if len(self.factors) > 4 else ""
        return f"Stretched({self.kernel!r}, ({shown}{more}))"


def terms_of(kernel: Kernel) -> list[Kernel]:
    """Return the terms of a sum without the numbers that they are multiplied by; the kernel itself where it is none."""
    return _split(kernel, Sum)


def factors_of(kernel: Kernel) -> list[Kernel]:
    """Return the factors of a product without the numbers among them; the kernel itself where it is none.

    Examples
    --------
    >>> from gramian.kernels import Gaussian, Linear
    >>> factors_of(Stretched(2 * Gaussian(0.5) * Linear(), (10.0,)))
    [Stretched(Gaussian(gamma=0.5), (10)), Stretched(Linear(), (10))]
    """
    return _split(kernel, Product)


def _split(kernel: Kernel, kind: type[Sum] | type[Product]) -> list[Kernel]:
    if isinstance(kernel, Stretched):
        return [Stretched(part, kernel.factors) for part in _split(kernel.kernel, kind)]
    if isinstance(kernel, kind | Scaled):
        return [piece for part in kernel.parts for piece in _split(part, kind)]
    return [kernel]


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


def kernel_words(kernel: Kernel) -> str:
    """Return a kernel with as many digits as are worth reading.

    Examples
    --------
    >>> from gramian.kernels import Gaussian
    >>> kernel_words(Stretched(Gaussian(1 / 3), (1.0, 0.5)))
    'Gaussian(gamma=0.3333) of the scaled columns'
    """
    return _written(kernel, "", _few_digits, lambda inner, _: f"{kernel_words(inner)} of the scaled columns")


def kernel_code(kernel: Kernel) -> str:
    """Return a kernel as Python that runs after ``from gramian import kernels``.

    Examples
    --------
    >>> from gramian.kernels import Gaussian, Linear
    >>> kernel_code(Stretched(Gaussian(0.5), (1 / 3, 2.0)))
    'kernels.Stretched(kernels.Gaussian(gamma=0.5), (0.3333333333333333, 2.0))'
    >>> kernel_code(2.0 * (Gaussian(0.5) + Linear()))
    '2.0 * (kernels.Gaussian(gamma=0.5) + kernels.Linear())'
    """
    return _written(
        kernel, "kernels.", repr, lambda inner, factors: f"kernels.Stretched({kernel_code(inner)}, {factors!r})"
    )


def _few_digits(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else repr(value)


def _written(
    kernel: Any, place: str, number: Callable[[Any], str], stretched: Callable[[Any, tuple[float, ...]], str]
) -> str:
    """Write a kernel part by part: ``place`` stands before each class of ours, ``number`` writes its parameters."""

    def part(inner: Kernel) -> str:
        text = _written(inner, place, number, stretched)
        return f"({text})" if isinstance(inner, Sum | Product | Scaled) else text

    if isinstance(kernel, Stretched):
        return stretched(kernel.kernel, kernel.factors)
    if isinstance(kernel, Sum):
        return " + ".join(_written(term, place, number, stretched) for term in kernel.terms)
    if isinstance(kernel, Product):
        return " * ".join(map(part, kernel.factors))
    if isinstance(kernel, Scaled):
        return f"{number(kernel.factor)} * {part(kernel.kernel)}"
    if kernel.is_user_function:
        return f"{place}{kernel!r}"
    if not type(kernel).__module__.startswith("gramian.kernels.") or not is_dataclass(kernel):
        return repr(kernel)
    given = (f"{field.name}={number(getattr(kernel, field.name))}" for field in fields(kernel) if field.repr)
    return f"{place}{type(kernel).__name__}({', '.join(given)})"
