"""Rows on a GPU are never copied to the host unasked: what cannot be done there is refused before any work."""

from types import SimpleNamespace

import numpy as np
import pytest

from gramian import KernelPCA
from gramian.errors import NotSupportedError
from gramian.kernels import Gaussian
from gramian.kernels.blocks import on_host, require_same_device
from gramian.models.kernel_pca.fit import fit_kernel_pca
from gramian.models.kernel_pca.model import KernelPCAOptions
from gramian.sources.dense import DenseRows


class GpuRows(DenseRows):
    """Rows that say they are on a GPU, and that nobody may read."""

    def like(self):
        """Return an array of the device."""
        return SimpleNamespace(device="cuda:0")

    def block(self, _i):
        """Fail: rows were touched."""
        pytest.fail("rows on a GPU were read")


@pytest.mark.parametrize("options", [{"landmarks": 3}])
def test_rows_on_a_gpu_are_refused_before_work(options):
    """With the device and what to do, where a fit would be made on the host."""
    rows = GpuRows(np.ones((9, 2)))
    with pytest.raises(NotSupportedError, match=r"computes on the CPU, and these rows are on cuda:0.*pass X.cpu\(\)"):
        fit_kernel_pca(rows, KernelPCAOptions(2, Gaussian(0.5), **options))


def test_new_rows_on_a_gpu_are_refused():
    """By what every tile is made from."""
    with pytest.raises(NotSupportedError, match=r"on cuda:1.*X.get\(\) \(CuPy\)"):
        on_host(SimpleNamespace(device="cuda:1"))


def test_rows_on_another_device_than_those_of_the_fit_are_refused():
    """With both named."""
    here, there = (SimpleNamespace(device=f"cuda:{i}") for i in (0, 1))
    require_same_device(here, here)
    with pytest.raises(NotSupportedError, match=r"on cuda:0, and the model was fitted on rows on cuda:1\. Move"):
        require_same_device(here, there)


def test_torch_on_the_cpu_is_taken():
    """Its rows are the host's memory, and scores come back as a tensor."""
    torch = pytest.importorskip("torch")
    X = np.random.default_rng(0).standard_normal((30, 2))
    scores = KernelPCA(2, kernel="rbf").fit_transform(torch.from_numpy(X))
    assert isinstance(scores, torch.Tensor)
    np.testing.assert_allclose(scores.numpy(), KernelPCA(2, kernel="rbf").fit_transform(X), atol=1e-12)
