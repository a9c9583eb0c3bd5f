"""``gramian ica FILE``: independent sources."""

from functools import partial
from typing import Any

import click

from gramian.cli.options import fit_flags

EXAMPLES = """\b
Examples:
  gramian ica recording.csv                 as many sources as columns, into ./recording-ica/
  gramian ica eeg.npy -k 8 --runs 10        eight sources, and how stable each is
  gramian ica mixed.csv --algorithm infomax
"""


@click.command("ica", epilog=EXAMPLES)
@click.argument("file")
@click.option(
    "--algorithm",
    type=click.Choice(["picard", "parallel", "deflation", "infomax"]),
    default="picard",
    show_default=True,
)
@click.option(
    "--runs", type=click.IntRange(1), default=1, show_default=True, help="Runs by which stability is measured."
)
@click.option("--rate", type=float, help="Rows per second, for the traces on the page.")
@partial(fit_flags, counts="N|auto", counted="How many sources; auto: as many as the rows have.", scales=False)
def command(file: str, **flags: Any) -> None:
    """Unmix the columns of FILE into sources that are as independent as can be.

    Rows are moments, columns are sensors. Scaling the columns does not change the sources, so none is done.
    """
    from gramian.analysis.analyze import Request
    from gramian.cli.fitting import run

    if flags["scale"]:
        message = "--scale: scaling the columns does not change the sources, so ica does none. Leave the flag out."
        raise click.UsageError(message)
    request = Request(
        "ica",
        flags["count"],
        flags["seed"],
        flags["memory"],
        algorithm=flags["algorithm"],
        runs=flags["runs"],
        sampling_rate=flags["rate"],
    )
    run(file, flags | {"scale": False}, request)
