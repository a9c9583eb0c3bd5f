"""``gramian kpca FILE``: kernel PCA, for structure that is not linear."""

from typing import Any

import click
from click.core import ParameterSource

from gramian.cli.options import Shape, fit_flags
from gramian.kernels.named import ALIASES, FAMILIES

KERNELS = tuple(FAMILIES)
"""Kernels, by name."""


class KernelText(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.5 on
    """A kernel by its name, or as text with parameters, sums and products."""

    name = "kernel"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the text, refused before any work where it is no kernel."""
        from gramian.errors import ParameterError
        from gramian.kernels.named import as_kernel

        try:
            as_kernel(value)
        except ParameterError as error:
            self.fail(str(error), param, ctx)
        return str(value)


EXAMPLES = """\b
Examples:
  gramian kpca rings.csv                    a Gaussian kernel of median width, into ./rings-kpca/
  gramian kpca rings.csv --gamma 2 -k 4
  gramian kpca rings.csv --kernel poly --degree 2
  gramian kpca rings.csv --sigma 0.5
  gramian kpca rings.csv --kernel 'rbf(2) + 0.1 * linear'
  gramian kpca K.npy --kernel precomputed   FILE holds kernel values: n rows of n numbers
  gramian kpca big.parquet --landmarks 500  an approximation, for many rows; it says how near it is
"""


@click.command("kpca", epilog=EXAMPLES)
@click.argument("file")
@click.option(
    "--kernel",
    type=KernelText(),
    default="rbf",
    show_default=True,
    help=f"One of {', '.join(KERNELS)}; or text such as 'rbf(0.1) + poly(2)'.",
)
@click.option("--sigma", type=click.FloatRange(0.0, min_open=True), help="Width of rbf and matern, instead of gamma.")
@click.option("--center/--no-center", default=True, help="Center the features first, or not.")
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

    if flags["kernel"] == "precomputed" and flags["scale"]:
        message = "--scale: the numbers of a kernel matrix are no columns to scale. Leave the flag out."
        raise click.UsageError(message)
    _require_no_idle_flag(flags["kernel"])
    request = Request(
        "kpca",
        flags["count"],
        flags["seed"],
        flags["memory"],
        kernel=flags["kernel"],
        gamma=_checked_gamma(flags["gamma"]),
        sigma=flags["sigma"],
        center=flags["center"],
        degree=flags["degree"],
        coef0=flags["coef0"],
        landmarks=flags["landmarks"],
        copy_rows=flags["copy_rows"],
        image_shape=flags["shape"],
    )
    run(file, flags, request)


def _require_no_idle_flag(kernel: str) -> None:
    """Refuse a parameter that the kernel of this name does not have; those of a text are refused where it is read."""
    family = ALIASES.get(kernel, kernel)
    if family not in FAMILIES:
        return
    has = {"sigma" if name == "length_scale" else name for name in FAMILIES[family][1]}
    for name in ("gamma", "sigma", "degree", "coef0"):
        source = click.get_current_context().get_parameter_source(name)
        if source is ParameterSource.COMMANDLINE and name not in has:
            known = f"which has --{' and --'.join(sorted(has - {'nu'}))}" if has else "which has no parameter"
            message = f"--{name} says nothing to --kernel {kernel}, {known}. Leave it out, or choose another kernel."
            raise click.UsageError(message)


def _checked_gamma(gamma: str | None) -> Any:
    if gamma in {None, "median", "scale"}:
        return gamma
    try:
        return float(str(gamma))
    except ValueError:
        message = f"--gamma {gamma}: pass a number, or one of median and scale."
        raise click.UsageError(message) from None
