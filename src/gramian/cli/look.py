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


@click.command("look", epilog=EXAMPLES)
@click.argument("file")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@table_flags
def command(file: str, **flags: Any) -> None:
    """Say what is in FILE: rows, columns, types, missing values, scales, and what would be done. Nothing is fitted."""
    from gramian.analysis.table import ReadOptions
    from gramian.cli.options import file_options, origin_of, readable

    words = (flags["columns"], flags["drop"], flags["id_"], flags["color"])
    with readable(file) as path, Progress(quiet=flags["quiet"]) as progress:
        options = ReadOptions(
            *words,
            memory=flags["memory"],
            origin=origin_of(path),
            roles=flags["roles"],
            file=file_options(flags),
        )
        found, would, plan = _looked(path, options, progress)
    if flags["as_json"]:
        click.echo(json_text(found | {"notes": list(would), "plan": plan}))
        return
    click.echo(_text(file, found, would, plan))


def _looked(path: str, options: Any, progress: Progress) -> tuple[dict[str, Any], tuple[str, ...], str]:
    """Return what a table holds, the notes of a fit, and its plan: a refusal where the table can only be read."""
    from gramian.analysis.table import open_table
    from gramian.cli.options import origin_of
    from gramian.errors import InputError

    try:
        prepared = open_table(path, options, progress, fill=False, scatter=False)
    except InputError as error:
        if error.table is None:
            raise
        return _listed(error.table, {}, {}, ()), (), f"refuse it: {said_by(error).replace(path, origin_of(path))}"
    spread = dict(zip(prepared.names, prepared.spread.tolist(), strict=True))
    facts = prepared.facts
    if facts is None:
        columns = [_column(name, "number", "used", prepared.missing, spread) for name in prepared.missing]
        found = {"rows": prepared.source.n_rows, "columns": columns}
    else:
        found = _listed(facts, prepared.missing, spread, prepared.left_out)
    return found, tuple(map(in_flags, prepared.notes)), _plan(prepared, options)


def _listed(facts: Any, missing: dict[str, int], spread: dict[str, float], left_out: tuple[str, ...]) -> dict[str, Any]:
    """Return a line for each column; which ones are empty or constant is known only after the file was read."""
    columns = [
        _column(column.name, column.kind, "left_out" if column.name in left_out else column.role, missing, spread)
        for column in facts.columns
    ]
    return {"rows": facts.n_rows, "columns": columns}


def _column(name: str, kind: str, role: str, missing: dict[str, int], spread: dict[str, float]) -> dict[str, Any]:
    return {"name": name, "kind": kind, "role": role, "missing": missing.get(name), "deviation": spread.get(name)}


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
    from gramian.pictures.fitted import counted, shortened

    width = max(6, *(min(len(column["name"]), 40) for column in found["columns"]))
    lines = [f"{file}: {counted(found['rows'], 'row')}, {counted(len(found['columns']), 'column')}", ""]
    lines.append(f"{'column':{width}}  {'type':8}  {'use':9}{'missing':>8}{'deviation':>12}")
    for column in found["columns"][:SHOWN]:
        missing = "" if not column["missing"] else f"{column['missing']:,}"
        spread = "" if column["deviation"] is None else f"{column['deviation']:.4g}"
        role = {"left_out": "left out", "label": "color", "id": "row names"}.get(column["role"], column["role"])
        lines.append(
            f"{shortened(column['name'], 40):{width}}  {column['kind']:8}  {role:9}{missing:>8}{spread:>12}".rstrip()
        )
    if len(found["columns"]) > SHOWN:
        lines.append(f"... and {len(found['columns']) - SHOWN:,} more")
    lines += [
        "",
        "gramian pca would do this:",
        *(f"- {note}" for note in notes),
        *(f"- {line}" for line in plan.splitlines()),
    ]
    return "\n".join(lines)
