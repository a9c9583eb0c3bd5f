"""One product of K with sixteen vectors beside its floors, measured in turn with it in one process.

The floor is n^2 / 2 exponentials, on tiles in cache, and the matrix products at the rate of large ones, both in two
threads. Beside it the bare calls: the same work on tiles as a product has them (inner products over 52 columns,
products with 16 vectors), where BLAS does not reach its full rate, and nothing else.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.isolate import call_apart
from benchmarks.kernel_pca.rows import COLUMNS, rows_of, width_of

VECTORS = 16
TILE = 512
TILES = 150
SQUARE, SQUARES = 1536, 5
AUGMENTED = COLUMNS + 2


@dataclass
class ProductRow:
    """Seconds of one product, of its exponentials and matrix products by themselves, and of the bare calls; medians."""

    n: int
    seconds: float
    exponentials: float
    products: float
    bare: float
    operations_a_second: float
    ratio: float
    ratio_bare: float


def measure_product(n: int, *, runs: int) -> ProductRow:
    """Measure products and floors in turn, in one process of their own."""
    outcome = call_apart(_product, n, runs, timeout=500.0)
    if outcome.failure is not None:
        raise RuntimeError(outcome.failure)
    print(f"  product at {n:,}: {outcome.value}", flush=True)
    return outcome.value


def _product(n: int, runs: int) -> ProductRow:
    from gramian.kernels import Gaussian
    from gramian.operators.kernel_gram import KernelGram
    from gramian.planning.machine import one_blas_thread
    from gramian.sources import as_source

    X = rows_of(n)
    gram = KernelGram(as_source(X), Gaussian(width_of(X)), origin=X.mean(axis=0), accuracy=1e-5)
    V = np.linalg.qr(np.random.default_rng(0).standard_normal((n, VECTORS)))[0]
    seen = []
    with one_blas_thread():
        gram.apply(V[:, :-1])  # Makes the rows ready and carries the sums of K along.
        for _ in range(runs):
            start = perf_counter()
            gram.apply(V)
            seen.append(
                (perf_counter() - start, *(_in_two_threads(work) for work in (_exponentials, _squares, _calls)))
            )
    seconds, exponentials, squares, calls = (statistics.median(one) for one in zip(*seen, strict=True))
    rate = 4.0 * SQUARES * SQUARE**3 / squares
    # Half of the tiles: their inner products, and two products of each with the vectors.
    products = (n**2 * AUGMENTED + 2.0 * n**2 * VECTORS) / rate
    whole = n**2 / 2 / (2 * TILES * TILE**2)
    floor, bare = whole * exponentials + products, whole * calls
    return ProductRow(n, seconds, whole * exponentials, products, bare, rate, seconds / floor, seconds / bare)


Work = Callable[[], None]


def _exponentials(seed: int) -> Work:
    """Return the work of exponentials in place of tiles, without what underflows."""
    tile = -np.random.default_rng(seed).random((TILE, TILE), dtype=np.float32)
    out = np.empty_like(tile)
    return lambda: _repeat(TILES, lambda: np.exp(tile, out=out))


def _squares(seed: int) -> Work:
    """Return the work of large matrix products."""
    A = np.random.default_rng(seed).random((SQUARE, SQUARE), dtype=np.float32)
    out = np.empty_like(A)
    return lambda: _repeat(SQUARES, lambda: np.matmul(A, A, out=out))


def _calls(seed: int) -> Work:
    """Return the work of the calls of TILES tiles: an inner product, an exponential, a product from either side."""
    rng = np.random.default_rng(seed)
    left, right = (0.1 * rng.standard_normal((2, TILE, AUGMENTED))).astype(np.float32)
    V = rng.standard_normal((TILE, VECTORS)).astype(np.float32)
    turned, tile = np.ascontiguousarray(V.T), np.empty((TILE, TILE), np.float32)
    out, out_turned = np.empty_like(V), np.empty_like(turned)

    def one() -> None:
        np.matmul(left, right.T, out=tile)
        np.exp(tile, out=tile)
        np.matmul(tile, V, out=out)
        np.matmul(turned, tile, out=out_turned)

    return lambda: _repeat(TILES, one)


def _repeat(times: int, work: Callable[[], object]) -> None:
    for _ in range(times):
        work()


def _in_two_threads(work: Callable[[int], Work]) -> float:
    """Return the seconds that one worker's share takes while two are at it; setting up is not counted."""
    shares = [work(0), work(1)]
    with threadpool_limits(1), ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda share: share(), shares))
        start = perf_counter()
        list(pool.map(lambda share: share(), shares))
        return perf_counter() - start
