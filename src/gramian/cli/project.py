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
    from gramian.cli.exits import say
    from gramian.cli.input_path import readable
    from gramian.cli.loaded import open_archive, open_rows
    from gramian.cli.talk import Talk
    from gramian.cli.writing import refuse_same, require_format, score_columns, write_table
    from gramian.models.ica import ICAModel
    from gramian.models.pca import PCAModel

    refuse_same(flags["output"], file, model)
    require_format(flags["output"])
    found = open_archive(model)
    prefix = "PC" if isinstance(found.model, PCAModel) else "IC" if isinstance(found.model, ICAModel) else "KPC"
    with readable(file) as path, Talk(quiet=flags["quiet"]) as talk:
        rows = open_rows(path, found, flags, talk)
        scores = found.model.project(rows.source)
    if not flags["quiet"]:
        for note in rows.notes:
            say(note)
    write_table(flags["output"], *score_columns(scores, prefix=prefix, labels=rows.labels, row_names=rows.row_names))
