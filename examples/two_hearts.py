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
from gramian.pictures.drawing import COLORS, MUTED

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
ica = ICA(n_components=None if len(sys.argv) > 1 else 3, independence=False).fit(X)
S = ica.transform(X)
pulses = np.array([pulse(s, rate) for s in S.T])
hearts = ["child" if beats > 105 else "mother" if beats > 50 else "" for beats in pulses]
for i, whose in enumerate(hearts):
    share = ica.explained_variance_[i] / X.var(axis=0).sum()
    said = f"{pulses[i]:5.1f} beats a minute: the {whose}" if whose else "no heart"
    print(f"IC{i + 1}: {share:7.2%} of the variance, {said}")

t = np.arange(len(X)) / rate
inks = {"child": COLORS[1], "mother": COLORS[0], "": MUTED}
figure = Figure(figsize=(9.6, 0.9 * S.shape[1] + 1), layout="constrained")
figure.suptitle("Each source of the skin's voltage, most variance first", x=0.01, ha="left", fontsize=13)
for s, beats, whose, axes in zip(S.T, pulses, hearts, figure.subplots(S.shape[1], 1, sharex=True), strict=True):
    axes.plot(t, s, lw=0.8, color=inks[whose])
    words = f"{whose}\n{beats:.0f} a minute" if whose else "no pulse"
    axes.set_ylabel(words, rotation=0, ha="right", va="center", color=inks[whose], labelpad=8)
    axes.margins(x=0)
    axes.set_yticks([])
    axes.spines[["top", "right", "left", "bottom"]].set_visible(False)
    axes.tick_params(length=0)
axes.spines["bottom"].set_visible(True)
axes.tick_params(axis="x", length=3)
axes.set_xlabel("seconds")
OUT.mkdir(exist_ok=True)
figure.savefig(OUT / "two_hearts.png", dpi=110)
print(f"wrote {OUT / 'two_hearts.png'}")
