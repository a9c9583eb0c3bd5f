"""Independent sources as traces: what each looks like, sounds like, and how sure it is."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.errors import ParameterError
from gramian.models.ica import ICAModel
from gramian.views.fitted import host, names_of, require_kind, shares_of

MOST_BANDS = 1024
"""Bands of a spectrum, where the rows are many enough."""

FEWEST_ROWS = 4
"""Rows below which a spectrum would be a single frequency."""


@dataclass(frozen=True, slots=True)
class SourceTraces:
    """Sources over time with their spectra.

    Attributes
    ----------
    names : tuple of str
    time : (m,) array
        Middle of each step, in seconds, or rows where no rate is known.
    low, high : (k, m) array
        Smallest and largest value within each step: what a line drawn through all rows would cover.
    frequencies : (f,) array
        In hertz, or cycles a row.
    spectra : (k, f) array
        Share of the power of a source at each frequency; each row sums to one.
    shares : (k,) array
        Of the variance that the sources explain.
    kurtosis, stability : (k,) array or None
        Where they were measured.
    gaussian : tuple of int
        Sources too Gaussian to be told apart.
    unit : str
        "seconds" or "rows".
    """

    names: tuple[str, ...]
    time: np.ndarray
    low: np.ndarray
    high: np.ndarray
    frequencies: np.ndarray
    spectra: np.ndarray
    shares: np.ndarray
    kurtosis: np.ndarray | None
    stability: np.ndarray | None
    gaussian: tuple[int, ...]
    unit: str


def source_traces(
    fitted: Any, sources: np.ndarray, *, sampling_rate: float | None = None, steps: int = 800, bands: int = 128
) -> SourceTraces:
    """Lay out sources as traces of at most `steps` steps and spectra of about `bands` bands, more for long tables.

    Spectra are averaged over half-overlapping Hann windows (Welch, 1967, doi:10.1109/TAU.1967.1161901).  Cost: O(n k).

    Parameters
    ----------
    fitted : ICAModel or ICA
    sources : (n, k) array
        ``ica.transform(X)``, rows in the order of time.
    sampling_rate : float, optional
        Rows a second.
    steps, bands : int

    Examples
    --------
    >>> from gramian import ICA
    >>> t = np.arange(1000) / 100
    >>> X = np.column_stack([np.sign(np.sin(9 * t)), np.sin(20 * t)]) @ [[1.0, 0.5], [0.3, 1.0]]
    >>> ica = ICA().fit(X)
    >>> source_traces(ica, ica.transform(X), sampling_rate=100.0).unit
    'seconds'
    """
    model = require_kind(fitted, ICAModel)
    if sampling_rate is not None and not sampling_rate > 0:
        message = f"sampling_rate={sampling_rate!r} is no rate. Pass rows a second, or leave it out."
        raise ParameterError(message)
    if len(sources) < FEWEST_ROWS:
        message = (
            f"Sources are drawn over time, and {len(sources)} {'row is' if len(sources) == 1 else 'rows are'} too few. "
            f"Pass at least {FEWEST_ROWS} rows, in the order of time."
        )
        raise ParameterError(message)
    s, rate = host(sources), 1.0 if sampling_rate is None else float(sampling_rate)
    starts = np.unique(np.linspace(0, len(s), min(steps, len(s)), endpoint=False).astype(np.int64))
    frequencies, spectra = _spectra(s, rate, bands)
    report = model.independence
    return SourceTraces(
        names=tuple(names_of(model)),
        time=starts / rate,
        low=np.minimum.reduceat(s, starts, axis=0).T,
        high=np.maximum.reduceat(s, starts, axis=0).T,
        frequencies=frequencies,
        spectra=spectra,
        shares=shares_of(model),
        kurtosis=None if report is None else host(report.kurtosis),
        stability=None if model.stability is None else host(model.stability),
        gaussian=report.gaussian if report is not None and report.can_tell else (),
        unit="rows" if sampling_rate is None else "seconds",
    )


def _spectra(s: np.ndarray, rate: float, bands: int) -> tuple[np.ndarray, np.ndarray]:
    """Return frequencies and normalized power of each column."""
    # Long windows tell low tones apart; four of them at least, so that the average is one.
    length = max(min(2 * bands, len(s)), min(len(s) // 4, MOST_BANDS * 2))
    starts = range(0, len(s) - length + 1, max(1, length // 2))
    window = np.hanning(length + 2)[1:-1, None]
    centered = s - s.mean(axis=0)
    power = sum(np.abs(np.fft.rfft(centered[start : start + length] * window, axis=0)) ** 2 for start in starts)
    power = np.asarray(power)[1:].T
    totals = power.sum(axis=1, keepdims=True)
    share = np.divide(power, totals, out=np.zeros_like(power), where=totals > 0)
    return np.fft.rfftfreq(length, 1.0 / rate)[1:], share
