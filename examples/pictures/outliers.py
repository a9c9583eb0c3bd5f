"""Rows worth a look: unusual within the components, or off them.

Across, Hotelling's T2: how far a row is from the middle, within the components. Upward, the squared prediction error:
how far it is from what the components can say. Dashed lines are the limits; rows beyond them are named.
"""

from pathlib import Path

from matplotlib.figure import Figure
from sklearn.datasets import load_wine

from gramian import PCA

wine = load_wine()
pca = PCA(3, scale=True).fit(wine.data)
ax = pca.plot.outliers(wine.data, ax=Figure(figsize=(7, 4.6), layout="constrained").subplots())

Path("out").mkdir(exist_ok=True)
ax.figure.savefig("out/outliers.png", dpi=110)
print(f"{len(pca.outliers(wine.data).flagged)} of {len(wine.data)} rows lie beyond the 99% limits.")
