"""The rows of every measurement, and the width of their kernel."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import pdist

COLUMNS = 50
K = 10


def rows_of(n: int) -> np.ndarray:
    """Return seeded float32 rows: four directions bent into fifty columns, and noise."""
    rng = np.random.default_rng(n)
    mix, X = rng.standard_normal((4, COLUMNS)), np.empty((n, COLUMNS), np.float32)
    for start in range(0, n, 50_000):
        part = X[start : start + 50_000]
        part[...] = np.sin(rng.standard_normal((len(part), 4)) @ mix) + 0.3 * rng.standard_normal(part.shape)
    return X


def width_of(X: np.ndarray) -> float:
    """Return the gamma of the median distance between a thousand rows: 1 / (2 median^2)."""
    sample = X[:: max(1, len(X) // 1000)][:1000].astype(np.float64)
    return float(0.5 / np.median(pdist(sample, "sqeuclidean")))
