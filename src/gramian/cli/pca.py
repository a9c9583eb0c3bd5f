"""``gramian pca FILE``: the directions along which rows vary most."""

from typing import Any

import click

from gramian.cli.options import Shape, fit_flags, shown_as

EXAMPLES = """\b
Examples:
  gramian pca wine.csv                      everything by itself, into ./wine-pca/
  gramian pca wine.csv -k 3 -o out          three components, into ./out/
  gramian pca wine.csv -k 0.95              as many as hold 95% of the variance
  gramian pca penguins.csv --color species --id name
  gramian pca survey.csv --missing drop     leave out rows with missing values
  gramian pca 'parts/*.parquet' --memory 4GB
  gramian pca faces.npy --no-scale --image 64x64
  gramian pca wine.csv --dry-run            the plan, and nothing else
  gramian pca wine.csv --json | jq .shares
"""


@click.command("pca", epilog=EXAMPLES)
@click.argument("file")
@click.option("--image", "shape", type=Shape(), help="Rows are images of this height and width, such as 64x64.")
@fit_flags
def command(file: str, **flags: Any) -> None:
    """Find the directions along which the rows of FILE vary most.

    Writes a folder with the model, the scores, the loadings and a page that explains them. Text, ids and constant
    columns are left out, missing values are filled, and columns of different size are scaled; what was done is said.
    FILE is a table of any kind that Gramian reads, a folder, a glob, or - for standard input.
    """
    from gramian.cli.fitting import Verb, run

    run(Verb("pca", _plan, _fit), file, flags | shown_as(flags))


def _options(prepared: Any, flags: dict[str, Any], count: Any, progress: Any = None) -> Any:
    from gramian.models.pca.model import PCAOptions

    return PCAOptions(
        n_components=count,
        scale=prepared.scale,
        seed=flags["seed"],
        memory_budget=flags["memory"],
        progress=progress,
    )


def _plan(prepared: Any, flags: dict[str, Any]) -> str:
    from gramian.models.pca.fit import first_facts
    from gramian.planning.plan import plan_pca

    return str(plan_pca(first_facts(prepared.source, _options(prepared, flags, flags["count"]))))


def _fit(prepared: Any, flags: dict[str, Any], progress: Any) -> Any:
    from gramian.cli.fitting import Fitted
    from gramian.models.pca.fit import fit_pca, how_many

    # Refused here, before any work, where the budget is too small for what is asked.
    _plan(prepared, flags)
    source, count = prepared.source, flags["count"]
    size = source.n_rows * source.n_columns
    notes: tuple[str, ...] = ()
    panel = None
    # What the rules say is worth a few seconds also where the number was given.
    if count == "auto" or size <= 50_000_000:
        progress("asking every rule how many components there are")
        panel = how_many(source, scale=prepared.scale, seed=flags["seed"])
    if count == "auto" and panel is not None:
        count = panel.n_components
        if panel.verdicts[0].detail.get("parallel") == 0:
            notes = ("Nothing stands out of the noise; one component is kept, so that there is something to look at.",)
    model = fit_pca(source, _options(prepared, flags, count, progress))
    most = min(source.n_rows, source.n_columns)
    shown = model
    if size <= 20_000_000 and model.n_components < most:
        # Where it is cheap, the page has at least ten more components: a reader sees what the next would add.
        more = max(30, model.n_components + 10)
        shown = fit_pca(source, _options(prepared, flags, min(most, more)))
    progress("projecting the rows")
    scaled = "correlations" if prepared.scale else "covariances"
    why = f"Principal components of the {scaled}: {model.plan.summary}."
    return Fitted(model, why, model.project(source), shown, panel, notes)
