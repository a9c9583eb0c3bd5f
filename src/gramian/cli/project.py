"""``gramian project MODEL FILE``: the scores of new rows."""

from typing import Any

import click

from gramian.cli.options import row_flags

EXAMPLES = """\b
Examples:
  gramian project wine-pca/model.gramian new.csv > scores.csv
  gramian project wine-pca/model.gramian new.parquet -o scores.parquet
"""


@click.command("project", epilog=EXAMPLES)
@click.argument("model")
@click.argument("file")
@click.option("-o", "--output", metavar="PATH", help="A .csv, .parquet or .npy file; default stdout, as CSV.")
@row_flags
def command(model: str, file: str, **flags: Any) -> None:
    """Give the scores of the rows of FILE under MODEL.

    Columns are found by name, in any order; columns that the model does not know are left out.
    """
    from gramian.analysis.folder import score_columns
    from gramian.cli.exits import say
    from gramian.cli.loaded import open_rows
    from gramian.cli.options import readable
    from gramian.cli.output import Progress
    from gramian.cli.writing import refuse_same, require_format, write_table
    from gramian.models.archive.file import open_archive

    refuse_same(flags["output"], file, model)
    require_format(flags["output"])
    found = open_archive(model)
    with readable(file) as path, Progress(quiet=flags["quiet"]) as progress:
        rows = open_rows(path, found, flags, progress)
        scores = found.model.project(rows.source)
    if not flags["quiet"]:
        for note in rows.notes:
            say(note)
    table = score_columns(scores, prefix=found.model.prefix, labels=rows.labels, row_names=rows.row_names)
    write_table(flags["output"], *table)
