"""``gramian rebuild MODEL FILE``: rows as the kept components see them."""

from typing import Any

import click

from gramian.cli.options import row_flags

EXAMPLES = """\b
Examples:
  gramian rebuild wine-pca/model.gramian wine.csv > smoothed.csv
  gramian rebuild eeg-ica/model.gramian eeg.csv --without 1 --without 4 -o clean.csv
"""


@click.command("rebuild", epilog=EXAMPLES)
@click.argument("model")
@click.argument("file")
@click.option("-o", "--output", metavar="PATH", help="A .csv, .parquet or .npy file; default stdout, as CSV.")
@click.option(
    "--without", type=click.IntRange(1), multiple=True, help="A component to leave out, from 1; again for more."
)
@row_flags
def command(model: str, file: str, **flags: Any) -> None:
    """Give the rows of FILE as the components of MODEL stand for them.

    For an ICA model --without takes sources out of the rows and leaves all else as it is. For a kernel model the rows
    are pre-images, found by ridge regression.
    """
    from gramian.cli.exits import say
    from gramian.cli.loaded import open_rows, refuse_coded
    from gramian.cli.options import readable
    from gramian.cli.output import Progress
    from gramian.cli.writing import refuse_same, require_format, write_table
    from gramian.models.archive.file import open_archive

    refuse_same(flags["output"], file, model)
    require_format(flags["output"])
    found = open_archive(model)
    refuse_coded(found.model, "rebuild", "In Python, gramian.load(model).inverse_transform(scores) gives levels.")
    with readable(file) as path, Progress(quiet=flags["quiet"]) as progress:
        rows = open_rows(path, found, flags, progress)
        rebuilt = _rebuilt(found.model, rows.source, [j - 1 for j in flags["without"]])
    if not flags["quiet"]:
        for note in rows.notes:
            say(note)
    names = list(found.names or [f"column {j + 1}" for j in range(rebuilt.shape[1])])
    header, columns = (["row"], [rows.row_names]) if rows.row_names is not None else ([], [])
    write_table(flags["output"], [*header, *names], [*columns, *rebuilt.T])


def _rebuilt(model: Any, source: Any, without: list[int]) -> Any:
    import numpy as np

    from gramian.arrays.namespace import to_host
    from gramian.errors import ParameterError

    scores = np.array(to_host(model.project(source)))
    if any(j >= scores.shape[1] for j in without):
        message = f"--without {max(without) + 1}: the model has {scores.shape[1]} components."
        raise ParameterError(message)
    if model.kind == "ica" and without:
        return to_host(model.remove(source, without))
    scores[:, without] = 0.0
    if model.kind == "kernel":
        from gramian.models.kernel_pca.preimage import SMOOTH, expansion_of

        return SMOOTH.fit(expansion_of(model)).rebuild(scores).rows
    return to_host(model.reconstruct(scores))
