"""Kernel PCA and PCA of rows on a device: what NumPy says, made where the rows are."""

import sys

import numpy as np
import pytest

from gramian import PCA, KernelPCA
from gramian.eigen.certificate import check_rounding, measured_residuals, none_above
from gramian.eigen.direct import Direct
from gramian.errors import MemoryBudgetError
from gramian.kernels import Gaussian, Laplacian, Polynomial
from gramian.models.kernel_pca.fit import fit_kernel_pca
from gramian.models.kernel_pca.model import KernelPCAOptions
from gramian.operators.symmetric import DenseMatrix
from gramian.sources import as_source
from gramian.testing import symmetric_with_spectrum

torch = pytest.importorskip("torch", reason="a tensor passes for one on a device")

HERE = torch.device("cuda" if torch.cuda.is_available() else "cpu")

KERNELS = [Gaussian("median"), Laplacian("median"), Polynomial(3)]


@pytest.fixture(params=["fused", "blocks"])
def tiles(request, monkeypatch):
    """Tiles of the fused kernel, and those of arrays, which are used where there is no Triton."""
    if request.param == "blocks":
        monkeypatch.setitem(sys.modules, "gramian.kernels.fused", None)
        import gramian.kernels

        monkeypatch.delattr(gramian.kernels, "fused", raising=False)
    else:
        pytest.importorskip("triton", reason="the fused kernel is written in Triton")
    return request.param


def on_device(X):
    """Return a tensor on the GPU; where there is none, one that passes for it, in the host's memory."""
    return torch.from_numpy(X).to(HERE)


def rows_of(n, d, *, seed=0):
    """Return rows in four groups, of a spectrum that falls."""
    rng = np.random.default_rng(seed)
    return rng.normal(0.0, 3.0, (4, d))[rng.integers(0, 4, n)] + rng.standard_normal((n, d)) / (1 + np.arange(d))


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_kernel_pca_is_what_numpy_says(kernel, weighted, tiles):
    """Its eigenvalues, and the space of its vectors, to the tolerance; its certificate is kept by the truth."""
    del tiles
    X, k = rows_of(420, 5), 4
    weights = np.random.default_rng(1).integers(1, 4, len(X)).astype(float) if weighted else None
    options = KernelPCAOptions(k, kernel, tol=1e-8, way="tiled")
    there = fit_kernel_pca(as_source(on_device(X), weights=weights), options)
    here = fit_kernel_pca(as_source(X, weights=weights), KernelPCAOptions(k, there.kernel, tol=1e-10, way="dense"))
    top = here.eigenvalues[0]
    assert np.abs(there.eigenvalues - here.eigenvalues).max() <= 1e-8 * top
    for line, true in zip(there.certificate.lines, here.eigenvalues, strict=True):
        assert abs(line.value - true) <= line.quadratic_bound + 1e-13 * top
    angles = np.linalg.svd(np.asarray(there.vectors).T @ here.vectors)[1]
    assert angles.min() >= 1 - 1e-6


@pytest.mark.parametrize("way", ["tiled", "dense"])
def test_rows_of_kernel_pca_stay_on_the_device(device, way, tiles):
    """No copy has half as many numbers as they have: a sample of them, the vectors; for a dense solve the matrix."""
    del tiles
    n, d, k = 1200 if way == "tiled" else 300, 40, 3
    fit_kernel_pca(as_source(on_device(rows_of(n, d))), KernelPCAOptions(k, Gaussian(0.02), tol=1e-5, way=way))
    assert max(device) < (n * d // 2 if way == "tiled" else n * n + 1)


@pytest.mark.parametrize("n, d, k", [(5000, 6, None), (3000, 40, 3), (30, 2000, 5)])
def test_pca_on_a_device_copies_the_small_problem_alone(device, n, d, k):
    """A few matrices of the smaller side reach the host; of wide rows nothing that has their columns."""
    X = rows_of(n, d)
    there = PCA(k).fit(on_device(X))
    m = min(n, d)
    assert sum(device) <= 4 * m * m + 12 * d
    assert d == m or max(device) < d
    assert sum(device) <= X.size / 2
    np.testing.assert_allclose(there.singular_values_.cpu().numpy(), PCA(k).fit(X).singular_values_, rtol=1e-10)
    np.testing.assert_allclose(
        np.abs(there.transform(on_device(X)).cpu().numpy()), np.abs(PCA(k).fit_transform(X)), atol=1e-8
    )


def test_a_fit_without_room_on_the_device_is_refused(device, monkeypatch):
    """Before any work, by what is free there and not on the host."""
    monkeypatch.setattr("gramian.models.kernel_pca.fit.free_bytes", lambda _like: 1_000_000)
    rows = on_device(rows_of(5000, 3))
    with pytest.raises(MemoryBudgetError, match=r"5,000 rows with 4 components needs .* and memory_budget is 1 MB"):
        fit_kernel_pca(as_source(rows), KernelPCAOptions(4, Gaussian(0.1)))
    assert len(device) < 20


@pytest.mark.parametrize("kernel", ["rbf", "poly", "laplacian", "cosine"])
def test_scores_are_made_on_the_device(device, kernel):
    """New rows are scored as NumPy's are, and only what is summed for each of them crosses."""
    X, new, k = rows_of(200, 30), rows_of(50, 30, seed=1), 2
    there, here = (KernelPCA(k, kernel=kernel, gamma=0.1).fit(rows) for rows in (on_device(X), X))
    device.clear()
    scores = there.transform(on_device(new))
    assert isinstance(scores, torch.Tensor)
    assert max(device) <= (k + 1) * len(new)
    size = np.abs(here.transform(X)).max()
    np.testing.assert_allclose(scores.cpu().numpy(), here.transform(new), atol=1e-6 * size)


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("m", [20, 300])
def test_the_check_for_missed_eigenvalues_holds_on_a_device(m, seed):
    """It passes within its bound above an eigenvalue, and never below one; a missed pair is seen."""
    A = symmetric_with_spectrum(np.random.default_rng(seed).uniform(0.0, 1.0, m), seed=seed)[0]
    values, V = (part[..., ::-1].copy() for part in np.linalg.eigh(A))
    there, k = on_device(A), 5
    bound = check_rounding(float(np.trace(A)), values[:k], float(values[k]), m)
    pairs = values[:k], on_device(V[:, :k].copy())
    assert none_above(there, *pairs, values[k] + 3 * bound)
    assert not none_above(there, *pairs, values[k])
    missed = np.array([0, 1, 3, 4])
    assert not none_above(there, values[missed], on_device(V[:, missed].copy()), float(values[2]) - bound)


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("k", [3, 290])
def test_a_matrix_on_a_device_is_solved_there(k):
    """Pairs, residuals and order are NumPy's."""
    A = symmetric_with_spectrum(np.geomspace(10.0, 1e-2, 300), seed=2)[0]
    there, here = (Direct().solve(DenseMatrix(matrix), k) for matrix in (on_device(A), A))
    assert isinstance(there.vectors, torch.Tensor)
    np.testing.assert_allclose(there.values, here.values, rtol=1e-12)
    residuals = measured_residuals(on_device(A), there.values, there.vectors, seed=0)
    assert residuals.max() <= 1e-12
