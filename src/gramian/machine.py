"""Cores, memory, caches and BLAS threads: what the machine offers, and the one place that decides on threads.

The policy in one sentence: work is cut into tasks, one worker per core takes them, each with one BLAS thread; a running
value too large to be held once per worker is held once, and BLAS gets the cores instead.

The limit on BLAS is reference-counted, so that nested and concurrent fits never oversubscribe the cores and the last
one out restores what was there. Nothing here assumes a number of cores, a size of cache, or an operating system.
"""

import ctypes
import math
import os
import platform
import re
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import cache, lru_cache
from numbers import Real
from pathlib import Path
from typing import Any

from gramian.errors import ParameterError

MEGABYTE = 1 << 20

CGROUPS = Path("/sys/fs/cgroup")
"""Where Linux shows the limits of a container."""

CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
"""Where Linux shows the caches of a core."""

MEMINFO, OWN_CGROUPS = Path("/proc/meminfo"), Path("/proc/self/cgroup")
"""Where Linux shows the memory of the machine, and the groups that limit this process."""


def cores() -> int:
    """Count the cores that this process may keep busy: its affinity, within the quota of its container."""
    # Windows and macOS have no affinity to ask for.
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(count, _cpu_quota() or count))


@cache
def _cpu_quota() -> int | None:
    """Return the cores' worth of time that the container may take, rounded up; ``None`` without a quota."""
    quotas = []
    for folder in _groups("cpu"):
        word = _word(folder / "cpu.max").split()  # version 2: quota and period
        if len(word) != 2:
            word = [_word(folder / "cpu.cfs_quota_us"), _word(folder / "cpu.cfs_period_us")]
        if all(part.isdigit() for part in word) and int(word[1]) > 0:  # "max" and -1 mean no quota
            quotas.append(-(-int(word[0]) // int(word[1])))
    return max(1, min(quotas)) if quotas else None


@cache
def total_memory() -> int:
    """Return the machine's memory in bytes: the smaller of what is installed and the container's limit."""
    installed = _installed_memory()
    return min([installed, *(limit for limit, _ in _memory_groups())])


def available_memory() -> int:
    """Return the bytes that can be had now without swapping; half of all where the system does not say."""
    free = _meminfo().get("MemAvailable") or _windows_memory("free") or total_memory() // 2
    return max(0, min([free, *(limit - used for limit, used in _memory_groups())]))


def _installed_memory() -> int:
    found = _meminfo().get("MemTotal") or _windows_memory("total") or _sysctl("hw.memsize")
    return found or 4 << 30  # a system that says nothing: a small machine is the safe guess


def _meminfo() -> dict[str, int]:
    """Return the lines of /proc/meminfo in bytes; nothing on other systems."""
    lines = (line.split() for line in _word(MEMINFO).splitlines())
    return {words[0].rstrip(":"): int(words[1]) * 1024 for words in lines if len(words) == 3}


def _memory_groups() -> list[tuple[int, int]]:
    """Return limit and use, in bytes, of every container around this process that has a limit."""
    found = []
    for folder in _groups("memory"):
        limit = _word(folder / "memory.max") or _word(folder / "memory.limit_in_bytes")
        used = _word(folder / "memory.current") or _word(folder / "memory.usage_in_bytes") or "0"
        if limit.isdigit() and used.isdigit():
            # Pages of files that were read are given up when memory is asked for.
            kept = re.search(r"^(?:total_)?inactive_file (\d+)$", _word(folder / "memory.stat"), re.MULTILINE)
            found.append((int(limit), max(0, int(used) - (int(kept[1]) if kept else 0))))
    return found


def _groups(controller: str) -> Iterator[Path]:
    """Give the folders that may limit this process in ``controller``, from its own up, in cgroup version 1 or 2."""
    for line in _word(OWN_CGROUPS).splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        # Version 2 has one tree and names no controller; version 1 has one per controller, by either of two names.
        roots = {CGROUPS / controllers, CGROUPS / controller} if controllers else {CGROUPS, CGROUPS / "unified"}
        for root in sorted(roots):
            # A container sees its own group as the root, whatever path the host knows it by.
            own = root / path.strip("/")
            yield from (folder for folder in (own, *own.parents) if folder == root or root in folder.parents)


def _word(path: Path) -> str:
    """Return what a small system file says, or nothing where there is none."""
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except (OSError, ValueError):
        return ""


def _windows_memory(part: str) -> int | None:
    """Return the physical memory of Windows, ``"total"`` or ``"free"``; ``None`` on other systems."""
    windows = getattr(ctypes, "windll", None)
    if windows is None:
        return None

    class Status(ctypes.Structure):
        _fields_ = [("length", ctypes.c_uint32), ("load", ctypes.c_uint32), ("total", ctypes.c_uint64)]
        _fields_ += [("free", ctypes.c_uint64), ("others", ctypes.c_uint64 * 5)]

    status = Status(length=ctypes.sizeof(Status))
    return int(getattr(status, part)) if windows.kernel32.GlobalMemoryStatusEx(ctypes.byref(status)) else None


def _sysctl(name: str) -> int | None:
    """Return a number that macOS tells by name; ``None`` on other systems."""
    if platform.system() != "Darwin":
        return None
    value = ctypes.c_uint64(0)
    size = ctypes.c_size_t(ctypes.sizeof(value))
    asked = ctypes.CDLL(None).sysctlbyname(name.encode(), ctypes.byref(value), ctypes.byref(size), None, 0)
    return int(value.value) if asked == 0 and value.value else None


@cache
def cache_bytes() -> int:
    """Return the size of a core's second-level cache; one megabyte where the system does not say."""
    for folder in sorted(CACHES.glob("index*")):
        size = _word(folder / "size")
        if _word(folder / "level") == "2" and re.fullmatch(r"\d+K", size):
            return int(size[:-1]) * 1024
    return _sysctl("hw.l2cachesize") or MEGABYTE


def memory_budget() -> int:
    """Return the bytes that work may take when nothing is said: ``GRAMIAN_MEMORY``, else 3/4 of the machine's."""
    said = os.environ.get("GRAMIAN_MEMORY", "").strip()
    return bytes_of(said) if said else total_memory() * 3 // 4


def bytes_of(size: Any) -> int:
    """Return the bytes of a size: a number, or text with a unit of 1000 (kB, MB, GB, TB) or 1024 (KiB, MiB, GiB, TiB).

    Examples
    --------
    >>> bytes_of("1.5GB"), bytes_of("512 MiB"), bytes_of("4096"), bytes_of(4096)
    (1500000000, 536870912, 4096, 4096)
    """
    if not isinstance(size, str):
        if isinstance(size, bool) or not isinstance(size, Real) or not 0 < float(size) < math.inf:
            message = f"memory_budget is {size!r}. Pass a number of bytes above 0, or a size such as '4GB'."
            raise ParameterError(message)
        return int(float(size))
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


def in_words(size: float) -> str:
    """Return a number of bytes in the unit that reads best.

    Examples
    --------
    >>> in_words(1000), in_words(2.5e7), in_words(16e9)
    ('1 kB', '25 MB', '16 GB')
    """
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"


def worker_count() -> int:
    """Return how many workers may run: never more than the cores, nor than the BLAS threads now allowed."""
    return min(cores(), blas_threads())


def workers_for(state_bytes: int, *, room: int) -> int:
    """Return how many workers share a reduction whose running value has ``state_bytes``: all of them, or one.

    Each worker holds a running value, and all are merged at the end. Where together they would take more than
    ``room``, one worker runs and BLAS has the cores: its calls on one large value are as parallel as many workers.

    Examples
    --------
    >>> workers_for(8, room=1 << 20) == worker_count(), workers_for(1 << 30, room=1 << 20)
    (True, 1)
    """
    workers = worker_count()
    return workers if workers * state_bytes <= room else 1


class _BlasLimit:
    """A process-wide, reference-counted limit of one BLAS thread.

    The thread that limits BLAS still knows how many threads there were: they are its own workers' to use.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holders = 0
        self._before: dict[Any, int] = {}
        self._owed = False
        self._mine = threading.local()

    def enter(self) -> None:
        if self.depth == 0:
            self._mine.threads = _threads_now()
        self._mine.depth = self.depth + 1
        with self._lock:
            if self._holders == 0:
                if self._owed:
                    self._give_back()
                self._before = {library: library.num_threads for library in _libraries()}
                for library in self._before:
                    library.set_num_threads(1)
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
        for library, threads in self._before.items():
            library.set_num_threads(threads)
        # OpenBLAS may ignore a thread that gives back what another one took; then the next holder does it.
        self._owed = any(library.num_threads < threads for library, threads in self._before.items())


def _libraries() -> list[Any]:
    """Return the BLAS libraries in this process: scanned again when modules were imported, as a scan takes 2 ms."""
    return _scanned(len(sys.modules))


@lru_cache(maxsize=1)
def _scanned(_modules: int) -> list[Any]:
    from threadpoolctl import ThreadpoolController

    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


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
    """Hold BLAS to one thread while work goes on in which short BLAS calls and passes by workers take turns.

    An idle thread of OpenBLAS spins for 20 to 100 ms after a call, on the core that a worker needs. SciPy has a BLAS of
    its own, which is loaded here: a library that is loaded later would not be limited.
    """
    import scipy.linalg  # noqa: F401

    with _limited():
        yield


@contextmanager
def _limited() -> Iterator[None]:
    """Hold the BLAS libraries that are loaded to one thread."""
    _LIMIT.enter()
    try:
        yield
    finally:
        _LIMIT.leave()


@contextmanager
def all_blas_threads() -> Iterator[None]:
    """Give BLAS its threads back for one large call, inside of :func:`one_blas_thread`; a worker has none to give."""
    threads = _LIMIT.threads()
    depth = _LIMIT.depth if threads > 1 else 0
    for _ in range(depth):
        _LIMIT.leave()
    try:
        yield
    finally:
        for _ in range(depth):
            _LIMIT.enter()
        if depth:  # what BLAS has by now may be the limit of another fit
            _LIMIT.swap_threads(threads)


LARGE_CALL = 2e9
"""Operations from which on a dense problem may have BLAS's threads: some hundredths of a second of one core."""


def threads_for(dense: float, *, shared: float = 0.0) -> AbstractContextManager[None]:
    """Give BLAS its threads for a dense problem of so many operations, or hold it to one.

    Idle threads of OpenBLAS spin for up to a tenth of a second after a call, on cores that the next pass by workers
    needs, and wait for each other where cores are busy. So they are given to a problem that is not short, and that
    takes one thread longer than all cores take for the ``shared`` operations around it.
    """
    return all_blas_threads() if dense >= LARGE_CALL and dense * cores() > shared else one_blas_thread()


@contextmanager
def as_worker() -> Iterator[None]:
    """Hold BLAS to one thread and count the calling thread as a worker, next to those of :func:`worker_pool`."""
    with _limited():
        before = _LIMIT.swap_threads(1)
        try:
            yield
        finally:
            _LIMIT.swap_threads(before)


def blas_threads() -> int:
    """Return how many threads NumPy's BLAS would use now, were it not for a limit that this thread has set."""
    return _LIMIT.threads()


def _threads_now() -> int:
    # A BLAS that threadpoolctl does not know, such as Accelerate, limits nobody.
    return max((library.num_threads for library in _libraries()), default=cores())
