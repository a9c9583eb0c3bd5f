"""What every spectrum needs once: signs, rank, shares and the variance left out."""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from gramian.arrays.namespace import Array, HostArray, dtype_of, from_host, is_numpy, namespace_of, to_host
from gramian.arrays.precision import eps_of, rank_threshold
from gramian.sources.rows import ranges

SQUARED_AT_ONCE = 1 << 19
"""Entries of components that are squared at a time: 4 MB."""


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Squared singular values of the standardized rows, and what is known of the rest.

    Attributes
    ----------
    squares : numpy array (k,)
        Leading squared singular values, descending.
    total : float
        Sum of all of them.
    divisor : float
        W - ddof: squares over it are variances.
    size : int
        min(n, d), how many there are.
    """

    squares: HostArray
    total: float
    divisor: float
    size: int

    @property
    def variances(self) -> HostArray:
        """Variance along each component; zero where a single row leaves none to estimate."""
        return self.squares / self.divisor if self.divisor > 0 else np.zeros_like(self.squares)

    @property
    def shares(self) -> HostArray:
        """Share of the total variance; zero for constant data."""
        return self.squares / self.total if self.total > 0 else np.zeros_like(self.squares)

    def noise(self, k: int, *, rank: int) -> float:
        """Mean variance of the directions beyond the first ``k`` (Tipping and Bishop 1999, eq. 8).

        Zero where no direction beyond k is more than rounding. Summed where all squares are known; what the total
        leaves, where only the leading ones are.
        """
        left = self.size - k
        known = len(self.squares)
        if left <= 0 or self.divisor <= 0 or (rank <= k and rank < max(known, 1)):
            return 0.0
        if known >= self.size:
            rest = float(self.squares[k : self.size].sum())
        else:
            rest = max(self.total - float(self.squares[:k].sum()), 0.0)
        return rest / self.divisor / left

    def spread_beyond(self, k: int, *, square_sum: float | None, eps: float) -> float | None:
        """Return  t1^2 / t2  of the squares beyond the first ``k``, t1 and t2 being their sum and sum of squares.

        Summed where all are known. Else from the total and ``square_sum``, that of the squares of all. None where there
        is nothing beyond, no such sum, or where what it leaves is not well above its rounding, a few ``eps``.
        """
        if k >= self.size:
            return None
        if len(self.squares) >= self.size:
            rest = self.squares[k : self.size] / (self.total or 1.0)
            first, second = float(rest.sum()), float(rest @ rest)
            return first * first / second if second > 0 else None
        if square_sum is None or self.total <= 0:
            return None
        known = self.squares[:k] / self.total
        first, whole = 1.0 - float(known.sum()), square_sum / self.total / self.total
        second = whole - float(known @ known)
        if not np.isfinite(whole) or first <= 0 or second <= 1000 * eps * whole:
            return None
        return float(np.clip(first * first / second, 1.0, max(self.size - k, 1)))

    def leading(self, k: int) -> "Spectrum":
        """Return the first ``k`` values, zeros where there are fewer."""
        if k == len(self.squares):
            return self
        squares = np.zeros(k)
        squares[: min(k, len(self.squares))] = self.squares[:k]
        return Spectrum(squares, self.total, self.divisor, self.size)


def signs_of(vectors: Array) -> Array:
    """Return +1 or -1 a column so that its largest entry, the first within 10 eps of it, becomes positive.

    Examples
    --------
    >>> import numpy as np
    >>> signs_of(np.array([[0.6, -0.8], [0.8, 0.6]]))
    array([ 1., -1.])
    """
    if is_numpy(vectors):
        high, low = vectors.max(axis=0), -vectors.min(axis=0)
    else:
        xp = namespace_of(vectors)
        high, low = to_host(xp.max(vectors, axis=0)), -to_host(xp.min(vectors, axis=0))
    lead, near = high - low, 10 * eps_of(dtype_of(vectors))
    signs = np.copysign(1.0, lead)
    for j in (np.abs(lead) <= near * np.maximum(high, low)).nonzero()[0]:
        column = to_host(vectors[:, int(j)])
        sizes = np.abs(column)
        signs[j] = -1.0 if column[np.argmax(sizes >= sizes.max() * (1 - near))] < 0 else 1.0
    return from_host(signs, like=vectors, dtype=dtype_of(vectors))


def rank_of(squares: HostArray, components: Array, *, n: int, eps: float, rounding: HostArray) -> int:
    """Count the singular values up to the last one that is more than rounding.

    A singular value s with component v counts when  s > min(n, d) eps s_1,  eps being that of the precision in which
    the small problem was formed, and  s > c |diag(rounding) v|,  c = (sqrt n + sqrt d) / 2.  The rounding already in
    the rows is a random matrix whose column j has entries of size rounding_j; what v sees of it no arithmetic can tell
    from structure. One large column so costs the directions that lie along it, and no other.

    Where only leading components are known, a value beyond them is compared with the rounding that is left for it: a
    matrix of rank r and the j largest columns of rounding together have r + j singular values (Weyl).

    Parameters
    ----------
    squares : numpy array
        Squared singular values, descending.
    components : array (d, k)
        Columns that belong to the first k of them.
    n : int
    eps : float
    rounding : numpy array (d,)
        Size of the rounding in an entry of each standardized column.

    Examples
    --------
    >>> import numpy as np
    >>> rank_of(np.array([1.0, 1e-10]), np.eye(2), n=4, eps=2e-16, rounding=np.array([1e-3, 0.0]))
    2
    >>> rank_of(np.array([1.0, 1e-10]), np.eye(2), n=4, eps=2e-16, rounding=np.array([1e-3, 1e-3]))
    1
    """
    singular = np.sqrt(np.maximum(squares, 0.0))
    if len(singular) == 0 or singular[0] == 0:
        return 0
    d, k = components.shape[0], min(components.shape[1], len(singular))
    reach, least = (sqrt(n) + sqrt(d)) / 2, rank_threshold(n, d, eps) * singular[0]
    # What a unit vector sees of the rounding is at most the largest: values above that need no look at their vectors.
    if singular[-1] > max(reach * rounding.max() * (1 + 1e-6), least):
        return len(singular)
    largest = _largest(rounding, max(len(singular) - k, 1))
    clear = singular[k - 1] > reach * largest[0] * (1 + 1e-6)
    left = largest[: len(singular) - k]
    noise = np.zeros(len(singular))
    noise[:k] = reach * (largest[0] if clear else _seen(components[:, :k], rounding))
    noise[k : k + len(left)] = reach * left
    counted = np.flatnonzero(singular > np.maximum(noise, least))
    return int(counted[-1]) + 1 if len(counted) else 0


def _largest(values: HostArray, count: int) -> HostArray:
    """Return the ``count`` largest values, descending; all where there are fewer."""
    count = min(count, len(values))
    return np.sort(np.partition(values, len(values) - count)[len(values) - count :])[::-1]


def _seen(components: Array, rounding: HostArray) -> HostArray:
    """Return  |diag(rounding) v|  of each column v, some rows at a time: their squares are a copy."""
    d, k = components.shape
    sums = np.zeros(k)
    for some in ranges(d, max(64, SQUARED_AT_ONCE // max(k, 1))):
        part = components[some, :]
        sums += to_host((part * part).T @ from_host(rounding[some] ** 2, like=components))
    return np.sqrt(sums)
