"""The contract of a kernel: a small frozen value that evaluates one tile of the kernel matrix at a time.

A tile is k(x, y) for every x of one block of rows and every y of another. What can be done once for a block (scaling,
squared norms, a change of type) is done by ``prepare``, what has to be done for every pair of blocks by ``evaluate``::

    left, right = kernel.prepare(X, dtype=dtype), kernel.prepare(Y, dtype=dtype)
    tile = kernel.evaluate(left, right)        # (a, b); left and right serve in many tiles

What else a fit has to know of a kernel (is it cheap, has it a width, is it radial) it declares, with safe defaults; a
fit asks neither for its type nor for its name. Other forms that it may have than its values (a curve over distances, a
power of x.y, a density of waves) are what pre-images, explicit and random Fourier features ask for. A kernel that users
name has a line in ``FAMILIES`` of :mod:`gramian.kernels.named`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from gramian.arrays.namespace import Array, HostArray
from gramian.arrays.precision import FLOAT64
from gramian.errors import NotSupportedError, ParameterError
from gramian.kernels.blocks import as_block, column_means, named_rows, require_same_columns
from gramian.kernels.widths import DataFacts, facts_of


@dataclass(frozen=True)
class RadialProfile:
    """A kernel that is a decreasing function of s = |x - y|^2.

    Attributes
    ----------
    curve : function
        Gives k(s) and -k'(s) for an array of s.
    """

    curve: Callable[[HostArray], tuple[HostArray, HostArray]]

    @property
    def height(self) -> float:
        """k(0)."""
        return float(self.curve(np.zeros(1))[0][0])

    def squared_distance(self, values: HostArray) -> HostArray:
        """Return the squared distance at which the kernel has these values; zero for values above k(0).

        Computes  the root of k(s) = v  by bisection: 60 evaluations, to the last bits. Values under 1e-100 k(0) count
        as that: of their distance only that it is large is known.

        Examples
        --------
        >>> from gramian.kernels import Gaussian
        >>> Gaussian(0.5).radial_profile().squared_distance(np.exp([-1.0, -8.0])).round(9)
        array([ 2., 16.])
        """
        values = np.maximum(values, 1e-100 * self.height)
        low, high = np.zeros_like(values), np.ones_like(values)
        while (short := self.curve(high)[0] > values).any():
            high = np.where(short, 2 * high, high)
        for _ in range(60):
            middle = (low + high) / 2
            above = self.curve(middle)[0] > values
            low, high = np.where(above, middle, low), np.where(above, high, middle)
        return np.where(values >= self.height, 0.0, (low + high) / 2)


class PolynomialForm(NamedTuple):
    """A kernel that is  (gamma x.y + coef0)^degree."""

    degree: float
    gamma: float
    coef0: float

    @property
    def is_linear(self) -> bool:
        """Whether it is x.y itself, so that the rows are their own features."""
        return self == (1, 1.0, 0.0)

    @property
    def has_real_features(self) -> bool:
        """Whether finitely many real monomials have this kernel as their inner product."""
        return float(self.degree).is_integer() and self.degree >= 1 and self.coef0 >= 0 and self.gamma > 0

    def inner_product(self, values: HostArray) -> HostArray:
        """Return the x.y at which the kernel has these values; of two, as even degrees have, the larger.

        Examples
        --------
        >>> PolynomialForm(2, 1.0, 1.0).inner_product(np.array([9.0, 0.0]))
        array([ 2., -1.])
        """
        root = np.abs(values) ** (1.0 / self.degree)
        root *= np.sign(values) if self.degree % 2 == 1 else values > 0
        return np.asarray((root - self.coef0) / self.gamma)


@dataclass(frozen=True)
class FusedForm:
    """What the tiles of a kernel are made of on a GPU: a curve of the products of rows, which are scaled first.

    Attributes
    ----------
    curve : str
        "gaussian" (2 to the power of minus half the squared distance), "matern12", "matern32", "matern52", "power",
        "sigmoid", or "cityblock" (2 to the power of minus the sum of absolute differences).
    scale : float
        What rows are multiplied by.
    coef0, degree : float
        Of the curves of x.y + coef0.
    about_origin : bool
        Whether rows are counted from the origin.
    unit_rows : bool
        Whether rows are divided by their lengths.
    """

    curve: str
    scale: float
    coef0: float = 0.0
    degree: float = 1
    about_origin: bool = False
    unit_rows: bool = False

    def height(self, longest: float) -> float:
        """Return a number that no kernel value of rows up to a squared length (scaled) exceeds."""
        return float((longest + abs(self.coef0)) ** self.degree) if self.curve == "power" else 1.0


class Waves(NamedTuple):
    """Frequencies (q, d) drawn from a spectral density, and the kernel's value k(0) at no distance."""

    frequencies: HostArray
    height: float


