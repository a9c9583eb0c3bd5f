"""A measurement in an interpreter of its own: which Gramian it imports, on how many cores, and for how long at most.

Needs the standard library alone, and NumPy within the child.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

ROOT = Path(__file__).parent.parent
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")
SETTLING_SECONDS = 0.2
"""Between one fit and the next: threads of BLAS and OpenMP spin for some 0.1 s on cores that the next one needs."""


def call(module: str, task: dict[str, Any], *, src: Path, cores: int | None = None, timeout: float) -> dict[str, Any]:
    """Run ``python -m MODULE child TASK`` and return the JSON of its last line, or a ``failure`` in its place."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(src.resolve()), str(ROOT)])}
    if cores is not None:
        environment |= dict.fromkeys(THREADS, str(cores))
    command = [sys.executable, "-m", module, "child", json.dumps(task)]
    with _bound_to(cores):
        process = subprocess.Popen(
            command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
    try:
        said, told = process.communicate(timeout=max(timeout, 1.0))
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return {"failure": f"stopped after {timeout:.0f} s"}
    if process.returncode:
        return {"failure": (told.strip().splitlines() or [f"ended with {process.returncode}"])[-1][:300]}
    return json.loads(said.strip().splitlines()[-1])


@contextmanager
def _bound_to(cores: int | None) -> Iterator[None]:
    """Bind this process to so many cores: a child that is started meanwhile stays bound to them."""
    if cores is None or not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, set(apart_first(before)[:cores]))
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def apart_first(cpus: set[int]) -> list[int]:
    """Return the processors, one of each physical core first: two threads of one core are not two cores."""
    seen: set[str] = set()
    first, rest = [], []
    for cpu in sorted(cpus):
        path = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        try:
            core = path.read_text().strip()
        except OSError:
            core = str(cpu)
        (rest if core in seen else first).append(cpu)
        seen.add(core)
    return first + rest


def seconds_of(work: Callable[[], Any], *, runs: int, once_beyond: float = 10.0) -> tuple[list[float], Any]:
    """Return the seconds of some runs, a pause before each, and the last result; one run where it takes too long."""
    times: list[float] = []
    result = None
    while len(times) < runs and (not times or times[0] <= once_beyond):
        result = None
        sleep(SETTLING_SECONDS)
        start = perf_counter()
        result = work()
        times.append(perf_counter() - start)
    return times, result
