"""Reading ahead: in order, one at a time, and never a hang."""

import threading

import numpy as np
import pytest

from gramian import PCA
from gramian.sources import as_source
from gramian.sources.file_rows import read_ahead
from gramian.sources.formats.npy import NpyFile


def test_at_most_one_item_waits():
    """While one item is used the next one is made, and none after it."""
    made = []
    items = read_ahead(made.append(i) or i for i in range(5))
    for i in range(5):
        assert next(items) == i
        assert len(made) <= i + 2


@pytest.mark.parametrize("at", [0, 3])
def test_an_error_comes_where_the_item_would(at):
    """Out of memory in the background is out of memory for the one who waits, after the items before it."""

    def items():
        yield from range(at)
        raise MemoryError

    found = read_ahead(items())
    assert [next(found) for _ in range(at)] == list(range(at))
    with pytest.raises(MemoryError):
        next(found)


def test_without_a_thread_items_are_made_in_turn(monkeypatch):
    """A system that refuses a thread costs the overlap, not the answer."""

    def refused(_self):
        message = "can't start new thread"
        raise RuntimeError(message)

    monkeypatch.setattr(threading.Thread, "start", refused)
    assert list(read_ahead(iter(range(4)))) == [0, 1, 2, 3]


def test_a_reader_out_of_memory_ends_the_fit(tmp_path, monkeypatch):
    """Every worker ends, and the fit raises what its reader met."""
    np.save(tmp_path / "x.npy", np.random.default_rng(0).standard_normal((5000, 4)))
    read = NpyFile._read

    def failing(self, file, rows):
        if rows.start >= 3000:
            raise MemoryError
        return read(self, file, rows)

    monkeypatch.setattr(NpyFile, "_read", failing)
    source = as_source(tmp_path / "x.npy")
    source.block_rows, source._windows = 500, [slice(i, i + 500) for i in range(0, 5000, 500)]
    with pytest.raises(MemoryError):
        PCA(2).fit(source)
