"""Recordings of three dimensions: 120 sensors x 500 instants x 20 objects: `python examples/meg.py [folder]`.

A table has two dimensions, and the question says which. Rows are instants to separate sources in time: ICA finds the
eye blink that every sensor saw, and takes it out. Rows are objects to compare these: the dual finds what kind each is,
from 60,000 columns. The recording is made up: tools and animals, of which each has a response of its own.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from gramian import ICA, PCA
from gramian.pictures.drawing import COLORS, MUTED, plain_frame

SENSORS, INSTANTS, OBJECTS = 120, 500, 20


def made_up() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The recording (sensors, instants, objects), the blinks in it (instants, objects), and each object's kind."""
    rng = np.random.default_rng(0)
    t, kind = np.arange(INSTANTS) / INSTANTS, np.arange(OBJECTS) % 2
    early, late = (np.exp(-0.5 * ((t - center) / 0.03) ** 2) for center in (0.2, 0.4))
    strength = rng.uniform(0.8, 1.2, OBJECTS)
    # All objects have the early response; of the late one animals have more.
    responses = [np.outer(early, strength), np.outer(late, 0.4 + 0.6 * kind)]
    blinks = np.stack([np.exp(-0.5 * ((t - at) / 0.02) ** 2) for at in rng.uniform(0, 1, OBJECTS)], axis=1)
    rhythm = np.sin(2 * np.pi * (12 * t[:, None] + rng.uniform(0, 1, OBJECTS)))
    seen = [np.multiply.outer(rng.standard_normal(SENSORS), part) for part in (*responses, 4 * blinks, 0.1 * rhythm)]
    return sum(seen) + 0.1 * rng.standard_normal((SENSORS, INSTANTS, OBJECTS)), blinks, kind


recording, blinks, kind = made_up()

# Instants of all objects are rows, sensors columns: 10,000 x 120.
by_instant = recording.transpose(2, 1, 0).reshape(-1, SENSORS)
ica = ICA(4, random_state=0).fit(by_instant)
sources = ica.transform(by_instant)
likeness = np.abs(np.corrcoef(sources.T, blinks.T.ravel())[-1, :-1])
blink = int(np.argmax(likeness))
clean = ica.remove(by_instant, sources=[blink])
print(
    f"{len(by_instant):,} instants x {SENSORS} sensors: IC{blink + 1} is the blinks, correlation {likeness[blink]:.3f}"
)


def by_object(rows: np.ndarray) -> np.ndarray:
    """Objects are rows, all instants of all sensors columns: 20 x 60,000."""
    return rows.reshape(OBJECTS, -1)


scores = {}
for name, rows in (("as recorded", by_instant), ("without the blinks", clean)):
    pca = PCA(2).fit(by_object(rows))
    scores[name] = pca.transform(by_object(rows))
    told = np.abs(np.corrcoef(scores[name].T, kind)[-1, :2]).max()
    print(f"{OBJECTS} objects x {SENSORS * INSTANTS:,} columns {name}: correlation {told:.2f} with their kind")
print(pca.plan_)

figure = Figure(figsize=(9.6, 3.4), layout="constrained")
figure.get_layout_engine().set(w_pad=0.08)
left, *right = figure.subplots(1, 3, width_ratios=[1.4, 1, 1])
sensor = np.argmax(np.abs(ica.mixing_[:, blink]))
for rows, color, name in ((by_instant, MUTED, "recorded"), (clean, COLORS[0], "cleaned")):
    left.plot(rows[:1000, sensor] - np.median(rows[:1000, sensor]), color=color, linewidth=0.7, label=name)
left.set_title("the sensor that saw the blinks most, two objects", fontsize=10, loc="left")
left.set_xlabel("instant")
left.legend(frameon=False, fontsize=9)
for ax, (name, Y) in zip(right, scores.items(), strict=True):
    for group, marker in ((0, "o"), (1, "^")):
        ax.scatter(*Y[kind == group].T, s=28, color=COLORS[group], marker=marker, label=("tools", "animals")[group])
    ax.set_title(f"20 objects, {name}", fontsize=10, loc="left")
    ax.set(xlabel="PC1", ylabel="PC2")
right[0].legend(frameon=False, fontsize=9, loc="lower left")
for ax in (left, *right):
    plain_frame(ax)
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "meg.png", dpi=110)
