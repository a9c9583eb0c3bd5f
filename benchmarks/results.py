"""Results as plain data: one row a setting of a peer on an instance, in JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.schedule import Entry

Row = dict[str, Any]
Results = dict[str, Any]


def as_row(entry: Entry) -> Row:
    """Everything measured of one entry."""
    instance = entry.instance
    return {
        "case": instance.case.name,
        "title": instance.case.title,
        "spectrum": instance.spectrum,
        "dtype": instance.dtype,
        "shape": [instance.n_rows, instance.n_columns],
        "n_components": instance.n_components,
        "input_bytes": instance.input_bytes,
        "peer": entry.peer.name,
        "is_floor": entry.peer.is_floor,
        "setting": entry.setting.label,
        "roles": sorted(entry.roles),
        "failure": entry.failure,
        "reached": entry.reached,
        "within_target": entry.within_target,
        "accuracy": entry.accuracy,
        **_figures(entry),
    }


def _figures(entry: Entry) -> Row:
    """Times and memory, where there are any."""
    if not entry.readings:
        return {"seconds": None, "times": [], "peak_bytes": None, "notes": {}, "warned": []}
    return {
        "seconds": entry.seconds,
        "times": [reading.seconds for reading in entry.readings],
        "fits_per_process": entry.readings[0].fits,
        "peak_bytes": max(reading.peak_bytes for reading in entry.readings),
        "peak_method": entry.readings[0].peak_method,
        "notes": entry.readings[0].notes,
        "warned": list(entry.readings[0].warned),
    }


def write(results: Results, path: Path) -> None:
    """Write the JSON file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read(path: Path) -> Results:
    """Read it back."""
    return json.loads(path.read_text(encoding="utf-8"))


def by_instance(rows: list[Row]) -> list[list[Row]]:
    """Rows grouped by case, spectrum and precision, in the order in which they were measured."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["case"], row["spectrum"], row["dtype"]), []).append(row)
    return list(groups.values())


def gramian_row(rows: list[Row]) -> Row | None:
    """Gramian's row of one instance, where it was measured."""
    return next((row for row in rows if row["peer"] == "Gramian" and row["seconds"] is not None), None)


def default_row(rows: list[Row], peer: str) -> Row | None:
    """A peer at its default on one instance, where it was measured."""
    found = (row for row in rows if row["peer"] == peer and "default" in row["roles"])
    return next((row for row in found if row["seconds"] is not None), None)


def best_peer_row(rows: list[Row]) -> Row | None:
    """The fastest peer of one instance that is as accurate as it must be."""
    accurate = [
        row
        for row in rows
        if "equal" in row["roles"] and row["seconds"] is not None and not row["peer"].startswith("Gramian")
    ]
    return min(accurate, key=lambda row: row["seconds"], default=None)
