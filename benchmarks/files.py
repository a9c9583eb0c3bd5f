"""PCA of a file larger than its memory limit: ``python -m benchmarks.files [--rows N] [--folder DIR]``.

One million rows of one thousand float32 numbers (4 GB), k = 20, as .npy and as Parquet (row groups of 10,000 rows).
Every measurement runs in a process of its own; those of Gramian under a hard limit (RLIMIT_DATA) of 1.5 GB beyond what
the process has at its start. Beside them, in the same run: reading the file once; the SYRK of its rows, from memory;
decoding the Parquet file; and scikit-learn's IncrementalPCA. The file was written just before, so that it lies in the
system's cache where that is large enough: the table says how much of it does. Errors are those against a scatter in
float64.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import resource
import shutil
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from scipy.linalg import blas, eigh, subspace_angles

from benchmarks import machine
from benchmarks.isolate import call_apart
from benchmarks.kernel_pca.plain import cores
from benchmarks.resident import PeakWatch

COLUMNS, K = 1000, 20
STEP = 10_000
LIMIT = 1_500_000_000
RESULTS = Path(__file__).parent / "results"
TIMEOUT = 900.0
LOADED = ("gramian.estimators.pca", "pyarrow.parquet", "pyarrow.compute", "sklearn.decomposition", "scipy.linalg")
"""Loaded before any measurement: what they take belongs to the start of every process."""


@dataclass
class Row:
    """What was measured: wall and processor seconds, peak memory beyond the start, and the errors of the answer."""

    what: str
    seconds: float
    processor: float
    megabytes: float
    angle: float | None = None
    values: float | None = None
    note: str = ""


BLOCKS: list[np.ndarray] = []
"""Half a gigabyte of rows for the SYRK, made before it is timed and dropped before Gramian is."""


def write_rows(folder: Path, n: int) -> tuple[Path, Path]:
    """Write the same seeded rows as .npy and as Parquet: twenty directions of falling size, noise, and a mean."""
    import pyarrow as pa
    from pyarrow import parquet

    rng = np.random.default_rng(0)
    loadings = (np.linalg.qr(rng.standard_normal((COLUMNS, K)))[0] * np.geomspace(10, 2, K)).T.astype(np.float32)
    mean = (5 * rng.standard_normal(COLUMNS)).astype(np.float32)
    names = [f"c{j}" for j in range(COLUMNS)]
    npy, pq = folder / "rows.npy", folder / "rows.parquet"
    schema = pa.schema([(name, pa.float32()) for name in names])
    with npy.open("wb") as file, parquet.ParquetWriter(pq, schema, use_dictionary=False) as writer:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": (n, COLUMNS)})
        for start in range(0, n, STEP):
            count = min(STEP, n - start)
            rows = rng.standard_normal((count, K), dtype=np.float32) @ loadings + mean
            rows += rng.standard_normal((count, COLUMNS), dtype=np.float32)
            file.write(rows.data)
            columns = [pa.array(column) for column in np.ascontiguousarray(rows.T)]
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))
    return npy, pq


def exact_pairs(npy: Path, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the leading variances and components from a scatter about the mean, in float64 throughout."""
    X = np.load(npy, mmap_mode="r")
    mean = sum(X[i : i + STEP].sum(axis=0, dtype=np.float64) for i in range(0, n, STEP)) / n
    scatter = np.zeros((COLUMNS, COLUMNS), order="F")
    for i in range(0, n, STEP):
        blas.dsyrk(1.0, (X[i : i + STEP] - mean).T, beta=1.0, c=scatter, lower=1, overwrite_c=1)
    values, vectors = eigh(scatter / (n - 1), lower=True, subset_by_index=[COLUMNS - K, COLUMNS - 1])
    return values[::-1], vectors[:, ::-1]


def read_once(npy: Path) -> None:
    """Read a file from end to end in pieces of 8 MB."""
    buffer = bytearray(8 << 20)
    with npy.open("rb", buffering=0) as file:
        while file.readinto(buffer):
            pass


