"""How independent sources are, in nats, and which of them are too Gaussian to be told apart.

The mutual information of the white columns z falls, for s = W z, by  sum H(z_i) - sum H(s_i) + log|det W|: only
one-dimensional entropies are needed. They are estimated from spacings of the sorted values.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import log, pi
from typing import Any, NamedTuple

import numpy as np
from scipy.special import digamma, polygamma

from gramian.arrays.namespace import HostArray
from gramian.sources.rows import ranges, run_folds
from gramian.unmixing.contrast import LogCosh
from gramian.unmixing.thinning import thinned

GAUSSIAN_ENTROPY = 0.5 * (1.0 + log(2.0 * pi))
"""Entropy of a Gaussian of unit variance: the largest there is."""

LEAST_ROWS, LEAST_A_SOURCE = 50, 10
"""Rows, at least, and rows a source, from which anything is reported: fewer can be turned into sources of any shape."""

ALIKE = 6.0
"""Neighboring values of a source nearer than this over sqrt(N) deviations are one value of a discrete source: its
correlation with another, by chance up to 3 / sqrt(N), splits each of its values by twice that."""

ATOM, ATOM_SHARE = 0.25, 0.05
"""Width, in deviations, up to which alike values are one, and the share of the rows that two of them must have each
before a source counts as discrete: the bulk beside a few outliers is narrow too."""

BINS = 8
"""Classes of equal size into which each source is cut for the dependence of pairs."""

DEPENDENCE_ROWS = 20_000
"""Rows, at most, from which the dependence of pairs is measured."""

LOSS_NUMBERS = 1_000_000
"""Numbers, about, on which the entropies of two quarters' sources are compared: all of 100,000 rows of 10 sources."""

DEPENDENCE_PIECE = 2_000
"""Rows whose classes are counted at a time: the 8 k indicators of all of them would outweigh the rows."""


class Estimate(NamedTuple):
    """A number and its standard error."""

    value: float
    error: float


@dataclass(frozen=True, eq=False)
class Independence:
    """What the rows say about the sources.

    A discrete source has no density: where its values are seen to repeat its entropy is -inf, its negentropy inf, and
    the drop is not finite; where the error of W parts them, these are large, and so is the error of the drop. Of fewer
    than 50 rows, or 10 a source, nothing is known: every number is NaN.

    Attributes
    ----------
    drop, drop_error : float
        Mutual information, in nats, that unmixing took out of the white columns, and its error: two standard errors of
        the entropies it is computed from, and what the error of W costs at most (see :func:`loss_of`).
    negentropy, negentropy_error : numpy arrays (k,)
        Nats by which the entropy of each source, at unit variance, falls short of a Gaussian's; two standard errors.
    kurtosis : numpy array (k,)
        E[s^4] - 3: positive for peaked sources, negative for flat ones.
    dependence : numpy array (k, k)
        Mutual information of each pair, in nats, from eight classes each: what coarse classes see, so a lower bound
        up to its noise; zeros on the diagonal. Values of a discrete source that only the error of W parts are one.
    dependence_noise : float
        Value that a pair of independent sources stays under, 99 times of 100.
    gaussian : tuple of int
        Sources that cannot be told from a Gaussian; two or more of them are known only as a space.
    n_rows : int
        Rows that were looked at.
    """

    drop: float
    drop_error: float
    negentropy: HostArray
    negentropy_error: HostArray
    kurtosis: HostArray
    dependence: HostArray
    dependence_noise: float
    gaussian: tuple[int, ...]
    n_rows: int

    def __str__(self) -> str:
        """One line for all sources together, then one a source."""
        k = len(self.kurtosis)
        if self.n_rows < least_rows(k):
            few = f"{self.n_rows:,} rows are too few to tell how independent {k} sources are"
            return f"{few}: pass {least_rows(k):,} or more."
        first = f"Mutual information falls by {self.drop:.3f} +- {self.drop_error:.3f} nats ({self.n_rows:,} rows)."
        if not np.isfinite(self.drop):
            first = f"The fall of mutual information is not known: discrete columns ({self.n_rows:,} rows)."
        lines = [first, "source  negentropy            kurtosis  most dependent on", *map(self._line, range(k))]
        return "\n".join(lines)

    def _line(self, i: int) -> str:
        negentropy = f"{self.negentropy[i]:.3f} +- {self.negentropy_error[i]:.3f}"
        if not np.isfinite(self.negentropy[i]):
            negentropy = "discrete: no density"
        partner = int(np.argmax(self.dependence[i]))
        most = float(self.dependence[i, partner])
        dependence = f"{partner} ({most:.3f} nats)" if most > 0 else "none"
        mark = "  too Gaussian" if i in self.gaussian else ""
        return f"{i:6d}  {negentropy:<20}  {self.kurtosis[i]:8.2f}  {dependence}{mark}"


