"""The command: ``python -m benchmarks [run | memory | table | list]``."""

import os
import sys

# BLAS and OpenMP read these when they are loaded, so they are set before anything imports NumPy: every
# library gets exactly the cores this process may use, and none oversubscribes them.
_CORES = str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, _CORES)

from benchmarks.command import main  # noqa: E402  the threads are set first

if __name__ == "__main__":
    sys.exit(main())
