"""One product of K with sixteen vectors beside its floors, measured in turn with it in one process.

The floor is n^2 / 2 exponentials, on tiles in cache, and the matrix products at the rate of large ones, both in two
threads. Beside it a second floor, with the products at the best rates that BLAS reaches in their own shapes, whatever
the side of the tile: inner products over 52 columns, and tiles times 16 vectors from either side.
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
from gramian.arrays.products import UNPACKED, empty_on_lines

VECTORS = 16
TILE = 512
TILES = 150
SIDES = (256, 336, 400, 528)
THIN = 40
SQUARE, SQUARES = 1536, 5
AUGMENTED = COLUMNS + 2


@dataclass
class ProductRow:
    """Seconds of one product, of its exponentials, and of its matrix products at two rates; medians.

    ``products`` are at the rate of large square products, ``thin`` at the best rates in the shapes that they have;
    ``rates`` has the latter, in operations a second: inner products, tile times vectors, vectors times tile.
    """

    n: int
    seconds: float
    exponentials: float
    products: float
    thin: float
    operations_a_second: float
    ratio: float
    ratio_thin: float
    rates: list[float]


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
            seen.append([perf_counter() - start, *(_in_two_threads(work) for work in (_exponentials, _squares))])
            seen[-1] += [_best_rate(shape) for shape in SHAPES]
    seconds, exponentials, squares, *rates = (statistics.median(one) for one in zip(*seen, strict=True))
    rate = 4.0 * SQUARES * SQUARE**3 / squares
    # Half of the tiles: their inner products, and two products of each with the vectors.
    operations = (n**2 * AUGMENTED, n**2 * VECTORS, n**2 * VECTORS)
    products, thin = sum(operations) / rate, sum(one / r for one, r in zip(operations, rates, strict=True))
    exponentials *= n**2 / 2 / (2 * TILES * TILE**2)
    floors = (exponentials + products, exponentials + thin)
    return ProductRow(n, seconds, exponentials, products, thin, rate, *(seconds / floor for floor in floors), rates)


Work = Callable[[], None]
Shape = Callable[[int, int], tuple[float, Callable[[int], Work]]]


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


def _best_rate(shape: Shape) -> float:
    """Return the operations a second of one shape of product in two threads, with the side and strips that suit it."""
    found = []
    for side in SIDES:
        for strip in {side, _strip(side)}:
            operations, work = shape(side, strip)
            found.append(2 * THIN * operations / _in_two_threads(work))
    return max(found)


def _strip(side: int) -> int:
    """Return the longest strip of a tile that BLAS does not pack."""
    return max(s for s in range(8, side) if side % s == 0 and s * side * AUGMENTED <= UNPACKED)


def _inner(side: int, strip: int) -> tuple[float, Callable[[int], Work]]:
    """Return tile = left right', over 52 columns."""
    return _thin((side // strip, strip, AUGMENTED), (AUGMENTED, side), 2.0 * side**2 * AUGMENTED)


def _by_vectors(side: int, strip: int) -> tuple[float, Callable[[int], Work]]:
    """Return tile times vectors."""
    return _thin((side // strip, strip, side), (side, VECTORS), 2.0 * side**2 * VECTORS)


def _by_rows(side: int, strip: int) -> tuple[float, Callable[[int], Work]]:
    """Return vectors, as rows, times tile; the sum over strips is not counted."""
    return _thin((side // strip, VECTORS, strip), (side // strip, strip, side), 2.0 * side**2 * VECTORS)


def _thin(left: tuple[int, ...], right: tuple[int, ...], operations: float) -> tuple[float, Callable[[int], Work]]:
    """Return the work of products of two stacks of matrices that begin on cache lines."""

    def work(seed: int) -> Work:
        rng, single = np.random.default_rng(seed), np.dtype(np.float32)
        A, B = (empty_on_lines(*shape, dtype=single) for shape in (left, right))
        A[...], B[...] = rng.random(left), rng.random(right)
        out = empty_on_lines(*left[:2], right[-1], dtype=single)
        return lambda: _repeat(THIN, lambda: np.matmul(A, B, out=out))

    return operations, work


SHAPES: tuple[Shape, ...] = (_inner, _by_vectors, _by_rows)


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
