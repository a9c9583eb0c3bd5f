"""Tables that are large: sparse in memory, three million columns, chunks on disk by Dask, PubMed's shape on disk.

``python -m benchmarks.giants sparse bigrams`` runs those cases, each in a process of its own under a limit of its data
(``RLIMIT_DATA``, which counts the rows too where they are in memory), and writes them into results/giants.json and .md;
cases that were not run say so there. ``--share 0.1`` runs a tenth of the rows, and says that.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

RESULTS = Path(__file__).parent / "results"

GIGABYTE = 10**9


def zipf_rows(n: int, d: int, each: int, *, seed: int, topics: int = 40) -> sp.csr_array:
    """Return CSR float32 rows of counts, ``each`` entries drawn a row: words by popularity, half of them by topic."""
    rng = np.random.default_rng(seed)
    columns = (d * rng.random((n, each), dtype=np.float32) ** 3).astype(np.int32)
    own = rng.integers(0, topics, n, dtype=np.int32)[:, None]
    half = each // 2
    span = max(1, d // topics)
    columns[:, :half] = own * span + (columns[:, :half] // topics)
    np.clip(columns, 0, d - 1, out=columns)
    columns.sort(axis=1)
    indptr = np.arange(0, n * each + 1, each, dtype=np.int32 if n * each < 2**31 else np.int64)
    rows = sp.csr_array((np.ones(n * each, np.float32), columns.ravel(), indptr), shape=(n, d))
    rows.sum_duplicates()
    return rows


def sparse(share: float) -> dict[str, Any]:
    """Find 20 components of a million rows, centered, beside scikit-learn's arpack path on the same rows."""
    X = zipf_rows(round(1_000_000 * share), 100_000, 100, seed=0)
    found = facts(X) | timed("gramian", lambda: fit(X, 20))
    from sklearn.decomposition import PCA as Theirs

    theirs = timed("scikit_learn", lambda: shown(Theirs(20, svd_solver="arpack", random_state=0).fit(X)))
    return found | theirs


def bigrams(share: float) -> dict[str, Any]:
    """Find the top 10 of three million columns, and the share of the variance that they hold."""
    X = zipf_rows(round(200_000 * share), 3_000_000, 100, seed=1)
    return facts(X) | timed("gramian", lambda: fit(X, 10))


