"""Kernel PCA beside scikit-learn's: ``python -m benchmarks.kernel_pca [--growth] [--large]``.

Rows are float32, 50 columns, on a curved surface with noise; the kernel is Gaussian of median width, ten components.
Every fit runs in a process of its own, in turn, three times; its peak memory beyond the rows is the system's high-water
mark. The accuracy beside it is measured by a product in float64 that has nothing to do with Gramian: the worst residual
|H K H v - lambda v| over lambda_1. ``--large`` adds 100,000 rows, where K would take 80 GB.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist

from benchmarks import machine
from benchmarks.isolate import call_apart
from benchmarks.resident import PeakWatch

K = 10
COLUMNS = 50
SIZES = (2_000, 5_000, 20_000)
GROWTH = (10_000, 20_000, 40_000)
LARGE = 100_000
RESULTS = Path(__file__).parent / "results"
TIMEOUT = 600.0


@dataclass(frozen=True)
class Way:
    """A way to fit: its name, and ``fit(X, gamma, tol)``."""

    name: str
    fit: Callable[[np.ndarray, float, float], Any]


@dataclass
class Row:
    """What was measured of one way at one size; seconds are the median of ``runs``."""

    n: int
    way: str
    tol: float
    seconds: float | None
    runs: int
    megabytes: float | None
    residual: float | None
    note: str = ""


def rows_of(n: int) -> np.ndarray:
    """Return seeded rows: four directions bent into fifty columns, and noise."""
    rng = np.random.default_rng(n)
    bent = np.sin(rng.standard_normal((n, 4)) @ rng.standard_normal((4, COLUMNS)))
    return (bent + 0.3 * rng.standard_normal((n, COLUMNS))).astype(np.float32)


def width_of(X: np.ndarray) -> float:
    """Return gamma of the median distance between sampled rows."""
    sample = X[:: max(1, len(X) // 1000)][:1000].astype(np.float64)
    return float(0.5 / np.median(pdist(sample, "sqeuclidean")))


def gramian(**options: Any) -> Callable[[np.ndarray, float, float], Any]:
    """Return a fit by ``gramian.KernelPCA``."""

    def fit(X: np.ndarray, gamma: float, tol: float) -> Any:
        from gramian import KernelPCA

        return KernelPCA(K, kernel="rbf", gamma=gamma, tol=tol, random_state=0, **options).fit(X)

    return fit


def scikit_learn(solver: str) -> Callable[[np.ndarray, float, float], Any]:
    """Return a fit by ``sklearn.decomposition.KernelPCA`` with one of its solvers."""

    def fit(X: np.ndarray, gamma: float, tol: float) -> Any:
        from sklearn.decomposition import KernelPCA

        model = KernelPCA(K, kernel="rbf", gamma=gamma, tol=tol, eigen_solver=solver, random_state=0)
        return model.fit(X.astype(np.float64))

    return fit


def ways_at(n: int) -> list[Way]:
    """Return who is measured at a size: scikit-learn's dense solver only where it takes seconds."""
    ways = [Way("Gramian", gramian()), Way("scikit-learn arpack", scikit_learn("arpack"))]
    ways.append(Way("scikit-learn randomized", scikit_learn("randomized")))
    if n <= 5_000:
        ways.append(Way("scikit-learn dense", scikit_learn("dense")))
    else:
        ways.append(Way("Gramian, a tenth of the memory", gramian(memory_budget=int(8 * n**2 / 10))))
    return ways


def residual_of(X: np.ndarray, gamma: float, model: Any) -> float:
    """Return max |H K H v - lambda v| / lambda_1 by strips of K in float64."""
    rows = X.astype(np.float64) - X.mean(axis=0, dtype=np.float64)
    squares = np.einsum("ij,ij->i", rows, rows)
    V = np.asarray(model.eigenvectors_, dtype=np.float64)
    values = np.asarray(model.eigenvalues_, dtype=np.float64)
    centered, product = V - V.mean(axis=0), np.empty_like(V)
    for start in range(0, len(rows), 1000):
        strip = slice(start, start + 1000)
        exponent = 2 * rows[strip] @ rows.T - squares[strip, None] - squares
        np.exp(np.minimum(gamma * exponent, 0.0, out=exponent), out=exponent)
        product[strip] = exponent @ centered
    product -= product.mean(axis=0)
    return float(np.linalg.norm(product - V * values, axis=0).max() / values.max())


