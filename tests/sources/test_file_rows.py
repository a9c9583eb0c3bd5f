"""Rows in files pass the same contract as rows in memory."""

import numpy as np
import pytest

from gramian.sources.file_options import Chosen
from gramian.sources.file_rows import FileRows
from gramian.sources.opening import as_source
from gramian.sources.paths import open_path
from gramian.testing import RowSourceSuite
from tests.sources.files import WRITERS, write


def small_windows(path, weights=None, **chosen):
    """Open a file with windows of three rows."""
    file, facts = open_path(path, Chosen(**chosen))
    return FileRows(file, weights=weights, facts=facts, block_rows=3)


class _Files(RowSourceSuite):
    kind = "npy"

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path):
        self.folder = tmp_path

    def make_source(self, X, weights=None):
        """Write X to a file and open it with small windows."""
        path = write(self.folder, self.kind, X, rows=5)
        options = {"columns": ":number", "label": False, "id": False} if self.kind in TABLES else {}
        return small_windows(path, weights, **options)


WHOLE = {"excel", "folder of excel", "json", "json lines"}
TEXT = {"csv", "folder of csv", "matrix market", "matrix market array"} | WHOLE
TABLES = {"csv", "parquet", "feather", "folder of parquet", "folder of csv"} | WHOLE

for _kind in WRITERS:
    for _dtype in ("float64", "float32"):
        if _dtype == "float32" and _kind in TEXT:
            continue  # text has one precision: float64
        _name = "Test" + _kind.title().replace(" ", "").replace(".", "") + _dtype.title()
        globals()[_name] = type(
            _name, (_Files,), {"kind": _kind, "dtype": _dtype, "__doc__": f"Rows in {_kind} files."}
        )


@pytest.mark.parametrize("budget", [1 << 20, 1 << 24, None])
def test_the_budget_sizes_the_windows(tmp_path, budget):
    """A smaller budget gives smaller windows, and the same rows."""
    X = np.random.default_rng(0).standard_normal((5000, 64))
    source = as_source(write(tmp_path, "npy", X, rows=100), memory_budget=budget)
    if budget is not None:
        assert source.block(0).rows.nbytes <= max(budget // 4, 1 << 18)
    np.testing.assert_array_equal(source.map_rows(lambda block: block.rows), X)


def test_pairs_of_a_file_larger_than_a_panel_fill_the_gram_matrix(tmp_path):
    """With panels of a few rows the pairs of blocks are the same as with one panel."""
    X = np.random.default_rng(1).standard_normal((40, 6))
    source = FileRows(open_path(write(tmp_path, "npy", X, rows=9), Chosen())[0], block_rows=4, budget=8 * 6 * 8 * 10)
    assert len(source._panels(source._windows)) > 2
    for symmetric in (True, False):
        G = np.zeros((40, 40))

        def fold(_state, a, b, G=G, symmetric=symmetric):
            tile = a.rows @ b.rows.T
            G[a.start : a.start + len(a.rows), b.start : b.start + len(b.rows)] += tile
            if symmetric and a.start != b.start:
                G[b.start : b.start + len(b.rows), a.start : a.start + len(a.rows)] += tile.T

        source.reduce_pairs(fold, lambda _a, _b: None, symmetric=symmetric)
        np.testing.assert_allclose(G, X @ X.T, atol=1e-12)
