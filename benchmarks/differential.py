"""The same calls on two versions of Gramian: ``python -m benchmarks.differential OLD_SRC [NEW_SRC]``.

OLD_SRC and NEW_SRC are ``src`` folders; NEW_SRC is this checkout's where it is not given. Each side runs every call
of :mod:`benchmarks.differential_calls` in one process of its own, on the same inputs. Compared are numbers, to the
rounding stated with each call; facts (numbers of components, grades, names of attributes, types of errors, classes of
warnings); of the command line the exit codes, the keys of the JSON, and the files written. Then the new side opens
every model file that the old side wrote, and uses it.

Prints a line per call, writes nothing, and exits with 1 where anything differs that :data:`DELIBERATE` does not name.
``--only TEXT`` runs the calls with TEXT in their names (the command line's use each other's files: ``--only '$'`` runs
them all); ``--keep DIR`` keeps what the two sides gave.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.differential_calls import Call, all_calls, make_inputs

ROOT = Path(__file__).parent.parent

DELIBERATE: dict[str, str] = {
    f"load: ProbabilisticPCA with NaN (gaps): numbers:{name}": "a model that was loaded is asked for less"
    for name in ("covariance", "imputed", "std")
} | dict.fromkeys(
    ("PCA auto (noisy)", "how_many (noisy)"),
    "copies are drawn in the order of sizes, and the count is close to another",
)
"""Differences from the version before that are meant: the name of a call, or "call: entry" for one entry of it, with
the reason. What is no difference any longer is taken out, for it would hide the next one."""

NOT_COMPARED = {"seconds", "number", "sentence", "left out"}


@dataclass(frozen=True)
class Difference:
    """How far the two sides are apart in one entry of a call, and how far they may be."""

    entry: str
    size: float
    allowed: float
    words: str = ""

    @property
    def is_equal(self) -> bool:
        """Whether it is within what is allowed; NaN is not."""
        return self.size <= self.allowed


def main() -> None:
    """Run both sides, compare, and say so by the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.differential", description=__doc__.splitlines()[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path, nargs="?", default=ROOT / "src")
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", type=Path)
    words = parser.parse_args()
    with ExitStack() as stack:
        folder = words.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        inputs = folder / "inputs"
        for path in (inputs, *(folder / side for side in ("old", "new", "loaded"))):
            path.mkdir(parents=True)
        make_inputs(inputs)
        start = perf_counter()
        for side, src in (("old", words.old), ("new", words.new)):
            _run(src, "run", str(inputs), str(folder / side), words.only)
        _run(words.new, "load", str(inputs), str(folder / "old" / "models"), str(folder / "loaded"))
        sys.exit(report(folder, seconds=perf_counter() - start))


def _run(src: Path, *words: str) -> None:
    """Run the calls in a process that finds Gramian in ``src``."""
    if not (src / "gramian").is_dir():
        message = f"{src} has no folder gramian in it. Pass the src folder of a checkout."
        raise SystemExit(message)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(src.resolve()), str(ROOT)]), "PYTHONHASHSEED": "0"}
    subprocess.run(
        [sys.executable, "-m", "benchmarks.differential_calls", *words], env=environment, cwd=ROOT, check=True
    )


def report(folder: Path, *, seconds: float) -> int:
    """Print the table; return the exit code."""
    old, new, loaded = (_facts(folder / side) for side in ("old", "new", "loaded"))
    calls = [call for call in all_calls() if call.name in old or call.name in new]
    width = max(len(call.name) for call in calls) + len("load: ")
    print(f"{'call':{width}} {'difference':>10} {'allowed':>8}  verdict")
    failed, excused, left_out = 0, 0, 0
    lines = [(call, call.name, folder / "new", new) for call in calls]
    lines += [(call, f"load: {call.name}", folder / "loaded", loaded) for call in calls if call.name in loaded]
    for call, name, there, facts in lines:
        found = compare(call, folder / "old", old.get(call.name), there, facts.get(call.name))
        if name.startswith("load: "):
            found = [one for one in found if one.entry != "warned"]
        unequal = [one for one in found if not one.is_equal]
        reasons = [_reason(name, one.entry) for one in unequal]
        worst = max(found, key=_severity)
        verdict = "equal"
        if "left out" in (old.get(call.name) or {}):
            verdict, left_out = f"left out: {old[call.name]['left out']}", left_out + 1
        elif "raised" in (old.get(call.name) or {}):
            verdict, failed = f"BROKEN CALL: {old[call.name]['sentence'].splitlines()[-1]}", failed + 1
        elif unequal and all(reasons):
            verdict, excused = f"differs, meant: {reasons[0]}", excused + 1
        elif unequal:
            verdict, failed = "DIFFERS", failed + 1
        print(f"{name:{width}} {worst.size:10.1e} {worst.allowed:8.0e}  {verdict}")
        if verdict == "DIFFERS":
            for one in unequal:
                print(f"    {one.entry}: {one.words or f'{one.size:.2e}, allowed {one.allowed:.0e}'}")
    for name in DELIBERATE:
        if name.removeprefix("load: ").split(": ")[0] not in {call.name for call in calls}:
            print(f"DELIBERATE names {name!r}, which is no call.")
    print(f"\n{len(calls)} calls and {len(loaded)} model files in {seconds:.0f} s:", end=" ")
    print(f"{failed} differ, {excused} differ as meant, {left_out} left out.")
    return 1 if failed else 0


