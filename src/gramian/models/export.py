"""A fitted model in formats that others read: CSV, Parquet, npz and ONNX."""

import csv
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gramian.arrays.namespace import HostArray, to_host
from gramian.errors import NotSupportedError, ParameterError
from gramian.models.ica import ICAModel
from gramian.models.kernel_model import KernelPCAModel
from gramian.models.pca import PCAModel
from gramian.models.whole_file import whole_file

FORMATS = ("csv", "parquet", "npz", "onnx")
"""What a model can be exported to."""

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a cell begins with that a spreadsheet would take for a formula."""


def export(model: Any, path: str | os.PathLike[str], *, to: str, names: Sequence[str] | None = None) -> Path:
    """Write a model in another format, whole or not at all.

    CSV and Parquet hold one line a column of the table: its name, mean, scale and weight in each component (for a
    kernel model one line a row of the fit: its coefficients). npz holds every array by its name. ONNX is a graph from
    rows to scores, in float64; see :mod:`gramian.models.export_onnx`.

    Parameters
    ----------
    model : PCAModel, KernelPCAModel or ICAModel
    path : path
    to : {"csv", "parquet", "npz", "onnx"}
    names : sequence of str, optional
        Of the columns.

    Examples
    --------
    >>> import tempfile
    >>> from gramian.models.pca import fit_pca
    >>> from gramian.sources import as_source
    >>> model = fit_pca(as_source(np.array([[0.0, 1.0], [3.0, 5.0]])))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(export(model, f"{folder}/m.csv", to="csv", names=["a", "b"]).read_text().splitlines()[0])
    column,mean,PC1,PC2
    """
    if to not in FORMATS:
        message = f"{to!r} is no format of an export. Pass one of {', '.join(FORMATS)}."
        raise ParameterError(message)
    with whole_file(path) as part:
        if to == "onnx":
            from gramian.models.export_onnx import write_onnx

            write_onnx(model, part, names=names)
        elif to == "npz":
            with part.open("wb") as file:
                np.savez(file, **arrays_of(model))
        else:
            header, columns = weights_of(model, names)
            (write_csv if to == "csv" else write_parquet)(part, header, columns)
    return Path(path)


def arrays_of(model: Any) -> dict[str, Any]:
    """Return the arrays of a model by name, as NumPy's."""
    if isinstance(model, KernelPCAModel):
        rows = getattr(model.source, "array", None)
        found: dict[str, Any] = {
            "eigenvalues": model.eigenvalues,
            "vectors": model.vectors,
            "alphas": model.alphas if model.source.n_rows else None,
            "shares": model.shares,
            "row_means": model.centering.row_means,
            "rows": rows,
        }
    elif isinstance(model, PCAModel | ICAModel):
        fields = ("components", "variances", "shares", "singular_values", "mean", "factor", "mixing", "whitening")
        found = {name: getattr(model, name, None) for name in fields}
    else:
        message = f"A {type(model).__name__} is no model that can be exported."
        raise NotSupportedError(message)
    return {name: to_host(array) for name, array in found.items() if array is not None}


def weights_of(model: Any, names: Sequence[str] | None = None) -> tuple[list[str], list[Any]]:
    """Return header and columns of the table of weights."""
    if isinstance(model, KernelPCAModel):
        scores = [f"KPC{j + 1}" for j in range(len(model.eigenvalues))]
        return ["row", *scores], [np.arange(1, model.n_rows + 1), *model.vectors.T]
    columns = list(names) if names is not None else [f"column {j + 1}" for j in range(model.n_columns)]
    mean = np.zeros(model.n_columns) if model.mean is None else to_host(model.mean)
    header, found = ["column", "mean"], [np.array(columns, dtype=object), mean]
    if isinstance(model, PCAModel) and model.factor is not None:
        header, found = [*header, "factor"], [*found, to_host(model.factor)]
    prefix = "PC" if isinstance(model, PCAModel) else "IC"
    weights = to_host(model.components) if isinstance(model, PCAModel) else to_host(model.mixing).T
    return [*header, *(f"{prefix}{j + 1}" for j in range(len(weights)))], [*found, *weights]


def write_csv(path: Path, header: Sequence[str], columns: Sequence[Any]) -> None:
    """Write columns as CSV: numbers with every digit they have, text that no spreadsheet takes for a formula."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([plain_cell(name) for name in header])
        writer.writerows(_lines(columns))


def write_parquet(path: Path, header: Sequence[str], columns: Sequence[Any]) -> None:
    """Write columns as Parquet."""
    import pyarrow as pa
    from pyarrow import parquet

    unique = [name if header.index(name) == j else f"{name} ({j})" for j, name in enumerate(header)]
    parquet.write_table(
        pa.table({n: pa.array(list(c) if _is_text(c) else c) for n, c in zip(unique, columns, strict=True)}), path
    )


def plain_cell(text: Any) -> str:
    """Return text as a cell that is shown and never computed.

    Examples
    --------
    >>> plain_cell("=1+1"), plain_cell("wine")
    ("'=1+1", 'wine')
    """
    text = str(text)
    return f"'{text}" if text.startswith(FORMULA) else text


def _lines(columns: Sequence[Any]) -> Iterator[list[str]]:
    """Give the cells of each line; numbers are written so that reading them gives the same number."""
    ready = [[plain_cell(v) for v in column] if _is_text(column) else _numbers(column) for column in columns]
    return (list(line) for line in zip(*ready, strict=True))


def _numbers(column: HostArray) -> list[str]:
    if column.dtype == np.float32:
        return [str(value) for value in column]
    return [repr(value) for value in column.tolist()]


def _is_text(column: Any) -> bool:
    return np.asarray(column).dtype.kind in "OUS"