def multiply(n: int, threads: int) -> None:
    """Make the SYRK of n rows in blocks of 8,192, all cores on each, or a worker a core, from half a gigabyte.

    Workers use NumPy's product, which knows that it is symmetric: SciPy's keeps other threads of Python waiting.
    """
    from concurrent.futures import ThreadPoolExecutor

    from threadpoolctl import threadpool_limits

    rows = BLOCKS[0]

    count = -(-n // 8192)
    total = np.zeros((COLUMNS, COLUMNS), dtype=np.float32, order="F")
    if threads == 1:
        for i in range(count):
            blas.ssyrk(1.0, rows[i % 16].T, beta=1.0, c=total, lower=1, overwrite_c=1)
        return

    def work(blocks: range) -> None:
        own = np.zeros((COLUMNS, COLUMNS), dtype=np.float32)
        for i in blocks:
            own += rows[i % 16].T @ rows[i % 16]

    with threadpool_limits(1), ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, [range(w, count, threads) for w in range(threads)]))


def decode(path: Path, threads: int) -> None:
    """Decode every row group into rows by pyarrow alone, a thread a core, and do nothing with them."""
    from concurrent.futures import ThreadPoolExecutor

    from pyarrow import parquet

    def work(groups: range) -> None:
        with parquet.ParquetFile(path, pre_buffer=False) as file:
            for group in groups:
                for batch in file.iter_batches(batch_size=STEP // 2, row_groups=[group], use_threads=False):
                    batch.to_tensor(row_major=False)

    with parquet.ParquetFile(path) as file:
        count = file.num_row_groups
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, [range(w, count, threads) for w in range(threads)]))


def fit_gramian(path: Path, limit: int) -> Any:
    """Fit Gramian's PCA under the limit."""
    from gramian import PCA

    os.environ["GRAMIAN_MEMORY"] = str(limit)
    most = _data_size() + limit
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    model = PCA(n_components=K).fit(path)
    return model.explained_variance_, model.components_.T


def fit_incremental(npy: Path) -> Any:
    """Fit scikit-learn's IncrementalPCA to all rows, batch by batch (its own size of batch: five times the columns)."""
    from sklearn.decomposition import IncrementalPCA

    X = np.load(npy, mmap_mode="r")
    model = IncrementalPCA(n_components=K)
    for start in range(0, len(X), 5 * COLUMNS):
        model.partial_fit(X[start : start + 5 * COLUMNS])
    return model.explained_variance_, model.components_.T


def measured(work: Any, *arguments: Any) -> dict[str, Any]:
    """Do some work; return its result, seconds, processor seconds and peak memory."""
    with PeakWatch() as watch:
        wall, used = perf_counter(), process_time()
        found = work(*arguments)
        wall, used = perf_counter() - wall, process_time() - used
    return {"found": found, "seconds": wall, "processor": used, "megabytes": watch.beyond / 1e6}


def row_of(what: str, work: Any, *arguments: Any, truth: Any = None) -> Row:
    """Measure some work in a process of its own."""
    outcome = call_apart(measured, work, *arguments, timeout=TIMEOUT)
    if outcome.failure is not None:
        print(f"{what}: {outcome.failure}", flush=True)
        return Row(what, float("nan"), float("nan"), float("nan"), note=outcome.failure)
    value = outcome.value
    row = Row(what, value["seconds"], value["processor"], value["megabytes"])
    if truth is not None:
        values, vectors = value["found"]
        row.angle = float(np.sin(subspace_angles(vectors.astype(np.float64), truth[1])).max())
        row.values = float(np.abs(values / truth[0] - 1).max())
    print(f"{what}: {row.seconds:.1f} s, {row.megabytes:,.0f} MB, angle {row.angle}, values {row.values}", flush=True)
    return row


