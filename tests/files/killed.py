"""Fits a file with a checkpoint and is killed after some reads: run by test_checkpoint."""

import os
import signal
import sys

import numpy as np

from gramian import ICA, PCA, KernelPCA
from gramian.sources import as_source
from gramian.sources.formats.npy import NpyFile
from gramian.sources.pass_log import PassLog

MAKERS = {
    "PCA": lambda: PCA(n_components=3),
    "PCA krylov": lambda: PCA(n_components=3, svd_solver="krylov"),
    "ICA": lambda: ICA(n_components=3, random_state=0, tol=1e-8),
    "KernelPCA": lambda: KernelPCA(n_components=3, kernel="rbf", gamma=0.05, landmarks=40, random_state=0),
}

READS = []


def fit(method, path, folder, *, last=None):
    """Fit; kill this very process without warning after ``last`` reads."""
    READS.clear()
    read = NpyFile._read

    def counted(self, file, rows):
        READS.append(rows)
        if last is not None and len(READS) > last:
            os.kill(os.getpid(), signal.SIGKILL)
        return read(self, file, rows)

    NpyFile._read = counted
    try:
        log = None if folder is None else PassLog(folder, every=0.0)
        return MAKERS[method]().fit(as_source(path, memory_budget=6_000_000, checkpoint=log))
    finally:
        NpyFile._read = read


def answer(model):
    """The numbers to compare: eigenvalues and components or coefficients."""
    if isinstance(model, KernelPCA):
        return [model.eigenvalues_, np.abs(model._model.scores)]
    return [model.explained_variance_, model.components_]


if __name__ == "__main__":
    fit(*sys.argv[1:4], last=int(sys.argv[4]))
