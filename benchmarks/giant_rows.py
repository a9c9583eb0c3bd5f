"""Makers of the large tables: counts of words in CSR, and dense pieces that Dask reads from disk."""

import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

PIECES = 100
"""Pieces in which rows are made and written."""


def zipf_rows(n: int, d: int, each: int, *, seed: int, topics: int = 40) -> sp.csr_array:
    """Return CSR float32 rows of counts, ``each`` entries drawn a row: words by popularity, half of them by topic.

    A topic has nine tenths of the rows of the one before it, so that eigenvalues fall as those of texts do.
    """
    rng = np.random.default_rng(seed)
    columns = (d * rng.random((n, each), dtype=np.float32) ** 3).astype(np.int32)
    popularity = 0.9 ** np.arange(topics)
    own = rng.choice(topics, n, p=popularity / popularity.sum()).astype(np.int32)[:, None]
    half = each // 2
    span = max(1, d // topics)
    columns[:, :half] = own * span + (columns[:, :half] // topics)
    np.clip(columns, 0, d - 1, out=columns)
    columns.sort(axis=1)
    indptr = np.arange(0, n * each + 1, each, dtype=np.int32 if n * each < 2**31 else np.int64)
    rows = sp.csr_array((np.ones(n * each, np.float32), columns.ravel(), indptr), shape=(n, d))
    rows.sum_duplicates()
    return rows


def write_csr(path: Path, size: int, d: int, each: int) -> int:
    """Write pieces of CSR rows as one file, as ``scipy.sparse.save_npz`` does, uncompressed; return its entries."""

    def pieces() -> Iterator[sp.csr_array]:
        return (zipf_rows(size, d, each, seed=i) for i in range(PIECES))

    lengths = np.concatenate([np.diff(X.indptr) for X in pieces()])
    indptr = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    entries = int(indptr[-1])
    small = {"indptr": indptr, "shape": np.array([len(lengths), d]), "format": np.array(b"csr")}
    with zipfile.ZipFile(path, "w") as archive:
        for name, values in small.items():
            with archive.open(f"{name}.npy", "w") as file:
                np.lib.format.write_array(file, values)
        for name, kind in (("data", "<f4"), ("indices", "<i4")):
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                header = {"descr": kind, "fortran_order": False, "shape": (entries,)}
                np.lib.format.write_array_header_1_0(file, header)
                for X in pieces():
                    file.write(getattr(X, name).astype(kind, copy=False).data)
    return entries


def write_dense(folder: Path, n: int, d: int) -> np.ndarray:
    """Write standard normal pieces with ten strong directions; return their ten leading variances, from moments."""
    from gramian.sources import as_source, measure_moments

    rng = np.random.default_rng(0)
    V = np.linalg.qr(rng.standard_normal((d, 10)))[0] * np.geomspace(20.0, 5.0, 10)
    whole = None
    for i in range(PIECES):
        X = rng.standard_normal((n // PIECES, d))
        X += rng.standard_normal((n // PIECES, 10)) @ V.T
        np.save(folder / f"{i}.npy", X)
        moments = measure_moments(as_source(X))
        whole = moments if whole is None else whole.merge(moments)
    return np.linalg.eigvalsh(whole.scatter / (whole.count - 1))[::-1][:10]


def read_piece(folder: str, i: int, after: int, name: str) -> np.ndarray:
    """Read one piece; the worker that makes read number ``after`` dies, once."""
    reads, killed = Path(folder) / f"reads-{name}", Path(folder) / f"killed-{name}"
    with reads.open("a") as log:
        log.write("x")
    if after and reads.stat().st_size >= after and not killed.exists():
        killed.touch()
        os._exit(1)
    return np.load(Path(folder) / f"{i}.npy")


def dask_rows(folder: str, n: int, d: int, name: str, after: int) -> Any:
    """Return the pieces in a folder as a Dask array; the worker that makes read number ``after`` dies, once."""
    import dask.array as da
    from dask import delayed

    read, size = delayed(read_piece, pure=False), n // PIECES
    parts = [da.from_delayed(read(folder, i, after, name), shape=(size, d), dtype=float) for i in range(PIECES)]
    return da.concatenate(parts)


class GatheredBytes:
    """Counts, while it lasts, the bytes of all results that come to a client of Dask."""

    def __init__(self, client: Any) -> None:
        self.client, self.gather, self.total = client, client.gather, 0

    def __enter__(self) -> Self:
        from distributed.protocol import serialize

        def counted(client: Any, futures: Any, **options: Any) -> Any:
            results = self.gather(client, futures, **options)
            self.total += sum(memoryview(frame).nbytes for frame in serialize(results)[1])
            return results

        self.client.gather = counted
        return self

    def __exit__(self, *_error: object) -> None:
        self.client.gather = self.gather
