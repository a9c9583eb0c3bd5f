"""Which columns of a table file are used, and for what, given what each of them is (:mod:`gramian.sources.roles`)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import NamedTuple

import numpy as np

from gramian.arrays.namespace import HostArray, is_sparse
from gramian.errors import InputError, Parameter, ParameterError, Sentence
from gramian.sources.file_options import Wanted
from gramian.sources.names import near_or
from gramian.sources.relations import DummyBlock
from gramian.sources.roles import MOST_LEVELS, Column, TableRoles
from gramian.sources.rows import Block, RowSource

NUMBERS = ("number", "integer", "boolean")
"""Kinds of column that can be used."""

WORDS = {"text": "text", "date": "dates", "nested": "nested values"}
"""What a column holds that cannot be used."""

TYPES = {":number": NUMBERS, ":float": ("number",), ":integer": ("integer",), ":boolean": ("boolean",)}
"""Words that choose columns by type."""

LABEL_NAME = re.compile(r"species|class|label|target|group|category|type|kind|cluster", re.IGNORECASE)
"""Names that the label that colors first is likelier to have than other categories."""

NO_HEADER = "No header found: the first line is a row, and columns are counted from 1"


@dataclass(frozen=True)
class TableFacts:
    """What was made of each column of a table file.

    Attributes
    ----------
    origin : str
        The file.
    n_rows : int
    columns : tuple of Column
        In the order of the file; those used may be taken in another order.
    used : tuple of Column
        In the order they are taken.
    named : bool
        Whether the file names its columns; if not, they are called "column 1" and so on.
    relations : tuple of str
        What holds between columns: equal ones, sums, blocks of zeros and ones that are one category.
    remarks : tuple of str
        What else a person should know of the files: folders that were not read.
    blocks : tuple of DummyBlock
        Columns of zeros and ones that are a label together.
    """

    origin: str
    n_rows: int
    columns: tuple[Column, ...]
    used: tuple[Column, ...]
    named: bool = True
    relations: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    blocks: tuple[DummyBlock, ...] = ()

    @property
    def left_out(self) -> tuple[Column, ...]:
        """Columns that are not used as numbers, labels and the names of rows among them."""
        return tuple(column for column in self.columns if column.use != "used")

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the columns, and of the blocks of columns, kept for pictures, the likeliest first."""
        parts = {name for block in self.blocks for name in block.columns}
        found = [(column.name, len(column.levels)) for column in self._with_use("label") if column.name not in parts]
        found += [(block.name, len(block.levels)) for block in self.blocks]
        # By name and levels, never by the order of the columns.
        return tuple(name for name, _ in sorted(found, key=lambda f: (LABEL_NAME.search(f[0]) is None, f[1], f[0])))

    @property
    def label(self) -> str | None:
        """Name of the column that colors first."""
        return next(iter(self.labels), None)

    @property
    def id(self) -> str | None:
        """Name of the column that names the rows."""
        return next((column.name for column in self._with_use("id")), None)

    @property
    def texts(self) -> tuple[str, ...]:
        """Names of the columns that labels and names of rows are made of."""
        return tuple(column.name for column in (*self._with_use("label"), *self._with_use("id")))

    def sentences(self) -> list[str]:
        """Say what was done with the columns, a line each for what was left out."""
        said = [
            f"{self.origin}: {self.n_rows:,} rows, {len(self.used)} of {len(self.columns)} columns used as numbers."
        ]
        if not self.named:
            said.append(f"{NO_HEADER}.")
        about = [remark for column in self.columns for remark in column.remarks]
        return [*said, *self.remarks, *(f"{spoken(column)}." for column in self.left_out), *about, *self.relations]

    @property
    def doubted(self) -> tuple[Column, ...]:
        """Columns of numbers that a rule left out, and not somebody who said so."""
        numbers = (column for column in self.left_out if column.kind in NUMBERS and not column.is_index)
        return tuple(column for column in numbers if column.reason not in (ASKED, NOT_ASKED))

    def doubts(self) -> list[str]:
        """Say what was left out that may have been meant: folders, and columns of numbers that nobody spoke of."""
        return [*self.remarks, *(f"{spoken(column)}." for column in self.doubted)]

    def _with_use(self, use: str) -> list[Column]:
        return [column for column in self.columns if column.use == use]


class LongColumns(NamedTuple):
    """The columns of a long table, in which a line is one value: those that name its row and its column, and it."""

    row: str
    column: str
    value: str


