"""``gramian kpca FILE``: kernel PCA, for structure that is not linear."""

from typing import Any

import click

from gramian.cli.options import Shape, fit_flags
from gramian.kernels.named import FAMILIES

KERNELS = tuple(name for name in FAMILIES if name != "precomputed")
"""Kernels of rows, by name."""

EXAMPLES = """\b
Examples:
  gramian kpca rings.csv                    a Gaussian kernel of median width, into ./rings-kpca/
  gramian kpca rings.csv --gamma 2 -k 4
  gramian kpca rings.csv --kernel poly --degree 2
  gramian kpca big.parquet --landmarks 500  an approximation, for many rows; it says how near it is
"""


@click.command("kpca", epilog=EXAMPLES)
@click.argument("file")
@click.option("--kernel", type=click.Choice(KERNELS), default="rbf", show_default=True)
@click.option("--gamma", help="A number, or median, scale; default: median, or 1/d for poly, sigmoid and chi2.")
@click.option("--degree", type=click.IntRange(1), default=3, show_default=True, help="Of the polynomial kernel.")
@click.option("--coef0", type=float, default=1.0, show_default=True, help="Of the polynomial and sigmoid kernels.")
@click.option("--landmarks", type=click.IntRange(1), help="An approximate model on so many rows.")
@click.option("--image", "shape", type=Shape(), help="Rows are images of this height and width, such as 64x64.")
@click.option("--copy-rows", is_flag=True, help="Let the model hold a copy of many rows.")
@fit_flags
def command(file: str, **flags: Any) -> None:
    """Find structure in the rows of FILE that is not linear: PCA of features known by a kernel.

    The kernel matrix is not stored, so that many rows are a matter of time and not of memory. -k auto keeps ten
    components. The model holds the rows of the fit, or the landmarks.
    """
    from gramian.analysis.analyze import Request
    from gramian.cli.fitting import run

    request = Request(
        "kpca",
        flags["count"],
        flags["seed"],
        flags["memory"],
        kernel=flags["kernel"],
        gamma=_checked_gamma(flags["gamma"]),
        degree=flags["degree"],
        coef0=flags["coef0"],
        landmarks=flags["landmarks"],
        copy_rows=flags["copy_rows"],
        image_shape=flags["shape"],
    )
    run(file, flags, request)


def _checked_gamma(gamma: str | None) -> Any:
    if gamma in {None, "median", "scale"}:
        return gamma
    try:
        return float(str(gamma))
    except ValueError:
        message = f"--gamma {gamma}: pass a number, or one of median and scale."
        raise click.UsageError(message) from None
