"""``gramian report MODEL [FILE]``: the page again."""

from pathlib import Path
from typing import Any

import click

from gramian.cli.options import row_flags

EXAMPLES = """\b
Examples:
  gramian report wine-pca/model.gramian wine.csv -o wine.html
  gramian report wine-pca/model.gramian              without rows: components, variance, certificate
"""


@click.command("report", epilog=EXAMPLES)
@click.argument("model")
@click.argument("file", required=False)
@click.option("-o", "--output", metavar="PATH", help="Where to write; default report.html beside the model.")
@row_flags
def command(model: str, file: str | None, **flags: Any) -> None:
    """Write the page of MODEL, with the rows of FILE where it is given."""
    from gramian.cli.input_path import readable
    from gramian.cli.loaded import open_archive, open_rows
    from gramian.cli.talk import Talk
    from gramian.cli.writing import cannot_write, refuse_same
    from gramian.report import write_report

    output = Path(flags["output"] or Path(model).parent / "report.html")
    refuse_same(output, model, file or "-")
    found = open_archive(model)
    shown: dict[str, Any] = {}
    notes = found.notes
    with readable(file or "") as path, Talk(quiet=flags["quiet"]) as talk:
        if file:
            rows = open_rows(path, found, flags, talk)
            shown = {"rows": rows.source, "labels": rows.labels or None, "row_names": rows.row_names}
            notes = (*notes, *rows.notes)
        talk("writing the page")
        with cannot_write(output):
            code = f"import gramian\n\nmodel = gramian.load({model!r})\n"
            write_report(found.model, output, names=found.names, facts=notes, code=code, **shown)
    click.echo(str(output))