def dask(share: float) -> dict[str, Any]:
    """Fit 10 GB of chunks on disk by two workers, one of which is killed in the middle."""
    import dask.array as da
    from dask import delayed
    from distributed import Client, LocalCluster

    n, d, count = round(1_250_000 * share), 1000, 100
    with tempfile.TemporaryDirectory(dir=os.environ.get("GRAMIAN_SCRATCH")) as folder:
        begun = time.perf_counter()
        truth = write_dense(Path(folder), n, d, count)
        found: dict[str, Any] = {"n": n, "d": d, "bytes": 8 * n * d, "seconds_writing": time.perf_counter() - begun}
        with (
            LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster,
            Client(cluster),
        ):
            for name, after in (("undisturbed", 0), ("worker_killed", count // 2)):
                read = delayed(read_piece, pure=False)
                size = n // count
                parts = [
                    da.from_delayed(read(folder, i, after, name), shape=(size, d), dtype=float) for i in range(count)
                ]
                found |= timed(name, lambda parts=parts: fit(da.concatenate(parts), 10))
                found[name]["killed"] = (Path(folder) / f"killed-{name}").exists()
                found[name]["largest_relative_error_of_a_variance"] = float(
                    np.max(np.abs(np.array(found[name].pop("variances")) / truth - 1))
                )
    return found


def pubmed(share: float) -> dict[str, Any]:
    """Find the top 10 of 8.2 million x 141,043 with 730 million entries, in pieces of CSR on disk read by Dask."""
    import dask.array as da
    from dask import delayed

    n, d, count = round(8_200_000 * share), 141_043, 100
    size = n // count
    with tempfile.TemporaryDirectory(dir=os.environ.get("GRAMIAN_SCRATCH")) as folder:
        begun = time.perf_counter()
        for i in range(count):
            X = zipf_rows(size, d, 89, seed=i)
            for name in ("data", "indices", "indptr"):
                np.save(Path(folder) / f"{i}-{name}.npy", getattr(X, name))
        found: dict[str, Any] = {"n": n, "d": d, "seconds_writing": time.perf_counter() - begun}
        parts = [
            da.from_delayed(
                delayed(read_sparse, pure=False)(folder, i, size, d), (size, d), meta=sp.csr_matrix((0, 0), dtype="f4")
            )
            for i in range(count)
        ]
        return found | timed("gramian", lambda: fit(da.concatenate(parts), 10))


CASES: dict[str, tuple[Callable[[float], dict[str, Any]], int | None]] = {
    "sparse": (sparse, 4 * GIGABYTE),
    "bigrams": (bigrams, 4 * GIGABYTE),
    "dask": (dask, None),
    "pubmed": (pubmed, 6 * GIGABYTE),
}
"""Each case and its limit in bytes, the rows in memory counted; processes of a cluster have limits of their own."""


def write_dense(folder: Path, n: int, d: int, count: int) -> np.ndarray:
    """Write standard normal pieces with ten strong directions; return their ten leading variances, from moments."""
    from gramian.sources import as_source, measure_moments

    rng = np.random.default_rng(0)
    V = np.linalg.qr(rng.standard_normal((d, 10)))[0] * np.geomspace(20.0, 5.0, 10)
    whole = None
    for i in range(count):
        X = rng.standard_normal((n // count, d))
        X += rng.standard_normal((n // count, 10)) @ V.T
        np.save(folder / f"{i}.npy", X)
        moments = measure_moments(as_source(X))
        whole = moments if whole is None else whole.merge(moments)
    return np.linalg.eigvalsh(whole.scatter / (whole.count - 1))[::-1][:10]


def read_piece(folder: str, i: int, after: int, name: str) -> np.ndarray:
    """Read one piece; the worker that makes read number ``after`` dies, once."""
    reads, killed = Path(folder) / f"reads-{name}", Path(folder) / f"killed-{name}"
    with reads.open("a") as log:
        log.write("x")
    if after and reads.stat().st_size >= after and not killed.exists():
        killed.touch()
        os._exit(1)
    return np.load(Path(folder) / f"{i}.npy")


def read_sparse(folder: str, i: int, size: int, d: int) -> sp.csr_matrix:
    """Read one piece of CSR rows."""
    data, indices, indptr = (np.load(Path(folder) / f"{i}-{name}.npy") for name in ("data", "indices", "indptr"))
    return sp.csr_matrix((data, indices, indptr), shape=(size, d))


def fit(X: Any, k: int) -> dict[str, Any]:
    """Fit and tell what came of it."""
    from gramian import PCA

    pca = PCA(k).fit(X)
    certificate = pca.certificate_
    return shown(pca) | {
        "plan": str(pca.plan_).splitlines()[0],
        "note": certificate.note,
        "worst_residual": float(np.max(certificate.residuals) / certificate.values[0]),
    }


def shown(pca: Any) -> dict[str, Any]:
    """Return variances and the share that they hold, of either library."""
    return {
        "variances": np.asarray(pca.explained_variance_, float).tolist(),
        "share": float(np.sum(pca.explained_variance_ratio_)),
    }


def facts(X: sp.csr_array) -> dict[str, Any]:
    """Return the size of rows in memory."""
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    return {"n": X.shape[0], "d": X.shape[1], "entries": X.nnz, "bytes": size, "peak_before_bytes": peak()}


def timed(name: str, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Run, and add seconds and the highest memory of this process so far; a failure is a result too."""
    begun = time.perf_counter()
    try:
        found = work()
    except Exception as error:  # noqa: BLE001 - what a peer cannot do is shown
        found = {"failed": f"{type(error).__name__}: {error}"[:300]}
    return {name: found | {"seconds": time.perf_counter() - begun, "peak_bytes": peak()}}


def peak() -> int:
    """Return the largest resident memory of this process so far."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def run_apart(name: str, share: float, timeout: float) -> dict[str, Any]:
    """Run a case in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.giants", "--inside", name, "--share", str(share)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return {"failed": f"stopped after {timeout:.0f} s"}
    if done.returncode:
        return {"failed": done.stderr.strip().splitlines()[-1][:300] if done.stderr.strip() else str(done.returncode)}
    return json.loads(done.stdout.splitlines()[-1])


def table(found: dict[str, Any]) -> str:
    """Return the results in Markdown."""
    lines = ["| case | who | seconds | peak memory | share of variance | notes |", "|---|---|---|---|---|---|"]
    for case in CASES:
        result = found["cases"].get(case)
        if result is None:
            lines.append(f"| {case} | | | | | not run |")
            continue
        if "failed" in result:
            lines.append(f"| {case} | | | | | failed: {result['failed']} |")
        part = "" if result.get("rows_share", 1.0) == 1.0 else f"{result['rows_share']:g} of the rows; "
        for who, row in result.items():
            if isinstance(row, dict):
                notes = row.get("failed") or row.get("note") or ""
                cells = (
                    f"{row['seconds']:.1f} | {row['peak_bytes'] / 1e9:.2f} GB | {row.get('share', float('nan')):.4f}"
                )
                lines.append(f"| {case} | {who} | {cells} | {part}{notes} |")
    return "\n".join(lines)


def main() -> None:
    """Run the cases named, and write results/giants.json and .md beside what was measured before."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", choices=[*CASES, []])
    parser.add_argument("--inside", choices=CASES)
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--timeout", type=float, default=550.0)
    words = parser.parse_args()
    if words.inside:
        case, limit = CASES[words.inside]
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
        print(json.dumps(case(words.share)))
        return
    from benchmarks import machine

    path = RESULTS / "giants.json"
    found = json.loads(path.read_text()) if path.exists() else {"cases": {}}
    found["machine"] = machine.describe(["gramian", "scikit-learn", "dask", "distributed"])
    for name in words.cases:
        found["cases"][name] = run_apart(name, words.share, words.timeout) | {"rows_share": words.share}
    RESULTS.mkdir(exist_ok=True)
    path.write_text(json.dumps(found, indent=1) + "\n")
    (RESULTS / "giants.md").write_text(f"# Giants\n\n{found['machine']['date']}\n\n{table(found)}\n")
    print(table(found))


if __name__ == "__main__":
    main()
