"""Parallel analysis: keep the components that are larger than noise alone would make them.

The story, in the order of this file:

1. ``noise_edge``: how large the largest variance of noise is. For n independent rows of Gaussian noise with column
   variances tau_1..tau_d, the largest eigenvalue of their covariance lies at an edge mu and moves around it by
   sigma n^(-2/3) times a Tracy-Widom variable (El Karoui, 2007, doi:10.1214/009117906000000917). Both numbers come from
   one equation in one unknown, so a null model for any table costs a few sums over its column variances, and no draws.
2. ``noise_after``: what is left of each column's variance once the first k components are taken out.
3. ``draw_nulls``: where there are rows, copies of them with every relation between columns destroyed correct the
   Gaussian null for heavy tails and noisy rows.
4. ``parallel_analysis``: components are counted while they are larger than that.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from math import prod
from typing import Any, NamedTuple

import numpy as np
import scipy

from gramian.arrays.namespace import Array, HostArray, from_host, to_host
from gramian.choosing.facts import (
    AT_ONCE,
    Facts,
    RowSample,
    as_components,
    by_size,
    column_squares,
    gather_facts,
    sample_shape,
)
from gramian.choosing.spectrum import MeasuredSpectrum, Values, Verdict
from gramian.errors import ParameterError
from gramian.sources.rows import RowSource, ranges

TRACY_WIDOM_MEAN = -1.2065336
TRACY_WIDOM_SPREAD = 1.2680340

EXACT_COLUMNS = 64
GROUPS = 192
"""Beyond 64 + 192 columns, the noisiest 64 count one by one and the rest in groups of equal size."""


@dataclass(frozen=True)
class NoiseEdge:
    """Center and scale of the largest variance of pure noise.

    ``edge`` is mu and ``scale`` is sigma n^(-2/3): the largest variance is  edge + scale * Tracy-Widom.
    """

    edge: float
    scale: float

    @property
    def mean(self) -> float:
        """Expected largest variance of noise."""
        return self.edge + TRACY_WIDOM_MEAN * self.scale

    @property
    def spread(self) -> float:
        """Standard deviation of the largest variance of noise."""
        return TRACY_WIDOM_SPREAD * self.scale


def noise_edge(column_variances: Values, degrees: float, *, multiplicity: Values | None = None) -> NoiseEdge:
    """Locate the largest variance of Gaussian noise with these column variances.

    Computes c in (0, 1 / max tau) with  (1/n) sum w (tau c / (1 - tau c))^2 = 1,  then
    mu = (1 + (1/n) sum w tau c / (1 - tau c)) / c  and
    sigma^3 = (1 + (1/n) sum w (tau c / (1 - tau c))^3) / c^3.
    Equal variances give the Marchenko-Pastur edge  tau (1 + sqrt(d / n))^2.

    Cost: O(d) with a sort; the equation is solved on at most 256 numbers.

    Parameters
    ----------
    column_variances : numpy array (d,)
    degrees : float
        n, the degrees of freedom.
    multiplicity : numpy array (d,), optional
        w, how many columns each entry stands for; one by default.

    Examples
    --------
    >>> import numpy as np
    >>> round(noise_edge(np.ones(100), 400.0).edge, 6)
    2.25
    """
    tau, weight = _grouped(column_variances, multiplicity)
    top = float(tau.max(initial=0.0))
    if top == 0.0:
        return NoiseEdge(0.0, 0.0)
    tau = tau / top
    # The noisiest column alone, and all columns as noisy as it, bound the root from both sides.
    high = 1.0 / (1.0 + (max(float(weight[tau.argmax()]), 1e-12) / degrees) ** 0.5)
    low = 1.0 / (1.0 + (float(weight.sum()) / degrees) ** 0.5)

    def excess(c: float) -> float:
        x = tau * c / (1.0 - tau * c)
        return float(weight @ (x * x)) / degrees - 1.0

    c = float(scipy.optimize.brentq(excess, low * (1.0 - 1e-9), high + (1.0 - high) * 1e-9, rtol=1e-10))
    x = tau * c / (1.0 - tau * c)
    edge = (1.0 + float(weight @ x) / degrees) / c
    scale = (1.0 + float(weight @ x**3) / degrees) ** (1.0 / 3.0) / c * degrees ** (-2.0 / 3.0)
    return NoiseEdge(top * edge, top * scale)


def tracy_widom_quantile(level: float) -> float:
    """Return a quantile of the Tracy-Widom law of real matrices.

    Computes the quantile of the shifted gamma law with the same three moments: shape 46.446, scale 0.186054,
    shift -9.84801 (Chiani, 2014, doi:10.1016/j.jmva.2014.04.002); good to 0.01 between 1% and 99.9%.

    Examples
    --------
    >>> round(tracy_widom_quantile(0.95), 1)
    1.0
    """
    return float(scipy.special.gammaincinv(46.446, level)) * 0.186054 - 9.84801


def _grouped(tau: Values, multiplicity: Values | None) -> tuple[Values, Values]:
    weight = np.ones(len(tau)) if multiplicity is None else multiplicity
    keep = (tau > 0.0) & (weight > 0.0)
    tau, weight = tau[keep], weight[keep]
    if len(tau) <= EXACT_COLUMNS + GROUPS:
        return tau, weight
    order = np.argsort(-tau)
    starts = np.unique(
        np.concatenate([np.arange(EXACT_COLUMNS), np.linspace(EXACT_COLUMNS, len(tau), GROUPS + 1)[:-1].astype(int)])
    )
    weights = np.add.reduceat(weight[order], starts)
    return np.add.reduceat((weight * tau)[order], starts) / weights, weights


class ColumnNoise(NamedTuple):
    """Noise after k components: of each column, how many free columns that one stands for, and n - k."""

    variances: Values
    multiplicity: Values
    degrees: float

    def edge(self) -> NoiseEdge:
        """Locate the largest variance of such noise."""
        return noise_edge(self.variances, self.degrees, multiplicity=self.multiplicity)

    def sum_of_squares(self, unit: float) -> float:
        """Expected sum of squared sample variances of such noise, sum tau^2 (1 + 1/n) + (sum tau)^2 / n.

        In ``unit``, because squares of variances overflow sooner than variances.
        """
        total = float(self.multiplicity @ (self.variances / unit))
        squares = float(self.multiplicity @ (self.variances / unit) ** 2)
        return squares * (1.0 + 1.0 / self.degrees) + total * total / self.degrees


def noise_after(
    spectrum: MeasuredSpectrum, column_variances: Any | None = None, components: Any | None = None
) -> Iterator[ColumnNoise]:
    """Yield the noise of the columns after 0, 1, 2, ... components.

    Computes  tau_j = (D_j - sum_{i<=k} lam_i v_ij^2) / ((1 - g_j)(1 - k/n)),  g_j = sum_{i<=k} v_ij^2.  A
    component takes some noise with it, from the columns where it lives (leverage g_j) and from the rows; the
    division gives it back. Column j then stands for 1 - g_j free columns. Without components the columns
    shrink in proportion; without column variances all are alike.

    Cost: O(d) per step.
    """
    D = _column_variances(spectrum, column_variances)
    last = min(len(spectrum.values), spectrum.directions - 1)
    V = as_components(components)
    if V is None or column_variances is None:
        yield from (_shrunk(spectrum, D, k) for k in range(last + 1))
        return
    left, leverage = D.copy(), np.zeros(len(D))
    for k in range(min(last, len(V)) + 1):
        yield _corrected(spectrum, left, leverage, k)
        if k < min(last, len(V)):
            left -= spectrum.values[k] * V[k] ** 2
            leverage += V[k] ** 2


def _shrunk(spectrum: MeasuredSpectrum, D: Values, k: int) -> ColumnNoise:
    degrees, free = _freedom(spectrum, k)
    share = spectrum.rest(k) / spectrum.total_variance if spectrum.total_variance else 0.0
    variances = D * (share * spectrum.n_columns / free * spectrum.degrees / degrees)
    return ColumnNoise(variances, np.full(len(D), free / len(D)), degrees)


def _corrected(spectrum: MeasuredSpectrum, left: Values, leverage: Values, k: int) -> ColumnNoise:
    degrees, _ = _freedom(spectrum, k)
    left = np.maximum(left, 0.0)
    total = float(left.sum())
    # The sum is known from the spectrum; the single columns only to the accuracy of the components.
    scale = spectrum.rest(k) / total if total > 0.0 else 0.0
    # A column whose leverage leaves less than this is not divided by less: the quotient would be rounding.
    free = np.maximum(1.0 - leverage, 0.05)
    return ColumnNoise(left * (scale * spectrum.degrees / degrees) / free, free, degrees)


def _freedom(spectrum: MeasuredSpectrum, k: int) -> tuple[float, float]:
    """Return the rows and columns left free by k components, at least one of each."""
    return max(spectrum.degrees - k, 1.0), max(float(spectrum.n_columns - k), 1.0)


def _column_variances(spectrum: MeasuredSpectrum, column_variances: Any | None) -> Values:
    if column_variances is None:
        return np.full(1, spectrum.total_variance / spectrum.n_columns)
    D = np.asarray(column_variances, dtype=np.float64).ravel()
    total = float(D.sum())
    # In the unit of the spectrum, whatever divisor or scaling the caller used.
    return D * (spectrum.total_variance / total) if total > 0.0 else D


DRAWS = 5
"""Copies drawn. Their spread is known from theory; draws only have to place the center."""

SMALL = 64
"""Side up to which all eigenvalues are found at once; above it Lanczos steps find the largest sooner."""


@dataclass(frozen=True)
class NullDraws:
    """What the drawn copies say about the noise after the first k components.

    Attributes
    ----------
    inflation : float
        Largest variance in the copies, divided by what Gaussian noise with the same column variances gives.
        Above one for heavy tails, and where some rows are noisier than others.
    spread : float
        Its standard deviation over the copies, in the same unit.
    relation : float
        Sum of squared variances in the rows as they are, divided by that in the copies, less one. Near zero
        when columns are unrelated apart from the k components.
    """

    inflation: float
    spread: float
    relation: float


GAUSSIAN = NullDraws(1.0, 0.0, 0.0)
"""What is assumed where there are no rows."""


def draw_nulls(sample: RowSample, k: int, *, null: str = "signflip", seed: int = 0) -> NullDraws:
    """Measure the largest variance of copies of the rows, after ``k`` components, that hold no relations.

    ``null="signflip"`` gives every entry a random sign (Hong, Sheng and Dobriban, 2020, arXiv:2012.02985):
    each entry keeps its size, so noisy rows, noisy columns and heavy tails stay as they are.
    ``null="permutation"`` shuffles every column (Horn, 1965; Buja and Eyuboglu, 1992): columns keep their
    distribution, rows do not keep their level.

    Cost: 5 products of the shorter side of the sample and as many eigenvalues; a tenth of a second each at
    the largest sample.
    """
    if null not in {"signflip", "permutation"}:
        message = f"null={null!r} is none of 'gaussian', 'signflip' and 'permutation'. Pass one of these."
        raise ParameterError(message)
    rng = np.random.default_rng([seed, k])
    copy = sample.residual(k) if null == "signflip" else to_host(sample.residual(k))
    gaussian = noise_edge(column_squares(copy) / len(copy), float(len(copy))).mean
    if gaussian <= 0.0:
        return GAUSSIAN
    # Columns in the order of their size, as the rows are: no order of the table changes what is drawn.
    order = from_host(by_size(copy, 0), like=copy)
    for part in ranges(len(copy), max(1, AT_ONCE // copy.shape[1])):
        copy[part, :] = copy[part, :][:, order]
    squares = _sum_of_squares(_gram(copy))
    grams = (_gram(_destroy(copy, null, rng)) for _ in range(DRAWS))
    drawn = np.array([(_largest(gram), _sum_of_squares(gram)) for gram in grams])
    tops = drawn[:, 0] / len(copy) / gaussian
    expected = float(drawn[:, 1].mean()) * _residual_squares(sample, k)
    # Of a part of the columns, only that part of what each is related to is seen.
    relation = (squares / expected - 1.0) / sample.column_share
    return NullDraws(float(tops.mean()), float(tops.std(ddof=1)), relation)


def _destroy(copy: Array, null: str, rng: np.random.Generator) -> Array:
    """Shuffle or flip in place: a flip of a flip is as random as the first."""
    if null == "permutation":
        return rng.permuted(copy, axis=0, out=copy)
    for part in ranges(len(copy), max(1, AT_ONCE // copy.shape[1])):
        _flip(copy[part, :], rng)
    return copy


def _flip(part: Array, rng: np.random.Generator) -> None:
    """Give every entry a random sign."""
    size = prod(part.shape)
    drawn = np.unpackbits(np.frombuffer(rng.bytes(-(-size // 8)), dtype=np.uint8), count=size)
    part *= from_host(1 - 2 * drawn.astype(np.float32).reshape(part.shape), like=part)


def _gram(rows: Array) -> HostArray:
    return to_host(rows.T @ rows if rows.shape[0] >= rows.shape[1] else rows @ rows.T)


def _largest(gram: HostArray) -> float:
    """Return the largest eigenvalue, to four digits: the draws differ by more."""
    if len(gram) <= SMALL:
        return float(np.linalg.eigvalsh(gram.astype(np.float64))[-1])
    start = np.random.default_rng(len(gram)).standard_normal(len(gram)).astype(gram.dtype)
    return float(scipy.sparse.linalg.eigsh(gram, k=1, v0=start, tol=1e-4, return_eigenvectors=False)[0])


def _sum_of_squares(gram: HostArray) -> float:
    return float(np.einsum("ij,ij->", gram, gram, dtype=np.float64))


def _residual_squares(sample: RowSample, k: int) -> float:
    """Return what taking out k components of noise-restored rows does to the sum of squared variances.

    Noise E becomes (I - UU') E (I - VV'), of which a rows and c columns are seen, at restored level:
    (a (1 + g c/d) + c (1 + h a/n)) / (a + c)  with  g = (k/d) / (1 - k/d)  and  h = (k/n) / (1 - k/n).
    """
    a, c = sample.rows.shape
    taken_rows = min(k * sample.row_share / a, 0.95)
    taken_columns = min(k * sample.column_share / c, 0.95)
    by_columns = 1.0 + sample.column_share * taken_columns / (1.0 - taken_columns)
    by_rows = 1.0 + sample.row_share * taken_rows / (1.0 - taken_rows)
    return float((a * by_columns + c * by_rows) / (a + c))


PROBE = 8
"""Components taken out when copies of all the rows hide everything: a few wild rows may be to blame."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """What parallel analysis saw.

    ``count`` components pass; ``thresholds`` are those of the components tested, in order; ``noise`` is what
    remains in the columns after ``count`` of them; ``draws`` compares copies of the rows with Gaussian noise;
    ``exhausted`` tells that every variance given passed.
    """

    count: int
    thresholds: Values
    noise: ColumnNoise
    draws: NullDraws
    exhausted: bool


def parallel_analysis(
    variances: Any,
    source: RowSource | None = None,
    *,
    n_rows: float,
    n_columns: int,
    total_variance: float | None = None,
    column_variances: Any | None = None,
    components: Any | None = None,
    mean: Any | None = None,
    factor: Any | None = None,
    null: str | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Verdict:
    """Keep components while each is larger than the largest variance of noise in what is left.

    Computes, for k = 0, 1, ...: the noise of the columns once k components are taken out
    (:func:`~gramian.choosing.parallel.noise_after`), the ``level`` quantile t_k of the largest variance that
    such noise shows, and stops when neither  lam_{k+1} > t_k  nor  lam_{k+2} > t_{k+1}.  Looking one further
    keeps a strong component from hiding a weaker one. Horn's (1965) idea, with the null taken from theory and
    after deflation, as in Dobriban and Owen (2019, arXiv:1711.04155).

    Column variances that differ no more than estimates from n rows do are pooled. Without rows the null is
    Gaussian. With ``source`` it is corrected by what copies of the rows with random
    signs (or shuffled columns) show; above 6,000,000 numbers these copies are of a random part of the table,
    so memory and time stay bounded whatever its size, and heavy tails are then corrected for in part only.

    Cost: O(d) per component tested, and no draws, without rows: milliseconds. With rows, one pass, at most
    60 MB, and 0.6 s on one core at 10,000 x 500; two to eight rounds of five copies.
    Not for noise that is related between columns (neighbors in space or time): it counts such relations as
    components. :func:`~gramian.choosing.choose_automatically` checks for that.

    Parameters
    ----------
    variances : array (m,)
        Largest first; leading ones are enough.
    source : RowSource, optional
    n_rows, n_columns : number, int
    total_variance : float, optional
    column_variances : array (d,), optional
        Variance of each column; without it and without rows, all columns count as equally noisy.
    components : array (k, d), optional
        Leading components as rows; lets the null follow the columns as components are taken out.
    mean, factor : array (d,), optional
        What rows are centered by and then multiplied by; by default the measured mean, and one.
    null : {"gaussian", "signflip", "permutation"}, optional
        By default "signflip" with rows and "gaussian" without.
    level : float
        Quantile of the null.
    seed : int

    Examples
    --------
    >>> print(parallel_analysis([9.0, 4.0, 1.1, 1.0, 0.9], n_rows=500, n_columns=5))
    parallel analysis: 2. Component 3 has variance 1.1 and noise alone reaches 1.21.
    """
    facts = gather_facts(
        variances,
        source,
        n_rows=n_rows,
        n_columns=n_columns,
        total_variance=total_variance,
        column_variances=column_variances,
        components=components,
        mean=mean,
        factor=factor,
        seed=seed,
    )
    return parallel_verdict(facts, weigh(facts, null=null, level=level))


def parallel_verdict(facts: Facts, evidence: Evidence) -> Verdict:
    """Return what parallel analysis answers, from what it saw."""
    detail = {
        "thresholds": evidence.thresholds,
        "total_variance": facts.spectrum.total_variance,
        "inflation": evidence.draws.inflation,
        "exhausted": evidence.exhausted,
    }
    return Verdict("parallel analysis", evidence.count, reason_of(facts, evidence), detail)


def weigh(facts: Facts, *, null: str | None = None, level: float = 0.95) -> Evidence:
    """Run parallel analysis and return what it saw; see :func:`parallel_analysis`."""
    facts = replace(facts, column_variances=None) if even_columns(facts, level) else facts
    gaussian = count_above(facts, GAUSSIAN, level)
    if facts.source is None or null == "gaussian" or facts.spectrum.total_variance == 0.0:
        return gaussian
    # Components above the count for Gaussian noise that a sample keeps scores of, should the copies show less.
    sample = facts.sample(gaussian.count + 8)
    if facts.components is None and sample.loadings.shape[1] == facts.spectrum.n_columns:
        facts = replace(facts, components=sample.loadings.astype(np.float64))
    judge = partial(_count_with_copies, facts, sample, null or "signflip", level)
    evidence = judge(0)
    if evidence.count == 0 and gaussian.count > 0:
        beyond = judge(min(gaussian.count, PROBE))
        evidence = beyond if beyond.count > min(gaussian.count, PROBE) else evidence
    visited = {0}
    # Copies are drawn with no component taken out, then with as many as were found, until the number stays: two rounds
    # for even noise, three or four where some rows are noisier. Copies with no component out show too little of such
    # noise, and so do copies robbed of many; starting with many takes more rounds.
    while evidence.count not in visited and len(visited) < 8:
        visited.add(evidence.count)
        evidence = judge(min(evidence.count, len(sample.loadings)))
    return evidence


def _count_with_copies(facts: Facts, sample: RowSample, null: str, level: float, k: int) -> Evidence:
    """Count against copies of the rows drawn with ``k`` components taken out."""
    return count_above(facts, draw_nulls(sample, k, null=null, seed=facts.seed), level)


def even_columns(facts: Facts, level: float) -> bool:
    """Tell whether the noise of all columns may be one and the same, so that it is better pooled.

    Takes the components out that stand clear of even noise, and compares the spread of what is left in the
    columns with that of estimates from n - k rows, 2 / (n - k), and two standard errors. In a table of few rows
    a component lives in few columns, and would hide behind their variance if each were its own noise. Not so
    when a column is taken out almost whole (it may be noise itself), nor when components take more than half of
    the directions.
    """
    k = count_above(replace(facts, column_variances=None), GAUSSIAN, level).count
    left = next(islice(noise_after(facts.spectrum, facts.column_variances, facts.components), k, None), None)
    # Part of a column left free by components, under which they count as that column itself.
    if left is None or 2 * k > facts.spectrum.directions or left.multiplicity.min() < 0.1:
        return False
    free = float(left.multiplicity.sum())
    mean = float(left.multiplicity @ left.variances) / free
    if mean <= 0.0:
        return True
    spread = float(left.multiplicity @ (left.variances / mean - 1.0) ** 2) / free
    return bool(spread <= 2.0 / left.degrees * (1.0 + 2.0 * (2.0 / free) ** 0.5))


def count_above(facts: Facts, draws: NullDraws, level: float) -> Evidence:
    """Compare each variance with the noise left before it, until two in a row fail."""
    spectrum = facts.spectrum
    values = spectrum.values
    rounding = 4.0 * spectrum.directions * float(np.finfo(np.float64).eps * values[0])
    inflation = _carried_over(facts, draws)
    thresholds: list[float] = []
    recent: deque[tuple[int, ColumnNoise]] = deque(maxlen=3)
    count = 0
    for k, noise in enumerate(noise_after(spectrum, facts.column_variances, facts.components)):
        recent.append((k, noise))
        if k == len(values) or k - count >= 2:
            break
        thresholds.append(max(_threshold(noise, inflation, draws.spread, level), rounding))
        if values[k] > thresholds[k]:
            count = k + 1
    tested = len(thresholds)
    left = dict(recent).get(count, recent[-1][1])
    exhausted = count == tested and count < spectrum.directions - 1
    return Evidence(count, np.array(thresholds), left, draws, exhausted)


def reason_of(facts: Facts, evidence: Evidence) -> str:
    """Say in one sentence where the count ended."""
    values, k = facts.spectrum.values, evidence.count
    if facts.spectrum.total_variance == 0.0:
        return "Nothing varies."
    if k < len(evidence.thresholds):
        threshold = evidence.thresholds[k]
        return f"Component {k + 1} has variance {values[k]:.3g} and noise alone reaches {threshold:.3g}."
    return f"All {k} given are larger than noise alone, which reaches {evidence.thresholds[k - 1]:.3g}."


def _threshold(noise: ColumnNoise, inflation: float, spread: float, level: float) -> float:
    edge = noise.edge()
    margin = (tracy_widom_quantile(level) - TRACY_WIDOM_MEAN) / TRACY_WIDOM_SPREAD
    return edge.mean * inflation + margin * max(edge.spread * inflation, edge.mean * spread)


def _carried_over(facts: Facts, draws: NullDraws) -> float:
    """Carry the inflation from the sampled part to the whole table.

    In a tall table noise rises above the column variances by about sqrt(d / n), and so does its inflation;
    the sample has fewer rows per column than the table when it keeps all columns.
    """
    if facts.source is None:
        return draws.inflation
    n, d = facts.source.n_rows, facts.source.n_columns
    a, c = sample_shape(n, d)
    shrink = min(1.0, (d * a / (n * c)) ** 0.5) if n > d else 1.0
    return 1.0 + (draws.inflation - 1.0) * shrink
