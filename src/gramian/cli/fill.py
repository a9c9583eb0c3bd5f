"""``gramian fill FILE``: what is missing in a table, filled in with its error."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gramian.cli.options import Count, table_flags

if TYPE_CHECKING:
    from gramian.analysis.filling import Filling, Known

EXAMPLES = """\b
Examples:
  gramian fill survey.csv                   everything by itself, into ./survey-fill/
  gramian fill ratings.csv --bounds 1,5     values stay between 1 and 5
  gramian fill ratings.csv --predict pairs.csv
  gramian fill long.csv --row user --column item --value rating --predict all
  gramian fill sensors.parquet -k 5 -o out
  gramian fill survey.csv --dry-run         what would be done, and nothing else
  gramian fill survey.csv --json | jq .held_out
"""

SHOWN = 24
"""Filled values that are listed, where there are no more."""


class Bounds(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.5 on
    """Two limits: 1,5."""

    name = "LOW,HIGH"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, float]:
        """Return the limits."""
        if isinstance(value, tuple):
            return value
        try:
            low, high = (float(limit) for limit in str(value).split(","))
        except ValueError:
            low, high = 0.0, 0.0
        if not -float("inf") < low < high < float("inf"):
            self.fail(f"{value[:40]!r} is no pair of limits. Pass the smaller one first, such as 1,5.", param, ctx)
        return low, high


@click.command("fill", epilog=EXAMPLES)
@click.argument("file")
@click.option("-k", "count", type=Count(), default="auto", show_default=True, metavar="N|auto", help="At most.")
@click.option("-o", "--output", metavar="DIR", type=click.Path(), help="Where to write; default ./STEM-fill/.")
@click.option("--bounds", type=Bounds(), help="Limits of filled values, such as 1,5.")
@click.option("--row", metavar="COL", help="Of a long table: the column that names the row, such as the user.")
@click.option("--column", metavar="COL", help="Of a long table: the column that names the column, such as the item.")
@click.option("--value", metavar="COL", help="Of a long table: the column of values, such as the rating.")
@click.option("--predict", metavar="FILE|all", help="Of a long table: pairs to predict, or all that are missing.")
@click.option("--biases/--no-biases", default=None, help="Levels of rows; default: in long and sparse tables.")
@click.option("--scale/--no-scale", default=None, help="Columns count alike; default: where spreads differ.")
@click.option("--no-report", is_flag=True, help="Write no page.")
@click.option("--dry-run", is_flag=True, help="Print the plan and stop.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True)
@table_flags
def command(file: str, **flags: Any) -> None:
    """Fill what is missing in FILE with what is expected there, given all that is known, each value with its error.

    Writes a folder with the table filled, its standard errors, the model and a page. The table stays as it is but for
    the missing cells of columns of quantities. A long table, of which each line is a value of a pair (user, film,
    rating), is one table of users and films: --predict takes the pairs to predict, with new users and films too.
    """
    from gramian.analysis.filling import FillRequest, fill_known, fill_plan, open_known
    from gramian.cli.exits import NotConvergedError
    from gramian.cli.options import name_of, read_options, readable, stem_of
    from gramian.cli.output import Progress, in_flags, json_text
    from gramian.cli.writing import claimed, refuse_same, refuse_written
    from gramian.sources.paths import files_of

    request = FillRequest(
        _count(flags["count"]),
        flags["biases"],
        flags["bounds"],
        flags["row"],
        flags["column"],
        flags["value"],
        flags["predict"],
        flags["seed"],
    )
    _refuse_color(flags["color"], flags["labels"])
    folder = flags["output"] or f"{stem_of(file)}-fill"
    refuse_written(folder, file)
    if request.predict not in (None, "all"):
        refuse_same(folder, str(request.predict))
        refuse_written(folder, str(request.predict))
        files_of(request.predict)
    with readable(file) as path, Progress(quiet=flags["quiet"]) as progress:
        options = read_options(flags, path, scale=flags["scale"])
        if flags["dry_run"]:
            known = open_known(path, request, options, progress)
            click.echo(_planned(name_of(file), known, fill_plan(known, request), as_json=flags["as_json"]))
            return
        files_of(path)
        with claimed(folder) as target:
            found = fill_known(open_known(path, request, options, progress), request, progress)
            notes = tuple(map(in_flags, found.notes))
            written = _written(found, file, target, notes, page=not flags["no_report"], progress=progress)
    command = _command()
    if flags["as_json"]:
        answer = found.as_json() | {"file": name_of(file), "notes": list(notes), "files": list(map(str, written))}
        click.echo(json_text(answer | {"command": command}))
    else:
        click.echo(_text(found, name_of(file), notes, written, command))
    if not found.converged:
        message = "the fit has not converged; what it reached was written (see the lines above)"
        raise NotConvergedError(message)


def _command() -> str:
    return shlex.join(["gramian", *click.get_current_context().find_root().obj])


def _count(count: Any) -> int | None:
    if isinstance(count, float):
        message = f"-k {count}: a share of the variance is not known before values are. Pass a number, or auto."
        raise click.UsageError(message)
    return None if count == "auto" else int(count)


def _refuse_color(color: str | None, labels: str | None) -> None:
    """Refuse what colors rows, which no picture of a filling shows."""
    for flag, given in (("--color", color), ("--labels", labels)):
        if given is not None:
            message = f"{flag} {given}: fill draws no map of rows, so there is nothing to color. Leave the flag out."
            raise click.UsageError(message)


def _planned(file: str, known: "Known", plan: str, *, as_json: bool) -> str:
    from gramian.cli.output import in_flags, json_text

    notes = list(map(in_flags, known.notes))
    if not as_json:
        return "\n".join([*notes, plan])
    sizes = {"rows": int(known.X.shape[0]), "columns": int(known.X.shape[1]), "known": known.n_known}
    sizes |= {"missing": known.n_missing}
    return json_text({"method": "fill", "file": file} | sizes | {"notes": notes, "plan": plan})


def _written(
    found: "Filling", file: str, folder: Path, notes: tuple[str, ...], *, page: bool, progress: Any
) -> tuple[Path, ...]:
    from gramian.cli.options import name_of, stem_of
    from gramian.cli.writing import cannot_write, remove_stale
    from gramian.report.filling import write_filling_page

    def write_page(path: Path) -> None:
        made = {"file": name_of(file), "time": f"{progress.seconds:.2f} s"}
        title = f"{stem_of(file)}, filled"
        write_filling_page(found, path, title=title, notes=notes, command=_command(), made=made)

    with cannot_write(folder):
        files = found.save(folder, notes=notes, page=write_page if page else None, progress=progress)
        remove_stale(folder, files)
    return files


def _text(found: "Filling", file: str, notes: tuple[str, ...], files: tuple[Path, ...], command: str) -> str:
    """Return the answer for a person."""
    from gramian.cli.fitting import paragraphs

    n, d = found.known.X.shape
    lines = [f"FILL of {file}: {n:,} x {d:,}, {found.known.n_known:,} values known"]
    lines += [*paragraphs([f"- {note}" for note in notes], indent="  "), ""]
    lines += [*paragraphs([str(finding) for finding in found.findings]), ""]
    lines += [*_cells(found), *_components(found)]
    lines.append(f"Written to {files[0].parent}/: {', '.join(path.name for path in files)}")
    lines.append(f"Use it again: in Python, gramian.load({str(files[0])!r})")
    lines.append(f"Reproduce it: {command}")
    return "\n".join(lines)


def _cells(found: "Filling") -> list[str]:
    """Return a line per filled value, where there are few."""
    from gramian.analysis.findings import shortened

    cells = found.filled_cells(SHOWN)
    if not cells:
        return []
    lines = [
        f"  {shortened(row, 24):26}{shortened(column, 24):26}{value:>10.4g} ± {error:.2g}"
        for row, column, value, error in cells
    ]
    return ["Filled, with standard errors:", *lines, ""]


def _components(found: "Filling") -> list[str]:
    from gramian.analysis.findings import shortened

    model, lines = found.model, []
    for j in range(min(model.n_components, 12)):
        leading = ", ".join(f"{shortened(name, 24)} {weight:+.2f}" for name, weight in found.leading(j, 4))
        lines.append(f"{found.components[j]:6}{model.shares[j]:>8.1%} ± {model.share_errors[j]:<8.1%}{leading}")
    return [f"{'':6}{'share':>8}   {'':8}leading columns", *lines, ""] if lines else []
