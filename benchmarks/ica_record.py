"""The record of the ICA benchmark: results/ica.json, and the same as Markdown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
TITLES = {
    "10": "10 sources, 100,000 rows",
    "30": "30 sources, 100,000 rows",
    "64": "64 sources, 300,000 rows",
    "eeg": "EEG, 32 channels, 30,504 rows",
}
INPUT_MEGABYTES = {"10": 8.0, "30": 24.0, "64": 153.6, "eeg": 7.8}


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
