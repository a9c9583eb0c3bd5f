"""The scree: what each component holds, and where the noise begins.

Bars are shares of the variance, the line their running sum. The dashed line is what noise alone reaches by parallel
analysis; the cut stands where the rule of `how_many` puts it.
"""

from pathlib import Path

from matplotlib.figure import Figure
from sklearn.datasets import load_wine

from gramian import PCA, how_many

wine = load_wine()
pca = PCA(scale=True).fit(wine.data)
choice = how_many(wine.data, scale=True)
ax = pca.plot.scree(choice=choice, ax=Figure(figsize=(7, 4), layout="constrained").subplots())

Path("out").mkdir(exist_ok=True)
ax.figure.savefig("out/scree.png", dpi=110)
print(choice)
