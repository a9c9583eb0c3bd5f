"""Eigenfunctions: components of a kernel over the plane.

A component of kernel PCA is a function, the score of every point. Bands join points of equal score, and the dark line
is zero. The first two tell three clouds apart; the next ones cut the clouds.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from gramian import KernelPCA

rng = np.random.default_rng(0)
centers = np.array([[-0.5, -0.2], [0.0, 0.6], [0.5, 0.0]])
X = np.concatenate([center + 0.1 * rng.standard_normal((30, 2)) for center in centers])
kpca = KernelPCA(6, kernel="rbf", gamma=10.0).fit(X)
ax = kpca.plot.eigenfunctions(ax=Figure(figsize=(9, 5.6), layout="constrained").subplots())

Path("out").mkdir(exist_ok=True)
ax.figure.savefig("out/eigenfunctions.png", dpi=110)
print(f"Shares: {kpca.explained_variance_ratio_.round(2)}")
