"""Cores, memory and BLAS threads: what the machine offers, and the one place that limits threads.

Work that Gramian spreads over its own threads runs with one BLAS thread a worker. The limit is
reference-counted, so nested and concurrent fits never oversubscribe the cores and the last one out
restores what was there.
"""

import os
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from gramian.errors import ParameterError

MEGABYTE = 1 << 20

LARGE_STATE = 24 * MEGABYTE
"""Running values above this size are not held once a worker: one worker runs, with threaded BLAS."""


@cache
def cores() -> int:
    """Count the cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return max(1, os.cpu_count() or 1)


@cache
def total_memory() -> int:
    """Return the machine's memory in bytes: the smaller of what is installed and the cgroup's limit."""
    installed = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min(installed, _cgroup_limit() or installed)


def memory_budget() -> int:
    """Return the bytes that work may take when nothing is said: ``GRAMIAN_MEMORY``, else 3/4 of the machine's."""
    said = os.environ.get("GRAMIAN_MEMORY", "").strip()
    return bytes_of(said) if said else total_memory() * 3 // 4


def bytes_of(size: str) -> int:
    """Return the bytes that a size stands for, in units of 1000 (kB, MB, GB, TB) or 1024 (KiB, MiB, GiB, TiB).

    Examples
    --------
    >>> bytes_of("1.5GB"), bytes_of("512 MiB"), bytes_of("4096")
    (1500000000, 536870912, 4096)
    """
    found = re.fullmatch(r"([0-9.]+)\s*([kmgt]?)(i?)b?", size.strip().lower())
    try:
        number = float(found[1]) if found else 0.0
    except ValueError:
        number = 0.0
    if found is None or number <= 0:
        message = (
            f"{size!r} is no size of memory (GRAMIAN_MEMORY, memory_budget). Write a number and a unit: 4GB, 512MiB."
        )
        raise ParameterError(message)
    return int(number * (1024 if found[3] else 1000) ** " kmgt".index(found[2] or " "))


def available_memory() -> int:
    """Return the bytes that can be had now without swapping."""
    try:
        with Path("/proc/meminfo").open(encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return total_memory() // 2


def _cgroup_limit() -> int | None:
    try:
        word = Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii").strip()
    except OSError:
        return None
    return int(word) if word.isdigit() else None


class _BlasLimit:
    """A process-wide, reference-counted limit of one BLAS thread.

    The thread that limits BLAS still knows how many threads there were: they are its own workers' to use.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holders = 0
        self._restore: Any = None
        self._owed = False
        self._mine = threading.local()

    def enter(self) -> None:
        if self.depth == 0:
            self._mine.threads = _threads_now()
        self._mine.depth = self.depth + 1
        with self._lock:
            if self._holders == 0:
                if self._owed:
                    self._restore.restore_original_limits()
                self._restore = _controller().limit(limits=1, user_api="blas")
            self._holders += 1

    @property
    def depth(self) -> int:
        return getattr(self._mine, "depth", 0)

    def threads(self) -> int:
        return self._mine.threads if self.depth else _threads_now()

    def mark_worker(self) -> None:
        """Give a worker one thread, its own: work inside work is not shared out again."""
        self._mine.depth, self._mine.threads, self._mine.marked = 1, 1, 1

    def swap_threads(self, threads: int) -> int:
        """Let this thread, which holds the limit, count on so many threads; return how many it had."""
        before, self._mine.threads = self._mine.threads, threads
        return int(before)

    def leave(self) -> None:
        self._mine.depth -= 1
        with self._lock:
            self._holders -= 1
            if self._holders == 0:
                self._give_back()

    def before_fork(self) -> None:
        """Wait until no thread is in the middle of a change: a forked process would find half of it."""
        self._lock.acquire()

    def after_fork(self) -> None:
        self._lock.release()

    def forked(self) -> None:
        """Count, in a forked process, the thread that is left: the others, and what they held, are gone."""
        self.after_fork()
        before, self._holders = self._holders, self.depth - getattr(self._mine, "marked", 0)
        if before and not self._holders:
            self._give_back()

    def _give_back(self) -> None:
        self._restore.restore_original_limits()
        # OpenBLAS may ignore a thread that gives back what another one took; then the next holder does it.
        self._owed = _threads_now() < (self._restore.get_original_num_threads()["blas"] or 1)


@cache
def _controller() -> Any:
    # Scanning the loaded libraries takes milliseconds, so it is done once: Gramian's own BLAS calls
    # go through NumPy and SciPy, both loaded by now.
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


_LIMIT = _BlasLimit()


@cache
def worker_pool(workers: int) -> ThreadPoolExecutor:
    """Return the threads that share out the passes over data: made once, because starting them costs a millisecond."""
    return ThreadPoolExecutor(workers, thread_name_prefix="gramian", initializer=_LIMIT.mark_worker)


if hasattr(os, "register_at_fork"):
    # A forked process has none of its parent's threads.
    os.register_at_fork(after_in_child=worker_pool.cache_clear)
    os.register_at_fork(before=_LIMIT.before_fork, after_in_parent=_LIMIT.after_fork, after_in_child=_LIMIT.forked)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread while Gramian's own workers run.

    Also around work in which short BLAS calls and passes by workers take turns: an idle thread of OpenBLAS spins for
    20 to 100 ms after a call, on the core that a worker needs.
    """
    _LIMIT.enter()
    try:
        yield
    finally:
        _LIMIT.leave()


@contextmanager
def all_blas_threads() -> Iterator[None]:
    """Give BLAS its threads back for one large call, inside of :func:`one_blas_thread`; a worker has none to give."""
    depth = _LIMIT.depth if _LIMIT.threads() > 1 else 0
    for _ in range(depth):
        _LIMIT.leave()
    try:
        yield
    finally:
        for _ in range(depth):
            _LIMIT.enter()


@contextmanager
def as_worker() -> Iterator[None]:
    """Hold BLAS to one thread and count the calling thread as a worker, next to those of :func:`worker_pool`."""
    with one_blas_thread():
        before = _LIMIT.swap_threads(1)
        try:
            yield
        finally:
            _LIMIT.swap_threads(before)


def blas_threads() -> int:
    """Return how many threads NumPy's BLAS would use now, were it not for a limit that this thread has set."""
    return _LIMIT.threads()


def _threads_now() -> int:
    return max((library.num_threads for library in _controller().lib_controllers), default=1)
