"""A fit whose scheduler is killed in the middle, in a process of its own; prints the error."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from chunks_on_disk import dask_array, write_chunks
from distributed import Client

from gramian import PCA
from gramian.cli.exits import exit_code_of
from gramian.errors import ClusterLostError


def main(folder):
    """Start a scheduler and a worker, fit, and say how it ended."""
    file, started = Path(folder) / "scheduler.json", []
    try:
        started.append(_start("dask_scheduler", "--port", "0", "--host", "127.0.0.1", "--scheduler-file", str(file)))
        started.append(_start("dask_worker", "--scheduler-file", str(file), "--nthreads", "1", "--no-nanny"))
        while not file.exists():
            time.sleep(0.05)
        client = Client(scheduler_file=str(file))
        client.wait_for_workers(1)
        X = np.random.default_rng(0).standard_normal((600, 100))
        write_chunks(folder, X, 6)
        lazy = dask_array(folder, X.shape, 6, victim=started[0].pid, after=16)
        try:
            PCA(3, svd_solver="krylov").fit(lazy)
        except ClusterLostError as error:
            sys.stdout.write(f"{error}\n")
            sys.exit(exit_code_of(error))
    finally:
        for process in started:
            process.kill()


def _start(what, *words):
    command = [sys.executable, "-m", f"distributed.cli.{what}", "--no-dashboard", *words]
    # Processes of the cluster import what this one does.
    found = {"PYTHONPATH": os.pathsep.join(str(Path(place).resolve()) for place in sys.path if place)}
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ | found)


if __name__ == "__main__":
    main(sys.argv[1])
