"""The machine: threads are limited in one place and given back."""

import os
import subprocess
import sys
import threading

import pytest
import scipy.linalg  # noqa: F401  its BLAS is then counted from the first test on
from threadpoolctl import threadpool_info

from gramian.planning import machine
from gramian.planning.machine import (
    all_blas_threads,
    available_memory,
    blas_threads,
    cores,
    one_blas_thread,
    total_memory,
)


def _blas():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_blas_is_held_to_one_thread_and_restored_after_the_last_holder():
    """Nested and concurrent holders restore nothing until the last one leaves."""
    before = _blas()
    entered, leave = threading.Event(), threading.Event()

    def hold():
        with one_blas_thread():
            entered.set()
            leave.wait(10)

    other = threading.Thread(target=hold)
    with one_blas_thread():
        other.start()
        assert entered.wait(10)
        with one_blas_thread():
            assert max(_blas()) == 1
        assert max(_blas()) == 1
    assert blas_threads() == 1
    leave.set()
    other.join()
    # Some builds of OpenBLAS do not let one thread give back what another took: the next holder does it.
    with one_blas_thread():
        assert max(_blas()) == 1
    assert _blas() == before


def test_memory_and_cores_are_plausible():
    """What is free is part of what there is."""
    assert cores() >= 1
    assert 0 < available_memory() <= total_memory()


def test_work_inside_work_is_not_shared_out_again():
    """A worker counts one thread, its own; the thread that limits BLAS still counts its workers."""
    allowed = machine.blas_threads()
    with machine.one_blas_thread():
        assert machine.blas_threads() == allowed
        assert machine.worker_pool(2).submit(machine.blas_threads).result() == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork is POSIX's")
def test_a_forked_process_gets_workers_of_its_own():
    """Threads do not survive a fork: a pool from before it would never answer."""
    machine.worker_pool(2).submit(abs, -1).result()
    child = os.fork()
    if child == 0:
        os._exit(machine.worker_pool(2).submit(abs, -7).result(timeout=20))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


FORKED = """
import os, sys, threading
from contextlib import nullcontext
from gramian.planning.machine import _threads_now, one_blas_thread

entered, leave, before = threading.Event(), threading.Event(), _threads_now()

def hold():
    with one_blas_thread():
        entered.set()
        leave.wait(20)

other = threading.Thread(target=hold)
other.start()
entered.wait(10)
with one_blas_thread() if sys.argv[1] == "holds" else nullcontext():
    if os.fork() == 0:
        with one_blas_thread():
            pass
        print(_threads_now() == (1 if sys.argv[1] == "holds" else before), flush=True)
        os._exit(0)
    os.wait()
leave.set()
other.join()
print(_threads_now() == before)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork is POSIX's")
@pytest.mark.parametrize("mine", ["holds", "does not"])
def test_a_forked_process_does_not_wait_for_the_threads_of_its_parent(mine):
    """What another thread of the parent held is given back in the child; what the forking thread holds is not."""
    told = subprocess.run(
        [sys.executable, "-c", FORKED, mine],
        env=os.environ | {"OPENBLAS_NUM_THREADS": "2"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert told.stdout.split() == ["True", "True"], told.stderr


def test_threads_are_given_back_for_a_large_call_and_taken_again():
    """However often they are held, and not to a worker, who has none."""
    free = machine._threads_now()
    with one_blas_thread(), one_blas_thread():
        with all_blas_threads():
            assert machine._threads_now() == free
        assert machine._threads_now() == 1
        with machine.as_worker(), all_blas_threads():
            assert machine._threads_now() == 1
    with all_blas_threads():
        assert machine._threads_now() == free
    assert machine._threads_now() == free
