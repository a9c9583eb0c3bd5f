"""k-means after PCA: what it costs, and what it saves.

How much more the clusters cost when they are looked for in a few scores instead of all columns, the most that theory
allows, and how much sooner it ends.
"""

from pathlib import Path

from matplotlib.figure import Figure
from sklearn.datasets import load_digits

from gramian import kmeans_cost, plot

curve = kmeans_cost(load_digits().data, 10)
ax = plot.kmeans(curve, ax=Figure(figsize=(7, 4), layout="constrained").subplots())

Path("out").mkdir(exist_ok=True)
ax.figure.savefig("out/kmeans_cost.png", dpi=110)
print(f"The largest number of components tried costs {curve.increases[-1]:+.1%}.")
