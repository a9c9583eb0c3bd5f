"""The least that Gramian's passes could take: their matrix products and nonlinearity, and nothing else."""

from __future__ import annotations

import os
import statistics
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits


def floor_of(X: np.ndarray, tol: float) -> dict[str, Any]:
    """Return passes by precision (in whole passes over all rows), and the seconds that they take at least."""
    passes = passes_of(X, tol)
    seconds = sum(count * pass_seconds(X.astype(dtype)) for dtype, count in passes.items())
    return {"passes": passes, "seconds": seconds}


def passes_of(X: np.ndarray, tol: float) -> dict[str, float]:
    """Count the evaluations of a fit, those over a sample by its share of the rows."""
    from gramian import ICA
    from gramian.unmixing.white_rows import WhiteRows

    seen: Counter[str] = Counter()
    plain = WhiteRows.score_moments

    def counted(rows: WhiteRows, *words: Any, **options: Any) -> Any:
        seen[rows.dtype.name] += rows.n_rows / len(X)
        return plain(rows, *words, **options)

    WhiteRows.score_moments = counted
    try:
        ICA(tol=tol, random_state=0, max_iter=1000, independence=False).fit(X)
    finally:
        WhiteRows.score_moments = plain
    return {name: round(count, 2) for name, count in seen.items()}


def pass_seconds(X: np.ndarray) -> float:
    """Median time of  W x,  psi,  psi s'  over all rows: a thread a core, pieces that stay in cache, memory reused."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    step = max(64, (1 << 19) // (X.shape[1] * X.itemsize))
    pieces = [slice(start, min(start + step, len(X))) for start in range(0, len(X), step)]
    runs = [pieces[i::cores] for i in range(cores)]
    with threadpool_limits(1), ThreadPoolExecutor(cores) as pool:
        times = []
        for _ in range(7):
            start = perf_counter()
            list(pool.map(lambda run: _products(X, run), runs))
            times.append(perf_counter() - start)
    return statistics.median(times)


def _products(X: np.ndarray, run: list[slice]) -> None:
    d = X.shape[1]
    W, room = np.eye(d, dtype=X.dtype), np.empty((2, d, run[0].stop - run[0].start), dtype=X.dtype)
    for part in run:
        rows = X[part]
        s = np.matmul(W, rows.T, out=room[0][:, : len(rows)])
        psi = np.tanh(s, out=room[1][:, : len(rows)])
        psi @ s.T
