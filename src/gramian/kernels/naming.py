"""Rows that a kernel refuses, called by their places in X instead of those in a block."""

from collections.abc import Iterator
from contextlib import contextmanager

from gramian.arrays.namespace import HostArray
from gramian.errors import KernelRowsError

Places = int | HostArray
"""Where the rows of a block are in X: the place of the first one, or of each."""


@contextmanager
def named_rows(left: Places, right: Places | None = None, *, ending: str = "") -> Iterator[None]:
    """Name the rows of a refusal within: of the left block and, where it is of two rows, of the right one.

    Contexts may lie within each other, each adding what it knows; without ``right`` the second row is left as it is.
    ``ending`` is said of the last row, such as " of the fit".

    Examples
    --------
    >>> import numpy as np
    >>> with named_rows(1000), named_rows(np.array([7, 3])):
    ...     raise KernelRowsError("", (1,), " has -1 in column 2.")
    Traceback (most recent call last):
    gramian.errors.KernelRowsError: Row 1,003 has -1 in column 2.
    """
    try:
        yield
    except KernelRowsError as error:
        sides = (left, 0 if right is None else right)
        rows = tuple(_place(side, row) for side, row in zip(sides, error.rows, strict=False))
        error.name(rows, ending)
        raise


def _place(places: Places, row: int) -> int:
    return places + row if isinstance(places, int) else int(places[row])
