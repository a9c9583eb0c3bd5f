"""What the columns of a table file are: numbers, labels, names of rows, or what cannot be used; and which are taken."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

import numpy as np

from gramian.arrays.namespace import HostArray, is_sparse
from gramian.errors import InputError, Parameter, ParameterError, Sentence
from gramian.sources.conversion import LARGEST_EXACT
from gramian.sources.rows import Block, RowSource

NUMBERS = ("number", "integer", "boolean")
"""Kinds of column that can be used."""

WORDS = {"text": "text", "date": "dates", "nested": "nested values"}
"""What a column holds that cannot be used."""

TYPES = {":number": NUMBERS, ":float": ("number",), ":integer": ("integer",), ":boolean": ("boolean",)}
"""Words that choose columns by type."""

MOST_LABELS = 50
"""Different values that a text column has at most to be taken for a label."""

ID_NAME = re.compile(r"(^|[\s_.-])(id|key|uuid|guid|index|unnamed: ?\d+)$|^$", re.IGNORECASE)
"""Names of columns that tell rows apart."""

LABEL_NAME = re.compile(r"species|class|label|target|group|category|type|kind|cluster", re.IGNORECASE)
"""Names that a label is likelier to have than other text columns."""

PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
SIGNS = re.compile(r"[\s,'%$€£¥]")
"""A number as it is read, and the signs that people write around and inside one."""

NO_HEADER = "No header found: the first line is a row, and columns are counted from 1"

Wanted = str | Sequence[str] | None


class Column(NamedTuple):
    """One column of a table file.

    ``kind`` is number, integer, boolean, text, date, nested or empty; ``role`` is used, label, id or left_out;
    ``reason`` says why, in words. ``is_doubtful``: it holds numbers, or nearly, and was left out unasked.
    """

    name: str
    kind: str
    role: str
    reason: str
    is_doubtful: bool = False


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
    remarks : tuple of str
        What else a person should know of the files: folders that were not read.
    """

    origin: str
    n_rows: int
    columns: tuple[Column, ...]
    used: tuple[Column, ...]
    named: bool = True
    remarks: tuple[str, ...] = ()

    @property
    def left_out(self) -> tuple[Column, ...]:
        """Columns that are not used as numbers, the label and the names of rows among them."""
        return tuple(column for column in self.columns if column.role != "used")

    @property
    def label(self) -> str | None:
        """Name of the column kept for pictures."""
        return self._with_role("label")

    @property
    def id(self) -> str | None:
        """Name of the column that names the rows."""
        return self._with_role("id")

    def sentences(self) -> list[str]:
        """Say what was done with the columns, a line each for what was left out."""
        said = [
            f"{self.origin}: {self.n_rows:,} rows, {len(self.used)} of {len(self.columns)} columns used as numbers."
        ]
        if not self.named:
            said.append(f"{NO_HEADER}.")
        return [*said, *self.remarks] + [f"Column {column.name!r} is {column.reason}." for column in self.left_out]

    def doubts(self) -> list[str]:
        """Say what was left out that may have been meant: folders, and columns that hold numbers or nearly do."""
        return [
            *self.remarks,
            *(f"Column {column.name!r} is {column.reason}." for column in self.left_out if column.is_doubtful),
        ]

    def _with_role(self, role: str) -> str | None:
        return next((column.name for column in self.columns if column.role == role), None)


class Sampled(NamedTuple):
    """A column as a first look shows it: its name, its kind, and some of its first values (``None`` where missing).

    ``is_index`` tells that the file calls it the index of a data frame, and no variable.
    """

    name: str
    kind: str
    values: list[Any]
    is_index: bool = False


