"""``gramian rebuild MODEL FILE``: rows as the kept components see them."""

from typing import Any

import click

from gramian.cli.options import row_flags

EXAMPLES = """\b
Examples:
  gramian rebuild wine-pca/model.gramian wine.csv > smoothed.csv
  gramian rebuild eeg-ica/model.gramian eeg.csv --without 1 --without 4 -o clean.csv
  gramian rebuild rings-kpca/model.gramian rings.csv --pre-image fixed_point --errors -o near.csv
"""


@click.command("rebuild", epilog=EXAMPLES)
@click.argument("model")
@click.argument("file")
@click.option("-o", "--output", metavar="PATH", help="A .csv, .parquet or .npy file; default stdout, as CSV.")
@click.option(
    "--without", type=click.IntRange(1), multiple=True, help="A component to leave out, from 1; again for more."
)
@click.option(
    "--pre-image",
    type=click.Choice(["ridge", "fixed_point", "distances", "auto"]),
    help="Of a kernel model: how rows are found; auto chooses by held-out rows.",
)
@click.option("--errors", is_flag=True, help="Of a kernel model: a column of what is left, squared, in feature space.")
@row_flags
def command(model: str, file: str, **flags: Any) -> None:
    """Give the rows of FILE as the components of MODEL stand for them.

    For an ICA model --without takes sources out of the rows and leaves all else as it is. For a kernel model the rows
    are pre-images, found by a smooth ridge regression where --pre-image names no other way: rows whose features are
    near to what the scores stand for. How near is said, and is a column of the answer with --errors.
    """
    import numpy as np

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
        rebuilt, left = _rebuilt(found.model, rows.source, [j - 1 for j in flags["without"]], flags)
    if not flags["quiet"]:
        for note in rows.notes:
            say(note)
        if left is not None:
            say(
                f"Squared distance left in the feature space: {np.median(left):.3g} for the median row, at most "
                f"{left.max():.3g}."
            )
    names = list(found.column_names)
    header, columns = (["row"], [rows.row_names]) if rows.row_names is not None else ([], [])
    if flags["errors"]:
        names, rebuilt = [*names, "squared error"], np.column_stack([rebuilt, left])
    write_table(flags["output"], [*header, *names], [*columns, *rebuilt.T])


def _rebuilt(model: Any, source: Any, without: list[int], flags: dict[str, Any]) -> tuple[Any, Any]:
    """Return the rows, and of a kernel model the squared distance that is left in its feature space."""
    import numpy as np

    from gramian.arrays.namespace import to_host
    from gramian.errors import ParameterError

    asked = next(
        (flag for flag, given in (("--pre-image", flags["pre_image"]), ("--errors", flags["errors"])) if given), None
    )
    if asked is not None and model.kind != "kernel":
        message = f"{asked} is for kernel models, whose rows have to be searched for. Leave the flag out."
        raise ParameterError(message)
    scores = np.array(to_host(model.project(source)))
    if any(j >= scores.shape[1] for j in without):
        message = f"--without {max(without) + 1}: the model has {scores.shape[1]} components."
        raise ParameterError(message)
    if model.kind == "ica" and without:
        return to_host(model.remove(source, without)), None
    scores[:, without] = 0.0
    if model.kind == "kernel":
        from gramian.models.kernel_pca.preimage import SMOOTH, expansion_of, fit_preimage

        found = fit_preimage(flags["pre_image"] or SMOOTH, expansion_of(model)).fitted.rebuild(scores)
        return found.rows, found.errors
    return to_host(model.reconstruct(scores)), None
