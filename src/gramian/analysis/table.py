"""From a table to rows that can be fitted: what is left out, filled and scaled, and said of it.

One pass over a table without missing values measures all that is decided here, and the moments that a fit rests on.
Sentences name parameters (:class:`~gramian.errors.Parameter`), so that each front end can word them.
"""

import glob
import os
import shlex
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gramian.analysis.findings import counted, listed, sentence_of
from gramian.analysis.frame import is_frame, names_of_rows, open_frame
from gramian.analysis.scaling import choose_scale, scaled_by_rule
from gramian.arrays.namespace import Array, HostArray, is_elsewhere, is_sparse, on_device, to_host
from gramian.errors import InputError, MemoryBudgetError, Parameter, ParameterError, Phrase, Sentence
from gramian.machine import available_memory
from gramian.models.pca.fit import first_facts
from gramian.models.pca.model import PCAOptions
from gramian.planning.plan import plan_pca
from gramian.sources.dense import DenseRows
from gramian.sources.file_options import Chosen, FileOptions, is_path
from gramian.sources.moments import Moments, measure_moments
from gramian.sources.on_device import moved
from gramian.sources.opening import as_source
from gramian.sources.rows import Block, Fold, Merge, RowSource, WrappedRows
from gramian.sources.table_facts import NO_HEADER, TableFacts, long_columns

Say = Callable[[str], None]

SAFE_SQUARES = (1e-280, 1e280)
"""Sums of squares of which none was lost at an end of the range of floats."""

ROUNDING = 8 * np.finfo(np.float64).eps
"""Deviation over the mean up to which a column is constant but for rounding."""

SMALL_MEAN = 1e-120
"""Mean under which a column may vary although the squares of its deviations vanish."""


@dataclass(frozen=True)
class ReadOptions:
    """What is asked about reading a table.

    Attributes
    ----------
    columns, drop : tuple of str
        Names, globs or types of the columns to use, or to leave out.
    id, color : str or None
        Columns that name and color the rows; found where nothing is said.
    missing : str
        "em" fills missing values by probabilistic PCA, "drop" drops their rows, "error" refuses them.
    scale : bool or None
        Whether columns are scaled to unit variance; ``None``: where their spreads differ more than two-fold, and their
        names give no common unit.
    memory : int or None
        Bytes that the work may take.
    keep_constant : bool
        Constant columns stay, as the pixels of an image do.
    origin : str
        What the table is called in words, where its path is not what a person knows it by.
    roles : mapping of str to str
        What columns are, in place of what the rules find.
    file : FileOptions
        How files are read.
    supplementary : tuple of str
        Columns that are projected on the components and never fitted.
    categories : bool
        Whether categories are analyzed too: a table without numbers is one then, and nothing is said of scaling.
    quantities : bool
        Whether columns of numbers are used: missing values of others are not filled, nor their rows dropped.
    device : str or None
        Where moments are measured; by default where the rows are.
    """

    columns: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    id: str | None = None
    color: str | None = None
    missing: str = "em"
    scale: bool | None = None
    memory: int | None = None
    keep_constant: bool = False
    origin: str = ""
    roles: Mapping[str, str] = field(default_factory=dict)
    file: FileOptions = FileOptions()
    supplementary: tuple[str, ...] = ()
    categories: bool = False
    quantities: bool = True
    device: str | None = None


