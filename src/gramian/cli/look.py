"""``gramian look FILE``: what is in a table, and what would be done with it."""

from typing import Any

import click

from gramian.cli.options import table_flags
from gramian.cli.output import Progress, in_flags, json_text, said_by

EXAMPLES = """\b
Examples:
  gramian look wine.csv
  gramian look survey.parquet --json
  gramian look - < wine.csv
"""

SHOWN = 60
"""Columns that are listed."""

HISTOGRAM_ROWS = 10_000
"""Rows, spread over the file, that histograms are drawn of."""


@click.command("look", epilog=EXAMPLES)
@click.argument("file")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@table_flags
def command(file: str, **flags: Any) -> None:
    """Say what is in FILE: what each column is and why, missing values, ranges, and what would be done.

    Nothing is fitted, and no file that can be read is refused.
    """
    from gramian.cli.options import read_options, readable

    with readable(file) as path, Progress(quiet=flags["quiet"]) as progress:
        options = read_options(flags, path, color=flags["color"])
        found, would, plan = _looked(path, options, progress)
    if flags["as_json"]:
        click.echo(json_text(found | {"notes": list(would), "plan": plan}))
        return
    click.echo(_text(file, found, would, plan))


def _looked(path: str, options: Any, progress: Progress) -> tuple[dict[str, Any], tuple[str, ...], str]:
    """Return what a table holds, the notes of a fit, and its plan: a refusal where the table can only be read."""
    from gramian.analysis.categories import open_for
    from gramian.cli.options import origin_of
    from gramian.errors import InputError

    try:
        prepared, _ = open_for(path, options, "auto", progress, fill=False)
    except InputError as error:
        if error.table is None:
            raise
        found = {"rows": error.table.n_rows, "columns": [_column(column) for column in error.table.columns]}
        return found, (), f"refuse it: {said_by(error).replace(path, origin_of(path))}"
    plan = _plan(prepared, options) if prepared.varies else "refuse it: nothing varies, so there is nothing to find"
    return _measured(prepared), tuple(map(in_flags, prepared.notes)), plan


def _measured(prepared: Any) -> dict[str, Any]:
    """Return a line for each column: what it is, what is done with it, and what its values are like."""
    from gramian.sources.roles import Column

    facts = prepared.facts
    if facts is None:
        names = prepared.missing or prepared.names
        columns = [Column(name, "number", "quantity", "numbers", use="used") for name in names]
    else:
        columns = facts.columns
    # Constant and empty columns are known only after the file was read.
    lines = {column.name: _column(column, left_out=column.name in prepared.left_out) for column in columns}
    for name, count in prepared.missing.items():
        lines[name]["missing"] = count
    # Coded rows are no columns of the table.
    shapes = [] if prepared.method else _histograms(prepared.source)
    for j, name in enumerate(() if prepared.method else prepared.names):
        lines[name] |= {"deviation": float(prepared.spread[j])} | shapes[j]
    return {"rows": prepared.source.n_rows, "columns": list(lines.values())}


def _column(column: Any, *, left_out: bool = False) -> dict[str, Any]:
    """Return what is known of a column before its values are measured."""
    return {
        "name": column.name,
        "kind": column.kind,
        "role": column.role,
        "use": "left_out" if left_out or column.role == "constant" else column.use,
        "reason": column.reason,
        "unit": column.unit,
        "missing": column.n_missing,
        "low": column.low,
        "high": column.high,
        "deviation": None,
        "histogram": None,
        "levels": dict(column.levels) or None,
    }


