"""Rows of the host on a device, moved there as a whole or streamed: the same answers, back where the rows are.

On a machine with a CUDA device the same tests are run there; elsewhere the host's memory passes for one.
"""

import warnings

import numpy as np
import pytest
from scipy import sparse

import gramian
from gramian import ICA, PCA, FastICA, IncrementalPCA, KernelPCA, TruncatedSVD
from gramian.analysis.analyze import analyze
from gramian.errors import InputError, MemoryBudgetError, NotSupportedError, ParameterError
from gramian.sources import as_source, on_device
from gramian.sources.rows import RowSource
from gramian.testing.counting import CountingRows

torch = pytest.importorskip("torch", reason="rows are moved by torch")

IS_CUDA = torch.cuda.is_available()


@pytest.fixture
def there(request):
    """The name of a device: CUDA's, or the host's memory that passes for one."""
    if not IS_CUDA:
        request.getfixturevalue("device")
    return "cuda" if IS_CUDA else "cpu"


@pytest.fixture(params=["whole", "streamed"])
def way(request, monkeypatch):
    """Rows that fit on the device, and rows for which too little is free there."""
    if request.param == "streamed":
        monkeypatch.setattr(on_device, "free_bytes", lambda _: 1000)
    return request.param


def rows_of(n, d, dtype=np.float64, *, seed=0):
    """Return rows of Laplacian sources whose spread rises, so that all that is asked for is apart."""
    rng = np.random.default_rng(seed)
    return (rng.laplace(size=(n, d)) * 1.2 ** np.arange(min(d, 40)).take(np.arange(d), mode="clip") + 1).astype(dtype)


def apart(left, right):
    """Return the largest difference of two arrays relative to the largest entry."""
    return float(np.abs(left - right).max() / np.abs(right).max())


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(3000, 7), (30, 500)])
@pytest.mark.parametrize("kind", [PCA, TruncatedSVD])
def test_components_are_those_of_the_host(kind, shape, dtype, there, way):
    """Tall and wide rows give the host's components and scores, as NumPy arrays in the precision of the rows."""
    X = rows_of(*shape, dtype)
    here, moved = kind(3), kind(3, device=there)
    scores, found = here.fit_transform(X), moved.fit_transform(X)
    assert type(found) is type(moved.components_) is np.ndarray
    assert found.dtype == moved.components_.dtype == dtype
    tol = 1e-9 if dtype is np.float64 else 1e-5
    assert apart(moved.components_, here.components_) < tol
    assert apart(found, scores) < tol
    assert apart(moved.transform(X), scores) < tol
    assert way[:5] in moved._fitted_model().plan.moved.replace("moved", "whole")


@pytest.mark.parametrize("kind", [ICA, FastICA])
def test_sources_are_those_of_the_host(kind, there, way):
    """ICA unmixes moved rows as it does those of the host."""
    X = rows_of(4000, 3) @ np.array([[1.0, 0.5, 0.2], [0.0, 1.0, 0.5], [0.3, 0.0, 1.0]])
    here, moved = kind(random_state=0), kind(random_state=0, device=there)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores, found = here.fit_transform(X), moved.fit_transform(X)
    assert type(found) is type(moved.mixing_) is np.ndarray
    assert apart(found, scores) < 1e-4
    assert apart(moved.transform(X), found) < 1e-9
    del way


@pytest.mark.parametrize("ending", ["npy", "csv", "parquet"])
@pytest.mark.parametrize("shape", [(2000, 5), (20, 60)])
def test_files_are_read_as_often_as_on_the_host(ending, shape, there, way, tmp_path):
    """A file gives the host's components; streamed, it takes as many passes as on the host, moved whole one."""
    X, path = rows_of(*shape), tmp_path / f"rows.{ending}"
    if ending == "npy":
        np.save(path, X)
    elif ending == "csv":
        names = ",".join(f"c{j}" for j in range(shape[1]))
        np.savetxt(path, X, delimiter=",", header=names, comments="", fmt="%.17g")
    else:
        pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pa.table({f"c{j}": X[:, j] for j in range(shape[1])}), path)
    here, moved = PCA(3).fit(path), PCA(3, device=there).fit(path)
    assert apart(moved.components_, here.components_) < 1e-9
    assert apart(moved.fit_transform(path), here.transform(path)) < 1e-9
    passes = {}
    for name, device in (("here", None), ("there", there)):
        rows = CountingRows(as_source(path))
        PCA(3, device=device).fit(rows)
        passes[name] = rows.passes
    assert passes["there"] == (1 if way == "whole" else passes["here"])


def test_weights_are_repetitions(there, way):
    """A weighted row counts as often on the device as on the host, and so does a row without weight."""
    X, w = rows_of(500, 4), np.random.default_rng(1).integers(0, 3, 500)
    here, moved = PCA(2).fit(X, sample_weight=w), PCA(2, device=there).fit(X, sample_weight=w)
    assert apart(moved.components_, here.components_) < 1e-9
    assert apart(moved.explained_variance_, here.explained_variance_) < 1e-9
    assert way


def test_any_layout_crosses(there, way):
    """Columns first, a slice, and a map of a file that nobody may write to are rows like others."""
    X = rows_of(400, 6)
    read_only = X.copy()
    read_only.flags.writeable = False
    wanted = PCA(2).fit(X).components_
    for rows in (np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2], read_only):
        assert apart(PCA(2, device=there).fit(rows).components_, wanted) < 1e-9
    assert way


