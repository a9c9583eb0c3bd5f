"""Where and with what the figures were measured."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import threadpoolctl

from benchmarks.isolate import call_apart, memory_bytes
from benchmarks.peers.floors import product_rate

_DEFAULT_RATE = 5e10


def describe(distributions: Iterable[str]) -> dict[str, Any]:
    """Machine, versions, BLAS, threads, date, and the rate of a matrix product in each precision."""
    return {
        "date": datetime.now(tz=UTC).strftime("%Y-%m-%d"),
        "cpu": _cpu_model(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_bytes": memory_bytes(),
        "system": f"{platform.system()} {platform.machine()}",
        "load_before": round(os.getloadavg()[0], 2),
        "threads": {name: os.environ.get(name) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")},
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in sorted({*distributions, "numpy", "scipy"})},
        "blas": _blas(),
        "product_rate": {dtype: measured_rate(dtype) for dtype in ("float64", "float32")},
    }


def measured_rate(dtype: str) -> float:
    """Flop/s of a matrix product, measured in a process of its own."""
    outcome = call_apart(product_rate, dtype, timeout=60.0)
    return outcome.value or _DEFAULT_RATE


def _cpu_model() -> str:
    """The processor's name as the system gives it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "unknown"


def _version(distribution: str) -> str | None:
    """Version of an installed distribution, or None."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def _blas() -> list[str]:
    """Each BLAS loaded here, with its version and kernels."""
    found = (pool for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas")
    return sorted({f"{pool['internal_api']} {pool['version']} ({pool.get('architecture')})" for pool in found})
