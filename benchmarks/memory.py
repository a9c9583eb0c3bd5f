"""The memory suite: what every default path takes beyond its input, beside the bound and beside its own plan.

The bound: a tenth of the input, 64 MB, the matrices of the smaller side where the path forms them, and
4 (n + d)(k + p) numbers with p = 10. The plan's own prediction must never be below what was used, and
for needs over 200 MB at most a quarter above it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks import store
from benchmarks.case import Instance
from benchmarks.isolate import call_apart
from benchmarks.measure import Reading, take_reading
from benchmarks.peers.gramian_pca import GramianPCA
from benchmarks.peers.peer import Setting
from benchmarks.tables import bytes_text

_NUMBER = 8  # Scatters, bases and small problems are held in float64 whatever the rows are.
_EXTRA_VECTORS = 10
_FIXED = 64e6
_LARGE = 200e6  # Above this, a prediction may be at most a quarter too high.
# The matrix, its eigenvectors, and a workspace of two more for LAPACK's divide and conquer.
_MATRICES = 4
_FIT_SECONDS = 300.0
_YES = {True: "yes", False: "**no**"}

LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "C order": lambda X: X,
    "Fortran order": np.asfortranarray,
    "CSR": lambda X: X,
    "CSC": lambda X: X.tocsc(),
}


@dataclass(frozen=True)
class MemoryRow:
    """One fit: peak beyond the input, its bound, and the plan's prediction, in bytes."""

    instance: Instance
    layout: str
    reading: Reading | None
    failure: str | None

    @property
    def bound(self) -> float:
        """The most that this path may take."""
        instance = self.instance
        vectors = 4 * (instance.n_rows + instance.n_columns) * (self.components + _EXTRA_VECTORS) * _NUMBER
        return 0.1 * instance.input_bytes + _FIXED + self.matrices + vectors

    @property
    def components(self) -> int:
        """How many came out, where a share was asked for."""
        return self.reading.notes["components"] if self.reading else self.instance.rank_asked

    @property
    def matrices(self) -> float:
        """Bytes of the matrices of the smaller side, where the plan forms them."""
        held = self.reading is not None and self.reading.notes.get("held") == "True"
        return _MATRICES * self.instance.side**2 * _NUMBER if held else 0.0

    def as_row(self) -> dict[str, Any]:
        """Plain data for the JSON file."""
        reading = self.reading
        peak = reading.peak_bytes if reading else None
        predicted = reading.notes.get("predicted_peak_bytes") if reading else None
        return {
            "instance": self.instance.key,
            "layout": self.layout,
            "input_bytes": self.instance.input_bytes,
            "peak_bytes": peak,
            "bound_bytes": self.bound,
            "within_bound": peak is not None and peak <= self.bound,
            "predicted_bytes": predicted,
            "predicted_enough": predicted is not None and peak is not None and peak <= predicted,
            "predicted_closely": predicted is not None and peak is not None and _is_close(predicted, peak),
            "failure": self.failure,
            "notes": reading.notes if reading else {},
        }


def _is_close(predicted: float, peak: float) -> bool:
    """Whether a prediction of a large need is at most a quarter too high."""
    return peak <= _LARGE or predicted <= 1.25 * peak


def measure_memory(instances: Iterable[Instance], *, tell: Callable[[str], None]) -> list[dict[str, Any]]:
    """One fit of Gramian's default for every instance and layout."""
    rows = []
    for instance in instances:
        for found in _measure_layouts(instance):
            rows.append(found.as_row())
            tell(_line(rows[-1]))
    return rows


def _measure_layouts(instance: Instance) -> Iterator[MemoryRow]:
    """The instance's rows in each memory order they can have."""
    X = store.load_rows(instance)
    for layout in ("CSR", "CSC") if instance.is_sparse else ("C order", "Fortran order"):
        outcome = call_apart(_reading, instance, LAYOUTS[layout](X), timeout=2 * _FIT_SECONDS)
        yield MemoryRow(instance, layout, outcome.value, outcome.failure)


def _reading(instance: Instance, X: Any) -> Reading:
    """The child's work."""
    return take_reading(GramianPCA(), instance, Setting("default"), X, reference=None, limit=_FIT_SECONDS)


def table(rows: list[dict[str, Any]]) -> str:
    """Markdown of the suite."""
    head = [
        "| instance | layout | input | peak beyond it | bound | within | the plan's prediction | enough | close |",
        "|---|---|---:|---:|---:|---|---:|---|---|",
    ]
    return "\n".join([*head, *(_table_line(row) for row in rows)])


def _table_line(row: dict[str, Any]) -> str:
    peak = row["failure"] or bytes_text(row["peak_bytes"])
    cells = [
        row["instance"],
        row["layout"],
        bytes_text(row["input_bytes"]),
        peak,
        bytes_text(row["bound_bytes"]),
    ]
    cells += [_YES[row["within_bound"]], bytes_text(row["predicted_bytes"])]
    return f"| {' | '.join([*cells, _YES[row['predicted_enough']], _YES[row['predicted_closely']]])} |"


def _line(row: dict[str, Any]) -> str:
    """One line of progress."""
    if row["failure"]:
        return f"  {row['instance']} {row['layout']}: {row['failure']}"
    return (
        f"  {row['instance']} {row['layout']}: {bytes_text(row['peak_bytes'])}, "
        f"bound {bytes_text(row['bound_bytes'])}, predicted {bytes_text(row['predicted_bytes'])}"
    )
