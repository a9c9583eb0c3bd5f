"""Flags that several verbs share, the values they stand for, and the input: a path, or - for standard input."""

import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from gramian.cli.output import said_by
from gramian.errors import GramianError, InputError, ParameterError

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
        if 1 <= number <= 2**53 and number == int(number):  # Up to here a float is exact; no table has so many columns.
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
        from gramian.machine import bytes_of

        try:
            size = bytes_of(value)
        except (ParameterError, OverflowError):
            size = 0
        if size < 1:
            self.fail(f"{value[:40]!r} is no amount of memory. Pass one such as 4GB or 500MB.", param, ctx)
        return size


class Shape(click.ParamType):  # type: ignore[type-arg]  # the same
    """Height and width of an image: 64x48."""

    name = "HEIGHTxWIDTH"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        """Return height and width."""
        if isinstance(value, tuple):
            return value
        sides = value.strip().lower().replace(",", "x").split("x")
        if len(sides) != 2 or not all(side.isdecimal() and len(side) < 7 and int(side) for side in sides):
            self.fail(f"{value[:40]!r} is no height and width. Pass them such as 64x48.", param, ctx)
        return int(sides[0]), int(sides[1])


class Role(click.ParamType):  # type: ignore[type-arg]  # the same
    """What a column is: COL=ROLE."""

    name = "col=role"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, str]:
        """Return the column and its role; whether they exist is known when the table is read."""
        column, equals, role = str(value).rpartition("=")
        if not equals or not role:
            self.fail(f"{value!r} is no column and role. Write it as zip=category.", param, ctx)
        return column, role


def _one_role_each(_ctx: Any, _param: Any, given: Any) -> dict[str, str]:
    """Return the roles by column; two for one column are a slip."""
    roles: dict[str, str] = {}
    for column, role in given:
        if roles.setdefault(column, role) != role:
            message = f"--role gives column {column!r} two roles, {roles[column]} and {role}. Give it one."
            raise click.UsageError(message)
    return roles


def file_options(flags: dict[str, Any]) -> Any:
    """Return what the flags say about reading files."""
    from gramian.sources.file_options import FileOptions

    said = {name: flags[name] for name in FileOptions._fields}
    return FileOptions(**said | {"na": flags["na"] or None})


def read_options(flags: dict[str, Any], path: str, **more: Any) -> Any:
    """Return what the flags say about reading a table; ``more`` is what a verb adds, or has in place of it."""
    from gramian.analysis.table import ReadOptions

    said = {"columns": flags["columns"], "drop": flags["drop"], "id": flags["id_"], "memory": flags["memory"]}
    said |= {"origin": origin_of(path), "roles": flags["roles"], "file": file_options(flags)}
    return ReadOptions(**said | more)


def table_flags(command: Any) -> Any:
    """Add the flags that say how a table is read."""
    return _apply(
        command,
        click.option(
            "--columns", multiple=True, metavar="NAME", help="Use these columns: a name or a glob; again for more."
        ),
        click.option("--drop", multiple=True, metavar="NAME", help="Leave these columns out: a name or a glob."),
        click.option(
            "--role",
            "roles",
            multiple=True,
            type=Role(),
            callback=_one_role_each,
            help="What a column is: quantity, category, id, name, date or text, as in zip=category.",
        ),
        row_flags,
    )


