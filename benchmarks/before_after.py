"""Two versions of Gramian in one interleaved run: ``python -m benchmarks.before_after OLD_SRC [NEW_SRC]``.

OLD_SRC and NEW_SRC are ``src`` folders; NEW_SRC is this checkout's where it is not given. The cases are lines of
docs/speed.md that take over 100 ms: of each shape both precisions, one with each kind of spectrum (``--all``: every
combination). Each measurement runs in an interpreter of its own, old and new in turn: it imports, loads the rows from a
cache, fits a small table, waits for BLAS's threads to sleep, and takes the least of up to three fits. Three such rounds
give the least and the median of each side. Last comes the product of the kernel matrix beside the plain loop of
:mod:`benchmarks.kernel_pca.plain`, and a whole command line, which is in no table and is not counted in the mean.

Writes results/before_after.md. ``--only TEXT`` measures the cases with TEXT in their names and writes nothing.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import math
import statistics
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import child, machine, store
from benchmarks.case import Instance
from benchmarks.registry import all_cases
from benchmarks.tables import seconds_text

RESULTS = Path(__file__).parent / "results" / "before_after.md"
LONGEST = 120.0
SLOW = 1.5
"""A ratio above this is named."""


@dataclass(frozen=True)
class Case:
    """A line: its name, what the child is told, how many rounds, and whether it counts in the mean."""

    name: str
    task: dict[str, Any]
    rounds: int = 3
    counts: bool = True


@dataclass
class Line:
    """The seconds of every round, by side."""

    case: Case
    times: dict[str, list[float]] = field(default_factory=lambda: {"old": [], "new": [], "plain": []})
    failures: dict[str, str] = field(default_factory=dict)

    @property
    def ratio(self) -> float | None:
        """Least seconds of the new side over those of the old."""
        old, new = self.times["old"], self.times["new"]
        return min(new) / min(old) if old and new else None


def cases(*, everything: bool) -> list[Case]:
    """The lines of docs/speed.md over 100 ms, but for those over a minute (landmarks at a million rows)."""
    found = []
    for case in all_cases():
        if case.name.startswith("150x4"):
            continue
        for dtype in case.dtypes:
            kinds = case.spectra if everything else [case.spectra[(dtype == "float32") % len(case.spectra)]]
            for spectrum in kinds:
                if case.name.startswith("200x") and dtype == "float32":
                    continue  # It takes 80 ms.
                is_long = "full" in case.name
                if is_long and dtype == "float32" and not everything:
                    continue
                task = {"kind": "pca", "case": case.name, "spectrum": spectrum, "dtype": dtype}
                found.append(Case(f"PCA {case.title}, {spectrum}, {dtype}", task, 2 if is_long else 3))
    for n, tol, rounds in ((5_000, 1e-6, 3), (20_000, 1e-6, 3), (50_000, 1e-5, 2), (100_000, 1e-5, 1)):
        found.append(Case(f"kernel PCA, {n:,} rows, tol {tol:.0e}", {"kind": "kpca", "n": n, "tol": tol}, rounds))
    for name, title in (("30", "30 sources x 100,000"), ("64", "64 sources x 300,000"), ("eeg", "EEG, 32 x 30,504")):
        for measure in (True, False):
            words = "default" if measure else "independence=False"
            found.append(Case(f"ICA {title}, {words}", {"kind": "ica", "case": name, "independence": measure}))
    for ending in ("npy", "parquet"):
        name = f"PCA of a .{ending} file, 250,000 x 1,000 float32 (1 GB), k = 20"
        found.append(Case(name, {"kind": "file", "ending": ending}, 2))
    found.append(Case("kernel product, 20,000 x 50 float32, 16 vectors", {"kind": "product", "n": 20_000}))
    found.append(Case("$ gramian pca, CSV of 100,000 x 12, with its page", {"kind": "command"}, 2, counts=False))
    return found


# ---- in the child -------------------------------------------------------------------------------------------------


def measure(task: dict[str, Any]) -> dict[str, Any]:
    """Measure a task here and now: the least seconds."""
    if task["kind"] == "product":
        from benchmarks.kernel_pca.plain import product_beside_plain
        from benchmarks.kernel_pca.rows import rows_of, width_of

        X = rows_of(task["n"])
        found = product_beside_plain(X, width_of(X), runs=3)
        return {"seconds": found["seconds"], "plain": found["plain"], "tile": found["tile"]}
    small, work = MAKERS[task["kind"]](task)
    small()
    # A second fit in a process that took long would only be long.
    times, _ = child.seconds_of(work, runs=3, once_beyond=1.5)
    return {"seconds": min(times)}


Work = Callable[[], Any]


def _pca(task: dict[str, Any]) -> tuple[Work, Work]:
    from gramian import PCA

    instance = _instance(task)
    X, k = store.load_rows(instance), instance.n_components
    few = 5 if isinstance(k, int) else k
    return lambda: PCA(few).fit(X[:240, :60]), lambda: PCA(k).fit(X)


def _kpca(task: dict[str, Any]) -> tuple[Work, Work]:
    from benchmarks.kernel_pca.rows import K, rows_of, width_of
    from gramian import KernelPCA

    X = rows_of(task["n"])
    model = KernelPCA(K, kernel="rbf", gamma=width_of(X), tol=task["tol"], random_state=0)
    return lambda: model.fit(X[:1000]), lambda: model.fit(X)


def _ica(task: dict[str, Any]) -> tuple[Work, Work]:
    from benchmarks.ica_rows import rows_of
    from gramian import ICA

    X = rows_of(task["case"])
    words = {"independence": task["independence"], "random_state": 0, "max_iter": 1000}
    return lambda: ICA(**words).fit(X[:3000, :4].copy()), lambda: ICA(**words).fit(X)


def _file(task: dict[str, Any]) -> tuple[Work, Work]:
    from gramian import PCA

    path = _files()[task["ending"]]
    few = np.random.default_rng(0).standard_normal((500, 20), dtype=np.float32)
    return lambda: PCA(5).fit(few), lambda: PCA(20).fit(str(path))


def _command(task: dict[str, Any]) -> tuple[Work, Work]:
    from gramian.cli.main import main

    del task
    path = _table()

    def run(table: Path) -> None:
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            assert main(["pca", str(table), "--quiet", "-o", f"{folder}/out"]) == 0

    few = path.with_name("before-after-few.csv")
    few.write_text("\n".join(path.read_text().splitlines()[:60]) + "\n")
    return lambda: run(few), lambda: run(path)


MAKERS = {"pca": _pca, "kpca": _kpca, "ica": _ica, "file": _file, "command": _command}


def _instance(task: dict[str, Any]) -> Instance:
    case = next(case for case in all_cases() if case.name == task["case"])
    return Instance(case=case, spectrum=task["spectrum"], dtype=task["dtype"])


def _files() -> dict[str, Path]:
    """Return the same rows as .npy and Parquet, written first if they are not there."""
    folder = store.folder() / "before-after-files"
    if not folder.exists():
        from benchmarks.files import write_rows

        with tempfile.TemporaryDirectory(dir=store.folder()) as place:
            made = Path(place) / "rows"
            made.mkdir()
            write_rows(made, 250_000)
            made.rename(folder)
    return {"npy": folder / "rows.npy", "parquet": folder / "rows.parquet"}


def _table() -> Path:
    """Return a CSV of 100,000 x 12, written first if it is not there."""
    path = store.folder() / "before-after.csv"
    if not path.exists():
        rng = np.random.default_rng(0)
        X = rng.standard_normal((100_000, 4)) @ rng.standard_normal((4, 12)) + 0.3 * rng.standard_normal((100_000, 12))
        part = path.with_suffix(".part")
        np.savetxt(part, X, fmt="%.6g", delimiter=",", header=",".join(f"c{j}" for j in range(12)), comments="")
        part.replace(path)
    return path


def prepare(task: dict[str, Any]) -> dict[str, Any]:
    """Make the rows of a task."""
    if task["kind"] == "pca":
        store.load_rows(_instance(task))
    elif task["kind"] == "file":
        _files()
    elif task["kind"] == "command":
        _table()
    return {}


# ---- in the parent ------------------------------------------------------------------------------------------------


def run(case: Case, sides: dict[str, Path]) -> Line:
    """Measure a case, the sides in turn, another one first in every round."""
    line = Line(case)
    child.call("benchmarks.before_after", {"prepare": case.task}, src=sides["new"], timeout=900.0)
    for turn in range(case.rounds):
        for side in list(sides) if turn % 2 == 0 else list(sides)[::-1]:
            if side in line.failures:
                continue
            found = child.call("benchmarks.before_after", case.task, src=sides[side], timeout=LONGEST)
            if "failure" in found:
                line.failures[side] = found["failure"]
                continue
            line.times[side].append(found["seconds"])
            if "plain" in found:
                line.times["plain"].append(found["plain"])
    return line


def table(lines: list[Line], told: dict[str, Any], command: str) -> str:
    """Return the record in Markdown."""
    counted = [line for line in lines if line.case.counts and line.ratio]
    logarithms = [math.log(line.ratio) for line in counted if line.ratio]
    mean = math.exp(statistics.fmean(logarithms)) if logarithms else math.nan
    slow = [f"{line.case.name} ({line.ratio:.2f})" for line in lines if line.ratio and line.ratio > SLOW]
    versions = ", ".join(f"{name} {version}" for name, version in told["versions"].items() if version)
    text = [
        "# Before and after",
        "",
        (
            f"{told['date']}, {told['cpu']}, {told['cores']} cores, {told['memory_bytes'] / 2**30:.0f} GiB, load "
            f"{told['load_before']} before; Python {told['python']}, {versions}; {', '.join(told['blas'])}. `{command}`"
        ),
        "",
        " ".join(str(__doc__).split("\n\n")[1].split()),
        "",
        (
            f"Geometric mean of new / old over {len(counted)} lines: **{mean:.3f}**. Above {SLOW}: "
            f"{', '.join(slow) or 'none'}."
        ),
        "",
        "| case | old, least (median) | new, least (median) | new / old |",
        "|---|---:|---:|---:|",
        *(_line(line) for line in lines),
    ]
    for line in lines:
        if line.times["plain"]:
            plain = min(line.times["plain"])
            ratios = ", ".join(f"{side} {min(line.times[side]) / plain:.2f}" for side in ("old", "new"))
            text += ["", f"{line.case.name}: the plain loop takes {seconds_text(plain)}; times that: {ratios}."]
    return "\n".join(text) + "\n"


def _line(line: Line) -> str:
    cells = [_cell(line, side) for side in ("old", "new")]
    ratio = f"{line.ratio:.2f}" if line.ratio else ""
    return f"| {line.case.name}{'' if line.case.counts else ' (not counted)'} | {' | '.join(cells)} | {ratio} |"


def _cell(line: Line, side: str) -> str:
    times = line.times[side]
    return f"{seconds_text(min(times))} ({seconds_text(statistics.median(times))})" if times else line.failures[side]


def main() -> None:
    """Measure every case, and write the table."""
    if sys.argv[1:2] == ["child"]:
        task = json.loads(sys.argv[2])
        print(json.dumps(prepare(task["prepare"]) if "prepare" in task else measure(task)))
        return
    parser = argparse.ArgumentParser(prog="python -m benchmarks.before_after", description=str(__doc__).splitlines()[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path, nargs="?", default=child.ROOT / "src")
    parser.add_argument("--only", default="")
    parser.add_argument("--all", action="store_true")
    words = parser.parse_args()
    told = machine.describe(["gramian", "scikit-learn", "pyarrow"])
    lines = []
    for case in cases(everything=words.all):
        if words.only in case.name:
            lines.append(run(case, {"old": words.old, "new": words.new}))
            print(_line(lines[-1]), flush=True)
    text = table(lines, told, "python -m benchmarks.before_after OLD/src src" + (" --all" if words.all else ""))
    print(text)
    if not words.only:
        RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
