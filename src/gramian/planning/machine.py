"""Cores, memory and BLAS threads: what the machine offers, and the one place that limits threads.

Work that Gramian spreads over its own threads runs with one BLAS thread a worker. The limit is
reference-counted, so nested and concurrent fits never oversubscribe the cores and the last one out
restores what was there.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

MEGABYTE = 1 << 20


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
    """A process-wide, reference-counted limit of one BLAS thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holders = 0
        self._restore: Any = None

    def enter(self) -> None:
        with self._lock:
            if self._holders == 0:
                self._restore = _controller().limit(limits=1, user_api="blas")
            self._holders += 1

    def leave(self) -> None:
        with self._lock:
            self._holders -= 1
            if self._holders == 0:
                self._restore.restore_original_limits()
                self._restore = None


@cache
def _controller() -> Any:
    # Scanning the loaded libraries takes milliseconds, so it is done once: Gramian's own BLAS calls
    # go through NumPy and SciPy, both loaded by now.
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


_LIMIT = _BlasLimit()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread while Gramian's own workers run."""
    _LIMIT.enter()
    try:
        yield
    finally:
        _LIMIT.leave()


_SPREAD = threading.local()


@contextmanager
def serial_blas() -> Iterator[None]:
    """Hold BLAS to one thread through a stretch of small dense work between passes, whose workers are as many as ever.

    Threads of BLAS wait for more work by spinning. Where small products alternate with passes that have workers of
    their own, they take the cores from these: kernel PCA of 2,000 rows was measured a fifth to a half slower.
    """
    before = getattr(_SPREAD, "workers", None)
    _SPREAD.workers = allowed_workers()
    try:
        with one_blas_thread():
            yield
    finally:
        _SPREAD.workers = before


def allowed_workers() -> int:
    """Return how many workers a pass may have: never more than the cores, nor than the BLAS threads allowed outside.

    In a worker itself BLAS has one thread, so a pass within a pass has one worker.
    """
    known: int | None = getattr(_SPREAD, "workers", None)
    return min(cores(), blas_threads()) if known is None else known


def blas_threads() -> int:
    """Return how many threads NumPy's BLAS would use now."""
    counts = [pool["num_threads"] for pool in _controller().info() if pool["user_api"] == "blas"]
    return max(counts, default=1)
