"""Where results go: a folder that is ours or new, files written whole, never over the input."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click
import numpy as np

from gramian.arrays.namespace import to_host
from gramian.cli.exits import CannotWriteError
from gramian.models.export import write_csv, write_parquet
from gramian.models.whole_file import whole_file

MODEL = "model.gramian"
"""The file that marks a folder as one of ours."""

LARGEST_CSV = 200_000
"""Rows up to which scores are written as CSV; beyond as Parquet."""


@contextmanager
def cannot_write(what: str | os.PathLike[str]) -> Iterator[None]:
    """Turn what the system says about writing into a sentence with its own exit code."""
    try:
        yield
    except OSError as error:
        message = f"cannot write {os.fspath(what)}: {error.strerror or error}. What was there before is as it was."
        raise CannotWriteError(message) from None


def claim_folder(folder: str | os.PathLike[str]) -> Path:
    """Return a folder to write to, before any work is done: a new one, an empty one, or one that we wrote.

    Raises
    ------
    CannotWriteError
        For a folder that holds something else, which is not touched, and for one that cannot be written to.
    """
    target = Path(folder)
    with cannot_write(target):
        if target.is_dir():
            if not (target / MODEL).exists() and any(target.iterdir()):
                message = f"cannot write {target}: the folder holds other things. Name another with -o, or empty it."
                raise CannotWriteError(message)
        else:
            target.mkdir(parents=True)
    if not os.access(target, os.W_OK | os.X_OK):
        message = f"cannot write {target}: permission denied. Name another folder with -o."
        raise CannotWriteError(message)
    return target


@contextmanager
def claimed(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """Claim a folder for the work inside; one that was made for it and stayed empty is removed again."""
    was_there = Path(folder).exists()
    target = claim_folder(folder)
    try:
        yield target
    finally:
        if not was_there:
            with suppress(OSError):
                # Only an empty folder can be removed so.
                target.rmdir()


def refuse_same(output: str | os.PathLike[str] | None, *inputs: str) -> None:
    """Refuse to write over what is read."""
    if output is None or output == "-":
        return
    for path in inputs:
        if path != "-" and os.path.realpath(output) == os.path.realpath(path):
            message = f"{output} is the input itself, which is not written over. Name another file with -o."
            raise click.UsageError(message)


def write_scores(folder: Path, stem: str, scores: Any, *, prefix: str, labels: dict[str, Any], row_names: Any) -> Path:
    """Write scores with the names and labels of their rows: CSV for small tables, Parquet for large ones."""
    scores = to_host(scores)
    small = len(scores) <= LARGEST_CSV
    path = folder / f"{stem}.{'csv' if small else 'parquet'}"
    header, columns = score_columns(scores, prefix=prefix, labels=labels, row_names=row_names)
    with cannot_write(path), whole_file(path) as part:
        (write_csv if small else write_parquet)(part, header, columns)
    return path


def score_columns(scores: Any, *, prefix: str, labels: dict[str, Any], row_names: Any) -> tuple[list[str], list[Any]]:
    """Return header and columns of a table of scores."""
    header, columns = ["row"], [np.arange(1, len(scores) + 1)]
    if row_names is not None:
        header, columns = ["row"], [np.asarray(row_names, dtype=object)]
    for name, values in labels.items():
        header.append(str(name))
        columns.append(np.asarray(values, dtype=object))
    return [*header, *(f"{prefix}{j + 1}" for j in range(scores.shape[1]))], [*columns, *to_host(scores).T]


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
    with cannot_write(path), whole_file(path) as part:
        if path.suffix == ".npy":
            with part.open("wb") as file:
                np.save(file, np.column_stack([column for column in found if np.asarray(column).dtype.kind == "f"]))
        else:
            (write_parquet if path.suffix == ".parquet" else write_csv)(part, header, found)
