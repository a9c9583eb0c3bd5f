"""One table: memory = Parquet = CSV = Excel = JSON = npy = HDF5 = Zarr = Dask, to rounding, for PCA, KernelPCA and ICA.

Every method is solved to the end here, directly or with a tolerance near rounding, so that what is left between two
places of the same rows is the order of their sums. That is a few eps (2e-16) times the number of sums and, for
directions, over the gaps between eigenvalues, which these rows keep wide: 1e-12 is allowed. ICA stops at a gradient of
1e-12, from which its sources differ by some times that: ten times as much is allowed.
"""

import numpy as np
import pytest

from gramian import ICA, PCA, KernelPCA
from gramian.testing import largest_angle
from tests.sources.files import write

ROUNDING, UNMIXED = 1e-12, 1e-11

METHODS = {
    "PCA": lambda: PCA(n_components=4),
    "PCA scaled": lambda: PCA(n_components=4, scale=True),
    "PCA krylov": lambda: PCA(n_components=4, svd_solver="krylov", tol=1e-14),
    "PCA gram": lambda: PCA(n_components=4, svd_solver="gram"),
    "KernelPCA": lambda: KernelPCA(n_components=4, kernel="rbf", gamma=1e-3, eigen_solver="dense"),
    "KernelPCA landmarks": lambda: KernelPCA(n_components=4, kernel="rbf", gamma=1e-3, landmarks=60, random_state=0),
    "ICA": lambda: ICA(n_components=6, random_state=0, tol=1e-12, max_iter=500),
}


def _in_dask(folder, X):
    del folder
    da = pytest.importorskip("dask.array")
    return da.from_array(X, chunks=(250, 4))


FILES = ("parquet", "csv", "npy", "hdf5", "zarr", "excel", "json", "json lines", "npy of three dimensions")
PLACES = {kind: lambda folder, X, kind=kind: write(folder, kind, X, rows=250) for kind in FILES} | {"dask": _in_dask}


@pytest.fixture(scope="module", name="X")
def rows():
    """Six independent sources mixed into ten columns, with an offset."""
    rng = np.random.default_rng(0)
    S = rng.uniform(-1, 1, size=(900, 6)) * [6, 5, 4, 3, 2, 1.5]
    return S @ rng.standard_normal((6, 10)) + 0.05 * rng.standard_normal((900, 10)) + 30.0


@pytest.fixture(scope="module", name="memory")
def in_memory(X):
    """The models fitted in memory."""
    return {name: make().fit(X) for name, make in METHODS.items()}


def _values(model):
    return model.eigenvalues_ if isinstance(model, KernelPCA) else model.explained_variance_


def _directions(model):
    return model.eigenvectors_ if isinstance(model, KernelPCA) else model.components_.T


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("method", METHODS)
def test_every_place_gives_what_memory_gives(tmp_path, X, memory, method, place):
    """Eigenvalues relative to the largest, the angle between the subspaces, and each direction of its own."""
    truth, found = memory[method], METHODS[method]().fit(PLACES[place](tmp_path, X))
    values, expected = _values(truth), _directions(truth)
    allowed = UNMIXED if method == "ICA" else ROUNDING
    assert np.abs(_values(found) - values).max() <= allowed * values[0]
    assert largest_angle(_directions(found), expected) <= allowed
    assert np.abs(_directions(found) - expected).max() <= 10 * allowed * np.abs(expected).max()
