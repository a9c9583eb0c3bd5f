"""ICA beside other people's: ``python -m benchmarks.ica [--cases 10 30 64 eeg] [--repeats 5]``.

Rows are float64: peaked and flat sources mixed by a Gaussian matrix, and 32 channels of EEG. Every fit runs in a
process of its own, in turn; its peak memory beyond the rows is the system's high-water mark. All are held to the same
measure, the largest entry of the skew part of E[psi(s) s'] on sources of unit variance, over all rows and in float64,
signs adapted: each stands with the loosest of its tolerances that brings it to 1e-6. The floor is the least that
Gramian's passes could take: their matrix products and nonlinearity, and nothing else. A case that is not named keeps
its former record.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import machine
from benchmarks.ica_peers import WAYS, Way
from benchmarks.ica_rows import EEG, SIZES, left_to_turn, rows_of
from benchmarks.isolate import call_apart
from benchmarks.resident import PeakWatch

TARGET = 1e-6
LONGEST = 30.0
"""Seconds after which a fit is stopped."""
CASES = (*SIZES, "eeg")

RESULTS = Path(__file__).parent / "results"
TITLES = {
    "10": "10 sources, 100,000 rows",
    "30": "30 sources, 100,000 rows",
    "64": "64 sources, 300,000 rows",
    "eeg": "EEG, 32 channels, 30,504 rows",
}
INPUT_MEGABYTES = {"10": 8.0, "30": 24.0, "64": 153.6, "eeg": 7.8}


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


def floor_of(case: str) -> dict[str, Any]:
    """Return passes by precision (in whole passes over all rows), and the seconds that their products take at least."""
    X = rows_of(case)
    passes = passes_of(X, TARGET)
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


def write_record(case: str, rows: list[dict[str, Any]], *, floor: dict[str, Any] | None, about: dict[str, Any]) -> None:
    """Put a case in its place of the record; the others stay, each with its own date and machine."""
    path = RESULTS / "ica.json"
    record = json.loads(path.read_text()) if path.exists() else {}
    record[case] = {"machine": about, "floor": floor, "rows": rows}
    record = {name: record[name] for name in TITLES if name in record}
    RESULTS.mkdir(exist_ok=True)
    path.write_text(json.dumps(record, indent=1) + "\n")
    (RESULTS / "ica.md").write_text(markdown(record))
    print(section(case, record[case]))


def markdown(record: dict[str, Any]) -> str:
    """Return the whole record as Markdown."""
    parts = ["# ICA", MEASURE, *(section(case, found) for case, found in record.items())]
    return "\n\n".join(parts) + "\n"


MEASURE = (
    "Each way at the loosest of its tolerances that brings the skew part of E[psi(s) s'], on sources of unit variance, "
    "to 1e-6 over all rows; seconds are medians. A way that never comes there is shown with what it reached, and does "
    "not count. Memory is the peak beyond the input."
)


def section(case: str, found: dict[str, Any]) -> str:
    """Return one case: a heading, the table, the floor."""
    about = found["machine"]
    equal = [row for row in found["rows"] if _is_equal(row)]
    ours = next((row["seconds"] for row in equal if row["way"] == "Gramian"), None)
    lines = [
        f"## {TITLES[case]}",
        "",
        f"{about['date']}, {about['cpu']}, {about['cores']} cores; the input is {INPUT_MEGABYTES[case]:g} MB.",
        "",
        "| way | tol | seconds | beside Gramian | memory | measure | |",
        "|---|---|---:|---:|---:|---|---|",
        *(_line(row, ours) for row in found["rows"]),
    ]
    lines += _default_words(equal, INPUT_MEGABYTES[case])
    if found["floor"]:
        passes = " + ".join(f"{count:g} in {name}" for name, count in found["floor"]["passes"].items())
        lines += ["", f"Floor: {found['floor']['seconds']:.3f} s, the products and tangents of {passes} passes alone."]
    return "\n".join(lines)


def _default_words(equal: list[dict[str, Any]], megabytes: float) -> list[str]:
    """Say how the default fit, which also measures independence, stands beside the fastest peer and the input."""
    default = next((row for row in equal if row["way"] == "Gramian, default"), None)
    peers = [row for row in equal if not row["way"].startswith("Gramian")]
    if default is None or not peers:
        return []
    best = min(peers, key=lambda row: row["seconds"])
    times, copies = best["seconds"] / default["seconds"], default["megabytes"] / megabytes
    words = f"The default fit, independence measured, is {times:.1f} times as fast as {best['way']}, the fastest peer,"
    return ["", f"{words} and takes {copies:.2f} copies of the input beyond it. Gramian alone: `independence=False`."]


def _is_equal(row: dict[str, Any]) -> bool:
    return row["seconds"] is not None and row["reached"] is not None and row["reached"] <= 1e-6


def _line(row: dict[str, Any], ours: float | None) -> str:
    reached = "" if row["reached"] is None else f"{row['reached']:.0e}"
    if row["seconds"] is None:
        return f"| {row['way']} | {row['tol']:.0e} | - | - | - | {reached} | {row['note']} |"
    beside = f"{row['seconds'] / ours:.2f}" if ours and _is_equal(row) else "not equal"
    once = "" if row["runs"] > 1 else " (once)"
    cells = f"{row['seconds']:.3f}{once} | {beside} | {row['megabytes']:,.0f} MB | {reached} | {row['note']}"
    return f"| {row['way']} | {row['tol']:.0e} | {cells} |"


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
        floor = call_apart(floor_of, case, timeout=LONGEST).value
        if not words.ways:
            write_record(case, [asdict(row) for row in rows], floor=floor, about=machine.describe(names))


if __name__ == "__main__":
    main()
