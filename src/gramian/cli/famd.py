"""``gramian famd FILE``: the directions of quantities and categories together."""

from functools import partial
from typing import Any

import click

from gramian.cli.options import fit_flags, refuse_scaling

EXAMPLES = """\b
Examples:
  gramian famd survey.csv                   all columns, into ./survey-famd/
  gramian famd survey.csv --supplementary income --supplementary region
"""


@click.command("famd", epilog=EXAMPLES)
@click.argument("file")
@partial(fit_flags, scales=False)
def command(file: str, **flags: Any) -> None:
    """Find the directions along which quantities and categories of FILE vary most: factor analysis of mixed data.

    Quantities are scaled to unit variance, categories coded by their levels, so that both kinds count alike. Missing
    quantities are filled; cells of categories without a value are a level of their own. Writes a folder as gramian pca
    does.
    """
    from gramian.analysis.analyze import Request
    from gramian.cli.fitting import run

    refuse_scaling(flags, "famd")
    run(file, flags, Request("famd", flags["count"], flags["seed"], flags["memory"]))
