"""PCA, kernel PCA and ICA beside R's: figures that are kept, and, where R is installed, those of today."""

import csv
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_wine

from gramian import PCA, FastICA, KernelPCA

HERE = Path(__file__).parent
WINE = load_wine().data


def mixed():
    """Three sources of 2,000 instants in three columns."""
    rng = np.random.default_rng(0)
    S = np.column_stack([rng.uniform(-1, 1, 2000), rng.laplace(size=2000), np.sign(np.sin(np.arange(2000) / 7))])
    return S @ rng.standard_normal((3, 3))


def figures_of(file):
    """Tables by name."""
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    found = {}
    for entry in csv.DictReader(lines):
        found.setdefault(entry["name"], {})[int(entry["row"]), int(entry["column"])] = float(entry["value"])
    return {name: np.array([cells[at] for at in sorted(cells)]).reshape(max(cells)) for name, cells in found.items()}


@pytest.fixture(scope="module", params=["kept", "today"])
def figures(request, tmp_path_factory):
    """What R says: kept (their versions are in the file's first line), or asked again."""
    if request.param == "kept":
        return figures_of(HERE / "figures.csv")
    if shutil.which("Rscript") is None:
        pytest.skip("needs R with kernlab, fastICA and FactoMineR")
    folder = tmp_path_factory.mktemp("r")
    for name, X in (("wine", WINE), ("mixed", mixed())):
        header = ",".join(f"x{j}" for j in range(X.shape[1]))
        np.savetxt(folder / f"{name}.csv", X, delimiter=",", fmt="%.17g", header=header, comments="")
    words = [shutil.which("Rscript"), HERE / "peers.R", folder]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if "there is no package called" in done.stderr:
        pytest.skip("R lacks one of kernlab, fastICA and FactoMineR")
    assert done.returncode == 0, done.stderr
    return figures_of(folder / "figures.csv")


def agree(ours, theirs, digits):
    """To so many digits of the largest, and up to the signs of components."""
    signs = np.sign((ours * theirs).sum(axis=0))
    np.testing.assert_allclose(ours * signs, theirs, rtol=0, atol=10.0**-digits * np.abs(theirs).max())


def test_pca_is_prcomp(figures):
    """`prcomp(X, scale. = TRUE)`: variances, rotation and scores, to twelve digits."""
    pca = PCA(scale=True).fit(WINE)
    np.testing.assert_allclose(pca.explained_variance_, figures["prcomp variances"][:, 0], rtol=1e-12)
    agree(pca.components_[:4].T, figures["prcomp rotation"], 12)
    agree(pca.transform(WINE)[:5, :4], figures["prcomp scores"], 12)


def test_pca_is_factominers(figures):
    """`PCA(X, scale.unit = TRUE)`, which divides by n: eigenvalues, coordinates, correlations, to twelve digits."""
    scaled = (WINE - WINE.mean(axis=0)) / WINE.std(axis=0)
    pca = PCA(4, ddof=0).fit(scaled)
    eigenvalues = PCA(ddof=0).fit(scaled).explained_variance_
    np.testing.assert_allclose(eigenvalues, figures["FactoMineR eigenvalues"][:, 0], rtol=1e-12)
    agree(pca.transform(scaled)[:5], figures["FactoMineR coordinates"], 12)
    agree(pca.components_.T * np.sqrt(pca.explained_variance_), figures["FactoMineR correlations"], 12)


@pytest.mark.parametrize("name, words", [("rbf", {"gamma": 0.05}), ("poly", {"degree": 2, "gamma": 1.0, "coef0": 1.0})])
def test_kernel_pca_is_kernlabs(figures, name, words):
    """`kpca(X, kernel)`: its eigenvalues are those of K / n, its scores sqrt(n) times ours, to ten digits."""
    scaled = (WINE - WINE.mean(axis=0)) / WINE.std(axis=0, ddof=1)
    kpca = KernelPCA(4, kernel=name, eigen_solver="dense", **words).fit(scaled)
    n = len(WINE)
    np.testing.assert_allclose(kpca.eigenvalues_ / n, figures[f"kernlab {name} eigenvalues"][:, 0], rtol=1e-10)
    agree(np.sqrt(n) * kpca.transform(scaled)[:5], figures[f"kernlab {name} scores"], 10)


def test_ica_is_fastica(figures):
    """`fastICA(X, 3)` at convergence: the unmixing matrix, up to sign and order, to six digits."""
    ica = FastICA(3, algorithm="parallel", fun="logcosh", whiten="unit-variance", tol=1e-10, max_iter=1000)
    ours, theirs = ica.fit(mixed()).components_, figures["fastICA unmixing"]
    order = np.abs(np.corrcoef(ours @ mixed().T, theirs @ mixed().T)[:3, 3:]).argmax(axis=0)
    agree(ours[order].T, theirs.T, 6)
