"""Where a value is in X: the row, the column and the file that an error names."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gramian.arrays.namespace import HostArray

Names = tuple[str, ...] | None
"""Column names, or ``None`` when the columns have only positions."""


class Location(NamedTuple):
    """One entry of X, both numbers counted from zero.

    Examples
    --------
    >>> str(Location(10482, 3, "age"))
    "row 10,482 (counted from 0), column 'age'"
    >>> str(Location(2, 0))
    'row 2, column 0 (both counted from 0)'
    >>> str(Location(2))
    'row 2 (counted from 0)'
    """

    row: int
    column: int | None = None
    name: str | None = None
    origin: str | None = None

    @property
    def label(self) -> int | str | None:
        """The column's name, or its position when it has none; ``None`` for a whole row."""
        return self.column if self.name is None else self.name

    def __str__(self) -> str:
        """Return the location as an error says it."""
        file = "" if self.origin is None else f" of {self.origin}"
        if self.label is None:
            return f"row {self.row:,} (counted from 0){file}"
        if self.name is None:
            return f"row {self.row:,}, column {self.column} (both counted from 0){file}"
        return f"row {self.row:,} (counted from 0), column {self.name!r}{file}"


Locate = Callable[[int], Location]
"""Turns the position of a value, in the order it is stored or read, into its location in X."""


def dense_locations(n_columns: int, names: Names = None) -> Locate:
    """Locate values of an (n, d) array, counted along its rows."""

    def locate(i: int) -> Location:
        row, column = divmod(i, n_columns)
        return Location(row, column, name_of(column, names))

    return locate


def sparse_locations(indices: HostArray, indptr: HostArray, names: Names = None) -> Locate:
    """Locate stored values of a CSR array, counted as they are stored."""

    def locate(i: int) -> Location:
        column = int(indices[i])
        return Location(int(np.searchsorted(indptr, i, side="right")) - 1, column, name_of(column, names))

    return locate


def column_locations(column: int, name: str | None = None, *, start: int = 0) -> Locate:
    """Locate values of one column, counted from row ``start``."""
    return lambda i: Location(start + i, column, name)


def name_of(column: int, names: Names) -> str | None:
    """Return the name of a column, or ``None`` when columns have no names."""
    return None if names is None else names[column]