@dataclass(frozen=True, eq=False)
class Prepared:
    """Rows ready to be fitted, or, where nothing is to be fitted, what would be done to make them so.

    Attributes
    ----------
    source : RowSource
        Without missing values, unless nothing is to be fitted; not scaled.
    names : tuple of str
        Of its columns.
    scale : bool
        Whether columns are to be scaled to unit variance.
    notes : tuple of str
        What was done to the table, a sentence each.
    spread : numpy array (d,)
        Deviations of the columns.
    labels : mapping
        Columns that color the rows, by name: every category, the likeliest first.
    row_names : array or None
    origin : str
    n_filled : int
        Missing values that were filled.
    filled : numpy array of bool (n, d) or None
        Which cells they are.
    row_numbers : array of int or None
        Where rows were dropped, the numbers of the others in the file, from 1.
    left_out : tuple of str
        Columns that were left out although they hold numbers: empty or constant ones, and those with a bad cell.
    filled_scaled : bool
        Whether columns counted alike when missing values were filled.
    varies : bool
        Whether any column does.
    facts : TableFacts or None
        What the file says of its columns.
    missing : mapping
        Missing values by the name of the column.
    image_shape : pair of int or None
        Height and width of the images that the rows are, where the file says so.
    moments : Moments or None
        Of ``source``, where they were measured: with the scatter where a fit of principal components forms it.
    options : ReadOptions
        What was asked.
    path : str or None
        Of the file; ``None`` for a table in memory.
    method : str
        "mca" or "famd" where the rows are coded categories; "" elsewhere.
    """

    source: RowSource
    names: tuple[str, ...]
    scale: bool
    notes: tuple[str, ...]
    spread: HostArray
    labels: dict[str, Any] = field(default_factory=dict)
    row_names: Any = None
    origin: str = ""
    n_filled: int = 0
    filled: HostArray | None = None
    row_numbers: HostArray | None = None
    left_out: tuple[str, ...] = ()
    filled_scaled: bool = True
    varies: bool = True
    facts: TableFacts | None = None
    missing: dict[str, int] = field(default_factory=dict)
    image_shape: tuple[int, int] | None = None
    moments: Moments | None = None
    options: ReadOptions = ReadOptions()
    path: str | None = None
    method: str = ""

    @property
    def called(self) -> list[str] | None:
        """What rows are called in words; ``None`` where that is their place."""
        if self.row_names is not None:
            return [str(name) for name in self.row_names]
        return None if self.row_numbers is None else [f"row {number}" for number in self.row_numbers]


def open_table(
    X: Any, options: ReadOptions, say: Say | None = None, *, fill: bool = True, scatter: bool = True
) -> Prepared:
    """Open a table and make it ready: columns chosen, missing values filled, constant columns out, scaling decided.

    Cost: one pass, which measures moments; where values are missing, one that counts them, and the filling. With
    ``fill=False`` nothing is filled, and the notes say what would be: no row is kept, nor its label and name.

    Parameters
    ----------
    X : path, table or array (n, d)
    options : ReadOptions
    say : callable, optional
        Called with a sentence before each stage.
    fill : bool
        Whether missing values are filled or dropped.
    scatter : bool
        Whether the d x d scatter is measured in the same pass, where a fit of principal components would form it.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((50, 3)) * [1.0, 2.0, 90.0]
    >>> prepared = open_table(as_source(X, column_names=["a", "b", "c"]), ReadOptions())
    >>> prepared.scale, prepared.moments.count
    (True, 50)
    """
    say = say or (lambda _sentence: None)
    origin = origin_of(X, options)
    say(f"opening {origin}")
    read = _read(X, options, say, scatter=scatter)
    if options.missing == "error" and options.quantities and read.missing.any():
        raise _refusal(origin, read)
    shape = _image_shape(read.source)
    prepared = replace(
        _plain(read.source, described=fill), left_out=read.left_out, moments=read.moments, image_shape=shape
    )
    if fill and prepared.row_names is None:
        prepared = replace(prepared, row_names=names_of_rows(X))
    if shape is not None:
        options = replace(options, keep_constant=True)
    if read.missing.any() and not options.quantities:
        prepared = _with_spread(prepared)
    elif read.missing.any():
        prepared = replace(prepared, notes=_mostly_missing(read.missing, read.source.n_rows))
        prepared = _without_missing(options, prepared, read.missing, say, fill=fill)
        if fill and scatter:
            prepared = replace(prepared, moments=measure(prepared.source, options, scatter=True))
    counts = dict(zip(names_of(read.source), read.missing.tolist(), strict=True))
    path = os.fspath(X) if isinstance(X, str | os.PathLike) else None
    notes = (*_column_notes(read.source, read.facts), *read.notes, *prepared.notes)
    if path is not None:
        notes = tuple(_called(note, path, origin) for note in notes)
    prepared = replace(
        prepared, notes=notes, origin=origin, facts=read.facts, missing=counts, options=options, path=path
    )
    found = _without_constants(options, prepared)
    found = found if options.categories else scaled(found, options)
    # Pixels that were left out, because most of their values are missing, leave no image.
    is_whole = found.image_shape is not None and np.prod(found.image_shape) == found.source.n_columns
    return found if is_whole else replace(found, image_shape=None)


