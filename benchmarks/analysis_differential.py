"""The command line of two source trees on the same tables: answers, scores and pages side by side.

``python -m benchmarks.analysis_differential OTHER_SRC TABLE ...`` runs ``gramian pca TABLE --json`` with the package of
this checkout and with that of another source tree, and prints for each table how far the scores differ, relative to
the largest, which numbers of the answer do, and which words and data of the page. ``kpca:TABLE`` and ``ica:TABLE`` run
these verbs; flags follow a table after commas (``mtcars.csv,-k,3``). The exit code is 1 where an answer differs.
"""

import csv
import json
import os
import re
import subprocess
import sys
import tempfile
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

TOLERANCE = 1e-9
"""Relative difference that counts as rounding."""

VARYING = re.compile(r"[0-9.,]+ MB|^[0-9.]+ s$|\d{4}-\d\d-\d\d \d\d:\d\d UTC|/out-(this|other)\b")
"""What differs between two runs of one version: time, and where they were written; and the memory of a plan."""


class Answer(NamedTuple):
    """What one run says: its JSON, its scores, and the words and data of its page."""

    said: dict[str, Any]
    scores: np.ndarray
    words: list[str]
    data: dict[str, Any]


def answer_of(source: str, folder: Path, words: list[str]) -> Answer:
    """Run a verb with the gramian of a source tree."""
    command = [sys.executable, "-m", "gramian", *words, "-o", str(folder), "--json", "--quiet"]
    environment = os.environ | {"PYTHONPATH": source}
    finished = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    page = (folder / "report.html").read_text(encoding="utf-8")
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    bare = re.sub(r"<(script|style).*?</\1>", "", page, flags=re.DOTALL)
    shown = [VARYING.sub("", unescape(text)).strip() for text in re.sub(r"<[^>]+>", "\n", bare).split("\n")]
    with next(folder.glob("scores.csv")).open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    named = [name for name in lines[0] if re.fullmatch(r"K?PC\d+|IC\d+", name)]
    scores = np.array([[float(line[name]) for name in named] for line in lines])
    return Answer(json.loads(finished.stdout), scores, shown, json.loads(data.group(1)) if data else {})


def differences(this: Any, other: Any, path: str = "") -> list[str]:
    """Return where two answers differ by more than rounding; residuals and bounds are rounding themselves."""
    if isinstance(this, dict):
        return [found for key in this for found in differences(this[key], other.get(key), f"{path}/{key}")]
    if isinstance(this, list) and isinstance(other, list) and len(this) == len(other):
        pairs = enumerate(zip(this, other, strict=True))
        return [found for i, (a, b) in pairs for found in differences(a, b, f"{path}/{i}")]
    if path.endswith(("residual", "value_bound")) or path.startswith(("/files", "/command")):
        return []
    if isinstance(this, float) and isinstance(other, float):
        return [] if np.isclose(this, other, rtol=TOLERANCE, atol=1e-12) else [f"{path}: {this} and {other}"]
    return [] if this == other else [f"{path}: {this!r} and {other!r}"]


def compared(other_source: str, table: str) -> bool:
    """Compare both on one table, print what differs, and tell whether the answers are the same."""
    asked, *flags = table.split(",")
    verb, path = asked.split(":", 1) if asked.startswith(("pca:", "kpca:", "ica:")) else ("pca", asked)
    words = [verb, path, *flags]
    with tempfile.TemporaryDirectory() as folder:
        this = answer_of(str(Path(__file__).parents[1] / "src"), Path(folder) / "out-this", words)
        other = answer_of(other_source, Path(folder) / "out-other", words)
    found = differences(this.said, other.said)
    if this.scores.shape == other.scores.shape:
        apart = float(np.abs(this.scores - other.scores).max() / (np.abs(other.scores).max() or 1.0))
    else:
        apart = np.inf
    told = [f"{a!r} and {b!r}" for a, b in zip(this.words, other.words, strict=False) if a != b]
    drawn = [name for name in this.data if this.data[name] != other.data.get(name)]
    print(
        f"{table}: scores differ by {apart:.1e}; answer {found or 'the same'}; words {told or 'the same'}; "
        f"data {drawn or 'the same'}"
    )
    return not found and apart <= TOLERANCE


def main(words: list[str]) -> int:
    """Compare on every table named."""
    other, *tables = words
    same = [compared(other, table) for table in tables]
    return 0 if all(same) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
