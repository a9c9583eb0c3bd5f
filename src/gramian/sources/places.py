"""Where a value stands in X: the row and the column that an error names."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from gramian.arrays.namespace import HostArray

Names = tuple[str, ...] | None
"""Column names, or ``None`` when the columns have only positions."""


class Place(NamedTuple):
    """One entry of X, both numbers counted from zero.

    Examples
    --------
    >>> str(Place(10482, 3, "age"))
    "row 10,482 (counted from 0), column 'age'"
    >>> str(Place(2, 0))
    'row 2, column 0 (both counted from 0)'
    """

    row: int
    column: int
    name: str | None = None
    origin: str | None = None

    @property
    def label(self) -> int | str:
        """The column's name, or its position when it has none."""
        return self.column if self.name is None else self.name

    def __str__(self) -> str:
        """Say the place as an error does."""
        file = "" if self.origin is None else f" of {self.origin}"
        if self.name is None:
            return f"row {self.row:,}, column {self.column} (both counted from 0){file}"
        return f"row {self.row:,} (counted from 0), column {self.name!r}{file}"


Locate = Callable[[int], Place]
"""Turns the position of a value, in the order it is stored or read, into its place in X."""


def dense_places(n_columns: int, names: Names = None) -> Locate:
    """Locate values of an (n, d) array, counted along its rows."""
    return partial(_dense_place, n_columns, names)


def sparse_places(indices: HostArray, indptr: HostArray, names: Names = None) -> Locate:
    """Locate stored values of a CSR array, counted as they are stored."""
    return partial(_sparse_place, indices, indptr, names)


def column_places(column: int, name: str | None = None, *, start: int = 0) -> Locate:
    """Locate values of one column, counted from row ``start``."""
    return partial(_column_place, column, name, start)


def name_of(column: int, names: Names) -> str | None:
    """Return the name of a column, or ``None`` when columns have no names."""
    return None if names is None else names[column]


def _dense_place(n_columns: int, names: Names, i: int) -> Place:
    row, column = divmod(i, n_columns)
    return Place(row, column, name_of(column, names))


def _sparse_place(indices: HostArray, indptr: HostArray, names: Names, i: int) -> Place:
    column = int(indices[i])
    return Place(int(np.searchsorted(indptr, i, side="right")) - 1, column, name_of(column, names))


def _column_place(column: int, name: str | None, start: int, i: int) -> Place:
    return Place(start + i, column, name)