def row_flags(command: Any) -> Any:
    """Add the flags that say how rows are read whose columns a model knows."""
    return _apply(
        command,
        click.option("--array", metavar="NAME", help="Of .npz, HDF5, Zarr: the array of rows; default: the largest."),
        click.option("--sheet", metavar="NAME", help="Of Excel: the sheet; default: the first with numbers."),
        click.option("--decimal", type=click.Choice([",", "."]), help="Of text: the decimal sign; default: as found."),
        click.option("--na", multiple=True, metavar="WORD", help="One more word for a missing value, such as -999."),
        click.option("--transpose", is_flag=True, help="Rows become columns, named by the first column of text."),
        click.option("--names", metavar="FILE", help="Names of all columns, one per line."),
        click.option("--labels", metavar="FILE", help="What colors the rows, one per line."),
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
    unit = "Unit variance per column; default: where spreads differ."
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
            help="Missing values: fill by probabilistic PCA, refuse, or drop their rows.",
        ),
        click.option(
            "--supplementary",
            multiple=True,
            metavar="NAME",
            help="Project this column on the components and do not fit it; again for more.",
        ),
        click.option("--no-report", is_flag=True, help="Write no page."),
        click.option("--no-rows", is_flag=True, help="Write a page that holds no row: no name, value or score."),
        click.option("--dry-run", is_flag=True, help="Print the plan and stop."),
        click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON."),
        click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True),
        click.option("--device", metavar="DEVICE", help="Where to fit, such as cuda: rows are moved there."),
        table_flags,
    )


def refuse_scaling(flags: dict[str, Any], verb: str) -> None:
    """Refuse a word about scaling for a verb that codes its columns."""
    if flags["scale"] is not None:
        message = f"--scale: {verb} codes every column so that all count alike. Leave the flag out."
        raise click.UsageError(message)


def _apply(command: Any, *decorators: Decorator) -> Any:
    for decorator in reversed(decorators):
        command = decorator(command)
    return command


STANDARD_INPUT = "standard input"

MAGIC = {
    b"PAR1": ".parquet",
    b"\x93NUM": ".npy",
    b"ARRO": ".arrow",
    b"\x1f\x8b\x08": ".csv.gz",
    b"PK\x03\x04": ".npz",
    b"{": ".json",
    b"[{": ".json",
    b"[[": ".json",
    b"[\n": ".json",
}
"""How files of other kinds than text begin, for what comes from standard input."""


@contextmanager
def readable(path: str) -> Iterator[str]:
    """Give a path that can be read again and again: standard input ("-") is kept in a temporary file meanwhile."""
    if path != "-":
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="gramian-") as folder:
        head = sys.stdin.buffer.read(4)
        if not head:
            message = "Standard input is empty: 0 bytes. Check the command before the pipe, or name a file."
            raise InputError(message)
        suffix = next((kind for magic, kind in MAGIC.items() if head.startswith(magic)), ".csv")
        target = Path(folder) / f"stdin{suffix}"
        with target.open("wb") as file:
            file.write(head)
            shutil.copyfileobj(sys.stdin.buffer, file)
        if suffix == ".npz" and _is_workbook(target):
            target = target.rename(target.with_suffix(".xlsx"))
        try:
            yield str(target)
        except GramianError as error:  # a person knows nothing of the copy
            error.args = (said_by(error).replace(str(target), STANDARD_INPUT),)
            raise


def _is_workbook(path: Path) -> bool:
    """Tell whether a zip file is one of Excel."""
    try:
        with zipfile.ZipFile(path) as archive:
            return "xl/workbook.xml" in archive.namelist()
    except zipfile.BadZipFile:
        return False


def name_of(path: str) -> str:
    """Return what an input is called in words."""
    return STANDARD_INPUT if path == "-" else path


def stem_of(path: str) -> str:
    """Return what a file is called without folder and endings.

    Examples
    --------
    >>> stem_of("data/spam.csv.gz"), stem_of("-"), stem_of("parts/"), stem_of("s.2023.csv")
    ('spam', 'stdin', 'parts', 's.2023')
    """
    from gramian.sources.formats import endings

    name, known = "stdin" if path == "-" else Path(path).absolute().name, endings()
    while Path(name).suffix.lower() in known:
        name = Path(name).stem
    return name.replace("*", "").strip("-_. ") or "table"


def origin_of(path: str) -> str:
    """Return what an input is called in words: no name of a temporary file."""
    return STANDARD_INPUT if Path(path).name.startswith("stdin.") else path