def _called(note: str, path: str, origin: str) -> str:
    """Return a note that calls the file what a person calls it."""
    if not isinstance(note, Sentence):
        return note.replace(path, origin)
    facts = {name: fact.replace(path, origin) if isinstance(fact, str) else fact for name, fact in note.facts.items()}
    return Sentence(note.template, **facts)


def origin_of(X: Any, options: ReadOptions) -> str:
    """Return what a table is called in words."""
    if options.origin:
        return options.origin
    return os.fspath(X) if isinstance(X, str | os.PathLike) else "the table"


def opened(X: Any, options: ReadOptions, say: Say | None, *, drop: Sequence[str] = ()) -> RowSource:
    """Open a table as the options say, supplementary columns and some further ones left out.

    Tables in memory go the way of files: columns of text are left out, or name and color the rows.
    """
    words: dict[str, Any] = {
        "columns": list(options.columns) or None,
        "drop": [*options.drop, *map(exactly, (*options.supplementary, *drop))] or None,
        "label": options.color,
        "id": options.id,
        "roles": options.roles or None,
    }
    lenient = options.missing != "error"
    words |= {"sentinels": True, "needs_numbers": not options.categories}
    try:
        if is_frame(X):
            chosen = Chosen(**words, lenient=lenient)
            return open_frame(X, chosen, origin=origin_of(X, options), memory_budget=options.memory)
        if not is_path(X):
            return as_source(X, memory_budget=options.memory)
        words |= {"bad_cells": "missing" if lenient else "error"} | options.file._asdict()
        return as_source(X, **words, memory_budget=options.memory, progress=say)
    except ParameterError as error:
        odd = next((name for name in options.supplementary if exactly(name) == error.value), None)
        said = error.args[0]
        if error.parameter != "drop" or odd is None or not isinstance(said, Sentence):
            raise
        asked = Parameter("supplementary", (odd,))
        message = Sentence(said.template, **(said.facts | {"asked": asked}))
        raise ParameterError(message, parameter="supplementary", value=odd) from None


def exactly(name: str) -> str:
    """Return a word for as_source that stands for a column of this name alone, whatever signs are in it.

    Examples
    --------
    >>> exactly("height"), exactly("a*b")
    ('height', 'a[*]b')
    """
    return glob.escape(name) if not name.startswith(":") else f"[:]{glob.escape(name[1:])}"


def names_of(source: RowSource) -> tuple[str, ...]:
    """Return what the columns used are called; without names, by their place in the file, counted from 1."""
    facts = source.facts
    if source.column_names is None and facts is not None:
        return tuple(column.name for column in facts.used)
    return source.column_names or tuple(f"column {j + 1}" for j in range(source.n_columns))


def dense(source: RowSource) -> HostArray:
    """Return all rows as one array, or refuse where they do not fit."""
    needed, free = 24 * source.n_rows * source.n_columns, available_memory()
    if needed > free:
        message = Sentence(
            "Filling missing values keeps the table in memory three times, {needed:,.1f} GB, and {free:,.1f} GB are "
            "free. Drop columns ({drop}), or fill the missing values first.",
            needed=needed / 1e9,
            free=free / 1e9,
            drop=Parameter("drop"),
        )
        raise MemoryBudgetError(message, needed=needed, budget=free)
    return np.asarray(source.map_rows(_dense_block), dtype=np.float64)


def _dense_block(block: Block) -> HostArray:
    return block.rows.toarray() if is_sparse(block.rows) else to_host(block.rows)


def _plain(source: Any, *, described: bool) -> Prepared:
    """Return rows as they are, with their labels and names where a fit will want them: a string for each row."""
    labels = labels_of(source) if described else {}
    row_names = source.ids() if described else None
    return Prepared(
        source, names_of(source), scale=False, notes=(), spread=np.ones(0), labels=labels, row_names=row_names
    )


def labels_of(source: RowSource) -> dict[str, Any]:
    """Return the columns that color the rows: groups, and numbers where a quantity is asked for."""
    return {name: _label(source, name) for name in source.label_names}


