"""Checkpoints of a fit over a file: finished passes, and how far the last one had come.

A fit is a sequence of passes, and the same input and seed give the same sequence. So a fit that was killed is simply
started again: passes in the log return at once, the interrupted one continues from its last saved state, and only then
new work is done. No method knows of it.
"""

import hashlib
import io
import json
import os
import pickle
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gramian.atomic import atomic_write
from gramian.errors import InputError, ParameterError
from gramian.sources.row_file import FileVersion


class PassLog:
    """A folder in which the passes of one fit over one file are kept.

    Parameters
    ----------
    folder : path
        Made when it is not there. Use one folder for one fit, and remove it when the fit is done.
    every : float
        Seconds between two saved states of one worker: what a kill costs at most.

    Notes
    -----
    Cost: a running value (a d x d matrix for PCA) written by each worker every ``every`` seconds. A pass whose
    callable cannot be pickled, or that leaves no value, is not kept: it is made again.
    """

    def __init__(self, folder: str | os.PathLike[str], *, every: float = 20.0) -> None:
        self.folder = Path(folder)
        if self.folder.exists() and not self.folder.is_dir():
            message = f"checkpoint={str(folder)!r} is a file, and a folder is wanted. Name a new folder for this fit."
            raise ParameterError(message)
        self.every = every
        self._count = 0

    def begin(
        self, fold: Any, versions: Sequence[FileVersion], runs: Sequence[Sequence[slice]], rows: str
    ) -> "LoggedPass | None":
        """Return what is known of the next pass, or ``None`` when it cannot be kept.

        ``rows`` tells what is taken of the files (columns, weights, type): passes over other rows are other passes.
        """
        self._require_same_input(versions)
        self._count += 1
        try:
            digest = hashlib.sha256(rows.encode() + _pickled(fold)).hexdigest()
        except (pickle.PicklingError, AttributeError, TypeError):
            return None
        logged = LoggedPass(self.folder / f"{self._count:05d}", digest, _shape_of(runs), self.every)
        logged.load(len(runs))
        return logged

    def _require_same_input(self, versions: Sequence[FileVersion]) -> None:
        now = [version.kept() for version in versions]
        path = self.folder / "input.json"
        if not path.exists():
            self._write_input(path, now)
            return
        before = _read_input(path)
        for then, here in zip(before, now, strict=False):
            if then != here:
                _refuse_changed(self.folder, str(then[0]))
        if len(before) != len(now):
            _refuse_changed(self.folder, "the list of files")

    def _write_input(self, path: Path, now: list[list[object]]) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            _replace(path, json.dumps(now).encode())
        except OSError as error:
            message = (
                f"checkpoint={str(self.folder)!r} cannot be written to ({error.strerror}). Name a folder that can be "
                "made, or leave checkpoint out."
            )
            raise ParameterError(message) from error


@dataclass
class LoggedPass:
    """One pass: its result when it was finished, else a state to begin with for each worker."""

    path: Path
    digest: str
    shape: str
    every: float
    finished: bool = False
    result: Any = None
    parts: list[tuple[int, Any, Callable[[int, Any], None]]] = field(default_factory=list)

    def load(self, workers: int) -> None:
        """Read what the folder holds of this pass."""
        done = _load(self.path.with_suffix(".done"), self.digest)
        if done is not None:
            self.finished, self.result = True, done[0]
            return
        for worker in range(workers):
            at, state = _load(self._part(worker), self.digest + self.shape) or (0, None)
            self.parts.append((at, state, _Keeper(self._part(worker), self.digest + self.shape, at, self.every)))

    def finish(self, result: Any) -> None:
        """Keep the result of the whole pass and drop the states on the way."""
        if result is not None:
            _save(self.path.with_suffix(".done"), self.digest, (result,))
        for worker in range(len(self.parts)):
            self._part(worker).unlink(missing_ok=True)

    def _part(self, worker: int) -> Path:
        return self.path.with_name(f"{self.path.name}-{worker}.part")


class _Keeper:
    """Saves the state of one worker now and then."""

    def __init__(self, path: Path, digest: str, at: int, every: float) -> None:
        self._path, self._digest, self._at, self._every = path, digest, at, every
        self._last = time.monotonic()

    def __call__(self, done: int, state: Any) -> None:
        now = time.monotonic()
        if state is not None and now - self._last >= self._every:
            _save(self._path, self._digest, (self._at + done, state))
            self._last = now


class _Writer(pickle.Pickler):
    """Writes arrays and scalars of NumPy as bytes, type and shape: its own pickles name functions that it may move."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, np.dtype):
            return np.dtype, (value.str,)
        if isinstance(value, np.generic):
            return _array, (value.tobytes(), value.dtype.str, None)
        if type(value) is np.ndarray and value.dtype.kind in "biufcSU":
            by_columns = value.flags.f_contiguous and not value.flags.c_contiguous
            return _array, (value.tobytes("A"), value.dtype.str, value.shape, "F" if by_columns else "C")
        return NotImplemented


def _array(content: bytes, kind: str, shape: tuple[int, ...] | None, order: str = "C") -> Any:
    """Return an array that can be written to; a scalar where there is no shape."""
    found = np.frombuffer(bytearray(content), dtype=kind)
    return found[0] if shape is None else found.reshape(shape, order=order)  # type: ignore[call-overload]


class _Values(pickle.Unpickler):
    """Reads arrays, plain values and the value classes of Gramian, and nothing that could run."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == (_array.__module__, _array.__name__):
            return _array
        if (module, name) == ("numpy", "dtype"):
            return np.dtype
        if module.startswith("gramian.") and "." not in name:
            found = super().find_class(module, name)
            if isinstance(found, type) and found.__module__ == module:
                return found
        message = f"{module}.{name} has no place in a checkpoint"
        raise pickle.UnpicklingError(message)


def _pickled(value: Any) -> bytes:
    body = io.BytesIO()
    _Writer(body, protocol=5).dump(value)
    return body.getvalue()


def _read_input(path: Path) -> list[list[Any]]:
    """Return which files a checkpoint was begun with."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        found = None
    if not isinstance(found, list) or not all(isinstance(then, list) and then for then in found):
        message = (
            f"{path} is damaged: it does not say which files the checkpoint is of. Remove {path.parent}, fit again."
        )
        raise InputError(message)
    return found


def _shape_of(runs: Sequence[Sequence[slice]]) -> str:
    return json.dumps([[run[0].start, run[-1].stop, len(run)] for run in runs])


def _save(path: Path, digest: str, value: Any) -> None:
    body = _pickled((digest, value))
    _replace(path, hashlib.sha256(body).digest() + body)


def _load(path: Path, digest: str) -> Any:
    """Return a saved value, or ``None`` when there is none, it is damaged, or it belongs to another computation."""
    try:
        whole = path.read_bytes()
    except OSError:
        return None
    check, body = whole[:32], whole[32:]
    if hashlib.sha256(body).digest() != check:
        return None
    found, value = _Values(io.BytesIO(body)).load()
    return value if found == digest else None


def _replace(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    with atomic_write(path) as part:
        part.write_bytes(content)


def _refuse_changed(folder: Path, what: str) -> None:
    message = (
        f"{what} is not what it was when the checkpoint in {folder} was begun: its size, date or place differs. "
        "Remove that folder to begin anew, or bring the former file back."
    )
    raise InputError(message)
