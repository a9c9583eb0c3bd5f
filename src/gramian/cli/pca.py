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
  gramian pca survey.csv --missing drop     leave out rows with holes
  gramian pca 'parts/*.parquet' --memory 4GB
  gramian pca faces.npy --no-scale --image 64x64
  gramian pca wine.csv --dry-run            the plan, and nothing else
  gramian pca wine.csv --json | jq .shares
"""

PANEL_NUMBERS = 50_000_000
"""Numbers of a table up to which every rule is asked about the number of components, though it was given."""

SHOWN_NUMBERS = 20_000_000
"""Numbers of a table up to which further components are fitted for the page."""

SHOWN_COMPONENTS = 30
"""Components that the page has, where that is cheap."""

MORE_COMPONENTS = 10
"""Components beyond those kept that it has at least, so that a reader sees what the next would add."""


@click.command("pca", epilog=EXAMPLES)
@click.argument("file")
@click.option("--image", "shape", type=Shape(), help="Rows are images of this height and width, such as 64x64.")
@fit_flags
def command(file: str, **flags: Any) -> None:
    """Find the directions along which the rows of FILE vary most.

    Writes a folder with the model, the scores, the loadings and a page that explains them. Text, ids and constant
    columns are left out, holes are filled, and columns of different size are scaled; what was done is said. FILE is a
    table of any kind that Gramian reads, a folder, a glob, or - for standard input.
    """
    from gramian.cli.fitting import Verb, run

    run(Verb("pca", "PC", _plan, _fit), file, flags | shown_as(flags))


def _options(prepared: Any, flags: dict[str, Any], count: Any, talk: Any = None) -> Any:
    from gramian.models.pca import PCAOptions

    return PCAOptions(
        n_components=count,
        scale=prepared.scale,
        seed=flags["seed"],
        memory_budget=flags["memory"],
        progress=talk,
    )


def _plan(prepared: Any, flags: dict[str, Any]) -> str:
    from gramian.models.pca import first_facts
    from gramian.planning.plan import plan_pca

    return str(plan_pca(first_facts(prepared.source, _options(prepared, flags, flags["count"]))))


def _fit(prepared: Any, flags: dict[str, Any], talk: Any) -> Any:
    from gramian.cli.fitting import Fitted
    from gramian.models.every_rule import how_many
    from gramian.models.pca import fit_pca

    # Refused here, before any work, where the budget is too small for what is asked.
    _plan(prepared, flags)
    source, count = prepared.source, flags["count"]
    size = source.n_rows * source.n_columns
    notes: tuple[str, ...] = ()
    panel = None
    if count == "auto" or size <= PANEL_NUMBERS:
        talk("asking every rule how many components there are")
        panel = how_many(source, scale=prepared.scale, seed=flags["seed"])
    if count == "auto" and panel is not None:
        count = panel.n_components
        if panel.verdicts[0].detail.get("parallel") == 0:
            notes = ("Nothing stands out of the noise; one component is kept, so that there is something to look at.",)
    model = fit_pca(source, _options(prepared, flags, count, talk))
    most = min(source.n_rows, source.n_columns)
    shown = model
    if size <= SHOWN_NUMBERS and len(model.components) < most:
        more = max(SHOWN_COMPONENTS, len(model.components) + MORE_COMPONENTS)
        shown = fit_pca(source, _options(prepared, flags, min(most, more)))
    talk("projecting the rows")
    plan = str(model.plan).partition("\n")[0]
    scaled = "correlations" if prepared.scale else "covariances"
    why = f"Principal components of the {scaled}: {plan}."
    return Fitted(model, why, model.project(source), shown, panel, notes)
