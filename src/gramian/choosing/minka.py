"""Minka's choice: the dimension of greatest evidence under probabilistic PCA."""

from typing import Any

import numpy as np
import scipy

from gramian.choosing.spectrum import MeasuredSpectrum, Values, Verdict, counted, read_spectrum
from gramian.errors import ParameterError

CHUNK = 1 << 20
"""Entries of the tables of pairs that are in memory at once: 8 MB."""


def minka(variances: Any, *, n_rows: float, n_columns: int, total_variance: float | None = None) -> Verdict:
    """Choose the dimension of greatest evidence (Laplace approximation).

    Computes the k in 1..D-1 that maximizes, with N samples in D dimensions and v the mean of the D - k
    smallest variances,

        log p(U) - N/2 sum_{i<=k} log lam_i - N (D-k)/2 log v + (m+k)/2 log 2 pi
            - 1/2 sum_{i<=k} sum_{j>i} log(N (lam_i - lam_j)(1/l_j - 1/l_i)) - k/2 log N,

    l_j being lam_j up to k and v after it, m = D k - k (k+1)/2 (Minka, 2000, "Automatic choice of
    dimensionality for PCA", NIPS 13, 598-604). For n > d, N = n and D = d: scikit-learn's
    ``n_components="mle"``, which sums the same terms in three nested loops, fails on ties and refuses n < d.
    Here:

    - a tie (equal to rounding) counts as a gap of one sampling error, lam sqrt(2 / (pi N)): the angle between
      tied directions is free, so its integral is pi and not that of a narrow Gaussian;
    - directions without variance are exact, so the answer is the rank as soon as the rest is zero;
    - for n <= d the table is read the other way, N = d columns as samples in D = n - 1 dimensions. The
      nonzero spectrum is the same, and the approximation needs more samples than dimensions.

    Cost: O(D^2) time, 16 MB of memory.
    Not for noise whose level differs between columns: it then counts almost every direction.

    Parameters
    ----------
    variances : array (m,)
        All of them: the evidence weighs every gap. Refused when only leading ones are given.
    n_rows, n_columns : number, int
    total_variance : float, optional

    Examples
    --------
    >>> minka([9.0, 8.0, 1.02, 1.0, 0.98], n_rows=500, n_columns=5).n_components
    2
    """
    spectrum = read_spectrum(variances, n_rows=n_rows, n_columns=n_columns, total_variance=total_variance)
    if not spectrum.complete:
        message = (
            f"Minka's rule needs all {spectrum.directions} variances, and {len(spectrum.values)} were given. "
            "Compute the complete spectrum, or use 'auto' or a share of variance."
        )
        raise ParameterError(message)
    samples, dimensions = _orientation(spectrum)
    values = _without_rounding(spectrum.padded(dimensions))
    rank = int(np.count_nonzero(values))
    if rank < 2 or dimensions < 2:
        return Verdict("minka", 1, f"The rows spread in {counted(rank, 'direction')}.", {"rank": rank})
    if rank < dimensions:
        reason = f"The rows lie exactly in {rank} of {dimensions} directions."
        return Verdict("minka", rank, reason, {"rank": rank})
    evidence = log_evidence(values, samples)
    k = int(np.argmax(evidence)) + 1
    reason = "Only one component leaves something to compare with."
    if evidence.size > 1:
        margin = float(evidence[k - 1] - np.delete(evidence, k - 1).max())
        reason = f"The evidence is greatest for {counted(k)}, e^{margin:.1f} times that of the next best."
    return Verdict("minka", k, reason, {"log_evidence": evidence, "samples": samples})


def choose_by_minka(variances: Any, *, n_rows: float, n_columns: int, total_variance: float | None = None) -> int:
    """Return the dimension of greatest evidence; see :func:`minka`.

    Examples
    --------
    >>> choose_by_minka([5.0, 5.0, 1.0, 1.0], n_rows=100, n_columns=4)
    2
    """
    return minka(variances, n_rows=n_rows, n_columns=n_columns, total_variance=total_variance).n_components


def log_evidence(values: Values, samples: float) -> Values:
    """Return the log evidence of k = 1..D-1 for D positive variances; see :func:`minka`."""
    D = len(values)
    k = np.arange(1, D)
    logs = np.log(values)
    sums = np.cumsum(logs)[:-1]
    noise = np.cumsum(values[::-1])[::-1][1:] / (D - k)
    free = D * k - k * (k + 1) / 2.0
    half = (D - k + 1) / 2.0
    prior = np.cumsum(scipy.special.gammaln(half) - half * np.log(np.pi)) - k * np.log(2.0)
    fit = -samples / 2.0 * (sums + (D - k) * np.log(noise))
    curvature = _sum_log_gaps(values, samples) - (k - 1) * sums
    curvature += (D - k) * (_sum_log_excess(values, noise, samples) - k * np.log(noise) - sums)
    curvature += free * np.log(samples)
    volume = np.log(2.0 * np.pi) * (free + k) / 2.0 - curvature / 2.0 - k / 2.0 * np.log(samples)
    return np.asarray(prior + fit + volume)


def _orientation(spectrum: MeasuredSpectrum) -> tuple[float, int]:
    """Return samples and dimensions: the larger side is what is sampled."""
    if spectrum.n_rows > spectrum.n_columns:
        return spectrum.n_rows, spectrum.n_columns
    return float(spectrum.n_columns), spectrum.directions


def _without_rounding(values: Values) -> Values:
    floor = len(values) * np.finfo(np.float64).eps * values[0]
    return np.where(values > floor, values, 0.0)


def _tie(values: Values) -> float:
    return float(len(values) * np.finfo(np.float64).eps * values[0])


def _sum_log_gaps(values: Values, samples: float) -> Values:
    """Sum log(lam_i - lam_j) over i < j, i <= k, the pairs with j <= k twice, for k = 1..D-1."""
    D = len(values)
    rows, columns = np.zeros(D), np.zeros(D)
    step = max(1, CHUNK // D)
    for low in range(0, D, step):
        part = values[low : low + step, None]
        gap = part - values
        tied = np.sqrt(2.0 / (np.pi * samples) * part * values)
        upper = np.arange(D) > np.arange(low, low + len(part))[:, None]
        logs = np.where(upper, np.log(np.where(upper, np.where(gap > _tie(values), gap, tied), 1.0)), 0.0)
        rows[low : low + step] = logs.sum(axis=1)
        columns += logs.sum(axis=0)
    return np.cumsum(rows)[:-1] + np.cumsum(columns)[:-1]


def _sum_log_excess(values: Values, noise: Values, samples: float) -> Values:
    """Sum log(lam_i - v_k) over i <= k, for k = 1..D-1."""
    D = len(values)
    out = np.zeros(D - 1)
    step = max(1, CHUNK // D)
    for low in range(0, D - 1, step):
        v = noise[low : low + step, None]
        gap = values - v
        inside = np.arange(D) <= np.arange(low, low + len(v))[:, None]
        tied = values * np.sqrt(2.0 / (np.pi * samples))
        logs = np.log(np.where(inside, np.where(gap > _tie(values), gap, tied), 1.0))
        out[low : low + step] = logs.sum(axis=1)
    return out
