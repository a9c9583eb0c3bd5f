"""The map of rows: each row on two components.

Rows that lie together are alike. A label colors the groups, and gives each a shape of its own; a number colors by
shade. Of many rows, lines of density are drawn.
"""

from pathlib import Path

from matplotlib.figure import Figure
from sklearn.datasets import load_wine

from gramian import PCA

wine = load_wine()
pca = PCA(2, scale=True).fit(wine.data)
left, right = Figure(figsize=(9.6, 4.2), layout="constrained").subplots(1, 2)
cultivars = [f"cultivar {label + 1}" for label in wine.target]
pca.plot.scores(wine.data, color=cultivars, ax=left)
pca.plot.scores(wine.data, color=wine.data[:, 0], color_name="alcohol", ax=right)

Path("out").mkdir(exist_ok=True)
left.figure.savefig("out/scores.png", dpi=110)
print(f"Both axes hold {pca.explained_variance_ratio_.sum():.0%} of the variance.")
