"""How independent sources are, in nats, and which of them are too Gaussian to be told apart.

The mutual information of the white columns z falls, for s = W z, by  sum H(z_i) - sum H(s_i) + log|det W|: only
one-dimensional entropies are needed. In this order: the entropy of numbers, from the spacings of the sorted ones; the
dependence of pairs of sources, from classes of equal size; what unmixing makes of Gaussian noise; and the report.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from math import log, pi
from typing import Any, NamedTuple

import numpy as np
from scipy.special import digamma, polygamma

from gramian.arrays.namespace import HostArray
from gramian.sources.rows import ranges, run_each
from gramian.unmixing.white_rows import thinned

GAUSSIAN_ENTROPY = 0.5 * (1.0 + log(2.0 * pi))
"""Entropy of a Gaussian of unit variance: the largest there is."""

REPEATED_SHARE = 0.01
"""Share of the spacings that may be no more than rounding before the numbers count as discrete."""

TAILS, HIDDEN = 0.8, 120.0
"""Measured: how much too small tails make an entropy, in  m log(N) / N,  and the variance they hide, in 1 / N."""

COARSE, CLUMPED = 8, 0.2
"""Spacings so many times as wide must give the same entropy: where it is larger by more nats than this, the numbers lie
in clumps, as those of a discrete variable do that something small has parted."""


class Estimate(NamedTuple):
    """A number, its standard error, and what else it may be too small by."""

    value: float
    error: float
    bias: float = 0.0


def entropy(values: HostArray) -> Estimate:
    """Estimate the differential entropy of numbers, in nats, from the spacings of the sorted ones.

    Computes  mean log(x_(i+m) - x_(i)) - digamma(m) + digamma(N + 1)  over the order statistics, m about N^(1/4): exact
    in the mean where the density is flat across m + 1 of them (Vasicek, 1976; Learned-Miller and Fisher, 2003). N times
    the variance is that of the log-density, plus  (2 m^2 - 2 m + 1) polygamma(1, m) - 2 m + 1  for the spacings.

    Tails, across whose spacings the density is not flat, make the value too small. Over 600 draws of Gaussian, Laplace
    and t(3) numbers by 2.4, 3.1, 3.4 times m / N at N = 100, by 3.9, 5.1, 5.4 at 1,000 and 5.6, 7.0, 7.0 at 10,000:
    0.8 log N covers these and is the ``bias`` stated, less where the log-density hardly varies, as for uniform numbers.
    They hide part of its variance too, a half at N = 100 and a fifth at 1,000, which is added again.

    Cost: a sort; float32 numbers stay so, which is enough up to some 10^6 of them. Not for numbers that repeat: a
    discrete variable has the entropy -inf, and that is what comes out; where its values are parted a little, the error
    is infinite.

    Examples
    --------
    >>> import numpy as np
    >>> found = entropy(np.random.default_rng(0).uniform(0.0, 2.0, 10_000))
    >>> bool(abs(found.value - np.log(2.0)) < 3 * found.error + 1e-3)
    True
    """
    n = len(values)
    m = max(1, round(n**0.25))
    if n <= 2 * m:
        return Estimate(np.nan, np.inf)
    x = np.sort(values)
    spacings = x[m:] - x[:-m]
    # Two roundings of the largest number, the most that there can be: mostly no spacing is that small.
    tiny = np.count_nonzero(spacings <= 2 * _rounding(x.dtype) * max(abs(float(x[0])), abs(float(x[-1]))))
    if tiny > REPEATED_SHARE * n and _repeat(x[m:], spacings):
        return Estimate(-np.inf, np.inf)
    if tiny:
        np.maximum(spacings, np.finfo(x.dtype).eps * (x[-1] - x[0]) / n, out=spacings)
    logs = np.log(spacings, out=spacings)
    mean = logs.mean()
    logs -= mean
    bias, noise = _of_spacings(n, m)
    varies = max(float(logs @ logs) / len(logs) - noise, 0.0) * (1.0 + HIDDEN / n)
    own = varies + (2 * m * m - 2 * m + 1) * noise - 2 * m + 1
    error = np.inf if _coarse(x, m) - (float(mean) - bias) > CLUMPED else float(np.sqrt(own / n))
    return Estimate(float(mean) - bias, error, TAILS * m / n * log(n) * min(1.0, 2.0 * varies))


def _coarse(x: HostArray, m: int) -> float:
    """Return the entropy of sorted numbers from some of their wider spacings."""
    n, wide = len(x), min(COARSE * m, len(x) // 4)
    step = max(1, wide // 4)
    spacings = x[wide::step] - x[:-wide:step]
    smallest = max(float(spacings.max()) * float(np.finfo(x.dtype).eps), float(np.finfo(x.dtype).tiny))
    return float(np.log(np.maximum(spacings, smallest)).mean()) - _of_spacings(n, wide)[0]


@lru_cache(maxsize=256)  # Keyed by numbers of rows, of which a long process meets any number.
def _of_spacings(n: int, m: int) -> tuple[float, float]:
    """Return mean and variance of the log of a spacing of m among n numbers whose density is one."""
    return float(digamma(m) - digamma(n + 1)), float(polygamma(1, m))


def _rounding(dtype: Any) -> float:
    """Return the relative rounding that numbers of a precision may have: equal sources of different rows differ so."""
    return 8 * float(np.finfo(dtype).eps)


def _repeat(x: HostArray, spacings: HostArray) -> bool:
    """Tell whether more sorted numbers than a few are equal to others but for rounding."""
    size = np.abs(x)
    tiny = np.count_nonzero(spacings <= _rounding(x.dtype) * (size + size.mean()))
    return bool(tiny > REPEATED_SHARE * len(x))


ATOM, ATOM_SHARE = 0.25, 0.05
"""Width, in deviations, up to which alike values are one, and the share of the rows that two of them must have each
before a source counts as discrete: the bulk of a column with a few outliers is narrow too."""

BINS = 8
"""Classes of equal size into which each source is cut."""

GROUP = 8
"""Sources that are counted against all later ones at a time: all pairs at once would take (8 k)^2 numbers."""

PIECE_NUMBERS = 1 << 15
"""Indicators of classes, about, that are in memory at a time."""


def pairwise_dependence(s: HostArray) -> HostArray:
    """Return the mutual information of each pair of columns, in nats, from eight classes of equal size each (k, k).

    Computes  sum p_ab log(p_ab / (p_a p_b))  less the mean  (a - 1) (b - 1) / 2N  that independent columns of a and b
    classes would give: eight, or fewer where a column is discrete (see :func:`merged`).  Cost: a sort per column, and
    N (8 k)^2 operations.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.random.default_rng(0).standard_normal(20_000)
    >>> pairwise_dependence(np.column_stack([x, x**2])).round(1)[0, 1] > 0.5
    np.True_
    """
    columns, cuts = s.T, [_cut(column) for column in s.T]
    if any(values is not None for values, _ in cuts):
        columns = np.array([old if new is None else new for old, (new, _) in zip(columns, cuts, strict=True)])
    edges = np.array([edges for _, edges in cuts])
    parts = run_each(ranges(len(columns), GROUP), partial(_dependence_of_group, columns, edges))
    upper = np.triu(np.vstack(parts), 1)
    dependence: HostArray = np.maximum(upper + upper.T, 0.0)
    return dependence


def dependence_noise(n: int) -> float:
    """Return the 99% point of the estimate for independent columns: a chi-square of 49 over 2N, less its mean."""
    return (74.92 - (BINS - 1) ** 2) / (2 * n)


def _cut(values: HostArray) -> tuple[HostArray | None, HostArray]:
    """Return the merged values of a column where it is discrete, and the lower edges of its classes."""
    x, new = np.sort(values), None
    if is_discrete(x):
        new = merged(values)
        x = np.sort(new)
    edges = x[((len(x) - 1) * np.arange(BINS)) // BINS]
    edges[0] = -np.inf
    return new, edges


def _dependence_of_group(columns: HostArray, edges: HostArray, group: slice) -> HostArray:
    """Measure some sources against all that do not come before them; what comes before is left zero."""
    k, n = columns.shape
    above = _counts_above(columns[group.start :], edges[group.start :], group.stop - group.start)
    # Above an edge and not above the next one is in the class between them.
    joint = np.diff(np.diff(above, axis=1, append=0.0), axis=3, append=0.0) / n
    first, second = joint.sum(axis=(2, 3)) / joint.shape[2], joint.sum(axis=(0, 1)) / joint.shape[0]
    logs = first[:, :, None, None] * second
    with np.errstate(divide="ignore", invalid="ignore"):
        np.log(np.divide(joint, logs, out=logs), out=logs)
    # An empty class adds nothing, and its logarithm is not finite.
    logs[joint == 0] = 0.0
    joint *= logs
    free = [(single > 0).sum(axis=1) - 1 for single in (first, second)]
    information = np.zeros((len(first), k))
    information[:, group.start :] = joint.sum(axis=(1, 3)) - np.outer(*free) / (2 * n)
    return information


def _counts_above(columns: HostArray, edges: HostArray, g: int) -> HostArray:
    """Count the rows above each edge of the first g columns and each edge of all of them (g, 8, k, 8)."""
    k, n = columns.shape
    counts, step = np.zeros((g * BINS, k * BINS)), min(n, max(64, PIECE_NUMBERS // (k * BINS)))
    room = np.empty((k, BINS, step), dtype=np.float32)
    for part in ranges(n, step):
        piece = columns[:, None, part]
        above = np.greater(piece, edges[:, :, None], out=room[:, :, : piece.shape[2]]).reshape(k * BINS, -1)
        counts += above[: g * BINS] @ above.T
    return counts.reshape(g, BINS, k, BINS)


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
    x = values[order]
    if not is_discrete(x):
        return values
    starts, counts, atoms = _runs(x)
    means = np.add.reduceat(x.astype(np.float64), starts) / counts
    result: HostArray = np.empty_like(x)
    result[order] = np.where(np.repeat(atoms, counts), np.repeat(means, counts), x)
    return result


def is_discrete(x: HostArray) -> bool:
    """Tell whether two narrow runs of sorted values, or more, hold a twentieth of the rows each."""
    _, counts, atoms = _runs(x)
    return bool(np.count_nonzero(atoms & (counts >= ATOM_SHARE * len(x))) >= 2)


def _runs(x: HostArray) -> tuple[HostArray, HostArray, HostArray]:
    """Return where runs of alike values begin among sorted ones, how many each has, and which are narrow."""
    scale = float(x.std())
    # Neighboring values of a source nearer than this over sqrt(N) deviations are one value of a discrete source: its
    # correlation with another, by chance up to 3 / sqrt(N), splits each of its values by twice that.
    starts = np.flatnonzero(np.diff(x, prepend=-np.inf) > 6.0 / np.sqrt(len(x)) * scale)
    counts = np.diff(starts, append=len(x))
    return starts, counts, x[starts + counts - 1] - x[starts] <= ATOM * scale


CLEAR_KAPPA, KAPPA_NOISE = 0.13, 1.2
"""The moment kappa of a uniform source, that of a Laplace one being larger, and two deviations of it for a Laplace
source, times sqrt(n)."""


class GaussianLimits(NamedTuple):
    """How far from zero the moments of a Gaussian source may be found."""

    kappa: float
    kurtosis: float
    negentropy: float


def gaussian_limits(n: int, k: int) -> GaussianLimits:
    """Return what unmixing makes at most of Gaussian noise: of kappa = E[psi'(s) - psi(s) s], psi = tanh, and others.

    It looks for the least Gaussian directions, so what it finds among k Gaussian columns of n rows is larger than what
    one direction drawn at random shows, and grows like sqrt(k / n). The formulas lie just above the 99% points over
    sources of fits to Gaussian noise, here times sqrt(n), next to the 1% points of Laplace and uniform sources::

        ==========  ======================  ======================  ======================
        k x n       kappa: Gauss, L, U      kurtosis: Gauss, L, U   negentropy: Gauss, L, U
        ==========  ======================  ======================  ======================
        2 x 200     0.87   0.96   1.45      15     13    15         1.39   0.83   1.76
        5 x 500     1.36   2.10   2.29      16     24    24         1.40   1.43   2.60
        10 x 1,000  1.81   3.46   3.57      31     44    36         1.38   2.11   4.25
        20 x 1,000  2.52   3.46   3.59      47     48    36         1.82   1.81   3.59
        20 x 5,000  2.54   9.20   8.45      34    152    83         1.19   4.62  10.40
        10 x 100    1.88   0.78   0.84      42      8     8         2.27   0.55   0.51
        50 x 500    4.07   2.04   2.36     147     19    21         3.40   1.34   1.46
        ==========  ======================  ======================  ======================

    Examples
    --------
    >>> [round(float(limit), 2) for limit in gaussian_limits(10_000, 4)]
    [0.01, 0.2, 0.01]
    """
    root, crowd = float(np.sqrt(n)), k / n
    return GaussianLimits(
        kappa=(0.3 + 0.55 * float(np.sqrt(k))) / root,
        kurtosis=(9.0 + 5.5 * float(np.sqrt(k))) * (1.0 + 20.0 * crowd) / root,
        negentropy=(0.7 + 3.5 * float(n**-0.25)) * (1.0 + 30.0 * crowd) / root,
    )


def can_tell(n: int, k: int) -> bool:
    """Tell whether n rows part k uniform or Laplace sources from Gaussian ones.

    Their kappa, less two deviations of it, must be more than unmixing makes of Gaussian noise.

    Examples
    --------
    >>> can_tell(100, 10), can_tell(1000, 10)
    (False, True)
    """
    return gaussian_limits(n, k).kappa + KAPPA_NOISE / float(np.sqrt(n)) <= CLEAR_KAPPA


def look_gaussian(kappa: HostArray, n: int, k: int) -> HostArray:
    """Tell which of the moments  E[psi'(s) - psi(s) s],  psi = tanh, over n rows a Gaussian among k sources may have.

    Examples
    --------
    >>> import numpy as np
    >>> look_gaussian(np.array([0.001, 0.1]), 10_000, 4)
    array([ True, False])
    """
    alike: HostArray = np.abs(kappa) <= gaussian_limits(n, k).kappa
    return alike


def _nongaussianity(s: HostArray) -> float:
    """Return  kappa = E[psi'(s) - psi(s) s],  psi = tanh: zero for a Gaussian. Here s has unit variance."""
    psi = np.tanh(s)
    return float((1.0 - psi * psi).mean() - (psi @ s) / len(s))


LEAST_ROWS, LEAST_A_SOURCE = 50, 10
"""Rows, and rows per source, from which anything is reported: fewer can be turned into sources of any shape."""

SURE, SURE_EACH = 1.0, 1.5
"""What the largest cost of four parts is multiplied by for all sources and for one, so that nine of ten drops and
negentropies, at least, are within their errors: fewer angles add up for one source, and the largest varies more."""

DEPENDENCE_ROWS, DEPENDENCE_NUMBERS = 10_000, 250_000
"""Rows, at most, and numbers, about, from which the dependence of pairs is measured."""


@dataclass(frozen=True, eq=False)
class Independence:
    """What the rows say about the sources.

    A discrete source has no density: where its values are seen to repeat its entropy is -inf, its negentropy inf, and
    the drop is not finite; where the error of W parts them, these are large, and their errors infinite. Of fewer
    than 50 rows, or 10 per source, nothing is known: every number is NaN.

    Attributes
    ----------
    drop, drop_error : float
        Mutual information, in nats, that unmixing took out of the white columns, and its error: two standard errors of
        the entropies it is computed from, their bias, and what the error of W costs, found by unmixing parts of the
        rows; infinite, for unknown, of fewer than 40 rows per source.
    negentropy, negentropy_error : numpy arrays (k,)
        Nats by which the entropy of each source, at unit variance, falls short of a Gaussian's; the same kind of error.
    kurtosis : numpy array (k,)
        E[s^4] - 3: positive for peaked sources, negative for flat ones.
    dependence : numpy array (k, k)
        Mutual information of each pair, in nats, from eight classes each: what coarse classes see, so a lower bound
        up to its noise; zeros on the diagonal. Values of a discrete source that only the error of W parts are one.
    dependence_noise : float
        Value that a pair of independent sources stays under, 99 times of 100.
    gaussian : tuple of int
        Positions, from 0, of sources that cannot be told from a Gaussian: kurtosis, negentropy and the contrast are
        no larger than unmixing makes of Gaussian noise. Two or more of them are known only as a space. Whether so few
        rows could tell is in ``can_tell``.
    n_rows : int
        Rows that all this was measured on: a sample of those of the fit where they are many.
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

    @property
    def can_tell(self) -> bool:
        """Whether the rows are enough to tell uniform or Laplace sources, so many of them, from Gaussian ones."""
        return can_tell(self.n_rows, len(self.kurtosis))

    def doubt(self, names: str) -> str:
        """Return the sentence on the sources, so named, that cannot be told from Gaussian ones."""
        if self.can_tell:
            return f"{names} are too Gaussian to be told apart: only the space that they span is known."
        return f"These {self.n_rows:,} rows cannot tell {names} from Gaussian sources, whatever they are."

    def __str__(self) -> str:
        """One line for all sources together, then one per source where the rows are enough."""
        k = len(self.kurtosis)
        if self.n_rows < least_rows(k):
            return self.summary
        header = "source  negentropy            kurtosis  most dependent on"
        return "\n".join([self.summary, header, *map(self._line, range(k))])

    @property
    def summary(self) -> str:
        """One line for all sources together."""
        least = least_rows(len(self.kurtosis))
        if self.n_rows < least:
            few = f"{self.n_rows:,} rows are too few to tell how independent {len(self.kurtosis)} sources are"
            return f"{few}: pass {least:,} or more."
        if not np.isfinite(self.drop):
            return f"The fall of mutual information is not known: discrete columns ({self.n_rows:,} rows)."
        if np.isfinite(self.drop_error):
            return f"Mutual information falls by {self.drop:.3f} +- {self.drop_error:.3f} nats ({self.n_rows:,} rows)."
        why = "rows are few, or values repeat"
        return f"Mutual information falls by some {self.drop:.1f} nats ({self.n_rows:,} rows), of unknown error: {why}."

    def _line(self, i: int) -> str:
        negentropy = _with_error(self.negentropy[i], self.negentropy_error[i])
        if not np.isfinite(self.negentropy[i]):
            negentropy = "discrete: no density"
        partner = int(np.argmax(self.dependence[i]))
        most = float(self.dependence[i, partner])
        dependence = f"{source_name(partner)} ({most:.3f} nats)" if most > 0 else "none"
        words = "too Gaussian" if self.can_tell else "so few rows cannot tell it from a Gaussian"
        mark = f"  {words}" if i in self.gaussian else ""
        return f"{source_name(i):<6}  {negentropy:<20}  {self.kurtosis[i]:8.2f}  {dependence}{mark}"


def _with_error(value: float, error: float) -> str:
    return f"{value:.3f} +- {error:.3f}" if np.isfinite(error) else f"{value:.3f} +- unknown"


def source_name(index: int) -> str:
    """Name of the source at a position counted from zero, wherever a person reads of it.

    Examples
    --------
    >>> source_name(0)
    'IC1'
    """
    return f"IC{index + 1}"


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


def measure_independence(
    z: HostArray, W: HostArray, parts: Sequence[HostArray] = (), *, fewer: float = 4.0
) -> Independence:
    """Measure how independent the sources  s = W z  of white rows z (N, k) are.

    ``parts`` are the W that ``fewer`` times fewer rows give by themselves: without them the errors leave out that
    of W.  Cost: 2 k sorts of N numbers, k more per part, and 64 k^2 operations per row for the pairs, of at most
    10,000 rows.

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
    found: list[_Column] = run_each(range(k), partial(_measured, z, W))
    few = _few(z, W)
    before, after = [column.before for column in found], _with_atoms([column.after for column in found], few)
    scale = np.array([column.scale for column in found])
    each = np.array([e.value for e in after]) - np.log(scale)
    lost, lost_each = _lost(z, sum(e.value for e in after) - _log_volume(W), each, parts, fewer)
    return Independence(
        drop=sum(e.value for e in before) - sum(e.value for e in after) + _log_volume(W),
        drop_error=_twice([*before, *after]) + _bias(before, after) + lost,
        negentropy=(negentropy := GAUSSIAN_ENTROPY - each),
        negentropy_error=np.array([_twice([e]) + e.bias for e in after]) + lost_each,
        kurtosis=np.array([column.kurtosis for column in found]),
        dependence=pairwise_dependence(few),
        dependence_noise=dependence_noise(len(few)),
        gaussian=_alike(found, negentropy, gaussian_limits(len(z), k)),
        n_rows=len(z),
    )


def _with_atoms(after: Sequence[Estimate], few: HostArray) -> list[Estimate]:
    """Return the entropies of sources with an infinite error where they are discrete but for the error of W."""
    atoms = [is_discrete(np.sort(column)) for column in few.T]
    return [e._replace(error=np.inf) if atom else e for e, atom in zip(after, atoms, strict=True)]


def _bias(before: Sequence[Estimate], after: Sequence[Estimate]) -> float:
    """Return the most that biases of both sides leave in their difference: each is 0.4 to 1 times the one stated."""
    first, second = (sum(e.bias for e in side) for side in (before, after))
    return max(first - 0.4 * second, second - 0.4 * first)


def _twice(estimates: Sequence[Estimate]) -> float:
    """Return two standard errors of the sum of estimates."""
    return 2 * float(np.sqrt(sum(e.error**2 for e in estimates)))


def _alike(found: Sequence["_Column"], negentropy: HostArray, limits: GaussianLimits) -> tuple[int, ...]:
    """Return the sources that no measure tells from a Gaussian."""
    return tuple(
        j
        for j, column in enumerate(found)
        if abs(column.kappa) <= limits.kappa
        and abs(column.kurtosis) <= limits.kurtosis
        and negentropy[j] <= limits.negentropy
    )


def _log_volume(W: HostArray) -> float:
    return float(np.linalg.slogdet(W)[1])


def _lost(
    z: HostArray, own: float, own_each: HostArray, parts: Sequence[HostArray], fewer: float
) -> tuple[float, HostArray]:
    """Return the nats, at most, by which the drop and each negentropy fall short because W is known from N rows only.

    ``own`` is the entropy of all sources less log|det W|, ``own_each`` that of each at unit variance.

    The angles of a W found from ``fewer`` times fewer rows are  r = sqrt(fewer)  times as uncertain, and so is what
    they cost where it grows like the angle, as for sources with edges; like its square, as for smooth densities, more.
    The cost of a part is measured on the same rows: the entropy it leaves, above the least that any W leaves. The
    largest over four parts, of twice the uncertainty, covers what W costs (see :data:`SURE`).
    """
    k = len(own_each)
    if not parts:
        return 0.0, np.zeros(k)
    rows = np.vstack(parts).astype(z.dtype)
    found = np.array(run_each(list(rows), partial(_entropy_along, z))).reshape(-1, k, 2)
    totals = found[:, :, 0].sum(axis=1) - [_log_volume(part) for part in parts]
    each = found[:, :, 0] - np.log(found[:, :, 1])
    share = 2.0 / float(np.sqrt(fewer))
    return SURE * share * float(_range(totals, own)), SURE_EACH * share * _range(each, own_each)


def _range(theirs: HostArray, own: Any) -> HostArray:
    """Return the largest of theirs less the least of all; infinite where one is not finite."""
    known = np.isfinite(theirs).all(axis=0) & np.isfinite(own)
    least = np.where(known, np.minimum(own, theirs.min(axis=0)), 0.0)
    return np.where(known, theirs.max(axis=0) - least, np.inf)


def _few(z: HostArray, W: HostArray) -> HostArray:
    """Return the sources of a sample for the pairs; the values of a source lie side by side in memory."""
    step = max(-(-len(z) // DEPENDENCE_ROWS), len(z) * len(W) // DEPENDENCE_NUMBERS)
    few: HostArray = (W.astype(z.dtype) @ z[thinned(len(z), step)].T).T
    return few


def _entropy_along(z: HostArray, row: HostArray) -> tuple[float, float]:
    """Measure the entropy and the deviation of the source of one row of W."""
    s = z @ row
    return entropy(s).value, float(s.std()) or 1.0


class _Column(NamedTuple):
    """What is known of white column j and of source j."""

    before: Estimate
    after: Estimate
    scale: float
    kurtosis: float
    kappa: float


def _measured(z: HostArray, W: HostArray, j: int) -> _Column:
    """Measure column j and source j: they alone are in memory, apart from the white rows."""
    s = z @ W[j].astype(z.dtype)
    before, after = entropy(z[:, j]), entropy(s)
    s -= s.mean()
    # A source that does not vary has no density in any unit.
    scale = float(np.sqrt(s @ s / len(s))) or 1.0
    s /= s.dtype.type(scale)
    squares = s * s
    kurtosis = float(squares @ squares) / len(s) - 3.0
    return _Column(before, after, scale, kurtosis, _nongaussianity(s))
