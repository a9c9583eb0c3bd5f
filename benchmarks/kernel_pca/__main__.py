"""``python -m benchmarks.kernel_pca [fits] [growth] [product] [landmarks]``: all parts where none is named.

Rows are float32, 50 columns, on a curved surface with noise; the kernel is Gaussian of median width, ten components.
Every fit runs in a process of its own, in turn with its peers, three times; its peak memory beyond the rows is the
system's high-water mark. The accuracy beside it is measured by a product in float64 that has nothing to do with
Gramian: the worst residual |H K H v - lambda v| over lambda_1. Parts stay in results/kernel_pca.json until measured
again.

The clock starts 0.2 s after the warm-up, when BLAS's threads sleep. At 2,000 rows, where waking them counts and times
scatter, fits are made fifteen times, and fifteen times at once after the warm-up, while the threads still spin.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from benchmarks import machine
from benchmarks.kernel_pca.fits import Row, fitted_power, measure
from benchmarks.kernel_pca.landmarks import measure_landmarks
from benchmarks.kernel_pca.product import measure_product
from benchmarks.kernel_pca.record import keep
from benchmarks.kernel_pca.ways import OURS, way_named, ways_at

RUNS = {2_000: 15, 5_000: 3, 20_000: 3}
FEWEST = 2_000
GROWTH = (10_000, 20_000, 50_000, 100_000)
LARGE = 100_000


def fits() -> dict[str, Any]:
    """Measure Gramian beside scikit-learn at tol 1e-6."""
    rows = [row for n in RUNS for row in measure(n, ways_at(n), tol=1e-6, runs=RUNS[n])]
    at_once = measure(FEWEST, ways_at(FEWEST), tol=1e-6, runs=RUNS[FEWEST], pause=0.0)
    return {"rows": _plain(at_once + rows)}


def growth() -> dict[str, Any]:
    """Measure how time and memory grow, up to 100,000 rows, where scikit-learn's K would take 40 GB or more."""
    peer = way_named("scikit-learn arpack, float32", LARGE)
    rows = [row for n in GROWTH for row in measure(n, [OURS, peer] if n == LARGE else [OURS], tol=1e-5)]
    return {"rows": _plain(rows), "power": fitted_power([row for row in rows if row.way == OURS.name])}


def product() -> dict[str, Any]:
    """Measure one product beside the plain loop."""
    return {"rows": [asdict(measure_product(n, runs=runs)) for n, runs in ((20_000, 7), (LARGE, 2))]}


def landmarks() -> dict[str, Any]:
    """Measure the approximate model on a million rows."""
    return {"row": asdict(measure_landmarks(1_000_000, 4_096))}


PARTS: dict[str, Callable[[], dict[str, Any]]] = {
    "fits": fits,
    "growth": growth,
    "product": product,
    "landmarks": landmarks,
}


def main() -> None:
    """Measure the parts named, and keep each as soon as it is there."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kernel_pca", description=__doc__)
    parser.add_argument(
        "parts", nargs="*", metavar="part", choices=[*PARTS, "all"], default="all", help=", ".join(PARTS)
    )
    words = parser.parse_args()
    import sklearn.decomposition  # noqa: F401  forked processes share it

    for part in PARTS if "all" in words.parts else words.parts:
        described = machine.describe(["gramian", "scikit-learn"])
        keep(part, {"machine": described, **PARTS[part]()})


def _plain(rows: list[Row]) -> list[dict[str, Any]]:
    return [asdict(row) for row in rows]


if __name__ == "__main__":
    main()