def choose_columns(
    sampled: Sequence[Sampled],
    *,
    origin: str,
    n_rows: int,
    columns: Wanted = None,
    drop: Wanted = None,
    label: str | bool | None = None,
    id: str | bool | None = None,  # noqa: A002 - what a person calls it
    named: bool = True,
) -> TableFacts:
    """Decide what each column is used for.

    Parameters
    ----------
    sampled : sequence of Sampled
    origin : str
    n_rows : int
    columns, drop : str or sequence of str, optional
        Names, globs or types (``":number"``, ``":float"``, ``":integer"``, ``":boolean"``).
    label, id : str, False or None
        A column's name; ``None`` to look for one; ``False`` for none.
    named : bool
        Whether the names are those of the file.

    Examples
    --------
    >>> table = [Sampled("who", "text", ["a", "b", "c"]), Sampled("age", "integer", [40, 41, 45])]
    >>> facts = choose_columns(table, origin="people.csv", n_rows=3)
    >>> [(column.name, column.role) for column in facts.columns]
    [('who', 'id'), ('age', 'used')]
    """
    names = [column.name for column in sampled]
    asked = None if columns is None else _matching(columns, sampled, origin, "columns")
    dropped = [] if drop is None else _matching(drop, sampled, origin, "drop")
    for word, parameter in ((label, "label"), (id, "id")):
        if isinstance(word, str) and word not in names:
            _refuse_name(word, names, origin, parameter)
    roles = {
        name: Column(name, column.kind, *_role(column, n_rows), is_doubtful=_is_doubtful(column))
        for name, column in zip(names, sampled, strict=True)
    }
    _name_roles(roles, sampled, label=label, id_=id)
    _take(roles, asked, dropped, named=(label, id), origin=origin)
    order = names if asked is None else asked
    used = tuple(roles[name] for name in order if roles[name].role == "used")
    if not used:
        _refuse_all(TableFacts(origin, n_rows, tuple(roles.values()), used, named))
    return TableFacts(origin, n_rows, tuple(roles.values()), used, named)


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


def _role(column: Sampled, n_rows: int) -> tuple[str, str]:
    """Return what a column is for when nothing is said about it, and why."""
    if column.is_index:
        return "left_out", "left out: it is the index of the data frame that was written, and no variable"
    if column.kind == "integer":
        why = _why_identifier(column, n_rows)
        return ("left_out", why) if why else ("used", "integers")
    if column.kind in NUMBERS:
        return "used", "numbers" if column.kind == "number" else "true or false, as 1 and 0"
    if column.kind == "empty":
        return "left_out", "left out: it is empty"
    return "left_out", f"left out: it holds {WORDS[column.kind]}{_nearly_numbers(column)}"


def _is_doubtful(column: Sampled) -> bool:
    return not column.is_index and (column.kind in NUMBERS or bool(_nearly_numbers(column)))


def _nearly_numbers(column: Sampled) -> str:
    """Return words about a text column whose cells are mostly numbers: what keeps it from being one."""
    filled = [value for value in column.values if isinstance(value, str) and value.strip()]
    if column.kind != "text" or sum(_spells_amount(cell) for cell in filled) <= len(filled) / 2:
        return ""
    odd = next((cell for cell in filled if not PLAIN.fullmatch(cell.strip())), None)
    return (
        ", which spells numbers" if odd is None else f", though most cells are numbers: {odd[:40]!r} is the first not"
    )


def _spells_amount(cell: str) -> bool:
    """Tell whether a cell is a number, perhaps with a sign of money, a percent sign or commas between thousands."""
    return PLAIN.fullmatch(SIGNS.sub("", cell)) is not None


def _why_identifier(column: Sampled, n_rows: int) -> str | None:
    values = [value for value in column.values if value is not None]
    if any(abs(value) > LARGEST_EXACT for value in values):
        return "left out: its integers are beyond 2**53, so they are names and not amounts"
    if len(values) < len(column.values) or len(values) < min(3, n_rows):
        return None
    counts = len(values) >= 5 and values[0] in (0, 1) and values == list(range(values[0], values[0] + len(values)))
    if counts:
        return "left out: it counts the rows"
    if ID_NAME.search(column.name) and len(set(values)) == len(values) > 1:
        return "left out: its name and its values, all different, are those of an identifier"
    return None


