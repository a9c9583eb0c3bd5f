"""How everything scales with the cores: ``python -m benchmarks.cores [--parts ...] [--cores 1,2,4,8,16]``.

Each figure is measured in an interpreter of its own that is bound to so many cores (sched_setaffinity) and whose BLAS
has as many threads: the least of up to three fits, or the only one where that takes over ten seconds; before the clock
starts, modules are imported, rows are in memory and a small fit was made. scikit-learn is measured on the largest
number of cores alone. A residual is |A v - lambda v| / lambda_1, A in float64 (for ICA, the largest entry of the
gradient's skew part).

Parts: product, kpca, pca, ica, sparse, file. A record (``--out``) is written after every measurement and is gone on
with: what is in it is not measured again. ``--seconds`` ends the run before the time is over. ``--quick`` takes small
rows, to try the program. ``python -m benchmarks.cores table JSON`` writes results/cores.md.

Needs NumPy, SciPy and Gramian's own dependencies (PYTHONPATH=src will do, nothing need be installed), and scikit-learn
to be compared with.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from benchmarks import child, machine, store
from benchmarks.case import Instance
from benchmarks.kernel_pca.rows import K as KERNEL_COMPONENTS
from benchmarks.registry import all_cases

SRC = child.ROOT / "src"
RESULTS = Path(__file__).parent / "results" / "cores.md"
CORES = (1, 2, 4, 8, 16)
LONGEST = 300.0
"""Seconds after which a measurement is stopped."""

Fit = Callable[[], Any]


@dataclass(frozen=True)
class Case:
    """One line of the table: how Gramian does it, and the ways of scikit-learn, from its default on.

    ``peers`` are tried in turn until one meets ``tolerance``; the first is the default and is always shown.
    """

    part: str
    name: str
    task: dict[str, Any]
    peers: tuple[str, ...] = ()
    tolerance: float = np.inf
    only_at: tuple[int, ...] = ()
    runs: int = 3


def cases(*, quick: bool) -> list[Case]:
    """Every line, in the order in which they are measured."""
    n = 4_000 if quick else 60_000
    found = [Case("product", f"kernel product, {n:,} x 50 float32, 16 vectors", {"kind": "product", "n": n})]
    sizes = ((1_500, ()), (3_000, (2, 8, 16))) if quick else ((20_000, ()), (100_000, (2, 8, 16)))
    for n, only in sizes:
        tol = 1e-6 if n <= 20_000 else 1e-5
        peers = () if only else ("randomized", "arpack")
        name = f"exact kernel PCA, {n:,} x 50 float32, k = 10, tol {tol:.0e}"
        found.append(Case("kpca", name, {"kind": "kpca", "n": n, "tol": tol}, peers, tol, only, 2))
    for shape in ("1000000x100", "200000x500", "100000x1000-k20", "60000x784-95"):
        for dtype in ("float64", "float32"):
            peers = ("auto", "covariance_eigh, float64 copy", "full, float64 copy")
            task = {"kind": "pca", "case": shape, "dtype": dtype, "quick": quick}
            title = _title(task)
            tol = 1e-10 if dtype == "float64" else 1e-6
            found.append(Case("pca", f"PCA {title}, {dtype}", task, peers, tol))
    n = 5_000 if quick else 100_000
    peers = tuple(f"FastICA, tol={tol:.0e}" for tol in (1e-4, 1e-6, 1e-8, 1e-10))
    found.append(Case("ica", f"ICA 30 sources x {n:,}", {"kind": "ica", "n": n}, peers, 1e-6))
    for dtype in ("float64", "float32"):
        task = {"kind": "pca", "case": "sparse", "dtype": dtype, "quick": quick}
        tol = 1e-10 if dtype == "float64" else 1e-6
        found.append(Case("sparse", f"PCA {_title(task)}, {dtype}", task, ("auto", "arpack"), tol))
    n = 20_000 if quick else 1_000_000
    peers = ("np.load and PCA", "np.load and PCA, float64 copy", "IncrementalPCA, batches of the file")
    name = f"PCA of a .npy file of {4e-6 * n:,.1f} GB, {n:,} x 1,000 float32, k = 20"
    found.append(Case("file", name, {"kind": "file", "n": n}, peers, 1e-6, (), 2))
    return found


def _instance(task: dict[str, Any]) -> Instance:
    """Return the rows of a task: those of the benchmarks of PCA, with a fast-decaying spectrum."""
    case = next(case for case in all_cases() if task["case"] in case.name)
    return Instance(case=case, spectrum="decay", dtype=task["dtype"], quick=task["quick"])


def _title(task: dict[str, Any]) -> str:
    instance = _instance(task)
    small = f" (quick: {instance.n_rows:,} x {instance.n_columns:,})" if instance.quick else ""
    return f"{instance.case.title}{small}"


# ---- in the child -------------------------------------------------------------------------------------------------


def measure(task: dict[str, Any]) -> dict[str, Any]:
    """Measure what a task says, here and now."""
    if task["kind"] == "product":
        from benchmarks.kernel_pca.plain import product_beside_plain
        from benchmarks.kernel_pca.rows import rows_of, width_of

        X = rows_of(task["n"])
        return product_beside_plain(X, width_of(X), runs=task["runs"])
    small, fit, judge = MAKERS[task["kind"]](task)
    small()
    times, model = child.seconds_of(fit, runs=task["runs"])
    found = {"seconds": min(times), "times": times}
    if task["judge"]:
        found["residual"] = judge(model)
    return found


def _pca(task: dict[str, Any]) -> tuple[Fit, Fit, Callable[[Any], float]]:
    instance = _instance(task)
    X = store.load_rows(instance)
    make = _gramian_pca if task["peer"] is None else _scikit_pca

    def fit(rows: Any, k: Any) -> Any:
        return make(rows, k, task["peer"])

    few = min(5, instance.n_components) if isinstance(instance.n_components, int) else instance.n_components
    return lambda: fit(X[:500, :60], few), lambda: fit(X, instance.n_components), lambda m: _residual(X, m)


def _gramian_pca(X: Any, k: Any, _: str | None) -> Any:
    from gramian import PCA

    return PCA(k).fit(X)


def _scikit_pca(X: Any, k: Any, way: str) -> Any:
    from sklearn.decomposition import PCA

    solver, _, copy = way.partition(", ")
    return PCA(k, svd_solver=solver, random_state=0).fit(X.astype(np.float64) if copy else X)


def _residual(X: Any, model: Any) -> float:
    from benchmarks.principal import residual_of

    return residual_of(X, model.components_.T, model.explained_variance_)


def _kpca(task: dict[str, Any]) -> tuple[Fit, Fit, Callable[[Any], float]]:
    from benchmarks.kernel_pca.judging import residual_of
    from benchmarks.kernel_pca.rows import rows_of, width_of

    X = rows_of(task["n"])
    gamma = width_of(X)

    def fit(rows: np.ndarray) -> Any:
        words = {"kernel": "rbf", "gamma": gamma, "tol": task["tol"], "random_state": 0}
        if task["peer"] is None:
            from gramian import KernelPCA

            return KernelPCA(KERNEL_COMPONENTS, **words).fit(rows)
        from sklearn.decomposition import KernelPCA as Theirs

        return Theirs(KERNEL_COMPONENTS, eigen_solver=task["peer"], **words).fit(rows)

    return lambda: fit(X[:1000]), lambda: fit(X), lambda model: residual_of(X, gamma, model)


def _ica(task: dict[str, Any]) -> tuple[Fit, Fit, Callable[[Any], float]]:
    from benchmarks.ica_rows import left_to_turn, rows_of

    X = rows_of("30")[: task["n"]]

    def fit(rows: np.ndarray) -> Any:
        if task["peer"] is None:
            from gramian import ICA

            return ICA(random_state=0).fit(rows)
        from sklearn.decomposition import FastICA

        tol = float(task["peer"].partition("tol=")[2])
        return FastICA(tol=tol, max_iter=1000, whiten="unit-variance", random_state=0).fit(rows)

    return lambda: fit(X[:3000, :4].copy()), lambda: fit(X), lambda model: left_to_turn(X, model.components_)


def _file(task: dict[str, Any]) -> tuple[Fit, Fit, Callable[[Any], float]]:
    path = file_of(task["n"])
    few = np.load(path, mmap_mode="r")[:2000]
    if task["peer"] is None:
        return lambda: _gramian_pca(np.array(few), 5, None), lambda: _gramian_pca(path, 20, None), _file_residual(path)
    if task["peer"].startswith("Incremental"):
        from sklearn.decomposition import IncrementalPCA

        def batches() -> Any:
            model, rows = IncrementalPCA(20), np.load(path, mmap_mode="r")
            for start in range(0, len(rows), 10_000):
                model.partial_fit(rows[start : start + 10_000])
            return model

        return lambda: IncrementalPCA(5).fit(few), batches, _file_residual(path)
    way = "auto, float64 copy" if "copy" in task["peer"] else "auto"
    return lambda: _scikit_pca(few, 5, way), lambda: _scikit_pca(np.load(path), 20, way), _file_residual(path)


def _file_residual(path: str) -> Callable[[Any], float]:
    return lambda model: _residual(np.load(path, mmap_mode="r"), model)


def file_of(n: int) -> str:
    """Return the path of the large file, written first if it is not there: float32, 20 directions, noise, a mean."""
    path = store.folder() / f"cores-{n}x1000.npy"
    if not path.exists():
        rng = np.random.default_rng(0)
        loadings = (np.linalg.qr(rng.standard_normal((1000, 20)))[0] * np.geomspace(10, 2, 20)).T.astype(np.float32)
        mean = (5 * rng.standard_normal(1000)).astype(np.float32)
        unfinished = path.with_name(f"part-{os.getpid()}-{path.name}")
        rows = np.lib.format.open_memmap(unfinished, "w+", np.float32, (n, 1000))
        for start in range(0, n, 10_000):
            block = rng.standard_normal((min(10_000, n - start), 1000), dtype=np.float32)
            block += rng.standard_normal((len(block), 20), dtype=np.float32) @ loadings + mean
            rows[start : start + len(block)] = block
        rows.flush()
        unfinished.replace(path)
    return str(path)


def prepare(task: dict[str, Any]) -> dict[str, Any]:
    """Make the rows of a task, on all cores, so that no measurement has to."""
    if task["kind"] == "file":
        file_of(task["n"])
    elif task["kind"] == "pca":
        store.load_rows(_instance(task))
    return {}


MAKERS = {"pca": _pca, "kpca": _kpca, "ica": _ica, "file": _file}


# ---- in the parent ------------------------------------------------------------------------------------------------


class Record:
    """What was measured, on disk after every measurement."""

    def __init__(self, path: Path, *, quick: bool) -> None:
        self.path = path
        self.found = json.loads(path.read_text()) if path.exists() else {}
        if "machine" not in self.found:
            import gramian

            told = machine.describe(["gramian", "scikit-learn"])
            told["versions"]["gramian"] = gramian.__version__
            self.found = {"machine": told, "command": " ".join(["python -m benchmarks.cores", *sys.argv[1:]])}
            self.found |= {"quick": quick, "rows": {}}

    def row(self, key: str) -> dict[str, Any] | None:
        """Return what was measured under a key, unless the clock stopped it."""
        row = self.found["rows"].get(key)
        return None if row is None or "not started" in row.get("failure", "") else row

    def keep(self, key: str, row: dict[str, Any]) -> None:
        """Write a measurement down."""
        self.found["rows"][key] = row
        self.path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self.path.with_name(f"{self.path.name}.part")
        unfinished.write_text(json.dumps(self.found, indent=1))
        unfinished.replace(self.path)


def run(words: argparse.Namespace) -> None:
    """Measure the parts asked for until the time is over."""
    ends = monotonic() + words.seconds
    there = len(os.sched_getaffinity(0))
    counts = [count for count in words.cores if count <= there] or [there]
    record = Record(words.out, quick=words.quick)
    has_peer = _has_scikit_learn()
    if not has_peer:
        print("scikit-learn is not there: only Gramian is measured.", flush=True)
    for case in (case for case in cases(quick=words.quick) if case.part in words.parts):
        wanted = [count for count in counts if not case.only_at or count in case.only_at or count == max(counts)]
        jobs = [(count, None) for count in wanted] + [(max(counts), peer) for peer in case.peers if has_peer]
        if all(record.row(_key(case, *job)) for job in jobs):
            continue
        if ends - monotonic() < 5:
            print("The time is over.", flush=True)
            return
        made = child.call("benchmarks.cores", {"prepare": case.task}, src=words.src, timeout=ends - monotonic())
        if made:
            print(f"{case.name}: {made}", flush=True)
            continue
        for count, peer in jobs:
            key = _key(case, count, peer)
            if record.row(key) or (peer is not None and _is_met(record, case, max(counts))):
                continue
            left = ends - monotonic()
            if left < 5:
                print("The time is over.", flush=True)
                return
            task = case.task | {"peer": peer, "runs": case.runs, "judge": count == max(counts)}
            row = child.call("benchmarks.cores", task, src=words.src, cores=count, timeout=min(LONGEST, left))
            if "failure" in row and left < LONGEST:
                print(f"{key}: {row['failure']}, as the time is over.", flush=True)
                return
            record.keep(key, {"case": case.name, "part": case.part, "cores": count, "peer": peer} | row)
            print(f"{key}: {row}", flush=True)


def _key(case: Case, count: int, peer: str | None) -> str:
    return f"{case.name} | {count} | {peer or 'Gramian'}"


def _is_met(record: Record, case: Case, count: int) -> bool:
    """Tell whether one of scikit-learn's ways that is known by now meets the tolerance."""
    rows = [record.row(_key(case, count, peer)) for peer in case.peers]
    return any(row and row.get("residual", np.inf) <= case.tolerance for row in rows)


