"""Loadings and contributions: what one component is made of.

Left the weight of each column, with its sign. Right its part in the component, which is the square: the parts sum to
one, and the dashed line is the part that each would have if all had the same.
"""

from pathlib import Path

from matplotlib.figure import Figure
from sklearn.datasets import load_wine

from gramian import PCA

wine = load_wine()
pca = PCA(2, scale=True).fit(wine.data)
names = [name.split("/")[0].replace("_", " ") for name in wine.feature_names]
left, right = Figure(figsize=(9.6, 4.4), layout="constrained").subplots(1, 2)
pca.plot.loadings(names=names, ax=left)
pca.plot.contributions(names=names, ax=right)

Path("out").mkdir(exist_ok=True)
left.figure.savefig("out/loadings.png", dpi=110)
print(f"Weights of PC1 squared sum to {(pca.components_[0] ** 2).sum():.3f}.")
