"""A pass that was given up ends: no worker goes on behind the back of the one who pressed Ctrl-C."""

import threading
import time

import numpy as np
import pytest

from gramian.planning import machine
from gramian.sources import as_source, file_rows, rows
from tests.sources.files import write


@pytest.mark.parametrize("kind", [None, "npy"])
def test_an_interrupted_pass_stops_between_blocks(tmp_path, monkeypatch, kind):
    """After Ctrl-C each worker ends the block that it is at, and begins no other."""
    X = np.ones((20_000, 100))
    source = as_source(
        X if kind is None else write(tmp_path, kind, X), **({} if kind is None else {"memory_budget": 6e6})
    )
    begun, both, caller = [], threading.Event(), threading.current_thread()

    def fold(_state, block):
        begun.append(block.start)
        if len(begun) >= 2:
            both.set()
        if threading.current_thread() is caller:
            assert both.wait(10)
            raise KeyboardInterrupt
        time.sleep(0.05)

    for module in (rows, file_rows):
        monkeypatch.setattr(module, "worker_count", lambda: 2)
    with pytest.raises(KeyboardInterrupt):
        source.reduce(fold, lambda _left, _right: None)
    time.sleep(0.2)
    known = len(begun)
    time.sleep(0.3)
    assert len(begun) == known < source.n_blocks


@pytest.mark.parametrize("by_caller", [True, False])
def test_a_fold_that_raises_ends_the_pass_of_all_workers(monkeypatch, by_caller):
    """The error reaches the caller when nobody works any more, and long before all blocks were seen."""
    monkeypatch.setattr(rows, "worker_count", lambda: 2)
    begun, at_work, both, caller = [], set(), threading.Event(), threading.current_thread()

    def fold(_state, task):
        begun.append(task)
        at_work.add(threading.current_thread())
        if len(at_work) == 2:
            both.set()
        assert both.wait(10)
        if (threading.current_thread() is caller) == by_caller:
            raise ValueError(task)
        time.sleep(0.02)

    with pytest.raises(ValueError, match="0" if by_caller else "50"):
        rows.run_folds(range(100), fold, lambda left, _right: left)
    known = len(begun)
    time.sleep(0.1)
    assert len(begun) == known < 10


def test_work_inside_work_is_not_shared_out_again(monkeypatch):
    """The calling thread is a worker like the others for as long as a pass lasts, and its own master afterwards."""
    monkeypatch.setattr(machine, "_threads_now", lambda: 2)
    monkeypatch.setattr(rows, "cores", lambda: 2)
    before = rows.worker_count()
    assert before == 2
    counts = rows.run_folds(range(8), lambda state, _task: [*(state or []), rows.worker_count()], lambda a, b: a + b)
    assert counts == [1] * 8
    assert rows.worker_count() == before
