"""Independent sources: traces over time, spectra, and how sure each source is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.errors import ParameterError
from gramian.pictures.drawing import COLORS, KEPT, MUTED, axes_or_new, plain_frame
from gramian.pictures.fitted import host, names_of, require_kind, scores_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
        In hertz, or cycles per row.
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
        Rows per second.
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
    model = require_kind(fitted, "ica")
    if sampling_rate is not None and not sampling_rate > 0:
        message = f"sampling_rate={sampling_rate!r} is no rate. Pass rows per second, or leave it out."
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
        shares=model.shares,
        kurtosis=None if report is None else host(report.kurtosis),
        stability=None if model.stability is None else host(model.stability),
        gaussian=report.gaussian if report is not None and report.can_tell else (),
        unit="rows" if sampling_rate is None else "seconds",
    )


def _spectra(s: np.ndarray, rate: float, bands: int) -> tuple[np.ndarray, np.ndarray]:
    """Return frequencies and normalized power of each column."""
    # Long windows tell low tones apart: at most 1,024 bands, and at least four windows, so that the average is one.
    length = max(min(2 * bands, len(s)), min(len(s) // 4, 2048))
    starts = range(0, len(s) - length + 1, max(1, length // 2))
    window = np.hanning(length + 2)[1:-1, None]
    centered = s - s.mean(axis=0)
    power = sum(np.abs(np.fft.rfft(centered[start : start + length] * window, axis=0)) ** 2 for start in starts)
    power = np.asarray(power)[1:].T
    totals = power.sum(axis=1, keepdims=True)
    share = np.divide(power, totals, out=np.zeros_like(power), where=totals > 0)
    return np.fft.rfftfreq(length, 1.0 / rate)[1:], share


def sources(model: Any, X: Any, *, sampling_rate: float | None = None, ax: Axes | None = None) -> Axes:
    """Draw independent sources over time with spectra, kurtosis and stability.

    Parameters
    ----------
    model : a fitted ICA
    X : rows (n, d)
        In the order of time.
    sampling_rate : float, optional
        Rows per second.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes
    """
    table = scores_table(model, X)
    return plot_sources(source_traces(model, table, sampling_rate=sampling_rate), ax=ax)


def plot_sources(traces: SourceTraces, *, ax: Axes | None = None) -> Axes:
    """Draw each source over time with its spectrum beside it; kurtosis and stability stand above each.

    Sources that cannot be told from a Gaussian are gray. At most twelve are drawn, those that explain most.
    """
    count = min(len(traces.names), 12)
    ax = axes_or_new(ax, width=9.0, height=0.6 + 1.15 * count)
    ax.set_axis_off()
    step = 1.0 / max(count, 1)
    for i in range(count):
        floor, height = 1.0 - (i + 1) * step + 0.12 * step, 0.62 * step
        last = i == count - 1
        _draw_trace(ax.inset_axes((0.0, floor, 0.72, height)), traces, i, last=last)
        _draw_spectrum(ax.inset_axes((0.77, floor, 0.23, height)), traces, i, last=last)
    return ax


def _draw_trace(ax: Axes, traces: SourceTraces, i: int, *, last: bool) -> None:
    color = MUTED if i in traces.gaussian else KEPT
    x, y = np.repeat(traces.time, 2), np.column_stack([traces.low[i], traces.high[i]]).ravel()
    ax.plot(x, y, color=color, linewidth=0.7)
    ax.set_title(_facts(traces, i), fontsize="small", loc="left", pad=3)
    ax.set_yticks([])
    ax.set_xlim(traces.time[0], traces.time[-1])
    _finish(ax, traces.unit, last=last)


def _draw_spectrum(ax: Axes, traces: SourceTraces, i: int, *, last: bool) -> None:
    ax.fill_between(traces.frequencies, traces.spectra[i], color=COLORS[2], alpha=0.6, linewidth=0)
    ax.set_xscale("log")
    ax.set_yticks([])
    ax.set_ylim(bottom=0.0)
    ax.set_xlim(traces.frequencies[0], traces.frequencies[-1])
    _finish(ax, "hertz" if traces.unit == "seconds" else "cycles per row", last=last)


def _finish(ax: Axes, unit: str, *, last: bool) -> None:
    plain_frame(ax)
    ax.spines["left"].set_visible(False)
    if last:
        ax.set_xlabel(unit, fontsize="small")
        ax.tick_params(labelsize="small")
    else:
        ax.tick_params(labelbottom=False)


def _facts(traces: SourceTraces, i: int) -> str:
    parts = [f"{traces.names[i]}: {traces.shares[i]:.0%}"]
    if traces.kurtosis is not None:
        parts.append(f"kurtosis {traces.kurtosis[i]:+.1f}")
    if traces.stability is not None:
        parts.append(f"stability {traces.stability[i]:.2f}")
    if i in traces.gaussian:
        parts.append("too Gaussian to be told apart")
    return ", ".join(parts)
