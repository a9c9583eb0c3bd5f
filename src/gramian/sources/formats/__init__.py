"""Kinds of files that hold rows: one module per format, and the table of them.

A new format is one module with a final :class:`~gramian.sources.row_file.RowFile`, and one line in :data:`FORMATS`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from gramian.sources.formats.csv import open_csv
from gramian.sources.formats.excel import open_excel
from gramian.sources.formats.hdf5 import open_hdf5
from gramian.sources.formats.images import ImageFiles
from gramian.sources.formats.json import open_json
from gramian.sources.formats.matrix_market import open_matrix_market
from gramian.sources.formats.npy import NpyFile
from gramian.sources.formats.npz import open_npz
from gramian.sources.formats.parquet import open_arrow, open_parquet
from gramian.sources.formats.zarr import is_zarr, open_zarr


class Format(NamedTuple):
    """A kind of file.

    Attributes
    ----------
    name : str
        What one such file is called.
    endings : tuple of str
        What the names of its files end in.
    open : callable
        ``open(path, origin)`` gives a :class:`~gramian.sources.row_file.RowFile`, or an
        :class:`~gramian.sources.row_file.OpenedTable` where ``has_named_columns``. ``origin`` is the file as a person
        named it.
    has_named_columns : bool
        Whether it holds a table, whose columns can be chosen; else an array, of which all columns are used.
    is_folder : callable
        ``is_folder(path)`` tells whether a folder is one file of this kind.
    one_row_per_file : bool
        Whether a file is one row: ``open(paths, origin)`` is then called with all of them.
    takes : tuple of str
        What ``open`` takes of what a person says (:class:`~gramian.sources.paths.FileOptions`, label and id), by name;
        "say" where it reads for long, and says how far it has come. Every table takes a ``budget`` in bytes.
    """

    name: str
    endings: tuple[str, ...]
    open: Callable[..., Any]
    has_named_columns: bool = False
    is_folder: Callable[[Path], bool] = lambda _: False
    one_row_per_file: bool = False
    takes: tuple[str, ...] = ()


IMAGE_ENDINGS = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".gif", ".pgm", ".ppm", ".webp")

FORMATS: list[Format] = [
    Format("npy", (".npy",), NpyFile),
    Format(
        "csv",
        (".csv", ".tsv", ".txt", ".dat", ".tab", ".csv.gz", ".tsv.gz", ".txt.gz"),
        open_csv,
        has_named_columns=True,
        takes=("decimal", "na", "names", "say"),
    ),
    Format("parquet", (".parquet", ".pq", ".parq"), open_parquet, has_named_columns=True, takes=("names",)),
    Format("arrow", (".feather", ".arrow", ".ipc"), open_arrow, has_named_columns=True, takes=("names",)),
    Format("excel", (".xlsx", ".xlsm"), open_excel, has_named_columns=True, takes=("sheet", "na", "names")),
    Format(
        "json",
        (".json", ".jsonl", ".ndjson", ".json.gz", ".jsonl.gz", ".ndjson.gz"),
        open_json,
        has_named_columns=True,
        takes=("na", "names"),
    ),
    Format("npz", (".npz",), open_npz, takes=("array", "label", "id")),
    Format("hdf5", (".h5", ".hdf5", ".he5", ".h5ad"), open_hdf5, takes=("array", "label", "id")),
    Format("zarr", (".zarr",), open_zarr, is_folder=is_zarr, takes=("array", "label", "id")),
    Format("mtx", (".mtx",), open_matrix_market),
    Format("image", IMAGE_ENDINGS, ImageFiles, one_row_per_file=True),
]
"""Every kind of file that is read."""


def format_of(path: Path) -> Format | None:
    """Return the format of a file by its name, of a folder that is one file by what is in it."""
    name = path.name.lower()
    return next((format_ for format_ in FORMATS if name.endswith(format_.endings) or format_.is_folder(path)), None)


def is_one_file(folder: Path) -> bool:
    """Tell whether a folder is one file of some format."""
    return any(format_.is_folder(folder) for format_ in FORMATS)


def endings() -> frozenset[str]:
    """Return every ending that says how a file is written, ``.csv.gz`` as two of them."""
    return frozenset(suffix for format_ in FORMATS for end in format_.endings for suffix in Path(f"x{end}").suffixes)
