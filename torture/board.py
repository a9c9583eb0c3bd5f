"""Makes attacks within a stated time or until the counts are reached, and prints a scoreboard."""

import argparse
import faulthandler
import json
import multiprocessing
import os
import secrets
import sys
import time
import traceback
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# Before NumPy is loaded: attacks run in as many processes as there are cores.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402

from gramian.machine import cores  # noqa: E402
from torture.catalog import FAMILIES  # noqa: E402
from torture.family import Family  # noqa: E402

RECORD = Path(__file__).parents[1] / "benchmarks" / "results" / "torture.json"
HANG = 300.0
"""Seconds after which an attack counts as hanging: its process says where it stands, and ends."""

CHUNK_SECONDS = 2.0


@dataclass
class Score:
    """What came of a family's attacks so far."""

    tried: int = 0
    seconds: float = 0.0
    sums: Counter[str] = field(default_factory=Counter)
    failures: dict[str, str] = field(default_factory=dict)
    """By the attack's number."""


@dataclass(frozen=True)
class Chunk:
    """What came of consecutive attacks."""

    first: int
    tried: int
    seconds: float
    sums: Counter[str]
    failures: dict[str, str]


def make(name: str, first: int, count: int) -> Chunk:
    """Make attacks; runs in a process of the pool."""
    family, sums, failures, began = FAMILIES[name], Counter[str](), {}, time.perf_counter()
    for number in range(first, first + count):
        faulthandler.dump_traceback_later(HANG, exit=True)
        try:
            sums.update(family.attack(number % family.repeats if family.repeats else number) or {})
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            failures[str(number)] = f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
        finally:
            faulthandler.cancel_dump_traceback_later()
    return Chunk(first, count, time.perf_counter() - began, sums, failures)


def run(firsts: dict[str, int], counts: dict[str, int | None], seconds: float, workers: int) -> dict[str, Score]:
    """Make attacks of all families side by side, so that each has its share of the time."""
    scores = {name: Score() for name in firsts}
    following, sizes, ends = dict(firsts), dict.fromkeys(firsts, 1), time.monotonic() + seconds
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        pending: dict[Future[Chunk], tuple[str, int, int]] = {}

        def wanted() -> str | None:
            """Return the family that has had the least time and is not done."""
            open_ = [n for n in scores if counts[n] is None or following[n] - firsts[n] < counts[n]]  # type: ignore[operator]
            running = Counter(name for name, _, _ in pending.values())
            return min(open_, key=lambda n: scores[n].seconds + CHUNK_SECONDS * running[n], default=None)

        while True:
            while len(pending) < workers + 1 and time.monotonic() < ends and (name := wanted()) is not None:
                limit = counts[name]
                size = sizes[name] if limit is None else min(sizes[name], firsts[name] + limit - following[name])
                pending[pool.submit(make, name, following[name], size)] = (name, following[name], size)
                following[name] += size
            if not pending:
                return scores
            for future in wait(pending, return_when=FIRST_COMPLETED).done:
                name, first, size = pending.pop(future)
                try:
                    chunk = future.result()
                except BrokenProcessPool:
                    print(f"a process died or hung in {name} {first} to {first + size - 1}: see above", file=sys.stderr)
                    scores[name].failures[str(first)] = "the process died or hung"
                    return scores
                score = scores[name]
                score.tried += chunk.tried
                score.seconds += chunk.seconds
                score.sums.update(chunk.sums)
                score.failures.update(chunk.failures)
                sizes[name] = max(1, int(chunk.tried * CHUNK_SECONDS / max(chunk.seconds, 1e-4)))
                for number, words in list(chunk.failures.items())[:5]:
                    print(f"{name} {number}: {words[:400]}", file=sys.stderr, flush=True)


