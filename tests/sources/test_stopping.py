"""A pass that was given up ends: no worker goes on behind the back of the one who pressed Ctrl-C."""

import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from gramian import machine
from gramian.sources import as_source, file_rows, rows
from tests.sources.files import write


@pytest.mark.parametrize("kind", [None, "npy"])
def test_an_interrupted_pass_stops_between_blocks(tmp_path, monkeypatch, kind):
    """After Ctrl-C each worker ends the block that it is at, and begins no other."""
    X = np.ones((20_000, 100))
    source = as_source(
        X if kind is None else write(tmp_path, kind, X), **({} if kind is None else {"memory_budget": 6e6})
    )
    begun, both, answered, caller = [], threading.Event(), threading.Event(), threading.current_thread()

    def fold(_state, block):
        begun.append(block.start)
        if len(begun) == 2:
            both.set()
        if threading.current_thread() is caller:
            assert both.wait(60)
            raise KeyboardInterrupt
        assert answered.wait(60)

    for module in (machine, rows, file_rows):
        monkeypatch.setattr(module, "worker_count", lambda: 2)
    with pytest.raises(KeyboardInterrupt):
        source.reduce(fold, lambda _left, _right: None)
    answered.set()
    machine.worker_pool(1).submit(int).result(60)  # its one thread is free when the pass has ended there too
    assert len(begun) == 2 < source.n_blocks


@pytest.mark.parametrize("by_caller", [True, False])
def test_a_fold_that_raises_ends_the_pass_of_all_workers(monkeypatch, by_caller):
    """The error reaches the caller when nobody works any more, and the other worker begins no other task."""
    monkeypatch.setattr(rows, "worker_count", lambda: 2)
    begun, ended, both, caller = [], [], threading.Event(), threading.current_thread()
    stop = threading.Event()

    def fold(_state, task):
        begun.append(task)
        if len(begun) == 2:
            both.set()
        assert both.wait(60)
        if (threading.current_thread() is caller) == by_caller:
            raise ValueError(task)
        assert stop.wait(60)
        ended.append(task)

    with pytest.raises(ValueError, match="0" if by_caller else "50"):
        rows.run_folds(range(100), fold, lambda left, _right: left, stop=stop)
    assert sorted(begun) == [0, 50]
    assert ended == [50 if by_caller else 0]


def test_work_inside_work_is_not_shared_out_again(monkeypatch):
    """The calling thread is a worker like the others for as long as a pass lasts, and its own master afterwards."""
    monkeypatch.setattr(machine, "_threads_now", lambda: 2)
    monkeypatch.setattr(machine, "cores", lambda: 2)
    before = rows.worker_count()
    assert before == 2
    counts = rows.run_folds(range(8), lambda state, _task: [*(state or []), rows.worker_count()], lambda a, b: a + b)
    assert counts == [1] * 8
    assert rows.worker_count() == before


def test_one_worker_of_many_has_the_threads_of_blas():
    """A running value that is held once is summed by BLAS's threads, also in a fit that holds BLAS to one."""

    def threads(_state, _task):
        return max(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")

    with threadpool_limits(2, "blas"), pytest.MonkeyPatch.context() as patched:
        patched.setattr(machine, "cores", lambda: 2)
        with machine.one_blas_thread():
            assert rows.run_folds(range(4), threads, max, workers=1) == 2
            assert rows.run_folds(range(4), threads, max) == 1
            assert threads(None, None) == 1


def test_many_runs_are_merged_in_order_by_a_tree():
    """Neighbors are merged with neighbors, whatever the number of workers, and nothing is lost or turned around."""
    for workers in (1, 2, 3, 5, 8, 16):
        merged = rows.run_folds(
            range(40), lambda state, task: [*(state or []), task], lambda a, b: a + b, workers=workers
        )
        assert merged == list(range(40))
