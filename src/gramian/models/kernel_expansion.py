"""Points of feature space that kernel PCA speaks of, written as combinations of rows it has seen.

With phi the kernel's own map, components are  v_l = sum_j c_jl phi(x_j)  and the mean is  sum_j o_j phi(x_j).  Scores y
stand for the point  P = mean + sum_l y_l v_l  of their flat; all that is asked of P needs k alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gramian.arrays.namespace import Array, HostArray, to_host
from gramian.arrays.precision import FLOAT64
from gramian.errors import NotSupportedError
from gramian.kernels.kernel import Kernel, Prepared
from gramian.sources.rows import ranges

PIECE_NUMBERS = 1 << 21
"""Kernel values that are held at a time: 16 MB."""


@dataclass(frozen=True, eq=False)
class KernelExpansion:
    """The mean and the components of a kernel PCA as combinations of rows.

    Attributes
    ----------
    rows : numpy array (n, d), float64
    kernel : Kernel
        With numbers for parameters.
    coefficients : numpy array (n, k)
        c: components, of unit length in feature space and orthogonal.
    offset : numpy array (n,)
        o: the mean; zeros where nothing was centered.
    means : numpy array (n,)
        K o: inner products of the mean with the rows. For equal weights the row means of K.
    scores : numpy array (n, k)
        Of the rows.
    counts : numpy array (n,) or None
        How often each row counts in what is learned from the rows; ``None`` for once.
    """

    rows: HostArray
    kernel: Kernel
    coefficients: HostArray
    offset: HostArray
    means: HostArray
    scores: HostArray
    counts: HostArray | None = None

    def weights(self, scores: HostArray) -> HostArray:
        """Return the combination of rows that each line of scores stands for (m, n): P = sum_j w_j phi(x_j)."""
        return np.asarray(scores @ self.coefficients.T + self.offset)

    def inner_products(self, scores: HostArray) -> HostArray:
        """Return P . phi(x_i) for each line of scores and each row (m, n), without a kernel value."""
        return np.asarray(scores @ (self.scores + self._along_mean).T + self.means)

    def squared_norms(self, scores: HostArray) -> HostArray:
        """Return |P|^2 for each line of scores (m,)."""
        own = np.einsum("ij,ij->i", scores, scores)
        return np.asarray(float(self.offset @ self.means) + 2 * scores @ self._along_mean + own)

    def squared_distances(self, points: HostArray, scores: HostArray) -> HostArray:
        """Return |phi(z) - P|^2 for points z beside their scores (m,): how far they are from being pre-images.

        Computes  k(z, z) - 2 sum_j w_j k(z, x_j) + |P|^2.  Cost: m n kernel values, in pieces.
        """
        across = np.empty(len(points))
        for part in self.pieces(len(points)):
            across[part] = np.einsum("ij,ij->i", self.kernel_rows(points[part]), self.weights(scores[part]))
        squares = self.kernel.diagonal(points) - 2 * across + self.squared_norms(scores)
        return np.maximum(squares, 0.0)

    def project(self, points: HostArray) -> HostArray:
        """Return the scores  v_l . (phi(z) - mean)  of points (m, k). Cost: m n kernel values, in pieces."""
        strips = [self.kernel_rows(points[part]) @ self.coefficients for part in self.pieces(len(points))]
        return np.concatenate(strips) - self._along_mean

    def kernel_rows(self, points: HostArray) -> HostArray:
        """Return k(z, x_i) for points and all rows (m, n)."""
        left = self.kernel.prepare(points, dtype=FLOAT64, origin=self.origin)
        return np.asarray(self.kernel.evaluate(left, self._ready))

    def pieces(self, count: int, *, each: int = 1) -> Iterator[slice]:
        """Cut ``count`` points into pieces of bounded memory, ``each`` of them needing so many strips of n."""
        return iter(ranges(count, max(1, PIECE_NUMBERS // (each * len(self.rows)))))

    @cached_property
    def origin(self) -> HostArray:
        """The mean of the rows: the point that distances are taken from."""
        return np.asarray(self.rows.mean(axis=0))

    @cached_property
    def _along_mean(self) -> HostArray:
        return self.coefficients.T @ self.means

    @cached_property
    def _ready(self) -> Prepared:
        return self.kernel.prepare(self.rows, dtype=FLOAT64, origin=self.origin)


def expand(
    rows: Array,
    kernel: Kernel,
    *,
    alphas: HostArray,
    scores: HostArray,
    offset: HostArray | None = None,
    row_means: HostArray | None = None,
    centered: bool = True,
) -> KernelExpansion:
    """Write a fitted kernel PCA as an expansion over its rows.

    Parameters
    ----------
    rows : array (n, d)
        Those of the fit, dense.
    kernel : Kernel
        With numbers for parameters.
    alphas : array (n, k)
        u / sqrt(lambda): coefficients of unit components over the centered rows; zeros where lambda is zero.
    scores : array (n, k)
        sqrt(lambda) u.
    offset : array (n,), optional
        Weights of the mean, summing to one; equal where not given.
    row_means : array (n,), optional
        K offset, which a fit has already; else computed, n^2 kernel values in pieces.
    centered : bool
        Whether the mean was removed in feature space.
    """
    if hasattr(rows, "indptr"):
        message = (
            "Pre-images of sparse rows are dense rows, and the methods for them work on dense ones. Fit on "
            "X.toarray() if it fits, or do without inverse_transform."
        )
        raise NotSupportedError(message)
    points = to_host(rows).astype(FLOAT64)
    n = len(points)
    if not centered:
        return KernelExpansion(points, kernel, to_host(alphas), np.zeros(n), np.zeros(n), to_host(scores))
    offset = np.full(n, 1.0 / n) if offset is None else to_host(offset)
    c = to_host(alphas).astype(FLOAT64)
    c = c - np.outer(offset, c.sum(axis=0))
    if row_means is None:
        row_means = _row_means(points, kernel, offset)
    return KernelExpansion(points, kernel, c, offset, to_host(row_means).astype(FLOAT64), to_host(scores))


def solve_densely(rows: Array, kernel: Kernel, n_components: int) -> KernelExpansion:
    """Fit kernel PCA to a few thousand rows at most by a dense eigensolver, and return its expansion.

    Computes  the leading eigenpairs of H K H.  Cost: n^2 kernel values, 9 n^3 operations, three n x n matrices. For
    samples within a larger fit: it has no plan and no certificate. Components with lambda <= n eps lambda_1 get zeros.

    Examples
    --------
    >>> from gramian.kernels import Gaussian
    >>> line = np.arange(5.0)[:, None]
    >>> expansion = solve_densely(line, Gaussian(0.1), 2)
    >>> bool(np.allclose(expansion.project(line), expansion.scores))
    True
    """
    points = to_host(rows).astype(FLOAT64)
    K = np.asarray(kernel(points))
    means = K.mean(axis=0)
    values, U = np.linalg.eigh(K - means - means[:, None] + means.mean())
    values, U = values[::-1][:n_components], U[:, ::-1][:, :n_components]
    kept = values > len(K) * np.finfo(FLOAT64).eps * max(float(values[0]), 0.0)
    roots = np.sqrt(np.where(kept, values, 1.0))
    alphas, scores = np.where(kept, U / roots, 0.0), np.where(kept, U * roots, 0.0)
    return expand(points, kernel, alphas=alphas, scores=scores, row_means=means)


def _row_means(points: HostArray, kernel: Kernel, offset: HostArray) -> HostArray:
    nothing = np.zeros((len(points), 0))
    bare = KernelExpansion(points, kernel, nothing, offset, offset, nothing)
    return np.concatenate([bare.kernel_rows(points[part]) @ offset for part in bare.pieces(len(points))])
