"""The biplot: rows and columns in one picture.

Points are rows, arrows columns: a row far along an arrow has much of that column. `scaling="rows"` keeps distances
between rows, `"columns"` angles between columns; the title says which.
"""

from pathlib import Path

from matplotlib.figure import Figure
from sklearn.datasets import load_wine

from gramian import PCA

wine = load_wine()
pca = PCA(2, scale=True).fit(wine.data)
names = [name.split("/")[0].replace("_", " ") for name in wine.feature_names]
ax = Figure(figsize=(7, 5.4), layout="constrained").subplots()
pca.plot.biplot(wine.data, color=wine.target, names=names, ax=ax)

Path("out").mkdir(exist_ok=True)
ax.figure.savefig("out/biplot.png", dpi=110)
print(ax.get_title(loc="left"))
