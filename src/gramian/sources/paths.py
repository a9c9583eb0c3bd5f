"""Paths as rows: which files are meant, how each is written, and what is made of their columns."""

import glob
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from gramian.errors import InputError, NotSupportedError, ParameterError
from gramian.sources.csv import open_csv
from gramian.sources.hdf5 import open_hdf5
from gramian.sources.images import ENDS, ImageFiles
from gramian.sources.joined import JoinedFiles, require_same_names
from gramian.sources.matrix_market import open_matrix_market
from gramian.sources.npy import NpyFile
from gramian.sources.npz import open_npz
from gramian.sources.opened_table import OpenedTable
from gramian.sources.parquet import open_arrow, open_parquet
from gramian.sources.places import Names
from gramian.sources.row_file import RowFile
from gramian.sources.table_facts import TableFacts, Wanted, choose_columns
from gramian.sources.zarr import is_zarr, open_zarr


class Chosen(NamedTuple):
    """What a person says about columns: see :func:`~gramian.sources.table_facts.choose_columns`."""

    columns: Wanted = None
    drop: Wanted = None
    label: str | bool | None = None
    id: str | bool | None = None


def is_path(X: Any) -> bool:
    """Tell whether X names a file, a folder or a glob."""
    return isinstance(X, (str, os.PathLike)) and not hasattr(X, "shape")


def open_path(X: Any, chosen: Chosen) -> tuple[RowFile, TableFacts | None]:
    """Open the file, folder or glob that X names; return its rows and, for tables, what was made of the columns.

    Raises
    ------
    InputError
        No such file, an empty one, a damaged one: with the file, and the row and column where there is one.
    NotSupportedError
        A kind of file that is not known.
    """
    X = os.path.expanduser(X)  # noqa: PTH111 - a pattern is no path
    files = files_of(X)
    if all(_is_image(path) for path in files):
        _refuse_columns(chosen, files[0])
        return ImageFiles(files, str(X)), None
    _refuse_among_images(files)
    openers = [_opener(path) for path in files]
    if len({kind for kind, _ in openers}) > 1:
        other = next(i for i, (kind, _) in enumerate(openers) if kind != openers[0][0])
        message = (
            f"{X} holds files of several kinds: {files[0].name} and {files[other].name}. Name one kind: "
            f"{X}/*{files[0].suffix}"
        )
        raise InputError(message)
    if openers[0][0] in ARRAYS:
        found = [open_(path, str(path)) for path, (_, open_) in zip(files, openers, strict=True)]
        _refuse_columns(chosen, files[0], found[0].names)
        return (found[0] if len(found) == 1 else JoinedFiles(found, str(X))), None
    rows, facts = _open_tables(
        [open_(path, str(path)) for path, (_, open_) in zip(files, openers, strict=True)], str(X), chosen
    )
    return rows, replace(facts, remarks=_unread_folders(Path(X)))


def _is_image(path: Path) -> bool:
    return path.name.lower().endswith(ENDS)


def _refuse_among_images(files: list[Path]) -> None:
    """Blame what is no image in a folder of images, and not the images."""
    others = [path for path in files if not _is_image(path)]
    if len(others) < len(files) and len(others) <= len(files) / 2:
        image = next(path for path in files if _is_image(path))
        message = (
            f"{others[0]} is no image by the end of its name, and lies among {len(files) - len(others):,} that are. "
            f"Take it out of the folder, or name the images alone: '{image.parent / '*'}{image.suffix}'."
        )
        raise NotSupportedError(message)


def _unread_folders(path: Path) -> tuple[str, ...]:
    """Say that folders inside a folder are not read, where there are any with files."""
    if not path.is_dir() or is_zarr(path):
        return ()
    file = _file_below(path)
    if file is None:
        return ()
    return (f"Folders inside {path} are not read; to read them too, name '{path / '**' / '*'}{file.suffix}'.",)


def _file_below(path: Path) -> Path | None:
    """Return a file in a folder inside this one, however deep."""
    folders = (child for child in sorted(path.iterdir()) if child.is_dir() and not _is_hidden(child.relative_to(path)))
    inside = (child for folder in folders for child in folder.rglob("*") if child.is_file())
    return next((child for child in inside if not _is_hidden(child.relative_to(path))), None)


def _is_hidden(path: Path) -> bool:
    return any(part[0] in "._" for part in path.parts)


def _open_tables(tables: list[OpenedTable], origin: str, chosen: Chosen) -> tuple[RowFile, TableFacts]:
    first = tables[0]
    n_rows = sum(table.n_rows for table in tables)
    facts = choose_columns(first.sampled, origin=origin, n_rows=n_rows, named=first.named, **chosen._asdict())
    used = tuple(column.name for column in facts.used)
    wanted = used if chosen.columns is not None else tuple(_names_beside_index(first, facts))
    for table in tables[1:]:
        names = _names_beside_index(table, facts)
        others = [name for name in names if name in wanted] if chosen.columns is not None else names
        require_same_names(first.origin, wanted, table.origin, others)
        _require_numbers(table, used, first.origin)
    files = [table.rows(used) for table in tables]
    return (files[0] if len(files) == 1 else JoinedFiles(files, origin)), facts


