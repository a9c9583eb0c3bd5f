"""The polynomial kernel's own phi: every monomial up to a degree, with the weight that makes it exact."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from math import comb, factorial, isfinite
from typing import Any, NamedTuple

import numpy as np

from gramian.arrays.namespace import Array, HostArray, device_of, dtype_of, from_host, is_sparse, namespace_of
from gramian.errors import MemoryBudgetError, ParameterError
from gramian.features.feature_map import FeatureMap, FeatureRecipe
from gramian.kernels.inner_product import Polynomial
from gramian.sources.rows import RowSource

LARGEST_PHI = 4_000_000
"""Features above which a map is refused: one row is then 32 MB, and the kernel needs no phi at all."""


@dataclass(frozen=True)
class Monomials(FeatureRecipe):
    """The features of the polynomial kernel  (gamma x.y + coef0)^degree.

    Computes, for each monomial x^a of degree |a| <= p,

        phi_a(x) = sqrt(p! / (a_1! ... a_d! (p - |a|)!)  gamma^|a|  coef0^(p - |a|))  x^a,

    so that phi(x).phi(y) is the kernel to rounding, by the multinomial theorem. The order is by degree, then as words:
    1, x0, x1, x0^2, x0 x1, x1^2. With ``coef0=0`` only the monomials of degree p are there.

    Parameters
    ----------
    degree : int
        p, at least 1.
    gamma : float or None
        ``None`` for 1/d.
    coef0 : float
        Not negative: the kernel has no real features otherwise.
    weights : bool
        ``False`` gives plain monomials x^a, all degrees up to p: another geometry, whose kernel is none of the known.

    Notes
    -----
    C(p + d, d) features: 5,151 for d = 100 and p = 2, 176,851 for p = 3. Cost: b D products per block. Not for many
    columns: when D exceeds the number of rows the kernel matrix is the smaller problem.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.sources import as_source
    >>> phi = Monomials(degree=2).fit(as_source(np.array([[1.0, 2.0], [3.0, 4.0]])))
    >>> phi.names()
    ['1', 'x0', 'x1', 'x0^2', 'x0 x1', 'x1^2']
    >>> x, y = phi.map_block(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> round(float(x @ y), 9), (1 + 1 * 3 + 2 * 4) ** 2
    (144.0, 144)
    """

    degree: int = 2
    gamma: float | None = 1.0
    coef0: float = 1.0
    weights: bool = True

    def fit(self, source: RowSource) -> "MonomialMap":
        """Return the map for rows of so many columns; nothing else of them is used."""
        self._check()
        d = source.n_columns
        size = n_monomials(d, self.degree, homogeneous=self._is_homogeneous)
        if size > LARGEST_PHI:
            raise _too_many(size, d, self.degree)
        gamma = 1.0 / d if self.gamma is None else float(self.gamma)
        return MonomialMap(d, size, self.degree, gamma, float(self.coef0), self.weights)

    @property
    def _is_homogeneous(self) -> bool:
        return self.weights and self.coef0 == 0

    def _check(self) -> None:
        if self.degree < 1:
            message = f"degree={self.degree} has no monomials to map to. Pass an integer of at least 1."
            raise ParameterError(message)
        if self.gamma is not None and not 0 < self.gamma < np.inf:
            message = f"gamma={self.gamma} gives no real features. Pass a positive number, or None for 1 / n_features."
            raise ParameterError(message)
        if not (isfinite(self.coef0) and self.coef0 >= 0):
            message = (
                f"coef0={self.coef0} makes some weights square roots of negative numbers: that polynomial kernel is "
                "not positive semidefinite and has no real phi. Pass 0 or a positive number."
            )
            raise ParameterError(message)


@dataclass(frozen=True)
class MonomialMap(FeatureMap):
    """phi of :class:`Monomials` for rows of ``n_columns``.

    Attributes
    ----------
    n_columns, n_features, degree : int
    gamma, coef0 : float
    weights : bool
    """

    n_columns: int
    n_features: int
    degree: int
    gamma: float
    coef0: float
    weights: bool

    @property
    def is_exact(self) -> bool:  # type: ignore[override]
        """Whether inner products are a kernel of the library, to rounding."""
        return self.weights

    @property
    def roundings(self) -> int:  # type: ignore[override]
        """A product of ``degree`` columns, its weight, and the rows themselves."""
        return self.degree + 2

    @property
    def kernel(self) -> Polynomial | None:
        """The polynomial kernel; ``None`` for plain monomials."""
        if not self.weights:
            return None
        return Polynomial(degree=self.degree, gamma=self.gamma, coef0=self.coef0)

    def map_block(self, rows: Array) -> Array:
        """Return phi of rows (b, d) as (b, D), computed degree by degree in products of columns."""
        x = rows.toarray() if is_sparse(rows) else rows
        xp, b = namespace_of(x), x.shape[0]
        skipped = self._layout.n_below
        out = xp.empty((b, skipped + self.n_features), dtype=x.dtype, **device_of(x))
        self._fill(out, x)
        phi = out[:, skipped:]
        if self.weights:
            phi *= from_host(self._layout.weights[skipped:], like=x, dtype=dtype_of(x))
        return phi

    def names(self, columns: Sequence[str] | None = None) -> list[str]:
        """Return the monomials as text, in the order of the features."""
        columns = [f"x{j}" for j in range(self.n_columns)] if columns is None else columns
        return [_word(powers, columns) for powers in self.exponents()]

    def exponents(self) -> Iterator[tuple[tuple[int, int], ...]]:
        """Yield each feature as pairs (column, power), in order; the constant is an empty tuple."""
        lowest = self.degree if self._layout.n_below else 0
        for q in range(lowest, self.degree + 1):
            for choice in combinations_with_replacement(range(self.n_columns), q):
                yield tuple((j, choice.count(j)) for j in sorted(set(choice)))

    def _fill(self, out: Array, x: Array) -> None:
        """Fill monomials: the first index i of degree q times what begins at i or later in degree q - 1."""
        out[:, :1] = 1.0
        for step in self._layout.products:
            out[:, step.to] = out[:, step.source] * x[:, step.column : step.column + 1]

    @cached_property
    def _layout(self) -> "_Layout":
        return _layout(self, homogeneous=self._is_homogeneous)

    @property
    def _is_homogeneous(self) -> bool:
        return self.weights and self.coef0 == 0

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_layout"}


def n_monomials(d: int, degree: int, *, homogeneous: bool = False) -> int:
    """Return the number of monomials in d variables: C(p + d, d) up to degree p, C(p + d - 1, p) of that degree alone.

    Examples
    --------
    >>> n_monomials(100, 2), n_monomials(2, 2), n_monomials(3, 2, homogeneous=True)
    (5151, 6, 6)
    """
    return comb(degree + d - 1, degree) if homogeneous else comb(degree + d, degree)


class _Product(NamedTuple):
    """One slab of monomials: those at ``source`` times one column of the rows go to ``to``.

    The first ``same`` of them begin with that column already.
    """

    to: slice
    source: slice
    column: int
    same: int


class _Layout(NamedTuple):
    """How the monomials are made, their weights, and how many at the front are only steps on the way."""

    products: list[_Product]
    weights: HostArray
    n_below: int


def _layout(phi: MonomialMap, *, homogeneous: bool) -> _Layout:
    d, products = phi.n_columns, []
    # Monomials of one degree are sorted by their first column: those that begin at i or later start at begins[i].
    begins, low, end = [0] * d, 0, 1
    for _ in range(phi.degree):
        next_begins, here = [], end
        for i, begin in enumerate(begins):
            same = (begins[i + 1] if i + 1 < d else end) - begin
            products.append(_Product(slice(here, here + end - begin), slice(begin, end), i, same))
            next_begins.append(here)
            here += end - begin
        begins, low, end = next_begins, end, here
    return _Layout(products, _weights(phi, products, end), low if homogeneous else 0)


def _weights(phi: MonomialMap, products: list[_Product], size: int) -> HostArray:
    """Return sqrt(p! / (a! (p - |a|)!) gamma^|a| coef0^(p - |a|)) of every monomial."""
    repeats, factorials = np.zeros(size), np.ones(size)
    degrees = np.zeros(size, dtype=np.int64)
    for to, source, _, same in products:
        repeats[to] = 1.0
        repeats[to.start : to.start + same] += repeats[source.start : source.start + same]
        factorials[to] = factorials[source] * repeats[to]
        degrees[to] = degrees[source] + 1
    p = phi.degree
    of_degree = [factorial(p) / factorial(p - q) * phi.gamma**q * phi.coef0 ** (p - q) for q in range(p + 1)]
    return np.sqrt(np.array(of_degree)[degrees] / factorials)


def _word(powers: tuple[tuple[int, int], ...], columns: Sequence[str]) -> str:
    return " ".join(columns[j] if power == 1 else f"{columns[j]}^{power}" for j, power in powers) or "1"


def _too_many(size: int, d: int, degree: int) -> MemoryBudgetError:
    message = (
        f"The polynomial map of degree {degree} on {d:,} columns has C({degree + d}, {degree}) = {size:,} features: "
        f"{8 * size / 1e6:,.0f} MB a row, and at most {LARGEST_PHI:,} are made. Use the polynomial kernel itself, "
        "which needs none of them, a lower degree, or fewer columns."
    )
    return MemoryBudgetError(message, needed=8 * size, budget=8 * LARGEST_PHI)
