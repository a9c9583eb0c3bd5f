"""Ways to unmix: Gramian, and the peers that it is measured against."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

Found = tuple[np.ndarray, str]
"""The matrix from centered rows to sources (k, d), and a note."""


@dataclass(frozen=True)
class Way:
    """A way to unmix: its tolerances from loose to tight, and ``fit(X, tol)`` in this process or ``apart`` from it."""

    name: str
    ladder: tuple[float, ...]
    fit: Callable[[np.ndarray, float], Found]
    preload: Callable[[], Any]
    apart: Callable[[np.ndarray, float], tuple[float, float, np.ndarray]] | None = None


def _gramian(**options: Any) -> Callable[[np.ndarray, float], Found]:
    def fit(X: np.ndarray, tol: float) -> Found:
        from gramian import ICA

        ica = ICA(tol=tol, random_state=0, max_iter=1000, **options).fit(X)
        return ica.components_, f"{ica.n_iter_} iterations"

    return fit


def _load_gramian() -> None:
    import scipy.linalg
    import scipy.optimize
    import scipy.special  # noqa: F401

    import gramian.estimators.ica
    import gramian.testing  # noqa: F401


def _scikit_learn(solver: str) -> Callable[[np.ndarray, float], Found]:
    def fit(X: np.ndarray, tol: float) -> Found:
        from sklearn.decomposition import FastICA

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ica = FastICA(tol=tol, random_state=0, max_iter=1000, whiten_solver=solver).fit(X)
        return ica.components_, f"{ica.n_iter_} iterations"

    return fit


def _load_scikit_learn() -> None:
    import sklearn.decomposition  # noqa: F401


def _picard(fastica_it: int | None, *, numexpr: bool = False) -> Callable[[np.ndarray, float], Found]:
    """Return a fit by Picard-O; with NumPy's tangent, the faster one here, or with numexpr's."""

    def fit(X: np.ndarray, tol: float) -> Found:
        from picard import densities, picard

        if not numexpr:
            densities.ne = None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            K, W, _, count = picard(
                X.T, ortho=True, tol=tol, max_iter=1000, fastica_it=fastica_it, random_state=0, return_n_iter=True
            )
        return W @ K, f"{count} iterations"

    return fit


def _load_picard() -> None:
    import picard  # noqa: F401


def _infomax(X: np.ndarray, tol: float) -> Found:
    """MNE's extended Infomax after whitening by eigenvalues; ``tol`` is its ``w_change``."""
    from mne.preprocessing.infomax_ import infomax

    centered = X - X.mean(axis=0)
    values, vectors = np.linalg.eigh(centered.T @ centered / len(X))
    K = (vectors / np.sqrt(values)).T
    W = infomax(centered @ K.T, extended=True, w_change=tol, max_iter=1000, random_state=0, verbose=False)
    return W @ K, ""


def _load_mne() -> None:
    from mne.preprocessing.infomax_ import infomax  # noqa: F401


R_PROGRAM = """
library(fastICA)
words <- commandArgs(trailingOnly = TRUE)
n <- as.integer(words[2]); d <- as.integer(words[3]); tol <- as.numeric(words[4])
X <- matrix(readBin(words[1], "double", n * d), n, d)
set.seed(0)
invisible(fastICA(X[1:2000, 1:2], 2, method = words[5]))
invisible(gc())
status <- function(key) {
  line <- grep(key, readLines("/proc/self/status"), value = TRUE)
  as.numeric(gsub("[^0-9]", "", line))
}
try(writeLines("5", "/proc/self/clear_refs"), silent = TRUE)
before <- status("VmRSS")
seconds <- system.time(
  found <- fastICA(X, d, alg.typ = "parallel", fun = "logcosh", method = words[5], tol = tol, maxit = 1000)
)[["elapsed"]]
peak <- status("VmHWM") - before
writeBin(as.vector(found$K %*% found$W), words[6])
cat(seconds, peak, "\\n")
"""


def _r_fastica(X: np.ndarray, tol: float) -> tuple[float, float, np.ndarray]:
    """Run R's fastICA, its compiled method: seconds and bytes as R itself sees them, and the components."""
    n, d = X.shape
    with tempfile.TemporaryDirectory() as folder:
        rows, out, program = (Path(folder) / name for name in ("rows", "found", "program.R"))
        np.asfortranarray(X).T.tofile(rows)
        program.write_text(R_PROGRAM)
        words = [_rscript(), str(program), str(rows), str(n), str(d), str(tol), "C", str(out)]
        said = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
        components = np.fromfile(out).reshape(d, d)
    return float(said[0]), 1024 * float(said[1]), components


def _rscript() -> str:
    found = shutil.which("Rscript")
    if found is None:
        message = "Rscript is not installed (R and its package fastICA)"
        raise RuntimeError(message)
    return found


def _nothing() -> None:
    """R is another program: there is nothing to import."""


def _not_here(X: np.ndarray, tol: float) -> Found:
    del X, tol
    message = "runs apart"
    raise RuntimeError(message)


# FastICA's tolerance bounds a step (its cosine, less one), Picard's a gradient: the ladders differ.
_STEPS = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12)
_GRADIENTS = (2e-6, 1e-6, 5e-7, 2e-7, 1e-7, 1e-8)

WAYS = {
    way.name: way
    for way in (
        Way("Gramian", (1e-6,), _gramian(independence=False), _load_gramian),
        Way("Gramian, default", (1e-6,), _gramian(), _load_gramian),
        Way("scikit-learn FastICA, eigh", _STEPS, _scikit_learn("eigh"), _load_scikit_learn),
        Way("scikit-learn FastICA, svd", _STEPS, _scikit_learn("svd"), _load_scikit_learn),
        Way("python-picard", _GRADIENTS, _picard(None), _load_picard),
        Way("python-picard, FastICA first", _GRADIENTS, _picard(10), _load_picard),
        Way("python-picard, numexpr", _GRADIENTS, _picard(None, numexpr=True), _load_picard),
        Way("R fastICA", _STEPS, _not_here, _nothing, _r_fastica),
        Way("MNE infomax", (1e-7,), _infomax, _load_mne),
    )
}
"""Every way by name."""
