"""The budget holds for the whole process: fits of files larger than what it may take."""

import json
import os
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from gramian import machine
from gramian.errors import MemoryBudgetError, ParameterError
from gramian.machine import bytes_of, memory_budget
from gramian.sources import as_source, file_rows
from gramian.sources import rows as passes
from gramian.sources.formats.hdf5 import ArrayFile
from gramian.sources.progress import Meter
from tests.files.limited import MAKERS, spectrum
from tests.sources.files import write

BUDGET, LIMIT, TEXT_LIMIT = 64_000_000, 150_000_000, 100_000_000
"""What the fits are told of, and what the kernel lets the process take beyond its start: reserves of allocators and the
stacks of threads count there too, and every file is larger."""
SHAPE, TEXT_ROWS = (125_000, 400), 50_000  # 200 MB of float32; 120 MB of text


def rows_of(n, d):
    """Rows with three strong uniform sources."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(n, 3)) @ (rng.standard_normal((3, d)) * [[3.0], [2.0], [1.0]])
    return np.round(X + 0.1 * rng.standard_normal((n, d)), 3).astype(np.float32)


@pytest.fixture(scope="module", name="X")
def rows():
    """A table of 14 MB."""
    return rows_of(9000, SHAPE[1])


@pytest.fixture(scope="module")
def large():
    """A table of 200 MB."""
    return rows_of(*SHAPE)


@pytest.fixture(scope="module", name="truth")
def in_memory(large):
    """What the methods find in memory: in all rows, and in those that the text has."""
    return {
        n: {name: spectrum(name, make().fit(large[:n])) for name, make in MAKERS.items()}
        for n in (TEXT_ROWS, len(large))
    }


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the kernel's own count of memory is needed")
@pytest.mark.parametrize("kind", ["npy", "parquet", "csv", "hdf5", "zarr"])
def test_fits_within_a_limit_smaller_than_the_file(tmp_path, large, truth, kind):
    """PCA, KernelPCA and ICA, told of 64 MB, fit a larger file under a limit that the kernel enforces, as in memory.

    Rounding is that of float32 rows; test_same_numbers holds float64 to its own.
    """
    n, limit = (TEXT_ROWS, TEXT_LIMIT) if kind == "csv" else (len(large), LIMIT)
    many = 4000 if kind == "parquet" else 1000
    path, warm = write(tmp_path, kind, large[:n], rows=many), write(tmp_path, kind, large[:500], rows=100)
    if path.is_file():
        assert path.stat().st_size > 1.15 * limit
    # An arena that Arrow's or glibc's allocator reserves at the start would count as taken, and hide what is; so would
    # what glibc does not give back once it has raised its threshold for blocks of their own.
    allocators = {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "2", "MALLOC_MMAP_THRESHOLD_": "131072"}
    environment = os.environ | allocators | {"GRAMIAN_MEMORY": str(BUDGET)}
    command = [sys.executable, "-m", "tests.files.limited", str(path), str(warm), str(limit)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    for name, values in truth[n].items():
        np.testing.assert_allclose(found[name], values, rtol=1e-5)
    assert found["whole"].startswith("refused"), "the limit did not bite: reading the file whole went through"


def test_the_environment_sets_the_budget(tmp_path, monkeypatch, X):
    """GRAMIAN_MEMORY sizes windows and is what a plan is held to."""
    monkeypatch.setenv("GRAMIAN_MEMORY", "24MB")
    assert memory_budget() == 24_000_000
    source = as_source(write(tmp_path, "npy", X[:5000]))
    assert source.block(0).rows.nbytes <= 1_000_000
    monkeypatch.setenv("GRAMIAN_MEMORY", "1MB")
    from gramian import PCA

    with pytest.raises(MemoryBudgetError, match=r"memory_budget is 1 MB"):
        PCA(n_components=100).fit(write(tmp_path, "npy", X[:5000]))


def test_a_parquet_group_beyond_the_budget_given_is_refused(tmp_path, X):
    """The budget that is passed counts, and not that of the machine."""
    path = write(tmp_path, "parquet", X[:5000], rows=5000)
    with pytest.raises(MemoryBudgetError, match=r"row groups of 5,000 rows .* the budget is 1\.0 MB") as caught:
        as_source(path, memory_budget=1 << 20)
    assert caught.value.budget == 1 << 20
    assert as_source(path, memory_budget=1 << 30).n_rows == 5000


@pytest.mark.parametrize("kind, what", [("feather", "record batches"), ("hdf5", "chunks"), ("zarr", "chunks")])
def test_what_is_decoded_whole_is_counted(tmp_path, X, kind, what):
    """A batch of Arrow and a chunk of an array cannot be read in part: one beyond the budget is refused, in words."""
    path = write(tmp_path, kind, X[:5000], rows=5000)
    with pytest.raises(MemoryBudgetError, match=f"has {what} of 5,000 rows, .* the budget is 6.0 MB") as caught:
        as_source(path, memory_budget=6 << 20)
    assert caught.value.needed >= X[:5000].nbytes
    assert as_source(path, memory_budget=caught.value.needed).n_rows == 5000
    assert as_source(write(tmp_path, kind, X[:5000], rows=700), memory_budget=24 << 20).n_rows == 5000


@pytest.mark.parametrize("kind", ["feather", "hdf5", "parquet"])
def test_fewer_workers_read_what_all_of_them_could_not(tmp_path, X, kind, monkeypatch):
    """On a machine of many cores a file is refused by what one worker needs, and as many read as have room."""
    for module in (machine, passes, file_rows):
        monkeypatch.setattr(module, "worker_count", lambda: 64)
    path = write(tmp_path, kind, X[:4000], rows=1000)
    budget = 2 * as_source(path, memory_budget=1 << 30).file.worker_bytes
    source, readers = as_source(path, memory_budget=budget), set()

    def fold(state, block):
        readers.add(threading.current_thread())
        return len(block.rows) + (state or 0)

    assert source.reduce(fold, lambda left, right: left + right) == 4000
    assert len(readers) <= 2


@pytest.mark.parametrize("kind", ["hdf5", "zarr"])
def test_a_long_chunk_is_decoded_once_a_pass(tmp_path, X, kind, monkeypatch):
    """Windows smaller than a chunk take their rows from the one that was decoded, whichever row reading begins at."""
    source = as_source(write(tmp_path, kind, X[:9000], rows=2000), memory_budget=24 << 20)
    decoded, kept = [], ArrayFile._decoded
    monkeypatch.setattr(
        ArrayFile, "_decoded", lambda self, array, rows: decoded.append(rows) or kept(self, array, rows)
    )
    windows = source._windows
    assert len(windows) > 10
    np.testing.assert_array_equal(np.concatenate(list(source.file.stream(windows))), X[:9000])
    assert len(decoded) == 5
    some = np.concatenate(list(source.file.stream(windows[1:4])))
    np.testing.assert_array_equal(some, X[windows[1].start : windows[3].stop])


@pytest.mark.parametrize("word", ["", "much", "-3GB", "1..2GB", "0"])
def test_a_size_that_is_none_is_refused(word):
    """What is no size is refused in a sentence."""
    with pytest.raises(ParameterError, match="is no size of memory"):
        bytes_of(word)


def test_progress_tells_rate_and_time_left(tmp_path, X, monkeypatch):
    """While a file is read, sentences tell the part done, the rate and the time left."""
    said = []
    source = as_source(write(tmp_path, "npy", X[:5000]), memory_budget=6_000_000, progress=said.append)
    meter = Meter(said.append, "x.npy", 5000, 8_000_000, every=0.0)
    meter.add(2500)
    assert said[0].startswith("x.npy: 50% of 5,000 rows read, ")
    assert said[0].endswith(" left")
    assert "MB/s" in said[0]
    said.clear()
    monkeypatch.setattr(file_rows, "Meter", partial(Meter, every=0.0))
    source.reduce(lambda _state, block: block.start, lambda _left, right: right)
    assert len(said) == source.n_blocks > 1
    assert "x.npy: 100% of 5,000 rows read" in said[-1]
