"""The record: results/kernel_pca.json, part by part, and the tables that are written from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks import readme

RESULTS = Path(__file__).parent.parent / "results"
README = Path(__file__).parent.parent.parent / "README.md"
BEGIN, END = "<!-- kernel table: begin -->", "<!-- kernel table: end -->"


def keep(part: str, found: dict[str, Any]) -> None:
    """Put one part into the record, in the place of what it held before, and write the tables again."""
    path = RESULTS / "kernel_pca.json"
    record = json.loads(path.read_text()) if path.exists() else {}
    record[part] = found
    path.write_text(json.dumps(record, indent=1) + "\n")
    text = page(record)
    (RESULTS / "kernel_pca.md").write_text(f"# Kernel PCA\n\n{text}\n")
    readme.rewrite(README, text, begin=BEGIN, end=END)


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
    head = f"| {row['n']:,} | {row['way']} | {row['tol']:.0e}"
    if row["seconds"] is None:
        return f"{head} | - | - | - | {row['note']} |"
    residual = "" if row["residual"] is None else f"{row['residual']:.0e}"
    once = "" if row["runs"] > 1 else " (one run)"
    return f"{head} | {row['seconds']:.2f}{once} | {row['megabytes']:,.0f} MB | {residual} | {row['note']} |"


def _growth(part: dict[str, Any]) -> str:
    ours = [row for row in part["rows"] if row["seconds"]]
    each = ", ".join(f"{1e3 * row['megabytes'] / row['n']:.1f}" for row in ours)
    sizes = f"{ours[0]['n']:,} to {ours[-1]['n']:,} rows"
    return (
        f"{_fits(part)}\n\nFrom {sizes} time goes like n^{part['power']:.2f}. Memory beyond the rows is {each} kB a "
        "row: vectors of the basis and of the approximation, and buffers."
    )


def _product(part: dict[str, Any]) -> str:
    return "\n".join(_product_line(row) for row in part["rows"])


def _product_line(row: dict[str, Any]) -> str:
    return (
        f"One product of K with 16 vectors, {row['n']:,} rows: {row['seconds']:.2f} s. Its floor, measured in turn: "
        f"{row['exponentials']:.2f} s of exponentials and {row['products']:.2f} s of matrix products at the rate of "
        f"large ones, {row['operations_a_second'] / 1e9:.0f} GFLOP/s; the product takes {row['ratio']:.2f} times that, "
        f"and {row['ratio_bare']:.2f} times the bare BLAS calls and exponentials of its tiles ({row['bare']:.2f} s)."
    )


def _landmarks(part: dict[str, Any]) -> str:
    row = part["row"]
    return (
        f"`landmarks={row['landmarks']}` at {row['n']:,} rows: {row['seconds']:.0f} s, {row['megabytes']:,.0f} MB "
        f"beyond the rows. Relative error of K stated: {row['stated_error']:.2e} +- "
        f"{row['stated_standard_error']:.0e}; among {row['held_out_rows']:,} rows that the fit did not see: "
        f"{row['held_out_error']:.2e}."
    )
