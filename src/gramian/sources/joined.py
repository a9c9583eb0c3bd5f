"""Several files with the same columns, read one after the other as one."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

import numpy as np

from gramian.arrays.namespace import Array, HostArray
from gramian.arrays.precision import FLOAT32, FLOAT64
from gramian.errors import InputError
from gramian.sources.row_file import RowFile


class JoinedFiles(RowFile):
    """Files of a folder or a glob, in the order of their names; float64 when any of them is."""

    is_sparse = False

    def __init__(self, files: Sequence[RowFile], origin: str) -> None:
        _require_same_columns(files)
        self.origin, self.files = origin, tuple(files)
        self.stamps = tuple(stamp for file in files for stamp in file.stamps)
        self.names = files[0].names
        self.dtype = FLOAT32 if all(file.dtype == FLOAT32 for file in files) else FLOAT64
        self._stops = list(accumulate(file.shape[0] for file in files))
        self.shape = (self._stops[-1], files[0].shape[1])
        self.n_entries = sum(file.n_entries for file in files)
        self.row_bytes = max(file.row_bytes for file in files)
        firsts = [0, *self._stops[:-1]]
        self.starts = tuple(first + at for first, file in zip(firsts, files, strict=True) for at in file.starts or (0,))

    def read(self, rows: slice) -> Array:
        """Read some consecutive rows, from as many files as they lie in."""
        parts = [self.files[i].read(part) for i, part in self._parts(rows)]
        found = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return found.astype(self.dtype, copy=False)

    def stream(self, windows: Sequence[slice]) -> Iterator[Array]:
        """Yield windows, none of which crosses from one file into the next, in order."""
        at = 0
        while at < len(windows):
            i, _ = self._parts(windows[at])[0]
            here = [window for window in windows[at:] if window.start < self._stops[i]]
            first = self._stops[i] - self.files[i].shape[0]
            own = [slice(window.start - first, window.stop - first) for window in here]
            for rows in self.files[i].stream(own):
                yield rows.astype(self.dtype, copy=False)
            at += len(here)

    def column(self, name: str) -> HostArray:
        """Read a column that is no number from every file."""
        return np.concatenate([file.column(name) for file in self.files])

    def locate(self, row: int) -> tuple[str, int]:
        """Return the file in which a row stands, and its position there."""
        i = bisect_right(self._stops, row)
        return self.files[i].locate(row - (self._stops[i] - self.files[i].shape[0]))

    def require_room(self, budget: int) -> None:
        """Refuse what any of the files cannot be read in."""
        for file in self.files:
            file.require_room(budget)

    def _parts(self, rows: slice) -> list[tuple[int, slice]]:
        found, at = [], rows.start
        while at < rows.stop:
            i = bisect_right(self._stops, at)
            first, stop = self._stops[i] - self.files[i].shape[0], min(rows.stop, self._stops[i])
            found.append((i, slice(at - first, stop - first)))
            at = stop
        return found


def _require_same_columns(files: Sequence[RowFile]) -> None:
    first = files[0]
    for file in files[1:]:
        if file.names != first.names:
            require_same_names(first.origin, first.names or (), file.origin, file.names or ())
        if file.shape[1] != first.shape[1]:
            message = (
                f"{file.origin} has {file.shape[1]} columns, and {first.origin} beside it has {first.shape[1]}. Files "
                "of one folder must have the same columns."
            )
            raise InputError(message)
        if file.is_sparse or first.is_sparse:
            message = f"{file.origin} holds sparse rows, which are read from one file at a time. Name one file."
            raise InputError(message)


def require_same_names(first: str, names: Sequence[str], other: str, others: Sequence[str]) -> None:
    """Refuse a file whose columns are not called as those of the file before it."""
    missing = [name for name in names if name not in others]
    extra = [name for name in others if name not in names]
    if not missing and not extra and len(names) == len(others):
        return
    lacks = f" lacks column {missing[0]!r}" if missing else ""
    has = f" has column {extra[0]!r}" if extra else ""
    joined = " and" if lacks and has else ""
    message = (
        f"{other}{lacks}{joined}{has}, unlike {first} beside it. Files of one folder must have the same columns; "
        "choose those they share (columns=), or name one file."
    )
    raise InputError(message, column=(missing or extra)[0])
