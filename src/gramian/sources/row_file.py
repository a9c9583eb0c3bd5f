"""The contract of a file of rows: what one new format has to know, and nothing about schedules."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gramian.arrays.namespace import Array, HostArray
from gramian.sources.places import Names
from gramian.sources.stamps import Stamp


class RowFile(ABC):
    """n rows of d numbers in a file, read in windows; :class:`~gramian.sources.file_rows.FileRows` does the rest.

    Attributes
    ----------
    origin : str
        The file as a person named it.
    stamps : tuple of Stamp
        The files that must not change.
    shape : (int, int)
    dtype : numpy.dtype
        float32 or float64: what windows come in.
    names : tuple of str or None
        Column names.
    is_sparse : bool
        Whether windows are CSR.
    n_entries : int
        Stored numbers.
    row_bytes : int
        Bytes of an average row in memory.
    starts : tuple of int
        Rows where reading may begin at no extra price; empty when any row will do.
    """

    origin: str
    stamps: tuple[Stamp, ...]
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    names: Names
    is_sparse: bool
    n_entries: int
    row_bytes: int
    starts: tuple[int, ...]

    @property
    def known_by(self) -> tuple[Stamp, ...]:
        """The files that a checkpoint knows the rows by."""
        return self.stamps

    @abstractmethod
    def read(self, rows: slice) -> Array:
        """Return some consecutive rows, (b, d), dense or CSR; missing values are NaN."""

    @abstractmethod
    def stream(self, windows: Sequence[slice]) -> Iterator[Array]:
        """Yield the rows of consecutive windows, one after the other."""

    @abstractmethod
    def column(self, name: str) -> HostArray:
        """Return a column that is no number, such as a label, as n strings; missing ones are empty."""

    @abstractmethod
    def locate(self, row: int) -> tuple[str, int]:
        """Return the file in which a row stands, and its position there, counted from zero."""

    def require_room(self, budget: int) -> None:  # noqa: B027 - most files can be read in windows of any size
        """Refuse a file that cannot be read within ``budget`` bytes, however small its windows."""
