"""The same rows give the same model from memory and from every kind of file."""

import numpy as np
import pytest

from gramian import ICA, PCA, FastICA, IncrementalPCA, KernelPCA, TruncatedSVD
from gramian.sources import as_source
from gramian.testing import assert_same_subspace
from tests.sources.files import write

KINDS = ("parquet", "csv", "npy", "hdf5", "zarr", "feather", "npz", "folder of parquet")
SPARSE = ("sparse npz", "h5ad csr", "matrix market")


@pytest.fixture(scope="module", name="X")
def rows():
    """Six independent sources mixed into ten columns, with an offset."""
    rng = np.random.default_rng(0)
    S = rng.uniform(-1, 1, size=(3000, 6)) * [6, 5, 4, 3, 2, 1.5]
    return S @ rng.standard_normal((6, 10)) + 0.05 * rng.standard_normal((3000, 10)) + 30.0


METHODS = {
    "PCA": lambda: PCA(n_components=4),
    "PCA scaled": lambda: PCA(n_components=4, scale=True),
    "PCA krylov": lambda: PCA(n_components=4, svd_solver="krylov"),
    "PCA gram": lambda: PCA(n_components=4, svd_solver="gram"),
    "IncrementalPCA": lambda: IncrementalPCA(n_components=4),
    "TruncatedSVD": lambda: TruncatedSVD(n_components=4),
    "KernelPCA": lambda: KernelPCA(n_components=4, kernel="rbf", gamma=1e-3, tol=1e-8),
    "KernelPCA landmarks": lambda: KernelPCA(n_components=4, kernel="rbf", gamma=1e-3, landmarks=200, random_state=0),
    "ICA": lambda: ICA(n_components=6, random_state=0, tol=1e-8),
    "FastICA": lambda: FastICA(n_components=6, random_state=0, tol=1e-6, max_iter=500),
}


def spectrum(model):
    """The eigenvalues, or variances, of a fitted model."""
    return model.eigenvalues_ if isinstance(model, KernelPCA) else model.explained_variance_


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", [name for name in METHODS if name not in ("PCA gram", "KernelPCA", "FastICA")])
def test_a_file_gives_what_memory_gives(tmp_path, X, method, kind):
    """Eigenvalues, the subspace of the scores and the scores themselves agree to rounding."""
    path = write(tmp_path, kind, X, rows=250)
    memory, file = METHODS[method]().fit(X), METHODS[method]().fit(path)
    np.testing.assert_allclose(spectrum(file), spectrum(memory), rtol=1e-8)
    scores, truth = file.transform(path), memory.transform(X)
    assert_same_subspace(scores - scores.mean(0), truth - truth.mean(0), tol=1e-6)
    np.testing.assert_allclose(scores, truth, atol=1e-6 * np.abs(truth).max())


@pytest.mark.parametrize("kind", ["parquet", "csv", "npy", "hdf5", "zarr"])
@pytest.mark.parametrize("method", ["PCA gram", "KernelPCA", "FastICA"])
def test_slow_methods_too(tmp_path, X, method, kind):
    """What takes n x n pairs, or many passes, agrees as well."""
    small = X[:400]
    path = write(tmp_path, kind, small, rows=250)
    memory, file = METHODS[method]().fit(small), METHODS[method]().fit(path)
    np.testing.assert_allclose(spectrum(file), spectrum(memory), rtol=1e-7)
    truth = memory.transform(small)
    np.testing.assert_allclose(file.transform(path), truth, atol=1e-5 * np.abs(truth).max())


@pytest.mark.parametrize("kind", SPARSE)
@pytest.mark.parametrize("method", ["PCA", "PCA scaled", "TruncatedSVD", "KernelPCA landmarks"])
def test_sparse_files_give_what_memory_gives(tmp_path, X, method, kind):
    """Sparse rows on disk are centered and scaled without being filled."""
    sparse = np.where(np.abs(X - 30) < 4, 0.0, X)
    path = write(tmp_path, kind, sparse)
    assert as_source(path).is_sparse
    import scipy.sparse as sp

    memory, file = METHODS[method]().fit(sp.csr_array(sparse)), METHODS[method]().fit(path)
    np.testing.assert_allclose(spectrum(file), spectrum(memory), rtol=1e-8)
    truth = memory.transform(sp.csr_array(sparse))
    np.testing.assert_allclose(file.transform(path), truth, atol=1e-6 * np.abs(truth).max())


@pytest.mark.parametrize("shape", [(30, 200), (200, 30)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_wide_and_tall_files_in_both_precisions(tmp_path, shape, dtype):
    """Files of more columns than rows go through pairs of blocks; float32 stays float32."""
    X = np.random.default_rng(1).standard_normal(shape).astype(dtype)
    path = write(tmp_path, "npy", X)
    memory, file = PCA(n_components=5).fit(X), PCA(n_components=5).fit(path)
    assert file.components_.dtype == dtype
    np.testing.assert_allclose(file.explained_variance_, memory.explained_variance_, rtol=1e-5)
    assert_same_subspace(file.components_.T, memory.components_.T, tol=1e-4)


def test_weights_of_rows_in_a_file(tmp_path, X):
    """A weight is a repetition, for a file too."""
    w = np.random.default_rng(2).integers(0, 3, size=len(X))
    path = write(tmp_path, "parquet", X, rows=700)
    file, memory = PCA(3).fit(path, sample_weight=w), PCA(3).fit(np.repeat(X, w, axis=0))
    np.testing.assert_allclose(file.explained_variance_, memory.explained_variance_, rtol=1e-9)


def test_names_travel_to_the_estimator_and_choose_the_columns_of_later_files(tmp_path, X):
    """``feature_names_in_`` are the columns used; a later file may have others beside them, in any order."""
    import pandas as pd

    frame = pd.DataFrame(X[:100, :3], columns=["a", "b", "c"]).assign(kind=["p", "q"] * 50)
    frame.to_csv(tmp_path / "fit.csv", index=False)
    frame[["c", "kind", "b", "a"]].assign(extra=1.5).to_parquet(tmp_path / "new.parquet")
    model = PCA(2).fit(tmp_path / "fit.csv")
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(model.transform(tmp_path / "new.parquet"), model.transform(frame[["a", "b", "c"]]))
    assert model.get_feature_names_out().tolist() == ["pca0", "pca1"]


def test_passes_are_as_documented(tmp_path, X):
    """One pass when the scatter fits; else one for the moments and one a product."""
    path = write(tmp_path, "npy", X)
    for method, at_most in (("PCA", 1), ("PCA krylov", 60)):
        source = as_source(path)
        passes = []
        reduce = source.reduce
        source.reduce = lambda *args, reduce=reduce, passes=passes, **options: (
            passes.append(1) or reduce(*args, **options)
        )
        model = METHODS[method]().fit(source)
        assert len(passes) <= at_most
        if method == "PCA krylov":
            assert len(passes) <= 2 + model._model.plan.passes