def _has_scikit_learn() -> bool:
    try:
        import sklearn.decomposition  # noqa: F401
    except ImportError:
        return False
    return True


# ---- the table ----------------------------------------------------------------------------------------------------


def table(found: dict[str, Any]) -> str:
    """Return the record in Markdown."""
    rows = list(found["rows"].values())
    counts = sorted({row["cores"] for row in rows})
    top = counts[-1]
    told = found["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in told["versions"].items() if version)
    head = " | ".join(f"{count}" for count in counts)
    lines = [
        "# From one core to all",
        "",
        (
            f"{told['date']}, {told['cpu']}, {told['cores']} cores, {told['memory_bytes'] / 2**30:.0f} GiB; Python "
            f"{told['python']}, {versions}; {', '.join(told['blas'])}. `{found['command']}`"
        ),
        "",
        __doc__.split("\n\n")[1].replace("\n", " "),
        "",
        (
            f"Seconds by the number of cores; speed-up from {counts[0]} to {top}; scikit-learn on {top}: its default "
            "first, then its other ways until one is as accurate (its residual in brackets). The ratios are Gramian's "
            "time over that of the default, and over that of the fastest way that is as accurate."
        ),
        "",
        f"| case | {head} | speed-up | scikit-learn, {top} | / default | / as accurate | residual |",
        f"|---|{'---:|' * len(counts)}---:|---|---:|---:|---|",
    ]
    names = list(dict.fromkeys(row["case"] for row in rows))
    lines += [_line([row for row in rows if row["case"] == name], counts) for name in names]
    products = [row for row in rows if row["part"] == "product" and "plain" in row]
    if products:
        lines += ["", "The kernel product beside the plain loop of NumPy tiles, in turn in one process:", ""]
        lines += ["| cores | Gramian | plain loop (its best tile) | ratio | apart |", "|---:|---:|---:|---:|---|"]
        lines += [
            f"| {row['cores']} | {row['seconds']:.2f} s | {row['plain']:.2f} s ({row['tile']:,}) | {row['ratio']:.2f} "
            f"| {row['apart']:.0e} |"
            for row in sorted(products, key=lambda row: row["cores"])
        ]
    return "\n".join(lines) + "\n"


def _line(rows: list[dict[str, Any]], counts: list[int]) -> str:
    ours = {row["cores"]: row for row in rows if row["peer"] is None}
    cells = [_seconds(ours.get(count)) for count in counts]
    timed = {count: row["seconds"] for count, row in ours.items() if "seconds" in row}
    gain = ""
    if len(timed) > 1:
        low, high = min(timed), max(timed)
        words = "" if (low, high) == (counts[0], counts[-1]) else f" ({low} to {high})"
        gain = f"{timed[low] / timed[high]:.1f}{words}"
    top = ours.get(counts[-1], {})
    peers = [row for row in rows if row["peer"] is not None]
    known = {case.name: case.tolerance for quick in (False, True) for case in cases(quick=quick)}
    tolerance = known.get(rows[0]["case"], np.inf)
    able = [row for row in peers if row.get("residual", np.inf) <= tolerance]
    told = "; ".join(f"{row['peer']}: {_seconds(row)}{_error(row)}" for row in peers)
    ratios = [_ratio(top, peers[:1]), _ratio(top, able) or ("none is" if peers else "")]
    return f"| {rows[0]['case']} | {' | '.join([*cells, gain, told, *ratios])} | {_error(top).strip(' ()')} |"


def _ratio(ours: dict[str, Any], peers: list[dict[str, Any]]) -> str:
    times = [row["seconds"] for row in peers if "seconds" in row]
    return f"{ours['seconds'] / min(times):.2f}" if times and "seconds" in ours else ""


def _seconds(row: dict[str, Any] | None) -> str:
    if row is None:
        return ""
    return f"{row['seconds']:.3g} s" if "seconds" in row else row.get("failure", "")


def _error(row: dict[str, Any]) -> str:
    return f" ({row['residual']:.0e})" if row.get("residual") is not None else ""


def main() -> None:
    """Measure, or write the table."""
    if sys.argv[1:2] == ["child"]:
        task = json.loads(sys.argv[2])
        print(json.dumps(prepare(task["prepare"]) if "prepare" in task else measure(task)))
        return
    if sys.argv[1:2] == ["table"]:
        RESULTS.write_text(table(json.loads(Path(sys.argv[2]).read_text())), encoding="utf-8")
        print(f"written: {RESULTS}")
        return
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cores", description=__doc__.splitlines()[0])
    parts = ("product", "kpca", "pca", "ica", "sparse", "file")
    parser.add_argument("--parts", type=lambda text: text.split(","), default=list(parts), help=",".join(parts))
    parser.add_argument("--cores", type=lambda text: [int(word) for word in text.split(",")], default=list(CORES))
    parser.add_argument("--seconds", type=float, default=7200.0)
    parser.add_argument("--out", type=Path, default=Path(tempfile.gettempdir()) / "gramian-cores.json")
    parser.add_argument("--src", type=Path, default=SRC, help="the src folder of the Gramian that is measured")
    parser.add_argument("--quick", action="store_true")
    words = parser.parse_args()
    unknown = set(words.parts) - set(parts)
    if unknown:
        parser.error(f"no part is called {', '.join(sorted(unknown))}")
    run(words)
    if words.out.exists():
        print(table(json.loads(words.out.read_text())))


if __name__ == "__main__":
    main()
