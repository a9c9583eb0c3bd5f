"""Fits of one size, each in a process of its own, in turn with its peers."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from time import perf_counter, sleep
from typing import Any, NamedTuple

import numpy as np

from benchmarks.isolate import SETTLING_SECONDS, call_apart
from benchmarks.kernel_pca.judging import residual_of
from benchmarks.kernel_pca.rows import rows_of, width_of
from benchmarks.kernel_pca.ways import Way, way_named
from benchmarks.resident import PeakWatch

TIMEOUT = 500.0
WARM_UP = 1_000
"""Rows of the fit before the clock starts: enough for every way to go where it will go under the clock."""

PATIENCE = 20.0
"""A way that took longer than this, and three times the fastest, is measured once."""


@dataclass
class Row:
    """What was measured of one way at one size; seconds are the median of ``runs``, memory is the largest of them.

    ``pause`` is what was waited between the warm-up and the clock: without it BLAS's threads are still awake.
    """

    n: int
    way: str
    tol: float
    seconds: float | None
    runs: int
    megabytes: float | None
    residual: float | None
    note: str = ""
    pause: float = SETTLING_SECONDS


class Task(NamedTuple):
    """What every way is given: so many rows, the width and tolerance, and the pause before the clock starts."""

    n: int
    gamma: float
    tol: float
    pause: float


class Reading(NamedTuple):
    """What one process measured."""

    seconds: float
    bytes_beyond: int
    residual: float | None
    note: str


def measure(n: int, ways: list[Way], *, tol: float, runs: int = 3, pause: float = SETTLING_SECONDS) -> list[Row]:
    """Measure every way at one size, in turn; what fails or takes too long is a row with its reason."""
    task = Task(n, width_of(rows_of(n)), tol, pause)
    found: dict[str, list[Reading]] = {way.name: [] for way in ways}
    failures: dict[str, str] = {}
    for turn in range(runs):
        for way in ways[turn % len(ways) :] + ways[: turn % len(ways)]:
            if way.name in failures or _slow(way, found):
                continue
            outcome = call_apart(_reading, way.name, task, not found[way.name], timeout=TIMEOUT)
            print(f"  {n:,} {way.name}: {outcome.failure or outcome.value}", flush=True)
            if outcome.failure is None:
                found[way.name].append(outcome.value)
            else:
                failures[way.name] = outcome.failure
    return [_row(task, way, found[way.name], failures.get(way.name, "")) for way in ways]


def _reading(name: str, task: Task, judged: bool) -> Reading:  # noqa: FBT001  crosses a fork
    """Warm up, pause, fit under the clock with the memory watched, and judge."""
    way, X = way_named(name, task.n), rows_of(task.n)
    way.fit(rows_of(WARM_UP), task.gamma, task.tol)
    sleep(task.pause)
    with PeakWatch() as watch:
        start = perf_counter()
        model = way.fit(X, task.gamma, task.tol)
        seconds = perf_counter() - start
    return Reading(seconds, watch.beyond, residual_of(X, task.gamma, model) if judged else None, _note(model))


def _note(model: Any) -> str:
    """Say how the answer was found: Gramian's way and passes, nothing for a peer."""
    plan = getattr(model, "plan_", None)
    return "" if plan is None else f"{plan.way}: {model.certificate_.note}"


def _slow(way: Way, found: dict[str, list[Reading]]) -> bool:
    if not found[way.name]:
        return False
    own, fastest = found[way.name][0].seconds, min(seen[0].seconds for seen in found.values() if seen)
    return own > max(PATIENCE, 3 * fastest)


def _row(task: Task, way: Way, seen: list[Reading], failure: str) -> Row:
    if not seen:
        return Row(task.n, way.name, task.tol, None, 0, None, None, failure, task.pause)
    seconds = statistics.median(one.seconds for one in seen)
    worst = next((one.residual for one in seen if one.residual is not None), None)
    memory = max(one.bytes_beyond for one in seen) / 1e6
    return Row(task.n, way.name, task.tol, seconds, len(seen), memory, worst, seen[0].note, task.pause)


def fitted_power(rows: list[Row]) -> float:
    """Return the power p of  seconds ~ n^p  by least squares of the logarithms."""
    sizes, times = zip(*[(row.n, row.seconds) for row in rows if row.seconds], strict=True)
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
