"""What ``stability_`` says of sources that are known: ``python -m benchmarks.ica_stability``.

210 fits of 20,000 rows with ``runs=10``: 2 to 8 uniform, Laplace or mixed sources; and the same with a pair among them
that no rotation tells from another, two Gaussian sources or a point drawn evenly from a disk. Every planted source that
is not of such a pair should read as stable, no source of a pair should. Writes results/ica_stability.md, and fails
where a clean source is under 0.95 or an ambiguous one above 0.9.
"""

from __future__ import annotations

import sys
import warnings
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np

from benchmarks import machine
from gramian import ICA
from gramian.testing import mixed_sources

ROWS, RUNS = 20_000, 10
SOURCES = range(2, 9)
KINDS = ("uniform", "Laplace", "mixed")
PAIRS = ("two Gaussians", "disk")
CLEAN_SEEDS, PAIR_SEEDS = range(6), range(2)
LEAST_CLEAN, MOST_AMBIGUOUS = 0.95, 0.9
RESULTS = Path(__file__).parent / "results"


class Case(NamedTuple):
    """Sources that are planted: k of a kind, the last two replaced by a pair where one is named."""

    kind: str
    k: int
    pair: str | None
    seed: int


CASES = [
    *(Case(kind, k, None, seed) for kind, k, seed in product(KINDS, SOURCES, CLEAN_SEEDS)),
    *(Case(kind, k, pair, seed) for kind, k, pair, seed in product(KINDS, SOURCES, PAIRS, PAIR_SEEDS)),
]


class Found(NamedTuple):
    """The lowest index of the clean sources of a case and the highest of its ambiguous ones; NaN where it has none."""

    clean: float
    ambiguous: float


def planted(case: Case) -> np.ndarray:
    """Return the sources of a case (n, k)."""
    rng = np.random.default_rng([KINDS.index(case.kind), case.k, case.seed])
    S = {
        "uniform": lambda: rng.uniform(size=(ROWS, case.k)),
        "Laplace": lambda: rng.laplace(size=(ROWS, case.k)),
        "mixed": lambda: mixed_sources(ROWS, case.k, seed=case.seed),
    }[case.kind]()
    if case.pair is not None:
        # A Gaussian point, or one of the same direction at the distance that makes it even over a disk.
        point = rng.standard_normal((ROWS, 2))
        if case.pair == "disk":
            point *= np.sqrt(rng.uniform(size=(ROWS, 1))) / np.linalg.norm(point, axis=1, keepdims=True)
        S[:, -2:] = point
    return S


def fitted(case: Case) -> Found:
    """Fit once and sort the sources found into clean and ambiguous ones by what is planted."""
    S = planted(case)
    A = np.random.default_rng([case.k, case.seed, 1]).standard_normal((case.k, case.k))
    X = S @ A.T
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ica = ICA(runs=RUNS, random_state=case.seed, independence=False).fit(X)
    shares = (ica.components_ @ A * S.std(axis=0)) ** 2
    ambiguous = shares[:, -2:].sum(axis=1) > 0.5 if case.pair is not None else np.zeros(case.k, dtype=bool)
    clean = ica.stability_[~ambiguous].min(initial=np.inf)
    return Found(
        float(clean) if np.isfinite(clean) else np.nan,
        float(ica.stability_[ambiguous].max()) if ambiguous.any() else np.nan,
    )


def table(found: dict[Case, Found]) -> str:
    """Return the lowest and highest index of each kind, sizes and pairs together, as Markdown."""
    lines = ["| sources | pair | fits | lowest clean | highest ambiguous |", "|---|---|---:|---:|---:|"]
    for pair, kind in product((None, *PAIRS), KINDS):
        part = [one for case, one in found.items() if (case.kind, case.pair) == (kind, pair)]
        highest = "" if pair is None else f"{np.nanmax([one.ambiguous for one in part]):.3f}"
        lowest = np.nanmin([one.clean for one in part])
        lines.append(f"| {kind} | {pair or 'none'} | {len(part)} | {lowest:.3f} | {highest} |")
    return "\n".join(lines)


def main() -> None:
    """Fit all, write results/ica_stability.md, and fail where a number is on the wrong side."""
    start = perf_counter()
    found = {case: fitted(case) for case in CASES}
    seconds = perf_counter() - start
    clean = min(found, key=lambda case: np.nan_to_num(found[case].clean, nan=np.inf))
    ambiguous = max(found, key=lambda case: np.nan_to_num(found[case].ambiguous, nan=-np.inf))
    about = machine.describe(["gramian"])
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    lowest = f"{found[clean].clean:.4f} ({clean.kind}, {clean.k} sources, seed {clean.seed})"
    around = f"{ambiguous.kind}, {ambiguous.k} sources, seed {ambiguous.seed}"
    highest = f"{found[ambiguous].ambiguous:.4f} ({ambiguous.pair}; {around})"
    text = f"""# Stability of sources that are known

`python -m benchmarks.ica_stability`: {len(found)} fits of {ROWS:,} rows, {SOURCES[0]} to {SOURCES[-1]} sources,
`ICA(runs={RUNS}, independence=False)`, in {seconds:.0f} s.
{about["date"]}, {about["cpu"]}, {about["cores"]} cores; Python {about["python"]}, {versions}.

{table(found)}

Lowest of clean sources: {lowest}, at least {LEAST_CLEAN} asked for.
Highest of ambiguous ones: {highest}, at most {MOST_AMBIGUOUS} asked for.
"""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "ica_stability.md").write_text(text)
    print(text)
    if found[clean].clean < LEAST_CLEAN or found[ambiguous].ambiguous > MOST_AMBIGUOUS:
        sys.exit(f"A clean source is to be {LEAST_CLEAN} at least, an ambiguous one {MOST_AMBIGUOUS} at most.")


if __name__ == "__main__":
    main()
