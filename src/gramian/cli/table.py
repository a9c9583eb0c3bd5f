"""From a file to rows that can be fitted: what is left out, filled and scaled, and the words for it."""

import glob
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gramian.arrays.namespace import HostArray, is_sparse, to_host
from gramian.cli.options import origin_of
from gramian.cli.output import Progress, in_flags, said_by
from gramian.errors import InputError, MemoryBudgetError
from gramian.machine import available_memory
from gramian.models.probabilistic.filling import fill_missing
from gramian.sources.dense import DenseRows
from gramian.sources.moments import measure_moments
from gramian.sources.opening import as_source
from gramian.sources.paths import FileOptions
from gramian.sources.rows import Block, RowSource
from gramian.sources.table_facts import NO_HEADER, TableFacts

SPREADS_APART = 5.0
"""Ratio of the largest to the smallest deviation of a column above which columns are scaled when nothing is said."""

SAFE_SQUARES = (1e-280, 1e280)
"""Sums of squares of which none was lost at an end of the range of floats."""

SMALL_MEAN = 1e-120
"""Mean under which a column may vary although the squares of its deviations vanish."""

LISTED = 6
"""Names that a sentence lists before it only counts them."""


@dataclass(frozen=True)
class ReadOptions:
    """What the flags say about reading a table."""

    columns: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    id: str | None = None
    color: str | None = None
    missing: str = "em"
    scale: bool | None = None
    memory: int | None = None
    keep_constant: bool = False
    file: FileOptions = FileOptions()


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
        The column that colors the rows, by name.
    row_names : array or None
    origin : str
    n_filled : int
        Missing values that were filled.
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
    row_numbers: HostArray | None = None
    left_out: tuple[str, ...] = ()
    filled_scaled: bool = True
    varies: bool = True
    facts: TableFacts | None = None
    missing: dict[str, int] = field(default_factory=dict)
    image_shape: tuple[int, int] | None = None

    @property
    def called(self) -> list[str] | None:
        """What rows are called in words; ``None`` where that is their place."""
        if self.row_names is not None:
            return [str(name) for name in self.row_names]
        return None if self.row_numbers is None else [f"row {number}" for number in self.row_numbers]


def open_table(path: str, options: ReadOptions, progress: Progress, *, fill: bool = True) -> Prepared:
    """Open a table and make it ready: columns chosen, missing values filled, constant columns out, scaling decided.

    Cost: a pass that counts missing values and one that measures spreads; where values are missing, the filling. With
    ``fill=False`` nothing is filled, and the notes say what would be: three passes, and no row is kept.
    """
    progress(f"opening {origin_of(path)}")
    read = _read(path, options, progress)
    if options.missing == "error" and read.missing.any():
        raise _refusal(path, read)
    prepared = replace(_plain(read.source), left_out=read.left_out, image_shape=_image_shape(read.source))
    if prepared.image_shape is not None:
        options = replace(options, keep_constant=True)
    if read.missing.any():
        prepared = _without_missing(path, options, prepared, read.missing, progress, fill=fill)
    counts = dict(zip(names_of(read.source), read.missing.tolist(), strict=True))
    notes = (*_column_notes(path, read.source, read.facts), *read.notes, *prepared.notes)
    prepared = replace(prepared, notes=notes, origin=origin_of(path), facts=read.facts, missing=counts)
    found = _scaled(_without_constants(path, options, prepared, progress), options)
    # Pixels that were left out, because most of their values are missing, leave no image.
    is_whole = found.image_shape is not None and np.prod(found.image_shape) == found.source.n_columns
    return found if is_whole else replace(found, image_shape=None)


def opened(path: str, options: ReadOptions, progress: Progress, *, drop: Sequence[str] = ()) -> RowSource:
    """Open a file as the flags say, some further columns left out."""
    words = [*options.drop, *map(exactly, drop)]
    return as_source(
        path,
        columns=list(options.columns) or None,
        drop=words or None,
        label=options.color,
        id=options.id,
        memory_budget=options.memory,
        progress=progress,
        **options.file._asdict(),
    )


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
        message = (
            f"Filling missing values keeps the table in memory three times, {needed / 1e9:,.1f} GB, and "
            f"{free / 1e9:,.1f} GB are free. Drop columns (--drop), or fill the missing values first."
        )
        raise MemoryBudgetError(message, needed=needed, budget=free)
    return np.asarray(source.map_rows(_dense_block), dtype=np.float64)