def _names_beside_index(table: OpenedTable, facts: TableFacts) -> list[str]:
    """Return the columns that files must share: an index that nothing is made of may be in some of them alone."""
    kept = (facts.label, facts.id, *(column.name for column in facts.used))
    return [column.name for column in table.sampled if not column.is_index or column.name in kept]


def _require_numbers(table: OpenedTable, used: tuple[str, ...], first: str) -> None:
    for column in table.sampled:
        if column.name in used and column.kind in ("text", "date", "nested"):
            message = (
                f"Column {column.name!r} of {table.origin} holds {column.kind}, and numbers in {first} beside it. Mend "
                "that file, or leave the column out (drop)."
            )
            raise InputError(message, column=column.name)


def files_of(X: Any) -> list[Path]:
    """Return the files that a path, a folder or a glob names, or say that there are none: none is opened."""
    path = Path(X)
    if path.is_dir() and not is_zarr(path):
        found = sorted(child for child in path.iterdir() if child.is_file() and child.name[0] not in "._")
        if not found:
            _refuse_no_files(path)
        return found
    if path.exists():
        return [_require_content(path)]
    matching = map(Path, glob.glob(str(X), recursive=True))  # noqa: PTH207 - a path cannot hold an absolute pattern
    found = sorted(child for child in matching if child.is_file() or is_zarr(child))
    if not found:
        _refuse_missing(X, path)
    return [_require_content(child) for child in found]


def _refuse_no_files(path: Path) -> None:
    file = _file_below(path)
    message = f"{path} is a folder without files. Name a folder of tables, or a file."
    if file is not None:
        message = (
            f"{path} holds folders and no files of its own, and folders inside a folder are not read. Name the files "
            f"in them: '{path / '**' / '*'}{file.suffix}'. A value that only the name of a folder tells (year=2020) is "
            "no column then."
        )
    raise InputError(message)


def _require_content(path: Path) -> Path:
    if path.is_file() and path.stat().st_size == 0:
        message = f"{path} is empty: 0 bytes. Check what wrote the file."
        raise InputError(message)
    return path


def _refuse_missing(X: Any, path: Path) -> None:
    if any(sign in str(X) for sign in "*?["):
        message = f"No file matches {str(X)!r}. Check the pattern, and the folder it is looked for in ({Path.cwd()})."
    else:
        near = _near(path)
        message = (
            f"There is no file {str(X)!r}{near}. Check the name, and the folder it is looked for in ({Path.cwd()})."
        )
    raise InputError(message)


def _near(path: Path) -> str:
    from difflib import get_close_matches

    if not path.parent.is_dir():
        return f": there is no folder {str(path.parent)!r} either"
    found = get_close_matches(path.name, [child.name for child in path.parent.iterdir()], n=1)
    return f"; there is {found[0]!r}" if found else ""


Opener = Callable[[Path, str], Any]

TEXTS = (".csv", ".tsv", ".txt", ".dat", ".tab", ".csv.gz", ".tsv.gz", ".txt.gz")

BINARY = (".h5", ".hdf5", ".he5", ".h5ad")

OPENERS: dict[str, tuple[tuple[str, ...], Opener]] = {
    "npy": ((".npy",), lambda path, origin: NpyFile(path, origin=origin)),
    "csv": (TEXTS, open_csv),
    "parquet": ((".parquet", ".pq", ".parq"), open_parquet),
    "arrow": ((".feather", ".arrow", ".ipc"), open_arrow),
    "npz": ((".npz",), open_npz),
    "hdf5": (BINARY, open_hdf5),
    "zarr": ((".zarr",), open_zarr),
    "mtx": ((".mtx",), open_matrix_market),
}
"""Kinds of file: the ends of their names, and what opens one. A new kind is one file and one line here."""

ARRAYS = {"npy", "npz", "hdf5", "zarr", "mtx"}
"""Kinds that hold an array and no table: their columns have no names to be chosen by."""


def _opener(path: Path) -> tuple[str, Opener]:
    if path.is_dir() and is_zarr(path):
        return "zarr", open_zarr
    for kind, (ends, open_) in OPENERS.items():
        if path.name.lower().endswith(ends):
            return kind, open_
    known = ", ".join(ends[0] for ends, _ in OPENERS.values())
    message = f"{path} is of no kind known by the end of its name ({known}). Rename it, or convert it to one of these."
    raise NotSupportedError(message)


def _refuse_columns(chosen: Chosen, path: Path, names: Names = None) -> None:
    """Refuse a choice of columns where there is none: arrays are used whole (all their columns, in order, are fine)."""
    given = [name for name, value in chosen._asdict().items() if value not in (None, False)]
    if not given or (given == ["columns"] and names is not None and tuple(chosen.columns or ()) == names):
        return
    message = f"{path} holds an array, which is used with all its columns, so {given[0]} has no meaning. Save a table."
    raise ParameterError(message)