def long_columns(facts: TableFacts, *, of_groups: bool = False) -> LongColumns | None:
    """Return the columns of a table that is long by what its columns are: two that tell things apart, and a quantity.

    Both of the former repeat, and besides them there are dates and constants at most. Two categories of fewer than 50
    levels are meant as groups of rows more often than not, and count with ``of_groups`` alone.

    Examples
    --------
    >>> user, film = (Column(name, "integer", "id", "whole numbers") for name in ("userId", "filmId"))
    >>> stars, seen = Column("stars", "number", "quantity", "numbers"), Column("seen", "integer", "date", "seconds")
    >>> long_columns(TableFacts("ratings.csv", 9, (user, film, stars, seen), (stars,)))
    LongColumns(row='userId', column='filmId', value='stars')
    """
    keys = [column for column in facts.columns if column.role in ("id", "name", "text", "category")]
    values = [column for column in facts.columns if column.role == "quantity"]
    if len(keys) != 2 or len(values) != 1 or any(column.is_distinct or column.is_index for column in keys):
        return None
    if not of_groups and all(column.role == "category" and len(column.levels) < MOST_LEVELS for column in keys):
        return None
    return LongColumns(keys[0].name, keys[1].name, values[0].name)


def spoken(column: Column) -> str:
    """Say what is done with a column, and why."""
    uses = {"label": "kept as a label", "id": "kept as the name of each row", "left_out": "left out", "used": "used"}
    return f"Column {column.name!r} is {uses[column.use]}: {column.reason}"


ASKED = "as asked"
NOT_ASKED = "not among the columns asked for"


def choose_columns(
    found: TableRoles,
    *,
    origin: str,
    n_rows: int,
    columns: Wanted = None,
    drop: Wanted = None,
    label: str | bool | None = None,
    id: str | bool | None = None,  # noqa: A002 - what a person calls it
    named: bool = True,
    needs_numbers: bool = True,
    may_be_empty: bool = False,
) -> TableFacts:
    """Decide what each column is used for: quantities as numbers, categories as labels, one name or id for the rows.

    Parameters
    ----------
    found : TableRoles
        What each column is.
    origin : str
    n_rows : int
    columns, drop : str or sequence of str, optional
        Names, globs or types (``":number"``, ``":float"``, ``":integer"``, ``":boolean"``).
    label, id : str, False or None
        A column's name; ``None`` to look for one; ``False`` for none.
    named : bool
        Whether the names are those of the file.
    needs_numbers : bool
        Whether a table without a column of numbers is refused; one of categories alone has none.
    may_be_empty : bool
        Whether one is not refused either that has no label.

    Examples
    --------
    >>> who = Column("who", "text", "name", "text, all different")
    >>> age = Column("age", "integer", "quantity", "integers")
    >>> facts = choose_columns(TableRoles((who, age), ()), origin="people.csv", n_rows=3)
    >>> [(column.name, column.use) for column in facts.columns]
    [('who', 'id'), ('age', 'used')]
    """
    table = {column.name: column for column in found.columns}
    asked = None if columns is None else _matching(columns, table, origin, "columns")
    dropped = [] if drop is None else _matching(drop, table, origin, "drop")
    blocks = {block.name: block for block in found.blocks}
    for word, parameter, known in ((label, "label", [*table, *blocks]), (id, "id", list(table))):
        if isinstance(word, str) and word not in known:
            refuse_name(word, known, origin, parameter)
    # A constant number costs a fit nothing; who analyzes a table leaves it out, and says so.
    used_roles = ("quantity", "constant")
    uses = {
        name: "used" if column.role in used_roles and column.kind in NUMBERS else "left_out"
        for name, column in table.items()
    }
    uses |= _labels_and_names(table, found.blocks, label=label, id_=id, n_rows=n_rows)
    reasons = {word: ASKED for word in (label, id) if isinstance(word, str)}
    for name, column in table.items():
        if asked is not None and name in asked and name not in (label, id):
            if column.kind not in NUMBERS:
                _refuse_kind(column, origin)
            uses[name], reasons[name] = "used", ASKED
        elif uses[name] == "used" and asked is not None:
            uses[name], reasons[name] = "left_out", NOT_ASKED
    for name in dropped:
        if uses[name] == "used" or (uses[name] == "label" and name != label) or (uses[name] == "id" and name != id):
            uses[name], reasons[name] = "left_out", ASKED
    whole = [block for block in found.blocks if all(uses[name] == "label" for name in block.columns)]
    # A part of a category is none.
    parts = {name for block in found.blocks if block not in whole for name in block.columns if name != label}
    uses |= {name: "left_out" for name in parts if uses[name] == "label"}
    table = {
        name: replace(column, use=uses[name], reason=reasons.get(name, column.reason)) for name, column in table.items()
    }
    order = list(table) if asked is None else asked
    used = tuple(table[name] for name in order if uses[name] == "used")
    facts = TableFacts(origin, n_rows, tuple(table.values()), used, named, found.remarks, blocks=tuple(whole))
    if not used and not may_be_empty and (needs_numbers or not facts.labels):
        _refuse_all(facts)
    return facts


