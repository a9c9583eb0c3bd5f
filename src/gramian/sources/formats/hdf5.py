"""HDF5 files: an array of numbers in them, or AnnData's .h5ad layout, dense or sparse."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gramian.arrays.namespace import HostArray
from gramian.errors import InputError, MemoryBudgetError, NotSupportedError, Parameter, Sentence
from gramian.machine import MEGABYTE
from gramian.sources.formats.arrays import StoredArray, choose_array, describe_rows
from gramian.sources.formats.csr import CsrFile
from gramian.sources.formats.npy import as_floats, float_type, table_shape
from gramian.sources.locations import Names
from gramian.sources.row_file import FileVersion, RowFile, require_package


class ArrayFile(RowFile):
    """Rows of a chunked array of HDF5 or Zarr, sliced where it lies.

    Cost of a pass: decoding each chunk once where chunks hold a megabyte of rows or more (again where workers share
    one): the rows of a chunk are held, in the working type. Smaller ones are decoded again where a window ends in them.
    """

    def __init__(self, handle: "Handle", names: Names = None) -> None:
        self._handle = handle
        self.origin, self.versions, self.names = handle.origin, handle.versions, names
        with handle.opened() as array:
            self.shape, self.row_shape = table_shape(tuple(array.shape), handle.origin)
            self.dtype = float_type(np.dtype(array.dtype), handle.origin)
            chunks = getattr(array, "chunks", None)
        self.starts = _chunk_starts(self.shape[0], chunks, self.row_bytes)
        self._chunk_rows = min(int(chunks[0]), self.shape[0]) if chunks else 1

    @property
    def worker_bytes(self) -> int:
        """Bytes of a chunk, of the next one, and of what is made of it, where chunks are decoded whole."""
        return 3 * self._chunk_rows * self.row_bytes if self.starts else 0

    def require_room(self, budget: int) -> None:
        """Refuse chunks too large to be decoded whole."""
        needed = self.worker_bytes
        if needed > budget:
            message = Sentence(
                f"{{origin}} has chunks of {self._chunk_rows:,} rows, and all columns of one are decoded at a time: "
                f"about {needed / MEGABYTE:,.1f} MB, and the budget is {budget / MEGABYTE:,.1f} MB. Write the file "
                "with chunks of fewer rows, or raise {budget} (GRAMIAN_MEMORY).",
                origin=self.origin,
                budget=Parameter("memory_budget"),
            )
            raise MemoryBudgetError(message, needed=needed, budget=budget)

    def read(self, rows: slice) -> HostArray:
        """Read some consecutive rows."""
        (found,) = self.stream([rows])
        return found

    def stream(self, windows: Sequence[slice]) -> Iterator[HostArray]:
        """Read windows in order, from one opened file; what is left of a long chunk is kept for the next window."""
        kept, first = np.empty((0, self.shape[1]), self.dtype), 0
        last = windows[-1].stop if windows else 0
        with self._handle.opened() as array:
            for rows in windows:
                if not first <= rows.start <= rows.stop <= first + len(kept):
                    kept, first = self._decoded(array, slice(rows.start, self._kept_until(rows, last))), rows.start
                yield kept[rows.start - first : rows.stop - first]

    def _kept_until(self, rows: slice, last: int) -> int:
        """Return where to stop decoding: at the end of a long chunk, or of the last window if that comes first."""
        step = self._chunk_rows if self.starts else 1
        return min(-(-int(rows.stop) // step) * step, last)

    def _decoded(self, array: Any, rows: slice) -> HostArray:
        try:
            found = np.asarray(array[rows.start : rows.stop]).reshape(-1, self.shape[1])
        except (OSError, RuntimeError, ValueError, KeyError) as error:
            self._handle.refuse(error, rows)
        return as_floats(found, self.dtype, self.origin, rows.start)


class Handle:
    """How an array in a file is opened, each time it is read."""

    def __init__(self, origin: str, versions: tuple[FileVersion, ...], open_: Any, path: Path, name: str) -> None:
        self.origin, self.versions = origin, versions
        self._open, self._path, self._name = open_, path, name

    @contextmanager
    def opened(self) -> Iterator[Any]:
        """Give the array for as long as it is read."""
        with self._open(self._path, self.origin) as group:
            yield group[self._name] if self._name else group

    def refuse(self, error: Exception, rows: slice) -> None:
        """Say that some rows cannot be read: the file changed, or it is damaged."""
        for version in self.versions:
            version.require_unchanged()
        message = f"{self.origin} is damaged in rows {rows.start:,} to {rows.stop:,} ({error}). Write the file again."
        raise InputError(message, row=rows.start) from error


class HandleVector:
    """A one-dimensional array in a file, of which parts are read."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        with handle.opened() as array:
            self.dtype, self._length = np.dtype(array.dtype), int(array.shape[0])

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, part: slice) -> HostArray:
        """Read a part."""
        with self._handle.opened() as array:
            return np.asarray(array[part])


