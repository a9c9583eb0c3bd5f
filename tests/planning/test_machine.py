"""The machine: threads are limited in one place and given back."""

import threading

from threadpoolctl import threadpool_info

from gramian.planning.machine import available_memory, blas_threads, cores, one_blas_thread, total_memory


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
            assert blas_threads() == 1
        assert blas_threads() == 1
    assert blas_threads() == 1
    leave.set()
    other.join()
    assert _blas() == before


def test_memory_and_cores_are_plausible():
    """What is free is part of what there is."""
    assert cores() >= 1
    assert 0 < available_memory() <= total_memory()
