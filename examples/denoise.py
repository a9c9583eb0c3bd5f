"""Digits with noise, rebuilt from few components: `python examples/denoise.py [folder for the picture]`.

Noise spreads over all components, what is drawn over a few: too few lose the drawing, too many bring the noise back.
For kernels and pre-images see denoise_digits.py.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_digits

from gramian import PCA, how_many
from gramian.pictures.drawing import COLORS, MUTED, plain_frame

clean, _ = load_digits(return_X_y=True)
noisy = clean + 4.0 * np.random.default_rng(0).standard_normal(clean.shape)
counts = [1, 2, 5, 10, 15, 20, 25, 30, 40, 50, 64]
fits = {k: PCA(k).fit(noisy) for k in counts}
rebuilt = {k: pca.inverse_transform(pca.transform(noisy)) for k, pca in fits.items()}
errors = {k: np.mean((X - clean) ** 2) for k, X in rebuilt.items()}
before, best = np.mean((noisy - clean) ** 2), min(errors, key=errors.get)
print(f"mean squared error per pixel: {before:.1f} as they are, {errors[best]:.1f} rebuilt from {best} components")
print(f"without a look at the clean ones, {how_many(noisy).n_components} components are recommended")

figure = Figure(figsize=(9.6, 3.6), layout="constrained")
images, chart = figure.subfigures(1, 2, width_ratios=[1.2, 1])
for row, (name, X) in zip(
    images.subplots(3, 6), {"clean": clean, "noisy": noisy, f"from {best}": rebuilt[best]}.items(), strict=True
):
    for i, ax in enumerate(row):
        ax.imshow(X[i].reshape(8, 8), cmap="gray_r", vmin=0, vmax=16)
        ax.set_xticks([])
        ax.set_yticks([])
        ax.spines[:].set_visible(False)
    row[0].set_ylabel(name, rotation=0, ha="right", va="center")
ax = chart.subplots()
ax.axhline(before, color=MUTED, linestyle=(0, (4, 3)), linewidth=1.0)
ax.text(25, before + 0.2, "noise as it is", color=MUTED, fontsize=9, va="bottom")
ax.plot(list(errors), list(errors.values()), color=COLORS[0], marker="o", markersize=4)
ax.set(xlabel="components", ylabel="mean squared error per pixel", ylim=(0, 18))
plain_frame(ax)
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "denoise.png", dpi=110)
