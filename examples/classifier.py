"""A classifier and a regression, with and without PCA: `python examples/classifier.py [folder for the picture]`.

Fewer dimensions generalize better where rows are few: digits from 60 of them. From 1,000 there is nothing to gain, and
what varies little is lost: a number that hangs on the column of least variance. Rings want the components of a kernel.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_digits, make_circles
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from gramian import KernelPCA
from gramian.models.prediction import prediction_curve
from gramian.pictures.drawing import COLORS, plain_frame

digits, digit = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
X = rng.standard_normal((400, 30)) * np.geomspace(5.0, 0.5, 30)
curves = {
    "digits, from 60 of them": prediction_curve(digits, digit, 60),
    "digits, from 1,000 of them": prediction_curve(digits, digit, 1000),
    "the column of least variance, from 100": prediction_curve(X, X[:, -1] + 0.1 * rng.standard_normal(400), 100),
}
for name, curve in curves.items():
    print(f"{name}\n{curve}\n")

rings, ring = make_circles(300, noise=0.05, factor=0.5, random_state=0)
line, kernel = LogisticRegression(), make_pipeline(KernelPCA(4, kernel="rbf", gamma=0.5), LogisticRegression(C=100))
for name, model in (("a line in the plane", line), ("a plane on four kernel components", kernel)):
    print(f"two rings, {name}: {cross_val_score(model, rings, ring).mean():.0%} right")
distance = np.linalg.norm(rings, axis=1)
line, kernel = LinearRegression(), make_pipeline(KernelPCA(6, kernel="rbf", gamma=0.5), LinearRegression())
for name, model in (("columns", line), ("six kernel components", kernel)):
    print(f"distance from the center, by {name}: R2 = {cross_val_score(model, rings, distance).mean():.2f}")

figure = Figure(figsize=(9.6, 3.4), layout="constrained")
figure.get_layout_engine().set(w_pad=0.08)
for ax, (name, curve) in zip(figure.subplots(1, 3, sharey=True), curves.items(), strict=True):
    ax.axhline(curve.full_error, color=COLORS[1], linestyle=(0, (4, 3)), linewidth=1.2)
    ax.text(1, curve.full_error - 0.02, f"all {curve.n_columns} columns", color=COLORS[1], fontsize=9, va="top")
    ax.errorbar(curve.dimensions, curve.errors, curve.spreads, color=COLORS[0], marker="o", markersize=4)
    ax.set_title(name, fontsize=10, loc="left")
    ax.set(xscale="log", xlabel="components", ylim=(-0.08, 1.3))
    ax.set_xticks([1, 2, 5, 10, 20, 50], ["1", "2", "5", "10", "20", "50"])
    ax.set_xticks([], minor=True)
    plain_frame(ax)
figure.axes[0].set_ylabel("error on rows left out")
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "classifier.png", dpi=110)