@dataclass(frozen=True)
class WaveDraw:
    """What is drawn: ``count`` frequencies in ``n_columns`` dimensions, in orthogonal groups or one by one."""

    count: int
    n_columns: int
    orthogonal: bool
    rng: np.random.Generator

    def normal(self) -> HostArray:
        """Draw standard normal vectors (count, d); where orthogonal, every d of them are so to each other.

        Orthogonal ones are rows of a random rotation, each with the length of a normal vector of its own, so that
        every single one is still standard normal.
        """
        free = self.rng.standard_normal((self.count, self.n_columns))
        if not self.orthogonal:
            return free
        groups, d = [], self.n_columns
        for _ in range(-(-self.count // d)):
            Q, R = np.linalg.qr(self.rng.standard_normal((d, d)))
            # Without the signs of R the rotation would not be uniform (Mezzadri, 2007).
            groups.append((Q * np.sign(np.diag(R))).T)
        turned = np.concatenate(groups)[: self.count]
        return np.asarray(turned * np.linalg.norm(free, axis=1, keepdims=True))


Prepared = Any
"""A block of rows as its kernel wants it; only the kernel that made it looks inside."""


class Kernel(ABC):
    """A similarity k(x, y) of two rows, evaluated a tile at a time.

    Every kernel is a frozen dataclass: it prints, compares, pickles, and can be shared by threads. Kernels can be added
    and multiplied, and multiplied by a positive number: the result is a kernel. What is not declared of one is taken
    not to hold: rows are then neither shifted nor left sparse, and K may have negative eigenvalues.

    Attributes
    ----------
    name : str
        What it is called in sentences.
    is_cheap : bool
        Whether a tile costs little relative to the products with it: a matrix product and a few operations per entry.
    has_gamma : bool
        Whether it has a parameter called gamma; see :meth:`with_gamma`.
    has_width : bool
        Whether it is one for equal rows and falls to zero, the sooner the larger gamma is.
    is_user_function : bool
        Whether values come from a user's function: it answers in float64 whatever is asked, and what is said of it
        (that it is positive semidefinite) is not known but believed.
    may_see_block : bool
        Whether a value could depend on other rows of its block than its own two, so that a fit has to try.
    is_precomputed : bool
        Whether rows are kernel values already, and there is no function.
    """

    name: ClassVar[str]
    is_cheap: ClassVar[bool] = False
    has_gamma: ClassVar[bool] = False
    has_width: ClassVar[bool] = False
    is_user_function: ClassVar[bool] = False
    may_see_block: ClassVar[bool] = False
    is_precomputed: ClassVar[bool] = False
    __array_ufunc__: ClassVar[None] = None  # So that np.float64(2) * kernel is asked of the kernel, not of NumPy.

    @property
    def shift_invariant(self) -> bool:
        """Whether k(x + c, y + c) = k(x, y): rows may then be shifted to their mean, for accurate distances."""
        return False

    @property
    def shift_invariant_centered(self) -> bool:
        """Whether the centered matrix H K H stays the same when all rows are shifted (also true of a linear kernel)."""
        return self.shift_invariant

    @property
    def takes_sparse(self) -> bool:
        """Whether blocks may be SciPy CSR matrices, which are never made dense."""
        return False

    @property
    def is_psd(self) -> bool:
        """Whether K is known to be positive semidefinite for every data set; False means that it is not known."""
        return False

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

    def resolved(self, facts: DataFacts) -> "Kernel":
        """Return this kernel with every parameter a number: None, "scale" and "median" are replaced.

        The kernel itself where none of its parameters can be a word.
        """
        del facts
        return self

    @property
    def polynomial_form(self) -> PolynomialForm | None:
        """The kernel as a power of gamma x.y + coef0, with numbers for these; ``None`` where it is none."""
        return None

    def fused_form(self, n_columns: int) -> FusedForm | None:
        """Return what its tiles are made of on a GPU, parameters being numbers; ``None`` where that is not known."""
        del n_columns
        return None

    def radial_profile(self) -> RadialProfile:
        """Return the kernel, with numbers for parameters, as a function of the squared Euclidean distance.

        Raises
        ------
        NotSupportedError
            For kernels that are no such function.
        """
        message = (
            f"{self} is not known as a function of the Euclidean distance, which this pre-image needs. Use the ridge, "
            "which serves every kernel."
        )
        raise NotSupportedError(message)

    def draw_waves(self, draw: WaveDraw) -> Waves:
        """Draw frequencies w with  k(x - y) = k(0) E cos w.(x - y)  (Bochner), for numbers as parameters.

        Raises
        ------
        NotSupportedError
            For kernels that are not a function of x - y, or whose spectral density is not known.
        """
        del draw
        message = (
            f"{self} has no spectral density here: random Fourier features are for Gaussian, Laplacian and Matern "
            "kernels, their sums, products and positive multiples. Use landmarks instead."
        )
        raise NotSupportedError(message)

    def with_gamma(self, gamma: Any) -> "Kernel":
        """Return the same kernel with another gamma."""
        if not self.has_gamma:
            message = f"{self!r} has no gamma to choose. Pass a kernel that has one, such as 'rbf' or Matern(1.5)."
            raise ParameterError(message)
        changed: Kernel = replace(self, gamma=gamma)  # type: ignore[type-var]
        return changed

    @property
    def gamma_number(self) -> float:
        """Gamma, once it is a number."""
        return float(getattr(self, "gamma"))  # noqa: B009 - not every kernel has one

    def median_gamma(self, rows: Array, *, seed: int = 0) -> float:
        """Return the gamma that suits the median distance of rows, in the kernel's own sense of distance."""
        return self.with_gamma("median").resolved(facts_of(rows, seed=seed)).gamma_number

    def __call__(self, X: Array, Y: Array | None = None) -> Array:
        """Return the matrix k(x, y), (n, m), in float64; Y = X when it is not given.

        For looking at a kernel and for small problems: the whole matrix is formed. Parameters that are words or None
        are resolved on X.

        Parameters
        ----------
        X : (n, d) array, list of rows or CSR matrix
        Y : (m, d) array, list of rows or CSR matrix, optional
        """
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
