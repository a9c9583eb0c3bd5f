"""What the project promises of its speed, checked against the results."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.registry import all_cases
from benchmarks.results import Results, Row, best_peer_row, by_instance, default_row, gramian_row

# No case may be more than ten percent slower than the best peer at equal accuracy.
_SLACK = 1.10
_VERDICT = {True: "kept", False: "**broken**"}


@dataclass(frozen=True)
class Finding:
    """One promise on one instance, and whether it was kept."""

    instance: str
    promise: str
    measured: float
    kept: bool


def findings(results: Results) -> list[Finding]:
    """Every promise that the results can speak about."""
    found = []
    for rows in by_instance(results["rows"]):
        gramian = gramian_row(rows)
        if gramian is not None:
            found += [_accuracy(gramian), *_level_with_best(gramian, rows), *_named(gramian, rows)]
    return found


def report(results: Results) -> str:
    """A Markdown list, broken promises first."""
    ordered = sorted(findings(results), key=lambda finding: finding.kept)
    lines = [f"- {_VERDICT[found.kept]}: {found.instance}: {found.promise} ({found.measured:.3g})" for found in ordered]
    return "\n".join(["## Promises", "", *lines, ""])


def _name(row: Row) -> str:
    return f"{row['case']}/{row['spectrum']}/{row['dtype']}"


def _accuracy(gramian: Row) -> Finding:
    """The default keeps the house tolerance and the angle that it implies."""
    residual = gramian["accuracy"].get("residual", float("nan"))
    return Finding(_name(gramian), "residual and angle within the house tolerance", residual, gramian["within_target"])


def _level_with_best(gramian: Row, rows: list[Row]) -> list[Finding]:
    """At most ten percent slower than the best peer at equal accuracy."""
    best = best_peer_row(rows)
    if best is None:
        return []
    ratio = gramian["seconds"] / best["seconds"]
    return [Finding(_name(gramian), f"time at most {_SLACK} of {best['peer']}'s", ratio, ratio <= _SLACK)]


def _named(gramian: Row, rows: list[Row]) -> list[Finding]:
    """The case's own promises, against a peer at its default."""
    case = next((case for case in all_cases() if case.name == gramian["case"]), None)
    found = []
    for promise in case.promises if case else ():
        peer = default_row(rows, promise.peer)
        if peer is not None:
            times = peer["seconds"] / gramian["seconds"]
            sentence = f"at least {promise.times:g} times faster than {promise.peer}"
            found.append(Finding(_name(gramian), sentence, times, times >= promise.times))
    return found