def _labels_and_names(
    table: Mapping[str, Column],
    blocks: Sequence[DummyBlock],
    *,
    label: str | bool | None,
    id_: str | bool | None,
    n_rows: int,
) -> dict[str, str]:
    """Return the columns that color rows and the one that names them."""
    uses = {}
    if label is None:
        # A column of zeros and ones that is part of a category has no levels of its own.
        uses = {name: "label" for name, column in table.items() if column.role == "category" and column.levels}
    uses |= {name: "label" for block in blocks if label in (None, block.name) for name in block.columns}
    if id_ is None:
        # A name first, then an id, a date, and a number that only counts the rows; of several one that no two rows
        # share, then by missing cells and name.
        order = {"name": 0, "id": 1, "date": 2}
        able = [c for c in table.values() if c.role in order and (c.is_distinct or c.role == "name") and n_rows > 1]
        rank = {c.name: 3 if c.role == "id" and _counts_rows(c, n_rows) else order[c.role] for c in able}
        best = min(able, key=lambda c: (rank[c.name], not c.is_distinct, c.n_missing, c.name), default=None)
        uses |= {} if best is None else {best.name: "id"}
    uses |= {word: use for word, use in ((label, "label"), (id_, "id")) if isinstance(word, str) and word in table}
    return uses


def _counts_rows(column: Column, n_rows: int) -> bool:
    return column.low in (0, 1) and column.high == (column.low or 0) + n_rows - 1


def count_missing(source: RowSource) -> HostArray:
    """Return how many values of each used column are missing (NaN): one pass.

    Examples
    --------
    >>> from gramian.sources.dense import DenseRows
    >>> count_missing(DenseRows(np.array([[1.0, np.nan], [2.0, 3.0]])))
    array([0, 1])
    """
    found: HostArray = source.reduce(_count_fold, np.add)
    return found


def _count_fold(state: HostArray | None, block: Block) -> HostArray:
    rows = block.rows
    if is_sparse(rows):
        here = np.bincount(rows.indices[np.isnan(rows.data)], minlength=rows.shape[1])
    else:
        here = np.isnan(rows).sum(axis=0)
    return here if state is None else state + here


def _matching(wanted: Wanted, table: Mapping[str, Column], origin: str, parameter: str) -> list[str]:
    """Return the names that words choose, each once, in the order of the words and then of the file."""
    words = [wanted] if isinstance(wanted, str) else list(wanted or ())
    names = list(table)
    found: dict[str, None] = {}
    for word in words:
        if word in names:
            chosen = [word]
        elif word in TYPES:
            chosen = [name for name in names if table[name].kind in TYPES[word]]
        else:
            chosen = [name for name in names if fnmatchcase(name, word)]
        if not chosen:
            refuse_name(word, names, origin, parameter)
        found.update(dict.fromkeys(chosen))
    return list(found)


def refuse_name(word: str, names: list[str], origin: str, parameter: str) -> None:
    """Refuse a word that matches no column, and name the nearest one, or those that there are."""
    more = f" and {len(names) - 8:,} more" if len(names) > 8 else ""
    hint = near_or(word, names, f"It has {', '.join(map(repr, names[:8]))}{more}.")
    message = Sentence(
        "{asked} matches no column of {origin}. {hint}", asked=Parameter(parameter, (word,)), origin=origin, hint=hint
    )
    raise ParameterError(message, parameter=parameter, value=word)


def _refuse_kind(column: Column, origin: str) -> None:
    what = "is empty" if column.kind == "empty" else f"holds {WORDS[column.kind]}"
    message = Sentence(
        "Column {name!r} of {origin} {what} and cannot be used as numbers. Leave it out of {columns}, or turn it into "
        "numbers first.",
        name=column.name,
        origin=origin,
        what=what,
        columns=Parameter("columns"),
    )
    raise InputError(message, column=column.name)


def _refuse_all(facts: TableFacts) -> None:
    message = Sentence(
        "No column of {origin} is left to use as numbers: {listed}. Name the columns to use ({columns}).",
        origin=facts.origin,
        listed="; ".join(spoken(column).removeprefix("Column ") for column in facts.columns[:5]),
        columns=Parameter("columns"),
    )
    raise InputError(message, table=facts)
