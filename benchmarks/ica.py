"""ICA beside other people's: ``python -m benchmarks.ica [--cases 10 30 64 eeg] [--repeats 5]``.

Rows are float64: peaked and flat sources mixed by a Gaussian matrix, and 32 channels of EEG. Every fit runs in a
process of its own, in turn; its peak memory beyond the rows is the system's high-water mark. All are held to the same
measure, the largest entry of the skew part of E[psi(s) s'] on sources of unit variance, over all rows and in float64,
signs adapted: each stands with the loosest of its tolerances that brings it to 1e-6. A case that is not named keeps
its former record.
"""

from __future__ import annotations

import argparse
import statistics
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any

from benchmarks import machine
from benchmarks.ica_peers import WAYS, Way
from benchmarks.ica_record import write_record
from benchmarks.ica_rows import EEG, SIZES, left_to_turn, rows_of
from benchmarks.isolate import call_apart
from benchmarks.resident import PeakWatch

TARGET = 1e-6
LONGEST = 30.0
"""Seconds after which a fit is stopped."""
CASES = (*SIZES, "eeg")


@dataclass
class Row:
    """What was measured of one way in one case; seconds are the median of ``runs``."""

    case: str
    way: str
    tol: float
    reached: float | None
    seconds: float | None
    runs: int
    megabytes: float | None
    note: str = ""

    @property
    def is_equal(self) -> bool:
        """Whether it came to the common measure."""
        return self.reached is not None and self.reached <= TARGET


def reading(name: str, case: str, tol: float) -> tuple[float, float, float, str]:
    """Warm up, fit under the clock with the memory watched, and judge: seconds, megabytes, measure, a note."""
    way, X = WAYS[name], rows_of(case)
    if way.apart is not None:
        seconds, beyond, components = way.apart(X, tol)
        return seconds, beyond / 1e6, left_to_turn(X, components), ""
    way.fit(X[:3000, :4].copy(), 1e-2)
    with PeakWatch() as watch:
        start = perf_counter()
        components, note = way.fit(X, tol)
        seconds = perf_counter() - start
    return seconds, watch.beyond / 1e6, left_to_turn(X, components), note


def scouted(way: Way, case: str) -> tuple[Row, bool]:
    """Try tolerances from loose to tight; return the row of the first that reaches the measure, and whether one did."""
    row = Row(case, way.name, 0.0, None, None, 0, None, "no tolerance tried")
    for tol in way.ladder:
        outcome = call_apart(reading, way.name, case, tol, timeout=LONGEST)
        print(f"  {case} {way.name} tol={tol:g}: {outcome.failure or outcome.value}", flush=True)
        if outcome.failure is not None:
            return Row(case, way.name, tol, row.reached, None, 0, None, outcome.failure), False
        seconds, megabytes, reached, note = outcome.value
        row = Row(case, way.name, tol, reached, seconds, 1, megabytes, note)
        if row.is_equal:
            return row, True
    return row, False


def measure(case: str, ways: list[Way], *, repeats: int) -> list[Row]:
    """Measure every way in one case: a round that finds tolerances, then rounds in turn over what is not hopeless."""
    found = {way.name: scouted(way, case) for way in ways}
    quickest = min(row.seconds for row, equal in found.values() if equal and row.seconds)
    times = {name: [row.seconds] for name, (row, equal) in found.items() if equal and row.seconds}
    again = [name for name in times if times[name][0] <= 6 * quickest]
    for turn in range(1, repeats):
        for name in again[turn % len(again) :] + again[: turn % len(again)]:
            outcome = call_apart(reading, name, case, found[name][0].tol, timeout=LONGEST)
            if outcome.failure is None:
                times[name].append(outcome.value[0])
    for name, seconds in times.items():
        row = found[name][0]
        row.seconds, row.runs = statistics.median(seconds), len(seconds)
        print(f"  {case} {name}: {row.seconds:.4f} s, median of {row.runs}, {min(seconds):.4f} to {max(seconds):.4f}")
    return [row for row, _ in found.values()]


def main() -> None:
    """Measure, and write results/ica.json and .md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--ways", nargs="+", help="parts of names; such a run prints and writes nothing")
    parser.add_argument("--repeats", type=int, default=5)
    words = parser.parse_args()
    for way in WAYS.values():
        way.preload()
    chosen = [way for way in WAYS.values() if not words.ways or any(part in way.name for part in words.ways)]
    names = ["gramian", "scikit-learn", "python-picard", "mne", "numexpr"]
    for case in words.cases:
        if case == "eeg" and not EEG.exists():
            print(f"{EEG} is not there: left out")
            continue
        rows = measure(case, chosen, repeats=words.repeats)
        floor = call_apart(_floor, case, timeout=LONGEST).value
        if not words.ways:
            write_record(case, [asdict(row) for row in rows], floor=floor, about=machine.describe(names))


def _floor(case: str) -> dict[str, Any]:
    """Passes of Gramian's fit by precision, and what products and nonlinearity of such passes take: the floor."""
    from benchmarks.ica_floor import floor_of

    return floor_of(rows_of(case), TARGET)


if __name__ == "__main__":
    main()
