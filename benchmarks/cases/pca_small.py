"""A table that fits on a page: what is measured is the overhead of a call, over many fits in one process."""

from __future__ import annotations

from benchmarks.case import Case
from benchmarks.planted import dense_rows
from benchmarks.principal import PCA_PROBLEM

CASES = [
    Case(
        name="150x4",
        title="150 x 4",
        shape=(150, 4),
        n_components=None,
        problem=PCA_PROBLEM,
        make=dense_rows,
        quick=(150, 4),
    ),
]
