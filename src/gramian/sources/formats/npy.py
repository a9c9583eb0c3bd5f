"""NumPy's .npy files: a header, then the numbers, read where they stand."""

from collections.abc import Iterator, Sequence
from io import FileIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy_format

from gramian.arrays.namespace import HostArray
from gramian.arrays.precision import FLOAT32, FLOAT64
from gramian.errors import InputError, Sentence
from gramian.sources.conversion import real_numbers, require_real_kind
from gramian.sources.locations import Location, dense_locations
from gramian.sources.row_file import FileVersion, RowFile


class NpyFile(RowFile):
    """The rows of an .npy array, or of a piece of a larger file that is one (see ``npz``).

    Computes  nothing: a window is a read at its own place in the file, converted where the type is not float32 or
    float64. Column-ordered arrays take one read per column and window, which is slower; save them in row order. Arrays
    of more than two dimensions are flattened to (n, -1) in C order.

    Parameters
    ----------
    path : path
    origin : str
        The file as a person named it.
    offset : int
        Where the array begins in the file.
    size : int, optional
        Bytes that the array has there, header and all; by default all to the end of the file.
    """

    def __init__(self, path: Path, origin: str, *, offset: int = 0, size: int | None = None) -> None:
        self.path, self.origin = path, origin
        self.versions = (FileVersion.of(path),)
        with path.open("rb") as file:
            file.seek(offset)
            self.stored, self._by_columns, self.stored_dtype = read_header(file, self.origin)
            self._begin = file.tell()
        self.shape, self.row_shape = table_shape(self.stored, self.origin)
        self.dtype = float_type(self.stored_dtype, self.origin)
        stop = self.versions[0].size if size is None else offset + size
        needed = self._begin + self.shape[0] * self.shape[1] * self.stored_dtype.itemsize
        if stop < needed:
            _refuse_short(self.origin, self.stored, needed, stop)

    @property
    def row_bytes(self) -> int:
        """Bytes of a row, stored or converted."""
        return self.shape[1] * max(self.dtype.itemsize, self.stored_dtype.itemsize)

    def read(self, rows: slice) -> HostArray:
        """Read consecutive rows at their place."""
        with self.path.open("rb", buffering=0) as file:
            return self._read(file, rows)

    def stream(self, windows: Sequence[slice]) -> Iterator[HostArray]:
        """Yield windows in order, from one open file."""
        with self.path.open("rb", buffering=0) as file:
            for rows in windows:
                yield self._read(file, rows)

    def _read(self, file: FileIO, rows: slice) -> HostArray:
        n, d = self.shape
        count, each = rows.stop - rows.start, self.stored_dtype.itemsize
        if self._by_columns:
            found = np.empty((count, d), dtype=self.stored_dtype, order="F")
            # The first axis varies fastest on disk, then the second: the other axes are taken in that order too.
            places = np.arange(d).reshape(self.row_shape or (d,)).ravel(order="F")
            for at, j in enumerate(places):
                self._fill(file, found[:, j], self._begin + (at * n + rows.start) * each)
        else:
            found = np.empty((count, d), dtype=self.stored_dtype)
            self._fill(file, found, self._begin + rows.start * d * each)
        return as_floats(found, self.dtype, self.origin, rows.start)

    def _fill(self, file: FileIO, into: HostArray, at: int) -> None:
        view = into.reshape(-1).view(np.uint8).data
        file.seek(at)
        done = 0
        while done < view.nbytes:
            count = file.readinto(view[done:])
            if not count:
                self.versions[0].require_unchanged()
                _refuse_short(self.origin, self.stored, at + view.nbytes, at + done)
            done += count


def float_type(stored: np.dtype[Any], origin: str) -> np.dtype[Any]:
    """Return the type that numbers of a stored type are worked in; refuse what holds no real numbers."""
    if stored.kind == "O":
        message = (
            f"{origin} holds Python objects, which only running code could open. Save numbers: np.save(path, "
            "X.astype(float))."
        )
        raise InputError(message)
    try:
        require_real_kind(stored)
    except InputError as error:
        message = f"{origin}: {error}"
        raise InputError(message) from error
    if stored.kind not in "fiub":
        message = f"{origin} holds text (dtype {stored}), not numbers. Save a float array instead."
        raise InputError(message)
    return FLOAT32 if stored.kind == "f" and stored.itemsize <= 4 else FLOAT64


def as_floats(values: HostArray, dtype: np.dtype[Any], origin: str, start: int) -> HostArray:
    """Return values in their working type; refuse integers that no float holds, with file, row and column."""
    if values.dtype == dtype:
        return values
    try:
        real_numbers(values, dense_locations(values.shape[1]))
    except InputError as error:
        row = start + (error.row or 0)
        place = Location(row, name=error.column) if isinstance(error.column, str) else Location(row, error.column)
        message = Sentence("{origin}, {place}: {error}", origin=origin, place=place, error=error)
        raise InputError(message, row=row, column=error.column) from error
    return values.astype(dtype)


def table_shape(stored: tuple[int, ...], origin: str) -> tuple[tuple[int, int], tuple[int, ...] | None]:
    """Return the shape as (rows, columns), and that of a row where it is flattened; refuse what is no table.

    Examples
    --------
    >>> table_shape((60, 28, 28), "digits.npy"), table_shape((60, 4), "iris.npy")
    (((60, 784), (28, 28)), ((60, 4), None))
    """
    if len(stored) < 2:
        message = (
            f"{origin} holds an array of shape {stored}, and rows of numbers have two dimensions. Save it as a table: "
            "X.reshape(len(X), -1), or X.reshape(-1, 1) for one column."
        )
        raise InputError(message)
    if 0 in stored:
        message = f"{origin} holds an array of shape {stored}: no numbers. Check what wrote the file."
        raise InputError(message)
    n, *row = map(int, stored)
    return (n, int(np.prod(row))), tuple(row) if len(row) > 1 else None


def read_header(file: Any, origin: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return the shape, whether columns come first, and the type that a .npy header tells."""
    try:
        version = npy_format.read_magic(file)
        reader = npy_format.read_array_header_1_0 if version == (1, 0) else npy_format.read_array_header_2_0
        return reader(file)
    except Exception as error:  # NumPy reads the header as Python source, whose parser raises errors of many kinds
        message = f"{origin} is no .npy file, or its header is damaged ({error}). Write it again with np.save."
        raise InputError(message) from error


def _refuse_short(origin: str, shape: tuple[int, ...], needed: int, found: int) -> None:
    rows = " x ".join(f"{count:,}" for count in shape)
    message = (
        f"{origin} is cut short: its header says {rows} numbers, {needed:,} bytes in all, and it has {found:,}. Write "
        "the file again."
    )
    raise InputError(message)
