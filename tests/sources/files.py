"""Writers of the same rows in every kind of file, for the tests."""

from itertools import count

import numpy as np

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
    del rows
    _frame(X).to_csv(folder / "x.csv", index=False)
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


WRITERS = {
    "npy": _npy,
    "npy by columns": _npy_by_columns,
    "csv": _csv,
    "parquet": _parquet,
    "feather": _feather,
}
WRITERS |= {f"folder of {kind}": _folder(kind) for kind in ("npy", "csv", "parquet")}
"""Makers (folder, X, rows a group) -> path."""


def write(folder, kind, X, *, rows=1000):
    """Write X into a folder of its own as a file of that kind; return its path."""
    own = folder / f"{next(_number)}"
    own.mkdir()
    return WRITERS[kind](own, X, rows)
