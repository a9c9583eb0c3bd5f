"""``gramian export MODEL --to FORMAT``: a model for other programs."""

from pathlib import Path

import click

EXAMPLES = """\b
Examples:
  gramian export wine-pca/model.gramian --to onnx          into wine-pca/model.onnx
  gramian export wine-pca/model.gramian --to csv -o weights.csv
"""


@click.command("export", epilog=EXAMPLES)
@click.argument("model")
@click.option("--to", type=click.Choice(["csv", "parquet", "npz", "onnx"]), required=True)
@click.option("-o", "--output", metavar="PATH", help="Where to write; default beside the model.")
def command(model: str, to: str, output: str | None) -> None:
    """Write MODEL as CSV, Parquet, npz, or as an ONNX graph from rows to scores."""
    from gramian.cli.writing import cannot_write, refuse_same
    from gramian.models.archive.export import export
    from gramian.models.archive.file import open_archive

    path = Path(output) if output else Path(model).with_suffix(f".{to}")
    refuse_same(path, model)
    found = open_archive(model)
    with cannot_write(path):
        export(found.model, path, to=to, names=found.names)
    click.echo(str(path))
