"""``gramian compare MODEL MODEL``: how far two models agree."""

import click

from gramian.cli.output import json_text

EXAMPLES = """\b
Examples:
  gramian compare spring-pca/model.gramian autumn-pca/model.gramian
"""


@click.command("compare", epilog=EXAMPLES)
@click.argument("first")
@click.argument("second")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def command(first: str, second: str, *, as_json: bool) -> None:
    """Say how far two models of the same columns agree: angles between their spaces, and components matched.

    Columns are matched by name. The angles are the principal angles between the spaces that the components span, of
    the columns as each model scaled them.
    """
    from gramian.models.archive.file import open_archive
    from gramian.models.comparison import compare_models

    found = compare_models(open_archive(first), open_archive(second))
    if as_json:
        click.echo(json_text(found.as_json()))
        return
    click.echo(str(found))