def open_hdf5(path: Path, origin: str, **asked: Any) -> RowFile:
    """Open the rows of an HDF5 file: those of ``X`` with the names of its columns (AnnData), else of one array.

    ``asked`` are ``array``, ``label`` and ``id`` of :mod:`~gramian.sources.formats.arrays`.
    """
    versions = (FileVersion.of(path),)
    with _opened_hdf5(path, origin) as file:
        return open_group(file, path, origin, versions, _opened_hdf5, **asked)


def open_group(
    file: Any,
    path: Path,
    origin: str,
    versions: tuple[FileVersion, ...],
    open_: Any,
    *,
    array: str | None = None,
    **beside: Any,
) -> RowFile:
    """Open what a group of arrays holds: AnnData's layout when it has an X, else the array chosen."""
    handle = partial(Handle, origin, versions, open_, path)
    arrays = [
        StoredArray(name, tuple(item.shape), np.dtype(item.dtype), partial(_read_whole, handle(name)))
        for name, item in _arrays(file)
    ]
    if "X" in file and array in (None, "X"):
        found = _open_anndata(file, path, origin, versions, open_)
    else:
        remedy = "Keep an array of two dimensions in the file, or call it X."
        name, remarks = choose_array(arrays, array=array, origin=origin, remedy=remedy)
        found = ArrayFile(handle(name))
        found.remarks = remarks
    # Parts of sparse matrices and of AnnData's categories have an entry per row by chance alone.
    whole = [array for array in arrays if not array.name.startswith("X/") and not array.name.endswith(_PARTS)]
    found.texts = describe_rows(found, whole, **beside)
    return found


_PARTS = ("/codes", "/categories", "/data", "/indices", "/indptr")


def _read_whole(handle: Handle) -> Any:
    with handle.opened() as array:
        return array[:]


def _open_anndata(
    file: Any, path: Path, origin: str, versions: tuple[FileVersion, ...], open_: Any
) -> ArrayFile | CsrFile:
    X = file["X"]
    names = _variable_names(file)
    if hasattr(X, "shape"):
        return ArrayFile(Handle(origin, versions, open_, path, "X"), _fitting(names, X.shape[-1]))
    kind = X.attrs.get("encoding-type", X.attrs.get("h5sparse_format", "csr_matrix"))
    kind = kind.decode() if isinstance(kind, bytes) else str(kind)
    if not kind.startswith("csr"):
        message = f"{origin} holds X as {kind}, by columns. Save it by rows: adata.X = adata.X.tocsr()."
        raise NotSupportedError(message)
    n, d = (int(side) for side in X.attrs.get("shape", X.attrs.get("h5sparse_shape", (0, 0))))
    data, indices = (HandleVector(Handle(origin, versions, open_, path, f"X/{part}")) for part in ("data", "indices"))
    indptr = np.asarray(X["indptr"][:])
    return CsrFile(data, indices, indptr, (n, d), origin=origin, versions=versions, names=_fitting(names, d))


def _variable_names(file: Any) -> Names:
    """Return the names of the columns that AnnData keeps in ``var``."""
    if "var" not in file or hasattr(file["var"], "shape"):
        return None
    var = file["var"]
    index = var.attrs.get("_index", "_index")
    index = index.decode() if isinstance(index, bytes) else str(index)
    if index not in var:
        return None
    return tuple(name.decode() if isinstance(name, bytes) else str(name) for name in np.asarray(var[index][:]))


def _fitting(names: Names, d: int) -> Names:
    return names if names is not None and len(names) == d else None


def _arrays(group: Any, prefix: str = "") -> list[tuple[str, Any]]:
    found = []
    for name in group:
        item = group[name]
        if hasattr(item, "shape"):
            found.append((prefix + name, item))
        else:
            found += _arrays(item, f"{prefix}{name}/")
    return found


@contextmanager
def _opened_hdf5(path: Path, origin: str) -> Iterator[Any]:
    h5py = require_package("h5py", f"{origin} is an HDF5 file", extra="hdf5")
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        message = f"{origin} is no HDF5 file, or it is damaged or cut short ({error}). Write the file again."
        raise InputError(message) from error
    with file:
        yield file


def _chunk_starts(n_rows: int, chunks: Any, row_bytes: int) -> tuple[int, ...]:
    """Return the rows at which chunks begin, where windows had better not cross them: chunks of many rows."""
    if not chunks or chunks[0] * row_bytes < 1 << 20:
        return ()
    return tuple(range(0, n_rows, int(chunks[0])))
