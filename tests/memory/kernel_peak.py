"""Fit kernel PCA in this process; print the peak memory beyond the rows, the plan and the kernel values made.

Called as ``python kernel_peak.py '{"n": 10000, "d": 5, ...}'``; prints one line of JSON.
"""

import itertools
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


class Counting:
    """A Gaussian as a user's function of two blocks, that counts its values; safe in threads."""

    def __init__(self, gamma):
        self.gamma = gamma
        self.seen = []

    def __call__(self, X, Y):
        """Values of one tile."""
        self.seen.append(len(X) * len(Y))
        squares = np.einsum("ij,ij->i", X, X)[:, None] + np.einsum("ij,ij->i", Y, Y)
        squares -= 2 * X @ Y.T
        squares *= -self.gamma
        return np.exp(squares, out=squares)


def main(case):
    """Fit once small to load every library, then fit, and report."""
    from gramian.kernels import BlockKernel, Gaussian
    from gramian.models.kernel_pca.fit import fit_kernel_pca
    from gramian.models.kernel_pca.model import KernelPCAOptions
    from gramian.sources import as_source

    counting, said = Counting(0.05), []
    kernel = BlockKernel(counting, psd=True) if case.get("counted") else Gaussian(0.05)
    options = KernelPCAOptions(5, kernel, progress=said.append, **case.get("options", {}))
    rng = np.random.default_rng(0)
    X = rng.standard_normal((case["n"], case["d"])) * np.geomspace(2.0, 0.3, case["d"])
    fit_kernel_pca(as_source(X[:600]), options)
    counting.seen.clear()
    said.clear()
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before = status("VmRSS")
    model = fit_kernel_pca(as_source(X), options)
    report = {
        "used": status("VmHWM") - before,
        "planned": model.plan.peak_bytes,
        "way": model.plan.way,
        "values": sum(counting.seen),
        "products": sum(1 for _ in itertools.filterfalse(lambda s: not s.startswith("product "), said)),
    }
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
