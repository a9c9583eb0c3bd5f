"""Everyday calls beside scikit-learn's: ``python -m benchmarks.beside_sklearn``.

``transform`` and ``inverse_transform`` of 1 to 1,000,000 rows, with ten components, and PCA fits of small tables. Both
libraries run in one process, in turn: calls for a tenth of a second, a pause in which BLAS's threads go to sleep (they
spin after a call, on cores that the other one needs), then the other library's. The least seconds count, as the load of
a machine only adds; on a busy machine threaded BLAS waits for its threads, and nothing here means much. A ratio is
Gramian's time over scikit-learn's; those above 1.5 are marked. Kernel PCA takes fewer rows.

Writes results/beside_sklearn.md. ``--only TEXT`` measures the lines with TEXT in their names and writes nothing;
``--seconds`` is the time that a line takes at least, 2 by default.
"""

from __future__ import annotations

import argparse
import gc
import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

import numpy as np

from benchmarks import machine
from benchmarks.isolate import SETTLING_SECONDS
from benchmarks.tables import seconds_text

RESULTS = Path(__file__).parent / "results" / "beside_sklearn.md"
ALLOWED = 1.5
SIZES = (1, 100, 10_000, 100_000, 1_000_000)
FITS = ((100, 5), (150, 4), (500, 20), (1_797, 64), (2_000, 30), (5_000, 50), (10_000, 20), (10_000, 100))
K = 10
LEARNED_FROM = 5_000
FEWEST = 3
"""Rounds of a line, at least."""


@dataclass(frozen=True)
class Pair:
    """The same call of both libraries, ready to be made."""

    name: str
    ours: Callable[[], Any]
    theirs: Callable[[], Any]


@dataclass(frozen=True)
class Line:
    """The least seconds of both, and how often they were taken."""

    name: str
    ours: float
    theirs: float
    rounds: int

    @property
    def ratio(self) -> float:
        """Gramian's time over scikit-learn's."""
        return self.ours / self.theirs


def pairs(only: str) -> Iterator[Pair]:
    """Every line with ``only`` in its name; rows are made when a line is reached and dropped after it."""
    yield from (pair for pair in fits() if only in pair.name)
    for columns in (10, 100):
        yield from uses(columns, only)


def fits() -> Iterator[Pair]:
    """PCA of small tables, all components, in both precisions."""
    import sklearn.decomposition as theirs

    import gramian as ours

    for n, d in FITS:
        for dtype in (np.float64, np.float32):
            X = rows(n, d).astype(dtype)
            name = f"PCA fit, {n:,} x {d}, {np.dtype(dtype).name}"
            yield Pair(name, lambda X=X: ours.PCA().fit(X), lambda X=X: theirs.PCA().fit(X))  # type: ignore[misc]


def uses(d: int, only: str) -> Iterator[Pair]:
    """``transform`` and ``inverse_transform`` of every estimator on rows of d columns."""
    import sklearn.decomposition as theirs

    import gramian as ours

    X = rows(LEARNED_FROM, d)
    kernel = {"kernel": "rbf", "gamma": 0.5 / d, "fit_inverse_transform": True, "random_state": 0}
    models = {
        "PCA": (ours.PCA(K), theirs.PCA(K), SIZES),
        "PCA whitened": (ours.PCA(K, whiten=True), theirs.PCA(K, whiten=True), SIZES),
        "TruncatedSVD": (ours.TruncatedSVD(K - 1), theirs.TruncatedSVD(K - 1), SIZES),
        "IncrementalPCA": (ours.IncrementalPCA(K), theirs.IncrementalPCA(K), SIZES),
        "FastICA": (ours.FastICA(K, random_state=0), theirs.FastICA(K, random_state=0), SIZES),
        "KernelPCA": (ours.KernelPCA(K, **kernel), theirs.KernelPCA(K, **kernel), (1, 100, 10_000)),
    }
    for name, (mine, other, sizes) in models.items():
        lines = [(verb, n, f"{name} {verb}, {n:,} x {d}") for n in sizes for verb in ("transform", "inverse_transform")]
        lines = [line for line in lines if only in line[2]]
        if not lines:
            continue
        few = X[:500] if name == "KernelPCA" else X
        mine.fit(few)
        other.fit(few)
        for verb, n, title in lines:
            given = rows(n, d)
            if verb == "inverse_transform":
                given = np.asarray(other.transform(given))
            ours_call, their_call = (partial(getattr(model, verb), given) for model in (mine, other))
            yield Pair(title, ours_call, their_call)


