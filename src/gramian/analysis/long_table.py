"""Long tables, of which each line is a value of a pair (user, film, rating): read as one sparse table, by its pairs.

Rows and columns of the sparse table are the ids of the pairs, sorted. Nothing here makes it dense.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gramian.analysis.findings import counted, listed
from gramian.arrays.namespace import HostArray
from gramian.errors import InputError, Parameter, ParameterError, Sentence
from gramian.models.probabilistic.entries import triplets
from gramian.models.probabilistic.model import ProbabilisticPCAModel
from gramian.sources.arrow import from_numpy, to_numpy
from gramian.sources.file_options import Chosen
from gramian.sources.paths import WholeTable, open_whole
from gramian.sources.rows import ranges
from gramian.sources.table_facts import LongColumns, long_columns, refuse_name

REPEATED = 0.1
"""Share of the lines up to which pairs may repeat in what is taken for a long table without being called one."""


class Pairs(NamedTuple):
    """Pairs: positions of rows and columns, -1 for new ones, what they are called, predictions and their errors."""

    i: HostArray
    j: HostArray
    rows: Any
    columns: Any
    values: HostArray
    errors: HostArray

    def names(self, most: int | None = None) -> list[list[str]]:
        """Return what the first rows and columns are called in words: nothing where they have no id."""
        ids = (self.rows[:most], self.columns[:most])
        return [["" if name is None else str(name) for name in part.to_pylist()] for part in ids]


@dataclass(frozen=True, eq=False)
class LongTable:
    """A long table: which columns it has, what its rows and columns are called, and which lines lack a value.

    Attributes
    ----------
    X : scipy sparse array (n, d)
        The known values; of pairs with several lines their mean.
    names : LongColumns
    rows, columns : Arrow arrays (n,), (d,)
        Ids, sorted; positions in them are those of X.
    empty : numpy array of int
        Lines whose value is missing.
    i, j : numpy arrays
        Positions of the pairs of these lines.
    """

    X: Any
    names: LongColumns
    rows: Any
    columns: Any
    empty: HostArray
    i: HostArray
    j: HostArray

    def predicted(self, model: ProbabilisticPCAModel, i: HostArray, j: HostArray) -> Pairs:
        """Return what a model predicts at positions."""
        rows, columns = self.rows.take(from_numpy(i)), self.columns.take(from_numpy(j))
        return Pairs(i, j, rows, columns, *model.predict(i, j))

    def all_missing(self, model: ProbabilisticPCAModel) -> Iterator[Pairs]:
        """Give all pairs without a value, predicted, some rows at a time."""
        n, d = self.X.shape
        for part in ranges(n, max(1, 1_000_000 // d)):
            missing = np.ones((part.stop - part.start, d), dtype=bool)
            # By what is stored: a zero may be.
            missing[self.X[part].tocoo().coords] = False
            i, j = np.nonzero(missing)
            yield self.predicted(model, i + part.start, j)

    def asked(self, model: ProbabilisticPCAModel, path: str, *, budget: int | None) -> Pairs:
        """Return what a model predicts for a table of pairs, whose columns are called as those of this one."""
        whole = open_whole(path, Chosen(lenient=True), budget=budget)
        for name in (self.names.row, self.names.column):
            if whole is None or name not in whole.names:
                has = "columns without names" if whole is None else listed([repr(name) for name in whole.names])
                message = Sentence(
                    "{asked} has no column {name!r}: it has {has}. A table of pairs has columns {row!r} and "
                    "{column!r}.",
                    asked=Parameter("predict", (path,)),
                    name=name,
                    has=has,
                    row=self.names.row,
                    column=self.names.column,
                )
                raise InputError(message, column=name)
        rows, columns = (whole.column(name) for name in (self.names.row, self.names.column))  # type: ignore[union-attr]
        i, j = _places(rows, self.rows), _places(columns, self.columns)
        return Pairs(i, j, rows, columns, *model.predict(i, j))

    def notes_on(self, pairs: Pairs, *, bounded: bool) -> list[str]:
        """Say which pairs that were asked for are of nothing that is known, and which values lie beyond all known."""
        notes = []
        for places, ids, name in ((pairs.i, pairs.rows, self.names.row), (pairs.j, pairs.columns, self.names.column)):
            without = ids.null_count
            for count, said in ((int((places < 0).sum()) - without, "with an unknown"), (without, "without")):
                if count:
                    pair = f"{counted(count, 'pair')} {said} {name!r}"
                    notes.append(f"{pair}: what is expected of any, with the error of that.")
        least, most = float(self.X.data.min()), float(self.X.data.max())
        beyond = int(((pairs.values < least) | (pairs.values > most)).sum())
        if beyond and not bounded:
            said = Sentence(
                "{count} {lie} beyond all known values, {least:g} to {most:g}: {bounds} keeps them within.",
                count=counted(beyond, "prediction"),
                lie="lies" if beyond == 1 else "lie",
                least=least,
                most=most,
                bounds=Parameter("bounds", (f"{least:g},{most:g}",)),
            )
            notes.append(said)
        return notes


def sparse_table(X: Any, columns: tuple[str, ...] | None) -> LongTable:
    """Return a sparse table as a long one: rows, and columns without names, are called by their places, from 1."""
    import pyarrow as pa

    n, d = X.shape
    ids = (pa.array(np.arange(1, n + 1)), pa.array(np.arange(1, d + 1) if columns is None else columns))
    none = np.zeros(0, dtype=int)
    return LongTable(X, LongColumns("row", "column", "value"), *ids, none, none, none)


def long_names(whole: WholeTable, asked: Mapping[str, str | None]) -> LongColumns | None:
    """Return the columns of a long table: those that are named, and the others as they are found."""
    facts = whole.facts
    said = [name for name in asked.values() if name is not None]
    for parameter, name in asked.items():
        if name is not None and name not in whole.names:
            refuse_name(name, list(whole.names), facts.origin, parameter)
    found = long_columns(facts, of_groups=True)
    if not said:
        return found
    if len(set(said)) < len(said):
        message = Sentence(
            "{row}, {column} and {value} name three different columns, and {name!r} is named twice.",
            name=next(name for name in said if said.count(name) > 1),
            **{parameter: Parameter(parameter) for parameter in asked},
        )
        raise ParameterError(message)
    guess = {} if found is None else {key: name for key, name in found._asdict().items() if name not in said}
    # With rows and columns named, the one quantity left is the value.
    left = [c.name for c in facts.columns if c.role == "quantity" and c.name not in said]
    if asked["row"] and asked["column"] and len(left) == 1:
        guess["value"] = left[0]
    full = {key: name or guess.get(key) for key, name in asked.items()}
    lacking = [key for key, name in full.items() if name is None]
    if lacking:
        message = Sentence(
            "A long table has three columns, and {lacking} is not said. {origin} has {names}.",
            lacking=Parameter(lacking[0]),
            origin=facts.origin,
            names=listed([repr(name) for name in whole.names]),
        )
        raise ParameterError(message, parameter=lacking[0])
    return LongColumns(*(str(full[key]) for key in LongColumns._fields))


def read_long(
    whole: WholeTable, names: LongColumns, origin: str, *, is_said: bool
) -> tuple[LongTable, tuple[str, ...]] | None:
    """Return a long table and what is said of it; ``None`` where nobody says that it is one, and many pairs repeat."""
    rows, i = _numbered(whole.column(names.row))
    columns, j = _numbered(whole.column(names.column))
    column = next(column for column in whole.facts.columns if column.name == names.value)
    if column.kind not in ("number", "integer", "boolean"):
        message = f"Column {names.value!r} of {origin} holds {column.kind}, and a value is a number. Name another."
        raise InputError(message, column=names.value)
    values = whole.numbers(names.value)
    named = (i >= 0) & (j >= 0)
    there = named & np.isfinite(values)
    if not there.any():
        message = f"No line of {origin} has a row, a column and a value, so nothing is known."
        raise InputError(message)
    X = triplets(i[there], j[there], values[there], shape=(len(rows), len(columns)))
    repeated = int(there.sum()) - int(X.nnz)
    if not is_said and repeated > REPEATED * len(values):
        return None
    n, d = X.shape
    said = f"A long table: each line is one value of {names.value!r} for a pair of {names.row!r} and {names.column!r}"
    notes = [f"{said}, {n:,} of the former and {d:,} of the latter."]
    notes += [*whole.facts.remarks, *column.remarks]
    if repeated:
        notes.append(f"{counted(repeated, 'line')} of pairs that have others: of each pair the mean is taken.")
    if not named.all():
        lost = int((~named).sum())
        notes.append(f"{counted(lost, 'line')} without {names.row!r} or {names.column!r}: left out.")
    empty = np.flatnonzero(named & ~np.isfinite(values))
    if len(empty):
        notes.append(f"{counted(len(empty), 'line')} without a value: filled.")
    rest = [repr(name) for name in whole.names if name not in names]
    if rest:
        notes.append(f"Not used: {listed(rest)}.")
    return LongTable(X, names, rows, columns, empty, i[empty], j[empty]), tuple(notes)


def _numbered(column: Any) -> tuple[Any, HostArray]:
    """Return the different ids of a column, sorted, and the place of each cell among them; -1 where it has none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    ids = pc.unique(column.drop_null())
    ids = ids.take(pc.sort_indices(ids))
    return ids, _places(column, ids)


def _places(cells: Any, ids: Any) -> HostArray:
    """Return where each cell stands among ids, as text where their types differ; -1 where it does not."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if cells.type != ids.type:
        cells, ids = cells.cast(pa.string()), ids.cast(pa.string())
    return to_numpy(pc.index_in(cells, value_set=ids, skip_nulls=True).fill_null(-1)).astype(np.int64)
