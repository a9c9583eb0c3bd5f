"""From a file to rows that can be fitted: what was left out, filled and scaled, and the words for it."""

import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from gramian.arrays.namespace import HostArray, to_host
from gramian.cli.held_rows import dense_block, dense_rows, held, scaled_moments, varying
from gramian.cli.talk import Talk
from gramian.cli.wording import components, constant_note, for_many, listed, times
from gramian.errors import GramianError, InputError
from gramian.models.probabilistic import fill_holes
from gramian.sources.dense import DenseRows
from gramian.sources.moments import measure_moments
from gramian.sources.opening import as_source
from gramian.sources.rows import RowSource
from gramian.sources.table_facts import NO_HEADER, count_holes

SAFE_SQUARES = (1e-280, 1e280)
"""Sums of squares of which none was lost at an end of the range of floats."""

SMALL_MEAN = 1e-120
"""Mean under which a column may vary although the squares of its deviations vanish."""

SPREADS_APART = 5.0
"""Ratio of the largest to the smallest deviation of a column above which columns are scaled when nothing is said."""

STANDARD_INPUT = "standard input"

MAGIC = {b"PAR1": ".parquet", b"\x93NUM": ".npy", b"ARRO": ".arrow", b"\x1f\x8b\x08": ".csv.gz", b"PK\x03\x04": ".npz"}
"""How files of other kinds than text begin, for what comes from standard input."""


_TEXTS = "csv tsv txt dat tab gz"
_ARRAYS = "parquet pq parq arrow feather ipc npy npz h5 hdf5 he5 h5ad zarr mtx"
_IMAGES = "png jpg jpeg tif tiff bmp pgm"

ENDINGS = frozenset(f".{end}" for kinds in (_TEXTS, _ARRAYS, _IMAGES) for end in kinds.split())
"""Endings that say how a file is written, and are no part of what it is called."""


@dataclass(frozen=True)
class Asked:
    """What the flags say about reading a table."""

    columns: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    id: str | None = None
    color: str | None = None
    missing: str = "em"
    scale: bool | None = None
    memory: int | None = None
    keep_constant: bool = False


@dataclass(frozen=True, eq=False)
class Prepared:
    """Rows ready to be fitted.

    Attributes
    ----------
    source : RowSource
        Without holes; not scaled.
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
    n_holes : int
        That were filled.
    row_numbers : array of int or None
        Where rows were dropped, the numbers of the others in the file, from 1.
    """

    source: RowSource
    names: tuple[str, ...]
    scale: bool
    notes: tuple[str, ...]
    spread: HostArray
    labels: dict[str, Any] = field(default_factory=dict)
    row_names: Any = None
    origin: str = ""
    n_holes: int = 0
    row_numbers: HostArray | None = None

    @property
    def called(self) -> list[str] | None:
        """What rows are called in words; ``None`` where that is their place."""
        if self.row_names is not None:
            return [str(name) for name in self.row_names]
        return None if self.row_numbers is None else [f"row {number}" for number in self.row_numbers]


@contextmanager
def readable(path: str) -> Iterator[str]:
    """Give a path that can be read again and again: standard input ("-") is kept in a temporary file meanwhile."""
    if path != "-":
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="gramian-") as folder:
        head = sys.stdin.buffer.read(4)
        if not head:
            message = "Standard input is empty: 0 bytes. Check the command before the pipe, or name a file."
            raise InputError(message)
        suffix = next((kind for magic, kind in MAGIC.items() if head.startswith(magic)), ".csv")
        target = Path(folder) / f"stdin{suffix}"
        with target.open("wb") as file:
            file.write(head)
            shutil.copyfileobj(sys.stdin.buffer, file)
        try:
            yield str(target)
        except GramianError as error:  # a person knows nothing of the copy
            error.args = tuple(str(arg).replace(str(target), STANDARD_INPUT) for arg in error.args)
            raise


def stem_of(path: str) -> str:
    """Return what a file is called without folder and endings.

    Examples
    --------
    >>> stem_of("data/spam.csv.gz"), stem_of("-"), stem_of("parts/"), stem_of("s.2023.csv")
    ('spam', 'stdin', 'parts', 's.2023')
    """
    name = "stdin" if path == "-" else Path(path).absolute().name
    while Path(name).suffix.lower() in ENDINGS:
        name = Path(name).stem
    return name.replace("*", "").strip("-_. ") or "table"


