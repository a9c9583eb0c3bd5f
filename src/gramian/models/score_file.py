"""Scores written to a file block by block, whole or not at all."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np

from gramian.arrays.namespace import Array, HostArray, to_host
from gramian.errors import ParameterError
from gramian.sources.file_rows import FileRows
from gramian.sources.opening import require_finite
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
    blocks = chain([first], coming)
    write = {".npy": _write_npy, ".parquet": _write_parquet, ".csv": _write_csv}[target.suffix.lower()]
    with draft_of(target) as file:
        write(file, blocks, (source.n_rows, first.shape[1]), first.dtype, list(names))
    return target


@contextmanager
def draft_of(target: Path) -> Iterator[IO[bytes]]:
    """Open a file that gets its name when all of it is on the disk, and leaves nothing behind when that fails."""
    draft = target.with_name(f".{target.name}.{os.getpid()}.draft")
    try:
        with draft.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _score_blocks(local: Local, source: RowSource) -> Iterator[HostArray]:
    if hasattr(source, "map_blocks"):  # files and chunks know how to read each of their parts once
        found = source.map_blocks(local)
    else:
        found = (local(source.block(i)) for i in range(source.n_blocks))
    for scores in found:
        yield _finite(to_host(scores), source)


def _finite(scores: HostArray, source: RowSource) -> HostArray:
    if not np.isfinite(scores).all():
        require_finite(source)
    return scores


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
    inputs = source.file.stamps if isinstance(source, FileRows) else ()
    if any(target.resolve() == stamp.path.resolve() for stamp in inputs):
        message = f"{target} is the file that the rows are read from. Write the scores to another one."
        raise ParameterError(message)


def _write_npy(
    file: IO[bytes], blocks: Iterator[HostArray], shape: tuple[int, int], dtype: np.dtype[Any], _names: list[str]
) -> None:
    head = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, head)
    for scores in blocks:
        file.write(np.ascontiguousarray(scores).data)


def _write_parquet(
    file: IO[bytes], blocks: Iterator[HostArray], _shape: tuple[int, int], dtype: np.dtype[Any], names: list[str]
) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    schema = pa.schema([(name, pa.from_numpy_dtype(dtype)) for name in names])
    with parquet.ParquetWriter(file, schema) as writer:
        for scores in blocks:
            writer.write_batch(_batch(scores, schema))


def _write_csv(
    file: IO[bytes], blocks: Iterator[HostArray], _shape: tuple[int, int], dtype: np.dtype[Any], names: list[str]
) -> None:
    import pyarrow as pa
    from pyarrow import csv

    schema = pa.schema([(name, pa.from_numpy_dtype(dtype)) for name in names])
    with csv.CSVWriter(file, schema) as writer:
        for scores in blocks:
            writer.write_batch(_batch(scores, schema))


def _batch(scores: HostArray, schema: Any) -> Any:
    import pyarrow as pa

    columns = [pa.array(np.ascontiguousarray(scores[:, j])) for j in range(scores.shape[1])]
    return pa.RecordBatch.from_arrays(columns, schema=schema)
