"""NumPy's .npz files: arrays of which one holds the rows, or the arrays of a SciPy sparse matrix, in a zip file."""

import struct
import zipfile
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gramian.errors import InputError, NotSupportedError
from gramian.machine import MEGABYTE
from gramian.sources.formats.arrays import StoredArray, choose_array, describe_rows, refuse_choice
from gramian.sources.formats.csr import CsrFile, DiskVector
from gramian.sources.formats.npy import NpyFile, read_header
from gramian.sources.row_file import FileVersion, RowFile, Spill

SPARSE = {"data.npy", "indices.npy", "indptr.npy", "shape.npy", "format.npy"}


class _Member(NamedTuple):
    path: Path
    offset: int


def open_npz(
    path: Path,
    origin: str,
    *,
    array: str | None = None,
    label: str | bool | None = None,
    id: str | bool | None = None,  # noqa: A002 - what a person calls it
) -> RowFile:
    """Open the array of an .npz file that holds the rows, or the CSR matrix that SciPy saved in it.

    Which array that is, and which others label or name the rows: :mod:`~gramian.sources.formats.arrays`.
    Cost: nothing when members are stored as they are (``np.savez``); compressed ones are unpacked to disk first.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
            if SPARSE - {"indices.npy", "indptr.npy"} <= names:
                refuse_choice(origin, "sparse matrix", array=array, label=label, id=id)
                return _open_sparse(archive, path, origin)
            arrays = _stored(archive, path, origin)
            name, remarks = choose_array(
                arrays, array=array, origin=origin, remedy="Save the rows alone: np.save(path, X)."
            )
            found = _open_dense(archive, f"{name}.npy", path, origin)
            found.remarks = remarks
            found.texts = describe_rows(found, arrays, label=label, id=id)
            return found
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError) as error:
        message = f"{origin} is no .npz file, or it is damaged or cut short ({error}). Write it again."
        raise InputError(message) from error


def _stored(archive: zipfile.ZipFile, path: Path, origin: str) -> list[StoredArray]:
    """Return what each array is, by its header alone."""
    found = []
    for info in archive.infolist():
        if info.filename.endswith(".npy"):
            with archive.open(info) as file:
                shape, _, dtype = read_header(file, f"{origin} ({info.filename})")
            read = partial(_read_whole, path, info.filename, origin)
            # What is kept as Python objects only running code could open: it is no text.
            kind = np.dtype("V1") if dtype.hasobject else dtype
            found.append(StoredArray(info.filename.removesuffix(".npy"), shape, kind, read))
    return found


def _read_whole(path: Path, name: str, origin: str) -> Any:
    try:
        with zipfile.ZipFile(path) as archive:
            return _small(archive, name)
    except ValueError as error:
        message = f"{origin} is damaged in array {name.removesuffix('.npy')!r} ({error}). Write it again."
        raise InputError(message) from error


def _open_dense(archive: zipfile.ZipFile, name: str, path: Path, origin: str) -> NpyFile:
    spill, info = Spill(), archive.getinfo(name)
    member = _in_place(archive, info, path, spill)
    found = NpyFile(member.path, origin, offset=member.offset, size=info.file_size)
    found.versions = (FileVersion.of(path),)
    spill.keep_while(found)
    return found


def _open_sparse(archive: zipfile.ZipFile, path: Path, origin: str) -> RowFile:
    kind = _small(archive, "format.npy").item()
    kind = kind.decode() if isinstance(kind, bytes) else kind
    if kind != "csr":
        message = f"{origin} holds a sparse matrix in {kind} format. Save it as rows: save_npz(path, X.tocsr())."
        raise NotSupportedError(message)
    spill = Spill()
    vectors = {}
    for name in ("data", "indices", "indptr"):
        member = _in_place(archive, archive.getinfo(f"{name}.npy"), path, spill)
        vectors[name] = _vector(member, origin)
    n, d = map(int, _small(archive, "shape.npy"))
    indptr = vectors["indptr"][slice(0, len(vectors["indptr"]))]
    found = CsrFile(
        vectors["data"], vectors["indices"], indptr, (n, d), origin=origin, versions=(FileVersion.of(path),)
    )
    spill.keep_while(found)
    return found


def _vector(member: _Member, origin: str) -> DiskVector:
    with member.path.open("rb") as file:
        file.seek(member.offset)
        shape, _, dtype = read_header(file, origin)
        return DiskVector(member.path, file.tell(), dtype, int(np.prod(shape)))


def _small(archive: zipfile.ZipFile, name: str) -> Any:
    with archive.open(name) as file:
        return np.lib.format.read_array(file, allow_pickle=False)


def _in_place(archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path, spill: Spill) -> _Member:
    """Return where an array begins: in the zip file itself when it is stored as it is, else in a copy on disk."""
    if info.compress_type == zipfile.ZIP_STORED:
        with path.open("rb") as file:
            file.seek(info.header_offset + 26)
            name, extra = struct.unpack("<HH", file.read(4))
        return _Member(path, info.header_offset + 30 + name + extra)
    copy = spill.path(Path(info.filename).name)
    with archive.open(info) as source, copy.open("wb") as target:
        while piece := source.read(MEGABYTE):
            target.write(piece)
    return _Member(copy, 0)
