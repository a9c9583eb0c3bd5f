"""Catalogs that tests are parametrized over: sources, kinds of X, solvers, types, shapes, hard matrices.

Adding a source, a kind of X or a solver is one line here, in addition to its own file.
"""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

from gramian.sources import as_source
from gramian.sources.dense import DenseRows
from gramian.sources.file_rows import FileRows
from gramian.sources.formats.npy import NpyFile
from gramian.sources.row_file import Spill
from gramian.sources.sparse import SparseRows
from gramian.testing import graded, hilbert, kahan, laeuchli


def _torch_tensor(X):
    torch = pytest.importorskip("torch")
    return torch.from_numpy(np.ascontiguousarray(X))


def _data_frame(X):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])


def _polars_frame(X):
    polars = pytest.importorskip("polars")
    return polars.DataFrame({f"c{j}": X[:, j] for j in range(X.shape[1])})


def _arrow_table(X):
    pyarrow = pytest.importorskip("pyarrow")
    return pyarrow.table({f"c{j}": X[:, j] for j in range(X.shape[1])})


def _strided(X):
    """Every second row and column of a larger array."""
    wide = np.zeros((2 * X.shape[0], 2 * X.shape[1]), dtype=X.dtype)
    wide[::2, ::2] = X
    return wide[::2, ::2]


def _read_only(X):
    copy = X.copy()
    copy.setflags(write=False)
    return copy


def dense_rows(X, weights=None, block_rows=5):
    """Dense rows in small blocks."""
    return DenseRows(X, weights=weights, block_rows=block_rows)


def fortran_rows(X, weights=None):
    """Dense rows in column order."""
    return DenseRows(np.asfortranarray(X), weights=weights, block_rows=5)


def strided_rows(X, weights=None):
    """Dense rows that are every second row and column of a larger array."""
    return DenseRows(_strided(X), weights=weights, block_rows=5)


def torch_rows(X, weights=None):
    """Dense rows of a torch tensor."""
    return DenseRows(_torch_tensor(X), weights=None if weights is None else _torch_tensor(weights), block_rows=5)


def sparse_rows(X, weights=None):
    """Sparse rows in three blocks."""
    return SparseRows(sp.csr_array(X), weights=weights, n_blocks=min(3, X.shape[0]))


def file_rows(X, weights=None):
    """Rows in a file that is removed with the source, in small windows."""
    spill = Spill()
    np.save(spill.path("x.npy"), X)
    file = NpyFile(spill.path("x.npy"), "x.npy")
    spill.keep_while(file)
    return FileRows(file, weights=weights, block_rows=5)


def _dask_array(X, *, unknown=False):
    """Rows in chunks that are cut between columns too; their sizes forgotten where ``unknown``, one of them empty."""
    da = pytest.importorskip("dask.array")
    chunked = da.from_array(np.ascontiguousarray(X), chunks=(-(-X.shape[0] // 3), -(-X.shape[1] // 2)))
    return da.concatenate([chunked[:1], chunked[chunked[:, 0] != chunked[:, 0]], chunked[1:]]) if unknown else chunked


def _dask_sparse_array(X):
    """Rows whose chunks are CSR."""
    da = pytest.importorskip("dask.array")
    return da.from_array(np.ascontiguousarray(X), chunks=(-(-X.shape[0] // 3), X.shape[1])).map_blocks(sp.csr_matrix)


def _dask_frame(X):
    dd = pytest.importorskip("dask.dataframe")
    return dd.from_pandas(_data_frame(X), npartitions=3)


def dask_rows(X, weights=None, opened_as=_dask_array):
    """Rows of a Dask collection."""
    return as_source(opened_as(X), weights=weights)


SOURCES = {
    "dense": dense_rows,
    "one-block": partial(dense_rows, block_rows=1 << 20),
    "fortran": fortran_rows,
    "strided": strided_rows,
    "torch": torch_rows,
    "sparse": sparse_rows,
    "file": file_rows,
    "dask": dask_rows,
    "dask-unknown": partial(dask_rows, opened_as=partial(_dask_array, unknown=True)),
    "dask-sparse": partial(dask_rows, opened_as=_dask_sparse_array),
    "dask-frame": partial(dask_rows, opened_as=_dask_frame),
}
"""Makers of a row source from a NumPy array and optional weights."""

DOORS = {
    "numpy": np.ascontiguousarray,
    "fortran": np.asfortranarray,
    "strided": _strided,
    "reversed": lambda X: np.ascontiguousarray(X[::-1])[::-1],
    "read-only": _read_only,
    "big-endian": lambda X: X.astype(X.dtype.newbyteorder(">")),
    "csr": sp.csr_array,
    "csc": sp.csc_array,
    "torch": _torch_tensor,
    "pandas": _data_frame,
    "polars": _polars_frame,
    "arrow": _arrow_table,
    "dask": _dask_array,
    "dask-unknown": partial(_dask_array, unknown=True),
    "dask-csr": _dask_sparse_array,
    "dask-frame": _dask_frame,
}
"""What the same rows can be when they come to an estimator."""

DTYPES = ("float32", "float64")

SHAPES = {"tall": (60, 20), "wide": (20, 60), "square": (32, 32)}
"""Sizes that long double Jacobi answers in a tenth of a second."""

HARD = {"laeuchli": laeuchli, "hilbert": hilbert, "kahan": kahan, "graded": graded}
"""Makers (n, d) -> X of the matrices on which squaring loses digits."""

SCIKIT_LEARN_SOLVERS = ("auto", "full", "covariance_eigh", "arpack", "randomized")
OUR_SOLVERS = ("gram", "krylov", "power")


def solvers():
    """Every eigensolver, as a value, by its name; loaded when asked for."""
    from gramian.eigen.direct import Direct
    from gramian.eigen.krylov import Krylov
    from gramian.eigen.power import Power

    return {"direct": Direct(), "krylov": Krylov(), "power": Power()}


def slowly(*values):
    """The values of a sweep that `make test-all` goes through too: parameters marked slow, tuples for several names."""
    return [pytest.param(*(v if isinstance(v, tuple) else (v,)), marks=pytest.mark.slow) for v in values]


def parameters(catalog):
    """The entries of a catalogue as pytest parameters that bear their names."""
    return [pytest.param(value, id=name) for name, value in catalog.items()]


def host(x):
    """Any array or table an estimator may return, as a NumPy array."""
    if hasattr(x, "detach"):
        return x.detach().cpu().numpy()
    return np.asarray(x.to_numpy() if hasattr(x, "to_numpy") else x)
