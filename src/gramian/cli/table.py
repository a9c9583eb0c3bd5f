"""From a file to rows that can be fitted: what was left out, filled and scaled, and the words for it."""

from dataclasses import replace

import numpy as np

from gramian.arrays.namespace import HostArray, to_host
from gramian.cli.held_rows import dense_rows, scaled_moments
from gramian.cli.holes import without_holes
from gramian.cli.input_path import origin_of
from gramian.cli.prepared import Asked, Prepared, opened, plain, ratio, spreads_apart
from gramian.cli.talk import Talk
from gramian.cli.wording import constant_note, for_many, listed, times
from gramian.sources.dense import DenseRows
from gramian.sources.measuring import measure_moments
from gramian.sources.rows import RowSource
from gramian.sources.table_facts import NO_HEADER, count_holes

SAFE_SQUARES = (1e-280, 1e280)
"""Sums of squares of which none was lost at an end of the range of floats."""

SMALL_MEAN = 1e-120
"""Mean under which a column may vary although the squares of its deviations vanish."""


def open_table(path: str, asked: Asked, talk: Talk) -> Prepared:
    """Open a table and make it ready: columns chosen, holes filled, constant columns left out, scaling decided."""
    talk(f"opening {origin_of(path)}")
    source = opened(path, asked, talk)
    notes = _column_notes(source)
    holes = count_holes(source)
    prepared = without_holes(path, asked, source, holes, talk) if holes.any() else plain(source)
    prepared = replace(prepared, notes=(*notes, *prepared.notes), origin=origin_of(path))
    return _scaled(_without_constants(path, asked, prepared, talk), asked)


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
    return (*header, *facts.remarks, *said, *out.get("", []))


def _without_constants(path: str, asked: Asked, prepared: Prepared, talk: Talk) -> Prepared:
    spread, constant = _spreads(prepared.source)
    if not constant.any() or constant.all() or prepared.source.column_names is None or asked.keep_constant:
        note = ("Every column is constant: nothing varies.",) if constant.all() else ()
        return replace(prepared, spread=spread, notes=(*prepared.notes, *note), varies=not constant.all())
    out = [name for name, still in zip(prepared.names, constant, strict=True) if still]
    names = tuple(name for name, still in zip(prepared.names, constant, strict=True) if not still)
    source = prepared.source
    if isinstance(source, DenseRows):
        source = dense_rows(to_host(source.array)[:, ~constant], names)
    else:
        source = opened(path, asked, talk, drop=(*prepared.left_out, *out))
    return replace(
        prepared,
        source=source,
        names=names,
        spread=spread[~constant],
        notes=(*prepared.notes, *constant_note(out)),
        left_out=(*prepared.left_out, *out),
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
    if not spreads_apart(spread):
        said = "Not scaled: the columns have spreads of one size."
        return replace(prepared, scale=False, notes=(*prepared.notes, said) if len(positive) > 1 else prepared.notes)
    wide, narrow = (
        prepared.names[int(j)] for j in (np.argmax(spread), np.argmin(np.where(spread > 0, spread, np.inf)))
    )
    said = (
        f"Scaled to unit variance because spreads differ {times(ratio(positive))}-fold, "
        f"from {narrow!r} ({positive.min():.3g}) to {wide!r} ({positive.max():.3g}): unscaled, "
        "the latter would decide alone."
    )
    return replace(prepared, scale=True, notes=(*prepared.notes, said))
