"""``gramian demo [NAME]``: examples of the lectures, each ending in a page."""

from pathlib import Path
from typing import Any

import click

DEMOS = {
    "wine": "178 wines, 13 measurements: what tells three cultivars apart",
    "digits": "1,797 handwritten digits of 8 x 8 pixels, and what they are made of",
    "circle": "two rings that no straight line parts, and a kernel that does",
    "particle": "a particle on a straight line, seen by three sensors: three columns, one motion",
    "cocktail": "four sounds recorded by four microphones, unmixed",
    "faces": "eigenfaces: a face from a few numbers",
}
"""The demos, each with what it shows."""

EXAMPLES = """\b
Examples:
  gramian demo                  wine, into ./demo/
  gramian demo cocktail
  gramian demo faces -o out
"""


@click.command("demo", epilog=EXAMPLES)
@click.argument("name", type=click.Choice(list(DEMOS)), default="wine")
@click.option("-o", "--output", metavar="DIR", type=click.Path(), default="demo", show_default=True)
@click.option("--quiet", is_flag=True, help="Say nothing on stderr while working.")
def command(name: str, output: str, *, quiet: bool) -> None:
    """Run an example of the lectures: wine, digits, circle, particle, cocktail or faces.

    Writes the table to DIR, fits it as `gramian pca`, `kpca` or `ica` would, and says where the page is.
    """
    from gramian.cli.demo_tables import MAKERS
    from gramian.cli.fitting import run
    from gramian.cli.writing import cannot_write
    from gramian.models.export import write_csv
    from gramian.models.whole_file import whole_file

    made = MAKERS[name]()
    folder = Path(output)
    table = folder / f"{name}.csv"
    with cannot_write(table):
        folder.mkdir(parents=True, exist_ok=True)
        with whole_file(table) as part:
            write_csv(part, made.header, made.columns)
            _refuse_another(table, part)
    target = folder / f"{name}-{made.verb}"
    click.echo(f"{DEMOS[name]}.\n$ gramian {made.verb} {table}{made.words}\n")
    words = (made.verb, str(table), *made.words.split())
    run(_verb(made.verb), str(table), _flags(quiet=quiet, output=str(target)) | made.flags | {"words": words})
    click.echo(f"\nThe page: {(target / 'report.html').resolve()}")


def _refuse_another(table: Path, part: Path) -> None:
    """Refuse to write the table of a demo over a file that is not that table."""
    from filecmp import cmp

    from gramian.cli.exits import CannotWriteError

    if table.exists() and not cmp(table, part, shallow=False):
        message = f"cannot write {table}: a file of yours has that name. Name another folder with -o, or move the file."
        raise CannotWriteError(message)


def _verb(name: str) -> Any:
    from importlib import import_module

    from gramian.cli.fitting import Verb

    module = import_module(f"gramian.cli.{name}")
    return Verb(name, {"pca": "PC", "kpca": "KPC", "ica": "IC"}[name], module._plan, module._fit)  # noqa: SLF001


def _flags(*, quiet: bool, output: str) -> dict[str, Any]:
    """Return the flags as they are when nothing is said."""
    return {
        "count": "auto",
        "output": output,
        "scale": None,
        "missing": "em",
        "no_report": False,
        "dry_run": False,
        "as_json": False,
        "seed": 0,
        "device": None,
        "columns": (),
        "drop": (),
        "id_": None,
        "color": None,
        "memory": None,
        "quiet": quiet,
        "kernel": "rbf",
        "gamma": "median",
        "degree": 3,
        "coef0": 1.0,
        "landmarks": None,
        "copy_rows": False,
        "algorithm": "picard",
        "runs": 1,
        "rate": None,
        "shape": None,
    }
