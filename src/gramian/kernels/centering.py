"""Centering in feature space, by kernel values alone: the one home of H K H.

Let w be the weights of n rows (how often each counts), W their sum and s = w / W. Rows are centered about the mean
sum_j s_j phi(x_j),  and inner products of what is left need the kernel alone::

    kc(x, y) = k(x, y) - m(x) - m(y) + g,      m(x) = sum_j s_j k(x, x_j),   g = s'K s

- Of the rows of a fit among themselves that is  H K H',  H = I - 1 s':  :func:`center_matrix`, :func:`center_kernel`.
- Of new rows it needs m and g of the fit: :class:`KernelCentering`.
- Vectors over the rows are multiplied by  P D K D P = D (H K H') D  with  D = diag(sqrt w)  and
  P = I - sqrt(w) sqrt(w)' / W,  so that a product with K is centered without touching K: :class:`RowWeights`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.arrays.namespace import Array, HostArray, dtype_of, from_host, is_numpy, namespace_of, to_host
from gramian.arrays.precision import FLOAT64
from gramian.errors import InputError


@dataclass(frozen=True, eq=False)
class RowWeights:
    """How often each of n rows counts, and what that does to sums and vectors over the rows.

    Attributes
    ----------
    n : int
    weights : numpy array (n,), float64, or None
        ``None`` where each row counts once.
    """

    n: int
    weights: HostArray | None = None

    @classmethod
    def of(cls, n: int, weights: Array | None) -> "RowWeights":
        """Return the weights of n rows from those that a source has, in any library."""
        return cls(n, None if weights is None else to_host(weights).astype(FLOAT64))

    @property
    def total(self) -> float:
        """W: the number of rows, repetitions counted."""
        return float(self.n) if self.weights is None else float(self.weights.sum())

    @property
    def shares(self) -> HostArray | None:
        """S = w / W (n,); ``None`` for equal weights."""
        return None if self.weights is None else self.weights / self.total

    def sum(self, values: HostArray) -> float:
        """Return the sum of values (n,), each as often as its row counts."""
        return float(values.sum() if self.weights is None else self.weights @ values)

    def means(self, K: HostArray) -> HostArray:
        """Return the mean of each column of K (n, m), over the rows."""
        w = np.ones(self.n) if self.weights is None else self.weights
        # Divided last: the mean of equal values is then that value.
        return np.asarray(w @ K / self.total)

    def scaled(self, V: Array) -> Array:
        """Return D V, (n, c): rows times the square roots of their weights; V itself for equal weights."""
        return V if self.weights is None else V * from_host(np.sqrt(self.weights), like=V)[:, None]

    def project(self, V: Array, *, out: HostArray | None = None) -> Array:
        """Return P V, (n, c), in the type of V; ``out`` may be V itself on the host."""
        if not is_numpy(V):
            if self.weights is None:
                return V - namespace_of(V).mean(V, axis=0)
            roots = from_host(np.sqrt(self.weights), like=V, dtype=dtype_of(V))
            return V - roots[:, None] * (roots @ V / self.total)
        if self.weights is None:
            return np.asarray(np.subtract(V, V.mean(axis=0, dtype=FLOAT64).astype(V.dtype), out=out))
        out = np.empty_like(V) if out is None else out
        roots = np.sqrt(self.weights)
        along = roots @ V / self.total
        for start in range(0, self.n, 4096):  # no second array of the size of V
            part = slice(start, start + 4096)
            out[part] = V[part] - np.outer(roots[part], along).astype(V.dtype)
        return out

    def centered_squares(self, squares: HostArray, sums: HostArray, *, out: HostArray | None = None) -> HostArray:
        """Return  Z'P Z,  (m, m), from  Z'Z  and from  sum_j w_j z_j = Z' sqrt(w),  Z = D [z_1, ..., z_n]'."""
        return np.asarray(np.subtract(squares, np.outer(sums, sums / self.total), out=out))

    def centered_norm(self, squares: float, sums: HostArray) -> float:
        """Return  |P D M D P|^2  (Frobenius) from  |D M D|^2  and the sums  M w  of a symmetric M (n,)."""
        return squares - 2 * self.sum(sums**2) / self.total + self.sum(sums) ** 2 / self.total**2


@dataclass(frozen=True, eq=False)
class KernelCentering:
    """What the rows of a fit leave for centering new ones:  kc(x, x_j) = k(x, x_j) - m_j - k(x) + g.

    k(x) is the mean of the new row of kernel values; means count rows by their weights.

    Attributes
    ----------
    row_means : numpy array (n,)
        m: the mean of each row of K.
    grand_mean : float
        g: the mean of all of K.
    shares : numpy array (n,) or None
        Weights over their sum; ``None`` for equal ones.
    centered : bool
    """

    row_means: HostArray
    grand_mean: float
    shares: HostArray | None = None
    centered: bool = True

    @classmethod
    def none(cls, rows: RowWeights) -> "KernelCentering":
        """Return the centering that leaves kernel values as they are, of a K whose means are not known."""
        return cls(np.zeros(rows.n), 0.0, rows.shares, centered=False)

    @classmethod
    def from_means(cls, means: HostArray, rows: RowWeights, *, centered: bool = True) -> "KernelCentering":
        """Return the centering of a symmetric K, of whose rows the means are known."""
        return cls(means, rows.sum(means) / rows.total, rows.shares, centered)

    def mean_weights(self) -> HostArray:
        """Return what a row of kernel values is multiplied by to give its mean (n,)."""
        n = len(self.row_means)
        if not self.centered:
            return np.zeros(n)
        return np.full(n, 1.0 / n) if self.shares is None else self.shares

    def rows(self, K: HostArray) -> HostArray:
        """Return centered rows of kernel values between new rows and those of the fit (m, n)."""
        if not self.centered:
            return K
        return np.asarray(K - self.row_means - (K @ self.mean_weights() - self.grand_mean)[:, None])

    def scores(self, raw: HostArray, means: HostArray, coefficients: HostArray) -> HostArray:
        """Return  kc(x, :) A  from  raw = k(x, :) A  and the means of the rows, without the rows of kernel values."""
        if not self.centered:
            return raw
        along = np.outer(means - self.grand_mean, coefficients.sum(axis=0))
        return np.asarray(raw - self.row_means @ coefficients - along)

    def lengths(self, diagonal: HostArray, means: HostArray) -> HostArray:
        """Return kc(x, x), the squared distance of phi(x) from the mean."""
        return diagonal - 2 * means + self.grand_mean if self.centered else diagonal


def center_matrix(K: HostArray, rows: RowWeights) -> KernelCentering:
    """Replace a square K by  H K H',  in place, and return what new rows are centered by.

    Twice: the second time takes off the means that the rounding of the first ones has left, about n eps |K|.

    Examples
    --------
    >>> K = np.array([[2.0, 0.0], [0.0, 4.0]])
    >>> center_matrix(K, RowWeights(2)).row_means
    array([1., 2.])
    >>> K
    array([[ 1.5, -1.5],
           [-1.5,  1.5]])
    """
    centering = KernelCentering.from_means(rows.means(K), rows)
    means = rows.means(K.T)
    K -= centering.row_means
    K -= (means - centering.grand_mean)[:, None]
    K -= rows.means(K)
    K -= rows.means(K.T)[:, None]
    return centering


def center_kernel(K: Any, *, fitted: Any = None, weights: Any = None) -> HostArray:
    """Return kernel values of centered features, as a new float64 array.

    Computes  H K H',  H = I - 1 s',  of a square kernel matrix (s the weights over their sum, 1/n without weights); of
    the values K (m, n) between new rows and those of a fit, whose own kernel matrix is ``fitted`` (n, n),
    K - 1 s'F - K s 1' + 1 s'F s 1',  F being that matrix. Cost: a copy and a few passes over it.

    Parameters
    ----------
    K : array (n, n), or (m, n) with ``fitted``
    fitted : array (n, n), optional
        The kernel matrix of the rows of the fit, as it was before centering.
    weights : array (n,), optional
        How often each row of the fit counts.

    Examples
    --------
    >>> K = np.array([[2.0, 0.0], [0.0, 4.0]])
    >>> center_kernel(K)
    array([[ 1.5, -1.5],
           [-1.5,  1.5]])
    >>> center_kernel(K[:1], fitted=K)  # a new row that equals the first
    array([[ 1.5, -1.5]])
    """
    centered = np.array(K, dtype=FLOAT64, ndmin=2)
    matrix = centered if fitted is None else np.asarray(fitted, dtype=FLOAT64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or centered.shape[1:] != matrix.shape[1:]:
        message = (
            f"K has shape {centered.shape}, and a kernel matrix is square. For new rows pass fitted, the kernel matrix "
            "of the rows of the fit."
            if fitted is None
            else f"K has shape {centered.shape} and fitted {matrix.shape}. Pass kernel values between new rows and the "
            "n of the fit (m, n), and the square matrix of those (n, n)."
        )
        raise InputError(message)
    rows = RowWeights.of(len(matrix), weights)
    if fitted is not None:
        return KernelCentering.from_means(rows.means(matrix), rows).rows(centered)
    center_matrix(centered, rows)
    return centered