def _dense_block(block: Block) -> HostArray:
    return block.rows.toarray() if is_sparse(block.rows) else to_host(block.rows)


def _plain(source: Any) -> Prepared:
    """Return rows as they are, with their labels and names."""
    labels = {} if source.label_name is None else {source.label_name: source.labels()}
    return Prepared(
        source, names_of(source), scale=False, notes=(), spread=np.ones(0), labels=labels, row_names=source.ids()
    )


def _image_shape(source: RowSource) -> tuple[int, int] | None:
    """Return height and width where rows are images of one number per pixel; an axis of length one tells nothing."""
    sides = [side for side in source.row_shape or () if side > 1]
    return (sides[0], sides[1]) if len(sides) == 2 else None


@dataclass(frozen=True, eq=False)
class _Read:
    """A file whose every cell is a number or missing; what was left out so that it is, and why."""

    source: RowSource
    missing: HostArray
    facts: TableFacts | None
    left_out: tuple[str, ...]
    notes: tuple[str, ...]


def _read(path: str, options: ReadOptions, progress: Progress) -> _Read:
    """Open a file and count its missing values; a column with a cell that is no finite number is left out, and said.

    Cost: a pass, and the part of one up to such cells where there are any.
    """
    facts: TableFacts | None = None
    bad: dict[str, InputError] = {}
    while True:
        try:
            source = opened(path, options, progress, drop=tuple(bad))
            facts = facts or source.facts
            missing, infinite = source.reduce(_count_fold, np.add)
            if infinite.any() and source.column_names is not None:
                raise _infinite(source, infinite)
            break
        except InputError as error:
            facts = facts or error.table
            if options.missing == "error":
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
    return _Read(source, missing, facts, tuple(bad), notes)


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


def _refusal(path: str, read: _Read) -> InputError:
    names, j = names_of(read.source), int(np.argmax(read.missing > 0))
    row = _first_row(read.source, j, np.isnan)
    message = (
        f"{origin_of(path)}: row {row + 1:,}, column {names[j]!r} is empty, and {int(read.missing.sum()) - 1:,} others "
        "are missing too. Fill them, or use --missing em (filled by the rest of the row) or --missing drop."
    )
    return InputError(message, row=row, column=names[j])


def _column_notes(path: str, source: RowSource, facts: TableFacts | None) -> tuple[str, ...]:
    """Say how the file was read, what was left out of it, and what colors and names the rows."""
    remarks = tuple(in_flags(remark).replace(path, origin_of(path)) for remark in source.remarks)
    roles = [] if source.label_name is None else [f"Rows are colored by {source.label_name!r}."]
    roles += [] if source.id_name is None else [f"Rows are named by {source.id_name!r}."]
    if (image := _image_shape(source)) is not None:
        roles.append(f"Rows are images of {image[0]} x {image[1]} pixels, as the file has them.")
    elif source.row_shape is not None:
        roles.append(f"Rows of shape {' x '.join(map(str, source.row_shape))} are flattened.")
    if facts is None:
        return (*remarks, *roles)
    out: dict[str, list[str]] = {}
    for column in facts.left_out:
        if column.role == "left_out":
            why = column.reason.removeprefix("left out: ").removeprefix("left out, ")
            out.setdefault(why, []).append(repr(column.name))
    said = [f"Left out {listed(names)}: {_for_many(why, len(names))}." for why, names in out.items()]
    header = () if facts.named else (f"{NO_HEADER}.",)
    return (*header, *remarks, *said, *roles)


