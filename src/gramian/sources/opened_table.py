"""A table file as it stands before its columns are chosen."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from gramian.sources.row_file import RowFile
from gramian.sources.table_facts import Sampled


class OpenedTable(NamedTuple):
    """What a first look at a table file gives, and the way on from there.

    ``named`` tells whether the columns have names of their own; ``rows(names)`` makes the file of those columns.
    """

    origin: str
    n_rows: int
    sampled: Sequence[Sampled]
    named: bool
    rows: Callable[[tuple[str, ...]], RowFile]
