"""The correlation circle: columns by what they have in common with two components.

An arrow that reaches the circle is held by the two components whole. Arrows in one direction go together, opposite
ones exclude each other, and a right angle says nothing in common, within this plane.
"""

from pathlib import Path

from matplotlib.figure import Figure
from sklearn.datasets import load_wine

from gramian import PCA

wine = load_wine()
pca = PCA(2, scale=True).fit(wine.data)
names = [name.split("/")[0].replace("_", " ") for name in wine.feature_names]
ax = pca.plot.correlation_circle(names=names, ax=Figure(figsize=(6, 6), layout="constrained").subplots())

Path("out").mkdir(exist_ok=True)
ax.figure.savefig("out/correlation_circle.png", dpi=110)
print(f"{pca.n_features_in_} columns")
