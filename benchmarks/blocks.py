"""Ranges of rows: every float64 copy that a judge makes is of one such range."""

from __future__ import annotations

from collections.abc import Iterator

_BLOCK_ENTRIES = 4_000_000


def row_ranges(n: int, d: int, *, at_least: int = 1) -> Iterator[slice]:
    """Consecutive ranges of the n rows, of about ``_BLOCK_ENTRIES`` numbers and ``at_least`` rows each."""
    step = max(_BLOCK_ENTRIES // d, at_least)
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))
