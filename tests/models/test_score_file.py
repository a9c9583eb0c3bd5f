"""Scores written block by block."""

import signal

import numpy as np
import pytest

from gramian import ICA, PCA, KernelPCA
from gramian.errors import InputError, ParameterError
from gramian.models.score_file import write_scores
from gramian.sources import as_source
from tests.sources.files import write


@pytest.fixture(name="X")
def rows():
    """Mixed uniform rows."""
    rng = np.random.default_rng(0)
    return rng.uniform(-1, 1, size=(1000, 4)) @ rng.standard_normal((4, 6))


def read(path):
    """Scores of any kind of file."""
    if path.suffix == ".npy":
        return np.load(path)
    import pandas as pd

    return (pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)).to_numpy()


@pytest.mark.parametrize("end", [".npy", ".parquet", ".csv"])
@pytest.mark.parametrize("kind", [None, "npy", "parquet"])
@pytest.mark.parametrize(
    "make", [lambda: PCA(2, whiten=True), lambda: ICA(3, random_state=0), lambda: KernelPCA(2, kernel="rbf", gamma=0.1)]
)
def test_written_scores_are_those_of_transform(tmp_path, X, make, kind, end):
    """The file holds what ``transform`` returns, from memory and from files."""
    small = X[:300]
    model = make().fit(small)
    rows = small if kind is None else write(tmp_path, kind, small, rows=70)
    written = read(model.write_scores(rows, tmp_path / f"scores{end}"))
    np.testing.assert_allclose(written, model.transform(small), rtol=1e-12, atol=1e-9)
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == [f"scores{end}"]


def test_names_of_columns_are_those_of_the_estimator(tmp_path, X):
    """A table of scores bears scikit-learn's names."""
    import pyarrow.parquet as pq

    path = PCA(2).fit(X).write_scores(X, tmp_path / "y.parquet")
    assert pq.read_schema(path).names == ["pca0", "pca1"]


def test_an_error_leaves_the_old_file(tmp_path, X):
    """When a block fails half way, the file that was there stays, and nothing beside it."""
    model = PCA(2).fit(X)
    X[900] = np.nan
    source = as_source(write(tmp_path, "npy", X), memory_budget=1_000_000)
    source.block_rows, source._windows = 100, [slice(i, i + 100) for i in range(0, 1000, 100)]
    target = tmp_path / "scores.npy"
    target.write_bytes(b"old")
    with pytest.raises(InputError, match=r"contains NaN: row 900.* of .*x\.npy"):
        write_scores(lambda block: model._model.project(block.rows), source, target, names=["a", "b"])
    assert target.read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["scores.npy"]


def test_other_ends_and_the_input_itself_are_refused(tmp_path, X):
    """A kind of file that is not written, and the file that is read, are refused before any work."""
    path = write(tmp_path, "npy", X)
    model = PCA(2).fit(path)
    with pytest.raises(ParameterError, match=r"\.parquet, \.npy, \.csv files, and 'y\.txt' is none"):
        model.write_scores(path, tmp_path / "y.txt")
    with pytest.raises(ParameterError, match="is the file that the rows are read from"):
        model.write_scores(path, path)
    (tmp_path / "folder.npy").mkdir()
    with pytest.raises(ParameterError, match="is a folder, and scores are written to a file"):
        model.write_scores(path, tmp_path / "folder.npy")
    with pytest.raises(ParameterError, match=r"There is no folder '.*missing' to write 'y\.npy' to"):
        model.write_scores(path, tmp_path / "missing" / "y.npy")


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("old", [True, False])
def test_ctrl_c_leaves_the_old_file_or_nothing(tmp_path, X, old):
    """Interrupted in the middle, there is no half a file."""
    path = write(tmp_path, "npy", np.tile(X, (300, 1)))
    target = tmp_path / "scores.npy"
    if old:
        target.write_bytes(b"old")
    seen = []

    def interrupted(block):
        seen.append(block.start)
        if len(seen) == 3:
            signal.raise_signal(signal.SIGINT)
        return block.rows

    with pytest.raises(KeyboardInterrupt):
        write_scores(interrupted, as_source(path, memory_budget=1_000_000), target, names=list("abcdef"))
    assert len(seen) == 3
    assert (target.read_bytes() == b"old") if old else not target.exists()
    assert [found.name for found in tmp_path.iterdir() if found.is_file()] == (["scores.npy"] if old else [])
