"""``gramian pca FILE``: the directions along which rows vary most."""

from typing import Any

import click

from gramian.cli.options import Shape, fit_flags

SOLVER_NAMES = ("auto", "full", "covariance_eigh", "arpack", "randomized", "gram", "krylov", "power")
"""Solvers by name; a test compares them with those that plans know."""

EXAMPLES = """\b
Examples:
  gramian pca wine.csv                      everything by itself, into ./wine-pca/
  gramian pca wine.csv -k 3 -o out          three components, into ./out/
  gramian pca wine.csv -k 0.95              as many as hold 95% of the variance
  gramian pca penguins.csv --color species --id name
  gramian pca survey.csv --missing drop     leave out rows with missing values
  gramian pca 'parts/*.parquet' --memory 4GB
  gramian pca survey.csv --method famd      categories as well as quantities
  gramian pca cars.csv --supplementary price
  gramian pca faces.npy --no-scale --image 64x64
  gramian pca line.csv --ddof 0 --no-scale  variances over n, as in the lectures
  gramian pca line.csv --solver power --trace   the power method, and what it saw at each step
  gramian pca wine.csv --dry-run            the plan, and nothing else
  gramian pca wine.csv --json | jq .shares
"""


@click.command("pca", epilog=EXAMPLES)
@click.argument("file")
@click.option("--image", "shape", type=Shape(), help="Rows are images of this height and width, such as 64x64.")
@click.option("--solver", type=click.Choice(SOLVER_NAMES), default="auto", show_default=True, help="How to solve.")
@click.option("--tol", type=click.FloatRange(0.0), default=0.0, help="Residual that counts as found; default: 1e-10.")
@click.option("--steps", type=click.IntRange(1), help="Of --solver power: steps for each component, at most.")
@click.option("--trace", is_flag=True, help="Of --solver power: print what each step saw.")
@click.option("--ddof", type=click.IntRange(0), default=1, show_default=True, help="Variances are divided by n - ddof.")
@click.option("--center/--no-center", default=True, help="Take the means of the columns off first, or not.")
@click.option(
    "--method",
    type=click.Choice(["auto", "pca", "mca", "famd"]),
    default="auto",
    show_default=True,
    help="Of quantities, of categories, or of both; auto: as the columns ask for.",
)
@fit_flags
def command(file: str, **flags: Any) -> None:
    """Find the directions along which the rows of FILE vary most.

    Writes a folder with the model, the scores, the loadings and a page that explains them. Text, ids and constant
    columns are left out, missing values are filled, and columns of different size are scaled; what was done is said.
    A table of categories alone is analyzed by multiple correspondence analysis, one with as many categories as
    quantities by factor analysis of mixed data; elsewhere categories color the rows.
    FILE is a table of any kind that Gramian reads, a folder, a glob, or - for standard input.
    """
    from gramian.analysis.analyze import Request
    from gramian.cli.fitting import run

    for flag, given in (("--trace", flags["trace"]), ("--steps", flags["steps"] is not None)):
        if given and flags["solver"] != "power":
            message = f"{flag} is about the steps of the power method. Add --solver power."
            raise click.UsageError(message)
    if flags["trace"] and flags["count"] == "auto":
        message = "--trace follows a number of components. Say how many with -k."
        raise click.UsageError(message)
    # What only a PCA of quantities knows is asked of one.
    of_quantities = flags["solver"] != "auto" or flags["ddof"] != 1 or not flags["center"]
    request = Request(
        "pca" if of_quantities and flags["method"] == "auto" else flags["method"],
        flags["count"],
        flags["seed"],
        flags["memory"],
        image_shape=flags["shape"],
        solver=flags["solver"],
        tol=flags["tol"],
        most_steps=flags["steps"],
        ddof=flags["ddof"],
        center=flags["center"],
    )
    run(file, flags, request)