def reading(way: Way, X: np.ndarray, gamma: float, tol: float, *, judged: bool) -> tuple[float, int, float | None, str]:
    """Warm up, fit under the clock with the memory watched, and judge."""
    way.fit(rows_of(300), gamma, tol)
    with PeakWatch() as watch:
        start = perf_counter()
        model = way.fit(X, gamma, tol)
        seconds = perf_counter() - start
    plan = str(getattr(model, "plan_", "")).split("\n")[0]
    return seconds, watch.beyond, residual_of(X, gamma, model) if judged else None, plan


def measure(n: int, ways: list[Way], *, tol: float, runs: int = 3) -> list[Row]:
    """Measure every way at one size, in turn; what fails or takes too long is a row with its reason."""
    X = rows_of(n)
    gamma, found = width_of(X), {way.name: [] for way in ways}
    failures: dict[str, str] = {}
    for turn in range(runs):
        for way in ways[turn % len(ways) :] + ways[: turn % len(ways)]:
            slow = found[way.name] and found[way.name][0][0] > 3 * min(seen[0][0] for seen in found.values() if seen)
            if way.name in failures or (turn and slow and found[way.name][0][0] > 5):
                continue
            outcome = call_apart(_call, way.name, n, gamma, tol, not found[way.name], timeout=TIMEOUT)
            if outcome.failure is not None:
                failures[way.name] = outcome.failure
            else:
                found[way.name].append(outcome.value)
            print(f"  {n:,} {way.name}: {outcome.failure or outcome.value}", flush=True)
    return [_row(n, way, tol, found[way.name], failures.get(way.name, "")) for way in ways]


def _call(name: str, n: int, gamma: float, tol: float, judged: bool) -> Any:  # noqa: FBT001  crosses a fork
    way = next(way for way in [*ways_at(n), *ways_at(5_000)] if way.name == name)
    return reading(way, rows_of(n), gamma, tol, judged=judged)


def _row(n: int, way: Way, tol: float, seen: list[Any], failure: str) -> Row:
    if not seen:
        return Row(n, way.name, tol, None, 0, None, None, failure)
    seconds = statistics.median(one[0] for one in seen)
    worst = next((one[2] for one in seen if one[2] is not None), None)
    return Row(n, way.name, tol, seconds, len(seen), max(one[1] for one in seen) / 1e6, worst, seen[0][3])


def table(rows: list[Row]) -> str:
    """Return the Markdown table."""
    lines = [
        "| rows | way | tol | seconds | memory beyond the rows | worst residual | |",
        "|---:|---|---|---:|---:|---|---|",
    ]
    for row in rows:
        if row.seconds is None:
            lines.append(f"| {row.n:,} | {row.way} | {row.tol:.0e} | - | - | - | {row.note} |")
            continue
        residual = "" if row.residual is None else f"{row.residual:.0e}"
        once = "" if row.runs > 1 else " (one run)"
        cells = f"{row.seconds:.2f}{once} | {row.megabytes:,.0f} MB | {residual} | {row.note}"
        lines.append(f"| {row.n:,} | {row.way} | {row.tol:.0e} | {cells} |")
    return "\n".join(lines)


def main() -> None:
    """Measure, and write results/kernel_pca.json and .md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true", help="100,000 rows too")
    parser.add_argument("--growth", action="store_true", help="how time grows with n")
    words = parser.parse_args()
    import sklearn.decomposition  # noqa: F401  forked processes share it

    import gramian.estimators  # noqa: F401

    found: dict[str, Any] = {"machine": machine.describe(["gramian", "scikit-learn"])}
    rows = [row for n in SIZES for row in measure(n, ways_at(n), tol=1e-6)]
    if words.growth:
        rows += [row for n in GROWTH for row in measure(n, ways_at(n)[:1], tol=1e-5, runs=1)]
    if words.large:
        rows += measure(LARGE, ways_at(LARGE)[:1], tol=1e-5, runs=1)
    same = [row for row in rows if row.tol == 1e-5 and row.seconds]
    found["rows"] = [asdict(row) for row in rows]
    if len(same) > 1:
        sizes, times = zip(*[(row.n, row.seconds) for row in same], strict=True)
        found["fitted_power"] = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "kernel_pca.json").write_text(json.dumps(found, indent=1) + "\n")
    power = f"\n\nTime grows like n^{found['fitted_power']:.2f} over these sizes." if "fitted_power" in found else ""
    (RESULTS / "kernel_pca.md").write_text(f"# Kernel PCA\n\n{found['machine']['date']}\n\n{table(rows)}{power}\n")
    print(table(rows), power)


if __name__ == "__main__":
    main()
