"""Gavish and Donoho's optimal hard threshold for singular values."""

import math
from functools import lru_cache
from typing import Any

import numpy as np
import scipy

from gramian.choosing.spectrum import MeasuredSpectrum, Verdict, read_spectrum
from gramian.errors import ParameterError


def gavish_donoho(
    variances: Any,
    *,
    n_rows: float,
    n_columns: int,
    total_variance: float | None = None,
    noise_variance: float | None = None,
) -> Verdict:
    """Keep the singular values above the threshold that loses least in squared error.

    Computes  k = #{s_j > t}  for the singular values s of the centered rows (n - 1 by d),  with beta the
    smaller side over the larger,  and  t = lambda(beta) sqrt(larger side) sigma  when the noise is known,
    t = lambda(beta) / sqrt(median(beta)) * median(s)  when it is not, with

        lambda(beta)^2 = 2 (beta + 1) + 8 beta / (beta + 1 + sqrt(beta^2 + 14 beta + 1))

    and median(beta) that of the Marchenko-Pastur law, found by integration (Gavish and Donoho, 2014,
    doi:10.1109/TIT.2014.2323359).

    Cost: O(m), and a millisecond for the median of a new shape.
    Not for noise whose level differs between columns or rows, nor for very tall or wide tables with weak
    components: what is best to *denoise* is stricter than what can be *detected*.

    Parameters
    ----------
    variances : array (m,)
        All of them when the noise is unknown (the median needs them); else the leading ones.
    n_rows, n_columns : number, int
    total_variance : float, optional
    noise_variance : float, optional
        Variance of the noise in one cell, in the unit of ``variances``.

    Examples
    --------
    >>> gavish_donoho([9.0, 8.0, 1.1, 1.0, 0.9], n_rows=500, n_columns=5).n_components
    2
    """
    spectrum = read_spectrum(variances, n_rows=n_rows, n_columns=n_columns, total_variance=total_variance)
    beta = min(spectrum.degrees, n_columns) / max(spectrum.degrees, n_columns)
    unit = _noise_from_median(spectrum, beta) if noise_variance is None else noise_variance
    threshold = optimal_factor(beta) * unit * max(spectrum.degrees, n_columns) / spectrum.degrees
    k = int(np.count_nonzero(spectrum.values > threshold))
    how = "from the median" if noise_variance is None else "as given"
    reason = f"Variances above {threshold:.3g} are worth keeping; noise of {unit:.3g} a cell, {how}."
    exhausted = k == len(spectrum.values) < spectrum.directions
    return Verdict("gavish-donoho", k, reason, {"threshold": threshold, "noise_variance": unit, "exhausted": exhausted})


def optimal_factor(beta: float) -> float:
    """Return lambda(beta)^2: the threshold for a variance in units of (larger side / n) times the noise.

    Examples
    --------
    >>> round(optimal_factor(1.0) ** 0.5, 4) == round(4 / 3**0.5, 4)
    True
    """
    return 2.0 * (beta + 1.0) + 8.0 * beta / (beta + 1.0 + math.sqrt(beta * beta + 14.0 * beta + 1.0))


@lru_cache(maxsize=256)
def marchenko_pastur_median(beta: float) -> float:
    """Return the median of the Marchenko-Pastur law of ratio ``beta`` in (0, 1] and unit noise.

    Computes the root in u of  F(u) = 1/2  with  x = a + (b - a) sin(u)^2,  a, b = (1 -+ sqrt(beta))^2:  in u
    the density has no singular ends.

    Examples
    --------
    >>> round(marchenko_pastur_median(1.0), 4)
    0.6528
    """
    low = (1.0 - beta**0.5) ** 2
    width = 4.0 * beta**0.5

    def density(u: float) -> float:
        s, c = np.sin(u), np.cos(u)
        return float(width**2 * (s * c) ** 2 / (np.pi * beta * (low + width * s * s)))

    u = scipy.optimize.brentq(lambda end: scipy.integrate.quad(density, 0.0, end, limit=200)[0] - 0.5, 1e-9, np.pi / 2)
    return float(low + width * np.sin(u) ** 2)


def _noise_from_median(spectrum: MeasuredSpectrum, beta: float) -> float:
    if not spectrum.complete:
        message = (
            f"With unknown noise the Gavish-Donoho rule needs the median of all {spectrum.directions} "
            f"variances, and {len(spectrum.values)} were given. Compute the complete spectrum, or pass "
            "noise_variance."
        )
        raise ParameterError(message)
    # The law is for singular values divided by sqrt(larger side); the variances are divided by n - 1.
    median = float(np.median(spectrum.padded(spectrum.directions)))
    larger = max(spectrum.degrees, spectrum.n_columns)
    return median * spectrum.degrees / larger / marchenko_pastur_median(beta)
