"""Missing values of a table: filled, dropped or refused, and what is said about it."""

import warnings
from dataclasses import replace

import numpy as np

from gramian.arrays.namespace import HostArray
from gramian.cli.flag_words import in_flags
from gramian.cli.held_rows import dense_block, dense_rows, held, varying
from gramian.cli.input_path import origin_of
from gramian.cli.prepared import Asked, Prepared, names_of, opened, plain, spreads_apart
from gramian.cli.talk import Talk
from gramian.cli.wording import components, constant_note, listed
from gramian.errors import InputError
from gramian.models.probabilistic import fill_holes
from gramian.sources.rows import RowSource


def without_holes(path: str, asked: Asked, source: RowSource, holes: HostArray, talk: Talk) -> Prepared:
    """Return a table whose holes are filled, or whose rows with holes are dropped, as the flags say."""
    if asked.missing == "error":
        raise _refusal(path, source, holes, names_of(source))
    source, notes, out = _without_empty(path, asked, source, holes, talk)
    X, names = held(source), names_of(source)
    constant: list[str] = []
    if source.column_names is not None:
        X, names, constant = varying(X, names)
    notes += constant_note(constant)
    own = None if source.column_names is None else names
    prepared = replace(plain(source), names=names, left_out=(*out, *constant))
    if not np.isnan(X).any():
        return replace(prepared, source=dense_rows(X, own), notes=tuple(notes))
    if asked.missing == "drop":
        return _dropped(prepared, X, own, notes)
    talk(f"filling {int(np.isnan(X).sum()):,} holes")
    # Columns count alike where they would in a fit; for sources too, which do not depend on it, the filling does.
    return _filled(prepared, X, own, notes, scale=spreads_apart(np.nanstd(X, axis=0)))


def _without_empty(
    path: str, asked: Asked, source: RowSource, holes: HostArray, talk: Talk
) -> tuple[RowSource, list[str], list[str]]:
    """Leave out columns that are more than half empty, and say so."""
    names, n = names_of(source), source.n_rows
    empty = {name: count for name, count in zip(names, holes, strict=True) if 2 * count > n}
    if not empty or len(empty) == len(names) or source.column_names is None:
        return source, [], []
    said = listed([f"{name!r} ({count / n:.0%} missing)" for name, count in empty.items()])
    return opened(path, asked, talk, drop=list(empty)), [f"Left out {said}: more than half empty."], list(empty)


def _filled(
    prepared: Prepared, X: HostArray, own: tuple[str, ...] | None, notes: list[str], *, scale: bool
) -> Prepared:
    missing = np.isnan(X)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        filled = fill_holes(X, scale=scale)
    share, columns, count = missing.mean(), int(missing.any(axis=0).sum()), int(missing.sum())
    said = (
        f"Filled {count:,} missing values ({share:.1%} of the table, {columns} of {X.shape[1]} columns) "
        f"by regularized EM-PCA with {components(filled.n_components)}; they count as if they were measured."
    )
    notes = [*notes, said, *(in_flags(str(warning.message)) for warning in caught)]
    return replace(
        prepared, source=dense_rows(filled.rows, own), notes=tuple(notes), n_holes=count, filled_scaled=scale
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
        f"{origin_of(path)}: row {row + 1:,}, column {names[j]!r} is empty, and {int(holes.sum()) - 1:,} others "
        "are missing too. Fill them, or use --missing em (filled by the rest of the row) or --missing drop."
    )
    return InputError(message, row=row, column=names[j])
