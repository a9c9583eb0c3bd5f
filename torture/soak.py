"""Fits, transforms, saves and loads in one process for an hour: its memory, threads and open files must not grow.

The rule: after a warm-up of a twelfth of the time (five minutes of an hour) memory is read after every round. The
median of the last sixth of the time may exceed the median of the first sixth after the warm-up by 2% at most, and of
threads and open files there may never be more in the last sixth than there were in the first.

Memory is read twice, and both readings are under the rule. *In use* is what has been asked of the C library and not
given back (``mallinfo2``; small pieces that threads keep for themselves count). Python, NumPy and Arrow are told to
take their memory there (``ALL_BY_MALLOC``) and not from pools of their own. *Resident* is what the process occupies,
mapped files, stacks and the buffers of BLAS too, after the C library has given free pages back (``malloc_trim``).
Before that it also holds memory that was freed and is kept for later, the more the longer sizes vary: what is resident
cannot tell that from a leak.

Run as ``python -m torture.soak --minutes 60``.
"""

import argparse
import ctypes
import gc
import os
import struct
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):  # Before NumPy is loaded.
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402
import psutil  # noqa: E402
from scipy import sparse  # noqa: E402

from gramian import ICA, MCA, PCA, KernelPCA, ProbabilisticPCA, analyze, load  # noqa: E402
from torture.family import Broken  # noqa: E402

GROWTH = 0.02
MEGABYTE = 1 << 20
ALL_BY_MALLOC = {"PYTHONMALLOC": "malloc", "ARROW_DEFAULT_MEMORY_POOL": "system"}
"""What the environment says when Python starts, so that all memory is the C library's."""
PACKED = "=d4q"
"""A reading in the file of readings."""
Array = np.ndarray[Any, Any]


class Reading(NamedTuple):
    """What the process holds after a round."""

    minute: float
    in_use: int
    resident: int
    threads: int
    files: int


class _Mallinfo(ctypes.Structure):
    """``struct mallinfo2`` of the GNU C library."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks")
    ] + [("keepcost", ctypes.c_size_t)]


def memory_held() -> tuple[int, int]:
    """Return the bytes in use and the bytes resident, free pages given back first.

    Where the C library is another than GNU's (2.33 or newer), what is resident counts as in use.
    """
    library, me = ctypes.CDLL(None), psutil.Process()
    if not hasattr(library, "mallinfo2"):
        return (me.memory_info().rss,) * 2
    library.malloc_trim(0)
    library.mallinfo2.restype = _Mallinfo
    info = library.mallinfo2()
    return info.uordblks + info.hblkhd, me.memory_info().rss


def _rows(rng: np.random.Generator, most: int = 3_000) -> Array:
    n, d = int(rng.integers(100, most)), int(rng.integers(5, 40))
    return np.asarray(rng.uniform(-1, 1, (n, d)) @ (rng.standard_normal((d, d)) * np.geomspace(3, 0.3, d)))


def tasks(rng: np.random.Generator, folder: Path) -> Iterator[tuple[Any, Any]]:
    """Give a model of every kind, unfitted, each with rows of its own."""
    yield PCA(3), _rows(rng)
    yield PCA(3, svd_solver="randomized", random_state=0, whiten=True), _rows(rng)
    yield PCA(3), sparse.random(int(rng.integers(500, 3_000)), 300, 0.02, format="csr", random_state=rng)
    np.save(folder / "rows.npy", _rows(rng))
    yield PCA(3), folder / "rows.npy"
    yield KernelPCA(3, kernel="rbf", gamma=0.1, random_state=0), _rows(rng, 400)
    yield ICA(3, random_state=0), _rows(rng)
    X = _rows(rng, 300)
    yield ProbabilisticPCA(2, random_state=0), np.where(rng.random(X.shape) < 0.1, np.nan, X)
    yield MCA(2), rng.integers(0, 4, (300, 6)).astype(str)


def one_round(rng: np.random.Generator, folder: Path) -> None:
    """Fit and transform with every model, save it, load it and transform again; analyze a table and write its page."""
    for model, X in tasks(rng, folder):
        scores = model.fit(X).transform(X)
        model.save(folder / "m.gramian")
        if not np.allclose(load(folder / "m.gramian").transform(X), scores, rtol=1e-12, atol=1e-12):
            raise Broken(f"{model!r}, saved and loaded, gave other scores")
    np.savetxt(folder / "table.csv", _rows(rng, 300), delimiter=",")
    analyze(folder / "table.csv").report(folder / "page.html")


def soak(minutes: float, rounds: Callable[[], None]) -> list[Reading]:
    """Make rounds for so many minutes; a line is printed at the end of each minute."""
    me, began, minute, said, made = psutil.Process(), time.monotonic(), 0.0, 0, 0
    with tempfile.TemporaryFile() as kept:  # A list of readings would grow by what the rule is to notice.
        while made == 0 or minute < minutes:
            rounds()
            gc.collect()
            minute, made = (time.monotonic() - began) / 60, made + 1
            now = Reading(minute, *memory_held(), me.num_threads(), me.num_fds())
            kept.write(struct.pack(PACKED, *now))
            if int(minute) > said:
                said = int(minute)
                held = f"{now.in_use / MEGABYTE:7.2f} MB in use, {now.resident / MEGABYTE:7.1f} MB resident"
                print(
                    f"minute {said:3}: {made:7,} rounds, {held}, {now.threads} threads, {now.files} files", flush=True
                )
        kept.seek(0)
        return [Reading(*fields) for fields in struct.iter_unpack(PACKED, kept.read())]


def verdict(readings: list[Reading]) -> tuple[str, bool]:
    """What the rule of this module says of the readings, and whether it holds."""
    end = readings[-1].minute
    warm = [r for r in readings if r.minute >= end / 12]
    first, last = ([r for r in warm if at <= r.minute <= at + end / 6] for at in (end / 12, end * 5 / 6))
    threads, files = ([max(getattr(r, name) for r in part) for part in (first, last)] for name in ("threads", "files"))
    words, held = [], threads[1] <= threads[0] and files[1] <= files[0]
    for name in ("in_use", "resident"):
        before, after = (median(getattr(r, name) for r in part) for part in (first, last))
        held = held and after <= before * (1 + GROWTH)
        sizes = (
            f"{before / MEGABYTE:.2f} -> {after / MEGABYTE:.2f} MB ({after / before - 1:+.2%}; {GROWTH:.0%} allowed)"
        )
        words.append(f"{name.replace('_', ' ')} {sizes}")
    words.append(f"threads {threads[0]} -> {threads[1]}, open files {files[0]} -> {files[1]}")
    return f"{len(readings):,} rounds: {', '.join(words)}: {'flat' if held else 'GROWN'}", held


def main() -> int:
    """Read the command line, soak and say what came of it."""
    parser = argparse.ArgumentParser(prog="python -m torture.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    rng, minutes = np.random.default_rng(0), parser.parse_args().minutes
    if any(os.environ.get(name) != value for name, value in ALL_BY_MALLOC.items()):
        # Python reads it when it starts.
        os.execve(sys.executable, sys.orig_argv, {**os.environ, **ALL_BY_MALLOC})  # noqa: S606 - this very program
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        words, held = verdict(soak(minutes, lambda: one_round(rng, Path(name))))
    print(words)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
