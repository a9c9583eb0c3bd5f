"""Sparse rows that must stay sparse: centering happens inside the products."""

from __future__ import annotations

from benchmarks.case import Case, Promise
from benchmarks.planted import sparse_rows
from benchmarks.principal import PCA_PROBLEM

CASES = [
    Case(
        name="sparse-100000x50000-k20",
        title="sparse 100,000 x 50,000 at 1e-3, k = 20",
        shape=(100_000, 50_000),
        n_components=20,
        problem=PCA_PROBLEM,
        make=sparse_rows,
        quick=(2_000, 1_000),
        density=1e-3,
        promises=(Promise(peer="scikit-learn arpack", times=1.5),),
    ),
]