def least_rows(k: int) -> int:
    """Return the number of rows under which nothing is said about k sources.

    Examples
    --------
    >>> least_rows(2), least_rows(20)
    (50, 200)
    """
    return max(LEAST_ROWS, LEAST_A_SOURCE * k)


def _unmeasured(n: int, k: int) -> Independence:
    """Return the report on too few rows: NaN, and no source named."""
    unknown, pairs = np.full(k, np.nan), np.full((k, k), np.nan)
    return Independence(np.nan, np.nan, unknown, unknown, unknown, pairs, np.nan, (), n)


def _rounding(x: HostArray, eps: float) -> HostArray:
    """Return the rounding that numbers of a precision may have: equal sources of different rows differ by that much."""
    size = np.abs(x)
    rounding: HostArray = 8 * eps * (size + size.mean())
    return rounding


def entropy(values: HostArray) -> Estimate:
    """Estimate the differential entropy of numbers, in nats, from the spacings of the sorted ones.

    Computes  mean log(x_(i+m) - x_(i)) - digamma(m) + digamma(N + 1)  over the order statistics, m about N^(1/4): exact
    in the mean where the density is flat across m + 1 of them (Vasicek, 1976; Learned-Miller and Fisher, 2003). N times
    the variance is that of the log-density, plus  (2 m^2 - 2 m + 1) polygamma(1, m) - 2 m + 1  for the spacings.

    Cost: a sort; float32 numbers stay so, which is enough up to some 10^6 of them. Not for numbers that repeat: a
    discrete variable has the entropy -inf, and that is what comes out.

    Examples
    --------
    >>> import numpy as np
    >>> found = entropy(np.random.default_rng(0).uniform(0.0, 2.0, 10_000))
    >>> bool(abs(found.value - np.log(2.0)) < 3 * found.error + 1e-3)
    True
    """
    x = np.sort(values)
    n = len(x)
    m = max(1, round(n**0.25))
    if n <= 2 * m:
        return Estimate(np.nan, np.inf)
    spacings = x[m:] - x[:-m]
    eps = float(np.finfo(np.result_type(values, np.float32)).eps)
    if np.count_nonzero(spacings <= _rounding(x[m:], eps)) > 0.01 * n:
        return Estimate(-np.inf, np.inf)
    least = np.finfo(x.dtype).eps * (x[-1] - x[0]) / n
    logs = np.log(np.maximum(spacings, least, out=spacings), out=spacings)
    noise = float(polygamma(1, m))
    own = max(float(logs.var(dtype=np.float64)) - noise, 0.0) + (2 * m * m - 2 * m + 1) * noise - 2 * m + 1
    return Estimate(float(logs.mean(dtype=np.float64) - digamma(m) + digamma(n + 1)), float(np.sqrt(own / n)))


