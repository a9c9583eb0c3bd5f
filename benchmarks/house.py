"""What a reader of the code has to cross: ``python -m benchmarks.house SRC [SRC ...]``.

Each SRC is the ``src`` folder of a checkout, of any commit; this checkout's where none is given. Printed is a table
with a column for each: modules and lines, small modules with a single importer, constants, questions about our own
types, and for seven calls the files of Gramian that run and the frames that stand on each other at the deepest point
(the second call of its kind, so that imports do not count). They are thermometers: they say where to look, and a
reader's ease is the goal.
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks import child

ROOT = Path(__file__).parent.parent
SMALL = 80
"""Lines up to which a module is small."""

CALLS = ("PCA dense", "PCA Parquet", "PCA sparse", "PCA Dask", "KernelPCA", "ICA", "load")


def main() -> None:
    """Print the table, or make the calls of one side (``child``)."""
    if sys.argv[1:2] == ["child"]:
        task = json.loads(sys.argv[2])
        print(json.dumps(crossed(task["call"], Path(task["src"]))))
        return
    parser = argparse.ArgumentParser(prog="python -m benchmarks.house", description=__doc__.splitlines()[0])
    parser.add_argument("src", type=Path, nargs="*", default=[ROOT / "src"])
    sides = [src.resolve() for src in parser.parse_args().src]
    columns = [readings(src) for src in sides]
    print("| | " + " | ".join(str(src.parent.name) for src in sides) + " |")
    print("|---|" + "---:|" * len(sides))
    for name in columns[0]:
        print(f"| {name} | " + " | ".join(column[name] for column in columns) + " |")


def readings(src: Path) -> dict[str, str]:
    """Return every thermometer of one side, by name."""
    trees = {_name(path, src): (path, ast.parse(path.read_text())) for path in sorted(src.rglob("gramian/**/*.py"))}
    texts = {name: path.read_text().splitlines() for name, (path, _) in trees.items()}
    importers = _importers({name: tree for name, (_, tree) in trees.items()})
    own = {node.name for _, tree in trees.values() for node in tree.body if isinstance(node, ast.ClassDef)}
    lonely = [name for name in texts if len(texts[name]) <= SMALL and len(importers[name]) == 1]
    constants = [name for _, tree in trees.values() for name in _constants(tree)]
    questions = [question for _, tree in trees.values() for question in _questions(tree, own)]
    code = sum(len(_code_lines(tree)) for _, tree in trees.values())
    found = {
        "modules": f"{len(trees):,}",
        "lines, code alone": f"{code:,}",
        "lines in all": f"{sum(map(len, texts.values())):,}",
        f"modules of at most {SMALL} lines with one importer": f"{len(lonely):,}",
        "module constants": f"{len(constants):,}",
        "the same name for two of them": f"{len(constants) - len(set(constants)):,}",
        "questions about our own types (isinstance)": f"{questions.count('isinstance'):,}",
        "questions about attributes (hasattr)": f"{questions.count('hasattr'):,}",
    }
    for call in CALLS:
        seen = child.call("benchmarks.house", {"call": call, "src": str(src)}, src=src, timeout=120)
        found[f"{call}: files, frames"] = seen.get("failure") or f"{seen['files']}, {seen['frames']}"
    return found


def _name(path: Path, src: Path) -> str:
    parts = path.relative_to(src).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _importers(trees: dict[str, ast.Module]) -> dict[str, set[str]]:
    """Return which modules import each one, anywhere in their text."""
    found: dict[str, set[str]] = defaultdict(set)
    for name, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    inner = f"{node.module}.{alias.name}"
                    found[inner if inner in trees else node.module].add(name)
    return found


def _constants(tree: ast.Module) -> Iterator[str]:
    """Give the names in capitals that a module sets to a value."""
    for node in tree.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        for target in targets:
            yield from (
                part.id for part in ast.walk(target) if isinstance(part, ast.Name) and part.id.strip("_").isupper()
            )


def _questions(tree: ast.Module, own: set[str]) -> Iterator[str]:
    """Give ``isinstance`` for each such question about a class of ours, ``hasattr`` for each about an attribute."""
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 2):
            continue
        asked = {part.id for part in ast.walk(node.args[1]) if isinstance(part, ast.Name)}
        if node.func.id == "isinstance" and asked & own:
            yield "isinstance"
        elif node.func.id == "hasattr":
            yield "hasattr"


def _code_lines(tree: ast.Module) -> set[int]:
    """Return the lines that hold code: neither blank, nor comment, nor docstring."""
    lines: set[int] = set()
    strings: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            strings |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        elif isinstance(node, (ast.stmt, ast.expr, ast.arg, ast.alias, ast.keyword)):
            lines |= {node.lineno, node.end_lineno or node.lineno}
    return lines - strings


def crossed(call: str, src: Path) -> dict[str, int]:
    """Make one call, the second of its kind, and return the files of Gramian that ran and the deepest stack of them."""
    with tempfile.TemporaryDirectory() as folder:
        work = _work(call, Path(folder))
        work()
        home = str(src / "gramian")
        files: set[str] = set()
        deepest = 0

        def watch(frame: Any, event: str, _arg: Any) -> None:
            nonlocal deepest
            if event == "call" and frame.f_code.co_filename.startswith(home):
                files.add(frame.f_code.co_filename)
                depth, outer = 0, frame
                while outer is not None:
                    depth += outer.f_code.co_filename.startswith(home)
                    outer = outer.f_back
                deepest = max(deepest, depth)

        sys.setprofile(watch)
        try:
            work()
        finally:
            sys.setprofile(None)
    return {"files": len(files), "frames": deepest}


def _work(call: str, folder: Path) -> Callable[[], Any]:
    """Return the call, its input ready."""
    import numpy as np

    import gramian

    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 40)) * np.geomspace(10, 1, 40)
    if call == "PCA dense":
        return lambda: gramian.PCA(5).fit(X)
    if call == "PCA sparse":
        import scipy.sparse

        sparse = scipy.sparse.random_array((3000, 40), density=0.1, rng=rng, format="csr")
        return lambda: gramian.PCA(5).fit(sparse)
    if call == "PCA Parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        path = folder / "rows.parquet"
        pq.write_table(pa.table({f"x{j}": X[:, j] for j in range(40)}), path)
        return lambda: gramian.PCA(5).fit(path)
    if call == "PCA Dask":
        import dask.array

        lazy = dask.array.from_array(X, chunks=(1000, 40))
        return lambda: gramian.PCA(5).fit(lazy)
    if call == "KernelPCA":
        return lambda: gramian.KernelPCA(3, kernel="rbf", gamma=0.1).fit(X[:300, :5])
    if call == "ICA":
        sources = rng.laplace(size=(3000, 4)) @ rng.standard_normal((4, 4))
        return lambda: gramian.ICA(4, random_state=0).fit(sources)
    path = folder / "model.gramian"
    gramian.PCA(5).fit(X).save(path)
    return lambda: gramian.load(path)


if __name__ == "__main__":
    main()