def _facts(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "facts.json").read_text())


def _reason(name: str, entry: str) -> str | None:
    return DELIBERATE.get(name, DELIBERATE.get(f"{name}: {entry}"))


def _severity(one: Difference) -> tuple[float, float]:
    return np.inf if np.isnan(one.size) else one.size / max(one.allowed, 1e-300), one.allowed


def compare(call: Call, old: Path, old_facts: Any, new: Path, new_facts: Any) -> list[Difference]:
    """Return every entry of a call with its difference."""
    if old_facts is None or new_facts is None:
        return [Difference("the call", np.inf, 0.0, "it ran on one side only")]
    found = []
    for key in sorted((old_facts.keys() | new_facts.keys()) - NOT_COMPARED):
        left, right = old_facts.get(key), new_facts.get(key)
        if key == "warned" and (left is None or right is None):
            continue
        found.append(Difference(key, 0.0 if left == right else np.inf, 0.0, _unequal(left, right, new_facts)))
    with np.load(old / f"{old_facts['number']}.npz") as left, np.load(new / f"{new_facts['number']}.npz") as right:
        for key in sorted(set(left) | set(right)):
            if key not in left or key not in right:
                found.append(Difference(key, np.inf, 0.0, f"only the {'old' if key in left else 'new'} side has it"))
                continue
            kind = key.partition(":")[0]
            allowed = call.rounding if kind == "numbers" else call.turning
            found.append(Difference(key, apart(kind, left[key], right[key]), allowed))
    return found or [Difference("nothing", 0.0, 0.0)]


def _unequal(left: Any, right: Any, facts: dict[str, Any]) -> str:
    """Say how two facts differ: by what one list has and the other has not, where they are lists of words."""
    if isinstance(left, list) and isinstance(right, list) and all(isinstance(one, str) for one in left + right):
        gone, come = sorted(set(left) - set(right)), sorted(set(right) - set(left))
        if gone or come:
            return f"gone {gone}, new {come}"
    return f"{left!r} became {right!r} {facts.get('sentence', '')}"


def apart(kind: str, old: np.ndarray, new: np.ndarray) -> float:
    """Return how far two arrays of a kind are apart; infinite where they cannot be compared."""
    if old.shape != new.shape or old.dtype.kind != new.dtype.kind:
        return np.inf
    if old.dtype.kind not in "fiu":
        return 0.0 if np.array_equal(old, new) else np.inf
    old, new = old.astype(np.float64), new.astype(np.float64)
    if not np.array_equal(np.isfinite(old), np.isfinite(new)):
        return np.inf
    old, new = np.nan_to_num(old), np.nan_to_num(new)
    if not old.size:
        return 0.0
    if kind == "space":
        return _sine(np.linalg.qr(old.T)[0], np.linalg.qr(new.T)[0])
    if kind == "sources" and old.ndim == 2:
        new = new[:, np.abs(_correlations(old, new)).argmax(axis=1)]
    if kind in {"columns", "sources"} and old.ndim == 2:
        new = new * np.where(np.einsum("ij,ij->j", old, new) < 0, -1.0, 1.0)
    largest = np.abs(old).max()
    return float(np.abs(old - new).max() / (largest or 1.0))


def _sine(left: np.ndarray, right: np.ndarray) -> float:
    """Return the sine of the largest angle between two spaces, from orthonormal columns; small ones accurately."""
    return float(np.linalg.norm(right - left @ (left.T @ right), 2))


def _correlations(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    left, right = left - left.mean(axis=0), right - right.mean(axis=0)
    return (left.T @ right) / np.maximum(np.outer(np.linalg.norm(left, axis=0), np.linalg.norm(right, axis=0)), 1e-300)


if __name__ == "__main__":
    main()