def measure_independence(z: HostArray, W: HostArray, quarters: Sequence[HostArray] = ()) -> Independence:
    """Measure how independent the sources  s = W z  of white rows z (N, k) are.

    ``quarters`` are the W that quarters of the rows give by themselves: without them the error of the drop leaves out
    that of W.  Cost: 2 k sorts of N numbers, k more a quarter, and 64 k^2 operations a row for the pairs, of at most
    20,000 rows.

    Examples
    --------
    >>> import numpy as np
    >>> s = np.random.default_rng(0).uniform(-np.sqrt(3), np.sqrt(3), (20_000, 2))
    >>> turn = np.array([[0.6, 0.8], [-0.8, 0.6]])
    >>> found = measure_independence(s @ turn, turn)
    >>> found.gaussian, bool(found.drop > 0.1)
    ((), True)
    """
    k = len(W)
    if len(z) < least_rows(k):
        return _unmeasured(len(z), k)
    found: list[_Column] = run_folds(range(k), partial(_fold_column, z, W), _chain)
    before, after = [column.before for column in found], [column.after for column in found]
    scale = np.array([column.scale for column in found])
    few = z[thinned(len(z), -(-len(z) // DEPENDENCE_ROWS))] @ W.T.astype(z.dtype)
    limit = gaussian_limit(k)
    return Independence(
        drop=sum(e.value for e in before) - sum(e.value for e in after) + float(np.linalg.slogdet(W)[1]),
        drop_error=2 * float(np.sqrt(sum(e.error**2 for e in (*before, *after)))) + loss_of(z, W, quarters),
        negentropy=(negentropy := GAUSSIAN_ENTROPY + np.log(scale) - np.array([e.value for e in after])),
        negentropy_error=2 * np.array([e.error for e in after]),
        kurtosis=np.array([column.kurtosis for column in found]),
        dependence=pairwise_dependence(few),
        dependence_noise=_dependence_noise(len(few)),
        gaussian=tuple(
            j
            for j in range(k)
            if abs(found[j].kappa.value) <= limit * found[j].kappa.error and negentropy[j] <= 2 * limit * after[j].error
        ),
        n_rows=len(z),
    )


def loss_of(z: HostArray, W: HostArray, quarters: Sequence[HostArray]) -> float:
    """Return the nats, at most, by which a drop falls short because W is known from N rows only.

    The angles of a W found from a quarter of the rows are twice as uncertain. What they cost more, d nats, is measured
    on the same rows. A cost that grows like the angle, as for sources with edges, then is d for all rows; like its
    square, as for smooth densities, it is d / 3. The first is taken, and to it two deviations of a sum of one angle a
    pair, found once and estimated twice.
    """
    if not quarters:
        return 0.0
    z = z[thinned(len(z), max(1, len(z) * len(W) // LOSS_NUMBERS))]
    whole, *others = (_left(z, matrix) for matrix in (W, *quarters))
    pairs = max(1, len(W) * (len(W) - 1) // 2)
    return max(0.0, float(np.mean(others)) - whole) * (1.0 + 2.0 / float(np.sqrt(pairs)))


def _left(z: HostArray, W: HostArray) -> float:
    """Return the sum of the sources' entropies less log|det W|: the mutual information that is left, but a constant."""
    entropies = run_folds(range(len(W)), partial(_fold_entropy, z, W), _chain)
    return float(sum(entropies)) - float(np.linalg.slogdet(W)[1])


def _fold_entropy(z: HostArray, W: HostArray, state: list[float] | None, j: int) -> list[float]:
    return [*(state or []), entropy(z @ W[j].astype(z.dtype)).value]


class _Column(NamedTuple):
    """What is known of white column j and of source j."""

    before: Estimate
    after: Estimate
    scale: float
    kurtosis: float
    kappa: Estimate


def _fold_column(z: HostArray, W: HostArray, state: list[_Column] | None, j: int) -> list[_Column]:
    """Measure one column and one source: they alone are in memory beside the white rows."""
    s = z @ W[j].astype(z.dtype)
    # A source that does not vary has no density in any unit.
    mean, scale = float(s.mean(dtype=np.float64)), float(s.std(dtype=np.float64)) or 1.0
    before, after = entropy(z[:, j]), entropy(s)
    s -= s.dtype.type(mean)
    s /= s.dtype.type(scale)
    squares = s * s
    kurtosis = float(np.mean(np.multiply(squares, squares, out=squares), dtype=np.float64) - 3.0)
    del squares
    column = _Column(before, after, scale, kurtosis, _nongaussianity(s))
    return [*(state or []), column]


def _chain(left: list[Any], right: list[Any]) -> list[Any]:
    return left + right


def gaussian_limit(k: int) -> float:
    """Return how many standard errors from zero the nonlinear moment of a Gaussian source may be.

    Unmixing looks for the least Gaussian directions, so among k Gaussian columns the moment that it finds is larger
    than that of one direction drawn at random: 1.6, 3.2, 4.7 and 7.0 errors for 2, 5, 10 and 20 columns of 10,000 rows.
    """
    return 2.0 + 1.3 * float(np.sqrt(k))


def _nongaussianity(s: HostArray) -> Estimate:
    """Return  kappa = E[psi'(s) - psi(s) s],  zero for a Gaussian, and the standard error it has for one (log cosh)."""
    psi, slope = LogCosh().evaluate(s)
    mean_slope = slope.mean(dtype=np.float64)
    terms = np.subtract(slope, np.multiply(psi, s, out=psi), out=slope)
    # Sources were divided by their own deviation: for a Gaussian that moves kappa by -E[psi'] times the change of s^2.
    noise = np.multiply(s, s, out=psi) * s.dtype.type(mean_slope) + terms
    return Estimate(float(terms.mean(dtype=np.float64)), float(noise.std(dtype=np.float64) / np.sqrt(len(s))))


def pairwise_dependence(s: HostArray) -> HostArray:
    """Return the mutual information of each pair of columns, in nats, from eight classes of equal size each (k, k).

    Computes  sum p_ab log(p_ab / (p_a p_b))  less the mean  (a - 1) (b - 1) / 2N  that independent columns of a and b
    classes would give: eight, or fewer where a column is discrete (see :func:`merged`).  Cost: 2 N (8 k)^2 operations.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.random.default_rng(0).standard_normal(20_000)
    >>> pairwise_dependence(np.column_stack([x, x**2])).round(1)[0, 1] > 0.5
    np.True_
    """
    s = np.column_stack([merged(column) for column in s.T])
    n, k = s.shape
    joint = _joint_counts(_classes(s), k) / n
    single = np.diagonal(joint)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(joint > 0, joint * np.log(joint / (single[:, None] * single[None, :])), 0.0)
    free = (single.reshape(k, BINS) > 0).sum(axis=1) - 1
    information = terms.reshape(k, BINS, k, BINS).sum(axis=(1, 3)) - np.outer(free, free) / (2 * n)
    np.fill_diagonal(information, 0.0)
    dependence: HostArray = np.maximum(information, 0.0)
    return dependence


def _classes(s: HostArray) -> HostArray:
    """Return which of the 8 k classes each value is in: eight of equal size a column (n, k)."""
    classes = np.empty(s.shape, dtype=np.int32)
    for j in range(s.shape[1]):
        edges = np.quantile(s[:, j], np.arange(1, BINS) / BINS)
        classes[:, j] = np.searchsorted(edges, s[:, j]) + BINS * j
    return classes


def _joint_counts(classes: HostArray, k: int) -> HostArray:
    """Count the rows that are in each pair of classes (8 k, 8 k), by products of a few rows at a time."""
    counts = np.zeros((BINS * k, BINS * k))
    for part in ranges(len(classes), DEPENDENCE_PIECE):
        member = np.zeros((len(classes[part]), BINS * k), dtype=np.float32)
        np.put_along_axis(member, classes[part], 1.0, axis=1)
        counts += member.T @ member
    return counts


def _dependence_noise(n: int) -> float:
    """Return the 99% point of the estimate for independent columns: a chi-square of 49 over 2N, less its mean."""
    return (74.92 - (BINS - 1) ** 2) / (2 * n)


def merged(values: HostArray) -> HostArray:
    """Return values with those of a discrete source that only the error of W parts made equal; others as they are.

    Sorted values up to  6 / sqrt(N)  deviations apart make a run, and runs up to a quarter deviation wide are set to
    their mean, where two or more of them hold a twentieth of the rows each.  Cost: a sort. Rare far values, such as the
    ones of a coin that shows them once in fifty, part the values of another source further than that.

    Examples
    --------
    >>> import numpy as np
    >>> coins = np.random.default_rng(0).integers(0, 2, (1000, 2)).astype(float)
    >>> split = coins[:, 0] + 0.02 * coins[:, 1]
    >>> len(np.unique(split)), len(np.unique(merged(split)))
    (4, 2)
    """
    order = np.argsort(values, kind="stable")
    x, scale = values[order].astype(np.float64), float(values.std())
    starts = np.flatnonzero(np.diff(x, prepend=-np.inf) > ALIKE / np.sqrt(len(x)) * scale)
    counts = np.diff(starts, append=len(x))
    atoms = x[starts + counts - 1] - x[starts] <= ATOM * scale
    if np.count_nonzero(atoms & (counts >= ATOM_SHARE * len(x))) < 2:
        return values
    means = np.add.reduceat(x, starts) / counts
    result: HostArray = np.empty_like(x)
    result[order] = np.where(np.repeat(atoms, counts), np.repeat(means, counts), x)
    return result
