"""``gramian kpca FILE``: kernel PCA, for structure that is not linear."""

from typing import Any

import click

from gramian.cli.options import Shape, fit_flags, shown_as
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
    from gramian.cli.fitting import Verb, run

    _checked_gamma(flags["gamma"])
    run(Verb("kpca", _plan, _fit, plans_from_rows=True), file, flags | shown_as(flags))


def _checked_gamma(gamma: str | None) -> Any:
    if gamma in {None, "median", "scale"}:
        return gamma
    try:
        return float(str(gamma))
    except ValueError:
        message = f"--gamma {gamma}: pass a number, or one of median and scale."
        raise click.UsageError(message) from None


def _options(prepared: Any, flags: dict[str, Any], progress: Any = None) -> Any:
    from gramian.models.kernel_pca.model import KernelPCAOptions

    n = prepared.source.n_rows
    # Ten where nothing is said: kernel PCA has as many components as rows, and no rule tells how many are real.
    count = min(10, n) if flags["count"] == "auto" else flags["count"]
    if flags["landmarks"] is not None and isinstance(count, int):
        count = min(count, flags["landmarks"])
    return KernelPCAOptions(
        n_components=count,
        kernel=_kernel(prepared, flags),
        seed=flags["seed"],
        memory_budget=flags["memory"],
        landmarks=flags["landmarks"],
        drop_zeros=True,
        progress=progress,
    )


def _kernel(prepared: Any, flags: dict[str, Any]) -> Any:
    """Return the kernel; where columns are scaled, with their scales inside it, so that new rows need no care."""
    import numpy as np

    from gramian.features.sampling import draw_positions, take_rows
    from gramian.kernels.combination import Stretched
    from gramian.kernels.named import as_kernel
    from gramian.kernels.widths import facts_of

    gamma = _checked_gamma(flags["gamma"])
    # The median distance gives the width of a kernel of distances; the others take 1/d when nothing is said.
    if gamma is None and flags["kernel"] in {"rbf", "laplacian", "matern"}:
        gamma = "median"
    kernel = as_kernel(flags["kernel"], gamma=gamma, degree=flags["degree"], coef0=flags["coef0"])
    if not prepared.scale:
        return kernel
    factors = 1.0 / np.where(prepared.spread > 0, prepared.spread, 1.0)
    source = prepared.source
    some = take_rows(source, draw_positions(source, min(2000, source.n_rows), seed=flags["seed"]))
    return Stretched(kernel.resolved(facts_of(np.asarray(some) * factors)), tuple(factors.tolist()))


def _plan(prepared: Any, flags: dict[str, Any]) -> str:
    from gramian.features.sampling import resolve_kernel
    from gramian.models.kernel_pca.fit import first_plan

    options = _options(prepared, flags)
    kernel = resolve_kernel(options.kernel, prepared.source, seed=options.seed).kernel
    return f"{kernel}\n{first_plan(prepared.source, options)}"


def _fit(prepared: Any, flags: dict[str, Any], progress: Any) -> Any:
    from gramian.cli.fitting import Fitted
    from gramian.models.kernel_pca.fit import fit_kernel_pca

    _ask_before_copying(prepared, flags)
    options = _options(prepared, flags, progress)
    model = fit_kernel_pca(prepared.source, options)
    notes: list[str] = []
    if flags["count"] == "auto":
        notes.append(f"Kept {model.n_components} components; -k asks for more, or for a share such as 0.9.")
    if model.error is not None:
        notes.append(f"Approximate: {model.error}.")
    why = f"Kernel principal components: {model.plan.summary}."
    return Fitted(model, why, model.scores, model, None, tuple(notes))


def _ask_before_copying(prepared: Any, flags: dict[str, Any]) -> None:
    """Refuse to put more than 100 MB of rows into a model unless that was said."""
    size = prepared.source.n_entries * prepared.source.dtype.itemsize
    if size <= 100_000_000 or flags["copy_rows"] or flags["landmarks"] is not None:
        return
    message = (
        f"The model would hold a copy of its rows, {size / 1e6:,.0f} MB. Pass --copy-rows to let it, or "
        "--landmarks 1000 for a model on so many of them."
    )
    raise click.UsageError(message)