@pytest.mark.parametrize("name", ["rbf", "poly"])
def test_kernel_components_are_those_of_the_host(name, there):
    """Kernel PCA of moved rows projects rows of the host, and holds its own rows there."""
    X = rows_of(120, 3)
    here, moved = (KernelPCA(3, kernel=name, device=device) for device in (None, there))
    scores, found = here.fit_transform(X), moved.fit_transform(X)
    assert apart(found, scores) < 1e-5
    assert apart(moved.transform(X[:9]), scores[:9]) < 1e-5
    assert type(moved.X_fit_) is np.ndarray
    assert not np.may_share_memory(moved.X_fit_, X)


def test_a_saved_model_opens_anywhere(there, tmp_path):
    """A model of moved rows is one of the host: it is saved and loaded as such."""
    X = rows_of(100, 3)
    moved = PCA(2, device=there).fit(X)
    moved.save(tmp_path / "model.gramian")
    assert apart(gramian.load(tmp_path / "model.gramian").transform(X), moved.transform(X)) < 1e-12


def test_the_plan_says_how_rows_come_there(there, way):
    """Before the fit and after it, and no row is moved for a plan."""
    X = rows_of(300, 3)
    said = str(gramian.plan(X, 2, device=there))
    assert ("moved to" if way == "whole" else "streamed to") in said
    assert str(PCA(2, device=there).fit(X).plan_).splitlines()[-1] == said.splitlines()[-1]


def test_missing_values_are_refused_with_their_place(there, way, tmp_path):
    """A file's NaN is named by file, row and column, as on the host."""
    X = rows_of(50, 3)
    X[7, 1] = np.nan
    np.save(tmp_path / "rows.npy", X)
    with pytest.raises(InputError, match=r"row 7, column 1 .*rows\.npy"):
        PCA(2, device=there).fit(tmp_path / "rows.npy")
    assert way


def test_what_cannot_move_is_refused(there, monkeypatch):
    """Sparse rows, kernel rows that do not fit, landmarks, batches: each with what to do."""
    X = rows_of(60, 3)
    with pytest.raises(NotSupportedError, match=r"these are sparse\. Pass X\.toarray\(\)"):
        PCA(2, device=there).fit(sparse.csr_array(X))
    with pytest.raises(ParameterError, match="landmarks is computed on the host"):
        KernelPCA(2, kernel="rbf", landmarks=10, device=there).fit(X)
    for fit in (PCA(2, device=there).partial_fit, IncrementalPCA(2, device=there).fit):
        with pytest.raises(ParameterError, match="these rows are on 'cpu', from where they are not moved"):
            fit(X)
    monkeypatch.setattr(on_device, "free_bytes", lambda _: 1000)
    with pytest.raises(MemoryBudgetError, match=r"60 x 3 rows take .* has room for 20 of them"):
        KernelPCA(2, kernel="rbf", device=there).fit(X)


def test_dask_rows_are_refused(there):
    """Rows of Dask's are elsewhere already."""
    array = pytest.importorskip("dask.array")
    with pytest.raises(NotSupportedError, match=r"these are Dask's. Pass X\.compute\(\)"):
        PCA(2, device=there).fit(array.from_array(rows_of(60, 3)))


@pytest.mark.parametrize("device", ["cuda:99", "mps", *([] if IS_CUDA else ["cuda", torch.device("cuda")])])
def test_a_device_that_is_not_there_is_refused(device):
    """The error names it, before a file is read."""
    with pytest.raises(ParameterError, match=f"device='{device}', and torch"):
        PCA(2, device=device).fit("no-such-file.csv")


@pytest.mark.parametrize("method", ["pca", "kpca", "ica"])
def test_an_analysis_is_that_of_the_host(method, there):
    """What an analysis finds on a device it finds on the host."""
    X = rows_of(200, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        here, moved = (analyze(X, method=method, n_components=2, device=device) for device in (None, there))
    assert apart(moved.scores[:, :2], here.scores[:, :2]) < 1e-4
    assert type(moved.scores) is np.ndarray


def test_blocks_are_read_ahead_in_order(there, monkeypatch):
    """Each block of a stream is folded once, in its order and at its place, by any number of workers."""
    monkeypatch.setattr(on_device, "free_bytes", lambda _: 1000)
    X = rows_of(5000, 3)
    rows: RowSource = on_device.moved(as_source(X), there)
    seen = rows.reduce(
        lambda state, block: [*(state or []), (block.start, block.rows.cpu().numpy())], lambda a, b: a + b
    )
    assert [start for start, _ in seen] == sorted(start for start, _ in seen)
    assert np.array_equal(np.concatenate([part for _, part in seen]), X)


@pytest.mark.skipif(not IS_CUDA, reason="no CUDA device here")
def test_many_blocks_cross_on_cuda(monkeypatch):
    """Pinned buffers that are used again and again, by many workers, hold what they should when they are read."""
    X = rows_of(2_000_000, 20, np.float32)
    wanted = PCA(5).fit(X)
    for free in (on_device.free_bytes, lambda _: 1000):
        monkeypatch.setattr(on_device, "free_bytes", free)
        for _ in range(3):
            assert apart(PCA(5, device="cuda").fit(X).components_, wanted.components_) < 1e-5
    rows = on_device.moved(as_source(X), "cuda")
    with torch.cuda.stream(torch.cuda.Stream()):
        total = rows.reduce(lambda s, b: b.rows.double().sum(0) + (0 if s is None else s), lambda a, b: a + b)
        assert apart(total.cpu().numpy(), X.sum(axis=0, dtype=np.float64)) < 1e-12
