"""Two hearts on one skin: `python examples/two_hearts.py [recording.npz]`.

Leads on a mother see her heart and, a hundred times weaker, the child's. ICA gives each a source of its own, and the
spacing of its beats tells whose it is. Without a file a recording is made up; a file holds `data` (leads x time) and
`sampling_rate`. Needs matplotlib for the picture.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from gramian import ICA

OUT = Path("out")


def made_up() -> tuple[np.ndarray, float]:
    """Ten seconds of six leads at 250 Hz: hearts at 80 and 132 beats a minute, breath and noise."""
    rng = np.random.default_rng(1)
    t = np.arange(2500) / 250
    beat = [np.exp(-0.5 * (((t * rate / 60) % 1 - 0.5) * 60 / rate / 0.015) ** 2) for rate in (80, 132)]
    sources = np.column_stack([*beat, np.sin(2 * np.pi * 0.3 * t)])
    sources = (sources - sources.mean(axis=0)) / sources.std(axis=0)
    return sources @ (rng.standard_normal((6, 3)) * [30, 3, 10]).T + 0.05 * rng.standard_normal((2500, 6)), 250.0


def read(path: str) -> tuple[np.ndarray, float]:
    """Rows (time x leads) and rate of a recording."""
    file = np.load(path)
    return file["data"].T.astype(np.float64), float(file["sampling_rate"])


def pulse(s: np.ndarray, rate: float) -> float:
    """Beats a minute, by the autocorrelation of the squared source; zero where there is no rhythm."""
    x = np.minimum(np.abs(s) / s.std(), 5.0) ** 2
    x = np.convolve(x - x.mean(), np.ones(9) / 9, mode="same")
    lags = np.fft.irfft(np.abs(np.fft.rfft(x, 2 * len(x))) ** 2)[: len(x)]
    low, high = int(rate * 60 / 180), int(rate * 60 / 50)
    best = low + int(np.argmax(lags[low:high]))
    # A slow wave has large lags without a peak: a pulse is a peak.
    peak = lags[best] > max(0.2 * lags[0], lags[best - 5], lags[best + 5])
    return 60 * rate / best if peak else 0.0


X, rate = read(sys.argv[1]) if len(sys.argv) > 1 else made_up()
ica = ICA(n_components=None if len(sys.argv) > 1 else 3, report=False).fit(X)
S = ica.transform(X)
pulses = np.array([pulse(s, rate) for s in S.T])
for i, beats in enumerate(pulses):
    whose = "the child" if beats > 105 else "the mother" if beats > 50 else "no heart"
    share = ica.explained_variance_[i] / X.var(axis=0).sum()
    print(f"source {i}: {share:7.2%} of the variance, {beats:5.1f} beats a minute: {whose}")

t = np.arange(len(X)) / rate
figure = Figure(figsize=(10, 1.2 * S.shape[1] + 1), layout="constrained")
for i, axes in enumerate(np.atleast_1d(figure.subplots(S.shape[1], 1, sharex=True))):
    axes.plot(t, S[:, i], lw=0.7, color="C3" if pulses[i] > 105 else "C0" if pulses[i] > 50 else "0.6")
    axes.set_ylabel(f"{pulses[i]:.0f}/min" if pulses[i] else "", rotation=0, labelpad=24)
axes.set_xlabel("seconds")
OUT.mkdir(exist_ok=True)
figure.savefig(OUT / "two_hearts.png", dpi=110)
print(f"wrote {OUT / 'two_hearts.png'}")
