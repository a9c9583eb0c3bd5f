"""Scores written to a file block by block, whole or not at all."""

import os
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np

from gramian.arrays.namespace import Array, HostArray, to_host
from gramian.atomic import atomic_write
from gramian.errors import ParameterError
from gramian.sources.finiteness import require_finite
from gramian.sources.rows import Block, RowSource

KINDS = (".parquet", ".npy", ".csv")

Local = Callable[[Block], Array]


def write_scores(local: Local, source: RowSource, path: str | os.PathLike[str], *, names: Sequence[str]) -> Path:
    """Write ``local(block)``, (b, k) for every block of a source, to a Parquet, .npy or CSV file.

    One pass; memory for one block of rows and its scores, however many rows there are. The file gets its name when it
    is complete: before that, and after an error or Ctrl-C, the old file of that name is as it was.

    Parameters
    ----------
    local : callable
        ``lambda block: model.project(block.rows)``, for example.
    source : RowSource
    path : path
        Ends in .parquet, .npy or .csv.
    names : sequence of str
        Of the k columns.

    Returns
    -------
    path : Path

    Examples
    --------
    >>> import tempfile
    >>> from gramian.sources import as_source
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_scores(lambda block: 2 * block.rows, as_source([[1.0], [3.0]]), folder + "/y.npy", names=["y"])
    ...     np.load(path).tolist()
    [[2.0], [6.0]]
    """
    target = Path(path)
    _check_target(target, source)
    coming = _score_blocks(local, source)
    first = next(coming)
    blocks, kind = chain([first], coming), target.suffix.lower()
    with atomic_write(target) as part, part.open("wb") as file:
        if kind == ".npy":
            _write_npy(file, blocks, (source.n_rows, first.shape[1]), first.dtype)
        else:
            _write_table(file, blocks, names, first.dtype, kind=kind)
    return target


def _score_blocks(local: Local, source: RowSource) -> Iterator[HostArray]:
    for block in source.map_blocks(local):
        scores = to_host(block)
        if not np.isfinite(scores).all():
            require_finite(source)
        yield scores


def _check_target(target: Path, source: RowSource) -> None:
    if target.suffix.lower() not in KINDS:
        message = (
            f"Scores are written to {', '.join(KINDS)} files, and {target.name!r} is none of them. Choose one of these."
        )
        raise ParameterError(message)
    if target.is_dir():
        message = f"{str(target)!r} is a folder, and scores are written to a file. Name a file in it."
        raise ParameterError(message)
    if not target.parent.is_dir():
        message = f"There is no folder {str(target.parent)!r} to write {target.name!r} to. Make it first."
        raise ParameterError(message)
    if any(target.resolve() == path.resolve() for path in source.files):
        message = f"{target} is the file that the rows are read from. Write the scores to another one."
        raise ParameterError(message)


def _write_npy(file: IO[bytes], blocks: Iterator[HostArray], shape: tuple[int, int], dtype: np.dtype[Any]) -> None:
    head = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, head)
    for scores in blocks:
        file.write(np.ascontiguousarray(scores).data)


def _write_table(
    file: IO[bytes], blocks: Iterator[HostArray], names: Sequence[str], dtype: np.dtype[Any], *, kind: str
) -> None:
    import pyarrow as pa
    from pyarrow import csv, parquet

    schema = pa.schema([(name, pa.from_numpy_dtype(dtype)) for name in names])
    with (parquet.ParquetWriter if kind == ".parquet" else csv.CSVWriter)(file, schema) as writer:
        for scores in blocks:
            columns = [pa.array(np.ascontiguousarray(scores[:, j])) for j in range(scores.shape[1])]
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))
