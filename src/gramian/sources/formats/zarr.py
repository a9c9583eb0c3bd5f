"""Zarr stores: a folder of chunks."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gramian.errors import InputError
from gramian.sources.formats.arrays import refuse_choice
from gramian.sources.formats.hdf5 import ArrayFile, Handle, open_group
from gramian.sources.row_file import RowFile, StoreVersion, require_package

DESCRIPTIONS = ("zarr.json", ".zarray", ".zgroup")


def is_zarr(folder: Path) -> bool:
    """Tell whether a folder is a Zarr array or group."""
    return any((folder / name).exists() for name in DESCRIPTIONS)


def open_zarr(path: Path, origin: str, **asked: Any) -> RowFile:
    """Open a Zarr array, or one of a Zarr group (AnnData's layout too): ``asked`` is that of HDF5 files."""
    # One version: all of them would tell the same of the store's files.
    versions = tuple(StoreVersion.of(path / name) for name in DESCRIPTIONS if (path / name).exists())[:1]
    with _opened_zarr(path, origin) as found:
        if hasattr(found, "shape"):
            refuse_choice(origin, "array", **asked)
            return ArrayFile(Handle(origin, versions, _opened_zarr, path, ""))
        return open_group(found, path, origin, versions, _opened_zarr, **asked)


@contextmanager
def _opened_zarr(path: Path, origin: str) -> Iterator[Any]:
    zarr = require_package("zarr", f"{origin} is a Zarr store", extra="zarr")
    try:
        found = zarr.open(str(path), mode="r")
    except Exception as error:  # Zarr's own kinds of error differ from version to version.
        message = f"{origin} is no Zarr store, or its description is damaged ({error}). Write it again."
        raise InputError(message) from error
    yield found
