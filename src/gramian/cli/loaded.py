"""A model file and the rows to use it on: what ``project``, ``rebuild``, ``outliers`` and ``report`` share."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.cli.held_rows import held
from gramian.cli.prepared import exactly
from gramian.cli.talk import Talk
from gramian.errors import InputError, ParameterError
from gramian.models.archive import Archive, open_archive
from gramian.models.pca import PCAModel
from gramian.models.probabilistic import fill_rows
from gramian.sources.dense import DenseRows
from gramian.sources.opening import as_source
from gramian.sources.rows import RowSource
from gramian.sources.table_facts import count_holes

__all__ = ["OpenedRows", "open_archive", "open_rows"]


@dataclass(frozen=True, eq=False)
class OpenedRows:
    """Rows with the columns that a model knows."""

    source: RowSource
    labels: dict[str, Any]
    row_names: Any
    notes: tuple[str, ...]


def open_rows(path: str, found: Archive, flags: dict[str, Any], talk: Talk) -> OpenedRows:
    """Open a table for a model: the same columns, in the model's order; holes filled as the model expects them."""
    talk(f"opening {path}")
    source = _with_columns(path, found, flags, talk)
    if source.n_columns != found.model.n_columns:
        message = (
            f"{path} has {source.n_columns:,} columns of numbers, and the model {found.model.n_columns:,}. "
            "Pass a table with the same columns."
        )
        raise InputError(message)
    facts = getattr(source, "facts", None)
    opened: Any = source
    labels = {} if facts is None or facts.label is None else {facts.label: opened.labels()}
    row_names = None if facts is None or facts.id is None else opened.ids()
    source, notes = _filled(path, source, found)
    return OpenedRows(source, labels, row_names, notes)


def _with_columns(path: str, found: Archive, flags: dict[str, Any], talk: Talk) -> RowSource:
    """Open the columns that the model has names of; one that is not there is a fault of the data."""
    words = None if found.names is None else {exactly(name): name for name in found.names}
    try:
        return as_source(
            path,
            columns=None if words is None else list(words),
            label=flags.get("color"),
            id=flags.get("id_"),
            memory_budget=flags["memory"],
            progress=talk,
        )
    except ParameterError as error:
        missing = [name for word, name in (words or {}).items() if str(error).startswith(f"columns={word!r} ")]
        if not missing:
            raise
        message = (
            f"{path} has no column {missing[0]!r}, which the model needs. Pass a table with the columns of the model, "
            "by the same names."
        )
        raise InputError(message, column=missing[0]) from None


def _filled(path: str, source: RowSource, found: Archive) -> tuple[RowSource, tuple[str, ...]]:
    holes = count_holes(source)
    if not holes.any():
        return source, ()
    if not isinstance(found.model, PCAModel):
        j = int(np.argmax(holes > 0))
        name = found.names[j] if found.names is not None else f"column {j + 1}"
        message = (
            f"{path}: column {name!r} has {int(holes[j]):,} missing values, and only a PCA model can fill holes of new "
            "rows. Fill them first."
        )
        raise InputError(message, column=name)
    X = fill_rows(found.model, held(source))
    note = f"Filled {int(holes.sum()):,} missing values with what the model expects there."
    return DenseRows(X, column_names=source.column_names), (note,)
