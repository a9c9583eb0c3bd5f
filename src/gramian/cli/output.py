"""What is printed: the library's sentences in flags, JSON for machines, and progress while work goes on."""

import json
import math
import shlex
import sys
import time
from types import TracebackType
from typing import Any, Self
from warnings import WarningMessage

from gramian.errors import Parameter, Phrase, Sentence

FLAGS = {
    "n_components": "-k",
    "columns": "--columns",
    "drop": "--drop",
    "label": "--color",
    "roles": "--role",
    "id": "--id",
    "memory_budget": "--memory",
    "array": "--array",
    "sheet": "--sheet",
    "decimal": "--decimal",
    "na": "--na",
    "transpose": "--transpose",
    "names": "--names",
    "labels": "--labels",
    "landmarks": "--landmarks",
    "device": "--device",
    "gamma": "--gamma",
    "scale": "--scale",
    "missing": "--missing",
    "copy_rows": "--copy-rows",
    "method": "--method",
    "supplementary": "--supplementary",
    "row": "--row",
    "column": "--column",
    "value": "--value",
    "bounds": "--bounds",
    "predict": "--predict",
}
"""Flags by the parameters that they set."""


def in_flags(sentence: str) -> str:
    """Return a sentence of the library as the command line says it: flags for parameters, rows counted from 1.

    Examples
    --------
    >>> in_flags(Sentence("{asked} matches no column.", asked=Parameter("label", ("my group",))))
    "--color 'my group' matches no column."
    >>> from gramian.sources.locations import Location
    >>> in_flags(Sentence("t.csv, {place} is empty.", place=Location(1999, name="a")))
    "t.csv, row 2,000, column 'a' is empty."
    """
    return sentence.worded(_worded) if isinstance(sentence, Sentence) else sentence


def said_by(fault: BaseException | WarningMessage) -> str:
    """Return what an error or a caught warning says, in flags."""
    said = fault.message if isinstance(fault, WarningMessage) else fault
    args = () if isinstance(said, str) else said.args
    return in_flags(args[0]) if args and isinstance(args[0], Sentence) else str(said)


def _worded(fact: Any) -> Any:
    from gramian.sources.locations import Location

    if isinstance(fact, Parameter):
        # A flag that is on or off has no value.
        given = [shlex.quote(str(value)) for value in fact.given if value is not True]
        return " ".join([FLAGS.get(fact.name, fact.name), *given])
    if isinstance(fact, Phrase):
        return fact.plain
    if isinstance(fact, Location):
        column = "" if fact.column is None else f", column {fact.column + 1}"
        named = column if fact.name is None else f", column {fact.name!r}"
        return f"row {fact.row + 1:,}{named}{'' if fact.origin is None else f' of {fact.origin}'}"
    return said_by(fact) if isinstance(fact, Exception) else fact


def json_text(value: Any) -> str:
    """Return plain values as JSON; what is not finite, which JSON has no word for, is null.

    Examples
    --------
    >>> json_text([1.5, float("inf"), float("nan")]).split()
    ['[', '1.5,', 'null,', 'null', ']']
    """
    return json.dumps(_finite(value), indent=2, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


class Progress:
    """Progress on stderr: a moving line on a terminal, plain lines elsewhere, nothing when quiet.

    Parameters
    ----------
    quiet : bool
    """

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._terminal = sys.stderr.isatty() and not quiet
        self._bar: Any = None
        self._task: Any = None
        self._started = time.perf_counter()
        self._said = ""

    def __enter__(self) -> Self:
        if self._terminal:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

            columns = (SpinnerColumn(), BarColumn(20), TextColumn("{task.description}"), TimeElapsedColumn())
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task("starting", total=None)
            self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, sentence: str) -> None:
        """Say what is being done now; a pass over a file brings how many rows are done, of how many."""
        from gramian.sources.progress import PassProgress

        text = str(sentence).strip().partition("\n")[0]
        if self._quiet or not text or text == self._said:
            return
        self._said = text
        if self._bar is not None:
            known: dict[str, int | None] = {"total": None}
            if isinstance(sentence, PassProgress):
                known = {"total": sentence.total, "completed": sentence.done}
            self._bar.update(self._task, description=text[:100], **known)
        else:
            sys.stderr.write(f"[{self.seconds:6.1f} s] {text}\n")
            sys.stderr.flush()

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._started
