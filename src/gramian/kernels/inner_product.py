"""Kernels of the inner product of two rows: linear, polynomial, sigmoid and cosine.

gamma x.y + coef0 is one matrix product of two blocks of rows; its overflow is seen before any tile is made.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from gramian.arrays.namespace import Array, HostArray, cast, device_of, is_numpy, is_sparse, namespace_of, to_host
from gramian.arrays.precision import FLOAT64
from gramian.errors import InputError, KernelRowsError, ParameterError
from gramian.kernels.blocks import (
    SparseFactor,
    inner_products,
    scaled_rows,
    sparse_factor,
    squared_norms,
    strips,
)
from gramian.kernels.kernel import FusedForm, Kernel, PolynomialForm, Prepared
from gramian.kernels.widths import DataFacts, Gamma, checked_gamma, number_of, plain_number, resolved_gamma


class AffineRows(NamedTuple):
    """Rows times sqrt(gamma), and what is still to be added to their products.

    A coef0 that is not negative is one more column, sqrt(coef0), of dense rows: it then costs no pass over the tile.
    """

    rows: Array | SparseFactor
    constant: float


def affine_rows(rows: Array, gamma: float, coef0: float, *, dtype: np.dtype[Any]) -> AffineRows:
    """Scale rows by sqrt(gamma) and join coef0 to them where that can be done.

    Cost: b (d + 1) numbers for dense rows, twice their stored entries for sparse ones.

    Examples
    --------
    >>> block = affine_rows(np.array([[1.0, 2.0]]), 0.5, 1.0, dtype=np.dtype("float64"))
    >>> affine_products(block, block).round(10)
    array([[3.5]])
    """
    with np.errstate(over="ignore"):  # What overflows is named by require_powers_fit.
        if is_sparse(rows):
            return AffineRows(sparse_factor(sparse.csr_array(scaled_rows(rows, math.sqrt(gamma), dtype))), coef0)
        scaled = scaled_rows(rows, math.sqrt(gamma), dtype)
    if coef0 <= 0.0:
        return AffineRows(scaled, coef0)
    xp = namespace_of(scaled)
    column = xp.full((rows.shape[0], 1), math.sqrt(coef0), dtype=scaled.dtype, **device_of(scaled))
    return AffineRows(xp.concat([scaled, column], axis=1), 0.0)


def affine_products(left: AffineRows, right: AffineRows, *, out: HostArray | None = None) -> Array:
    """Return gamma x.y + coef0 for each pair, (a, b). Cost: 2 a b (d + 1) operations."""
    tile = inner_products(left.rows, right.rows, out=out)
    if left.constant != 0.0:
        tile += left.constant
    return tile


def require_powers_fit(rows: Array, gamma: float, coef0: float, degree: float, *, dtype: np.dtype[Any]) -> None:
    """Refuse rows for which (gamma x.y + coef0)^degree can leave the range of ``dtype``.

    By Cauchy and Schwarz no entry is larger than (gamma |x|^2 + |coef0|)^degree of one of its two rows, so looking at
    the rows alone is enough, before any tile is made.
    """
    with np.errstate(over="ignore"):
        largest = gamma * squared_norms(rows) + abs(coef0)
        if not is_numpy(largest):
            # One number comes to the host, unless a row is to be named.
            top = float(largest.max())
            largest = np.array([top]) if math.isfinite(top) else to_host(largest)
        fits = np.isfinite(largest) & (degree * np.log(np.maximum(largest, 1.0)) < math.log(np.finfo(dtype).max))
    if fits.all():
        return
    row = int(np.flatnonzero(~fits)[0])
    power = "gamma x.x + coef0" if degree == 1 else f"(gamma x.x + coef0)^{degree:g}"
    advice = "Rescale the columns." if degree == 1 else "Rescale the columns or lower the degree."
    after = f": gamma={gamma:.4g}, coef0={coef0:g} give gamma x.x + coef0 = {largest[row]:.3g} there. {advice}"
    before = f"{power} overflows {np.dtype(dtype).name} for "
    raise KernelRowsError(before, (row,), after)


@dataclass(frozen=True)
class Linear(Kernel):
    """The linear kernel, with which kernel PCA is PCA.

    Computes  k(x, y) = x.y.  Cost of a tile (a, b): 2 a b d operations. Sparse rows stay sparse.

    Not for kernel PCA of rows with fewer columns than rows: :class:`gramian.PCA` gives the same scores sooner.

    Equals scikit-learn's ``linear_kernel``.

    Examples
    --------
    >>> Linear()([[1.0, 2.0], [3.0, 4.0]])
    array([[ 5., 11.],
           [11., 25.]])
    """

    name: ClassVar[str] = "linear"
    is_cheap: ClassVar[bool] = True
    shift_invariant_centered: ClassVar[bool] = True
    takes_sparse: ClassVar[bool] = True
    is_psd: ClassVar[bool] = True

    def prepare(self, rows: Array, *, dtype: np.dtype[Any], origin: Array | None = None) -> Prepared:
        """Convert rows to ``dtype``; refuse those whose squares overflow it."""
        del origin
        require_powers_fit(rows, 1.0, 0.0, 1, dtype=dtype)
        return affine_rows(rows, 1.0, 0.0, dtype=dtype)

    def evaluate(self, left: Prepared, right: Prepared, *, out: HostArray | None = None) -> Array:
        """Return the product of two prepared blocks."""
        return affine_products(left, right, out=out)

    def diagonal(self, rows: Array) -> HostArray:
        """Return x.x."""
        return to_host(squared_norms(rows))

    def fused_form(self, n_columns: int) -> FusedForm:
        """Return x.y itself."""
        del n_columns
        return FusedForm("power", 1.0)

    @property
    def polynomial_form(self) -> PolynomialForm:
        """x.y itself."""
        return PolynomialForm(1, 1.0, 0.0)


@dataclass(frozen=True)
class Polynomial(Kernel):
    """The polynomial kernel.

    Computes  k(x, y) = (gamma x.y + coef0)^degree,  whose features are all monomials of up to ``degree`` (exactly that
    degree when coef0 = 0): C(degree + d, d) of them.

    Cost of a tile (a, b): 2 a b (d + 1) operations and about 2 log2(degree) multiplications per entry. Sparse rows stay
    sparse.

    Not for columns of large numbers: powers overflow, and a few large rows rule the matrix. Scale the columns first.

    Equals scikit-learn's ``polynomial_kernel``.

    Parameters
    ----------
    degree : number, default=3
        Not negative. With a degree that is not a whole number, gamma x.y + coef0 must not be negative.
    gamma : float, "scale" or None, default=None
        None is 1/d; "scale" is 1 / (d variance). The lectures write (1 + x.y)^p: gamma=1, coef0=1.
    coef0 : float, default=1
        With a negative one the kernel is not known to be positive semidefinite.

    Examples
    --------
    >>> Polynomial(degree=2, gamma=1, coef0=1)([[1.0, 2.0]])
    array([[36.]])
    """

    degree: float = 3
    gamma: Gamma = None
    coef0: float = 1.0
    name: ClassVar[str] = "polynomial"
    is_cheap: ClassVar[bool] = True
    has_gamma: ClassVar[bool] = True
    takes_sparse: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "degree", _checked_degree(self.degree))
        object.__setattr__(self, "gamma", checked_gamma(self.gamma, kernel=self.name, words=("scale",)))
        object.__setattr__(self, "coef0", _checked_coef0(self.coef0, kernel=self.name))

    @property
    def is_psd(self) -> bool:
        """True for whole degrees when coef0 is not negative: sums and products of linear kernels and constants."""
        return isinstance(self.degree, int) and self.coef0 >= 0

    def prepare(self, rows: Array, *, dtype: np.dtype[Any], origin: Array | None = None) -> Prepared:
        """Scale rows by sqrt(gamma) and join coef0; refuse those whose powers overflow ``dtype``."""
        del origin
        gamma = number_of(self.gamma, rows.shape[1])
        require_powers_fit(rows, gamma, self.coef0, self.degree, dtype=dtype)
        return affine_rows(rows, gamma, self.coef0, dtype=dtype)

    def evaluate(self, left: Prepared, right: Prepared, *, out: HostArray | None = None) -> Array:
        """Return the product of two prepared blocks, raised to the degree a few rows at a time."""
        tile = affine_products(left, right, out=out)
        if not is_numpy(tile):
            return tile**self.degree
        for rows in strips(len(tile)):
            tile[rows] = _power(tile[rows], self.degree)
        return tile

    def diagonal(self, rows: Array) -> HostArray:
        """Return (gamma x.x + coef0)^degree."""
        base = number_of(self.gamma, rows.shape[1]) * to_host(squared_norms(rows)) + self.coef0
        return _power(base, self.degree)

    def resolved(self, facts: DataFacts) -> "Polynomial":
        """Return the kernel with gamma a number."""
        return Polynomial(self.degree, resolved_gamma(self.gamma, facts), self.coef0)

    def fused_form(self, n_columns: int) -> FusedForm | None:
        """Return the power of x.y + coef0 of rows times sqrt(gamma); that of a large degree is not written out."""
        if isinstance(self.degree, int) and not 1 <= self.degree <= 16:
            return None
        return FusedForm("power", math.sqrt(number_of(self.gamma, n_columns)), self.coef0, self.degree)

    @property
    def polynomial_form(self) -> PolynomialForm | None:
        """Itself, once gamma is a number."""
        return PolynomialForm(self.degree, self.gamma, self.coef0) if isinstance(self.gamma, float) else None


@dataclass(frozen=True)
class Sigmoid(Kernel):
    """The sigmoid kernel.

    Computes  k(x, y) = tanh(gamma x.y + coef0).  Cost of a tile (a, b): 2 a b (d + 1) operations and a b hyperbolic
    tangents. Sparse rows stay sparse.

    Not positive semidefinite for most parameters, so kernel PCA with it may meet negative eigenvalues: ask
    :func:`gramian.check_kernel` first. It is here because scikit-learn has it.

    Equals scikit-learn's ``sigmoid_kernel``.

    Parameters
    ----------
    gamma : float, "scale" or None, default=None
        None is 1/d; "scale" is 1 / (d variance).
    coef0 : float, default=1

    Examples
    --------
    >>> Sigmoid(gamma=1, coef0=0)([[0.5, 0.5]]).round(4)
    array([[0.4621]])
    """

    gamma: Gamma = None
    coef0: float = 1.0
    name: ClassVar[str] = "sigmoid"
    is_cheap: ClassVar[bool] = True
    has_gamma: ClassVar[bool] = True
    takes_sparse: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", checked_gamma(self.gamma, kernel=self.name, words=("scale",)))
        object.__setattr__(self, "coef0", _checked_coef0(self.coef0, kernel=self.name))

    def prepare(self, rows: Array, *, dtype: np.dtype[Any], origin: Array | None = None) -> Prepared:
        """Scale rows by sqrt(gamma) and join coef0; refuse those whose squares overflow ``dtype``."""
        del origin
        gamma = number_of(self.gamma, rows.shape[1])
        require_powers_fit(rows, gamma, self.coef0, 1, dtype=dtype)
        return affine_rows(rows, gamma, self.coef0, dtype=dtype)

    def evaluate(self, left: Prepared, right: Prepared, *, out: HostArray | None = None) -> Array:
        """Return tanh of the product of two prepared blocks."""
        tile = affine_products(left, right, out=out)
        return np.tanh(tile, out=tile) if is_numpy(tile) else namespace_of(tile).tanh(tile)

    def diagonal(self, rows: Array) -> HostArray:
        """Return tanh(gamma x.x + coef0)."""
        return np.asarray(np.tanh(number_of(self.gamma, rows.shape[1]) * to_host(squared_norms(rows)) + self.coef0))

    def resolved(self, facts: DataFacts) -> "Sigmoid":
        """Return the kernel with gamma a number."""
        return Sigmoid(resolved_gamma(self.gamma, facts), self.coef0)

    def fused_form(self, n_columns: int) -> FusedForm:
        """Return tanh of x.y + coef0 of rows times sqrt(gamma)."""
        return FusedForm("sigmoid", math.sqrt(number_of(self.gamma, n_columns)), self.coef0)


@dataclass(frozen=True)
class Cosine(Kernel):
    """The cosine of the angle between two rows.

    Computes  k(x, y) = x.y / (|x| |y|),  zero where a row is zero. Cost of a tile (a, b): 2 a b d operations, the rows
    being normalized once. Sparse rows stay sparse.

    Not for rows whose length means something: it is divided out. Made for counts of words, where it only says how long
    a document is.

    Equals scikit-learn's ``cosine_similarity``.

    Examples
    --------
    >>> Cosine()([[3.0, 4.0], [10.0, 0.0]]).round(10)
    array([[1. , 0.6],
           [0.6, 1. ]])
    """

    name: ClassVar[str] = "cosine"
    is_cheap: ClassVar[bool] = True
    takes_sparse: ClassVar[bool] = True
    is_psd: ClassVar[bool] = True

    def prepare(self, rows: Array, *, dtype: np.dtype[Any], origin: Array | None = None) -> Prepared:
        """Divide each row by its length."""
        del origin
        if is_sparse(rows):
            return sparse_factor(_normalized_sparse(rows).astype(dtype))
        return cast(_normalized(cast(rows, FLOAT64)), dtype)

    def evaluate(self, left: Prepared, right: Prepared, *, out: HostArray | None = None) -> Array:
        """Return the product of two prepared blocks."""
        return inner_products(left, right, out=out)

    def diagonal(self, rows: Array) -> HostArray:
        """Return one for each row that is not zero."""
        entries = rows != 0
        counts = entries.sum(axis=1) if is_sparse(rows) else namespace_of(rows).any(entries, axis=1)
        return np.asarray(to_host(counts) > 0, dtype=FLOAT64).ravel()

    def fused_form(self, n_columns: int) -> FusedForm:
        """Return x.y of rows over their lengths."""
        del n_columns
        return FusedForm("power", 1.0, unit_rows=True)


def _normalized(rows: Array) -> Array:
    xp = namespace_of(rows)
    # By the largest entry first: squares of very large or small ones leave the range of float64.
    largest = xp.max(xp.abs(rows), axis=1, keepdims=True)
    rows = rows / xp.where(largest > 0, largest, 1.0)
    lengths = xp.sqrt(xp.sum(rows * rows, axis=1, keepdims=True))
    return rows / xp.where(lengths > 0, lengths, 1.0)


def _normalized_sparse(rows: Any) -> Any:
    rows = sparse.csr_array(rows, dtype=FLOAT64, copy=True)
    stored = np.diff(rows.indptr)
    largest = abs(rows).max(axis=1).toarray().ravel()
    rows.data /= np.repeat(np.where(largest > 0, largest, 1.0), stored)
    lengths = np.sqrt(squared_norms(rows))
    rows.data /= np.repeat(np.where(lengths > 0, lengths, 1.0), stored)
    return rows


def _power(base: HostArray, degree: float) -> HostArray:
    """Raise entries to a power: whole ones by repeated squaring, which keeps signs and is faster than np.power."""
    if not isinstance(degree, int):
        return _fractional_power(base, degree)
    result: HostArray | None = None
    square = base
    while degree > 0:
        if degree & 1:
            result = square if result is None else result * square
        degree >>= 1
        if degree:
            square = square * square
    return np.ones_like(base) if result is None else result


def _fractional_power(base: HostArray, degree: float) -> HostArray:
    lowest = float(base.min(initial=0.0))
    if lowest < 0:
        message = (
            f"gamma x.y + coef0 = {lowest:.3g} for a pair of rows, and a negative number has no power of "
            f"degree={degree:g}. Choose a whole degree, or a larger coef0."
        )
        raise InputError(message)
    return np.asarray(np.power(base, degree))


def _checked_degree(degree: object) -> float:
    number = plain_number(degree)
    if number is None or not 0 <= number < np.inf:
        message = f"degree={degree!r} for the polynomial kernel: pass a finite number that is not negative."
        raise ParameterError(message)
    return int(number) if number.is_integer() else number


def _checked_coef0(coef0: object, *, kernel: str) -> float:
    number = plain_number(coef0)
    if number is None or not np.isfinite(number):
        message = f"coef0={coef0!r} for the {kernel} kernel: pass a finite number."
        raise ParameterError(message)
    return number
