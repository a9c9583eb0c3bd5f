"""Do the tests notice when the code is wrong? Small changes drawn by seed, each made in a copy, and tests run on it.

    python -m torture.mutation --seed 0 --count 60    # the changes are printed before anything is run
    python -m torture.mutation --seed 0 --count 60 --only 7,31     # two of them again
    python -m torture.mutation --rules                # each rule of the arithmetic broken once, by hand

First the tests run once on code that is right, to see which of them reach a changed statement, and in what time. A
change then meets those alone, the doctests of its module and the quickest first, up to ``--budget`` seconds of them; it
is killed by the first that fails. One that survives is read by a person.
"""

import argparse
import ast
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import cache_from_source, find_spec
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, NoReturn

os.environ["OMP_NUM_THREADS"] = "1"  # Before NumPy is loaded; here and not in each fork, for which it takes seconds.

import numpy as np
import pytest
import scipy.linalg  # noqa: F401
import sklearn.base  # noqa: F401

from torture.rules import RULES

if find_spec("torch"):
    import torch  # noqa: F401

ROOT = Path(__file__).parents[1]
QUIET = ("-q", "--no-header", "-p", "no:randomly", "-p", "no:cacheprovider", "-m", "not slow")
PACKAGES = ("eigen", "operators", "models", "analysis")
TESTS = (
    *(f"src/gramian/{name}" for name in PACKAGES),
    *(f"tests/{name}" for name in (*PACKAGES, "certificates", "accuracy", "preimages", "planning", "estimators")),
)
SWAPS: dict[type, tuple[type, ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.Pow: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
}
NAMES = {"min": "max", "minimum": "maximum", "any": "all", "argmin": "argmax", "ceil": "floor", "zeros": "ones"}
NAMES |= {new: old for old, new in NAMES.items()}
CASES = 12
"""Cases of a test with parameters, at most."""

SECONDS = 90.0
"""What a change is given in addition to ten times what its tests took."""


@dataclass(frozen=True)
class Mutant:
    """``new`` in place of the characters ``start`` to ``stop`` of a file; it acts in the ``lines``."""

    file: str
    line: int
    start: int
    stop: int
    old: str
    new: str
    lines: tuple[int, int]

    def __str__(self) -> str:
        return f"{self.file.removeprefix('src/gramian/')}:{self.line}  {_short(self.old)}  ->  {_short(self.new)}"

    def applied(self, text: str) -> str:
        """Return the text of the file with the change in it."""
        return text[: self.start] + self.new + text[self.stop :]


def _short(code: str) -> str:
    return " ".join(code.split())[:90]


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """Give what may stand in place of a node."""
    match node:
        case ast.Compare(left, [op], right):
            yield from (ast.Compare(left, [other()], right) for other in SWAPS.get(type(op), ()))
        case ast.BoolOp(op, values):
            yield ast.BoolOp(SWAPS[type(op)][0](), values)
        case ast.BinOp(left, op, right):
            yield from (ast.BinOp(left, other(), right) for other in SWAPS.get(type(op), ()))
        case ast.AugAssign(target, op, value):
            yield from (ast.AugAssign(target, other(), value) for other in SWAPS.get(type(op), ()))
            yield ast.Pass()
        case ast.UnaryOp(ast.Not() | ast.USub(), operand):
            yield operand
        case ast.IfExp(test, body, orelse):
            yield ast.IfExp(test, orelse, body)
        case ast.Constant(bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(int(value)):
            yield from (ast.Constant(value + 1), ast.Constant(value - 1))
        case ast.Constant(float(value)):
            yield ast.Constant(10 * value if value else 1.0)
        case ast.Call(ast.Name(name), args, keywords) if name in NAMES:
            yield ast.Call(ast.Name(NAMES[name]), args, keywords)
        case ast.Call(ast.Attribute(value, name), args, keywords) if name in NAMES:
            yield ast.Call(ast.Attribute(value, NAMES[name]), args, keywords)
        case ast.Call(_, [only], []) if ast.unparse(node.func) in {"abs", "sqrt", "np.abs", "np.sqrt", "np.sort"}:
            yield only
        case ast.Expr(ast.Call()):
            yield ast.Pass()
        case ast.Return(ast.Tuple([first, second, *rest])):
            yield ast.Return(ast.Tuple([second, first, *rest]))
        case ast.Return(ast.Call(func, [first, second, *rest], keywords)) if not _is_named(func):
            yield ast.Return(ast.Call(func, [second, first, *rest], keywords))


def _is_named(function: ast.expr) -> bool:
    return ast.unparse(function).split(".")[-1] in NAMES


def mutants_of(path: Path, name: str) -> list[Mutant]:
    """Return every change of a file; docstrings, annotations, decorators and what errors say are left alone."""
    text = path.read_text()
    lines, found = text.splitlines(keepends=True), []
    before = [0, *(sum(map(len, lines[: i + 1])) for i in range(len(lines)))]

    def place(line: int, column: int) -> int:
        return before[line - 1] + len(lines[line - 1].encode()[:column].decode())

    def visit(node: ast.AST, reach: tuple[int, int], *, inside: bool) -> None:
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            inside, reach = True, (node.lineno, node.end_lineno or 0)  # of its defaults
        elif isinstance(node, ast.stmt) and inside:
            reach = (node.lineno, node.end_lineno or 0)
            if isinstance(node, (ast.If, ast.While, ast.For, ast.With)):
                reach = (node.lineno, max(node.lineno, node.body[0].lineno - 1))
        if isinstance(node, (ast.Raise, ast.JoinedStr)) or _is_message(node):
            return
        if isinstance(node, (ast.expr, ast.stmt)):
            start, stop = place(node.lineno, node.col_offset), place(node.end_lineno or 0, node.end_col_offset or 0)
            for other in changes(node):
                new = ast.unparse(ast.fix_missing_locations(other))
                new = f"({new})" if isinstance(other, ast.expr) and isinstance(node, ast.UnaryOp | ast.Call) else new
                found.append(Mutant(name, node.lineno, start, stop, text[start:stop], new, reach))
        for field, value in ast.iter_fields(node):
            if field not in {"annotation", "returns", "decorator_list", "ops", "op", "ctx"}:
                for child in value if isinstance(value, list) else [value]:
                    if isinstance(child, ast.AST):
                        visit(child, reach, inside=inside)

    visit(ast.parse(text), (1, len(lines)), inside=False)
    return found


def _is_message(node: ast.AST) -> bool:
    """Tell whether a statement words or gives a warning or an error."""
    match node:
        case ast.Assign([ast.Name("message")]) | ast.Call(ast.Name("Sentence" | "Phrase")):
            return True
        case ast.Expr(ast.Call(ast.Attribute(_, "warn"))):
            return True
    return False


def drawn(seed: int, count: int) -> list[Mutant]:
    """Draw changes: the package by its lines, then one of its changes."""
    files = {p: sorted((ROOT / "src/gramian" / p).rglob("*.py")) for p in PACKAGES}
    sizes = [sum(len(path.read_text().splitlines()) for path in files[p]) for p in PACKAGES]
    every = {p: [m for path in files[p] for m in mutants_of(path, str(path.relative_to(ROOT)))] for p in PACKAGES}
    dice, chosen = random.Random(seed), dict[Mutant, None]()
    while len(chosen) < count:
        chosen[dice.choice(every[dice.choices(PACKAGES, sizes)[0]])] = None
    return list(chosen)


class Reach:
    """A plugin of pytest: which tests pass, in what time, and which of some lines each of them runs."""

    def __init__(self, wanted: dict[str, tuple[str, list[tuple[int, int]]]], out: Path) -> None:
        self.wanted, self.out = wanted, out
        self.codes: dict[int, tuple[Any, bool]] = {}
        self.hits: set[tuple[str, int]] = set()
        self.began = 0.0

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Take some cases of each test, spread over all."""
        groups = defaultdict(list)
        for item in items:
            groups[item.nodeid.split("[")[0]].append(item)
        items[:] = [item for cases in groups.values() for item in cases[:: -(-len(cases) // CASES)]]

    def _called(self, frame: Any, _event: str, _argument: Any) -> Any:
        code = frame.f_code
        # By its id: a hash of code takes longer than many a call. What is held here keeps the id its own.
        if id(code) not in self.codes:
            _, spans = self.wanted.get(code.co_filename, ("", []))
            last = max((line for _, _, line in code.co_lines() if line), default=0)
            self.codes[id(code)] = code, any(first <= last and code.co_firstlineno <= end for first, end in spans)
        return self._line if self.codes[id(code)][1] else None

    def _line(self, frame: Any, _event: str, _argument: Any) -> Any:
        self.hits.add((frame.f_code.co_filename, frame.f_lineno))
        return self._line

    def pytest_runtest_setup(self) -> None:
        """Begin to look."""
        self.hits, self.began = set(), time.perf_counter()
        threading.settrace(self._called)
        sys.settrace(self._called)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Write down what a test that passed has run."""
        if report.when == "call" and report.passed:
            lines = [[self.wanted[file][0], line] for file, line in self.hits]
            with self.out.open("a") as file:
                file.write(json.dumps([report.nodeid, time.perf_counter() - self.began, lines]) + "\n")


class Chosen:
    """A plugin of pytest: some tests, in their order."""

    def __init__(self, tests: list[str]) -> None:
        self.order = {test: i for i, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Leave out the others."""
        order = self.order
        items[:] = sorted((item for item in items if item.nodeid in order), key=lambda item: order[item.nodeid])


class Copy:
    """A copy of the tree, in which code is made wrong and tests run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("src", "tests", "torture"):
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        for path in ROOT.iterdir():
            if not path.name.startswith(".") and not (folder / path.name).exists():
                (folder / path.name).symlink_to(path)

    def pytest(self, words: Sequence[str], plugin: Any = None, limit: float = np.inf) -> tuple[str, str]:
        """Run tests in a fork; return "killed", "survived" or "timed out", and the test that failed."""
        said = self.folder / "said"
        process = os.fork()
        if process == 0:
            self._run([*QUIET, *words], plugin, said)
        began, ended, status = time.monotonic(), 0, 0
        while not ended:
            time.sleep(0.05)
            ended, status = os.waitpid(process, os.WNOHANG)
            if not ended and time.monotonic() - began > limit:
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)
                return "timed out", ""
        if status == 0:
            return "survived", ""
        lines = said.read_text().splitlines()
        failed = [line for line in lines if line.startswith(("FAILED ", "ERROR "))]
        return "killed", failed[0].split(" ", 1)[1].split(" - ")[0] if failed else " ".join(lines[-3:])

    def _run(self, words: list[str], plugin: Any, said: Path) -> NoReturn:
        code = 1
        try:
            with said.open("w") as file:
                os.dup2(file.fileno(), 1)
                os.dup2(file.fileno(), 2)
            os.chdir(self.folder)
            os.environ["PYTHONPATH"] = os.pathsep.join(paths := [str(self.folder / "src"), str(self.folder)])
            sys.path[:0] = paths
            code = int(pytest.main(words, plugins=[plugin] if plugin else []))
        finally:
            sys.stdout.flush()
            os._exit(code)

    def changed(self, file: str, text: str, words: Sequence[str], **asked: Any) -> tuple[str, str]:
        """Run tests with another text of a file, up to the first that fails."""
        path = self.folder / file
        right = path.read_text()
        try:
            for now in (text, right):
                path.write_text(now)
                Path(cache_from_source(str(path))).unlink(missing_ok=True)
                if now is text:
                    found = self.pytest(["-x", *words], **asked)
        finally:
            path.write_text(right)
        return found


def ordered(mutant: Mutant, record: dict[str, Any], budget: float) -> tuple[list[str], int]:
    """Return the tests that reach a change, and how many there are: one of each function, then a second of each."""
    first, last = mutant.lines
    groups = defaultdict(list)
    for test, (seconds, lines) in record.items():
        if any(file == mutant.file and first <= line <= last for file, line in lines):
            groups[not test.startswith(mutant.file), test.split("[")[0]].append((seconds, test))
    rounds = zip_longest(*(sorted(groups[key]) for key in sorted(groups, key=lambda k: (k[0], min(groups[k])))))
    chosen, left, every = [], budget, [case for case in chain(*rounds) if case]
    for seconds, test in every:
        if seconds <= left:
            chosen.append(test)
            left -= seconds
    return chosen, len(every)


def sample(copy: Copy, mutants: list[Mutant], only: set[int], budget: float, *, reach: Path | None) -> dict[str, int]:
    """Run the tests on changes, and print what came of each."""
    wanted, counts = defaultdict(list), defaultdict[str, int](int)
    for mutant in mutants:
        wanted[mutant.file].append(mutant.lines)
    out = reach or copy.folder / "reach.jsonl"
    if not out.exists():
        copy.pytest(TESTS, Reach({str(copy.folder / name): (name, spans) for name, spans in wanted.items()}, out))
    record = {test: (seconds, lines) for test, seconds, lines in map(json.loads, out.read_text().splitlines())}
    print(f"{len(record)} tests pass on code that is right", flush=True)
    for number, mutant in enumerate(mutants):
        if number not in only:
            continue
        tests, every = ordered(mutant, record, budget)
        verdict, words, began = "not reached by any test", "", time.monotonic()
        if tests:
            files = list(dict.fromkeys(test.split("::")[0] for test in tests))
            limit = SECONDS + 10 * sum(record[test][0] for test in tests)
            text = mutant.applied((ROOT / mutant.file).read_text())
            verdict, words = copy.changed(mutant.file, text, files, plugin=Chosen(tests), limit=limit)
            words = words or f"{len(tests)} of the {every} tests that reach it"
        counts[verdict] += 1
        print(f"{number:>3} {verdict}: {mutant}\n      {words} ({time.monotonic() - began:.0f} s)", flush=True)
    return counts


def break_rules(copy: Copy, only: set[int]) -> dict[str, int]:
    """Break each rule of the arithmetic, and print which test noticed."""
    counts = defaultdict[str, int](int)
    for rule in RULES:
        text = (ROOT / rule.file).read_text()
        if text.count(rule.old) != 1:
            message = f"Rule {rule.number}: {rule.file} has {text.count(rule.old)} times, and not once: {rule.old!r}"
            raise SystemExit(message)
        if rule.number in only:
            verdict, words = copy.changed(rule.file, text.replace(rule.old, rule.new), rule.tests)
            counts[verdict] += 1
            print(f"rule {rule.number} {verdict}: {rule.broken}\n      {words}", flush=True)
    return counts


def main(words: list[str] | None = None) -> int:
    """Read the command line, draw, run and print."""
    parser = argparse.ArgumentParser(prog="python -m torture.mutation", description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--budget", type=float, default=40.0, help="seconds of tests that a change meets")
    parser.add_argument("--only", help="numbers of changes, or of rules, with commas between them")
    parser.add_argument("--reach", type=Path, help="a file that keeps which tests reach what, for a second run")
    parser.add_argument("--rules", action="store_true", help="break the rules of the arithmetic instead")
    asked = parser.parse_args(words)
    only = {int(word) for word in asked.only.split(",")} if asked.only else set(range(asked.count + len(RULES) + 1))
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(Path(folder).resolve())
        if asked.rules:
            counts = break_rules(copy, only)
        else:
            mutants = drawn(asked.seed, asked.count)
            print("\n".join(f"{i:>3} {mutant}" for i, mutant in enumerate(mutants)), flush=True)
            counts = sample(copy, mutants, only, asked.budget, reach=asked.reach)
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
    return 1 if asked.rules and counts.keys() - {"killed"} else 0


if __name__ == "__main__":
    sys.exit(main())
