"""Which component of a spectrum answers the question: `python examples/spectra.py [spectra.npz]`.

Near infrared spectra of sixty samples, and what a laboratory measured of each. Components come by variance; what was
asked may sit in a late one. Without a file spectra are made up; a file holds `spectra` (samples x wavelengths),
`wavelength_nm` and `octane`.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.pipeline import make_pipeline

from gramian import PCA
from gramian.pictures.drawing import COLORS, MUTED, plain_frame


def made_up() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sixty spectra: a baseline that shifts, two large bands, and a small one that is what was asked."""
    rng = np.random.default_rng(0)
    nm = np.arange(900.0, 1701.0, 2.0)
    bands = [np.exp(-0.5 * ((nm - at) / width) ** 2) for at, width in ((1190, 30), (1410, 45), (1240, 18))]
    amounts = rng.uniform(0.5, 1.5, (60, 3)) * [1.0, 0.8, 0.15]
    baseline = rng.normal(0, 0.25, (60, 1)) + rng.normal(0, 0.1, (60, 1)) * (nm - 1300) / 400
    return amounts @ np.array(bands) + baseline + 0.002 * rng.standard_normal((60, len(nm))), nm, amounts[:, 2]


if len(sys.argv) > 1:
    file = np.load(sys.argv[1])
    X, nm, y = file["spectra"].astype(float), file["wavelength_nm"], file["octane"].astype(float)
else:
    X, nm, y = made_up()

pca = PCA(8).fit(X)
folds = KFold(10, shuffle=True, random_state=0)
errors = []
for k in range(1, 9):
    predicted = cross_val_predict(make_pipeline(PCA(k), LinearRegression()), X, y, cv=folds)
    errors.append(np.sqrt(np.mean((predicted - y) ** 2)) / y.std())
    print(f"{k} components, {pca.explained_variance_ratio_[:k].sum():.1%} of the variance: error {errors[-1]:.2f} sd")
step = 1 + int(np.argmax(-np.diff([1.0, *errors])))
print(f"Component {step}, {pca.explained_variance_ratio_[step - 1]:.1%} of the variance, is what helps most.")

figure = Figure(figsize=(9.6, 5.6), layout="constrained")
(spectra, error), (first, late) = figure.subplots(2, 2)
spectra.plot(nm, X.T, color=MUTED, lw=0.4, alpha=0.6)
spectra.set_title(f"{len(X)} spectra", loc="left", fontsize=10)
error.plot(range(1, 9), errors, "o-", color=COLORS[0], lw=1.2)
error.set(xlabel="components", ylim=(0, None))
error.set_title("error on samples left out, in deviations of what was asked", loc="left", fontsize=10)
for ax, j in ((first, 0), (late, step - 1)):
    ax.plot(nm, pca.components_[j], color=COLORS[1], lw=1.0)
    share = pca.explained_variance_ratio_[j]
    ax.set_title(f"component {j + 1}: {share:.1%} of the variance", loc="left", fontsize=10)
    ax.set_xlabel("nm")
for ax in (spectra, error, first, late):
    plain_frame(ax)
Path("out").mkdir(exist_ok=True)
figure.savefig("out/spectra.png", dpi=110)
