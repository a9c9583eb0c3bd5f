"""Rows and references on disk, made once, in the folder GRAMIAN_BENCH_CACHE names or in a temporary one."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from benchmarks.case import Arrays, Instance
from benchmarks.isolate import Outcome, call_apart

# Rows and references carry this number in their names: raise it when a maker or a reference changes.
_VERSION = 1
_MAKING_SECONDS = 900.0


class UnpreparedError(RuntimeError):
    """Rows or a reference could not be made."""


def folder() -> Path:
    """Where rows and references are kept."""
    named = os.environ.get("GRAMIAN_BENCH_CACHE")
    path = Path(named) if named else Path(tempfile.gettempdir()) / "gramian-benchmarks"
    path.mkdir(parents=True, exist_ok=True)
    return path


def load_rows(instance: Instance) -> Any:
    """The instance's rows in its precision, made first if they are not there."""
    path = _rows_path(instance)
    if not path.exists():
        _succeed(call_apart(_make_rows, instance, path, timeout=_MAKING_SECONDS), f"the rows of {instance.key}")
    X = scipy.sparse.load_npz(path) if instance.is_sparse else np.load(path)
    return X.astype(instance.dtype, copy=False)


def load_reference(instance: Instance, X: Any) -> Arrays:
    """The accurate answer, solved first if it is not there."""
    path = folder() / f"v{_VERSION}-{instance.case.problem.name}-{instance.case.problem.reference_key(instance)}.npz"
    if not path.exists():
        _succeed(
            call_apart(_make_reference, instance, X, path, timeout=_MAKING_SECONDS),
            f"the truth of {instance.key}",
        )
    with np.load(path) as arrays:
        return dict(arrays)


def _rows_path(instance: Instance) -> Path:
    """Rows are kept in float32, the numbers of both precisions."""
    return folder() / f"v{_VERSION}-rows-{instance.data_key}.{'npz' if instance.is_sparse else 'npy'}"


def _make_rows(instance: Instance, path: Path) -> None:
    """Make the rows and put them in place in one step, so that a broken run leaves no half file."""
    X = instance.case.make(instance)
    unfinished = path.with_name(f"part-{os.getpid()}-{path.name}")
    if instance.is_sparse:
        scipy.sparse.save_npz(unfinished, X, compressed=False)
    else:
        np.save(unfinished, X)
    unfinished.replace(path)


def _make_reference(instance: Instance, X: Any, path: Path) -> None:
    """Solve and put the answer in place in one step."""
    unfinished = path.with_name(f"part-{os.getpid()}-{path.name}")
    np.savez(unfinished, **instance.case.problem.solve(instance, X))
    unfinished.replace(path)


def _succeed(outcome: Outcome, what: str) -> None:
    """Refuse to go on without what was to be made."""
    if outcome.failure is not None:
        message = f"Could not make {what}: {outcome.failure}."
        raise UnpreparedError(message)
