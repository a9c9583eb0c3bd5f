"""Fits a file in a process that may not hold it: run by test_budget, with the file, the limit and the methods."""

import faulthandler
import json
import resource
import sys
from pathlib import Path

import numpy as np

from gramian import ICA, PCA, KernelPCA

MAKERS = {
    "PCA": lambda: PCA(n_components=3),
    "KernelPCA": lambda: KernelPCA(n_components=3, kernel="rbf", gamma=1e-4, landmarks=60, random_state=0),
    "ICA": lambda: ICA(n_components=3, random_state=0, tol=1e-3),
}
PATIENCE = 600.0
"""Seconds after which every thread says where it stands, and the process ends: nothing here may hang."""


def spectrum(name, model):
    """The eigenvalues, or variances, of a fitted model."""
    return model.eigenvalues_ if name == "KernelPCA" else model.explained_variance_


def data_size():
    """Bytes that the kernel counts against RLIMIT_DATA now."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmData")) * 1024


def read_whole(path):
    """Hold all rows of a file at once, as a plain reader does."""
    if path.endswith(".npy"):
        return np.load(path)
    if path.endswith(".csv"):
        return Path(path).read_bytes()
    if path.endswith(".parquet"):
        from pyarrow import parquet

        # Without Arrow's threads: two processes did not come back from a threaded read that was refused memory.
        return parquet.ParquetFile(path, pre_buffer=False).read(use_threads=False)
    if path.endswith(".h5"):
        import h5py

        with h5py.File(path) as file:
            return file["inner/rows"][:]
    import zarr

    return zarr.open(path, mode="r")[:]


def main():
    """Fit and print eigenvalues; then show that the file itself does not fit."""
    path, warm, limit = sys.argv[1], sys.argv[2], int(sys.argv[3])
    faulthandler.dump_traceback_later(PATIENCE, exit=True)
    for make in MAKERS.values():
        make().fit(warm)  # what is loaded and started once belongs to the process's start
    most = data_size() + limit
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    found = {name: [float(value) for value in spectrum(name, make().fit(path))] for name, make in MAKERS.items()}
    try:
        read_whole(path)
        found["whole"] = "read"
    except MemoryError as error:  # Arrow's own is one too
        found["whole"] = f"refused: {type(error).__name__}"
    print(json.dumps(found))  # noqa: T201 - for the test that runs this


if __name__ == "__main__":
    main()
