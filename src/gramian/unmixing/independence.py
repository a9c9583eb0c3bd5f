"""How independent sources are, in nats, and which of them are too Gaussian to be told apart.

The mutual information of the white columns z falls, for s = W z, by  sum H(z_i) - sum H(s_i) + log|det W|: only
one-dimensional entropies are needed. They are estimated from spacings of the sorted values.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from operator import concat
from typing import Any, NamedTuple

import numpy as np

from gramian.arrays.namespace import HostArray
from gramian.sources.rows import ranges, run_folds, worker_count
from gramian.unmixing.dependence import dependence_noise, is_discrete, pairwise_dependence
from gramian.unmixing.entropy import GAUSSIAN_ENTROPY, Estimate, entropy
from gramian.unmixing.thinning import thinned_rows

LEAST_ROWS, LEAST_A_SOURCE = 50, 10
"""Rows, at least, and rows a source, from which anything is reported: fewer can be turned into sources of any shape."""

CLEAR_KAPPA, KAPPA_NOISE = 0.13, 1.2
"""The moment kappa of a uniform source, that of a Laplace one being larger, and two deviations of it for a Laplace
source, times sqrt(n)."""

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
    than 50 rows, or 10 a source, nothing is known: every number is NaN.

    Attributes
    ----------
    drop, drop_error : float
        Mutual information, in nats, that unmixing took out of the white columns, and its error: two standard errors of
        the entropies it is computed from, their bias, and what the error of W costs, found by unmixing parts of the
        rows; infinite, for unknown, of fewer than 40 rows a source.
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
        """One line for all sources together, then one a source."""
        k = len(self.kurtosis)
        if self.n_rows < least_rows(k):
            few = f"{self.n_rows:,} rows are too few to tell how independent {k} sources are"
            return f"{few}: pass {least_rows(k):,} or more."
        lines = [self._fall(), "source  negentropy            kurtosis  most dependent on", *map(self._line, range(k))]
        return "\n".join(lines)

    def _fall(self) -> str:
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
    of W.  Cost: 2 k sorts of N numbers, k more a part, and 64 k^2 operations a row for the pairs, of at most
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
    found: list[_Column] = run_folds(_shares(k), partial(_fold_columns, z, W), concat)
    few = _few(z, W)
    before, after = [column.before for column in found], _with_atoms([column.after for column in found], few)
    scale = np.array([column.scale for column in found])
    each = np.array([e.value for e in after]) - np.log(scale)
    lost, lost_each = _lost(z, _Entropies(sum(e.value for e in after) - _log_volume(W), each), parts, fewer)
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


def _alike(found: Sequence["_Column"], negentropy: HostArray, limits: "GaussianLimits") -> tuple[int, ...]:
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


class _Entropies(NamedTuple):
    """Entropy of all sources less log|det W|, and that of each at unit variance."""

    total: float
    each: HostArray


def _lost(z: HostArray, own: _Entropies, parts: Sequence[HostArray], fewer: float) -> tuple[float, HostArray]:
    """Return the nats, at most, by which the drop and each negentropy fall short because W is known from N rows only.

    The angles of a W found from ``fewer`` times fewer rows are  r = sqrt(fewer)  times as uncertain, and so is what
    they cost where it grows like the angle, as for sources with edges; like its square, as for smooth densities, more.
    The cost of a part is measured on the same rows: the entropy it leaves, above the least that any W leaves. The
    largest over four parts, of twice the uncertainty, covers what W costs (see :data:`SURE`).
    """
    k = len(own.each)
    if not parts:
        return 0.0, np.zeros(k)
    rows = np.vstack(parts).astype(z.dtype)
    found = np.array(run_folds(_shares(len(rows)), partial(_fold_entropies, z, rows), concat)).reshape(-1, k, 2)
    totals = found[:, :, 0].sum(axis=1) - [_log_volume(part) for part in parts]
    each = found[:, :, 0] - np.log(found[:, :, 1])
    share = 2.0 / float(np.sqrt(fewer))
    return SURE * share * float(_range(totals, own.total)), SURE_EACH * share * _range(each, own.each)


def _range(theirs: HostArray, own: Any) -> HostArray:
    """Return the largest of theirs less the least of all; infinite where one is not finite."""
    known = np.isfinite(theirs).all(axis=0) & np.isfinite(own)
    least = np.where(known, np.minimum(own, theirs.min(axis=0)), 0.0)
    return np.where(known, theirs.max(axis=0) - least, np.inf)


def _few(z: HostArray, W: HostArray) -> HostArray:
    """Return the sources of a sample for the pairs; the values of a source lie side by side in memory."""
    step = max(-(-len(z) // DEPENDENCE_ROWS), len(z) * len(W) // DEPENDENCE_NUMBERS)
    few: HostArray = (W.astype(z.dtype) @ thinned_rows(z, step).T).T
    return few


def _shares(count: int) -> list[slice]:
    """Cut ``range(count)`` into one part a worker, which then uses one piece of memory for all of its part."""
    return ranges(count, -(-count // worker_count()))


def _fold_entropies(
    z: HostArray, rows: HostArray, state: list[tuple[float, float]] | None, share: slice
) -> list[tuple[float, float]]:
    """Return the entropy and the deviation of the source of each row."""
    s, room = np.empty(len(z), dtype=z.dtype), np.empty((2, len(z)), dtype=z.dtype)
    found = [(entropy(np.dot(z, row, out=s), room).value, float(s.std()) or 1.0) for row in rows[share]]
    return [*(state or []), *found]


class _Column(NamedTuple):
    """What is known of white column j and of source j."""

    before: Estimate
    after: Estimate
    scale: float
    kurtosis: float
    kappa: float


def _fold_columns(z: HostArray, W: HostArray, state: list[_Column] | None, share: slice) -> list[_Column]:
    """Measure some columns and sources, one at a time: they alone are in memory beside the white rows."""
    room = np.empty((3, len(z)), dtype=z.dtype)
    return [*(state or []), *(_column(z[:, j], z @ W[j].astype(z.dtype), room) for j in range(share.start, share.stop))]


def _column(column: HostArray, s: HostArray, room: HostArray) -> _Column:
    before, after = entropy(column, room[:2]), entropy(s, room[:2])
    s -= s.mean()
    # A source that does not vary has no density in any unit.
    scale = float(np.sqrt(s @ s / len(s))) or 1.0
    s /= s.dtype.type(scale)
    squares = np.multiply(s, s, out=room[0])
    return _Column(before, after, scale, float(squares @ squares) / len(s) - 3.0, _nongaussianity(s, room[1:]))


class GaussianLimits(NamedTuple):
    """How far from zero the moments of a Gaussian source may be found."""

    kappa: float
    kurtosis: float
    negentropy: float


def gaussian_limits(n: int, k: int) -> GaussianLimits:
    """Return what unmixing makes at most of Gaussian noise: of kappa = E[psi'(s) - psi(s) s], psi = tanh, and others.

    It looks for the least Gaussian directions, so what it finds among k Gaussian columns of n rows is larger than what
    one direction drawn at random shows, and grows like sqrt(k / n). The formulas lie just above the 99% points over
    sources of fits to Gaussian noise, here times sqrt(n), beside the 1% points of as many Laplace and uniform sources::

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


def _nongaussianity(s: HostArray, room: HostArray) -> float:
    """Return  kappa = E[psi'(s) - psi(s) s],  psi = tanh: zero for a Gaussian. Here s has unit variance."""
    psi = np.tanh(s, out=room[0])
    slope = np.subtract(1.0, np.multiply(psi, psi, out=room[1]), out=room[1])
    return float(slope.mean() - (psi @ s) / len(s))
