"""The machine: threads are limited in one place and given back."""

import os
import subprocess
import sys
import threading

import pytest
import scipy.linalg  # noqa: F401  its BLAS is then counted from the first test on
from threadpoolctl import threadpool_info, threadpool_limits

from gramian import machine
from gramian.machine import all_blas_threads, available_memory, blas_threads, cores, one_blas_thread, total_memory


def _blas():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def _another_holder():
    """Return a thread that holds BLAS once it is started, what tells that it does, and what ends it."""
    entered, leave = threading.Event(), threading.Event()

    def hold():
        with one_blas_thread():
            entered.set()
            leave.wait(60)

    return threading.Thread(target=hold), entered, leave


def test_blas_is_held_to_one_thread_and_restored_after_the_last_holder():
    """Nested and concurrent holders restore nothing until the last one leaves."""
    before = _blas()
    other, entered, leave = _another_holder()
    with one_blas_thread():
        other.start()
        assert entered.wait(60)
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
        os._exit(machine.worker_pool(2).submit(abs, -7).result(timeout=60))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


FORKED = """
import os, sys, threading
from contextlib import nullcontext
from gramian.machine import _threads_now, one_blas_thread

entered, leave, before = threading.Event(), threading.Event(), _threads_now()

def hold():
    with one_blas_thread():
        entered.set()
        leave.wait(60)

other = threading.Thread(target=hold)
other.start()
entered.wait(60)
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
        timeout=600,
        check=True,
    )
    assert told.stdout.split() == ["True", "True"], told.stderr


def test_libraries_of_different_threads_get_each_their_own_back():
    """NumPy's BLAS and SciPy's may be set apart: each is given back what it had, without a word."""
    libraries = machine._libraries()
    was = [library.num_threads for library in libraries]
    try:
        for library, threads in zip(libraries, (1, 2), strict=False):
            library.set_num_threads(threads)
        apart = [library.num_threads for library in libraries]
        with one_blas_thread():
            assert {library.num_threads for library in libraries} == {1}
        assert [library.num_threads for library in libraries] == apart
    finally:
        for library, threads in zip(libraries, was, strict=True):
            library.set_num_threads(threads)


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


@pytest.fixture
def system(tmp_path, monkeypatch):
    """Return a function that writes the files of a made-up Linux machine, and forget what was read before and after."""

    def forget():
        for known in (machine._cpu_quota, machine.total_memory, machine.cache_bytes):
            known.cache_clear()

    def write(files):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="ascii")
        forget()

    for name in ("CGROUPS", "CACHES", "MEMINFO", "OWN_CGROUPS"):
        monkeypatch.setattr(machine, name, tmp_path / name.lower())
    write({"meminfo": "MemTotal: 8388608 kB\nMemAvailable: 6291456 kB\n"})
    yield write
    monkeypatch.undo()
    forget()


GIB = 1 << 30

VERSION_2 = {
    "own_cgroups": "0::/jobs/mine\n",
    "cgroups/jobs/mine/memory.max": "max\n",
    "cgroups/jobs/cpu.max": "max 100000\n",
}
VERSION_1 = {"own_cgroups": "4:memory:/docker/abc\n3:cpu,cpuacct:/docker/abc\n0::/\n"}


@pytest.mark.parametrize(
    "files, count",
    [
        ({}, 8),
        (VERSION_2, 8),
        (VERSION_2 | {"cgroups/jobs/mine/cpu.max": "250000 100000\n"}, 3),
        (VERSION_2 | {"cgroups/jobs/cpu.max": "150000 100000\n", "cgroups/jobs/mine/cpu.max": "max 100000\n"}, 2),
        (VERSION_2 | {"cgroups/jobs/mine/cpu.max": "5000 100000\n"}, 1),
        (VERSION_2 | {"cgroups/jobs/mine/cpu.max": "9900000 100000\n"}, 8),
        # A container that sees its own group as the root, though the host's path is what it is told.
        (
            VERSION_1
            | {"cgroups/cpu,cpuacct/cpu.cfs_quota_us": "400000", "cgroups/cpu,cpuacct/cpu.cfs_period_us": "100000"},
            4,
        ),
        (
            VERSION_1
            | {"cgroups/cpu/docker/abc/cpu.cfs_quota_us": "-1", "cgroups/cpu/docker/abc/cpu.cfs_period_us": "100000"},
            8,
        ),
        (
            VERSION_1
            | {
                "cgroups/cpu/docker/abc/cpu.cfs_quota_us": "200000",
                "cgroups/cpu/docker/abc/cpu.cfs_period_us": "100000",
            },
            2,
        ),
    ],
    ids=[
        "no groups",
        "no quota",
        "2.5 cores",
        "the parent's",
        "a twentieth",
        "more than there are",
        "v1 root",
        "v1 none",
        "v1",
    ],
)
def test_quotas_of_containers_count(files, count, system, monkeypatch):
    """Cores that may not be kept busy are not counted: a worker on each would be stopped half of the time."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    system(files)
    assert cores() == count


