"""One product of K with sixteen vectors, measured in turn with the plain loop of :mod:`benchmarks.kernel_pca.plain`."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.isolate import call_apart
from benchmarks.kernel_pca.plain import product_beside_plain
from benchmarks.kernel_pca.rows import rows_of, width_of


@dataclass
class ProductRow:
    """Least seconds of one product and of the plain loop, the loop's best tile, and how far their results are apart."""

    n: int
    seconds: float
    plain: float
    tile: int
    ratio: float
    apart: float


def measure_product(n: int, *, runs: int) -> ProductRow:
    """Measure both in turn, in one process of their own."""
    outcome = call_apart(_product, n, runs, timeout=500.0)
    if outcome.failure is not None:
        raise RuntimeError(outcome.failure)
    print(f"  product at {n:,}: {outcome.value}", flush=True)
    return outcome.value


def _product(n: int, runs: int) -> ProductRow:
    X = rows_of(n)
    return ProductRow(n, **product_beside_plain(X, width_of(X), runs=runs))
