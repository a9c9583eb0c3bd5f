"""The same numbers from a Dask collection as from memory, and nothing computed before it is asked for."""

import doctest
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from gramian import ICA, PCA, FourierFeatures, IncrementalPCA, KernelPCA, ProbabilisticPCA, TruncatedSVD
from gramian.errors import InputError, NotSupportedError
from gramian.sources import as_source
from gramian.testing import largest_angle
from tests.catalog import DOORS, parameters

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

DASK = {name: door for name, door in DOORS.items() if name.startswith("dask")}


def _rows(n=240, d=9, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, d)) * np.geomspace(4.0, 0.5, d) + 1.0
    X[np.abs(X) < 0.4] = 0.0
    return X


def _loaded(X, calls, chunks=4):
    """A Dask array that notes when one of its chunks is read."""
    from dask import delayed

    def load(part):
        calls.append(1)
        return part

    parts = np.array_split(X, chunks)
    arrays = [da.from_delayed(delayed(load, pure=False)(p), shape=p.shape, dtype=p.dtype) for p in parts]
    return da.concatenate(arrays)


@pytest.mark.parametrize("door", parameters(DASK))
@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("solver, shape", [("auto", (240, 9)), ("krylov", (400, 90)), ("gram", (12, 200))])
def test_pca_is_that_of_memory(door, scale, solver, shape):
    """Variances to rounding and the same subspace, for dense and sparse chunks, primal, dual and iterated."""
    X = _rows(*shape)
    memory = PCA(4, svd_solver=solver, scale=scale).fit(X)
    chunked = PCA(4, svd_solver=solver, scale=scale).fit(door(X))
    np.testing.assert_allclose(chunked.explained_variance_, memory.explained_variance_, rtol=1e-9)
    np.testing.assert_allclose(chunked.mean_, memory.mean_, rtol=1e-12, atol=1e-14)
    assert largest_angle(chunked.components_.T, memory.components_.T) < 1e-6
    np.testing.assert_allclose(chunked.transform(door(X)).compute(), memory.transform(X), atol=1e-6)


@pytest.mark.parametrize("door", parameters(DASK))
def test_truncated_svd_is_that_of_memory(door):
    """The same singular values and variances of scores; the scores themselves stay lazy."""
    X = _rows()
    memory, chunked = TruncatedSVD(3).fit(X), TruncatedSVD(3)
    scores = chunked.fit_transform(door(X))
    np.testing.assert_allclose(chunked.singular_values_, memory.singular_values_, rtol=1e-9)
    np.testing.assert_allclose(chunked.explained_variance_, memory.explained_variance_, rtol=1e-9)
    np.testing.assert_allclose(chunked.explained_variance_ratio_, memory.explained_variance_ratio_, rtol=1e-9)
    assert isinstance(chunked.explained_variance_, np.ndarray)
    np.testing.assert_allclose(scores.compute(), memory.transform(X), atol=1e-6)


@pytest.mark.parametrize("n_components", [0.8, "auto", "mle"])
def test_rules_choose_the_same_number(n_components):
    """A share of the variance, and the rules, see the same spectrum."""
    X = _rows()
    assert PCA(n_components).fit(DOORS["dask"](X)).n_components_ == PCA(n_components).fit(X).n_components_


@pytest.mark.parametrize("pre_image", ["ridge", "fixed_point", "distances"])
@pytest.mark.parametrize("how", [{"eigen_solver": "dense"}, {"eigen_solver": "tiled"}, {"landmarks": 60}])
def test_pre_images_are_those_of_memory(pre_image, how):
    """A fit on chunks, exact too, knows the way back to rows."""
    X = _rows(200, 5)
    memory = KernelPCA(3, kernel="rbf", gamma=0.05, pre_image=pre_image, **how).fit(X)
    chunked = KernelPCA(3, kernel="rbf", gamma=0.05, pre_image=pre_image, **how).fit(DOORS["dask"](X))
    expected = memory.inverse_transform(memory.transform(X[:20]))
    np.testing.assert_allclose(chunked.inverse_transform(chunked.transform(X[:20])), expected, atol=1e-5)


