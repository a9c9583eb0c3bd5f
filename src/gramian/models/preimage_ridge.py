"""Pre-images by regression: learn, on the rows of the fit, to go from scores to rows."""

import warnings
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, LinAlgWarning, solve

from gramian.arrays.namespace import HostArray
from gramian.arrays.precision import FLOAT64
from gramian.errors import InputError, ParameterError
from gramian.kernels.kernel import Kernel
from gramian.kernels.radial import Gaussian
from gramian.kernels.widths import facts_of
from gramian.models.kernel_expansion import KernelExpansion
from gramian.models.preimage import FittedPreimage, PreimageMethod, Preimages
from gramian.sources.rows import ranges

LARGEST_EXACT = 6_000
"""Rows up to which the regression uses all of them: 0.3 GB, and 3 s on two cores."""

CENTERS = 2_000
"""Rows whose kernel functions it uses beyond that."""

STRIP = 512
"""Rows whose values with those are held at a time."""


@dataclass(frozen=True)
class Ridge(PreimageMethod):
    """Kernel ridge regression from scores to rows.

    Computes  z(y) = mean + sum_j k(y, y_j) b_j  with  B = (K_Y + alpha I)^-1 (X - mean),  K_Y being the kernel between
    the scores y_j of the rows x_j (Bakir, Weston and Schoelkopf, 2003, NIPS 16). It is what scikit-learn's
    ``KernelPCA(fit_inverse_transform=True, alpha=...)`` computes, but that there rows are shrunk to the origin, not to
    their mean: strong smoothing loses it.

    Rows of a weighted fit count as often as there: in the mean, and in the squares that are made small.

    Beyond 6,000 rows the functions of 2,000 of them, drawn at random, are used:  min |X - mean - K_YC B|^2 +
    alpha tr(B' K_CC B),  the same regression restricted to their span.

    Cost: n^3 / 3 operations once (n 2,000^2 beyond), then m n kernel values and 2 m n d operations. Smooths: not for
    sharp detail.

    Parameters
    ----------
    alpha : float
        Not negative. The larger, the smoother.
    kernel : Kernel or None
        Between scores; ``None`` for the kernel of the fit, as in scikit-learn, or, where that one does not take
        scores (one of counts, such as chi-squared, does not take negative numbers), a Gaussian of their median width.
    seed : int
        Draws the rows whose functions are used, where not all are.

    Examples
    --------
    >>> from gramian.kernels import Gaussian
    >>> from gramian.models.kernel_expansion import solve_densely
    >>> t = np.linspace(0, 6, 60)
    >>> circle = np.column_stack([np.cos(t), np.sin(t)])
    >>> expansion = solve_densely(circle, Gaussian(1.0), 6)
    >>> rebuilt = Ridge(alpha=1e-3).fit(expansion).rebuild(expansion.scores)
    >>> float(np.abs(rebuilt.rows - circle).max()) < 0.02
    True
    """

    alpha: float = 1.0
    kernel: Kernel | None = None
    seed: int = 0

    def peak_bytes(self, n: int, d: int) -> int:
        """Return the bytes of the regression: its matrix twice, or with its eigenvectors where alpha is zero; rows."""
        c = n if n <= LARGEST_EXACT else CENTERS
        strips = 0 if c == n else 4 * STRIP * c
        return 8 * ((2 if self.alpha > 0 else 5) * c * c + strips + d * (4 * n + 2 * c))

    def fit(self, expansion: KernelExpansion) -> "RidgeMap":
        """Solve the regression, once."""
        if not 0 <= self.alpha < np.inf:
            message = f"alpha={self.alpha} is not a weight of a ridge. Pass a finite number that is not negative."
            raise ParameterError(message)
        kernel = self.kernel or _taking(expansion.kernel, expansion.scores)
        kernel = kernel.resolved(facts_of(expansion.scores))
        counts = np.ones(len(expansion.rows)) if expansion.counts is None else expansion.counts
        mean = counts @ expansion.rows / counts.sum()
        lessons = _Lessons(expansion.scores, expansion.rows - mean, counts)
        if len(counts) <= LARGEST_EXACT:
            return RidgeMap(expansion, kernel, expansion.scores, _solve_all(kernel, lessons, self.alpha), mean)
        rng = np.random.default_rng(self.seed)
        few = min(CENTERS, int(np.count_nonzero(counts)))
        chosen = np.sort(rng.choice(len(counts), few, replace=False, p=counts / counts.sum()))
        centers = expansion.scores[chosen]
        return RidgeMap(expansion, kernel, centers, _solve_few(kernel, lessons, centers, self.alpha), mean)