def _without_missing(
    path: str, options: ReadOptions, prepared: Prepared, missing: HostArray, progress: Progress, *, fill: bool
) -> Prepared:
    """Return a table whose missing values are filled, or whose rows with some are dropped, as the flags say."""
    source, n = prepared.source, prepared.source.n_rows
    empty = {name: count for name, count in zip(prepared.names, missing, strict=True) if 2 * count > n}
    if empty and len(empty) < len(prepared.names) and source.column_names is not None:
        # A column that is more than half empty would be made of what fills it.
        said = listed([f"{name!r} ({count / n:.0%} missing)" for name, count in empty.items()])
        missing = missing[[name not in empty for name in prepared.names]]
        left_out = (*prepared.left_out, *empty)
        source = opened(path, options, progress, drop=left_out)
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
    progress(f"filling {int(np.isnan(X).sum()):,} missing values")
    # Columns count alike where they would in a fit; for sources too, which do not depend on it, the filling does.
    return _filled(prepared, X, own, scale=spreads_apart(np.nanstd(X, axis=0)))


def _share(missing: HostArray, n_rows: int) -> str:
    """Say how many values are missing, given how many of each column."""
    count, columns = int(missing.sum()), int((missing > 0).sum())
    share = count / max(n_rows * len(missing), 1)
    return f"{count:,} missing values ({share:.1%} of the table, {columns} of {len(missing)} columns)"


def _to_be_filled(prepared: Prepared, missing: HostArray) -> Prepared:
    """Say what a fit would fill; what is known of the columns is measured from what is there."""
    said = (
        f"Fill {_share(missing, prepared.source.n_rows)} by regularized EM-PCA, with as many components as fill known "
        "values best; they count as if they were measured."
    )
    spread, mean = _scaled_moments(prepared.source, np.ones(len(missing), dtype=bool))
    spread[spread <= 8 * np.finfo(np.float64).eps * np.abs(mean)] = 0.0
    return replace(prepared, notes=(*prepared.notes, said), spread=spread)


def _filled(prepared: Prepared, X: HostArray, own: tuple[str, ...] | None, *, scale: bool) -> Prepared:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        filled = fill_missing(X, scale=scale)
    k, missing = filled.n_components, np.isnan(X).sum(axis=0)
    said = (
        f"Filled {_share(missing, len(X))} by regularized EM-PCA with {k} component{'' if k == 1 else 's'}; they count "
        "as if they were measured."
    )
    notes = (*prepared.notes, said, *(said_by(warning) for warning in caught))
    return replace(
        prepared, source=_dense_rows(filled.rows, own), notes=notes, n_filled=int(missing.sum()), filled_scaled=scale
    )