@pytest.mark.parametrize("door", parameters(DASK))
@pytest.mark.parametrize("how", [{"eigen_solver": "tiled"}, {"eigen_solver": "dense"}, {"landmarks": 60}])
def test_kernel_pca_is_that_of_memory(door, how):
    """Exact by pairs of chunks, dense, or on landmarks: the same eigenvalues, scores and errors."""
    named = DOORS["pandas"] if door is DASK["dask-frame"] else np.asarray
    X = _rows(300, 5)
    memory = KernelPCA(4, kernel="rbf", gamma=0.05, **how).fit(named(X))
    chunked = KernelPCA(4, kernel="rbf", gamma=0.05, **how).fit(door(X))
    np.testing.assert_allclose(chunked.eigenvalues_, memory.eigenvalues_, rtol=1e-6)
    assert largest_angle(chunked.eigenvectors_, memory.eigenvectors_) < 1e-5
    new = _rows(70, 5, seed=1)
    expected = memory.transform(named(new))
    np.testing.assert_allclose(chunked.transform(door(new)).compute(), expected, atol=1e-5)
    np.testing.assert_allclose(chunked.transform(named(new)), expected, atol=1e-5)
    np.testing.assert_allclose(memory.transform(door(new)).compute(), expected, atol=1e-10)
    errors = chunked.reconstruction_error(door(new)).compute()
    np.testing.assert_allclose(errors, memory.reconstruction_error(named(new)), atol=1e-5)


@pytest.mark.parametrize("algorithm", ["picard", "parallel", "infomax"])
@pytest.mark.parametrize("door", parameters({name: DASK[name] for name in ("dask", "dask-unknown", "dask-frame")}))
def test_ica_is_that_of_memory(door, algorithm):
    """The same sources: each algorithm is a sequence of passes, and each pass gives the same means."""
    rng = np.random.default_rng(5)
    X = rng.laplace(size=(2000, 3)) @ rng.standard_normal((3, 7))
    memory = ICA(3, algorithm=algorithm, tol=1e-9).fit(X)
    chunked = ICA(3, algorithm=algorithm, tol=1e-9).fit(door(X))
    np.testing.assert_allclose(chunked.components_, memory.components_, atol=1e-6)
    np.testing.assert_allclose(chunked.transform(door(X)).compute(), memory.transform(X), atol=1e-5)
    np.testing.assert_allclose(chunked.remove(door(X), 0).compute(), memory.remove(X, 0), atol=1e-5)


def test_batches_may_be_dask_arrays():
    """Exact moments of batches, whichever kind each of them is."""
    X = _rows()
    whole = PCA(3).fit(X)
    fitted = IncrementalPCA(3).fit(DOORS["dask"](X))
    batches = PCA(3).partial_fit(DOORS["dask-unknown"](X[:100])).partial_fit(X[100:])
    for other in (fitted, batches):
        np.testing.assert_allclose(other.explained_variance_, whole.explained_variance_, rtol=1e-10)


def test_weights_count_rows_and_may_be_lazy():
    """A weight is a repetition, also for rows in chunks."""
    X = _rows(60, 4)
    weights = np.random.default_rng(0).integers(0, 3, 60).astype(float)
    memory = PCA(2).fit(X, sample_weight=weights)
    for given in (weights, da.from_array(weights, chunks=17)):
        chunked = PCA(2).fit(DOORS["dask-unknown"](X), sample_weight=given)
        np.testing.assert_allclose(chunked.explained_variance_, memory.explained_variance_, rtol=1e-11)


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_transform_is_lazy_and_keeps_chunks_and_type(whiten, dtype):
    """Nothing is read before ``compute``; the result has the chunks of the rows and the type of the fit."""
    X, calls = _rows().astype(dtype), []
    pca = PCA(3, whiten=whiten).fit(X)
    kernel = KernelPCA(3, kernel="rbf", gamma=0.1, landmarks=30).fit(X)
    lazy = _loaded(X, calls)
    results = [pca.transform(lazy), pca.inverse_transform(pca.transform(lazy)), kernel.transform(lazy)]
    results += [
        pca.score_samples(lazy),
        ICA(3, independence=False).fit(X).transform(lazy),
        kernel.reconstruction_error(lazy),
    ]
    results.append(FourierFeatures("rbf", n_components=8).fit(X).transform(lazy))
    assert calls == []
    assert all(result.chunks[0] == lazy.chunks[0] and result.dtype == dtype for result in results)
    scores = results[0].compute()
    assert len(calls) == 4
    assert scores.dtype == dtype
    np.testing.assert_allclose(scores, pca.transform(X), rtol=1e-4, atol=1e-5)


