"""Fewer rows than columns: where the Gram matrix of the rows is the small one."""

from __future__ import annotations

from benchmarks.case import Case, Promise
from benchmarks.planted import dense_rows
from benchmarks.principal import PCA_PROBLEM

CASES = [
    Case(
        name="1000x50000-k20",
        title="1,000 x 50,000, k = 20",
        shape=(1_000, 50_000),
        n_components=20,
        problem=PCA_PROBLEM,
        make=dense_rows,
        quick=(100, 1_500),
        promises=(Promise(peer="scikit-learn", times=3.0),),
    ),
    Case(
        name="200x100000-k50",
        title="200 x 100,000, k = 50",
        shape=(200, 100_000),
        n_components=50,
        problem=PCA_PROBLEM,
        make=dense_rows,
        quick=(60, 2_000),
        decay=0.9,  # At 0.8 the fiftieth component would lie below the noise.
        promises=(Promise(peer="scikit-learn", times=10.0),),
    ),
]