def rows(n: int, d: int) -> np.ndarray:
    """Return seeded rows of unequal columns with a mean; not Gaussian, so that ICA has something to find."""
    rng = np.random.default_rng(d)
    mix = rng.standard_normal((d, d)) * 0.9 ** np.arange(d)
    mean = rng.standard_normal(d)
    X = np.empty((n, d))
    for start in range(0, n, 100_000):
        part = X[start : start + 100_000]
        part[...] = rng.laplace(size=part.shape) @ mix.T + mean
    return X


def measure(pair: Pair, *, seconds: float) -> Line:
    """Take both in turn, a stretch of calls each, the other one first each time, until the time is over."""
    least = {"ours": math.inf, "theirs": math.inf}
    calls = {"ours": pair.ours, "theirs": pair.theirs}
    for call in calls.values():
        call()
    gc.collect()
    end = perf_counter() + seconds
    rounds = 0
    while rounds < FEWEST or perf_counter() < end:
        for side in ("ours", "theirs") if rounds % 2 else ("theirs", "ours"):
            sleep(SETTLING_SECONDS)
            least[side] = min(least[side], *_stretch(calls[side]))
        rounds += 1
    return Line(pair.name, least["ours"], least["theirs"], rounds)


def _stretch(call: Callable[[], Any]) -> list[float]:
    """Return the seconds of calls one after another: two, or more until a tenth of a second is over."""
    times: list[float] = []
    end = perf_counter() + 0.1
    while len(times) < 2 or perf_counter() < end:
        start = perf_counter()
        call()
        times.append(perf_counter() - start)
    return times


def _cells(line: Line) -> str:
    mark = " **slow**" if line.ratio > ALLOWED else ""
    return f"| {line.name} | {seconds_text(line.ours)} | {seconds_text(line.theirs)} | {line.ratio:.2f}{mark} |"


def table(lines: list[Line], told: dict[str, Any]) -> str:
    """Return the record in Markdown."""
    slow = [f"{line.name} ({line.ratio:.2f})" for line in lines if line.ratio > ALLOWED]
    versions = ", ".join(f"{name} {version}" for name, version in told["versions"].items() if version)
    conditions = (
        f"{told['date']}, {told['cpu']}, {told['cores']} cores, load {told['load_before']} before; Python "
        f"{told['python']}, {versions}; {', '.join(told['blas'])}. `python -m benchmarks.beside_sklearn`"
    )
    head = [
        "# Everyday calls beside scikit-learn's",
        "",
        conditions,
        "",
        " ".join(str(__doc__).split("\n\n")[1].split()),
    ]
    head += ["", f"Above {ALLOWED}, {len(slow)} of {len(lines)}: {', '.join(slow) or 'none'}.", ""]
    head += ["| call | Gramian | scikit-learn | ratio |", "|---|---:|---:|---:|"]
    return "\n".join([*head, *(_cells(line) for line in lines)]) + "\n"


def main() -> None:
    """Measure every line, and write the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.beside_sklearn", description=str(__doc__).splitlines()[0]
    )
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=2.0)
    words = parser.parse_args()
    told = machine.describe(["gramian", "scikit-learn"])
    lines = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for pair in pairs(words.only):
            lines.append(measure(pair, seconds=words.seconds))
            print(_cells(lines[-1]), flush=True)
    text = table(lines, told)
    print(text.split("\n\n")[3])
    if not words.only:
        RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