def _label(source: RowSource, name: str) -> Any:
    """Return a label as groups, or as numbers where a quantity is to color the rows."""
    values: Any = source.labels(name)
    columns = () if source.facts is None else source.facts.columns
    if any(column.name == name and column.role == "quantity" and column.kind != "boolean" for column in columns):
        with suppress(ValueError):
            return np.array([float(value or "nan") for value in values], dtype=np.float64)
    return values


def _image_shape(source: RowSource) -> tuple[int, int] | None:
    """Return height and width where rows are images of one number per pixel; an axis of length one tells nothing."""
    sides = [side for side in source.row_shape or () if side > 1]
    return (sides[0], sides[1]) if len(sides) == 2 else None


class SelectedRows(WrappedRows):
    """Some columns of another source, in their order: nothing is opened or parsed again.

    Cost of a pass: that of the source, and a copy of the columns of each block.

    Parameters
    ----------
    source : RowSource
    kept : array of bool (d,)

    Examples
    --------
    >>> rows = as_source(np.arange(6.0).reshape(2, 3), column_names=["a", "b", "c"])
    >>> some = SelectedRows(rows, np.array([True, False, True]))
    >>> some.column_names, some.block(0).rows.tolist()
    (('a', 'c'), [[0.0, 2.0], [3.0, 5.0]])
    """

    def __init__(self, source: RowSource, kept: HostArray) -> None:
        super().__init__(source)
        self._kept = np.flatnonzero(kept)
        self.n_columns, self.has_columns = len(self._kept), False
        if source.column_names is not None:
            self.column_names = tuple(source.column_names[j] for j in self._kept)
        if source.facts is not None:
            self.facts = replace(source.facts, used=tuple(source.facts.used[j] for j in self._kept))

    @property
    def n_entries(self) -> int:
        """Stored numbers; of sparse rows as if all columns held as many."""
        return self.source.n_entries * self.n_columns // max(self.source.n_columns, 1)

    def block(self, i: int) -> Block:
        """Return the columns kept of block ``i``."""
        return self._of(self.source.block(i))

    def evenly(self, count: int) -> list[Array]:
        """Return about ``count`` rows, spread over the source."""
        return [rows[:, self._kept] for rows in self.source.evenly(count)]

    def reduce(self, fold: Fold, merge: Merge, *, state_bytes: int = 0) -> Any:
        """Fold every block into one value: one pass of the source."""
        return self.source.reduce(lambda state, block: fold(state, self._of(block)), merge, state_bytes=state_bytes)

    def map_rows(self, local: Callable[[Block], Array]) -> Array:
        """Stack ``local(block)`` over all blocks: one pass of the source."""
        return self.source.map_rows(lambda block: local(self._of(block)))

    def _of(self, block: Block) -> Block:
        return block._replace(rows=block.rows[:, self._kept])


@dataclass(frozen=True, eq=False)
class _Read:
    """A table whose every cell is a number or missing; what was left out so that it is, and why."""

    source: RowSource
    missing: HostArray
    facts: TableFacts | None
    left_out: tuple[str, ...]
    notes: tuple[str, ...]
    moments: Moments | None


def _read(X: Any, options: ReadOptions, say: Say, *, scatter: bool) -> _Read:
    """Open a table, measure its moments and count its missing values.

    A column with a cell that is no finite number is left out, and said. Cost: a pass; a second one where cells are
    missing, and the part of one up to cells that are no number where there are any.
    """
    facts: TableFacts | None = None
    bad: dict[str, InputError] = {}
    while True:
        try:
            source = opened(X, options, say, drop=tuple(bad))
            facts = facts or source.facts
            moments = _finite_moments(source, options, scatter=scatter)
            missing = infinite = np.zeros(source.n_columns, dtype=np.int64)
            if moments is None:
                missing, infinite = source.reduce(_count_fold, np.add)
            if infinite.any() and source.column_names is not None:
                raise _infinite(source, infinite)
            break
        except InputError as error:
            facts = facts or error.table
            if options.missing == "error" or error.column in bad:  # a source that is open leaves no column out
                raise
            if error.problem is None or facts is None or not isinstance(error.column, str):
                # Of a table without another column the cell is what there is to say.
                last = next(reversed(bad.values()), error)
                last.table = error.table
                raise last from None
            bad |= {str(found.column): found for found in (error, *error.others)}
    facts = facts and replace(facts, n_rows=source.n_rows)
    notes = tuple(
        f"Left out {name!r}: row {(error.row or 0) + 1:,} holds {error.value!r}, {error.problem}. Mend that cell, or "
        "leave it empty, to use the column."
        for name, error in bad.items()
    )
    return _Read(source, missing, facts, tuple(bad), notes, moments)


