"""A model file and the rows to use it on: what ``project``, ``rebuild``, ``outliers`` and ``report`` share."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.analysis.findings import counted
from gramian.analysis.table import dense, exactly
from gramian.cli.options import file_options
from gramian.cli.output import Progress
from gramian.errors import InputError, ParameterError
from gramian.models.archive.file import Archive
from gramian.models.categories.model import CodedModel
from gramian.models.probabilistic.filling import fill_rows
from gramian.sources.categories import open_mixed
from gramian.sources.dense import DenseRows
from gramian.sources.indicator import IndicatorRows
from gramian.sources.opening import as_source
from gramian.sources.rows import RowSource
from gramian.sources.table_facts import count_missing


@dataclass(frozen=True, eq=False)
class OpenedRows:
    """Rows with the columns that a model knows."""

    source: RowSource
    labels: dict[str, Any]
    row_names: Any
    notes: tuple[str, ...]


def open_rows(path: str, found: Archive, flags: dict[str, Any], progress: Progress) -> OpenedRows:
    """Open a table for a model: its columns, in its order, missing values filled with what it expects there."""
    progress(f"opening {path}")
    if isinstance(found.model, CodedModel):
        return _coded(path, found.model, flags, progress)
    source = _with_columns(path, found, flags, progress)
    if source.n_columns != found.model.n_columns:
        message = (
            f"{path} has {source.n_columns:,} columns of numbers, and the model {found.model.n_columns:,}. "
            "Pass a table with the same columns."
        )
        raise InputError(message)
    labels = {name: source.labels(name) for name in source.label_names}
    row_names = source.ids()
    source, notes = _filled(path, source, found)
    return OpenedRows(source, labels, row_names, notes)


def _coded(path: str, model: CodedModel, flags: dict[str, Any], progress: Progress) -> OpenedRows:
    """Open the columns of a correspondence analysis, coded; what it does not know stands at the average."""
    coding = model.coding
    words: dict[str, Any] = {
        "columns": [exactly(name) for name in coding.quantities],
        "roles": dict.fromkeys(coding.categories, "category"),
        "id": flags.get("id_"),
        "memory_budget": flags["memory"],
        "progress": progress,
        "bad_cells": "missing",
        "needs_numbers": False,
    }
    source = as_source(path, **words | file_options(flags)._asdict())
    table = open_mixed(source)
    lacking = [name for name in coding.categories if name not in table.categories]
    if lacking:
        message = f"{path} has no column {lacking[0]!r} with levels, which the model needs."
        raise InputError(message, column=lacking[0])
    rows = IndicatorRows(table, coding, unknown="ignore", passive=True)
    labels = {name: source.labels(name) for name in source.label_names}
    unknown = int((rows.cells()[0] < 0).sum()) if coding.categories else 0
    notes = (f"{counted(unknown, 'cell')} of a level that the model does not know: at the average.",) if unknown else ()
    return OpenedRows(rows, labels, source.ids(), notes)


def refuse_coded(model: Any, verb: str, remedy: str) -> None:
    """Refuse a correspondence analysis for what is of quantities alone."""
    if isinstance(model, CodedModel):
        message = f"The model is of categories, and gramian {verb} is for models of numbers. {remedy}"
        raise ParameterError(message)


def _with_columns(path: str, found: Archive, flags: dict[str, Any], progress: Progress) -> RowSource:
    """Open the columns that the model has names of; one that is not there is a fault of the data."""
    words = None if found.names is None else {exactly(name): name for name in found.names}

    def opened(*, named_by: str | bool | None) -> RowSource:
        return as_source(
            path,
            columns=None if words is None else list(words),
            label=flags.get("color"),
            id=named_by,
            memory_budget=flags["memory"],
            progress=progress,
            bad_cells="missing",
            readings=found.readings or None,
            **file_options(flags)._asdict(),
        )

    try:
        if flags.get("id_") is not None or not isinstance(found.id, str):
            # What named the rows of the fit names new ones: a few rows do not show which text tells rows apart.
            return opened(named_by=found.id if flags.get("id_") is None else flags["id_"])
        try:
            return opened(named_by=found.id)
        except ParameterError as error:
            if error.parameter != "id":
                raise
            return opened(named_by=False)
    except ParameterError as error:
        if words is None or error.parameter != "columns" or error.value not in words:
            raise
        missing = words[error.value]
        message = (
            f"{path} has no column {missing!r}, which the model needs. Pass a table with the columns of the model, "
            "by the same names."
        )
        raise InputError(message, column=missing) from None


def _filled(path: str, source: RowSource, found: Archive) -> tuple[RowSource, tuple[str, ...]]:
    missing = count_missing(source)
    if not missing.any():
        return source, ()
    if found.model.kind != "pca":
        j = int(np.argmax(missing > 0))
        name = found.column_names[j]
        message = (
            f"{path}: column {name!r} has {int(missing[j]):,} missing values, and only a PCA model can fill those of "
            "new rows. Fill them first."
        )
        raise InputError(message, column=name)
    X = fill_rows(found.model, dense(source))
    note = (
        f"Filled {counted(int(missing.sum()), 'missing value')} with what the model expects there. For rows of the fit "
        "that is not what filled them then, so that their scores differ from those in scores.csv."
    )
    return DenseRows(X, column_names=source.column_names), (note,)
