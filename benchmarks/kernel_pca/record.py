"""The record: results/kernel_pca.json, part by part, and the tables that are written from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks import speed_page
from benchmarks.tables import ratio_text

RESULTS = Path(__file__).parent.parent / "results"
OURS, PEER = "Gramian", "scikit-learn "
BEGIN, END = "<!-- kernel table: begin -->", "<!-- kernel table: end -->"


def keep(part: str, found: dict[str, Any]) -> None:
    """Put one part into the record, in the place of what it held before, and write the tables again."""
    path = RESULTS / "kernel_pca.json"
    record = json.loads(path.read_text()) if path.exists() else {}
    record[part] = found
    path.write_text(json.dumps(record, indent=1) + "\n")
    (RESULTS / "kernel_pca.md").write_text(f"# Kernel PCA\n\n{page(record)}\n")
    speed_page.rewrite(summary(record), begin=BEGIN, end=END)


def summary(record: dict[str, Any]) -> str:
    """Return the short form: Gramian beside the fastest of scikit-learn's solvers that meets the tolerance."""
    rows = [row for part in ("fits", "growth") for row in record.get(part, {}).get("rows", [])]
    places = dict.fromkeys(_place(row) for row in rows if row["way"].startswith(PEER))
    lines = [
        "| rows | tol | Gramian (residual) | fastest of scikit-learn that meets tol | Gramian is | memory beyond X |",
        "|---:|---|---|---|---|---|",
    ]
    lines += [_duel([row for row in rows if _place(row) == place]) for place in places]
    rest = {"growth": _grown, "product": _product, "landmarks": _landmarks}
    texts = [write(record[name]) for name, write in rest.items() if name in record]
    return "\n\n".join([_conditions(record), "\n".join(lines), *texts])


def _duel(rows: list[dict[str, Any]]) -> str:
    """Return the line of one size."""
    ours = next(row for row in rows if row["way"] == OURS)
    peers = [row for row in rows if row["way"].startswith(PEER)]
    able = [row for row in peers if row["seconds"] and row["residual"] <= row["tol"]]
    digits = _digits(ours["seconds"])
    head = f"| {_rows(ours)} | {ours['tol']:.0e} | {ours['seconds']:.{digits}f} s ({ours['residual']:.0e})"
    if not able:
        return f"{head} | none: {peers[0]['note']} | | {ours['megabytes']:,.0f} MB |"
    best = min(able, key=lambda row: row["seconds"])
    once = "" if best["runs"] > 1 else ", one run"
    name = best["way"].removeprefix(PEER)
    memory = f"{ours['megabytes']:,.0f} MB, {best['megabytes']:,.0f} MB"
    ratio = ratio_text(ours["seconds"], best["seconds"])
    return f"{head} | {best['seconds']:.{digits}f} s ({best['residual']:.0e}{once}), {name} | {ratio} | {memory} |"


def _place(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["n"], row["tol"], row.get("pause")


def _rows(row: dict[str, Any]) -> str:
    """Say how many rows, and whether the clock started while BLAS's threads were awake."""
    return f"{row['n']:,}{', at once' if row.get('pause') == 0 else ''}"


def _digits(seconds: float) -> int:
    return 3 if seconds < 0.1 else 2


def page(record: dict[str, Any]) -> str:
    """Return the record in Markdown."""
    parts = {"fits": _fits, "growth": _growth, "product": _product, "landmarks": _landmarks}
    texts = [write(record[name]) for name, write in parts.items() if name in record]
    return "\n\n".join([_conditions(record), *texts])


def _conditions(record: dict[str, Any]) -> str:
    """Say where, when and with what the parts were measured."""
    found = next(iter(record.values()))["machine"]
    dates = sorted({part["machine"]["date"] for part in record.values()})
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    memory = f"{found['memory_bytes'] / 2**30:.0f} GiB"
    return (
        f"{' to '.join(dates)}, {found['cpu']}, {found['cores']} cores, {memory}; Python {found['python']}, {versions}."
    )


def _fits(part: dict[str, Any]) -> str:
    lines = [
        "| rows | way | tol | seconds | memory beyond the rows | worst residual | |",
        "|---:|---|---|---:|---:|---|---|",
    ]
    return "\n".join(lines + [_fit_line(row) for row in part["rows"]])


def _fit_line(row: dict[str, Any]) -> str:
    head = f"| {_rows(row)} | {row['way']} | {row['tol']:.0e}"
    if row["seconds"] is None:
        return f"{head} | - | - | - | {row['note']} |"
    residual = "" if row["residual"] is None else f"{row['residual']:.0e}"
    seconds = f"{row['seconds']:.{_digits(row['seconds'])}f}{'' if row['runs'] > 1 else ' (one run)'}"
    return f"{head} | {seconds} | {row['megabytes']:,.0f} MB | {residual} | {row['note']} |"


def _growth(part: dict[str, Any]) -> str:
    return f"{_fits(part)}\n\n{_grown(part)}"


def _grown(part: dict[str, Any]) -> str:
    ours = [row for row in part["rows"] if row["seconds"]]
    each = ", ".join(f"{1e3 * row['megabytes'] / row['n']:.1f}" for row in ours)
    sizes = f"{ours[0]['n']:,} to {ours[-1]['n']:,} rows"
    return (
        f"From {sizes} time goes like n^{part['power']:.2f}. Memory beyond the rows is {each} kB a "
        "row: vectors of the basis and of the approximation, and buffers."
    )


def _product(part: dict[str, Any]) -> str:
    # Rows measured against other floors are left out until they are measured again.
    return "\n".join(_product_line(row) for row in part["rows"] if "plain" in row)


def _product_line(row: dict[str, Any]) -> str:
    return (
        f"One product of K with 16 vectors, {row['n']:,} rows: {row['seconds']:.2f} s. The plain loop of NumPy tiles "
        f"at the same precision, measured in turn: {row['plain']:.2f} s (tile {row['tile']:,}); the product takes "
        f"{row['ratio']:.2f} times that."
    )


def _landmarks(part: dict[str, Any]) -> str:
    row = part["row"]
    return (
        f"`landmarks={row['landmarks']}` at {row['n']:,} rows: {row['seconds']:.0f} s, {row['megabytes']:,.0f} MB "
        f"beyond the rows. Relative error of K stated: {row['stated_error']:.2e} +- "
        f"{row['stated_standard_error']:.0e}; among {row['held_out_rows']:,} rows that the fit did not see: "
        f"{row['held_out_error']:.2e}."
    )
