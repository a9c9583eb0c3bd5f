"""Take eye blinks out of a recording: `python examples/artefacts.py [recording.npz]`.

Without a file a recording is made up: eight sensors, two rhythms, a slow drift and blinks, each seen by every sensor.
A file holds `data` (channels x time), `sampling_rate` and `channels`. Needs matplotlib for the picture.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from gramian import ICA
from gramian.pictures.drawing import COLORS, MUTED, plain_frame

OUT = Path("out")


def made_up() -> tuple[np.ndarray, float, list[str]]:
    """Sixty seconds of eight sensors at 128 Hz; the first two see the blinks best."""
    rng = np.random.default_rng(0)
    t = np.arange(60 * 128) / 128
    blinks = sum(np.exp(-0.5 * ((t - at) / 0.08) ** 2) for at in np.cumsum(rng.uniform(2, 5, 15)))
    alpha = np.sin(2 * np.pi * 10 * t) * (1 + np.sin(2 * np.pi * 0.1 * t))
    bursts = rng.laplace(size=len(t)) * (rng.random(len(t)) < 0.3)
    drift = np.cumsum(rng.standard_normal(len(t)))
    sources = np.column_stack([blinks, alpha, bursts, drift])
    sources = (sources - sources.mean(axis=0)) / sources.std(axis=0)
    mixing = rng.standard_normal((8, 4)) * [20, 8, 5, 5]
    mixing[:2, 0] = 60
    noise = 0.1 * rng.standard_normal((len(t), 8))
    return sources @ mixing.T + noise, 128.0, ["FPz", "FP1", *(f"ch{i}" for i in range(3, 9))]


def read(path: str) -> tuple[np.ndarray, float, list[str]]:
    """Rows (time x channels), rate and names of a recording."""
    file = np.load(path)
    return file["data"].T.astype(np.float64), float(file["sampling_rate"]), [str(name) for name in file["channels"]]


X, rate, channels = read(sys.argv[1]) if len(sys.argv) > 1 else made_up()
frontal = [i for i, name in enumerate(channels) if name.upper().startswith("FP")]
ica = ICA(n_components=None if len(sys.argv) > 1 else 4).fit(X)
S = ica.transform(X)
eyes = X[:, frontal].mean(axis=1)
likeness = np.abs([np.corrcoef(s, eyes)[0, 1] for s in S.T])
blinking = np.flatnonzero(likeness > 0.4)
clean = ica.remove(X, sources=blinking)

print(f"{S.shape[1]} sources, gradient norm {ica.gradient_norm_:.0e} after {ica.n_iter_} iterations")
print(f"mutual information fell by {ica.mutual_information_drop_:.2f} +- {ica.independence_.drop_error:.2f} nats")
for i in blinking:
    print(f"IC{i + 1}: correlation {likeness[i]:.2f} with the eyes, kurtosis {ica.independence_.kurtosis[i]:.1f}")
share = clean[:, frontal].var() / X[:, frontal].var()
print(f"variance left in the frontal channels without them: {share:.0%}")

# Twenty seconds with many blinks.
length = min(len(X), int(20 * rate))
energy = np.cumsum(np.r_[0.0, (S[:, blinking] ** 4).sum(axis=1)])
first = int(np.argmax(energy[length:] - energy[:-length]))
shown = slice(first, first + length)
t = np.arange(len(X))[shown] / rate
figure = Figure(figsize=(9.6, 6.4), layout="constrained")
panels = figure.subplots(2 + len(blinking), 1, sharex=True)
figure.suptitle(f"{len(blinking)} of {S.shape[1]} sources held the blinks", x=0.01, ha="left", fontsize=13)
for axes, channel, name in ((panels[0], frontal, "frontal channels"), (panels[-1], [-1], channels[-1])):
    axes.plot(t, X[shown][:, channel].mean(axis=1), color=MUTED, lw=0.8, label="as recorded")
    axes.plot(t, clean[shown][:, channel].mean(axis=1), color=COLORS[0], lw=0.9, label="without the blinks")
    axes.set_title(name, loc="left", fontsize=10)
for axes, i in zip(panels[1:-1], blinking, strict=True):
    axes.plot(t, S[shown][:, i], color=COLORS[1], lw=0.9)
    axes.set_title(f"IC{i + 1}: correlation {likeness[i]:.2f} with the frontal channels", loc="left", fontsize=10)
for axes in panels:
    plain_frame(axes)
    axes.margins(x=0)
panels[0].legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2, frameon=False, borderaxespad=0.1)
panels[-1].set_xlabel("seconds")
OUT.mkdir(exist_ok=True)
figure.savefig(OUT / "artefacts.png", dpi=110)
print(f"wrote {OUT / 'artefacts.png'}")
