"""Count, mean and scatter of rows: weighted and mergeable, with what rounding has cost them."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gramian.arrays.namespace import Array, HostArray, from_host
from gramian.arrays.precision import FLOAT32, FLOAT64, eps_of

UNIT = eps_of(FLOAT64) / 2
"""What one operation is rounded by, at most, beside its result."""

SAFE_SQUARES = {FLOAT64: (1e-200, 1e200), FLOAT32: (1e-24, 1e28)}
"""Sums of squares outside this range have lost digits to underflow, or all of them to overflow."""


@dataclass(frozen=True, eq=False)
class Moments:
    """What one pass over the rows leaves: enough for the covariance and for merging.

    Computes  mean = sum w x / W,  scatter = sum w (x - mean)(x - mean)',  W = sum w.

    Attributes
    ----------
    count : int
        Rows seen.
    weight : float
        W, the sum of the weights; the count when there are none.
    mean : numpy array (d,), float64
    squares : numpy array (d,), float64
        Diagonal of the scatter.
    scatter : array (d, d), float64, or None
        On the host for NumPy and sparse rows, with the rows for torch.
    error : float
        Rounding of float32 products in the scatter, measured, relative to its largest eigenvalue; zero without any.
    lost : float
        Upper bound of the sum of squares that a rank-limited state has dropped; zero when exact.
    rounding : numpy array (d,), or None where no scatter is
        What float64 arithmetic has cost at most: entry (i, j) of the scatter, or of what stands for it, is wrong by
        sqrt(rounding_i rounding_j),  so that its eigenvalues are wrong by the sum of ``rounding``.
    mean_rounding : numpy array (d,), or None
        What the mean is wrong by at most.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.sources.dense import DenseRows
    >>> from gramian.sources.measuring import measure_moments
    >>> X = np.array([[1.0, 2.0], [3.0, 2.0], [5.0, 5.0]])
    >>> whole = measure_moments(DenseRows(X))
    >>> halves = measure_moments(DenseRows(X[:1])).merge(measure_moments(DenseRows(X[1:])))
    >>> bool(np.allclose(whole.scatter, halves.scatter)) and whole.count == halves.count
    True
    """

    count: int
    weight: float
    mean: HostArray
    squares: HostArray
    scatter: Array | None
    error: float = 0.0
    lost: float = 0.0
    rounding: HostArray | None = None
    mean_rounding: HostArray | None = None

    @property
    def is_offset(self) -> bool:
        """Whether the mean is so far from the origin, beside the spread, that squaring it costs eight digits."""
        return self.offset > 100

    @property
    def offset(self) -> float:
        """Size of the mean beside the spread,  |1 mean'| / |X - 1 mean'|  in the Frobenius norm.

        By that factor rounding grows where a product is corrected for the mean afterwards.
        """
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            # Not by BLAS, whose threads would spin on beside the pass that follows.
            return float(np.sqrt(self.weight * np.square(self.mean).sum() / self.squares.sum()))

    def merge(self, other: "Moments") -> "Moments":
        """Return the moments of both sets of rows together (Chan, Golub and LeVeque, 1979, eq. 2.1)."""
        weight = self.weight + other.weight
        delta = other.mean - self.mean
        step = self.weight * (other.weight / weight)
        scatter = None
        if self.scatter is not None and other.scatter is not None:
            shift = from_host(delta, like=self.scatter)
            scatter = self.scatter + other.scatter + step * (shift[:, None] * shift[None, :])
        merged = Moments(
            count=self.count + other.count,
            weight=weight,
            mean=self.mean + delta * (other.weight / weight),
            squares=self.squares + other.squares + step * delta * delta,
            scatter=scatter,
            error=max(self.error, other.error),
            lost=self.lost + other.lost,
        )
        unknown = scatter is None and (self.rounding is None or other.rounding is None)
        return merged if unknown else merged._rounded_like(self, other)

    def _rounded_like(self, left: "Moments", right: "Moments") -> "Moments":
        """State the rounding of moments that two others were merged to: theirs, that of their means, and of the sums.

        Entries add up:  sqrt(a_i a_j) + sqrt(b_i b_j) <= sqrt((a + b)_i (a + b)_j)  (Cauchy and Schwarz).
        """
        delta, share = right.mean - left.mean, right.weight / self.weight
        first, second = left.known_mean_rounding, right.known_mean_rounding
        wrong = first + second + UNIT * np.abs(delta)
        drift = drift_rounding(left.weight * share, delta, wrong)
        mean = (1 - share) * first + share * second + UNIT * (np.abs(self.mean) + 4 * share * np.abs(delta))
        return replace(
            self,
            rounding=left.known_rounding + right.known_rounding + drift + 8 * UNIT * self.squares,
            mean_rounding=mean,
        )

    def lost_by_rounding(self, factor: HostArray | None) -> float:
        """Return what rounding has cost the eigenvalues at most, if columns are multiplied by ``factor``.

        Factors have some from the squares: with columns times 1 + e, |e_j| <= e, eigenvalues are wrong by  2 e  of the
        largest.
        """
        rounding = self.known_rounding
        if factor is None:
            return float(rounding.sum())
        doubt = np.divide(rounding, self.squares, out=np.zeros_like(rounding), where=self.squares > 0)
        scaled = self.squares * factor**2
        return float(doubt @ scaled + (doubt.max(initial=0.0) + 8 * UNIT) * scaled.sum())

    @property
    def known_rounding(self) -> HostArray:
        """``rounding``, or that of a few operations where nothing else is known."""
        return 8 * UNIT * self.squares if self.rounding is None else self.rounding

    @property
    def known_mean_rounding(self) -> HostArray:
        """``mean_rounding``, or what a sum of all rows is wrong by at most, and the mean as it is held."""
        if self.mean_rounding is not None:
            return self.mean_rounding
        return np.asarray(UNIT * (np.abs(self.mean) + (self.count + 8) * np.sqrt(self.squares / self.weight)))


def drift_rounding(weight: float, delta: HostArray, wrong: HostArray) -> HostArray:
    """Return r with  weight |(delta + e)(delta + e)' - delta delta'|_ij <= sqrt(r_i r_j)  for any  |e_j| <= wrong_j.

    As  a_i b_j + b_i a_j <= sqrt(t a_i^2 + b_i^2 / t) sqrt(t a_j^2 + b_j^2 / t),  for any t: here the one that makes
    the sum of r least.
    """
    size, miss = float(np.sqrt(delta @ delta)), float(np.sqrt(wrong @ wrong))
    if size == 0 or miss == 0 or not np.isfinite(size * miss):
        return weight * wrong**2
    t = miss / size
    return np.asarray(weight * (t * delta**2 + (1 + 1 / t) * wrong**2))


def squares_are_safe(moments: Moments, dtype: np.dtype[Any], *, each: bool = False) -> bool:
    """Tell whether the squares, those of ``each`` column where asked, kept to the range of the rows' precision.

    Only the largest column counts where columns are added to one another; each counts where each is scaled by its own.
    A column whose squares are all zero is constant, unless its mean is so small that they may have underflowed.
    """
    low, high = SAFE_SQUARES[np.dtype(dtype)]
    squares = moments.squares
    if not each:
        return bool(low < squares.max(initial=0.0) < high)
    vanished = (squares == 0) & (moments.mean != 0) & (np.abs(moments.mean) < np.sqrt(low))
    return bool(np.all(squares < high) and np.all((squares > low) | (squares == 0)) and not np.any(vanished))