@pytest.mark.parametrize(
    "files, total, free",
    [
        ({}, 8 * GIB, 6 * GIB),
        (
            VERSION_2
            | {"cgroups/jobs/memory.max": f"{4 * GIB}", "cgroups/jobs/memory.current": f"{3 * GIB}"}
            | {"cgroups/jobs/memory.stat": f"anon 5\ninactive_file {GIB}\nactive_file 7\n"},
            4 * GIB,
            2 * GIB,
        ),
        (
            VERSION_1
            | {"cgroups/memory/docker/abc/memory.limit_in_bytes": f"{2 * GIB}"}
            | {"cgroups/memory/docker/abc/memory.usage_in_bytes": f"{GIB}"},
            2 * GIB,
            GIB,
        ),
        (VERSION_1 | {"cgroups/memory/memory.limit_in_bytes": "9223372036854771712"}, 8 * GIB, 6 * GIB),
        ({"meminfo": ""}, 4 * GIB, 2 * GIB),
    ],
    ids=["no groups", "version 2", "version 1", "v1 without a limit", "nothing is said"],
)
def test_limits_of_containers_count(files, total, free, system):
    """Memory is what the container may have, and what of it is free; pages of files that were read are free."""
    system(files)
    assert (total_memory(), available_memory()) == (total, free)


def test_windows_has_neither_affinity_nor_system_files(system, monkeypatch):
    """Cores and memory come from what Windows offers; nothing asks for os.sysconf."""
    system({"meminfo": ""})

    class Kernel32:
        @staticmethod
        def GlobalMemoryStatusEx(status):
            status._obj.total, status._obj.free = 16 * GIB, 5 * GIB
            return 1

    monkeypatch.setattr(machine.ctypes, "windll", type("Windows", (), {"kernel32": Kernel32}), raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 12)
    for name in ("sched_getaffinity", "sysconf"):
        monkeypatch.delattr(os, name, raising=False)
    assert (cores(), total_memory(), available_memory(), machine.cache_bytes()) == (12, 16 * GIB, 5 * GIB, 1 << 20)


def test_macos_tells_by_name(system, monkeypatch):
    """Memory and cache come from sysctl; what is free is not told, and half of all is assumed."""
    system({"meminfo": ""})

    class Library:
        @staticmethod
        def sysctlbyname(name, value, _size, _new, _length):
            value._obj.value = {b"hw.memsize": 32 * GIB, b"hw.l2cachesize": 4 << 20}[name]
            return 0

    monkeypatch.setattr(machine.platform, "system", lambda: "Darwin")
    monkeypatch.setattr(machine.ctypes, "CDLL", lambda _: Library)
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 10)
    assert (cores(), total_memory(), available_memory(), machine.cache_bytes()) == (10, 32 * GIB, 16 * GIB, 4 << 20)


def test_the_cache_of_a_core_is_read(system):
    """The second level of the first core, however the system numbers it."""
    system(
        {
            "caches/index0/level": "1",
            "caches/index0/size": "48K",
            "caches/index2/level": "2",
            "caches/index2/size": "2048K",
        }
    )
    assert machine.cache_bytes() == 2 << 20


def test_a_running_value_is_held_per_worker_only_where_all_of_them_fit(monkeypatch):
    """Any number of cores takes part; a value too large for that is held once, and BLAS has the cores."""
    for count in (1, 2, 16, 64):
        monkeypatch.setattr(machine, "worker_count", lambda count=count: count)
        assert machine.workers_for(1000, room=1000 * count) == count
        assert machine.workers_for(1001, room=1000 * count) == 1


def test_a_blas_that_nobody_can_limit_limits_nobody(monkeypatch):
    """Accelerate is unknown to threadpoolctl: the cores are there all the same."""
    monkeypatch.setattr(machine, "_libraries", list)
    monkeypatch.setattr(machine, "cores", lambda: 10)
    assert machine._threads_now() == 10
    assert machine.worker_count() == 10


def test_a_fit_beside_others_keeps_its_threads():
    """Threads that were given back for a large call are counted as before, though another fit holds BLAS by now."""
    other, entered, leave = _another_holder()
    with threadpool_limits(2, "blas"), one_blas_thread():
        with all_blas_threads():
            other.start()
            assert entered.wait(60)
        assert blas_threads() == 2
        leave.set()
        other.join()


def test_blas_that_is_loaded_later_is_limited_too(monkeypatch):
    """The loaded libraries are looked up again when modules were imported since."""
    before = machine._libraries()
    assert machine._libraries() is before
    monkeypatch.setitem(sys.modules, "a_module_with_a_blas_of_its_own", os)
    assert machine._libraries() is not before


@pytest.mark.parametrize(
    "dense, shared, count, threads",
    [(1e6, 0.0, 16, 1), (1e10, 0.0, 2, 2), (1e10, 1e11, 2, 1), (1e10, 1e11, 16, 2), (0.0, 0.0, 16, 1)],
    ids=["short", "long", "less than its passes on two cores", "more than its passes on sixteen", "none"],
)
def test_a_dense_problem_has_threads_where_it_takes_longer_than_the_passes_around_it(
    dense, shared, count, threads, monkeypatch
):
    """The more cores share the passes, the sooner the dense problem is what a fit waits for."""
    monkeypatch.setattr(machine, "cores", lambda: count)
    with threadpool_limits(2, "blas"), machine.threads_for(dense, shared=shared):
        assert max(_blas()) == threads
