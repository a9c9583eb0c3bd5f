"""Writers of the same rows in every kind of file, for the tests."""

import gzip
import json
from itertools import count
from unittest.mock import patch

import numpy as np
import pytest
import scipy.sparse as sp

_number = count()


def _frame(X):
    import pandas as pd

    return pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])


def _npy(folder, X, rows):
    del rows
    np.save(folder / "x.npy", X)
    return folder / "x.npy"


def _npy_by_columns(folder, X, rows):
    del rows
    np.save(folder / "x.npy", np.asfortranarray(X))
    return folder / "x.npy"


def _csv(folder, X, rows):
    import pyarrow as pa
    from pyarrow import csv

    del rows
    table = pa.table([pa.array(column) for column in np.ascontiguousarray(X.T)], names=list(_frame(X[:0]).columns))
    csv.write_csv(table, folder / "x.csv", csv.WriteOptions(quoting_style="needed"))
    return folder / "x.csv"


def _parquet(folder, X, rows):
    _frame(X).to_parquet(folder / "x.parquet", row_group_size=rows)
    return folder / "x.parquet"


def _feather(folder, X, rows):
    _frame(X).to_feather(folder / "x.feather", chunksize=rows)
    return folder / "x.feather"


def _folder(kind):
    def several(folder, X, rows):
        inner = folder / "many"
        inner.mkdir()
        for i, first in enumerate(range(0, len(X), rows)):
            part = folder / f"part{i}"
            part.mkdir()
            path = WRITERS[kind](part, X[first : first + rows], max(rows // 2, 1))
            path.rename(inner / f"{i:03d}{path.suffix}")
        return inner

    return several


def _npz(folder, X, rows):
    del rows
    np.savez(folder / "x.npz", rows=X, note=np.arange(3))
    return folder / "x.npz"


def _npz_compressed(folder, X, rows):
    del rows
    np.savez_compressed(folder / "x.npz", X)
    return folder / "x.npz"


def _sparse_npz(folder, X, rows):
    del rows
    sp.save_npz(folder / "x.npz", sp.csr_array(X), compressed=False)
    return folder / "x.npz"


def _sparse_npz_compressed(folder, X, rows):
    del rows
    sp.save_npz(folder / "x.npz", sp.csr_array(X))
    return folder / "x.npz"


def _hdf5(folder, X, rows):
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "x.h5", "w") as file:
        file.create_dataset("inner/rows", data=X, chunks=(min(rows, len(X)), *X.shape[1:]))
    return folder / "x.h5"


def _h5ad(folder, X, rows):
    h5py = pytest.importorskip("h5py")
    del rows
    with h5py.File(folder / "x.h5ad", "w") as file:
        file.create_dataset("X", data=X)
        _anndata_names(file, X.shape[1])
    return folder / "x.h5ad"


def _h5ad_csr(folder, X, rows):
    h5py = pytest.importorskip("h5py")
    del rows
    csr = sp.csr_array(X)
    with h5py.File(folder / "x.h5ad", "w") as file:
        group = file.create_group("X")
        group.attrs["encoding-type"], group.attrs["shape"] = "csr_matrix", X.shape
        for part in ("data", "indices", "indptr"):
            group.create_dataset(part, data=getattr(csr, part))
        _anndata_names(file, X.shape[1])
    return folder / "x.h5ad"


def _anndata_names(file, d):
    var = file.create_group("var")
    var.attrs["_index"] = "gene"
    var.create_dataset("gene", data=[f"g{j}".encode() for j in range(d)])


def _zarr(folder, X, rows):
    zarr = pytest.importorskip("zarr")
    array = zarr.open(str(folder / "x.zarr"), mode="w", shape=X.shape, chunks=(rows, *X.shape[1:]), dtype=X.dtype)
    array[:] = X
    return folder / "x.zarr"


def _matrix_market(folder, X, rows):
    del rows
    coo = sp.coo_array(X)
    order = np.random.default_rng(0).permutation(coo.nnz)
    lines = [f"{coo.row[i] + 1} {coo.col[i] + 1} {float(coo.data[i])!r}" for i in order]
    head = f"%%MatrixMarket matrix coordinate real general\n% a comment\n{X.shape[0]} {X.shape[1]} {coo.nnz}\n"
    (folder / "x.mtx").write_text(head + "\n".join(lines) + "\n")
    return folder / "x.mtx"


def _matrix_market_array(folder, X, rows):
    del rows
    head = f"%%MatrixMarket matrix array real general\n{X.shape[0]} {X.shape[1]}\n"
    (folder / "x.mtx").write_text(head + "\n".join(repr(float(x)) for x in X.T.ravel()) + "\n")
    return folder / "x.mtx"


def _npy_of_three_dimensions(folder, X, rows):
    del rows
    np.save(folder / "x.npy", X[:, :, None])
    return folder / "x.npy"


def _hdf5_of_three_dimensions(folder, X, rows):
    return _hdf5(folder, X[:, None, :], rows)


def _zarr_of_three_dimensions(folder, X, rows):
    return _zarr(folder, X[:, None, :], rows)


def _excel(folder, X, rows):
    openpyxl = pytest.importorskip("openpyxl")
    del rows
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("rows")
    # Excel writes 17 digits, which tell every float64; openpyxl writes 16.
    with patch("openpyxl.cell._writer.safe_string", lambda value: value if isinstance(value, str) else repr(value)):
        for line in [_frame(X[:0]).columns.tolist(), *X.tolist()]:
            sheet.append(line)
        book.save(folder / "x.xlsx")
    return folder / "x.xlsx"


def _records(X):
    names = _frame(X[:0]).columns
    return [dict(zip(names, row, strict=True)) for row in X.tolist()]


def _json(folder, X, rows):
    del rows
    (folder / "x.json").write_text(json.dumps(_records(X)))
    return folder / "x.json"


def _json_lines(folder, X, rows):
    del rows
    text = "\n".join(map(json.dumps, _records(X)))
    (folder / "x.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    return folder / "x.jsonl.gz"


WRITERS = {
    "npy": _npy,
    "npy by columns": _npy_by_columns,
    "csv": _csv,
    "parquet": _parquet,
    "feather": _feather,
    "npz": _npz,
    "compressed npz": _npz_compressed,
    "sparse npz": _sparse_npz,
    "compressed sparse npz": _sparse_npz_compressed,
    "hdf5": _hdf5,
    "h5ad": _h5ad,
    "h5ad csr": _h5ad_csr,
    "zarr": _zarr,
    "matrix market": _matrix_market,
    "matrix market array": _matrix_market_array,
    "npy of three dimensions": _npy_of_three_dimensions,
    "hdf5 of three dimensions": _hdf5_of_three_dimensions,
    "zarr of three dimensions": _zarr_of_three_dimensions,
    "excel": _excel,
    "json": _json,
    "json lines": _json_lines,
}
WRITERS |= {f"folder of {kind}": _folder(kind) for kind in ("npy", "csv", "parquet", "excel")}
"""Makers (folder, X, rows a group) -> path."""


def write(folder, kind, X, *, rows=1000):
    """Write X into a folder of its own as a file of that kind; return its path."""
    own = folder / f"{next(_number)}"
    own.mkdir()
    return WRITERS[kind](own, X, rows)