def scoreboard(families: dict[str, Family], scores: dict[str, Score]) -> tuple[str, bool]:
    """A table of passed and tried by family, and whether all promises held."""
    lines, held = [], True
    width = max(len(name) for name in scores)
    for name, score in scores.items():
        verdict = families[name].verdict(score.sums) if score.tried else ""
        held &= not score.failures and not verdict
        passed = score.tried - len(score.failures)
        lines.append(f"{name:{width}}  {passed:>9,} / {score.tried:>9,}   {families[name].promise}")
        if verdict:
            lines.append(f"{'':{width}}  BROKEN: {verdict}")
    scikit = {name: score.sums for name, score in scores.items() if score.sums.get("asked of scikit-learn")}
    for name, sums in scikit.items():
        right, asked = sums["right in scikit-learn"], sums["asked of scikit-learn"]
        lines.append(
            f"{'':{width}}  of the {name}, scikit-learn passes {right:,.0f} of the {asked:,.0f} that it can be asked"
        )
    return "\n".join(lines), held


def draw_bounds(sums: dict[str, float], path: str) -> None:
    """Draw in how many lines of certificates the bound is so many times the error."""
    from matplotlib.figure import Figure

    orders = range(10)
    lines = np.array([sums.get(f"bound / error below 1e{order}", 0.0) for order in orders])
    ax = Figure(figsize=(6.4, 2.8), layout="constrained").add_subplot()
    ax.bar(orders, 100 * lines / lines.sum(), color="#5046a0")
    ax.set_xticks(orders, [f"$\\leq 10^{order}$" for order in orders[:-1]] + ["more"])
    ax.set_xlabel("bound of an eigenvalue / its error")
    ax.set_ylabel("% of the lines")
    ax.spines[["top", "right"]].set_visible(False)
    ax.figure.savefig(path, metadata={"Date": None})


def _recorded() -> dict[str, Any]:
    return json.loads(RECORD.read_text()) if RECORD.exists() else {}


def main(words: list[str] | None = None) -> int:
    """Read the command line, make attacks, print and keep what came of them."""
    parser = argparse.ArgumentParser(prog="python -m torture", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="stop after so many minutes")
    parser.add_argument("--until-done", action="store_true", help="go on from the record until every count is reached")
    parser.add_argument("--only", help="families, with commas between them")
    parser.add_argument("--first", type=int, help="number of the first attack; at random by default, and printed")
    parser.add_argument("--count", type=int, help="attacks of each family, at most")
    parser.add_argument("--workers", type=int, default=cores())
    parser.add_argument("--picture", help="an SVG file: only draw how far bounds lie above errors, from the record")
    asked = parser.parse_args(words)
    if asked.picture:
        draw_bounds(_recorded()["certificates"]["sums"], asked.picture)
        return 0
    chosen = {name: FAMILIES[name] for name in (asked.only.split(",") if asked.only else FAMILIES)}
    record = _recorded() if asked.until_done else {}
    if asked.until_done:
        firsts = {name: record.get(name, {}).get("tried", 0) for name in chosen}
        counts: dict[str, int | None] = {name: max(0, family.goal - firsts[name]) for name, family in chosen.items()}
    else:
        first = secrets.randbelow(10**9) if asked.first is None else asked.first
        firsts = {name: 0 if family.repeats else first for name, family in chosen.items()}
        counts = {name: asked.count or family.repeats for name, family in chosen.items()}
        print(f"first attack {first} (--first {first} makes these again)", flush=True)
    scores = run(firsts, counts, 60 * asked.minutes, asked.workers)
    if asked.until_done:
        scores = _kept(record, scores)
    table, held = scoreboard(chosen, scores)
    print(table)
    return 0 if held else 1


def _kept(record: dict[str, Any], scores: dict[str, Score]) -> dict[str, Score]:
    """Add to the record on disk, and return the sums of all runs."""
    for name, score in scores.items():
        old = record.get(name, {"tried": 0, "seconds": 0.0, "sums": {}, "failures": {}})
        record[name] = {
            "tried": old["tried"] + score.tried,
            "seconds": round(old["seconds"] + score.seconds, 1),
            "sums": dict(sorted((Counter(old["sums"]) + score.sums).items())),
            "failures": {**old["failures"], **score.failures},
        }
    RECORD.write_text(json.dumps(record, indent=1) + "\n")
    return {
        name: Score(kept["tried"], kept["seconds"], Counter(kept["sums"]), kept["failures"])
        for name, kept in record.items()
        if name in scores
    }
