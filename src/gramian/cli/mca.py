"""``gramian mca FILE``: the directions of categories."""

from functools import partial
from typing import Any

import click

from gramian.cli.options import fit_flags, refuse_scaling

EXAMPLES = """\b
Examples:
  gramian mca survey.csv                    all categories, into ./survey-mca/
  gramian mca survey.csv --role zip=category
  gramian mca survey.csv --supplementary age
"""


@click.command("mca", epilog=EXAMPLES)
@click.argument("file")
@partial(fit_flags, scales=False)
def command(file: str, **flags: Any) -> None:
    """Find the directions along which the categories of FILE vary most: multiple correspondence analysis.

    Every category with two to fifty levels is coded by its levels; quantities are left out. Cells without a value are a
    level of their own. Writes a folder as gramian pca does.
    """
    from gramian.analysis.analyze import Request
    from gramian.cli.fitting import run

    refuse_scaling(flags, "mca")
    run(file, flags, Request("mca", flags["count"], flags["seed"], flags["memory"]))
