"""``gramian report MODEL [FILE]``: the page again."""

from pathlib import Path
from shlex import quote
from typing import Any

import click

from gramian.cli.options import row_flags

EXAMPLES = """\b
Examples:
  gramian report wine-pca/model.gramian wine.csv -o wine.html
  gramian report wine-pca/model.gramian              without rows: components, variance, certificate
"""

WHERE = "Where to write; default report.html beside the model, and report-model.html where no FILE is given."


@click.command("report", epilog=EXAMPLES)
@click.argument("model")
@click.argument("file", required=False)
@click.option("-o", "--output", metavar="PATH", help=WHERE)
@row_flags
def command(model: str, file: str | None, **flags: Any) -> None:
    """Write the page of MODEL, with the rows of FILE where it is given."""
    from gramian.cli.loaded import open_rows
    from gramian.cli.options import readable
    from gramian.cli.output import Progress
    from gramian.cli.writing import PAGE_OF_MODEL, cannot_write, refuse_same
    from gramian.models.archive.file import open_archive
    from gramian.models.categories.model import CodedModel
    from gramian.report import write_report

    # A page without rows says less than the one that the fit wrote, and leaves it where it is.
    output = Path(flags["output"] or Path(model).parent / ("report.html" if file else PAGE_OF_MODEL))
    refuse_same(output, model, file or "-")
    found = open_archive(model)
    shown: dict[str, Any] = {}
    notes = found.notes
    with readable(file or "") as path, Progress(quiet=flags["quiet"]) as progress:
        if file:
            rows = open_rows(path, found, flags, progress)
            # Levels have no limits for outliers, which rows of numbers are measured by.
            coded = isinstance(found.model, CodedModel)
            known = {"scores": found.model.project(rows.source)} if coded else {"rows": rows.source}
            shown = known | {"labels": rows.labels or None, "row_names": rows.row_names}
            notes = (*notes, *rows.notes)
        progress("writing the page")
        with cannot_write(output):
            code = f"import gramian\n\nmodel = gramian.load({model!r})\n"
            write_report(found.model, output, names=found.names, facts=notes, code=code, **shown)
    if not file and not flags["quiet"]:
        click.echo(f"The page shows no rows; with them: gramian report {quote(model)} FILE", err=True)
    click.echo(str(output))
