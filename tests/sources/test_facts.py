"""What sources declare of themselves: nobody asks for their type."""

import numpy as np
import pytest
import scipy.sparse as sp

from gramian.sources import as_source
from gramian.sources.conversion import CONVERTED_AT_ONCE
from gramian.sources.scaled import ScaledRows
from gramian.testing import CountingRows
from tests.catalog import SOURCES

LOCAL = {name: make for name, make in SOURCES.items() if not name.startswith("dask")}


def _rows(n=30, d=4):
    return np.random.default_rng(0).standard_normal((n, d))


@pytest.mark.parametrize("name", SOURCES)
def test_a_pass_over_rows_on_disk_or_elsewhere_is_declared_dear(name):
    """Files and Dask read their rows anew on every pass; rows in memory are one array."""
    source = SOURCES[name](_rows())
    assert source.on_disk == (name == "file" or name.startswith("dask"))
    assert (source.whole is None) == source.on_disk
    assert (source.collection is not None) == (not source.is_local)
    assert bool(source.files) == (name == "file")
    assert (source.facts, source.labels(), source.ids()) == (None, None, None)
    assert (source.row_shape, source.label_names, source.id_name, source.remarks) == (None, (), None, ())


@pytest.mark.parametrize("name", SOURCES)
def test_wrapped_rows_have_the_facts_of_their_source(name):
    """Scaled and counted rows say of themselves what the rows under them do, but that they are no array."""
    source = SOURCES[name](_rows())
    for wrapped in (ScaledRows(source, 0), CountingRows(source)):
        for fact in ("is_sparse", "has_columns", "is_local", "on_disk", "files", "pass_bytes", "n_entries", "n_blocks"):
            assert getattr(wrapped, fact) == getattr(source, fact), fact
        assert wrapped.whole is None
        assert wrapped.locate(3) == source.locate(3)


@pytest.mark.parametrize("name", [name for name in LOCAL if name != "file"])
def test_a_copied_source_has_rows_of_its_own(name):
    """What is done to the first rows does not reach the copy, not even blocks that were read before."""
    source = LOCAL[name](_rows())
    before = [source.block(i).rows for i in range(source.n_blocks)]
    own = source.copied()
    kept = own.reduce(_total, np.add)
    (source.whole.data if source.is_sparse else source.whole)[...] = 7.0
    assert len(before) == source.n_blocks
    assert own.reduce(_total, np.add) == kept


def test_rows_that_are_converted_as_they_are_read_are_copied_too():
    """A table of bytes stays one of bytes when it is copied."""
    few = np.zeros((CONVERTED_AT_ONCE // 8 // 16 + 1, 16), dtype=np.uint8)
    own = as_source(few).copied()
    few[...] = 9
    assert own.reduce(_total, np.add) == 0.0


@pytest.mark.parametrize("kind", ["file", "sparse file"])
def test_a_pass_over_a_file_declares_memory_within_the_budget(kind, tmp_path):
    """Windows are cut to fit: what a pass declares to hold grows with the budget, and is less than half of it."""
    X = _rows(4000, 60)
    np.save(tmp_path / "x.npy", X)
    sp.save_npz(tmp_path / "x.npz", sp.csr_array(X))
    path = tmp_path / ("x.npy" if kind == "file" else "x.npz")
    small, large = (as_source(path, memory_budget=budget).pass_bytes for budget in (16 << 20, 40 << 20))
    assert small < 8 << 20
    assert small < large < 20 << 20


def _total(state, block):
    rows = block.rows.toarray() if hasattr(block.rows, "toarray") else block.rows
    return float(rows.sum()) + (state or 0.0)
