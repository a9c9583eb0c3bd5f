"""Flags that several verbs share, and the values they stand for."""

import math
import re
from collections.abc import Callable
from typing import Any

import click

from gramian.errors import ParameterError

UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12, "kib": 2**10, "mib": 2**20, "gib": 2**30}
"""What the words after a number of bytes stand for."""

MOST = 2**53
"""Numbers of components up to which a float is exact; no table has so many."""

Decorator = Callable[[Any], Any]


class Count(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.5 on
    """A number of components: an integer, a share such as 0.95, or "auto"."""

    name = "N|SHARE|auto"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return an int, a float in (0, 1), or "auto"."""
        if isinstance(value, int | float) or value == "auto":
            return value
        try:
            number = float(value)
        except ValueError:
            number = -1.0
        if 0 < number < 1:
            return number
        if 1 <= number <= MOST and number == int(number):
            return int(number)
        return self.fail(
            f"{value!r} is no number of components. Pass an integer, a share such as 0.95, or auto.", param, ctx
        )


class Bytes(click.ParamType):  # type: ignore[type-arg]  # the same
    """An amount of memory: 4GB, 500MB, 2GiB."""

    name = "SIZE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return bytes."""
        if isinstance(value, int):
            return value
        found = re.fullmatch(r"\s*([0-9.]+)\s*([a-zA-Z]*)\s*", value)
        size = 0.0
        if found and found[2].lower() in UNITS and re.fullmatch(r"[0-9]+\.?[0-9]*|\.[0-9]+", found[1]):
            size = float(found[1]) * UNITS[found[2].lower()]
        if not 1 <= size < math.inf:
            self.fail(f"{value[:40]!r} is no amount of memory. Pass one such as 4GB or 500MB.", param, ctx)
        return int(size)


class Shape(click.ParamType):  # type: ignore[type-arg]  # the same
    """Height and width of an image: 64x48."""

    name = "HEIGHTxWIDTH"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        """Return height and width."""
        if isinstance(value, tuple):
            return value
        found = re.fullmatch(r"([0-9]{1,6})[x,]([0-9]{1,6})", value.strip().lower())
        if found is None or not int(found[1]) * int(found[2]):
            self.fail(f"{value[:40]!r} is no height and width. Pass them such as 64x48.", param, ctx)
        return int(found[1]), int(found[2])


def shown_as(flags: dict[str, Any]) -> dict[str, Any]:
    """Return what the flags say about showing rows: their shape, where they are images."""
    return {} if flags["shape"] is None else {"shown": {"image_shape": flags["shape"]}}


def table_flags(command: Any) -> Any:
    """Add the flags that say how a table is read."""
    return _apply(
        command,
        click.option(
            "--columns", multiple=True, metavar="NAME", help="Use these columns: a name or a glob; again for more."
        ),
        click.option("--drop", multiple=True, metavar="NAME", help="Leave these columns out: a name or a glob."),
        row_flags,
    )


def row_flags(command: Any) -> Any:
    """Add the flags that say how rows are read whose columns a model knows."""
    return _apply(
        command,
        click.option("--id", "id_", metavar="COL", help="The column that names the rows."),
        click.option("--color", metavar="COL", help="The column that colors the rows; not used as a number."),
        click.option("--memory", type=Bytes(), help="What the work may take, such as 4GB."),
        click.option("--quiet", is_flag=True, help="Say nothing on stderr while working."),
    )


def fit_flags(
    command: Any, *, counts: str | None = None, counted: str = "How many components.", scales: bool = True
) -> Any:
    """Add the flags of the verbs that fit a model.

    A verb that counts otherwise says how in its help; one that does not scale keeps the flag to refuse it in words.
    """
    unit = "Unit variance a column; default: where spreads differ."
    return _apply(
        command,
        click.option("-k", "count", type=Count(), default="auto", show_default=True, metavar=counts, help=counted),
        click.option("-o", "--output", metavar="DIR", type=click.Path(), help="Where to write; default ./STEM-VERB/."),
        click.option("--scale/--no-scale", default=None, hidden=not scales, help=unit),
        click.option(
            "--missing",
            type=click.Choice(["em", "error", "drop"]),
            default="em",
            show_default=True,
            help="Holes: fill by EM-PCA, refuse, or drop their rows.",
        ),
        click.option("--no-report", is_flag=True, help="Write no page."),
        click.option("--dry-run", is_flag=True, help="Print the plan and stop."),
        click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON."),
        click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True),
        click.option("--device", metavar="DEVICE", help="Where to compute: rows from files only on the cpu."),
        table_flags,
    )


def require_device(device: str | None) -> None:
    """Refuse a device that rows from files cannot be on."""
    if device in (None, "cpu"):
        return
    message = (
        f"--device {device}: the command line computes rows from files on the CPU. Leave the flag out, or pass a "
        "torch tensor on that device to gramian.PCA."
    )
    raise ParameterError(message)


def _apply(command: Any, *decorators: Decorator) -> Any:
    for decorator in reversed(decorators):
        command = decorator(command)
    return command
