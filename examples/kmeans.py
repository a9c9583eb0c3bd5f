"""k-means after PCA: `python examples/kmeans.py [folder for the picture]`.

The lectures promise a cost within 5% at ten to a hundred times less time. On 1,797 digits of 64 pixels ten components
are enough for the cost; with so few pixels there is not much time to save. benchmarks/results/lectures.md has larger
tables, and one on which it fails.
"""

import sys
from pathlib import Path

from matplotlib.figure import Figure
from sklearn.datasets import load_digits

from gramian import kmeans_cost, plot

X, _ = load_digits(return_X_y=True)
curve = kmeans_cost(X, 10, dimensions=[1, 2, 5, 10, 20, 40])
print(curve)

enough = curve.dimensions[curve.increases <= 0.05][0]
print(f"{enough} components are enough for a cost within 5%")

figure = Figure(figsize=(7.0, 4.0), layout="constrained")
plot.kmeans(curve, ax=figure.subplots())
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "kmeans.png", dpi=110)
