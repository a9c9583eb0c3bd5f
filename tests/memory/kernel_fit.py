"""Fit KernelPCA in this process; print the peak memory beyond the rows, the plan and the residual of the answer.

Called as ``python kernel_fit.py '{"n": 10000, "n_components": 10, "tol": 1e-5, ...}'``; prints one line of JSON. What
is not ``n`` is passed to the estimator. The residual is measured by a product with every entry of K in float64.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.kernel_pca.judging import residual_of
from benchmarks.kernel_pca.rows import rows_of, width_of
from benchmarks.resident import PeakWatch
from gramian import KernelPCA


def main(n, asked):
    """Fit once small to load every library, then fit under the watch, and judge."""
    X = rows_of(n)
    gamma = width_of(X)
    model = KernelPCA(kernel="rbf", gamma=gamma, copy_X=False, random_state=0, **asked)
    model.fit(X[:1000])
    with PeakWatch() as watch:
        model.fit(X)
    report = {
        "used": watch.beyond,
        "planned": model.plan_.peak_bytes,
        "way": model.plan_.way,
        "residual": residual_of(X, gamma, model),
    }
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    case = json.loads(sys.argv[1])
    main(case.pop("n"), case)