def _finite_moments(source: RowSource, options: ReadOptions, *, scatter: bool) -> Moments | None:
    """Return the moments, or ``None`` where a cell is missing or infinite: a finite mean proves that none is."""
    if not source.n_columns:
        return None
    try:
        moments = measure(source, options, scatter=scatter)
    except InputError:
        return None
    return moments if np.isfinite(moments.mean).all() else None


def measure(source: RowSource, options: ReadOptions, *, scatter: bool) -> Moments:
    """Measure the moments of rows in one pass, with the scatter where a fit of principal components would form it."""
    if scatter:
        try:
            plan = plan_pca(first_facts(source, PCAOptions(n_components="auto", memory_budget=options.memory)))
            scatter = plan.held and plan.operator == "covariance"
        except MemoryBudgetError:
            scatter = False
    if is_elsewhere(options.device) and scatter and not source.is_sparse and not on_device(source.like()):
        source = moved(source, options.device)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        moments = measure_moments(source, scatter=scatter)
    if source.origin is None:
        return moments
    matrix = None if moments.scatter is None else to_host(moments.scatter)
    return replace(moments.on_host(), scatter=matrix)


def _of_columns(moments: Moments | None, kept: HostArray) -> Moments | None:
    """Return the moments of some columns."""
    if moments is None:
        return None

    def some(values: HostArray | None) -> HostArray | None:
        return None if values is None else values[kept]

    matrix = moments.scatter
    return replace(
        moments,
        mean=moments.mean[kept],
        squares=moments.squares[kept],
        scatter=None if matrix is None else to_host(matrix)[np.ix_(kept, kept)],
        rounding=some(moments.rounding),
        mean_rounding=some(moments.mean_rounding),
    )


def _count_fold(state: HostArray | None, block: Block) -> HostArray:
    """Count NaN (first line) and infinity (second line) in each column."""
    rows = block.rows
    if is_sparse(rows):
        tests = (np.isnan(rows.data), np.isinf(rows.data))
        here = np.array([np.bincount(rows.indices[found], minlength=rows.shape[1]) for found in tests])
    else:
        here = np.array([to_host(np.isnan(rows)).sum(axis=0), to_host(np.isinf(rows)).sum(axis=0)])
    return here if state is None else state + here


def _infinite(source: RowSource, counts: HostArray) -> InputError:
    errors = []
    for j in np.flatnonzero(counts):
        row, name = _first_row(source, int(j), np.isinf), names_of(source)[j]
        message = f"Row {row + 1:,}, column {name!r} holds infinity. Remove it, or leave it empty if it is unknown."
        what = "which no spread can be measured with"
        errors.append(InputError(message, row=row, column=name, problem=what, value=np.inf))
    errors[0].others = tuple(errors[1:])
    return errors[0]


def _first_row(source: RowSource, column: int, test: Any) -> int:
    """Return the first row whose value in a column passes a test."""
    return next(
        block.start + int(np.argmax(found))
        for block in (source.block(i) for i in range(source.n_blocks))
        if (found := test(_dense_block(block)[:, column])).any()
    )


def _refusal(origin: str, read: _Read) -> InputError:
    names, j = names_of(read.source), int(np.argmax(read.missing > 0))
    row = _first_row(read.source, j, np.isnan)
    message = Sentence(
        "{origin}: row {row:,}, column {name!r} is missing, and {others:,} others are. Fill them, or use "
        "{em} (filled by the rest of the row) or {drop}.",
        origin=origin,
        row=row + 1,
        name=names[j],
        others=int(read.missing.sum()) - 1,
        em=Parameter("missing", ("em",)),
        drop=Parameter("missing", ("drop",)),
    )
    return InputError(message, row=row, column=names[j])


