"""Independent sources: traces, spectra, and how sure each is."""

import numpy as np
from matplotlib.axes import Axes

from gramian.plots.axes import axes_or_new, plain_frame
from gramian.plots.palette import COLORS, KEPT, MUTED
from gramian.views.sources import SourceTraces

_MOST = 12


def plot_sources(traces: SourceTraces, *, ax: Axes | None = None) -> Axes:
    """Draw each source over time with its spectrum beside it; kurtosis and stability stand above each.

    Sources that cannot be told from a Gaussian are gray. At most twelve are drawn, those that explain most.

    Parameters
    ----------
    traces : SourceTraces
        From ``gramian.views.source_traces``.
    ax : matplotlib axes, optional
        Where to draw; a new figure unless given.

    Returns
    -------
    matplotlib axes
        Those given; the sources stand in panels inside them.
    """
    count = min(len(traces.names), _MOST)
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
    _finish(ax, "hertz" if traces.unit == "seconds" else "cycles a row", last=last)


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
