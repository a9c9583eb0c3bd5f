"""Kernels of the Euclidean distance of two rows, Gaussian and Matern: squared distances as one matrix product.

With z = s x the exponent of a Gaussian is  -|z - w|^2 / 2 = z.w - |z|^2/2 - |w|^2/2.  Each norm is one more column on
its own side and a column of ones on the other, so the product of two prepared blocks is the exponent itself::

    [z, -|z|^2/2, 1] . [w, 1, -|w|^2/2]

The norms are summed in float64 from the rounded z, so that a row is at distance zero from itself, and come last: the
sum before them is small (they cost three times the error when they come first). Splitting them into two float32 parts
each was measured to change nothing, at 4,000 rows of 5, 50 and 200 columns: the rounding of the sum is larger.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from gramian.arrays.namespace import Array, HostArray, cast, is_numpy, is_sparse, namespace_of, to_host
from gramian.errors import KernelRowsError, ParameterError
from gramian.kernels.blocks import (
    LOWEST_EXPONENT,
    SparseFactor,
    exponential,
    inner_products,
    scaled_rows,
    shifted,
    sparse_factor,
    squared_norms,
    strips,
    with_unit_diagonal,
)
from gramian.kernels.kernel import FusedForm, Kernel, Prepared, RadialProfile, WaveDraw, Waves
from gramian.kernels.widths import (
    DataFacts,
    Gamma,
    checked_gamma,
    gamma_of_width,
    number_of,
    plain_number,
    resolved_gamma,
)


class Augmented(NamedTuple):
    """A block of dense rows, scaled, with its norms as columns: once as a left factor, once as a right one.

    ``reach`` is the largest |z|: two blocks have no exponent below -(reach + reach)^2 / 2.
    """

    left: Array
    right: Array
    reach: float


class SparseAugmented(NamedTuple):
    """A block of sparse rows, scaled, and -|z|^2/2 of each."""

    rows: SparseFactor
    half_norms: HostArray
    reach: float


def augmented(rows: Array, scale: float, *, dtype: np.dtype[Any]) -> Augmented | SparseAugmented:
    """Scale rows and join their squared norms to them.

    Cost: 2 b (d + 2) numbers for dense rows, twice their stored entries for sparse ones.

    Examples
    --------
    >>> block = augmented(np.array([[3.0, 4.0], [0.0, 0.0]]), 1.0, dtype=np.dtype("float64"))
    >>> half_squared_distances(block, block)
    array([[  0. , -12.5],
           [-12.5,   0. ]])
    """
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = scaled_rows(rows, scale, dtype)
        scaled = sparse.csr_array(scaled) if is_sparse(scaled) else scaled
        half = cast(-0.5 * squared_norms(scaled), dtype)
    lowest = float(half.min()) if half.shape[0] else 0.0
    if not np.isfinite(lowest):
        raise _too_far(int(np.flatnonzero(~np.isfinite(to_host(half)))[0]), dtype)
    reach = math.sqrt(-2.0 * min(lowest, 0.0))
    if is_sparse(rows):
        return SparseAugmented(sparse_factor(scaled), half, reach)
    return _joined(scaled, half, reach)


def half_squared_distances(left: Any, right: Any, *, out: HostArray | None = None) -> Array:
    """Return -|z - w|^2 / 2 for each pair of prepared rows, (a, b); rounding may leave it slightly above zero.

    Cost: one matrix product, 2 a b (d + 2) operations.
    """
    if isinstance(left, SparseAugmented):
        tile = inner_products(left.rows, right.rows, out=out)
        tile += left.half_norms[:, None]
        tile += right.half_norms
        return tile
    return inner_products(left.left, right.right, out=out)


def exact_distances(left: Any, right: Any, i: HostArray, j: HostArray) -> HostArray:
    """Return |z_i - w_j| for chosen pairs of prepared rows, from their differences."""
    if isinstance(left, SparseAugmented):
        return np.asarray(np.sqrt(squared_norms(left.rows.rows[i] - right.rows.rows[j])))
    z, w = left.left[:, :-2], right.left[:, :-2]
    # A bounded piece at a time: a crowd of close rows must not cost d numbers per pair all at once.
    pieces = range(0, len(i), 1 << 14)
    squares = [squared_norms(z[i[p : p + (1 << 14)]] - w[j[p : p + (1 << 14)]]) for p in pieces]
    return np.sqrt(np.concatenate(squares)) if squares else np.zeros(0)


def squared_lengths(block: Any) -> HostArray:
    """Return |z|^2 of the rows of a prepared block."""
    if isinstance(block, SparseAugmented):
        return -2.0 * block.half_norms
    return np.asarray(-2.0 * block.left[:, -2])


def _joined(scaled: Array, half: Array, reach: float) -> Augmented:
    xp = namespace_of(scaled)
    half, ones = half[:, None], xp.ones_like(half)[:, None]
    sides = [xp.concat([scaled, *pair], axis=1) for pair in ((half, ones), (ones, half))]
    return Augmented(sides[0], sides[1], reach)


def _too_far(row: int, dtype: np.dtype[Any]) -> KernelRowsError:
    after = (
        " is so far from the mean of the rows that gamma times its squared distance overflows "
        f"{np.dtype(dtype).name}. Rescale the columns or lower gamma."
    )
    return KernelRowsError("", (row,), after)


@dataclass(frozen=True, init=False)
class Gaussian(Kernel):
    """The Gaussian or RBF kernel.

    Computes  k(x, y) = exp(-gamma |x - y|^2),  with gamma = 1 / (2 sigma^2).
    Rows are scaled once and carry their squared norms as columns, so a tile is one matrix product, which gives the
    exponent, and one exponential in place.

    Cost of a tile (a, b): 2 a b (d + 2) operations, a b exponentials, no memory but the tile. Sparse rows stay sparse.

    Not for rows whose columns have unlike units (scale them first: one width serves all columns), nor, in float32, for
    widths far smaller than the distances that matter: the exponent is accurate to about eps gamma |x|^2, |x| counted
    from ``origin`` (measured: 0.4 to 2.4 times that in the mean square, for 5 to 784 columns).

    Equals scikit-learn's ``rbf_kernel``.

    Parameters
    ----------
    gamma : float, "scale", "median" or None, default=None
        None is 1/d, as in scikit-learn's KernelPCA; "scale" is 1 / (d variance), the variance being the mean of those
        of the columns; "median" is 1 / (2 m^2), m being the median distance of pairs of rows.
    sigma : float, optional
        The width instead of gamma: gamma = 1 / (2 sigma^2).

    Examples
    --------
    >>> Gaussian(sigma=1.0)
    Gaussian(gamma=0.5)
    >>> Gaussian(gamma=0.5)([[0.0, 0.0], [1.0, 1.0]]).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """

    gamma: Gamma
    name: ClassVar[str] = "Gaussian"
    is_cheap: ClassVar[bool] = True
    has_gamma: ClassVar[bool] = True
    has_width: ClassVar[bool] = True
    shift_invariant: ClassVar[bool] = True
    takes_sparse: ClassVar[bool] = True
    is_psd: ClassVar[bool] = True

    def __init__(self, gamma: Gamma = None, *, sigma: float | None = None) -> None:
        object.__setattr__(self, "gamma", _one_width(gamma, sigma, kernel=self.name, width="sigma"))

    @property
    def sigma(self) -> float | None:
        """The width 1 / sqrt(2 gamma); None while gamma is not a number."""
        return _width(self.gamma)

    def prepare(self, rows: Array, *, dtype: np.dtype[Any], origin: Array | None = None) -> Prepared:
        """Scale rows by sqrt(2 gamma) and join their squared norms."""
        scale = math.sqrt(2.0 * number_of(self.gamma, rows.shape[1]))
        return augmented(shifted(rows, origin), scale, dtype=dtype)

    def evaluate(self, left: Prepared, right: Prepared, *, out: HostArray | None = None) -> Array:
        """Return exp of the product of two prepared blocks."""
        tile = half_squared_distances(left, right, out=out)
        # Clipping is a pass of its own, so made only where there can be much to cut: about the diagonal, and underflow.
        lowest = -0.5 * (left.reach + right.reach) ** 2
        clip = left is right or not is_numpy(tile) or lowest < LOWEST_EXPONENT[tile.dtype]
        return with_unit_diagonal(exponential(tile, clip=clip), same_block=left is right)

    def diagonal(self, rows: Array) -> HostArray:
        """Return ones."""
        return np.ones(rows.shape[0])

    def resolved(self, facts: DataFacts) -> "Gaussian":
        """Return the kernel with gamma a number."""
        return Gaussian(resolved_gamma(self.gamma, facts))

    def fused_form(self, n_columns: int) -> FusedForm:
        """Return 2 to the power of minus half the squared distance of rows times sqrt(2 gamma log2(e))."""
        scale = math.sqrt(2.0 * number_of(self.gamma, n_columns) / math.log(2.0))
        return FusedForm("gaussian", scale, about_origin=True)

    def radial_profile(self) -> RadialProfile:
        """Return  k(s) = exp(-gamma s)."""
        gamma = self.gamma_number

        def curve(squares: HostArray) -> tuple[HostArray, HostArray]:
            value = np.exp(-gamma * squares)
            return value, gamma * value

        return RadialProfile(curve)

    def draw_waves(self, draw: WaveDraw) -> Waves:
        """Draw normal frequencies, of variance 2 gamma."""
        return Waves(np.sqrt(2.0 * number_of(self.gamma, draw.n_columns)) * draw.normal(), 1.0)


@dataclass(frozen=True, init=False)
class Matern(Kernel):
    """The Matern kernel of smoothness 1/2, 3/2 or 5/2.

    Computes, with  t = sqrt(2 nu) |x - y| / length_scale:

    - nu = 1/2:  exp(-t), as rough as Brownian motion;
    - nu = 3/2:  (1 + t) exp(-t), once differentiable;
    - nu = 5/2:  (1 + t + t^2/3) exp(-t), twice differentiable.

    As nu grows it becomes the Gaussian of sigma = length_scale, so gamma = 1 / (2 length_scale^2) means the same width
    in both (Rasmussen and Williams, 2006, eq. 4.14).

    Cost of a tile (a, b): that of the Gaussian, and a b square roots. With nu = 1/2 the kernel has a kink where rows
    meet; the distance of rows closer than a few hundredths of their length is taken again from their difference, at d
    operations per pair. Sparse rows stay sparse.

    Not for data so smooth that a Gaussian fits: its eigenvalues fall more slowly, and more components are needed.

    Equals scikit-learn's ``gaussian_process.kernels.Matern``.

    Parameters
    ----------
    nu : {0.5, 1.5, 2.5}, default=1.5
    gamma : float, "scale", "median" or None, default=None
        As in :class:`Gaussian`.
    length_scale : float, optional
        The width instead of gamma: gamma = 1 / (2 length_scale^2).

    Examples
    --------
    >>> Matern(0.5, length_scale=1.0)([[0.0], [1.0]]).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """

    nu: float
    gamma: Gamma
    name: ClassVar[str] = "Matern"
    has_gamma: ClassVar[bool] = True
    has_width: ClassVar[bool] = True
    shift_invariant: ClassVar[bool] = True
    takes_sparse: ClassVar[bool] = True
    is_psd: ClassVar[bool] = True

    def __init__(self, nu: float = 1.5, gamma: Gamma = None, *, length_scale: float | None = None) -> None:
        if plain_number(nu) not in {0.5, 1.5, 2.5}:
            message = f"nu={nu!r} for the Matern kernel: pass 0.5, 1.5 or 2.5, the smoothnesses with a short formula."
            raise ParameterError(message)
        object.__setattr__(self, "nu", float(nu))
        object.__setattr__(self, "gamma", _one_width(gamma, length_scale, kernel=self.name, width="length_scale"))

    @property
    def length_scale(self) -> float | None:
        """The width 1 / sqrt(2 gamma); None while gamma is not a number."""
        return _width(self.gamma)

    def prepare(self, rows: Array, *, dtype: np.dtype[Any], origin: Array | None = None) -> Prepared:
        """Scale rows by sqrt(2 nu) / length_scale and join their squared norms."""
        scale = 2.0 * math.sqrt(self.nu * number_of(self.gamma, rows.shape[1]))
        return augmented(shifted(rows, origin), scale, dtype=dtype)

    def evaluate(self, left: Prepared, right: Prepared, *, out: HostArray | None = None) -> Array:
        """Return the formula of t, a few rows at a time."""
        tile = half_squared_distances(left, right, out=out)
        if not is_numpy(tile):
            xp = namespace_of(tile)
            return _matern(xp.sqrt(xp.clip(-2.0 * tile, min=0.0)), self.nu)
        for rows in strips(len(tile)):
            tile[rows] = np.sqrt(np.maximum(-2.0 * tile[rows], 0.0))
            if self.nu == 0.5:
                _retake_close_pairs(tile, rows, left, right)
            tile[rows] = _matern(tile[rows], self.nu)
        return with_unit_diagonal(tile, same_block=left is right)

    def diagonal(self, rows: Array) -> HostArray:
        """Return ones."""
        return np.ones(rows.shape[0])

    def resolved(self, facts: DataFacts) -> "Matern":
        """Return the kernel with gamma a number."""
        return Matern(self.nu, resolved_gamma(self.gamma, facts))

    def fused_form(self, n_columns: int) -> FusedForm:
        """Return the curve of t, the distance of rows times sqrt(2 nu) / length_scale."""
        scale = 2.0 * math.sqrt(self.nu * number_of(self.gamma, n_columns))
        return FusedForm(f"matern{round(2 * self.nu)}2", scale, about_origin=True)

    def radial_profile(self) -> RadialProfile:
        """Return the formula of  t^2 = 4 nu gamma s,  and its slope."""
        factor = 4.0 * self.nu * self.gamma_number

        def curve(squares: HostArray) -> tuple[HostArray, HostArray]:
            t = np.sqrt(factor * squares)
            value, decay = _matern(t, self.nu), np.exp(-t)
            if self.nu == 0.5:
                # Its slope is infinite at zero, where a point meets a row: such a row keeps the point, as it should.
                return value, factor / 2 * decay / np.maximum(t, 1e-9)
            return value, factor / 2 * decay if self.nu == 1.5 else factor / 6 * (1.0 + t) * decay

        return RadialProfile(curve)

    def draw_waves(self, draw: WaveDraw) -> Waves:
        """Draw frequencies of Student's t in d dimensions with 2 nu degrees of freedom."""
        # A normal vector over the root of an independent chi-squared: one per frequency, for all columns.
        spread = draw.rng.chisquare(2.0 * self.nu, size=(draw.count, 1)) / (2.0 * self.nu)
        return Waves(np.sqrt(2.0 * number_of(self.gamma, draw.n_columns) / spread) * draw.normal(), 1.0)


