"""Markdown tables of the results: a short one for docs/speed.md, and every row for the record."""

from __future__ import annotations

from benchmarks.results import Results, Row, best_peer_row, by_instance, default_row, gramian_row

_DATA = {"decay": "fast decay", "noise": "slow, noisy"}
_UNITS = (("s", 1.0), ("ms", 1e3), ("us", 1e6))
_METHOD = (
    "Imports, data and warm-up are outside the clock; a fit under 0.1 s is repeated in its process. Memory "
    "is the peak of resident memory above what it was just before the fit. Equal accuracy: a residual of at "
    "most 1e-10 of the largest eigenvalue in float64 and 1e-6 in float32, and the angle that this implies, "
    "each peer at the loosest of its settings that reaches it."
)


def summary(results: Results) -> str:
    """One line an instance: Gramian, the best peer at equal accuracy, scikit-learn's default, floors."""
    head = (
        "| rows x columns | data | precision | Gramian | best peer, equal accuracy | Gramian is "
        "| scikit-learn default (sine of its angle) "
        "| floors: one pass, SYRK or block product, dense eigensolver or validation "
        "| memory beyond the input: Gramian, best peer, scikit-learn |\n"
        "|---|---|---|---:|---|---|---|---|---|"
    )
    lines = [_summary_line(rows) for rows in by_instance(results["rows"])]
    return "\n".join([conditions(results), "", head, *lines])


def details(results: Results) -> str:
    """Every peer of every instance, with the settings tried and the reasons of those not run."""
    parts = ["# PCA beside its peers", "", conditions(results), ""]
    for rows in by_instance(results["rows"]):
        first = rows[0]
        parts += [
            f"## {first['title']}: {_DATA.get(first['spectrum'], first['spectrum'])}, {first['dtype']}",
            "",
        ]
        parts += [
            "| peer | setting | role | time (least to most) | memory | residual | angle | values | equal? |",
            "|---|---|---|---:|---:|---:|---:|---:|---|",
            *(_detail_line(row) for row in rows),
            "",
        ]
    return "\n".join(parts)


def conditions(results: Results) -> str:
    """Where, when and with what, in three sentences."""
    machine = results["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items() if version)
    rates = " and ".join(f"{rate / 1e9:.0f} GFLOP/s in {dtype}" for dtype, rate in machine["product_rate"].items())
    return (
        f"{machine['date']}, {machine['cpu']}, {machine['cores']} cores, "
        f"{machine['memory_bytes'] / 2**30:.0f} GiB; Python {machine['python']}, {versions}; "
        f"{', '.join(machine['blas'])}; a matrix product runs at {rates}. "
        f"Medians of {results['rules']['repeats']} processes, taken in turn; one where marked. "
        f"{_METHOD}"
    )


def seconds_text(seconds: float | None) -> str:
    """Seconds with three figures, in milliseconds or microseconds where they are few."""
    if seconds is None:
        return ""
    unit, scale = next((pair for pair in _UNITS if seconds * pair[1] >= 0.9995), _UNITS[-1])
    return f"{seconds * scale:#.3g}".rstrip(".") + f" {unit}"


def bytes_text(count: float | None) -> str:
    """Bytes in megabytes."""
    return "" if count is None else f"{count / 1e6:,.0f} MB"


def ratio_text(gramian: float, other: float) -> str:
    """How much faster or slower Gramian is."""
    return f"{other / gramian:.2f}x faster" if other >= gramian else f"{gramian / other:.2f}x slower"


def _summary_line(rows: list[Row]) -> str:
    gramian, best, default = gramian_row(rows), best_peer_row(rows), default_row(rows, "scikit-learn")
    cells = [
        rows[0]["title"],
        _DATA.get(rows[0]["spectrum"], rows[0]["spectrum"]),
        rows[0]["dtype"],
        _time(gramian),
        "none" if best is None else f"{_time(best)}, {_who(best)}",
        "" if gramian is None or best is None else ratio_text(gramian["seconds"], best["seconds"]),
        "not run" if default is None else f"{_time(default)} ({default['accuracy']['angle']:.0e})",
        _floors(rows),
        ", ".join(bytes_text(row["peak_bytes"]) if row else "none" for row in (gramian, best, default)),
    ]
    return f"| {' | '.join(cells)} |"


def _detail_line(row: Row) -> str:
    errors = [row["accuracy"].get(name) for name in ("residual", "angle", "value_error")]
    time = row["failure"] or f"{_time(row)} ({_spread(row)})"
    role = "floor" if row["is_floor"] else " and ".join(row["roles"]) or "tried"
    cells = [row["peer"], row["setting"], role, time, bytes_text(row["peak_bytes"])]
    cells += ["" if error is None else f"{error:.1e}" for error in errors]
    return f"| {' | '.join([*cells, '' if row['is_floor'] or row['failure'] else _yes(row)])} |"


def _yes(row: Row) -> str:
    return "yes" if row["reached"] else "no"


def _time(row: Row | None) -> str:
    """The median, marked where it is of one process only."""
    if row is None:
        return "not run"
    return seconds_text(row["seconds"]) + (" (one run)" if len(row["times"]) == 1 else "")


def _spread(row: Row) -> str:
    return f"{seconds_text(min(row['times']))} to {seconds_text(max(row['times']))}"


def _who(row: Row) -> str:
    return row["peer"] if row["setting"] == "default" else f"{row['peer']} ({row['setting']})"


def _floors(rows: list[Row]) -> str:
    """The floors' times in the order of the table."""
    floors = [row for row in rows if row["is_floor"] and row["seconds"] is not None]
    return ", ".join(seconds_text(row["seconds"]) for row in floors)
