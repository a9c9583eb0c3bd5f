"""Rows and columns exchanged: a table whose variables are its rows, as in tables of genes."""

from typing import Any

import numpy as np

from gramian.arrays.namespace import HostArray
from gramian.errors import InputError, MemoryBudgetError, Parameter, ParameterError, Sentence
from gramian.machine import MEGABYTE
from gramian.sources.formats.table import open_arrow_table
from gramian.sources.names import different, numbered
from gramian.sources.row_file import OpenedTable, RowFile
from gramian.sources.table_facts import TableFacts

FORMER = "column"
"""What the names of the former columns are called, which name the rows now."""


class TransposedFile(RowFile):
    """The columns of a dense array as rows, held in memory.

    Cost: the file is read once, and its numbers are held: 8 bytes each. Not for files larger than the budget.
    """

    def __init__(self, file: RowFile, rows: HostArray) -> None:
        self.origin, self.versions = file.origin, file.versions
        self._known_by, self._rows = file.known_by, rows
        self.shape, self.dtype = rows.shape, rows.dtype
        self.remarks = file.remarks

    @property
    def known_by(self) -> Any:
        """The files that a checkpoint knows the rows by."""
        return self._known_by

    def read(self, rows: slice) -> HostArray:
        """Return some consecutive rows."""
        return self._rows[rows]


def transpose_array(file: RowFile, budget: int) -> RowFile:
    """Return the columns of an array as rows."""
    return TransposedFile(file, _transposed(file, budget))


def transpose_table(file: RowFile, facts: TableFacts, budget: int, names: tuple[str, ...] | None) -> OpenedTable:
    """Return a table whose rows are the columns that were used, and whose columns are named by the former id.

    ``names`` are in place of those. The former names of the columns are a column of text, which names the rows.
    """
    import pyarrow as pa

    rows = _transposed(file, budget)
    former = tuple(column.name for column in facts.used)
    count, is_named = rows.shape[1], names is not None or facts.id is not None
    found = names or (tuple(file.column(facts.id)) if facts.id is not None else None)
    called = found or numbered(count)
    if len(called) != count:
        message = Sentence(
            "{names} gives {given:,} names, and {origin} has {count:,} rows, which are the columns when it is "
            "transposed. Give one name per row of the file.",
            names=Parameter("names"),
            given=len(called),
            origin=file.origin,
            count=count,
        )
        raise ParameterError(message, parameter="names")
    named = (name or number for name, number in zip(called, numbered(count), strict=True))
    label, *columns = different([FORMER, *named])
    table: dict[str, Any] = {label: former} if facts.named else {}
    table |= {name: rows[:, j] for j, name in enumerate(columns)}
    by = f", and its columns are named by {facts.id!r}" if facts.id is not None and names is None else ""
    left = [repr(column.name) for column in facts.left_out if column.use == "left_out"]
    out = f" Left out before: {', '.join(left[:6])}{' and so on' if len(left) > 6 else ''}." if left else ""
    remark = f"Transposed, as asked: the {len(former):,} columns of numbers of {file.origin} are the rows{by}.{out}"
    path = file.versions[0].path
    return open_arrow_table(pa.table(table), file.origin, path, is_named=is_named, remarks=(remark,), budget=budget)


def _transposed(file: RowFile, budget: int) -> HostArray:
    n, d = file.shape
    if file.is_sparse:
        message = Sentence(
            "{origin} holds sparse rows, which {transpose} does not exchange with columns. Save X.T.tocsr() instead.",
            origin=file.origin,
            transpose=Parameter("transpose"),
        )
        raise InputError(message)
    needed = 3 * n * d * file.dtype.itemsize
    if needed > budget:
        message = Sentence(
            f"{{transpose}} holds all of {{origin}} in memory, {needed / MEGABYTE:,.1f} MB, and the budget is "
            f"{budget / MEGABYTE:,.1f} MB. Raise {{budget}} (GRAMIAN_MEMORY), or save the table transposed.",
            transpose=Parameter("transpose"),
            origin=file.origin,
            budget=Parameter("memory_budget"),
        )
        raise MemoryBudgetError(message, needed=needed, budget=budget)
    rows: HostArray = np.ascontiguousarray(np.asarray(file.read(slice(0, n))).T)
    return rows
