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
    from gramian.cli.fitting import Verb, run

    if flags["scale"]:
        message = "--scale: scaling the columns does not change the sources, so ica does none. Leave the flag out."
        raise click.UsageError(message)
    shown = {} if flags["rate"] is None else {"sampling_rate": flags["rate"]}
    run(Verb("ica", _plan, _fit), file, flags | {"scale": False, "shown": shown})


def _plan(prepared: Any, flags: dict[str, Any]) -> str:
    from gramian.models.pca.fit import first_facts
    from gramian.models.pca.model import PCAOptions
    from gramian.planning.plan import plan_pca

    options = PCAOptions(n_components=_count(flags), ddof=0, memory_budget=flags["memory"])
    return f"whitening: {plan_pca(first_facts(prepared.source, options))}\nthen {flags['algorithm']}, one pass per step"


def _count(flags: dict[str, Any]) -> int | None:
    count = flags["count"]
    if isinstance(count, float):
        message = (
            f"-k {count:g}: the number of sources is an integer. Pass one, or leave -k out for as many as there are."
        )
        raise click.UsageError(message)
    return None if count == "auto" else count


def _fit(prepared: Any, flags: dict[str, Any], progress: Any) -> Any:
    from gramian.cli.fitting import Fitted
    from gramian.models.ica.fit import fit_ica
    from gramian.models.ica.model import ICAOptions

    progress(f"unmixing {prepared.source.n_columns} columns by {flags['algorithm']}")
    options = ICAOptions(
        n_components=_count(flags),
        algorithm=flags["algorithm"],
        seed=flags["seed"],
        runs=flags["runs"],
        memory_budget=flags["memory"],
    )
    model = fit_ica(prepared.source, options)
    why = (
        f"Independent components by {flags['algorithm']}: {model.n_iter} steps, gradient norm {model.gradient_norm:.1e}"
        f"{'' if model.converged else ', not converged'}."
    )
    return Fitted(model, why, model.project(prepared.source), model)
