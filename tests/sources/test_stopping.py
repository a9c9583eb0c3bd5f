"""A pass that was given up ends: no worker goes on behind the back of the one who pressed Ctrl-C."""

import threading
import time

import numpy as np
import pytest

from gramian.sources import as_source, file_rows, rows
from tests.sources.files import write


@pytest.mark.parametrize("kind", [None, "npy"])
def test_an_interrupted_pass_stops_between_blocks(tmp_path, monkeypatch, kind):
    """After Ctrl-C each worker ends the block that it is at, and begins no other."""
    X = np.ones((20_000, 100))
    source = as_source(
        X if kind is None else write(tmp_path, kind, X), **({} if kind is None else {"memory_budget": 6e6})
    )
    begun, both = [], threading.Event()

    def fold(_state, block):
        begun.append(block.start)
        if len(begun) >= 2:
            both.set()
        time.sleep(0.05)

    def interrupted(_futures):
        assert both.wait(10)
        raise KeyboardInterrupt

    for module in (rows, file_rows):
        monkeypatch.setattr(module, "worker_count", lambda: 2)
    monkeypatch.setattr(rows, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        source.reduce(fold, lambda _left, _right: None)
    time.sleep(0.2)
    known = len(begun)
    time.sleep(0.3)
    assert len(begun) == known < source.n_blocks