def run(folder: Path, n: int, limit: int) -> dict[str, Any]:
    """Write the files and measure everything."""
    for name in LOADED:
        importlib.import_module(name)
    npy, pq = call_apart(write_rows, folder, n, timeout=TIMEOUT).value
    print(f"written: {npy.stat().st_size / 1e9:.2f} and {pq.stat().st_size / 1e9:.2f} GB", flush=True)
    truth = call_apart(exact_pairs, npy, n, timeout=TIMEOUT).value
    BLOCKS.append(np.random.default_rng(0).standard_normal((16, 8192, COLUMNS), dtype=np.float32))
    rows = [
        row_of("SYRK, threaded BLAS", multiply, n, 1),
        row_of("SYRK, a worker a core", multiply, n, cores()),
    ]
    BLOCKS.clear()
    rows += [
        row_of("read the .npy once", read_once, npy),
        row_of("Gramian, .npy", fit_gramian, npy, limit, truth=truth),
        row_of("decode the Parquet", decode, pq, cores()),
        row_of("Gramian, Parquet", fit_gramian, pq, limit, truth=truth),
        row_of("Gramian, .npy, again", fit_gramian, npy, limit, truth=truth),
        row_of("scikit-learn IncrementalPCA, .npy", fit_incremental, npy, truth=truth),
    ]
    return {
        "machine": machine.describe(["gramian", "scikit-learn", "pyarrow"]),
        "rows": n,
        "columns": COLUMNS,
        "cached": _cached(npy),
        "limit": limit,
        "workers": cores(),
        "measured": [asdict(row) for row in rows],
        "verdicts": verdicts(rows),
    }


def verdicts(rows: list[Row]) -> dict[str, float]:
    """Return the ratios that are promised: at most 1.3, at most 1.3, at least 10."""
    by = {row.what: row for row in rows}
    syrk = min(by["SYRK, threaded BLAS"], by["SYRK, a worker a core"], key=lambda row: row.seconds)
    floor = max(by["read the .npy once"].seconds, syrk.seconds)
    npy = min(by["Gramian, .npy"].seconds, by["Gramian, .npy, again"].seconds)
    work = (by["decode the Parquet"].processor + syrk.processor) / (cores())
    return {
        ".npy over the larger of reading and SYRK": npy / floor,
        "Parquet over (decoding + SYRK) / cores": by["Gramian, Parquet"].seconds / work,
        "IncrementalPCA over Gramian": by["scikit-learn IncrementalPCA, .npy"].seconds / npy,
    }


def table(found: dict[str, Any]) -> str:
    """Return the results as Markdown."""
    head = f"{found['rows']:,} x {found['columns']:,} float32, k = {K}, limit {found['limit'] / 1e9:.1f} GB"
    head += f", on {found['workers']} cores" if found["workers"] > 1 else ", on one core"
    lines = [
        "# PCA of a file larger than its limit",
        "",
        f"{head}. {found['cached']:.0%} of the .npy file lay in the system's cache. {machine_line(found['machine'])}",
        "",
        "| | seconds | processor seconds | peak MB | sine of the angle | relative error of variances |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for row in found["measured"]:
        errors = ["" if row[name] is None else f"{row[name]:.0e}" for name in ("angle", "values")]
        note = f" ({row['note']})" if row["note"] else ""
        lines.append(
            f"| {row['what']}{note} | {row['seconds']:.1f} | {row['processor']:.1f} | {row['megabytes']:,.0f} | "
            f"{errors[0]} | {errors[1]} |"
        )
    lines += ["", *(f"- {what}: {ratio:.2f}" for what, ratio in found["verdicts"].items()), ""]
    return "\n".join(lines)


def machine_line(described: Any) -> str:
    """Return the machine in a line."""
    return ", ".join(f"{name} {value}" for name, value in described.items() if isinstance(value, str | int | float))


def _cached(path: Path) -> float:
    """Return the share of a file that lies in the system's cache, as ``fincore`` tells; nan where it is not there."""
    import subprocess

    tool = shutil.which("fincore")
    if tool is None:
        return float("nan")
    told = subprocess.run([tool, "-b", "-n", "-o", "RES", str(path)], capture_output=True, text=True, check=True)
    return int(told.stdout.split()[0]) / path.stat().st_size


def _data_size() -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmData")) * 1024


def main() -> None:
    """Run, print, and write the record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--folder", default=None, help="where the files are made; 8.5 GB for a million rows")
    parser.add_argument("--limit", type=int, default=LIMIT, help="bytes beyond the start of the process")
    parser.add_argument("--out", default="files", help="name of the record in benchmarks/results; '' for none")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="files-", dir=options.folder))
    try:
        found = run(folder, options.rows, options.limit)
    finally:
        shutil.rmtree(folder)
    print(table(found))
    if options.out:
        (RESULTS / f"{options.out}.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        (RESULTS / f"{options.out}.md").write_text(table(found), encoding="utf-8")


if __name__ == "__main__":
    main()
