"""What each column of a table is: a quantity, a category, an identifier, a name, a date, or nothing to analyze.

The rules look at values, at how many of them differ, and at names; never at the order of rows or columns. What a rule
decides comes with its reason, and ``roles`` overrides it. The first rule that holds decides:

- Nothing in any row is empty, one value alone constant, lists and the like are text.
- Text is a code where digits have leading zeros; numbers where nine cells in ten are, in one format; dates where nine
  in ten are, in one way to write them. Text with few levels is a category. Sentences are text; UUIDs, phone numbers and
  codes of one pattern identifiers; text that nearly always differs names the rows.
- Numbers are a date where they spell days (20010601), seconds since 1970 under a name of time, or a time axis: years or
  equal steps of which every row has its own. Under the name of a group, few whole numbers are a category; under that of
  a code, a category or, where nearly all differ, an identifier; under that of an identifier, one, even if they repeat.
  Whole numbers beyond 2**53, and those from 0 or 1 that number the rows, are identifiers. The rest are quantities:
  ranks, grades and counts too, and true and false as 1 and 0.
- Columns of zeros and ones of which every row has a one in exactly one are a category together.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from gramian.arrays.namespace import HostArray
from gramian.errors import InputError, Parameter, ParameterError, Sentence
from gramian.sources import column_names as named
from gramian.sources.arrow import from_numpy, from_words, is_text, texts, to_numpy, truths
from gramian.sources.conversion import LARGEST_EXACT
from gramian.sources.dates import is_time_axis, is_year_axis, number_dates, says_year, written_dates
from gramian.sources.missing_values import MISSING, sentinels, words_among_numbers
from gramian.sources.relations import DummyBlock, dummy_blocks, relations
from gramian.sources.written_numbers import (
    NumberFormat,
    decimal_sign,
    drawn,
    is_ambiguous,
    normalized,
    number_format,
)

ROLES = ("quantity", "category", "id", "name", "date", "constant", "text", "empty")
"""What a column can be."""

MOST_LEVELS = 50
"""Levels of a category that are listed; text with more of them is a category where each has three rows on average."""

NEARLY_ALL = 0.9
"""Share of the cells that a rule holds for where it holds for nearly all.

