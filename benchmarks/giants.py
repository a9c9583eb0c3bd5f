"""Tables that are large: sparse in memory, three million columns, chunks on disk by Dask, PubMed's shape on disk.

``python -m benchmarks.giants sparse bigrams`` runs those cases, each in a process of its own under a limit of its data
(``RLIMIT_DATA``, which counts the rows too where they are in memory), and writes them into results/giants.json and .md;
cases that were not run say so there. ``--share 0.1`` runs a tenth of the rows, and says that. Files go to the folder
that ``TMPDIR`` names (PubMed's take 6 GB, Dask's 10 GB) and are deleted afterwards.
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

from benchmarks.giant_rows import PIECES, GatheredBytes, dask_rows, write_csr, write_dense, zipf_rows
from benchmarks.resident import PeakWatch

RESULTS = Path(__file__).parent / "results"

GIGABYTE = 10**9


def sparse(share: float) -> dict[str, Any]:
    """Find 20 components of a million rows, centered, beside scikit-learn's arpack path on the same rows."""
    X = zipf_rows(round(1_000_000 * share), 100_000, 106, seed=0)
    found = facts(X) | timed("gramian", lambda: fit(X, 20))
    from sklearn.decomposition import PCA as Theirs

    theirs = timed("scikit_learn", lambda: shown(Theirs(20, svd_solver="arpack", random_state=0).fit(X)))
    return found | theirs


def bigrams(share: float) -> dict[str, Any]:
    """Find the top 10 of three million columns, and the share of the variance that they hold."""
    X = zipf_rows(round(200_000 * share), 3_000_000, 100, seed=1)
    return facts(X) | timed("gramian", lambda: fit(X, 10))


def dask(share: float) -> dict[str, Any]:
    """Fit 10 GB of chunks on disk by two workers of at most 1.5 GB each, one of which is killed in the middle."""
    from distributed import Client, LocalCluster

    n, d = round(1_250_000 * share), 1000
    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        truth = write_dense(Path(folder), n, d)
        found: dict[str, Any] = {"n": n, "d": d, "bytes": 8 * n * d, "seconds_writing": time.perf_counter() - begun}
        cluster = LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit=1_500_000_000, dashboard_address="127.0.0.1:0"
        )
        with cluster, Client(cluster) as client, GatheredBytes(Client) as gathered:
            for name, after in (("undisturbed", 0), ("worker_killed", PIECES // 2)):
                rows = dask_rows(folder, n, d, name, after)
                gathered.total = 0
                found |= timed(name, lambda rows=rows: fit(rows, 10))
                found[name] |= {
                    "killed": (Path(folder) / f"killed-{name}").exists(),
                    "bytes_to_client": gathered.total,
                    "peak_bytes_of_workers": list(client.run(peak).values()),
                    "largest_relative_error_of_a_variance": float(
                        np.max(np.abs(np.array(found[name]["variances"]) / truth - 1))
                    ),
                }
    return found


def pubmed(share: float) -> dict[str, Any]:
    """Find the top 10 of 8.2 million x 141,043 with 730 million entries, in one .npz file of CSR rows."""
    n, d = round(8_200_000 * share), 141_043
    with tempfile.TemporaryDirectory() as folder:
        path, begun = Path(folder) / "pubmed.npz", time.perf_counter()
        entries = write_csr(path, n // PIECES, d, 93)
        found = {"n": n, "d": d, "entries": entries, "bytes": path.stat().st_size}
        return found | {"seconds_writing": time.perf_counter() - begun} | timed("gramian", lambda: fit(path, 10))


CASES: dict[str, tuple[Callable[[float], dict[str, Any]], int | None]] = {
    "sparse": (sparse, 4 * GIGABYTE),
    "bigrams": (bigrams, 4 * GIGABYTE),
    "dask": (dask, None),
    "pubmed": (pubmed, 6 * GIGABYTE),
}
"""Each case and its limit in bytes, the rows in memory counted; processes of a cluster have limits of their own."""


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
    return {"n": X.shape[0], "d": X.shape[1], "entries": X.nnz, "bytes": size}


def timed(name: str, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Run, and add seconds and the highest memory of this process beyond what it held; a failure is a result too."""
    with PeakWatch() as watch:
        begun = time.perf_counter()
        try:
            found = work()
        except Exception as error:  # noqa: BLE001 - what a peer cannot do is shown
            found = {"failed": f"{type(error).__name__}: {error}"[:300]}
        seconds = time.perf_counter() - begun
    return {name: found | {"seconds": seconds, "beyond_bytes": watch.beyond}}


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
    lines = [
        "| case | rows | who | seconds | memory beyond the rows | share of variance | notes |",
        "|---|---|---|---:|---:|---:|---|",
    ]
    for case in CASES:
        result = found["cases"].get(case)
        if result is None or "failed" in result:
            lines.append(f"| {case} | | | | | | {'not run' if result is None else 'failed: ' + result['failed']} |")
            continue
        rows = f"{result['n']:,} x {result['d']:,}, {result['bytes'] / 1e9:.2f} GB"
        part = "" if result["rows_share"] == 1.0 else f"{result['rows_share']:g} of the rows; "
        for who, row in result.items():
            if isinstance(row, dict):
                cells = f"{row['seconds']:.1f} | {row['beyond_bytes'] / 1e9:.2f} GB | {row.get('share', np.nan):.4f}"
                lines.append(f"| {case} | {rows} | {who} | {cells} | {part}{notes(row)} |")
    return "\n".join(lines)


def notes(row: dict[str, Any]) -> str:
    """Return what else there is to say of a fit."""
    said = [row.get("failed") or row.get("note") or ""]
    if "bytes_to_client" in row:
        said.append(f"{row['bytes_to_client'] / 1e6:.1f} MB came to the client")
        said.append(f"workers held {max(row['peak_bytes_of_workers']) / 1e9:.2f} GB at most")
        said.append(f"variances off by {row['largest_relative_error_of_a_variance']:.0e}")
    return "; ".join(said)


def main() -> None:
    """Run the cases named, and write results/giants.json and .md beside what was measured before."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", choices=[*CASES, []])
    parser.add_argument("--inside", choices=CASES)
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--out", default="giants", help="name of the record in benchmarks/results; '' for none")
    parser.add_argument("--timeout", type=float, default=3600.0)
    words = parser.parse_args()
    if words.inside:
        case, limit = CASES[words.inside]
        if limit is not None:
            os.environ["GRAMIAN_MEMORY"] = str(limit)
            resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
        print(json.dumps(case(words.share)))
        return
    from benchmarks import machine

    path = RESULTS / f"{words.out}.json"
    found = json.loads(path.read_text()) if path.exists() else {"cases": {}}
    found["machine"] = machine.describe(["gramian", "scikit-learn", "dask", "distributed"])
    for name in words.cases:
        found["cases"][name] = run_apart(name, words.share, words.timeout) | {"rows_share": words.share}
    print(table(found))
    if words.out:
        path.write_text(json.dumps(found, indent=1) + "\n")
        path.with_suffix(".md").write_text(f"# Giants\n\n{found['machine']['date']}\n\n{table(found)}\n")


if __name__ == "__main__":
    main()
