"""A face from 15 numbers: `python examples/faces.py [faces.npz] [folder for the picture]`.

Components of faces are faces, and a face is their mean and a few of them. Four fifths of the faces are learned from,
the others are new. They are drawn by a program; the lectures have photographs: a file with `images` (n, height, width).
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from gramian import PCA
from gramian.cli.demo import MAKERS

given = sys.argv[1:]
if given and given[0].endswith(".npz"):
    images = np.load(given.pop(0))["images"].astype(float)
    shape, X = images.shape[1:], images.reshape(len(images), -1)
    X = X[np.random.default_rng(0).permutation(len(X))]
else:
    X, shape = MAKERS["faces"]()[0].numbers, (32, 32)

n = 4 * len(X) // 5
pca = PCA(50).fit(X[:n])
spread = np.sum((X[n:] - pca.mean_) ** 2)
for k in (5, 15, 50):
    kept = 1 - PCA(k).fit(X[:n]).reconstruction_error(X[n:]).sum() / spread
    print(f"{k} numbers of {X.shape[1]:,} keep {kept:.0%} of {len(X) - n} faces that were not learned from")

ax = Figure(figsize=(8, 3.6), layout="constrained").subplots()
pca.plot.reconstructions(X[-1], shape, ax=ax)
folder = Path(given[0] if given else "out")
folder.mkdir(parents=True, exist_ok=True)
ax.figure.savefig(folder / "faces.png", dpi=110)
