"""Parallel analysis: keep the components that are larger than noise alone would make them."""

from collections import deque
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from gramian.choosing.facts import Facts, gather_facts
from gramian.choosing.noise import ColumnNoise, noise_after
from gramian.choosing.noise_edge import TRACY_WIDOM_MEAN, TRACY_WIDOM_SPREAD, tracy_widom_quantile
from gramian.choosing.null_draws import GAUSSIAN, NullDraws, draw_nulls
from gramian.choosing.row_sample import RowSample, sample_shape
from gramian.choosing.spectrum import Values
from gramian.choosing.verdict import Verdict
from gramian.sources.rows import RowSource

ROUNDS = 8
"""Copies are drawn with no component taken out, then with as many as were found, until the number stays: two
rounds for even noise, three or four where some rows are noisier. Copies with no component out show too little of
such noise, and so do copies robbed of many; starting with many takes more rounds."""

PROBE = 8
"""Components taken out when copies of all the rows hide everything: a few wild rows may be to blame."""

WHOLE_COLUMN = 0.1
"""Part of a column left free by components, under which they count as that column itself."""

SPARE = 8
"""Components beyond the count for Gaussian noise that a sample keeps scores of, should the copies show less."""


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
    (:func:`~gramian.choosing.noise.noise_after`), the ``level`` quantile t_k of the largest variance that
    such noise shows, and stops when neither  lam_{k+1} > t_k  nor  lam_{k+2} > t_{k+1}.  Looking one further
    keeps a strong component from hiding a weaker one. Horn's (1965) idea, with the null taken from theory and
    after deflation, as in Dobriban and Owen (2019, arXiv:1711.04155).

    Column variances that differ no more than estimates from n rows do are pooled. Without rows the null is
    Gaussian. With ``source`` it is corrected by what copies of the rows with random
    signs (or shuffled columns) show; beyond 6,000,000 numbers these copies are of a random part of the table,
    so memory and time stay bounded whatever its size, and heavy tails are then corrected for in part only.

    Cost: O(d) a component tested, and no draws, without rows: milliseconds. With rows, one pass, at most
    60 MB, and 0.6 s on one core at 10,000 x 500; two to eight rounds of five copies.
    Not for noise that is related between columns (neighbors in space or time): it counts such relations as
    components. :func:`~gramian.choosing.choose_automatically` looks out for that.

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
        What rows are centered by and then multiplied by; measured, and one, unless told.
    null : {"gaussian", "signflip", "permutation"}, optional
        "signflip" with rows and "gaussian" without, unless told.
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
    """Put what parallel analysis saw into a verdict."""
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
    sample = facts.sample(gaussian.count + SPARE)
    if facts.components is None and sample.loadings.shape[1] == facts.spectrum.n_columns:
        facts = replace(facts, components=sample.loadings.astype(np.float64))
    judge = partial(_count_with_copies, facts, sample, null or "signflip", level)
    evidence = judge(0)
    if evidence.count == 0 and gaussian.count > 0:
        beyond = judge(min(gaussian.count, PROBE))
        evidence = beyond if beyond.count > min(gaussian.count, PROBE) else evidence
    visited = {0}
    while evidence.count not in visited and len(visited) < ROUNDS:
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
    if left is None or 2 * k > facts.spectrum.directions or left.multiplicity.min() < WHOLE_COLUMN:
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
    the sample has fewer rows a column than the table when it keeps all columns.
    """
    if facts.source is None:
        return draws.inflation
    n, d = facts.source.n_rows, facts.source.n_columns
    a, c = sample_shape(n, d)
    shrink = min(1.0, (d * a / (n * c)) ** 0.5) if n > d else 1.0
    return 1.0 + (draws.inflation - 1.0) * shrink