def test_a_data_frame_gives_a_dask_array_and_its_names_count():
    """Scores have no index, so they come as an array, its chunk sizes unknown; columns are known by their names."""
    import pandas as pd

    frame = pd.DataFrame(_rows(50, 3), columns=["a", "b", "c"])
    lazy = dd.from_pandas(frame, npartitions=3)
    pca = PCA(2).fit(lazy)
    assert list(pca.feature_names_in_) == ["a", "b", "c"]
    scores = pca.transform(lazy)
    assert isinstance(scores, da.Array)
    assert np.isnan(scores.shape[0])
    np.testing.assert_allclose(scores.compute(), PCA(2).fit_transform(frame), atol=1e-10)
    with pytest.raises(ValueError, match="feature names should match"):
        pca.transform(lazy[["b", "a", "c"]])


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "Float32", "boolean", "Int8"])
def test_nullable_types_of_pandas_are_taken(dtype):
    """A type that could hold missing values is no missing value; one that is there is refused."""
    import pandas as pd

    frame = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (40, 3)), columns=["a", "b", "c"]).astype(dtype)
    chunked, memory = PCA(2).fit(dd.from_pandas(frame, npartitions=3)), PCA(2).fit(frame)
    np.testing.assert_allclose(chunked.explained_variance_, memory.explained_variance_, rtol=1e-5)
    frame.loc[25, "b"] = pd.NA
    with pytest.raises(InputError, match="NaN: row"):
        PCA(2).fit(dd.from_pandas(frame, npartitions=3))


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "Float32"])
def test_nulls_of_chunks_are_missing_values(dtype):
    """Probabilistic PCA is that of the frame in memory; a fit without missing values names row and column of it."""
    import pandas as pd

    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 50, (60, 4)), columns=list("abcd")).astype(dtype)
    for row in (7, 25, 59):
        frame.loc[row, "b"] = pd.NA
    lazy = dd.from_pandas(frame, npartitions=3)
    chunked, memory = (ProbabilisticPCA(1).fit(X) for X in (lazy, frame))
    np.testing.assert_allclose(chunked.explained_variance_, memory.explained_variance_, rtol=1e-5)
    np.testing.assert_allclose(chunked.impute(lazy), memory.impute(frame), rtol=1e-5)
    with pytest.raises(InputError, match=r"NaN: row 7 .*column 'b', and 2 more"):
        PCA(2).fit(lazy)


def test_fit_transform_is_lazy_too():
    """The scores of the fit are those of a transform, as a Dask array."""
    X = _rows()
    for model in (PCA(3), KernelPCA(3, kernel="rbf", gamma=0.05), ICA(3, tol=1e-3, independence=False)):
        scores = model.fit_transform(DOORS["dask"](X))
        assert isinstance(scores, da.Array)
        np.testing.assert_allclose(scores.compute(), model.transform(X), atol=1e-5)


@pytest.mark.parametrize("make", [lambda: PCA(2), lambda: KernelPCA(2, kernel="rbf", gamma=0.1)])
def test_written_scores_load_each_chunk_once(tmp_path, make):
    """Chunks of many blocks are computed once for all of their blocks, not once for each."""
    X, calls = _rows(9000, 4), []
    model = make().fit(X[:300])
    path = model.write_scores(_loaded(X, calls, chunks=3), tmp_path / "scores.npy")
    assert len(calls) == 3
    np.testing.assert_allclose(np.load(path), model.transform(X), atol=1e-10)


def test_bad_chunks_are_named():
    """NaN, wrong sizes, kinds and columns: the chunk, the row and the column, not a traceback from a worker."""
    X = _rows(40, 3)
    bad = X.copy()
    bad[33, 1] = np.nan
    chunked = da.from_array(bad, chunks=(10, 3))
    with pytest.raises(InputError, match=r"NaN: row 33, column 1"):
        PCA(2).fit(chunked)
    with pytest.raises(InputError, match=r"In chunk 3 .*begins at row 30: .*NaN: row 3, column 1") as caught:
        PCA(2).fit(X).transform(chunked).compute()
    assert caught.value.row == 33
    wrong = da.from_array(X, chunks=(10, 3)).map_blocks(lambda rows: rows[:7], dtype=float)
    with pytest.raises(InputError, match=r"Chunk \d has 7 rows, and the collection says 10"):
        PCA(2).fit(wrong)
    hidden = da.from_array(X, chunks=(10, 3)).map_blocks(sp.csr_array, meta=np.empty((0, 0)))
    with pytest.raises(InputError, match="its rows are sparse, and the collection says that they are dense"):
        PCA(2).fit(hidden)


