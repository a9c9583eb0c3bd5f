"""More rows than columns: the everyday table, where one pass and a small eigenproblem are enough."""

from __future__ import annotations

from benchmarks.case import Case
from benchmarks.planted import dense_rows
from benchmarks.principal import PCA_PROBLEM

CASES = [
    Case(
        name="1000000x100",
        title="1,000,000 x 100",
        shape=(1_000_000, 100),
        n_components=None,
        problem=PCA_PROBLEM,
        make=dense_rows,
        quick=(4_000, 20),
    ),
    Case(
        name="200000x500",
        title="200,000 x 500",
        shape=(200_000, 500),
        n_components=None,
        problem=PCA_PROBLEM,
        make=dense_rows,
        quick=(3_000, 50),
    ),
    Case(
        name="100000x1000-k20",
        title="100,000 x 1,000, k = 20",
        shape=(100_000, 1_000),
        n_components=20,
        problem=PCA_PROBLEM,
        make=dense_rows,
        quick=(2_000, 80),
    ),
    Case(
        name="60000x784-95",
        title="60,000 x 784, 95%",
        shape=(60_000, 784),
        n_components=0.95,
        problem=PCA_PROBLEM,
        make=dense_rows,
        quick=(2_000, 60),
        decay=0.97,  # About fifty components for 95%, as images have; at 0.8 seven would do.
    ),
]