class _Lessons(NamedTuple):
    """What is learned from: scores (n, k), rows less their mean (n, d), and how often each counts (n,)."""

    scores: HostArray
    targets: HostArray
    counts: HostArray


def _taking(kernel: Kernel, scores: HostArray) -> Kernel:
    """Return the kernel of the fit, or a Gaussian where it does not take scores, whose columns have both signs."""
    extremes = np.unique(np.concatenate([scores.argmin(axis=0), scores.argmax(axis=0)]))
    sample = np.vstack([scores[extremes], scores[:16]])
    try:
        _kernel(kernel.resolved(facts_of(sample)), sample, sample)
    except InputError:
        return Gaussian("median")
    return kernel


SMOOTH = Ridge(1e-2, Gaussian("median"))
"""Where none is named: a width for the scores themselves, and smooth in them, so that near scores give near rows."""


@dataclass(frozen=True, eq=False)
class RidgeMap(FittedPreimage):
    """The regression of :class:`Ridge`: ``dual`` (c, d) are its coefficients at the ``centers`` (c, k)."""

    expansion: KernelExpansion
    kernel: Kernel
    centers: HostArray
    dual: HostArray
    mean: HostArray

    def rebuild(self, scores: HostArray) -> Preimages:
        """Return mean + k(y, centers) dual for each line of scores."""
        scores = np.asarray(scores, dtype=FLOAT64)
        rows = np.empty((len(scores), len(self.mean)))
        for part in self.expansion.pieces(len(scores)):
            rows[part] = _kernel(self.kernel, scores[part], self.centers) @ self.dual + self.mean
        return Preimages(rows, self._errors(rows, scores), np.ones(len(rows), dtype=bool))

    def _errors(self, rows: HostArray, scores: HostArray) -> HostArray:
        """Return squared distances in feature space; nan where a regression left what the kernel of the fit takes."""
        try:
            return self.expansion.squared_distances(rows, scores)
        except InputError:
            return np.array([self._error(rows[i : i + 1], scores[i : i + 1]) for i in range(len(rows))])

    def _error(self, row: HostArray, score: HostArray) -> float:
        try:
            return float(self.expansion.squared_distances(row, score)[0])
        except InputError:
            return float("nan")


def _solve_all(kernel: Kernel, lessons: _Lessons, alpha: float) -> HostArray:
    """Return  B = D (D K D + alpha)^-1 D X,  D being the roots of the counts: a row that counts zero takes no part."""
    roots = np.sqrt(lessons.counts)[:, None]
    K = _kernel(kernel, lessons.scores, lessons.scores)
    K *= roots
    K *= roots.T
    K.flat[:: len(K) + 1] += alpha
    return roots * _solved(K, roots * lessons.targets)


def _solve_few(kernel: Kernel, lessons: _Lessons, centers: HostArray, alpha: float) -> HostArray:
    squares = alpha * _kernel(kernel, centers, centers)
    right = np.zeros((len(centers), lessons.targets.shape[1]))
    for part in ranges(len(lessons.scores), STRIP):
        strip = _kernel(kernel, lessons.scores[part], centers)
        weighted = strip.T * lessons.counts[part]
        squares += weighted @ strip
        right += weighted @ lessons.targets[part]
    return _solved(squares, right)


def _solved(A: HostArray, B: HostArray) -> HostArray:
    """Solve A Z = B for symmetric A; where it is not safely positive definite, by its eigenvalues."""
    try:
        with warnings.catch_warnings():
            # LAPACK warns of a matrix near to singular: its answer would be rounding.
            warnings.simplefilter("error", LinAlgWarning)
            return np.asarray(solve(A, B, assume_a="pos", check_finite=False))
    except (LinAlgError, LinAlgWarning):
        values, Q = np.linalg.eigh(A)
        small = np.abs(values) <= len(A) * np.finfo(FLOAT64).eps * np.abs(values).max()
        inverses = np.where(small, 0.0, 1.0 / np.where(small, 1.0, values))
        return np.asarray(Q @ (inverses[:, None] * (Q.T @ B)))


def _kernel(kernel: Kernel, left: HostArray, right: HostArray) -> HostArray:
    ready = [kernel.prepare(block, dtype=FLOAT64) for block in (left, right)]
    return np.asarray(kernel.evaluate(*ready))
