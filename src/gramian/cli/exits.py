"""Exit codes, and how each fault becomes one: a sentence on stderr, never a traceback for a user's mistake.

====  ==============================================================
0     done
1     ours: a fault of Gramian, with a traceback
2     usage: a flag, or two that contradict each other
3     the data: names file, row and column, and what to do
4     the model file
5     cannot write
6     memory
7     not converged; what is certified was written
8     cluster lost
130   interrupted
====  ==============================================================
"""

import traceback

import click

from gramian import errors
from gramian.cli.output import said_by

OURS, USAGE, DATA, MODEL, WRITE, MEMORY, NOT_CONVERGED, CLUSTER, INTERRUPTED = 1, 2, 3, 4, 5, 6, 7, 8, 130


class CannotWriteError(Exception):
    """Something could not be written; what was there before still is."""


class NotConvergedError(Exception):
    """The work ended at its cap; what is certified was written."""


_CODES: tuple[tuple[type[BaseException], int], ...] = (
    (errors.ClusterLostError, CLUSTER),
    (errors.ModelFileError, MODEL),
    (errors.MemoryBudgetError, MEMORY),
    (errors.ParameterError, USAGE),
    (errors.InputError, DATA),
    (errors.NotSupportedError, DATA),
    (CannotWriteError, WRITE),
    (NotConvergedError, NOT_CONVERGED),
    (MemoryError, MEMORY),
)


def exit_code_of(error: BaseException) -> int:
    """Say what went wrong on stderr and return the code for it."""
    if isinstance(error, BrokenPipeError) or isinstance(error.__context__, BrokenPipeError):
        # Whoever read has had enough (head): no fault of anyone.
        return 0
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else OURS
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, KeyboardInterrupt | click.Abort):
        say("interrupted; no file was left half written")
        return INTERRUPTED
    if isinstance(error, click.ClickException):
        error.show()
        return error.exit_code
    code = _code(error)
    if code == OURS:
        traceback.print_exception(error)
        say("this is a fault of Gramian; please report it with the lines above")
    else:
        say(said_by(error) or "there is not enough memory")
    return code


def _code(error: BaseException) -> int:
    for kind, code in _CODES:
        if isinstance(error, kind):
            return code
    return WRITE if isinstance(error, OSError) else OURS


def say(sentence: str) -> None:
    """Write one line to stderr."""
    click.echo(f"gramian: {sentence}", err=True)