def open_table(path: str, asked: Asked, talk: Talk) -> Prepared:
    """Open a table and make it ready: columns chosen, holes filled, constant columns left out, scaling decided."""
    talk(f"opening {_origin(path)}")
    source = opened(path, asked, talk)
    notes = _column_notes(source)
    holes = count_holes(source)
    prepared = _without_holes(path, asked, source, holes, talk) if holes.any() else _plain(source)
    prepared = replace(prepared, notes=(*notes, *prepared.notes), origin=_origin(path))
    return _scaled(_without_constants(path, asked, prepared, talk), asked)


def opened(path: str, asked: Asked, talk: Talk, *, drop: Sequence[str] = ()) -> RowSource:
    """Open a file as the flags say, some further columns left out."""
    words = [*asked.drop, *drop]
    return as_source(
        path,
        columns=list(asked.columns) or None,
        drop=words or None,
        label=asked.color,
        id=asked.id,
        memory_budget=asked.memory,
        progress=talk,
    )


def _origin(path: str) -> str:
    return STANDARD_INPUT if Path(path).name.startswith("stdin.") else path


def names_of(source: RowSource) -> tuple[str, ...]:
    """Return what the columns used are called; without names, by their place in the file, counted from 1."""
    facts = getattr(source, "facts", None)
    if source.column_names is None and facts is not None:
        return tuple(column.name for column in facts.used)
    return source.column_names or tuple(f"column {j + 1}" for j in range(source.n_columns))


def _plain(source: Any) -> Prepared:
    facts = getattr(source, "facts", None)
    labels = {} if facts is None or facts.label is None else {facts.label: source.labels()}
    row_names = None if facts is None or facts.id is None else source.ids()
    return Prepared(
        source, names_of(source), scale=False, notes=(), spread=np.ones(0), labels=labels, row_names=row_names
    )


def _column_notes(source: RowSource) -> tuple[str, ...]:
    facts = getattr(source, "facts", None)
    if facts is None:
        return ()
    out: dict[str, list[str]] = {}
    for column in facts.left_out:
        if column.role == "label":
            out.setdefault("", []).append(f"Rows are colored by {column.name!r}.")
        elif column.role == "id":
            out.setdefault("", []).append(f"Rows are named by {column.name!r}.")
        else:
            why = column.reason.removeprefix("left out: ").removeprefix("left out, ")
            out.setdefault(why, []).append(repr(column.name))
    said = [f"Left out {listed(names)}: {for_many(why, len(names))}." for why, names in out.items() if why]
    header = () if facts.named else (f"{NO_HEADER}.",)
    return (*header, *said, *out.get("", []))


def _without_holes(path: str, asked: Asked, source: RowSource, holes: HostArray, talk: Talk) -> Prepared:
    names, n = names_of(source), source.n_rows
    if asked.missing == "error":
        raise _refusal(path, source, holes, names)
    notes: list[str] = []
    empty = [name for name, count in zip(names, holes, strict=True) if 2 * count > n]
    if empty and len(empty) < len(names) and source.column_names is not None:
        parts = [
            f"{name!r} ({count / n:.0%} missing)" for name, count in zip(names, holes, strict=True) if 2 * count > n
        ]
        notes.append(f"Left out {listed(parts)}: more than half empty.")
        source = opened(path, asked, talk, drop=empty)
        names = names_of(source)
    X = held(source)
    constant: list[str] = []
    if source.column_names is not None:
        X, names, constant = varying(X, names)
    notes += constant_note(constant)
    own = None if source.column_names is None else names
    prepared, missing = _plain(source), np.isnan(X)
    if not missing.any():
        return replace(prepared, source=dense_rows(X, own), names=names, notes=tuple(notes))
    if asked.missing == "drop":
        return replace(_dropped(prepared, X, own, notes), names=names)
    talk(f"filling {int(missing.sum()):,} holes")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        filled = fill_holes(X)
    share, columns = missing.mean(), int(missing.any(axis=0).sum())
    notes.append(
        f"Filled {int(missing.sum()):,} missing values ({share:.1%} of the table, {columns} of {len(names)} columns) "
        f"by regularized EM-PCA with {components(filled.n_components)}; they count as if they were measured."
    )
    notes += [str(warning.message) for warning in caught]
    return replace(
        prepared, source=dense_rows(filled.rows, own), names=names, notes=tuple(notes), n_holes=int(missing.sum())
    )


