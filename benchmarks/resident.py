"""Peak resident memory of this process between two points.

On Linux the kernel keeps the high-water mark and lets a process reset it (by a 5 in /proc/self/clear_refs).
The peak is then exact and costs nothing. Elsewhere, or where that file may not be written, a thread samples
the resident size every two milliseconds and the peak is a lower bound. ``PeakWatch.method`` says which it was.
"""

from __future__ import annotations

import ctypes
import gc
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil

_SAMPLE_SECONDS = 0.002


class PeakWatch:
    """Context manager: ``beyond`` is the peak of resident memory above what it was on entry, in bytes."""

    def __enter__(self) -> Self:
        _give_back_free_memory()
        self.method = "high-water mark" if _reset_mark() else "sampled"
        self._before = psutil.Process().memory_info().rss
        self._sampler = None if self.method == "high-water mark" else _Sampler()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        peak = _read_mark() if self._sampler is None else self._sampler.stop()
        self.beyond = max(peak - self._before, 0)


class _Sampler(threading.Thread):
    """Keeps the largest resident size it has seen."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._largest = 0
        self._done = threading.Event()
        self.start()

    def run(self) -> None:
        process = psutil.Process()
        while not self._done.wait(_SAMPLE_SECONDS):
            self._largest = max(self._largest, process.memory_info().rss)

    def stop(self) -> int:
        """End the thread and give the largest size, the last one included."""
        self._done.set()
        self.join()
        return max(self._largest, psutil.Process().memory_info().rss)


def _give_back_free_memory() -> None:
    """Return what is free to the system: memory that the allocator keeps would hide what a fit takes."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _reset_mark() -> bool:
    """Set the kernel's high-water mark to the present size, where it lets us."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def _read_mark() -> int:
    """The high-water mark in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
