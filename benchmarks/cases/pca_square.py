"""As many rows as columns: no small side to hide in."""

from __future__ import annotations

from benchmarks.case import Case, Promise
from benchmarks.planted import dense_rows
from benchmarks.principal import PCA_PROBLEM

CASES = [
    Case(
        name="4000x4000-k20",
        title="4,000 x 4,000, k = 20",
        shape=(4_000, 4_000),
        n_components=20,
        problem=PCA_PROBLEM,
        make=dense_rows,
        quick=(300, 300),
    ),
    Case(
        name="4000x4000-full",
        title="4,000 x 4,000, full",
        shape=(4_000, 4_000),
        n_components=None,
        problem=PCA_PROBLEM,
        make=dense_rows,
        quick=(300, 300),
        promises=(Promise(peer="scikit-learn", times=3.0),),
    ),
]
