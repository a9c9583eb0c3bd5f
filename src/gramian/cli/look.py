"""``gramian look FILE``: what is in a table, and what would be done with it."""

from typing import Any

import click

from gramian.cli.json_text import json_text
from gramian.cli.options import table_flags

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
    """Say what is in FILE: rows, columns, types, holes, scales, and what would be done."""
    from gramian.cli.input_path import readable
    from gramian.cli.prepared import Asked
    from gramian.cli.table import open_table
    from gramian.cli.talk import Talk

    asked = Asked(flags["columns"], flags["drop"], flags["id_"], flags["color"], memory=flags["memory"])
    with readable(file) as path, Talk(quiet=flags["quiet"]) as talk:
        prepared = open_table(path, asked, talk)
        found = _found(path, asked, prepared, talk)
        plan = _plan(prepared, flags)
    if flags["as_json"]:
        click.echo(json_text(found | {"notes": list(prepared.notes), "plan": plan}))
        return
    click.echo(_text(file, found, prepared.notes, plan))


def _found(path: str, asked: Any, prepared: Any, talk: Any) -> dict[str, Any]:
    from gramian.cli.prepared import names_of, opened
    from gramian.sources.table_facts import count_holes

    source = opened(path, asked, talk)
    names = names_of(source)
    holes = dict(zip(names, count_holes(source).tolist(), strict=True))
    spread = dict(zip(prepared.names, prepared.spread.tolist(), strict=True))
    facts = getattr(source, "facts", None)
    columns = [(c.name, c.kind, c.role) for c in facts.columns] if facts else [(n, "number", "used") for n in names]
    # Which columns are empty or constant is known only after the file was read.
    out = set(prepared.left_out)
    listed = [
        {
            "name": name,
            "kind": kind,
            "role": "left_out" if name in out else role,
            "missing": holes.get(name),
            "deviation": spread.get(name),
        }
        for name, kind, role in columns
    ]
    return {"rows": source.n_rows, "columns": listed}


def _plan(prepared: Any, flags: dict[str, Any]) -> str:
    from gramian.models.pca import PCAOptions, first_facts
    from gramian.planning.plan import plan_pca

    options = PCAOptions(n_components="auto", scale=prepared.scale, memory_budget=flags["memory"])
    return str(plan_pca(first_facts(prepared.source, options)))


def _text(file: str, found: dict[str, Any], notes: tuple[str, ...], plan: str) -> str:
    from gramian.views.labels import counted, shortened

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
