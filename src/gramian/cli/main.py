"""The command line: every verb by name, loaded when it is asked for."""

import sys
from difflib import get_close_matches
from importlib import import_module

import click

from gramian import __version__
from gramian.cli.exits import exit_code_of

VERBS = {
    "look": "Say what is in a table, and what would be done with it.",
    "pca": "Find the directions along which the rows of a table vary most.",
    "mca": "The same for categories: multiple correspondence analysis.",
    "famd": "The same for quantities and categories together.",
    "kpca": "The same for structure that is not linear: kernel PCA.",
    "ica": "Unmix columns into independent sources.",
    "fill": "Fill what is missing in a table, each value with its error.",
    "project": "Give the scores of new rows under a model.",
    "rebuild": "Give the rows that the kept components stand for.",
    "outliers": "List the rows that a model finds unusual, and the columns to blame.",
    "report": "Write the page of a model again.",
    "compare": "Say how far two models agree.",
    "export": "Write a model as CSV, Parquet, npz or ONNX.",
    "demo": "Run an example of the lectures, ending in a page.",
    "doctor": "Say what is installed, and what this machine can do.",
}
"""Each verb with the line that help shows; its command lives in the file of the same name."""

EXAMPLES = """\b
Examples:
  gramian look wine.csv                 what is in it, before anything is done
  gramian pca wine.csv                  an answer, a model and a page in ./wine-pca/
  gramian pca wine.csv -k 3 -o out      three components, into ./out/
  cat wine.csv | gramian pca -          from another program
  gramian project wine-pca/model.gramian new.csv > scores.csv
  gramian demo                          no table at hand? begin here
"""


class LazyVerbs(click.Group):
    """A group whose commands are imported when they are run, so that help is quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs in the order in which a person meets them."""
        del ctx
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the file of a verb."""
        del ctx
        if cmd_name not in VERBS:
            return None
        command: click.Command = import_module(f"gramian.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb; say which was probably meant where there is none of that name."""
        if args[0] not in VERBS and not args[0].startswith("-"):
            near = get_close_matches(args[0], VERBS, n=1, cutoff=0.5)
            hint = f" Did you mean {near[0]!r}?" if near else f" There are {', '.join(VERBS)}."
            ctx.fail(f"There is no verb {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs from the table, without importing them."""
        del ctx
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))


@click.command(cls=LazyVerbs, epilog=EXAMPLES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="gramian")
def gramian() -> None:
    """Find the hidden low-dimensional structure of a table, and say how sure the answer is.

    The file comes first and a good result needs no flag. Progress goes to stderr, results to files or stdout.
    For completion in bash: eval "$(_GRAMIAN_COMPLETE=bash_source gramian)" (zsh_source, fish_source alike).
    """


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code: see :mod:`gramian.cli.exits`."""
    try:
        words = sys.argv[1:] if arguments is None else arguments
        # The words themselves go along, for the line that says how to reproduce an answer.
        gramian.main(args=words, prog_name="gramian", standalone_mode=False, obj=tuple(words))
    except BaseException as error:  # noqa: BLE001 - every way out has its code
        return exit_code_of(error)
    return 0


def run() -> None:
    """Run as a program."""
    sys.exit(main())


if __name__ == "__main__":
    run()