def _name_roles(
    roles: dict[str, Column], sampled: Sequence[Sampled], *, label: str | bool | None, id_: str | bool | None
) -> None:
    """Give one column the role of the label and one that of the row names."""
    if isinstance(label, str):
        roles[label] = roles[label]._replace(
            role="label", reason="kept as the label, and not used as a number", is_doubtful=False
        )
    if isinstance(id_, str):
        roles[id_] = roles[id_]._replace(
            role="id", reason="kept as the name of each row, and not used as a number", is_doubtful=False
        )
    free = [column for column in sampled if roles[column.name].role == "left_out"]
    if id_ is None:
        found = next((column for column in free if _names_rows(column, roles[column.name])), None)
        if found is not None:
            why = roles[found.name].reason.replace("left out", "kept as the name of each row")
            different = f"kept as the name of each row: text, all different{_nearly_numbers(found)}"
            roles[found.name] = roles[found.name]._replace(role="id", reason=different if found.kind == "text" else why)
    if label is None:
        likely = sorted(free, key=lambda column: LABEL_NAME.search(column.name) is None)
        found = next((column for column in likely if roles[column.name].role == "left_out" and _is_label(column)), None)
        if found is not None:
            count = len({value for value in found.values if value is not None})
            why = f"kept as the label (text, {count} different values in the first rows){_nearly_numbers(found)}"
            roles[found.name] = roles[found.name]._replace(role="label", reason=why)


def _names_rows(column: Sampled, found: Column) -> bool:
    if column.is_index and column.kind != "text":
        # An index without a name of its own says where a row stood in some other frame.
        return not column.name.startswith("__index_level_") and len(set(column.values)) == len(column.values) > 1
    if column.kind == "text":
        return len(column.values) > 1 and None not in column.values and len(set(column.values)) == len(column.values)
    return found.kind == "integer"


def _is_label(column: Sampled) -> bool:
    different = {value for value in column.values if value is not None}
    return column.kind == "text" and 2 <= len(different) <= min(MOST_LABELS, max(2, len(column.values) // 2))


def _take(
    roles: dict[str, Column],
    asked: list[str] | None,
    dropped: list[str],
    *,
    named: tuple[str | bool | None, str | bool | None],
    origin: str,
) -> None:
    for name, column in roles.items():
        if asked is not None and name in asked and name not in named:
            if column.kind not in NUMBERS:
                _refuse_kind(column, origin)
            roles[name] = column._replace(role="used", reason="asked for")
        elif column.role == "used" and asked is not None:
            roles[name] = column._replace(role="left_out", reason="left out: not among the columns asked for")
    for name in dropped:
        if roles[name].role == "used":
            roles[name] = roles[name]._replace(role="left_out", reason="left out, as asked")


def _matching(wanted: Wanted, sampled: Sequence[Sampled], origin: str, parameter: str) -> list[str]:
    """Return the names that words choose, each once, in the order of the words and then of the file."""
    words = [wanted] if isinstance(wanted, str) else list(wanted or ())
    names = [column.name for column in sampled]
    found: dict[str, None] = {}
    for word in words:
        if word in names:
            chosen = [word]
        elif word in TYPES:
            chosen = [column.name for column in sampled if column.kind in TYPES[word]]
        else:
            chosen = [name for name in names if fnmatchcase(name, word)]
        if not chosen:
            _refuse_name(word, names, origin, parameter)
        found.update(dict.fromkeys(chosen))
    return list(found)


def _refuse_name(word: str, names: list[str], origin: str, parameter: str) -> None:
    from difflib import get_close_matches

    near = get_close_matches(word, names, n=1)
    more = f" and {len(names) - 8:,} more" if len(names) > 8 else ""
    hint = f" Did you mean {near[0]!r}?" if near else f" It has {', '.join(map(repr, names[:8]))}{more}."
    message = Sentence(
        "{asked} matches no column of {origin}.{hint}", asked=Parameter(parameter, (word,)), origin=origin, hint=hint
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
        listed="; ".join(f"{column.name!r} is {column.reason}" for column in facts.columns[:5]),
        columns=Parameter("columns"),
    )
    raise InputError(message, table=facts)
