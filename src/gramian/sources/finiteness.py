"""NaN and infinity: found block by block in bounded memory, and refused with their location.

Good data never pay for this: a finite mean proves every entry finite, so the search runs only after a pass whose result
is not.
"""

from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np

from gramian.arrays.namespace import Array, HostArray, is_sparse, namespace_of
from gramian.errors import InputError, Sentence
from gramian.sources.locations import Location, name_of
from gramian.sources.rows import Block, RowSource


@dataclass(frozen=True)
class NonFinite:
    """The first entry that is not a finite number, its value, and how many there are in all."""

    row: int
    column: int
    value: float
    count: int


def require_finite(source: RowSource) -> None:
    """Refuse rows that hold NaN or infinity, naming the location of the first and the count.

    Cost: one pass, a few bytes per value of one block.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.sources.dense import DenseRows
    >>> require_finite(DenseRows(np.array([[1.0, np.nan]]), column_names=("age", "height")))
    Traceback (most recent call last):
    ...
    gramian.errors.InputError: Input X contains NaN: row 0 (counted from 0), column 'height'. ...
    """
    found = find_nonfinite(source)
    if found is not None:
        origin, row = source.locate(found.row)
        place = Location(row, found.column, name_of(found.column, source.column_names), origin)
        refuse_nonfinite(place, found.value, count=found.count, dtype=source.dtype)


def find_nonfinite(source: RowSource) -> NonFinite | None:
    """Return the first entry, by rows, that is NaN or infinite, or ``None``.

    Cost: one pass, a few bytes per value of one block. Infinite products of finite rows are not found: only
    what the rows themselves hold.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.sources.dense import DenseRows
    >>> find_nonfinite(DenseRows(np.array([[1.0, 2.0], [np.inf, np.nan]])))
    NonFinite(row=1, column=0, value=inf, count=2)
    """
    found: NonFinite | None = source.reduce(_fold, _merge)
    return found


def refuse_nonfinite(place: Location, value: float, *, count: int, dtype: np.dtype[Any]) -> NoReturn:
    """Raise the sentence for ``count`` missing or infinite values, the first of them at ``place``."""
    others = f", and {count - 1:,} more" if count > 1 else ""
    if np.isnan(value):
        message = Sentence(
            "Input X contains NaN: {place}{others}. Fill or drop missing values first; nothing is filled in unasked.",
            place=place,
            others=others,
        )
    else:
        message = Sentence(
            "Input X contains infinity or a value too large for {dtype!r}: {value} in {place}{others}. "
            "Replace or drop it first.",
            dtype=dtype,
            value=value,
            place=place,
            others=others,
        )
    raise InputError(message, row=place.row, column=place.label, is_missing=bool(np.isnan(value)))


def _fold(found: NonFinite | None, block: Block) -> NonFinite | None:
    rows = block.rows
    here = _in_sparse(rows) if is_sparse(rows) else _in_dense(rows)
    if here is not None:
        here = replace(here, row=here.row + block.start)
    return _merge(found, here)


def _merge(left: NonFinite | None, right: NonFinite | None) -> NonFinite | None:
    if left is None or right is None:
        return left or right
    return replace(left, count=left.count + right.count)


def _in_dense(rows: Array) -> NonFinite | None:
    if _sum_is_finite(rows):
        return None
    bad_rows, bad_columns = namespace_of(rows).nonzero(~namespace_of(rows).isfinite(rows))
    if bad_rows.shape[0] == 0:
        return None
    row, column = int(bad_rows[0]), int(bad_columns[0])
    return NonFinite(row, column, float(rows[row, column]), bad_rows.shape[0])


def _in_sparse(rows: Any) -> NonFinite | None:
    if _sum_is_finite(rows.data):
        return None
    bad: HostArray = np.flatnonzero(~np.isfinite(rows.data))
    if bad.size == 0:
        return None
    first = int(bad[0])
    row = int(np.searchsorted(rows.indptr, first, side="right")) - 1
    return NonFinite(row, int(rows.indices[first]), float(rows.data[first]), int(bad.size))


def _sum_is_finite(values: Array) -> bool:
    # A finite sum proves every term finite and makes no array; one that is not proves nothing, since finite
    # terms may overflow, so only then each entry is examined.
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(float(namespace_of(values).sum(values))))