Notes and typing errors among numbers are rarer than one cell in ten; above that the cells are of another kind.
"""

MOST_RELATED = 1_000
"""Quantities of a table up to which equal ones and sums are looked for: of thousands of genes nobody reads them."""

TOO_LONG = "its integers are beyond 2**53, so they are names and not amounts"

FIRST_BAD = 5
"""Cells that are no numbers of which the place is told."""


@dataclass(frozen=True)
class Reading:
    """How the cells of a column become numbers where plain casting does not do it. A value: it can be pickled.

    Attributes
    ----------
    format : NumberFormat or None
        How text is written.
    missing : tuple of float
        Numbers that stand for a missing value.
    file_decimal : str or None
        The decimal sign of all text of the file, where that is known.

    Examples
    --------
    >>> import pyarrow as pa
    >>> Reading(missing=(-999.0,)).numbers(pa.array([1, -999, None, 4]))
    array([ 1., nan, nan,  4.])
    """

    format: NumberFormat | None = None
    missing: tuple[float, ...] = ()
    file_decimal: str | None = None

    def numbers(self, column: Any) -> HostArray:
        """Return an Arrow column as float64; missing and bad cells, infinities and sentinels are NaN."""
        import pyarrow as pa

        if isinstance(column, pa.ChunkedArray):
            parts = [self.numbers(chunk) for chunk in column.chunks]
            return np.concatenate(parts) if parts else np.empty(0)
        if self.format is None and not is_text(column.type):
            values = _floats(column)
        else:
            coded = column if pa.types.is_dictionary(column.type) else texts(column).dictionary_encode()
            levels = (self.format or NumberFormat()).numbers(texts(coded.dictionary))
            at = to_numpy(coded.indices)
            known = at >= 0
            values = np.full(len(at), np.nan)
            values[known] = levels[at[known].astype(np.intp)]
        bad = ~np.isfinite(values)
        if self.missing:
            bad |= np.isin(values, self.missing)
        return np.where(bad, np.nan, values) if bad.any() else values


@dataclass(frozen=True)
class Column:
    """What one column is, and why.

    Attributes
    ----------
    name : str
    kind : str
        How it is stored: number, integer, boolean, text, date, nested or empty. Text that spells numbers is number or
        integer.
    role : str
        One of ``ROLES``.
    reason : str
        Why, in words that follow "Column 'zip' is a category: ".
    n_missing : int
        Cells without a value: empty ones, bad ones, and those with a number that stands for a missing one.
    low, high : float or None
        Of numbers, without those.
    levels : tuple of (str, int)
        Of a category: level and count, most common first, at most 50.
    reading : Reading or None
        How its cells become numbers where plain casting does not do it.
    remarks : tuple of str
        Sentences a person should read.
    bad_cells : tuple of (int, str)
        The first 5 cells that are no numbers in a column of numbers: row, counted from 0, and text.
    n_bad : int
        How many there are.
    unit : str
        What its name gives as its unit, as in "Height (cm)".
    is_distinct : bool
        Of a name, an id or a date: whether each row has its own.
    is_index : bool
        Whether the file calls it the index of a data frame.
    use : str
        What is done with it: "used" as numbers, "label", "id" (it names the rows) or "left_out"; see
        :func:`~gramian.sources.table_facts.choose_columns`.
    """

    name: str
    kind: str
    role: str
    reason: str
    n_missing: int = 0
    low: float | None = None
    high: float | None = None
    levels: tuple[tuple[str, int], ...] = ()
    reading: Reading | None = None
    remarks: tuple[str, ...] = ()
    bad_cells: tuple[tuple[int, str], ...] = ()
    n_bad: int = 0
    unit: str = ""
    is_distinct: bool = False
    is_index: bool = False
    use: str = "left_out"

    def numbers(self, data: Any) -> HostArray:
        """Return the cells, an Arrow column, as float64: read as its role says.

        Examples
        --------
        >>> import pyarrow as pa
        >>> data = pa.array(["12 %", "15 %", "9 %"])
        >>> table_roles({"share": data}).columns[0].numbers(data)
        array([12., 15.,  9.])
        """
        return (self.reading or Reading()).numbers(data)


@dataclass(frozen=True)
class TableRoles:
    """What the columns of a table are, sentences about several of them together, and those that are one category."""

    columns: tuple[Column, ...]
    remarks: tuple[str, ...] = ()
    blocks: tuple[DummyBlock, ...] = ()


def table_roles(
    columns: Mapping[str, Any],
    *,
    roles: Mapping[str, str] = MappingProxyType({}),
    index: Collection[str] = (),
    decimal: str | None = None,
    doubtful: Mapping[str, str] | None = None,
) -> TableRoles:
    """Decide what each column of a table is.

    Parameters
    ----------
    columns : mapping of str to Arrow array or chunked array
        All of one length.
    roles : mapping of str to str
        Roles that are given and not decided, by the name of the column.
    index : collection of str
        Columns that the file calls the index of a data frame: they name rows at most.
    decimal : str, optional
        The decimal sign of numbers that are written as text, where it is known.
    doubtful : mapping of str to str, optional
        Columns of numbers in whose text each point may stand between thousands (10.363), and a cell of each, empty
        where none is known; left out where no one can say what the decimal sign is.

    Returns
    -------
    TableRoles
        The columns in the order given.

    Raises
    ------
    ParameterError
        ``roles`` names no column, or no role.
    InputError
        A column cannot have the role that is asked for.

    Cost: one or two passes over each column of numbers; text is examined once for each different cell.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = {
    ...     "patient_id": pa.array([7, 3, 9, 4]),
    ...     "Zip": pa.array(["01234", "01234", "90210", "90210"]),
    ...     "paid": pa.array(["$1,200", "-$11.87", "$5", "$40"]),
    ...     "seen": pa.array([20010601, 20010615, 20011224, 20011225]),
    ... }
    >>> for column in table_roles(table).columns:
    ...     print(column.name, column.role, column.low)
    patient_id id 3.0
    Zip category None
    paid quantity -11.87
    seen date 20010601.0
    """
    _check_roles(roles, columns)
    found = {name: _column(name, data, is_index=name in index, decimal=decimal) for name, data in columns.items()}
    for name, role in roles.items():
        found[name] = _given(found[name], columns[name], role, decimal=decimal)
    if decimal is None:
        found |= _with_doubtful_points(found, columns, doubtful)
    remarks, blocks = [], _dummies(found, columns, roles)
    for block in blocks:
        names = ", ".join(map(repr, block[:MOST_LEVELS]))
        remarks.append(f"Columns {names} are one category spelled out: every row has a one in exactly one of them.")
        others = f"one of {len(block)} columns of zeros and ones that together are one category"
        for name in block:
            found[name] = replace(found[name], role="category", reason=others)
    remarks += [*_relations(found, columns), *_equal_categories(found, columns)]
    told = (
        replace(column, is_distinct=_is_distinct(column, columns[name]), is_index=name in index)
        for name, column in found.items()
    )
    return TableRoles(tuple(told), tuple(remarks), tuple(DummyBlock.of(block, taken=columns) for block in blocks))


def _is_distinct(column: Column, data: Any) -> bool:
    import pyarrow.compute as pc

    # An index without a name of its own says where a row stood in some other frame.
    if column.role not in ("name", "id", "date") or data.null_count or column.name.startswith("__index_level_"):
        return False
    if is_text(data.type):  # its different cells were counted
        return column.is_distinct
    return bool(pc.count_distinct(data).as_py() == len(data))


def kind_of(kind: Any) -> str:
    """Return what an Arrow type holds: number, integer, boolean, text, date, nested or empty."""
    from pyarrow import types

    if types.is_dictionary(kind):
        return "text" if not types.is_integer(kind.value_type) else "nested"
    for found, tests in {
        "integer": (types.is_integer,),
        "number": (types.is_floating, types.is_decimal),
        "boolean": (types.is_boolean,),
        "text": (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary),
        "date": (types.is_temporal,),
        "empty": (types.is_null,),
    }.items():
        if any(test(kind) for test in tests):
            return found
    return "text" if "string" in str(kind) or "binary" in str(kind) else "nested"


# What a column holds, in any order.


@dataclass(frozen=True, eq=False)
class _Numbers:
    """The finite numbers of a column, in any order and without sentinels, and how many cells have none."""

    values: HostArray
    n_rows: int

    @cached_property
    def low(self) -> float:
        return float(self.values.min())

    @cached_property
    def high(self) -> float:
        return float(self.values.max())

    @cached_property
    def is_whole(self) -> bool:
        return bool((self.values == np.floor(self.values)).all())

    @cached_property
    def levels(self) -> tuple[HostArray, HostArray]:
        return np.unique(self.values, return_counts=True)

    @property
    def n(self) -> int:
        return len(self.values)

    @property
    def n_distinct(self) -> int:
        return len(self.levels[0])

    @property
    def differ(self) -> bool:
        """Whether nearly all values differ."""
        return self.n > 1 and self.n_distinct >= NEARLY_ALL * self.n

    @property
    def are_few(self) -> bool:
        """Whether there are so few different values that they can be groups."""
        if self.n_distinct > 20:
            return self.n_distinct <= MOST_LEVELS and 5 * self.n_distinct <= self.n
        return self.n_distinct <= max(2, self.n // 2)

    @property
    def number_rows(self) -> bool:
        """Whether they are 0 to n - 1 or 1 to n, each once."""
        counts = self.n == self.n_rows and self.low in (0, 1) and self.high - self.low == self.n - 1
        return counts and self.is_whole and self.n_distinct == self.n


@dataclass(frozen=True, eq=False)
class _Text:
    """The different cells of a text column without blanks around them, and how often each occurs.

    Words for missing values are no cells: ``word`` is one of those that were there, ``n_words`` how many there were.
    """

    cells: Any
    counts: HostArray
    n_rows: int
    decimal: str | None = None
    word: str = ""
    n_words: int = 0

    @property
    def n(self) -> int:
        return int(self.counts.sum())

    @property
    def n_distinct(self) -> int:
        return len(self.cells)

    @property
    def differ(self) -> bool:
        return self.n > 1 and self.n_distinct >= NEARLY_ALL * self.n

    @property
    def are_distinct(self) -> bool:
        """Whether each row has its own."""
        return self.n_distinct == self.n == self.n_rows

    @property
    def are_few(self) -> bool:
        """Whether the different cells are so few that they are groups."""
        if self.n_distinct <= MOST_LEVELS:
            return self.n_distinct <= max(2, self.n // 2) and self.n_distinct < self.n
        return 3 * self.n_distinct <= self.n

    def without(self, words: Collection[str]) -> "_Text":
        """Return the text without some words for missing values."""
        import pyarrow.compute as pc

        nothing = pc.is_in(self.cells, value_set=from_words(words))
        if not pc.any(nothing).as_py():
            return self
        gone, counts = truths(nothing), self.counts
        return replace(
            self,
            cells=self.cells.filter(pc.invert(nothing)),
            counts=counts[~gone],
            word=self.word or pc.min(self.cells.filter(nothing)).as_py(),
            n_words=self.n_words + int(counts[gone].sum()),
        )

    def remarked(self, found: Column) -> Column:
        """Return a column, with a sentence about the words for missing values that it holds."""
        if not self.n_words:
            return found
        n, name = self.n_words, found.name
        cells = f"1 cell of {name!r} holds" if n == 1 else f"{n:,} cells of {name!r} hold"
        return replace(found, remarks=(*found.remarks, f"{cells} a word for a missing value, such as {self.word!r}."))

    @cached_property
    def words_per_cell(self) -> float:
        import pyarrow.compute as pc

        return 1 + float(pc.mean(pc.count_substring(self.cells, " ")).as_py() or 0.0)

    @cached_property
    def few(self) -> Any:
        """Some of the different cells, drawn at random; all where they are few."""
        return drawn(self.cells, np.ones(self.n_distinct, dtype=np.int64))

    def share(self, pattern: str) -> float:
        """Return the share of the different cells that a pattern matches: of a sample, if that is all or under half."""
        found = float(_matching(self.few, pattern).mean())
        if found < 0.5 or found == 1 or len(self.few) == self.n_distinct:
            return found
        return float(_matching(self.cells, pattern).mean())

    def levels(self) -> tuple[tuple[str, int], ...]:
        import pyarrow as pa
        import pyarrow.compute as pc

        table = pa.table({"cell": self.cells, "count": from_numpy(self.counts)})
        order = pc.select_k_unstable(
            table, k=min(MOST_LEVELS, len(table)), sort_keys=[("count", "descending"), ("cell", "ascending")]
        )
        top = table.take(order)
        return tuple(zip(top["cell"].to_pylist(), top["count"].to_pylist(), strict=True))


def _floats(column: Any) -> HostArray:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    # An integer above 2**53 is rounded here: it is an identifier, unless someone asks for it as a quantity.
    if column.type != pa.float64():
        column = pc.cast(column, pa.float64(), safe=False)
    return to_numpy(column)


def _text_of(data: Any, n_rows: int, decimal: str | None = None) -> _Text:
    import pyarrow as pa
    import pyarrow.compute as pc

    occur = pc.value_counts(texts(data).drop_null())
    cells, counts = occur.field("values"), occur.field("counts")
    trimmed = normalized(cells)
    if len(cells) and pc.any(pc.not_equal(trimmed, cells)).as_py():
        merged = pa.table({"cell": trimmed, "count": counts}).group_by("cell").aggregate([("count", "sum")])
        trimmed, counts = merged["cell"].combine_chunks(), merged["count_sum"].combine_chunks()
    # What programs write for a missing value is none in any table; a cell of blanks needs no sentence.
    found = _Text(trimmed, to_numpy(counts), n_rows, decimal).without(("",))
    return replace(found, word="", n_words=0).without(MISSING)


# The rules.


def _column(name: str, data: Any, *, is_index: bool, decimal: str | None) -> Column:
    import pyarrow as pa

    is_category = pa.types.is_dictionary(data.type)
    if is_category:
        data = data.cast(data.type.value_type)
    kind = "nested" if pa.types.is_nested(data.type) or pa.types.is_interval(data.type) else kind_of(data.type)
    if kind == "nested":
        why = "it holds nested values, such as lists or spans of time"
        return Column(name, kind, "text", why)
    if kind == "empty" or data.null_count == len(data):
        return Column(name, "empty", "empty", "it has no value in any row", n_missing=len(data))
    if kind == "date":
        found = _temporal(name, data)
    elif kind == "text":
        found = _text(name, data, is_category=is_category, decimal=decimal)
    else:
        found = _numbers(name, kind, data, is_category=is_category)
    return _index(found, data) if is_index and found.role not in ("constant", "empty") else found


def _index(found: Column, data: Any) -> Column:
    """Return what the index of a data frame is: the names of rows where it is text, and else no variable."""
    import pyarrow.compute as pc

    why = "it is the index of the data frame that was written"
    if found.role == "date":
        return found
    if found.kind == "text":
        return replace(found, role="name", reason=why, levels=())
    differ = found.n_missing == 0 and pc.count_distinct(data).as_py() == len(data)
    more = ", and every row has its own" if differ and not named.is_unnamed(found.name) else ", and no variable"
    return replace(found, role="id", reason=f"{why}{more}", levels=(), remarks=())


def _temporal(name: str, data: Any) -> Column:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_duration(data.type):
        return Column(name, "date", "date", "it holds lengths of time", n_missing=data.null_count)
    limits = pc.min_max(data)
    low, high = (limits[end].cast("string").as_py() for end in ("min", "max"))
    if low == high:
        return Column(name, "date", "constant", f"every value is {low}", n_missing=data.null_count)
    return Column(name, "date", "date", f"it holds dates or times, from {low} to {high}", n_missing=data.null_count)


def _numbers(name: str, kind: str, data: Any, *, is_category: bool) -> Column:
    import pyarrow as pa
    import pyarrow.compute as pc

    n_rows = len(data)
    if kind == "integer" or (pa.types.is_decimal(data.type) and data.type.scale == 0):
        limits = pc.min_max(data).as_py()
        if max(abs(limits["min"]), abs(limits["max"])) > LARGEST_EXACT:
            return Column(name, kind, "id", TOO_LONG, data.null_count, float(limits["min"]), float(limits["max"]))
    values = _floats(data)
    bad = np.flatnonzero(np.isinf(values)) if kind == "number" else np.empty(0, dtype=int)
    finite = values
    if kind == "number" or data.null_count:
        keep = np.isfinite(values)
        finite = values if keep.all() else values[keep]
    if not len(finite):
        return Column(name, "empty", "empty", "it has no number in any row", n_missing=n_rows)
    first = tuple((int(row), f"{values[row]:g}") for row in bad[:FIRST_BAD])
    found = _of_numbers(name, kind, finite, n_rows, style=None, is_category=is_category)
    return _with_bad(found, first, len(bad))


def _of_numbers(
    name: str, kind: str, finite: HostArray, n_rows: int, *, style: NumberFormat | None, is_category: bool = False
) -> Column:
    """Return what a column of numbers is."""
    missing = {} if kind == "boolean" else sentinels(finite)
    rest = finite[~np.isin(finite, tuple(missing))] if missing else finite
    numbers = _Numbers(rest, n_rows)
    role, reason = _number_role(name, kind, numbers, is_category=is_category)
    reading = Reading(style, tuple(missing)) if style is not None or missing else None
    remarks = []
    for value, count in missing.items() if role != "id" else ():
        told = f"{count:,} cell{'' if count == 1 else 's'} of {name!r} hold{'s' if count == 1 else ''} {value:g}"
        remarks.append(f"{told}, far from the rest ({numbers.low:g} to {numbers.high:g}): taken as missing.")
    levels = _number_levels(*numbers.levels) if role == "category" else ()
    unit = named.unit_in(name) if role == "quantity" else None
    n_missing = n_rows - numbers.n
    return Column(
        name,
        kind,
        role,
        reason,
        n_missing,
        numbers.low,
        numbers.high,
        levels,
        reading,
        remarks=tuple(remarks),
        unit=unit or "",
    )


def _number_role(name: str, kind: str, numbers: _Numbers, *, is_category: bool) -> tuple[str, str]:
    if numbers.low == numbers.high:
        only = ("false", "true")[int(numbers.low)] if kind == "boolean" else f"{numbers.low + 0.0:.15g}"
        return "constant", f"every value is {only}"
    if is_category:
        return "category", "it was written as a category"
    if kind == "boolean":
        return "quantity", "true or false, as 1 and 0"
    if is_time_axis(numbers.values, name):
        return "date", "it counts time: every row has its own value, at equal steps"
    if not numbers.is_whole:
        stamps = number_dates(numbers.values, name)
        return ("date", f"it holds {stamps}") if stamps and "since" in stamps else ("quantity", "numbers")
    return _whole_role(name, numbers)


def _whole_role(name: str, numbers: _Numbers) -> tuple[str, str]:
    """Return what a column of whole numbers is."""
    words = named.words_of(name)
    last = named.last_word(words)
    dates = number_dates(numbers.values, name)
    if dates is not None:
        return "date", f"it holds {dates}"
    if says_year(numbers.values, name):
        if is_year_axis(numbers.values, name):
            return "date", "it holds years, and every row has its own: an axis of time, not a measurement"
        return "quantity", "years, as numbers"
    if named.says_group(name) and numbers.are_few:
        return "category", f"its name is that of a group, and {numbers.n_distinct} whole numbers stand for the groups"
    if named.says_code(name):
        return _code("its name is that of a code", differ=numbers.differ, n_distinct=numbers.n_distinct)
    if named.says_id(name):
        return "id", "its name is that of an identifier, and its values are whole numbers"
    if last in named.CONTACTS and numbers.low >= 1000 and (numbers.differ or numbers.low >= 10**6):
        return "id", "its name and its long whole numbers are those of an identifier"
    if len(words) == 1 and last in named.ENTITIES and numbers.n_distinct > 2:
        return "id", f"it tells apart what its name says by whole numbers, {numbers.n_distinct:,} different ones"
    if named.may_say_id(name) and numbers.n == numbers.n_distinct:
        return "id", "its name and its values, all different, are those of an identifier"
    if named.is_unnamed(name) and numbers.number_rows:
        return "id", f"it has no name and numbers the rows, from {numbers.low:g} to {numbers.high:g}"
    orders = last in named.ORDER_WORDS or last in named.TIME_WORDS
    if not orders and numbers.n >= 10 and numbers.number_rows:
        return "id", f"it numbers the rows, from {numbers.low:g} to {numbers.high:g}, each once"
    return "quantity", "zeros and ones" if (numbers.low, numbers.high) == (0, 1) else "whole numbers"


def _code(why: str, *, differ: bool, n_distinct: int) -> tuple[str, str]:
    if differ:
        return "id", f"{why}, and nearly every row has its own"
    return "category", f"{why}, whose sums and means say nothing; it has {n_distinct:,} different values"


def _text(name: str, data: Any, *, is_category: bool, decimal: str | None) -> Column:
    text = _text_of(data, len(data), decimal)
    if not text.n:
        return Column(name, "empty", "empty", "its cells are blank", n_missing=len(data))
    if not is_category:
        known = text.without(words_among_numbers())
        found = _spelled_codes(name, text) or _spelled_numbers(name, known, data) or _spelled_dates(name, known, data)
        if found is not None:
            return replace(known.remarked(found), is_distinct=text.are_distinct)
    role, reason = _text_role(name, text, is_category=is_category)
    levels = text.levels() if role == "category" else ()
    found = Column(name, "text", role, reason, n_missing=len(data) - text.n, levels=levels)
    return replace(text.remarked(found), is_distinct=text.are_distinct)


def _spelled_codes(name: str, text: _Text) -> Column | None:
    """Return digits with leading zeros as a code, unless they are clearly amounts."""
    if text.n_distinct < 2 or text.share(r"^\d+$") < NEARLY_ALL:
        return None
    zeros = float(_matching(text.cells, r"^0\d+$").mean())
    if not zeros:
        return None
    words = named.words_of(name)
    if named.last_word(words) in named.TIME_WORDS and text.share(r"^\d{1,2}$") == 1:
        return None
    import pyarrow.compute as pc

    lengths = to_numpy(pc.value_counts(pc.utf8_length(text.cells)).field("counts"))
    says = named.says_code(name) or named.says_id(name) or named.last_word(words) in named.CONTACTS
    if zeros < 1 - NEARLY_ALL and lengths.max() < NEARLY_ALL * text.n_distinct and not says:
        return None
    role, reason = _code("its leading zeros are those of a code", differ=text.differ, n_distinct=text.n_distinct)
    if named.says_id(name) or named.last_word(words) in named.CONTACTS:
        role, reason = "id", "its name and its leading zeros are those of an identifier"
    levels = text.levels() if role == "category" else ()
    return Column(name, "text", role, reason, n_missing=text.n_rows - text.n, levels=levels)


def _spelled_numbers(name: str, text: _Text, data: Any, *, asked: bool = False) -> Column | None:
    """Return text as a column of numbers where nearly all cells are numbers in one format, or most where asked for."""
    import pyarrow.compute as pc

    if not text.n or (not asked and not _has_numbers(text)):
        return None
    style = number_format(text.cells, text.counts, decimal=text.decimal)
    fits = style.fits(text.cells)
    good = int(text.counts[fits].sum())
    n_bad = text.n - good
    if not good or not (n_bad < good if asked else _are_few_bad(n_bad, good)):
        return None
    bare = fits & ~style.has_unit(text.cells)
    n_bare = int(text.counts[bare].sum()) if style.unit else 0
    if not asked and not _are_few_bad(n_bare, good - n_bare):
        return None
    values = style.numbers(text.cells.filter(from_numpy(fits)))
    if not asked and np.abs(values).max() >= LARGEST_EXACT and text.share(r"^[+-]?\d{16,}$") > 0.5:
        n_missing, low, high = text.n_rows - good, float(values.min()), float(values.max())
        return Column(name, "integer", "id", TOO_LONG, n_missing, low, high)
    whole = bool((values == np.floor(values)).all())
    finite = np.repeat(values, text.counts[fits])
    found = _of_numbers(name, "integer" if whole else "number", finite, text.n_rows, style=style)
    if found.reading is not None:
        found = replace(found, reading=replace(found.reading, file_decimal=text.decimal))
    if found.role == "quantity" and style.words():
        found = replace(found, remarks=(_how_written(name, style, text.cells), *found.remarks))
    if n_bare:
        cells = f"1 cell of {name!r} has" if n_bare == 1 else f"{n_bare:,} cells of {name!r} have"
        said = f"{cells} no {style.unit!r}, such as {pc.min(text.cells.filter(from_numpy(bare))).as_py()!r}"
        found = replace(found, remarks=(*found.remarks, f"{said}: taken in the same unit."))
    return _with_bad(found, _first_cells(data, text.cells.filter(from_numpy(~fits))) if n_bad else (), n_bad)


def _has_numbers(text: _Text) -> bool:
    """Tell whether at least half of the cells, or of a sample of many, may be numbers in one format."""
    few = drawn(text.cells, text.counts)
    counts = text.counts if len(few) == text.n_distinct else np.ones(len(few), dtype=np.int64)
    if 2 * counts[_matching(few, r"\d")].sum() < counts.sum():
        return False
    return bool(2 * counts[number_format(few, counts, decimal=text.decimal).fits(few)].sum() >= counts.sum())


def _are_few_bad(n_bad: int, n_good: int) -> bool:
    """Tell whether cells that are no numbers are exceptions: one of four or more, or one in ten."""
    return not n_bad or (n_good >= 3 and (n_bad == 1 or 10 * n_bad <= n_bad + n_good))


def _how_written(name: str, style: NumberFormat, cells: Any) -> str:
    import pyarrow.compute as pc

    said = f"The numbers of {name!r} are written {style.words()}"
    if not is_ambiguous(style, cells):
        return f"{said}."
    example = pc.min(cells.filter(pc.match_substring(cells, style.thousands))).as_py()
    if style.thousands == ",":
        return f"{said}: {example!r} could also have a decimal comma, and thousands are taken."
    return Sentence(
        "{said}: {example!r} could also have a decimal point, and thousands are taken, because commas are the decimal "
        "sign of the file ({decimal} says otherwise).",
        said=said,
        example=example,
        decimal=Parameter("decimal", (".",)),
    )


def _with_doubtful_points(
    found: Mapping[str, Column], columns: Mapping[str, Any], doubtful: Mapping[str, str] | None
) -> dict[str, Column]:
    """Return columns like 10.363, read as decimals, with a sentence where the commas of another may be decimal ones."""
    styles = {
        name: column.reading.format
        for name, column in found.items()
        if column.reading is not None and column.reading.format is not None
    }
    others, why = [name for name, style in styles.items() if style.decimal == ","], "has decimal commas"
    if not others:
        thousands = [name for name, style in styles.items() if style.thousands == ","]
        others = [name for name in thousands if is_ambiguous(styles[name], _text_of(columns[name], 0).cells)]
        why = "may have decimal commas"
    if not others:
        return {}
    said = "{example!r} in {name!r} could also be thousands, because {other!r} {why}: a decimal point is taken"
    said += "." if doubtful is None else " ({decimal} says otherwise)."
    told = {}
    for name, column in found.items():
        if column.role != "quantity" or (styles.get(name) or NumberFormat()).decimal != ".":
            continue
        if name in styles:
            example = _like_thousands(columns[name])
        else:
            example = (doubtful or {}).get(name)
            example = example if example is None else _read_from_thousands(column.numbers(columns[name]), example)
        if example is None:
            continue
        facts = {"example": example, "name": name, "other": others[0], "why": why}
        remark = Sentence(said, decimal=Parameter("decimal", (",",)), **facts)
        told[name] = replace(column, remarks=(*column.remarks, remark))
    return told


def _like_thousands(data: Any) -> str | None:
    """Return a cell of text like 10.363 where each point in its numbers may stand between thousands."""
    example = None
    for cell in _text_of(data, 0).cells.to_pylist():
        sign = decimal_sign(cell)
        if sign and sign != ".?":
            return None
        example = example or (cell if sign else None)
    return example


def _read_from_thousands(values: HostArray, example: str) -> str | None:
    """Return an example of numbers that may have been written like 10.363 and 300, none as 0.5 or 1.2345.

    Where none is known it is one with three digits behind the point.
    """
    size = np.abs(values[np.isfinite(values)])
    decimals = size[size != np.floor(size)]
    if not len(decimals) or size.max() >= 1000.0 or decimals.min() < 1.0:
        return None
    if not np.allclose(1000.0 * decimals, np.round(1000.0 * decimals), rtol=1e-12):
        return None
    three = decimals[~np.isclose(100.0 * decimals, np.round(100.0 * decimals), rtol=1e-12)]
    return example or (f"{three[0]:.3f}" if len(three) else None)


def _matching(cells: Any, pattern: str) -> HostArray:
    import pyarrow.compute as pc

    return truths(pc.match_substring_regex(cells, pattern))


def _first_cells(data: Any, bad: Any) -> tuple[tuple[int, str], ...]:
    """Return row and text of the first cells of a text column that are among the bad ones."""
    import pyarrow.compute as pc

    cells = normalized(texts(data))
    rows = pc.indices_nonzero(pc.is_in(cells, bad)).slice(0, FIRST_BAD).to_pylist()
    return tuple((row, cells[row].as_py()) for row in rows)


def _is_censored(cell: str) -> bool:
    """Tell whether a cell says that a number is smaller or larger than one, as laboratories do: '<0.5'."""
    return re.match(r"[<>≤≥]=?\s*[\d.,]+", cell) is not None


def _with_bad(found: Column, first: tuple[tuple[int, str], ...], n_bad: int, what: str = "number") -> Column:
    if not n_bad:
        return found
    places = ", ".join(f"row {row + 1:,} ({text[:40]!r})" for row, text in first)
    more = f" and {n_bad - len(first):,} more" if n_bad > len(first) else ""
    cells = (
        f"1 cell of {found.name!r} is no {what}" if n_bad == 1 else f"{n_bad:,} cells of {found.name!r} are no {what}s"
    )
    if what == "number" and all(_is_censored(text) for _, text in first):
        verb = "cell of {!r} lies" if n_bad == 1 else "cells of {!r} lie"
        cells = f"{n_bad:,} {verb.format(found.name)} beyond a limit of what was measured"
    said = f"{cells}, taken as missing: {places}{more}."
    reading = (found.reading or Reading()) if what == "number" else found.reading
    return replace(found, reading=reading, bad_cells=first, n_bad=n_bad, remarks=(*found.remarks, said))


def _spelled_dates(name: str, text: _Text, data: Any) -> Column | None:

    found = written_dates(text.cells, text.counts) if text.n_distinct > 1 else None
    if found is None:
        return None
    good = int(text.counts[found.fits].sum())
    n_bad = text.n - good
    if not _are_few_bad(n_bad, good):
        return None
    remarks = (f"Dates of {name!r}: {found.doubt}.",) if found.doubt else ()
    column = Column(name, "text", "date", f"it holds {found.words}", n_missing=text.n_rows - good, remarks=remarks)
    bad = _first_cells(data, text.cells.filter(from_numpy(~found.fits))) if n_bad else ()
    return _with_bad(column, bad, n_bad, "date")


def _text_role(name: str, text: _Text, *, is_category: bool) -> tuple[str, str]:
    """Return what text is that spells no numbers and no dates."""
    last = named.last_word(named.words_of(name))
    differ = f"{text.n_distinct:,} of {text.n:,} values differ"
    if text.n_distinct == 1:
        return "constant", f"every value is {text.cells[0].as_py()[:60]!r}"
    if is_category and text.n_distinct < text.n:
        return "category", f"it was written as a category with {text.n_distinct:,} levels"
    if last in named.COMMENT_WORDS and text.words_per_cell >= 3:
        return "text", "its name and its sentences are those of free text"
    says_group = named.says_group(name) and not text.differ and text.n_distinct <= MOST_LEVELS
    if text.are_few or says_group:
        if text.n_distinct > MOST_LEVELS and (numbers := _why_no_numbers(text)) is not None:
            return "text", numbers
        if text.words_per_cell >= 4 and 2 * text.n < text.n_rows:
            return "text", "few rows have a cell, and cells are sentences"
        if named.says_id(name) and text.n_distinct > MOST_LEVELS:
            return "id", f"its name is that of an identifier; {differ}"
        return "category", f"text with {text.n_distinct:,} different values"
    if named.says_id(name):
        return "id", f"its name is that of an identifier; {differ}"
    if text.words_per_cell >= 6:
        return "text", f"cells are sentences, {text.words_per_cell:.0f} words long on average"
    code = _why_code(text)
    numbers = _why_no_numbers(text) if code is None else None
    if numbers is not None:
        return "text", numbers
    if code is None and _has_pattern(text):
        code = "its cells are codes of one pattern"
    if code is not None:
        return "id", f"{code}; {differ}"
    if 2 * text.n < text.n_rows:
        return "text", f"most rows have no value, and {differ}"
    if text.differ:
        return "name", f"text that tells the rows apart: {differ}"
    if last in named.PEOPLE_WORDS:
        return "name", f"its name says so; {differ}"
    return "text", f"too many values to be groups and too few to name the rows: {differ}"


def _why_no_numbers(text: _Text) -> str | None:
    """Return what keeps text from being numbers where most cells are some: words among them, two in one, units."""
    import pyarrow.compute as pc

    if _has_numbers(text):
        style = number_format(text.cells, text.counts, decimal=text.decimal)
        fits = style.fits(text.cells)
        if not fits.all() and text.counts[fits].sum() > text.n / 2:
            odd = pc.min(text.cells.filter(from_numpy(~fits))).as_py()
            kind = "lies beyond a limit of what was measured" if _is_censored(odd) else "is none"
            return f"most cells are numbers, but more than one in ten {kind}, such as {odd[:40]!r}"
        if fits.all() and style.unit:
            some, others = (
                pc.min(text.cells.filter(from_numpy(has))).as_py()
                for has in (style.has_unit(text.cells), ~style.has_unit(text.cells))
            )
            return f"numbers with and without {style.unit!r}, such as {some!r} and {others!r}: write all in one unit"
    if text.share(r"^[+-]?[\d.]+ ?[/,;x] ?[+-]?[\d.]+$") >= NEARLY_ALL:
        return f"each cell holds two numbers, such as {pc.min(text.cells).as_py()!r}: write them in two columns"
    if text.share(r"^[(+$€£¥-]*\s*\d[\d,' ]*(?:\.\d+)?\D{0,12}$") < NEARLY_ALL:
        return None
    shapes = pc.replace_substring_regex(text.cells, r"\d[\d.,' ]*", "9 ")
    if pc.count_distinct(shapes).as_py() > max(3, text.n_distinct // 10):
        return None
    usual = " and ".join(repr(cell) for cell in (pc.min_max(text.cells).as_py().values()))
    return f"numbers in several units or ways of writing, from {usual}, which no one number can compare"


def _why_code(text: _Text) -> str | None:
    """Return why text is made of codes: UUIDs, phone numbers, hexadecimal digits."""
    for words, pattern in (
        ("its cells are UUIDs", r"^\{?[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\}?$"),
        (
            "its cells are phone numbers",
            (
                r"^(?:\+\d[\d ()./-]{6,}|\(\d{2,5}\)[ -]?\d[\d ./-]{3,}|0\d{1,4}[ /-]\d[\d ./-]{3,}|"
                r"(?:1-)?(?:\d{3}[-. ])?\d{3}[-. ]\d{4})$"
            ),
        ),
    ):
        if text.share(pattern) >= NEARLY_ALL:
            return words
    if text.share(r"^(?:0x)?[0-9a-fA-F]{8,}$") >= NEARLY_ALL and text.share(r"\d") > 0.5:
        return "its cells are hexadecimal digits"
    return None


def _has_pattern(text: _Text) -> bool:
    """Tell whether cells are signs without blanks that differ in their digits alone, such as INV-00012."""
    import pyarrow.compute as pc

    if text.share(r"^\S*\d\S*$") < NEARLY_ALL:
        return False

    def shapes_are_few(cells: Any) -> bool:
        shapes = pc.replace_substring_regex(cells, r"\d+", "9")
        return bool(pc.count_distinct(shapes).as_py() <= max(3, len(cells) // 10))

    # Shapes that are few in a sample are few in all: the sample would show one in ten that are of their own.
    return shapes_are_few(text.few) or (len(text.few) < text.n_distinct and shapes_are_few(text.cells))


# Roles that are given, and columns together.


def _check_roles(roles: Mapping[str, str], columns: Mapping[str, Any]) -> None:
    for name, role in roles.items():
        if name not in columns:
            near = get_close_matches(name, list(columns), n=1)
            hint = f"Did you mean {near[0]!r}?" if near else f"It has {', '.join(map(repr, list(columns)[:8]))}."
            message = Sentence("{roles} names {name!r}, which is no column of the table. {hint}", **_facts(name, hint))
            raise ParameterError(message, parameter="roles", value=name)
        if role not in ROLES:
            near = get_close_matches(role, ROLES, n=1, cutoff=0.7)
            hint = f"Did you mean {near[0]!r}?" if near else f"Roles are {', '.join(ROLES)}."
            message = Sentence(
                "{roles} asks for column {name!r} as {role!r}, which is no role. {hint}",
                role=role,
                **_facts(name, hint),
            )
            raise ParameterError(message, parameter="roles", value=role)


def _facts(name: str, hint: str) -> dict[str, Any]:
    return {"roles": Parameter("roles"), "name": name, "hint": hint}


def _given(found: Column, data: Any, role: str, *, decimal: str | None) -> Column:
    """Return a column in the role that is asked for, or say why it cannot have it."""
    import pyarrow as pa

    if pa.types.is_dictionary(data.type):
        data = data.cast(data.type.value_type)
    if role == found.role:
        return replace(found, reason="as asked")
    if role in ("empty", "constant"):
        raise _refusal(found, role, f"it is not {role}", "Leave its role to be found, or drop the column")
    if found.role == "empty":
        raise _refusal(found, role, "it has no values", "Drop the column")
    if found.kind == "nested":
        raise _refusal(found, role, "it holds nested values", "Write its parts as columns of their own")
    if role == "quantity":
        return _as_quantity(found, data, decimal)
    if role == "date":
        if found.kind not in ("number", "integer", "date"):
            told = f"it holds {found.kind} that is not written as dates are"
            raise _refusal(found, role, told, "Write dates as 2001-06-30")
        return replace(found, role=role, reason="as asked", levels=())
    levels, n_missing = _levels_of(data)
    return Column(
        found.name,
        found.kind,
        role,
        "as asked",
        n_missing,
        found.low,
        found.high,
        levels=levels if role == "category" else (),
        is_distinct=found.is_distinct,
    )


def _levels_of(data: Any) -> tuple[tuple[tuple[str, int], ...], int]:
    """Return the levels of any column that is not nested, and how many cells have none."""
    import pyarrow as pa

    if pa.types.is_floating(data.type):
        values = _floats(data)
        known = values[~np.isnan(values)]
        return _number_levels(*np.unique(known, return_counts=True)), len(values) - len(known)
    text = _text_of(data, len(data))
    return text.levels(), len(data) - text.n


def _number_levels(values: HostArray, counts: HostArray) -> tuple[tuple[str, int], ...]:
    if len(counts) > MOST_LEVELS:
        common = counts >= np.partition(counts, -MOST_LEVELS)[-MOST_LEVELS]
        values, counts = values[common], counts[common]
    pairs = [(f"{value:.15g}", int(count)) for value, count in zip(values, counts, strict=True)]
    return tuple(sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:MOST_LEVELS])


def _as_quantity(found: Column, data: Any, decimal: str | None) -> Column:

    kind = kind_of(data.type)
    if kind in ("number", "integer", "boolean"):
        return replace(found, role="quantity", reason="as asked", levels=())
    if kind == "date":
        raise _refusal(found, "quantity", "it holds dates", "Turn them into numbers first, such as days since a day")
    text = _text_of(data, len(data), decimal).without(words_among_numbers())
    column = _spelled_numbers(found.name, text, data, asked=True)
    if column is None:
        style = number_format(text.cells, text.counts, decimal=text.decimal)
        row, cell = _first_cells(data, text.cells.filter(from_numpy(~style.fits(text.cells))))[0]
        what = "dates" if found.role == "date" else "text"
        told = f"it holds {what}: row {row + 1:,} ({cell[:40]!r}) is the first cell that is no number"
        hint = "Turn it into numbers first, or ask for it as a category"
        raise _refusal(found, "quantity", told, hint, row=row, value=cell)
    return replace(column, role="quantity", reason="as asked", levels=())


def _refusal(
    found: Column, role: str, told: str, hint: str, *, row: int | None = None, value: str | None = None
) -> InputError:
    message = Sentence(
        "{roles} asks for column {name!r} as {role!r}, but {told}. {hint}.",
        role=role,
        told=told,
        **_facts(found.name, hint),
    )
    return InputError(message, row=row, column=found.name, value=value)


def _relations(found: Mapping[str, Column], columns: Mapping[str, Any]) -> tuple[str, ...]:
    """Return sentences about quantities that are equal or sums of each other; text is turned into numbers once."""
    names = [name for name, column in found.items() if column.role == "quantity"]
    if len(names) > MOST_RELATED:
        return ()
    spelled = {
        name: column.numbers(columns[name])
        for name, column in found.items()
        if name in names and len(names) > 1 and column.reading is not None and column.reading.format is not None
    }

    def read(name: str) -> HostArray:
        return spelled[name] if name in spelled else found[name].numbers(columns[name])

    single = any(str(columns[name].type) in ("float", "halffloat") for name in names)
    return relations(names, read, close=2e-6 if single else 1e-9)


def _equal_categories(found: Mapping[str, Column], columns: Mapping[str, Any]) -> list[str]:
    """Say which categories are equal in every row; only those with the same levels and counts are compared."""
    import pyarrow.compute as pc

    alike: dict[Any, list[str]] = {}
    for name in sorted(found):
        column = found[name]
        if column.role == "category" and column.levels:
            alike.setdefault((column.levels, column.n_missing), []).append(name)
    said = []
    for first, *others in alike.values():
        for other in others:
            a, b = (pc.fill_null(normalized(texts(columns[name])), "") for name in (first, other))
            if pc.all(pc.equal(a, b)).as_py():
                said.append(f"Columns {first!r} and {other!r} are equal: one of them says it all.")
    return said


def _dummies(
    found: Mapping[str, Column], columns: Mapping[str, Any], roles: Mapping[str, str]
) -> list[tuple[str, ...]]:
    """Return blocks of columns of zeros and ones that are one category."""
    ones: dict[str, HostArray] = {}
    for name, column in found.items():
        binary = column.role == "quantity" and (column.low, column.high) == (0, 1) and not column.n_missing
        if binary and name not in roles:
            values = column.numbers(columns[name])
            if column.kind == "boolean" or bool(((values == 0) | (values == 1)).all()):
                ones[name] = values == 1
    return dummy_blocks(ones)