def _retake_close_pairs(tile: HostArray, rows: slice, left: Prepared, right: Prepared) -> None:
    # The product leaves an error of about eps |z|^2 in a squared distance, so that under a share of |z|^2 its root is
    # wrong by eps |z| / (2 sqrt(share)): 1e-6 |z| in float32, 4e-14 |z| in float64.
    share = 2e-3 if tile.dtype == np.float32 else 1e-5
    close = np.sqrt(share * squared_lengths(left)[rows, None]).astype(tile.dtype)
    found = tile[rows] < close
    if not found.any():
        return
    i, j = np.nonzero(found)
    i += rows.start
    tile[i, j] = exact_distances(left, right, i, j)


def _matern(t: Array, nu: float) -> Array:
    value = exponential(-t)
    if nu == 0.5:
        return value
    return value * (1.0 + t if nu == 1.5 else 1.0 + t * (1.0 + t / 3.0))


def _one_width(gamma: object, width_given: object, *, kernel: str, width: str) -> Gamma:
    if width_given is None:
        return checked_gamma(gamma, kernel=kernel)
    if gamma is not None:
        message = f"gamma={gamma!r} and {width}={width_given!r} are two names of one width. Pass one of them."
        raise ParameterError(message)
    return gamma_of_width(width_given, name=width)


def _width(gamma: Gamma) -> float | None:
    return math.sqrt(0.5 / gamma) if isinstance(gamma, float) and gamma > 0 else None
