"""The plain loop that Gramian's product is measured against: the tiles of a Gaussian K, in NumPy and nothing else.

Imports NumPy and threadpoolctl alone, so that it runs wherever Gramian does.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

TILES = (512, 1024, 2048)
"""Sides that are tried; the best counts."""


def cores() -> int:
    """Return the cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def plain_product(X: np.ndarray, gamma: float, V: np.ndarray, *, tile: int, workers: int) -> np.ndarray:
    """Return K V, K_ij = exp(-gamma |x_i - x_j|^2): each tile computed once, in the type of X, and used twice.

    The squared norms are two more columns of the rows, so that one product gives the exponents. A worker per core, one
    BLAS thread each, with its own buffer and its own running sum in float64.
    """
    rows = X - X.mean(axis=0)
    squares, ones = np.einsum("ij,ij->i", rows, rows)[:, None], np.ones((len(X), 1), X.dtype)
    left = np.hstack([2 * gamma * rows, -gamma * squares, ones]).astype(X.dtype)
    right = np.hstack([rows, ones, -gamma * squares]).astype(X.dtype)
    W, n = V.astype(X.dtype), len(X)
    # The list is shared: whoever is free takes the next pair of blocks.
    pairs = iter([(i, j) for i in range(0, n, tile) for j in range(i, n, tile)])

    def work(_: int) -> np.ndarray:
        total, room = np.zeros(V.shape), np.empty((tile, tile), X.dtype)
        for i, j in pairs:
            here, there = slice(i, min(i + tile, n)), slice(j, min(j + tile, n))
            K = room[: here.stop - i, : there.stop - j]
            np.exp(np.matmul(left[here], right[there].T, out=K), out=K)
            total[here] += K @ W[there]
            if i != j:
                total[there] += K.T @ W[here]
        return total

    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(workers) as pool:
        return np.sum(list(pool.map(work, range(workers))), axis=0)


def product_beside_plain(X: np.ndarray, gamma: float, *, vectors: int = 16, runs: int = 3) -> dict[str, Any]:
    """Measure Gramian's product and the plain loop in turn, in this process; the least seconds of each, and the error.

    Gramian's is asked for the accuracy at which it takes the type of X, and its first product, which also finds the
    row sums of K, is not counted. The error is that of H K H V against the plain loop's, relative to the largest entry.
    """
    from gramian.kernels import Gaussian
    from gramian.operators.kernel_gram import KernelGram
    from gramian.sources import as_source

    V = np.linalg.qr(np.random.default_rng(0).standard_normal((len(X), vectors)))[0]
    V -= V.mean(axis=0)
    accuracy = 1e-5 if X.dtype == np.float32 else None
    gram = KernelGram(as_source(X), Gaussian(gamma), origin=X.mean(axis=0, dtype=np.float64), accuracy=accuracy)
    found = np.asarray(gram.apply(V).values)
    ours: list[float] = []
    plain: dict[int, list[float]] = {tile: [] for tile in TILES}
    for _ in range(runs):
        start = perf_counter()
        gram.apply(V)
        ours.append(perf_counter() - start)
        for tile, times in plain.items():
            start = perf_counter()
            K_V = plain_product(X, gamma, V, tile=tile, workers=cores())
            times.append(perf_counter() - start)
    K_V -= K_V.mean(axis=0)
    best = min(plain, key=lambda tile: min(plain[tile]))
    return {
        "seconds": min(ours),
        "plain": min(plain[best]),
        "tile": best,
        "ratio": min(ours) / min(plain[best]),
        "apart": float(np.abs(found - K_V).max() / np.abs(K_V).max()),
    }
