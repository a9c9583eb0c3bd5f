"""Where results go: a folder that is ours or new, files written whole, never over the input."""

import glob
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click
import numpy as np

from gramian.analysis.folder import MODEL
from gramian.atomic import atomic_write
from gramian.cli.exits import CannotWriteError
from gramian.errors import ModelFileError
from gramian.models.archive.export import write_csv, write_parquet

PAGE_OF_MODEL = "report-model.html"
"""The page of a model without rows."""

TABLES = ("scores", "filled", "errors", "predictions")
"""Tables by their stems, each in one of several formats."""

WRITTEN = (
    *(MODEL, "loadings.csv", "rows.csv", "report.html", PAGE_OF_MODEL),
    *(f"{stem}.{ending}" for stem in TABLES for ending in ("csv", "tsv", "parquet", "npy")),
)
"""What a fit can write into its folder, and what would be out of date there after another one."""

FORMATS = ("", ".csv", ".parquet", ".npy")
"""Endings of tables that are written to a file; none is CSV."""


@contextmanager
def cannot_write(what: str | os.PathLike[str]) -> Iterator[None]:
    """Turn what the system says about writing into a sentence with its own exit code."""
    try:
        yield
    except OSError as error:
        message = f"cannot write {os.fspath(what)}: {error.strerror or error}. What was there before is as it was."
        raise CannotWriteError(message) from None


def _is_ours(folder: Path) -> bool:
    """Tell whether a folder holds a model: a file that only has the name of one is somebody else's."""
    from gramian.models.archive.catalog import ANY_MODEL
    from gramian.models.archive.file import open_archive

    try:
        open_archive(folder / MODEL, kinds=ANY_MODEL)
    except ModelFileError:
        return False
    return True


@contextmanager
def claimed(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """Claim a folder before any work is done: a new one, an empty one, or one that we wrote.

    Folders that were made for the work inside and stayed empty are removed again.

    Raises
    ------
    CannotWriteError
        For a folder that holds something else, which is not touched, and for one that cannot be written to.
    """
    target = Path(folder)
    made = [place for place in (target, *target.parents) if not place.exists()]
    try:
        with cannot_write(target):
            target.mkdir(parents=True, exist_ok=True)
            if any(target.iterdir()) and not _is_ours(target):
                message = f"cannot write {target}: the folder holds other things. Name another with -o, or empty it."
                raise CannotWriteError(message)
        if not os.access(target, os.W_OK | os.X_OK):
            message = f"cannot write {target}: permission denied. Name another folder with -o."
            raise CannotWriteError(message)
        yield target
    finally:
        with suppress(OSError):
            # Only an empty folder can be removed so, and the first that is not ends it.
            for place in made:
                place.rmdir()


def refuse_written(folder: str | os.PathLike[str], path: str) -> None:
    """Refuse a folder whose files, those that a fit writes, are what is read."""
    refuse_same(folder, path)
    targets = {os.path.realpath(Path(folder) / name) for name in WRITTEN}
    read = [] if path == "-" else [path, *glob.glob(path)]  # noqa: PTH207 - as the path itself is opened
    for found in read:
        if os.path.realpath(found) in targets:
            message = f"{found} is the input, and would be written over in {folder}. Name another folder with -o."
            raise click.UsageError(message)


def remove_stale(folder: Path, written: Iterable[Path]) -> None:
    """Remove what an earlier fit wrote into this folder of ours and the new one did not: it is of another model."""
    kept = {path.name for path in written}
    for name in WRITTEN:
        if name not in kept:
            (folder / name).unlink(missing_ok=True)


def refuse_same(output: str | os.PathLike[str] | None, *inputs: str) -> None:
    """Refuse to write over what is read."""
    if output is None or output == "-":
        return
    for path in inputs:
        if path != "-" and os.path.realpath(output) == os.path.realpath(path):
            message = f"{output} is the input itself, which is not written over. Name another file with -o."
            raise click.UsageError(message)


def require_format(output: str | None) -> None:
    """Refuse a file whose ending names a format that tables are not written in."""
    if output is None or output == "-" or Path(output).suffix.lower() in FORMATS:
        return
    message = f"-o {output}: tables are written as .csv, .parquet or .npy. Name a file that ends so."
    raise click.UsageError(message)


def write_table(output: str | None, header: list[str], columns: Iterable[Any]) -> None:
    """Write a table to stdout, or to a file in the format that its ending names."""
    found = list(columns)
    if output is None or output == "-":
        import tempfile

        with tempfile.TemporaryDirectory(prefix="gramian-") as folder:
            path = Path(folder) / "table.csv"
            write_csv(path, header, found)
            with path.open(encoding="utf-8", newline="") as file:
                while piece := file.read(1 << 20):
                    click.echo(piece, nl=False)
        return
    path = Path(output)
    with cannot_write(path), atomic_write(path) as part:
        if path.suffix.lower() == ".npy":
            with part.open("wb") as file:
                np.save(file, np.column_stack([column for column in found if np.asarray(column).dtype.kind == "f"]))
        else:
            (write_parquet if path.suffix.lower() == ".parquet" else write_csv)(part, header, found)
