"""Chunks that are read from disk, count their reads, and take a process with them when told to.

Workers of a cluster import this module by its file, so it stands on nothing of the tests.
"""

import os
import signal
from pathlib import Path

import numpy as np


def write_chunks(folder, X, count):
    """Write rows as ``count`` files."""
    for i, part in enumerate(np.array_split(X, count)):
        np.save(Path(folder) / f"{i:03}.npy", part)


def read_chunk(folder, i, victim=0, after=0):
    """Read one file; at read number ``after`` kill process ``victim`` (-1: the worker that reads), once."""
    folder = Path(folder)
    reads = folder / "reads"
    with reads.open("a") as log:
        log.write("x")
    done = folder / "killed"
    if victim and reads.stat().st_size >= after and not done.exists():
        done.touch()
        os.kill(os.getpid() if victim == -1 else victim, signal.SIGKILL)
    return np.load(folder / f"{i:03}.npy")


def dask_array(folder, shape, count, **how):
    """Return the files as a Dask array."""
    import dask.array as da
    from dask import delayed

    sizes = [len(part) for part in np.array_split(np.empty(shape[0]), count)]
    read = delayed(read_chunk, pure=False)
    parts = [
        da.from_delayed(read(str(folder), i, **how), shape=(size, shape[1]), dtype=float)
        for i, size in enumerate(sizes)
    ]
    return da.concatenate(parts)
