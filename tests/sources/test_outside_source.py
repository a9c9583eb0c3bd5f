"""A source of rows and a format of files that the package knows nothing of, each registered by one line."""

import struct
from pathlib import Path

import numpy as np
import pytest

from gramian import PCA, KernelPCA
from gramian.sources import Block, RowSource, as_source
from gramian.sources.file_rows import FileRows
from gramian.sources.formats import FORMATS, Format
from gramian.sources.opening import INPUTS, InputKind, check_weights
from gramian.sources.row_file import FileVersion, RowFile, Spill
from gramian.testing import RowSourceSuite
from tests.sources.files import WRITERS, write


class Ledger:
    """Something that holds rows one by one, as no array library does."""

    def __init__(self, X):
        self.lines = [tuple(row) for row in X.tolist()]
        self.dtype = X.dtype


class LedgerRows(RowSource):
    """The rows of a ledger, four lines to a block."""

    def __init__(self, ledger, weights=None):
        self.ledger, self.weights, self.dtype = ledger, weights, ledger.dtype
        self.n_rows, self.n_columns = len(ledger.lines), len(ledger.lines[0])

    @property
    def n_blocks(self):
        """Four lines each."""
        return -(-self.n_rows // 4)

    def block(self, i):
        """Block i."""
        part = slice(4 * i, min(4 * i + 4, self.n_rows))
        return Block(
            np.array(self.ledger.lines[part], dtype=self.dtype),
            part.start,
            None if self.weights is None else self.weights[part],
        )


class FixedFile(RowFile):
    """Rows of a fixed width in bytes, after a head of eight that tells their number of columns and of bytes each."""

    def __init__(self, path, origin):
        self.path, self.origin, self.versions = path, origin, (FileVersion.of(path),)
        with path.open("rb") as file:
            d, each = struct.unpack("<ii", file.read(8))
        self.dtype = np.dtype(f"f{each}")
        self.shape = ((path.stat().st_size - 8) // (d * each), d)

    def read(self, rows):
        """Some consecutive rows."""
        count = (rows.stop - rows.start) * self.shape[1]
        found = np.fromfile(self.path, self.dtype, count, offset=8 + rows.start * self.row_bytes)
        return found.reshape(-1, self.shape[1])


def write_fixed(folder, X, rows):
    """Write X as a file of fixed width."""
    del rows
    path = Path(folder) / "x.fixed"
    path.write_bytes(struct.pack("<ii", X.shape[1], X.itemsize) + X.tobytes())
    return path


@pytest.fixture(name="registered", autouse=True)
def register(monkeypatch):
    """Register both, each by one line, and take them back after the test."""
    before = (list(INPUTS), list(FORMATS))
    INPUTS.append(InputKind(lambda X: isinstance(X, Ledger), lambda X, options: LedgerRows(X, _weights(X, options))))
    FORMATS.append(Format("fixed", (".fixed",), FixedFile))
    monkeypatch.setitem(WRITERS, "fixed", write_fixed)
    yield
    INPUTS[:], FORMATS[:] = before


def _weights(ledger, options):
    return None if options.weights is None else check_weights(options.weights, len(ledger.lines))


class TestLedgerRows(RowSourceSuite):
    """A source of one's own, opened as X, meets the contract."""

    def make_source(self, X, weights=None):
        """A ledger of the rows."""
        return as_source(Ledger(X), weights=weights)


class TestLedgerRowsOfFloat32(TestLedgerRows):
    """The same in the other precision."""

    dtype = "float32"


class TestFixedFile(RowSourceSuite):
    """A format of one's own, opened by its path in small windows, meets the contract."""

    def make_source(self, X, weights=None):
        """A file that is kept for as long as the source is."""
        spill = Spill()
        file = FixedFile(write_fixed(spill.folder, X, 3), "x.fixed")
        spill.keep_while(file)
        return FileRows(file, weights=weights, block_rows=3)


def _given(kind, X, folder):
    return Ledger(X) if kind == "source" else write(folder, "fixed", X)


@pytest.mark.parametrize("kind", ["source", "format"])
@pytest.mark.parametrize("solver", ["auto", "full", "gram", "krylov", "power"])
def test_pca_equals_that_of_numpy(kind, solver, tmp_path):
    """Every solver finds the singular values that NumPy finds of the same rows in memory."""
    X = np.random.default_rng(0).standard_normal((60, 12)) @ np.diag(2.0 ** np.arange(12, 0, -1)) + 100
    fitted = PCA(3, svd_solver=solver).fit(_given(kind, X, tmp_path))
    truth = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[:3]
    np.testing.assert_allclose(fitted.singular_values_, truth, rtol=1e-9)
    np.testing.assert_allclose(fitted.mean_, X.mean(axis=0), rtol=1e-13)
    np.testing.assert_allclose(np.asarray(fitted.transform(X)), PCA(3).fit_transform(X), atol=1e-5)


@pytest.mark.parametrize("kind", ["source", "format"])
def test_the_tables_of_equal_answers_hold(kind, tmp_path):
    """Weights, single precision, wide rows and kernel PCA: the answer of the same rows in memory."""
    rng = np.random.default_rng(1)
    X, w = rng.standard_normal((40, 9)), rng.integers(1, 4, 40).astype(float)
    given = _given(kind, X, tmp_path)
    ours, theirs = PCA(4).fit(given, sample_weight=w), PCA(4).fit(X, sample_weight=w)
    np.testing.assert_allclose(ours.explained_variance_, theirs.explained_variance_, rtol=1e-12)
    single = X.astype(np.float32)
    ours, theirs = PCA(4).fit(_given(kind, single, tmp_path)), PCA(4).fit(single)
    assert ours.components_.dtype == np.float32
    np.testing.assert_allclose(ours.explained_variance_, theirs.explained_variance_, rtol=1e-6)
    wide = rng.standard_normal((8, 50))
    ours, theirs = PCA().fit(_given(kind, wide, tmp_path)), PCA().fit(wide)
    np.testing.assert_allclose(ours.explained_variance_[:7], theirs.explained_variance_[:7], rtol=1e-10)
    ours, theirs = (KernelPCA(3, kernel="rbf", gamma=0.1).fit(rows) for rows in (given, X))
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-9)


def test_files_of_a_new_format_are_joined_and_named(tmp_path):
    """A folder of such files is read as one, and what is wrong in one is told with its name and row."""
    X = np.random.default_rng(2).standard_normal((30, 3))
    for i in range(3):
        write_fixed(tmp_path, X[10 * i : 10 * i + 10], 1).rename(tmp_path / f"{i}.fixed")
    np.testing.assert_allclose(PCA().fit(tmp_path).explained_variance_, PCA().fit(X).explained_variance_, rtol=1e-12)
    X[14, 1] = np.nan
    write_fixed(tmp_path, X[10:20], 1).rename(tmp_path / "1.fixed")
    with pytest.raises(ValueError, match=r"row 4, column 1 .* of .*1\.fixed"):
        PCA().fit(tmp_path)
