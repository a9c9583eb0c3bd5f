"""Sparse rows on disk: three vectors (entries, columns, row beginnings), of which a window reads its own part."""

from pathlib import Path
from typing import Any, Protocol

import numpy as np
import scipy

from gramian.arrays.namespace import HostArray
from gramian.errors import InputError
from gramian.sources.formats.npy import float_type
from gramian.sources.locations import Names
from gramian.sources.row_file import FileVersion, RowFile


class Vector(Protocol):
    """A long vector on disk: a part of it is read as an array."""

    dtype: np.dtype[Any]

    def __len__(self) -> int: ...

    def __getitem__(self, part: slice) -> HostArray: ...


class DiskVector:
    """Numbers of one type, one after the other from some byte of a file on."""

    def __init__(self, path: Path, begin: int, dtype: np.dtype[Any], length: int) -> None:
        self.path, self.dtype = path, dtype
        self._begin, self._length = begin, length

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, part: slice) -> HostArray:
        """Read a part."""
        with self.path.open("rb", buffering=0) as file:
            file.seek(self._begin + part.start * self.dtype.itemsize)
            return np.fromfile(file, dtype=self.dtype, count=part.stop - part.start)


class CsrFile(RowFile):
    """Sparse rows in CSR, in whatever file holds the three vectors.

    Cost of a pass: reading entries and their columns once. Memory: a window, and 8 bytes per row for the beginnings.
    Entries of one row may come in any order; a column that a row names twice counts the sum of its entries.
    """

    is_sparse = True

    def __init__(
        self,
        data: Vector,
        indices: Vector,
        indptr: HostArray,
        shape: tuple[int, int],
        *,
        origin: str,
        versions: tuple[FileVersion, ...],
        names: Names = None,
    ) -> None:
        self._data, self._indices, self._indptr = data, indices, indptr.astype(np.int64, copy=False)
        self.origin, self.versions, self.names, self.shape = origin, versions, names, shape
        self.dtype = float_type(np.dtype(data.dtype), origin)
        _require_sound(self._indptr, shape, len(data), len(indices), origin)

    @property
    def n_entries(self) -> int:
        """Stored numbers."""
        return len(self._data)

    @property
    def row_bytes(self) -> int:
        """Bytes of an average row: its entries and their columns."""
        return max(1, self.n_entries * (self.dtype.itemsize + 8) // self.shape[0])

    def read(self, rows: slice) -> Any:
        """Read the entries of some consecutive rows."""
        begin, end = int(self._indptr[rows.start]), int(self._indptr[rows.stop])
        data = np.asarray(self._data[slice(begin, end)]).astype(self.dtype, copy=False)
        indices = np.asarray(self._indices[slice(begin, end)])
        if len(data) != end - begin or len(indices) != end - begin:
            _refuse(self.origin, f"rows {rows.start:,} to {rows.stop:,} are cut short")
        if indices.size and not 0 <= int(indices.min()) <= int(indices.max()) < self.shape[1]:
            _refuse(
                self.origin, f"a row between {rows.start:,} and {rows.stop:,} names a column beyond {self.shape[1]:,}"
            )
        pointers = self._indptr[rows.start : rows.stop + 1] - begin
        index = np.int32 if max(self.shape[1], end - begin) < np.iinfo(np.int32).max else np.int64
        csr = scipy.sparse.csr_array(
            (data, indices.astype(index), pointers.astype(index)), shape=(len(pointers) - 1, self.shape[1])
        )
        if not csr.has_canonical_format:
            csr.sum_duplicates()
        return csr


def _require_sound(indptr: HostArray, shape: tuple[int, int], data: int, indices: int, origin: str) -> None:
    if 0 in shape:
        _refuse(origin, f"its shape is {shape}: no numbers")
    if len(indptr) != shape[0] + 1 or indptr[0] != 0 or (np.diff(indptr) < 0).any():
        _refuse(origin, "its row beginnings (indptr) do not fit its shape")
    if int(indptr[-1]) != data or data != indices:
        _refuse(origin, f"it has {data:,} entries, {indices:,} columns of entries, and {int(indptr[-1]):,} by its rows")


def _refuse(origin: str, what: str) -> None:
    message = f"{origin} is no sound sparse table: {what}. Write the file again."
    raise InputError(message)
