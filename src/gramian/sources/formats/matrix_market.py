"""Matrix Market files: entries in any order, sorted by rows into a copy on disk that is then read as CSR."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import numpy as np
import scipy

from gramian.arrays.namespace import HostArray
from gramian.errors import InputError, NotSupportedError
from gramian.machine import MEGABYTE, memory_budget
from gramian.sources.formats.csr import CsrFile, DiskVector
from gramian.sources.formats.npy import NpyFile
from gramian.sources.row_file import FileVersion, RowFile, Spill

ENTRY = np.dtype([("row", np.int64), ("column", np.int64), ("value", np.float64)])


@dataclass(frozen=True)
class _Header:
    """What the first lines say."""

    is_coordinate: bool
    has_values: bool
    symmetry: str
    shape: tuple[int, int]
    entries: int
    begin: int


def open_matrix_market(path: Path, origin: str) -> RowFile:
    """Open a Matrix Market file of real numbers: general, symmetric or skew-symmetric entries, or a dense array.

    Cost: the text is parsed once and a copy written to disk, 12 to 16 bytes per entry; memory is a part of the budget,
    however many entries there are.
    """
    versions = (FileVersion.of(path),)
    with path.open("rb") as file:
        header = _read_header(file, origin)
    spill = Spill()
    if header.is_coordinate:
        found: RowFile = _sorted_rows(path, header, spill, origin, versions)
    else:
        found = _dense_columns(path, header, spill, origin)
        found.versions = versions
    spill.keep_while(found)
    return found


def _read_header(file: BinaryIO, origin: str) -> _Header:
    words = file.readline().decode("latin-1").lower().split()
    if len(words) < 5 or words[0] != "%%matrixmarket" or words[1] != "matrix":
        _refuse(origin, "its first line is not '%%MatrixMarket matrix ...'")
    if words[3] not in ("real", "integer", "pattern", "double") or words[4] not in (
        "general",
        "symmetric",
        "skew-symmetric",
    ):
        message = (
            f"{origin} holds a {words[3]} {words[4]} matrix. Real general, symmetric or skew-symmetric ones are read."
        )
        raise NotSupportedError(message)
    line = file.readline()
    while line.startswith(b"%") or (line and not line.strip()):
        line = file.readline()
    sizes = [int(word) for word in line.split() if word.isdigit()]
    if len(sizes) != (3 if words[2] == "coordinate" else 2):
        _refuse(origin, "its line of sizes is missing or damaged")
    n, d = sizes[:2]
    entries = sizes[2] if words[2] == "coordinate" else n * d
    return _Header(words[2] == "coordinate", words[3] != "pattern", words[4], (n, d), entries, file.tell())


def _numbers(path: Path, header: _Header, width: int, origin: str) -> Iterator[HostArray]:
    """Parse the text after the header piece by piece: arrays (m, width)."""
    from pyarrow import ArrowInvalid, BufferReader, csv, float64

    names = [str(j) for j in range(width)]
    done = 0
    for text in _whole_lines(path, header.begin):
        plain = re.sub(rb"[ \t]+", b" ", re.sub(rb"(?m)^[ \t]+|[ \t\r]+$|^%.*$", b"", text)).strip()
        if not plain:
            continue
        try:
            table = csv.read_csv(
                BufferReader(plain),
                read_options=csv.ReadOptions(column_names=names, use_threads=False, block_size=len(plain) + 1),
                parse_options=csv.ParseOptions(delimiter=" "),
                convert_options=csv.ConvertOptions(column_types=dict.fromkeys(names, float64())),
            )
        except ArrowInvalid as error:
            _refuse(origin, f"an entry after the first {done:,} is no row of {width} numbers ({error})")
        yield np.column_stack([table[name].to_numpy() for name in names])
        done += table.num_rows
    if done != header.entries:
        _refuse(origin, f"its header says {header.entries:,} entries, and it has {done:,}")


def _whole_lines(path: Path, begin: int) -> Iterator[bytes]:
    with path.open("rb") as file:
        file.seek(begin)
        rest = b""
        while piece := file.read(8 * MEGABYTE):
            cut = piece.rfind(b"\n") + 1
            yield rest + piece[:cut]
            rest = piece[cut:]
        yield rest


def _sorted_rows(path: Path, header: _Header, spill: Spill, origin: str, versions: tuple[FileVersion, ...]) -> RowFile:
    n, _ = header.shape
    doubled = header.entries * (1 if header.symmetry == "general" else 2)
    # Sorting a bucket holds its entries about four times; each is an open file.
    wanted = 4 * doubled * ENTRY.itemsize // max(memory_budget() // 4, 1) + 1
    count = max(1, min(wanted, 256, n))
    step = -(-n // count)
    buckets = [spill.path(f"bucket{b}") for b in range(count)]
    with _Appending(buckets) as files:
        for entries in _entries(path, header, origin):
            which = entries["row"] // step
            for b in np.unique(which):
                entries[which == b].tofile(files[int(b)])
    vectors = _gathered(buckets, step, header, spill)
    return CsrFile(*vectors, header.shape, origin=origin, versions=versions)


def _entries(path: Path, header: _Header, origin: str) -> Iterator[HostArray]:
    seen = 0
    for numbers in _numbers(path, header, 3 if header.has_values else 2, origin):
        positions = numbers[:, :2] - 1
        bad = np.flatnonzero(
            ((positions < 0) | (positions >= header.shape) | (positions != np.floor(positions))).any(axis=1)
        )
        if bad.size:
            shown = " ".join(f"{value:g}" for value in numbers[bad[0], :2])
            _refuse(
                origin, f"entry {seen + int(bad[0]):,} stands at {shown}, outside {header.shape[0]} x {header.shape[1]}"
            )
        seen += len(numbers)
        found = np.empty(len(numbers), dtype=ENTRY)
        found["row"], found["column"] = positions[:, 0], positions[:, 1]
        found["value"] = numbers[:, 2] if header.has_values else 1.0
        yield found
        if header.symmetry != "general":
            yield _mirrored(found, -1.0 if header.symmetry == "skew-symmetric" else 1.0)


def _mirrored(entries: HostArray, sign: float) -> HostArray:
    off = entries[entries["row"] != entries["column"]]
    turned: HostArray = np.empty_like(off)
    turned["row"], turned["column"], turned["value"] = off["column"], off["row"], sign * off["value"]
    return turned


def _gathered(
    buckets: list[Path], step: int, header: _Header, spill: Spill
) -> tuple[DiskVector, DiskVector, HostArray]:
    n, d = header.shape
    indptr = np.zeros(n + 1, dtype=np.int64)
    with _Appending([spill.path("data"), spill.path("indices")]) as (data, indices):
        for b, bucket in enumerate(buckets):
            first, stop = b * step, min((b + 1) * step, n)
            found = np.fromfile(bucket, dtype=ENTRY)
            bucket.unlink()
            rows = scipy.sparse.coo_array(
                (found["value"], (found["row"] - first, found["column"])), shape=(max(stop - first, 0), d)
            )
            csr = rows.tocsr()
            csr.sum_duplicates()
            csr.data.tofile(data)
            csr.indices.astype(np.int64).tofile(indices)
            indptr[first + 1 : stop + 1] = indptr[first] + csr.indptr[1:]
    values = DiskVector(spill.path("data"), 0, np.dtype("f8"), int(indptr[-1]))
    return values, DiskVector(spill.path("indices"), 0, np.dtype("i8"), int(indptr[-1])), indptr


def _dense_columns(path: Path, header: _Header, spill: Spill, origin: str) -> RowFile:
    if header.symmetry != "general":
        message = f"{origin} holds half of a dense {header.symmetry} matrix. Save it in full, or as coordinates."
        raise NotSupportedError(message)
    copy = spill.path("rows.npy")
    with copy.open("wb") as file:
        head = {"descr": "<f8", "fortran_order": True, "shape": header.shape}
        np.lib.format.write_array_header_1_0(file, head)
        for numbers in _numbers(path, header, 1, origin):
            numbers[:, 0].tofile(file)
    return NpyFile(copy, origin)


class _Appending:
    """Several files written at a time."""

    def __init__(self, paths: list[Path]) -> None:
        self._paths = paths
        self._files: list[Any] = []

    def __enter__(self) -> list[Any]:
        self._files = [path.open("wb") for path in self._paths]
        return self._files

    def __exit__(self, *_: object) -> None:
        for file in self._files:
            file.close()


def _refuse(origin: str, what: str) -> NoReturn:
    message = f"{origin} is no sound Matrix Market file: {what}. Write the file again."
    raise InputError(message)
