"""Fit an ICA in this process and print the peak memory beyond the input: a program of its own.

Called as ``python ica_peak.py '{"n": 1000, "d": 5, "options": {}}'``; prints one line of JSON.
"""

import json
import sys
from pathlib import Path

import numpy as np


def status(field):
    """One number of /proc/self/status, in bytes."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(field + ":"):
            return 1024 * int(line.split()[1])
    raise LookupError(field)


def main(case):
    """Fit once small to load every library, then fit, and report."""
    from gramian import ICA
    from gramian.testing import mixed_sources

    n, d, options = case["n"], case["d"], case["options"]
    A = np.random.default_rng(0).standard_normal((d, d))
    ICA(**{**options, "max_iter": 20, "tol": 1e-2}).fit(mixed_sources(2_000, 5, seed=0))
    X = mixed_sources(n, d, seed=0) @ A.T
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before = status("VmRSS")
    ICA(**options).fit(X)
    sys.stdout.write(json.dumps({"input": X.nbytes, "used": status("VmHWM") - before}) + "\n")


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
