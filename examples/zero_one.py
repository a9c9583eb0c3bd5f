"""Handwritten zeros and ones on two components: `python examples/zero_one.py [images.npz] [folder for the picture]`.

The bundled digits have 8 x 8 pixels. The lectures have 2,000 images of 28 x 28: a file with `images` and `labels`.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from gramian import PCA
from gramian.pictures.drawing import COLORS, MARKERS, plain_frame

given = sys.argv[1:]
if given and given[0].endswith(".npz"):
    file = np.load(given.pop(0))
    X, digit = file["images"].reshape(len(file["images"]), -1).astype(float), file["labels"]
else:
    X, digit = load_digits(n_class=2, return_X_y=True)

pca = PCA(2).fit(X)
Y = pca.transform(X)
right = cross_val_score(make_pipeline(PCA(2), LogisticRegression()), X, digit, cv=10).mean()
print(f"{len(X):,} images of {X.shape[1]} pixels; two components hold {pca.explained_variance_ratio_.sum():.1%}")
print(f"a line in their plane tells {right:.2%} of left out images right")

figure = Figure(figsize=(6.0, 4.2), layout="constrained")
ax = figure.subplots()
for group in (0, 1):
    ax.scatter(*Y[digit == group].T, s=12, color=COLORS[group], marker=MARKERS[group], alpha=0.6, linewidths=0)
    box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 2}
    ax.annotate(f"{group}", Y[digit == group].mean(axis=0), fontsize=16, color=COLORS[group], weight="bold", bbox=box)
ax.set(xlabel="PC1", ylabel="PC2")
plain_frame(ax)
folder = Path(given[0] if given else "out")
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "zero_one.png", dpi=110)