def _dropped(prepared: Prepared, X: HostArray, own: tuple[str, ...] | None) -> Prepared:
    keep = ~np.isnan(X).any(axis=1)
    if keep.sum() < 2:
        message = (
            f"Only {int(keep.sum())} of {len(X):,} rows have no missing value, so --missing drop leaves nothing. "
            "Use --missing em, or leave out the emptiest columns with --drop."
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


def _without_constants(path: str, options: ReadOptions, prepared: Prepared, progress: Progress) -> Prepared:
    if len(prepared.spread):
        spread, constant = prepared.spread, prepared.spread == 0
    else:
        spread, constant = _spreads(prepared.source)
    if not constant.any() or constant.all() or prepared.source.column_names is None or options.keep_constant:
        note = ("Every column is constant: nothing varies.",) if constant.all() else ()
        return replace(prepared, spread=spread, notes=(*prepared.notes, *note), varies=not constant.all())
    out = [name for name, still in zip(prepared.names, constant, strict=True) if still]
    names = tuple(name for name, still in zip(prepared.names, constant, strict=True) if not still)
    source = prepared.source
    if source.whole is not None:
        source = _dense_rows(to_host(source.whole)[:, ~constant], names)
    else:
        source = opened(path, options, progress, drop=(*prepared.left_out, *out))
    return replace(
        prepared,
        source=source,
        names=names,
        spread=spread[~constant],
        notes=(*prepared.notes, *_constant_note(out)),
        left_out=(*prepared.left_out, *out),
    )


def _spreads(source: RowSource) -> tuple[HostArray, HostArray]:
    """Return the deviation of each column, and whether it is constant: one pass."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        moments = measure_moments(source, scatter=False)
    spread, mean = np.sqrt(moments.squares / max(moments.weight - 1, 1.0)), moments.mean
    low, high = SAFE_SQUARES
    # Squares that small next to a mean that is not small are those of a constant column.
    unsure = ~(moments.squares < high) | ((moments.squares <= low) & (np.abs(mean) < SMALL_MEAN))
    if unsure.any() and not source.is_sparse:
        spread[unsure], mean[unsure] = _scaled_moments(source, unsure)
    return spread, spread <= 8 * np.finfo(np.float64).eps * np.abs(mean)


def _scaled_moments(source: RowSource, chosen: HostArray) -> tuple[HostArray, HostArray]:
    """Return deviations and means of what is known in some columns, also where squares leave the range of floats.

    Each column is divided by a power of two near its largest entry, which rounds nothing. Cost: three passes over the
    rows, one where all entries are zero.
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
    return np.ldexp(np.sqrt(squares / np.maximum(n - 1, 1)), power), np.ldexp(mean, power)


def spreads_apart(spread: HostArray) -> bool:
    """Tell whether deviations of columns differ so much that columns are scaled when nothing is said.

    Examples
    --------
    >>> spreads_apart(np.array([1.0, 2.0])), spreads_apart(np.array([1.0, 0.0, 20.0]))
    (False, True)
    """
    positive = spread[spread > 0]
    return len(positive) > 1 and _ratio(positive) > SPREADS_APART


def _ratio(positive: HostArray) -> float:
    """Return the largest over the smallest; the largest float where that is above it."""
    with np.errstate(over="ignore"):
        return float(min(positive.max() / positive.min(), np.finfo(np.float64).max))


def _scaled(prepared: Prepared, options: ReadOptions) -> Prepared:
    """Decide whether columns are scaled to unit variance, and say why."""
    if options.scale is not None:
        said = "Scaled to unit variance, as asked." if options.scale else "Not scaled."
        return replace(prepared, scale=options.scale, notes=(*prepared.notes, said))
    spread = prepared.spread
    positive = spread[spread > 0]
    if prepared.source.column_names is None or prepared.source.is_sparse:
        said = "Not scaled: columns without names are taken to have one unit (--scale to scale them)."
        return replace(prepared, scale=False, notes=(*prepared.notes, said))
    if not spreads_apart(spread):
        said = "Not scaled: the columns have spreads of one size."
        return replace(prepared, scale=False, notes=(*prepared.notes, said) if len(positive) > 1 else prepared.notes)
    wide, narrow = (
        prepared.names[int(j)] for j in (np.argmax(spread), np.argmin(np.where(spread > 0, spread, np.inf)))
    )
    said = (
        f"Scaled to unit variance because spreads differ {_times(_ratio(positive))}-fold, "
        f"from {narrow!r} ({positive.min():.3g}) to {wide!r} ({positive.max():.3g}): unscaled, "
        "the latter would decide alone."
    )
    return replace(prepared, scale=True, notes=(*prepared.notes, said))


def listed(names: Sequence[str]) -> str:
    """Return names as a person lists them, the first ones where there are many.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b", "c"]), listed([str(i) for i in range(9)])
    ('a', 'a, b and c', '0, 1, 2, 3, 4, 5 and 3 more')
    """
    if len(names) > LISTED:
        return f"{', '.join(names[:LISTED])} and {len(names) - LISTED:,} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _for_many(why: str, count: int) -> str:
    """Return a reason as it is said of one column or of several."""
    return why if count == 1 else why.replace("it holds", "they hold").replace("it is", "they are")


def _times(ratio: float) -> str:
    """Return a ratio with as many digits as are worth reading."""
    if ratio >= 1e15:
        return f"{ratio:.0e}"
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.2g}"


def _constant_note(names: Sequence[str]) -> list[str]:
    """Say which columns were left out because they do not vary; nothing where there is none."""
    if not names:
        return []
    tells = "it tells" if len(names) == 1 else "they tell"
    return [f"Left out {listed([repr(name) for name in names])}: constant, so {tells} nothing."]
