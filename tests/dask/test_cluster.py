"""A cluster of processes: the same answer when a worker dies, a sentence when the scheduler does, few bytes home."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gramian import ICA, PCA, KernelPCA
from gramian.cli.exits import CLUSTER
from gramian.testing import largest_angle

distributed = pytest.importorskip("distributed")

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from chunks_on_disk import dask_array, write_chunks  # noqa: E402 - found beside this file, as workers find it

# Processes that are killed leave sockets behind, which is what is tested.
pytestmark = [pytest.mark.filterwarnings("ignore::ResourceWarning"), pytest.mark.slow]


@pytest.fixture(scope="module")
def client():
    """Two workers, each a process, found by a client."""
    path = f"{HERE}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0", env={"PYTHONPATH": path}
        ) as cluster,
        distributed.Client(cluster) as connected,
    ):
        yield connected


@pytest.fixture
def gathered(monkeypatch):
    """The size of every result that comes to the client."""
    sizes = []
    gather = distributed.Client.gather

    def counted(self, futures, **options):
        results = gather(self, futures, **options)
        sizes.append(distributed.protocol.serialize(results)[1])
        sizes[-1] = sum(memoryview(frame).nbytes for frame in sizes[-1])
        return results

    monkeypatch.setattr(distributed.Client, "gather", counted)
    return sizes


def _rows(n, d, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d)) * np.geomspace(5.0, 0.5, d) + 1.0


@pytest.mark.parametrize("model", [PCA(3), PCA(3, svd_solver="krylov")], ids=["one-pass", "many-passes"])
def test_a_worker_killed_in_the_middle_changes_nothing(client, tmp_path, model):
    """The chunks that it held are read again by others, and the answer is that of memory."""
    X = _rows(600, 100)
    write_chunks(tmp_path, X, 6)
    lazy = dask_array(tmp_path, X.shape, 6, victim=-1, after=5 if model.svd_solver == "auto" else 17)
    model.fit(lazy)
    assert (tmp_path / "killed").exists()
    memory = PCA(3).fit(X)
    np.testing.assert_allclose(model.explained_variance_, memory.explained_variance_, rtol=1e-9)
    assert largest_angle(model.components_.T, memory.components_.T) < 1e-6
    client.wait_for_workers(2)


def test_a_worker_killed_in_exact_kernel_pca_changes_nothing(client, tmp_path):
    """Pairs of chunks that were lost with it are done again."""
    X = _rows(300, 4)
    write_chunks(tmp_path, X, 3)
    how = {"kernel": "rbf", "gamma": 0.05, "eigen_solver": "tiled"}
    chunked = KernelPCA(3, **how).fit(dask_array(tmp_path, X.shape, 3, victim=-1, after=20))
    assert (tmp_path / "killed").exists()
    np.testing.assert_allclose(chunked.eigenvalues_, KernelPCA(3, **how).fit(X).eigenvalues_, rtol=1e-6)
    client.wait_for_workers(2)


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("n", [20_000, 80_000])
def test_only_small_matrices_come_to_the_client(n, gathered, tmp_path):
    """What a fit brings home does not grow with the rows: moments, products of d x k, and a sample of 1,024 rows."""
    d, k = 20, 3
    X = _rows(n, d)
    write_chunks(tmp_path, X, 8)
    lazy = dask_array(tmp_path, X.shape, 8)
    PCA(k).fit(lazy)
    sample, matrix = 8 * 1024 * d, 8 * d * d
    assert sum(gathered) < 1.2 * sample + 20 * matrix
    gathered.clear()
    ICA(k, tol=1e-4, independence=False).fit(lazy)
    white_sample = 8 * 5000 * k
    assert sum(gathered) < 1.2 * (sample + white_sample) + 100 * matrix
    gathered.clear()
    landmarks = 50
    KernelPCA(k, kernel="rbf", gamma=0.02, landmarks=landmarks).fit(lazy)
    vectors = 8 * n * (k + 1)
    assert sum(gathered) < vectors + 2_000_000  # eigenvectors_ has a row for each row of the fit


def test_a_lost_scheduler_is_a_sentence(tmp_path):
    """The fit neither hangs nor ends in an error of somebody else's; the command line has a code for it."""
    command = [sys.executable, str(HERE / "lost_scheduler.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    said = re.search(r"The Dask cluster is lost: .*connect a new Client, and fit again", done.stdout)
    assert said, done.stdout + done.stderr
    assert done.returncode == CLUSTER