def _column_notes(source: RowSource, facts: TableFacts | None) -> tuple[str, ...]:
    """Say how the file was read, what was left out of it, and what colors and names the rows."""
    labels = [repr(name) for name in source.label_names]
    roles = [f"Rows are colored by {listed(labels)}."] if labels else []
    roles += [] if source.id_name is None else [f"Rows are named by {_spoken_name(source.id_name)}."]
    if (image := _image_shape(source)) is not None:
        roles.append(f"Rows are images of {image[0]} x {image[1]} pixels, as the file has them.")
    elif source.row_shape is not None:
        roles.append(f"Rows of shape {' x '.join(map(str, source.row_shape))} are flattened.")
    if facts is None:
        return (*source.remarks, *roles)
    out: dict[str, list[str]] = {}
    for column in facts.columns:
        if column.use == "left_out":
            out.setdefault(column.reason, []).append(column.name)
    said = [f"Left out {listed([repr(name) for name in names])}: {why}." for why, names in out.items()]
    doubted = [column.name for column in facts.doubted if column.use == "left_out"]
    if doubted:
        asked = Phrase(f"roles={{{doubted[0]!r}: 'quantity'}}", f"--role {shlex.quote(doubted[0] + '=quantity')}")
        said.append(Sentence("To use a column of numbers that was left out, say what it is: {asked}.", asked=asked))
    kept = [column for column in facts.columns if column.use in ("label", "id")]
    about = [remark for column in (*facts.used, *kept) for remark in column.remarks]
    header = () if facts.named else (f"{NO_HEADER}.",)
    return (*header, *source.remarks, *said, *about, *facts.relations, *_long_note(facts), *roles)


def _long_note(facts: TableFacts) -> tuple[str, ...]:
    """Name what is made for a long table, where this is one by its columns."""
    found = long_columns(facts)
    if found is None:
        return ()
    said = Sentence(
        "This looks like a long table, each line a value of {value!r} for a pair of {row!r} and {column!r}: {fill} "
        "predicts the pairs that are missing.",
        **found._asdict(),
        fill=FILL,
    )
    return (said,)


def _spoken_name(name: str) -> str:
    """Return a column as a person would call it, where it has no name of its own."""
    if not name:
        return "the column without a name"
    return "the index of the frame" if name.startswith("__index_level_") else repr(name)


def _without_missing(options: ReadOptions, prepared: Prepared, missing: HostArray, say: Say, *, fill: bool) -> Prepared:
    """Return a table whose missing values are filled, or whose rows with some are dropped, as the options say."""
    source, n = prepared.source, prepared.source.n_rows
    empty = {name: count for name, count in zip(prepared.names, missing, strict=True) if 2 * count > n}
    if empty and len(empty) < len(prepared.names) and source.column_names is not None:
        # A column that is more than half empty would be made of what fills it.
        said = listed([f"{name!r} ({count / n:.0%} missing)" for name, count in empty.items()])
        kept = np.array([name not in empty for name in prepared.names])
        missing = missing[kept]
        left_out = (*prepared.left_out, *empty)
        source = SelectedRows(source, kept)
        prepared = replace(
            prepared,
            source=source,
            names=names_of(source),
            left_out=left_out,
            notes=(*prepared.notes, f"Left out {said}: more than half empty."),
        )
    if not missing.any():
        return prepared
    if options.missing == "em" and not fill:
        return _to_be_filled(prepared, missing)
    X = dense(source)
    own = source.column_names
    if own is not None:
        X, own, constant = _varying(X, own)
        left_out = (*prepared.left_out, *constant)
        notes = (*prepared.notes, *_constant_note(constant))
        prepared = replace(prepared, names=own, left_out=left_out, notes=notes)
    if not np.isnan(X).any():
        return replace(prepared, source=_dense_rows(X, own))
    if options.missing == "drop":
        return _dropped(prepared, X, own)
    say(f"filling {int(np.isnan(X).sum()):,} missing values")
    # Columns count alike where they would in a fit; for sources too, which do not depend on it, the filling does.
    spread, _ = known_moments(DenseRows(X))
    return _filled(prepared, X, own, spread)


def _share(missing: HostArray, n_rows: int) -> str:
    """Say how many values are missing, given how many of each column."""
    count, columns = int(missing.sum()), int((missing > 0).sum())
    share = count / max(n_rows * len(missing), 1)
    said = f"{share:.1%} of the cells of quantities, {columns} of {len(missing)} columns"
    return f"{counted(count, 'missing value')} ({said})"


def _counts_as_measured(missing: HostArray) -> str:
    return "it counts as if it were measured" if missing.sum() == 1 else "they count as if they were measured"