def _histograms(source: Any) -> list[dict[str, Any]]:
    """Return the range of each column, and how many of some rows, spread over the file, lie in each eighth of it."""
    import numpy as np

    from gramian.arrays.namespace import is_sparse, to_host

    blocks = range(0, source.n_blocks, max(1, source.n_blocks // 32))
    each = -(-HISTOGRAM_ROWS // len(blocks))
    some = (source.block(i).rows for i in blocks)
    parts = [rows[:: max(1, rows.shape[0] // each)] for rows in some]
    parts = [part.toarray() if is_sparse(part) else to_host(part) for part in parts]
    found: list[dict[str, Any]] = []
    for values in np.concatenate(parts).astype(np.float64).T:
        known = values[np.isfinite(values)]
        low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
        span = high - low
        if not len(known) or not np.isfinite(span) or span == 0.0:
            found.append({"histogram": None})
            continue
        found.append({"histogram": np.histogram(known, bins=8, range=(low, high))[0].tolist()})
    return found


def _plan(prepared: Any, options: Any) -> str:
    from gramian.errors import MemoryBudgetError
    from gramian.models.pca.fit import first_facts
    from gramian.models.pca.model import PCAOptions
    from gramian.planning.plan import plan_pca

    asked = PCAOptions(n_components="auto", scale=prepared.scale, memory_budget=options.memory)
    try:
        return str(plan_pca(first_facts(prepared.source, asked)))
    except MemoryBudgetError as error:
        return f"refuse it: {said_by(error)}"


def _text(file: str, found: dict[str, Any], notes: tuple[str, ...], plan: str) -> str:
    from gramian.analysis.findings import counted, shortened

    columns = found["columns"]
    width = max(6, *(min(len(column["name"]), 32) for column in columns))
    lines = [f"{file}: {counted(found['rows'], 'row')}, {counted(len(columns), 'column')}", ""]
    lines.append(f"{'column':{width}}  {'role':9} {'use':9} {'missing':>8}  values")
    for column in columns[:SHOWN]:
        missing = "" if not column["missing"] else f"{column['missing']:,}"
        use = {"left_out": "left out", "label": "color", "id": "row names"}.get(column["use"], column["use"])
        name = shortened(column["name"], 32)
        lines.append(f"{name:{width}}  {column['role']:9} {use:9} {missing:>8}  {_values(column)}".rstrip())
    if len(columns) > SHOWN:
        lines.append(f"... and {len(columns) - SHOWN:,} more")
    lines += [
        "",
        "gramian pca would do this:",
        *(f"- {note}" for note in notes),
        *(f"- {line}" for line in plan.splitlines()),
        "To take a column for something else: --role COL=quantity, category, id, name, date or text.",
    ]
    return "\n".join(lines)


def _values(column: dict[str, Any]) -> str:
    """Show what the values of a column are like: a histogram and the range, the levels, or why it is left out."""
    from gramian.analysis.findings import shortened
    from gramian.sources.roles import MOST_LEVELS

    if column["use"] == "used" and column["low"] is not None:
        unit = f" {column['unit']}" if column["unit"] else ""
        return f"{_bars(column['histogram'])} {_range(column['low'], column['high'])}{unit}"
    if column["use"] == "used" and column["deviation"] is not None:
        return f"{_bars(column['histogram'])} deviation {column['deviation']:.4g}"
    if column["levels"]:
        shown = [f"{shortened(level, 20)} {count:,}" for level, count in list(column["levels"].items())[:4]]
        more = len(column["levels"]) - len(shown)
        # No more than so many are kept.
        count = "" if len(column["levels"]) == MOST_LEVELS else f"{more} "
        return ", ".join(shown) + (f" and {count}more" if more else "")
    return shortened(column["reason"], 70)


def _range(low: float, high: float) -> str:
    """Return both ends of a range, with as many digits as tell them apart.

    Examples
    --------
    >>> _range(1.0, 2.0), _range(999.9994, 1000.0012)
    ('1 to 2', '999.9994 to 1000.0012')
    """
    digits = next((n for n in range(4, 17) if f"{low:.{n}g}" != f"{high:.{n}g}"), 4)
    digits += 2 * (digits > 4)
    return f"{low:.{digits}g} to {high:.{digits}g}"


def _bars(counts: list[int] | None) -> str:
    """Draw counts as bars of eight heights; a count that is not zero can be seen.

    Examples
    --------
    >>> _bars([0, 1, 50, 100, 50, 1, 0, 0])
    ' \u2581\u2584\u2588\u2584\u2581  '
    """
    if counts is None:
        return " " * 8
    most = max(counts) or 1
    return "".join(" \u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588"[-(-8 * count // most)] for count in counts)