def test_what_has_no_rows_is_refused_before_work():
    """Bags, series, text columns, no rows at all, and work that would collect the rows."""
    import pandas as pd
    from dask import bag

    with pytest.raises(NotSupportedError, match="Dask Bag, which has no rows"):
        PCA().fit(bag.from_sequence([1, 2]))
    with pytest.raises(InputError, match="Expected 2D array, got 1D"):
        PCA().fit(da.ones(5))
    text = dd.from_pandas(pd.DataFrame({"a": [1.0, 2.0], "who": ["x", "y"]}), npartitions=1)
    with pytest.raises(InputError, match="who"):
        PCA().fit(text)
    x = da.from_array(_rows(), chunks=(50, 9))
    with pytest.raises(InputError, match=r"0 sample\(s\)"):
        PCA().fit(x[x[:, 0] > 1e9])
    with pytest.raises(InputError, match="complex"):
        PCA().fit(x.astype(complex))
    with pytest.raises(NotSupportedError, match="A precomputed kernel needs all rows in this process"):
        KernelPCA(2, kernel="precomputed").fit(da.eye(6, chunks=3))


def test_the_tree_of_merges_is_fixed():
    """Two passes merge in the same order, so that they agree to the last bit, whoever finished first."""
    source = as_source(da.random.default_rng(0).standard_normal((5000, 40), chunks=(170, 40)))
    first, again = (PCA(3).fit(source) for _ in range(2))
    np.testing.assert_array_equal(first.components_, again.components_)


def test_the_example_of_the_documentation_runs():
    """What the page about Dask shows is what happens."""
    page = Path(__file__).parents[2] / "docs" / "dask.rst"
    failures, tried = doctest.testfile(str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failures == 0
    assert tried > 5


def test_dask_is_not_imported_unless_it_is_used():
    """``import gramian`` and a fit from memory load neither Dask nor its scheduler."""
    code = (
        "import sys, numpy as np, gramian; gramian.PCA(1).fit(np.eye(3)[:, :2] + np.arange(2));"
        "sys.exit(any(name.split('.')[0] in ('dask', 'distributed') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def _without(_collection, *_args):
    message = "'Array' object has no attribute '_meta'"
    raise AttributeError(message)


@pytest.mark.parametrize("loss", ["no such name", "no such attribute"])
@pytest.mark.parametrize("kind", ["dense", "sparse", "frame"])
def test_a_dask_that_tells_nothing_of_its_chunks_is_read_all_the_same(monkeypatch, kind, loss):
    """Where another release of Dask keeps what it knows of chunks elsewhere, the first chunk shows it."""
    import dask.array.utils as array_utils
    import dask.dataframe.utils as frame_utils
    import pandas as pd

    X = _rows().astype(np.float32)
    names = [f"c{j}" for j in range(X.shape[1])]
    table = pd.DataFrame(X, columns=names)
    collection = {
        "dense": lambda: da.from_array(X, chunks=(100, 4)),
        "sparse": lambda: da.from_array(X, chunks=(100, -1)).map_blocks(
            sp.csr_array, meta=sp.csr_array((0, 0), dtype="f4")
        ),
        "frame": lambda: dd.from_pandas(table, npartitions=3),
    }[kind]()
    truth = PCA(3).fit(X)
    for module, name in ((array_utils, "meta_from_array"), (frame_utils, "make_meta"), (frame_utils, "meta_nonempty")):
        if loss == "no such name":
            monkeypatch.delattr(module, name)
        else:
            monkeypatch.setattr(module, name, _without)
    source = as_source(collection)
    assert (source.dtype, source.is_sparse, source.n_columns) == (np.dtype("f4"), kind == "sparse", 9)
    assert source.column_names == (tuple(names) if kind == "frame" else None)
    found = PCA(3).fit(collection)
    np.testing.assert_allclose(found.explained_variance_, truth.explained_variance_, rtol=1e-4)
    if kind == "frame":
        assert found.feature_names_in_.tolist() == names


def test_the_client_is_found_where_dask_names_no_scheduler(monkeypatch):
    """Without that function of Dask's, the client that was made last is asked for; with neither, threads compute."""
    import dask.base

    from gramian.sources.dask import _client

    distributed = pytest.importorskip("distributed")
    monkeypatch.delattr(dask.base, "get_scheduler")
    assert _client() is None
    client = object.__new__(distributed.Client)
    monkeypatch.setattr(distributed.Client, "__del__", lambda _self: None, raising=False)
    monkeypatch.setattr(distributed, "get_client", lambda: client)
    assert _client() is client


def test_a_pass_that_imports_distributed_leaves_its_settings():
    """The first pass may be what loads the other package: the second one finds it whole."""
    code = """
import dask.array as da, numpy as np
from gramian.sources import as_source
def loads(block):
    import distributed
    return block
rows = as_source(da.from_array(np.ones((4, 2)), chunks=(2, 2)).map_blocks(loads, meta=np.empty((0, 0))))
for _ in range(2):
    assert rows.reduce(lambda state, block: block.rows.sum() + (state or 0.0), lambda a, b: a + b) == 8.0
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
