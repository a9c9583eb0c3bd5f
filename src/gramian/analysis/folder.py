"""What an analysis leaves on disk: model, scores, loadings and page in one folder, all of one fit or none."""

import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.arrays.namespace import to_host
from gramian.atomic import atomic_write
from gramian.models.archive import file as archive
from gramian.models.archive.export import export, write_csv, write_parquet

if TYPE_CHECKING:
    from gramian.analysis.analyze import Analysis

MODEL = "model.gramian"
"""The model; a folder that holds one is ours."""

LARGEST_CSV = 200_000
"""Rows up to which scores are written as CSV; beyond as Parquet."""


def files_in(folder: str | os.PathLike[str], n_rows: int, *, page: bool = True) -> tuple[Path, ...]:
    """Return the files of an analysis: model, scores, loadings and page; scores as CSV for small tables.

    Examples
    --------
    >>> [path.name for path in files_in("wine-pca", 178)]
    ['model.gramian', 'scores.csv', 'loadings.csv', 'report.html']
    """
    scores = f"scores.{'csv' if n_rows <= LARGEST_CSV else 'parquet'}"
    names = (MODEL, scores, "loadings.csv", *(("report.html",) if page else ()))
    return tuple(Path(folder) / name for name in names)


def write_folder(
    found: "Analysis",
    folder: str | os.PathLike[str],
    *,
    page: bool = True,
    notes: tuple[str, ...] | None = None,
    progress: Callable[[str], None] | None = None,
    **shown: Any,
) -> tuple[Path, ...]:
    """Write every file under another name, and give them their names at the end: all of one fit, or none.

    Parameters
    ----------
    found : Analysis
    folder : path
        Made where it is missing.
    page : bool
        Whether the page is written too.
    notes : tuple of str, optional
        Those of the analysis in the words of a front end.
    progress : callable, optional
        Called with a sentence before each stage.
    shown : mapping
        Further keywords of the page.
    """
    table, model = found.table, found.model
    Path(folder).mkdir(parents=True, exist_ok=True)
    said = tuple(map(str, found.notes)) if notes is None else notes
    files = files_in(folder, table.source.n_rows, page=page)
    with ExitStack() as drafts:
        parts = [drafts.enter_context(atomic_write(path)) for path in files]
        if progress is not None:
            progress("writing the model")
        used = () if table.facts is None else table.facts.used
        readings = {column.name: column.reading for column in used if column.reading is not None}
        named_by = None if table.facts is None else table.facts.id or False
        names = table.source.column_names
        archive.save(model, parts[0], names=names, notes=said, copy_rows=True, readings=readings, id=named_by)
        row_names = table.row_numbers if table.row_names is None else table.row_names
        scores = to_host(found.kept_scores)
        header, columns = score_columns(scores, prefix=model.prefix, labels=table.labels, row_names=row_names)
        (write_csv if len(scores) <= LARGEST_CSV else write_parquet)(parts[1], header, columns)
        export(model, parts[2], to="csv", names=table.names)
        if page:
            if progress is not None:
                progress("writing the page")
            found.report(parts[3], notes=said, **shown)
    return files


def score_columns(scores: Any, *, prefix: str, labels: dict[str, Any], row_names: Any) -> tuple[list[str], list[Any]]:
    """Return header and columns of a table of scores, with the names and labels of the rows."""
    header, columns = ["row"], [np.arange(1, len(scores) + 1)]
    if row_names is not None:
        header, columns = ["row"], [np.asarray(row_names, dtype=object)]
    for name, values in labels.items():
        header.append(str(name))
        columns.append(np.asarray(values, dtype=object))
    return [*header, *(f"{prefix}{j + 1}" for j in range(scores.shape[1]))], [*columns, *to_host(scores).T]