FILL = Phrase("gramian.ProbabilisticPCA", "gramian fill FILE")
"""What fills tables, in the words of Python and of the command line."""


def _mostly_missing(missing: HostArray, n_rows: int) -> tuple[str, ...]:
    """Name what is made for a table of which most is missing, where this is one."""
    share = float(missing.sum()) / max(n_rows * len(missing), 1)
    if share <= 0.5:
        return ()
    said = "{share:.0%} of the table is missing: {fill} is for such tables, and says how sure each filled value is."
    return (Sentence(said, share=share, fill=FILL),)


def _to_be_filled(prepared: Prepared, missing: HostArray) -> Prepared:
    """Say what a fit would fill; what is known of the columns is measured from what is there."""
    said = Sentence(
        "Fill {share} by probabilistic PCA, with as many components as fill known values best; {counts} ({fill} gives "
        "them, with their errors).",
        share=_share(missing, prepared.source.n_rows),
        counts=_counts_as_measured(missing),
        fill=FILL,
    )
    return _with_spread(replace(prepared, notes=(*prepared.notes, said)))


def _with_spread(prepared: Prepared) -> Prepared:
    """Measure the deviations of columns from what is there."""
    return replace(prepared, spread=known_moments(prepared.source)[0])


def _filled(prepared: Prepared, X: HostArray, own: tuple[str, ...] | None, spread: HostArray) -> Prepared:
    from gramian.models.probabilistic.filling import fill_missing

    scale = scaled_by_rule(prepared.names, spread)
    _, power = np.frexp(spread)
    if np.abs(power).max() <= 300:
        power[:] = 0
    elif not scale:
        power[:] = power.max()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # Squares stay within the range of floats; powers of two round nothing.
        filled = fill_missing(np.ldexp(X, -power), scale=scale)
    k, cells = filled.n_components, np.isnan(X)
    missing = cells.sum(axis=0)
    said = (
        f"Filled {_share(missing, len(X))} by probabilistic PCA with {counted(k, 'component')}; "
        f"{_counts_as_measured(missing)}."
    )
    notes = (*prepared.notes, said, *(sentence_of(warning) for warning in caught))
    return replace(
        prepared,
        source=_dense_rows(np.where(cells, np.ldexp(filled.rows, power), X), own),
        notes=notes,
        n_filled=int(missing.sum()),
        filled=cells,
        filled_scaled=scale,
    )


def _dropped(prepared: Prepared, X: HostArray, own: tuple[str, ...] | None) -> Prepared:
    keep = ~np.isnan(X).any(axis=1)
    if keep.sum() < 2:
        message = Sentence(
            "Only {kept} of {rows:,} rows have no missing value, so {dropped} leaves nothing. Use {em}, or leave out "
            "the emptiest columns with {drop}.",
            kept=int(keep.sum()),
            rows=len(X),
            dropped=Parameter("missing", ("drop",)),
            em=Parameter("missing", ("em",)),
            drop=Parameter("drop"),
        )
        raise InputError(message)
    said = f"Dropped {int((~keep).sum()):,} of {len(X):,} rows: they have missing values."
    row_names = None if prepared.row_names is None else np.asarray(prepared.row_names)[keep]
    labels = {name: np.asarray(values)[keep] for name, values in prepared.labels.items()}
    return replace(
        prepared,
        source=_dense_rows(X[keep], own),
        notes=(*prepared.notes, said),
        labels=labels,
        row_names=row_names,
        row_numbers=np.flatnonzero(keep) + 1,
    )


def _dense_rows(X: HostArray, names: tuple[str, ...] | None) -> RowSource:
    return DenseRows(np.ascontiguousarray(X), column_names=names)


def _varying(X: HostArray, names: tuple[str, ...]) -> tuple[HostArray, tuple[str, ...], list[str]]:
    """Return the columns of a table with missing values that vary, their names, and the names of those that do not."""
    known = ~np.isnan(X)
    low, high = np.where(known, X, np.inf).min(axis=0), np.where(known, X, -np.inf).max(axis=0)
    constant = low >= high
    if constant.all():
        return X, names, []
    kept = tuple(name for name, still in zip(names, constant, strict=True) if not still)
    return X[:, ~constant], kept, [name for name, still in zip(names, constant, strict=True) if still]