def _dropped(prepared: Prepared, X: HostArray, names: tuple[str, ...] | None, notes: list[str]) -> Prepared:
    keep = ~np.isnan(X).any(axis=1)
    if keep.sum() < 2:
        message = (
            f"Only {int(keep.sum())} of {len(X):,} rows have no missing value, so --missing drop leaves nothing. "
            "Use --missing em, or leave out the emptiest columns with --drop."
        )
        raise InputError(message)
    notes = [*notes, f"Dropped {int((~keep).sum()):,} of {len(X):,} rows: they have missing values."]
    row_names = None if prepared.row_names is None else np.asarray(prepared.row_names)[keep]
    labels = {name: np.asarray(values)[keep] for name, values in prepared.labels.items()}
    return replace(
        prepared,
        source=dense_rows(X[keep], names),
        notes=tuple(notes),
        labels=labels,
        row_names=row_names,
        row_numbers=np.flatnonzero(keep) + 1,
    )


def _refusal(path: str, source: RowSource, holes: HostArray, names: tuple[str, ...]) -> InputError:
    j = int(np.argmax(holes > 0))
    row = next(
        block.start + int(np.argmax(found))
        for block in (source.block(i) for i in range(source.n_blocks))
        if (found := np.isnan(dense_block(block)[:, j])).any()
    )
    message = (
        f"{_origin(path)}: row {row + 1:,}, column {names[j]!r} is empty, and {int(holes.sum()) - 1:,} others "
        "are missing too. Fill them, or use --missing em (filled by the rest of the row) or --missing drop."
    )
    return InputError(message, row=row, column=names[j])


def _without_constants(path: str, asked: Asked, prepared: Prepared, talk: Talk) -> Prepared:
    spread, constant = _spreads(prepared.source)
    if not constant.any() or constant.all() or prepared.source.column_names is None or asked.keep_constant:
        note = ("Every column is constant: nothing varies.",) if constant.all() else ()
        return replace(prepared, spread=spread, notes=(*prepared.notes, *note))
    out = [name for name, still in zip(prepared.names, constant, strict=True) if still]
    names = tuple(name for name, still in zip(prepared.names, constant, strict=True) if not still)
    source = prepared.source
    if isinstance(source, DenseRows):
        source = dense_rows(to_host(source.array)[:, ~constant], names)
    else:
        source = opened(path, asked, talk, drop=out)
    return replace(
        prepared, source=source, names=names, spread=spread[~constant], notes=(*prepared.notes, *constant_note(out))
    )


def _spreads(source: RowSource) -> tuple[HostArray, HostArray]:
    """Return the deviation of each column, and whether it is constant: one pass."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        moments = measure_moments(source, scatter=False)
    spread, mean = np.sqrt(moments.squares / max(moments.weight - 1, 1.0)), moments.mean
    low, high = SAFE_SQUARES
    # Beside a mean that is not small, squares that small are those of a constant column.
    unsure = ~(moments.squares < high) | ((moments.squares <= low) & (np.abs(mean) < SMALL_MEAN))
    if unsure.any() and not source.is_sparse:
        spread[unsure], mean[unsure] = scaled_moments(source, unsure)
    return spread, spread <= 8 * np.finfo(np.float64).eps * np.abs(mean)


def _ratio(positive: HostArray) -> float:
    """Return the largest over the smallest; the largest float where that is beyond it."""
    with np.errstate(over="ignore"):
        return float(min(positive.max() / positive.min(), np.finfo(np.float64).max))


def _scaled(prepared: Prepared, asked: Asked) -> Prepared:
    """Decide whether columns are scaled to unit variance, and say why."""
    if asked.scale is not None:
        said = "Scaled to unit variance, as asked." if asked.scale else "Not scaled."
        return replace(prepared, scale=asked.scale, notes=(*prepared.notes, said))
    spread = prepared.spread
    positive = spread[spread > 0]
    if prepared.source.column_names is None or prepared.source.is_sparse:
        said = "Not scaled: columns without names are taken to have one unit (--scale to scale them)."
        return replace(prepared, scale=False, notes=(*prepared.notes, said))
    if len(positive) < 2 or _ratio(positive) <= SPREADS_APART:
        said = "Not scaled: the columns have spreads of one size."
        return replace(prepared, scale=False, notes=(*prepared.notes, said) if len(positive) > 1 else prepared.notes)
    wide, narrow = (
        prepared.names[int(j)] for j in (np.argmax(spread), np.argmin(np.where(spread > 0, spread, np.inf)))
    )
    said = (
        f"Scaled to unit variance because spreads differ {times(_ratio(positive))}-fold, "
        f"from {narrow!r} ({positive.min():.3g}) to {wide!r} ({positive.max():.3g}): unscaled, "
        "the latter would decide alone."
    )
    return replace(prepared, scale=True, notes=(*prepared.notes, said))