def _without_constants(options: ReadOptions, prepared: Prepared) -> Prepared:
    if not prepared.names:
        return prepared  # of categories alone
    if len(prepared.spread):
        spread, constant = prepared.spread, prepared.spread == 0
    else:
        spread, constant = _spreads(prepared)
    if not constant.any() or constant.all() or prepared.source.column_names is None or options.keep_constant:
        note = ("Every column is constant: nothing varies.",) if constant.all() else ()
        return replace(prepared, spread=spread, notes=(*prepared.notes, *note), varies=not constant.all())
    out = [name for name, still in zip(prepared.names, constant, strict=True) if still]
    names = tuple(name for name, still in zip(prepared.names, constant, strict=True) if not still)
    source = prepared.source
    if isinstance(source.whole, np.ndarray):
        source = _dense_rows(source.whole[:, ~constant], names)
    else:
        source = SelectedRows(source, ~constant)
    return replace(
        prepared,
        source=source,
        names=names,
        spread=spread[~constant],
        notes=(*prepared.notes, *_constant_note(out)),
        left_out=(*prepared.left_out, *out),
        moments=_of_columns(prepared.moments, ~constant),
        filled=None if prepared.filled is None else prepared.filled[:, ~constant],
    )


def _spreads(prepared: Prepared) -> tuple[HostArray, HostArray]:
    """Return the deviation of each column, and whether it is constant: no pass where moments are known."""
    source, moments = prepared.source, prepared.moments
    moments = moments or measure(source, prepared.options, scatter=False)
    spread, mean = np.sqrt(moments.squares / max(moments.weight - 1, 1.0)), moments.mean.copy()
    low, high = SAFE_SQUARES
    # Squares that small next to a mean that is not small are those of a constant column.
    unsure = ~(moments.squares < high) | ((moments.squares <= low) & (np.abs(mean) < SMALL_MEAN))
    if unsure.any() and not source.is_sparse:
        spread[unsure], mean[unsure] = known_moments(source, unsure)
    return spread, spread <= ROUNDING * np.abs(mean)


def known_moments(source: RowSource, chosen: Any = slice(None)) -> tuple[HostArray, HostArray]:
    """Return deviations and means of what is known in some columns, also where squares leave the range of floats.

    A deviation that is the rounding of a constant is zero. Each column is divided by a power of two near its largest
    entry, which rounds nothing. Cost: three passes over the rows, one where all entries are zero.
    """

    def parts(power: Any = 0) -> Iterator[HostArray]:
        for i in range(source.n_blocks):
            yield np.ldexp(_dense_block(source.block(i))[:, chosen].astype(np.float64), -power)

    # The maximum and the sums take NaN for nothing.
    largest = np.max([np.fmax.reduce(np.abs(part), axis=0, initial=0.0) for part in parts()], axis=0)
    if not largest.any():
        return largest, largest.copy()
    _, power = np.frexp(largest)
    counted = [((~np.isnan(part)).sum(axis=0), np.nansum(part, axis=0)) for part in parts(power)]
    n = np.sum([count for count, _ in counted], axis=0)
    mean = np.sum([total for _, total in counted], axis=0) / np.maximum(n, 1)
    squares = np.sum([np.nansum((part - mean) ** 2, axis=0) for part in parts(power)], axis=0)
    spread = np.sqrt(squares / np.maximum(n - 1, 1))
    spread[spread <= ROUNDING * np.abs(mean)] = 0.0
    return np.ldexp(spread, power), np.ldexp(mean, power)


def scaled(prepared: Prepared, options: ReadOptions) -> Prepared:
    """Return a table of which it is decided whether columns are scaled, and said why."""
    has_units = prepared.source.column_names is not None and not prepared.source.is_sparse
    scale, notes = choose_scale(
        prepared.names, prepared.spread, asked=options.scale, has_units=has_units, moments=prepared.moments
    )
    return replace(prepared, scale=scale, notes=(*prepared.notes, *notes))


def _constant_note(names: Sequence[str]) -> list[str]:
    """Say which columns were left out because they do not vary; nothing where there is none."""
    if not names:
        return []
    tells = "it tells" if len(names) == 1 else "they tell"
    return [f"Left out {listed([repr(name) for name in names])}: constant, so {tells} nothing."]
