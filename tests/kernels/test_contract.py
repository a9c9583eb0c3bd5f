"""What must hold for every kernel: tiles, diagonals, types, and that it is a value."""

import numpy as np
import pytest

from gramian.kernels import (
    BlockKernel,
    DataFacts,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    PointKernel,
    Polynomial,
    Precomputed,
    Sigmoid,
)
from gramian.testing import KernelSuite
from tests.kernels.catalog import KERNELS, cauchy, histogram, rows


class TestKernels(KernelSuite):
    """The suite that anyone can run on a kernel of their own, on every kernel here."""

    @pytest.fixture(autouse=True, params=KERNELS, ids=repr)
    def _kernel(self, request):
        self.kernel = request.param.resolved(DataFacts(6, 1.0, lambda: 1.0))

    def make_kernel(self):
        """Return one of the catalog."""
        return self.kernel


def test_what_is_not_known_to_be_positive_semidefinite_says_so():
    """A negative coef0, a degree that is not whole, tanh, and a user's function."""
    kernels = (Polynomial(coef0=-1), Polynomial(2.5), Sigmoid(), PointKernel(histogram), Linear() + Sigmoid())
    assert not any(kernel.is_psd for kernel in (*kernels, Gaussian() * Sigmoid(), 2 * Sigmoid(), Precomputed()))


@pytest.mark.parametrize(
    "kernel, text",
    [
        (Gaussian(sigma=1.0), "Gaussian(gamma=0.5)"),
        (Gaussian(np.float32(0.5)), "Gaussian(gamma=0.5)"),
        (Laplacian("median"), "Laplacian(gamma='median')"),
        (Matern(2.5, length_scale=1), "Matern(nu=2.5, gamma=0.5)"),
        (Polynomial(2.0), "Polynomial(degree=2, gamma=None, coef0=1.0)"),
        (Linear() + 2 * Linear() * Gaussian(1), "Linear() + (2.0 * Linear()) * Gaussian(gamma=1.0)"),
        (2 * (Linear() + Gaussian(1)), "2.0 * (Linear() + Gaussian(gamma=1.0))"),
        (PointKernel(histogram, psd=True), "PointKernel(histogram, psd=True)"),
        (BlockKernel(cauchy, {"scale": 2}, sparse=True), "BlockKernel(cauchy, parameters={'scale': 2}, sparse=True)"),
    ],
)
def test_kernel_prints_as_it_is_written(kernel, text):
    """A kernel shows its parameters; a combination shows itself as a formula."""
    assert repr(kernel) == text


def test_torch_rows_give_the_same_numbers():
    """Kernels that are products and functions of entries follow the array's library."""
    torch = pytest.importorskip("torch")
    X = rows(30, 4, seed=8)
    for kernel in KERNELS[:9]:
        if isinstance(kernel, Laplacian):
            continue
        ours = kernel(torch.asarray(X))
        assert isinstance(ours, torch.Tensor)
        np.testing.assert_allclose(ours.numpy(), kernel(X), rtol=1e-7)
        np.testing.assert_allclose(kernel.diagonal(torch.asarray(X)), kernel.diagonal(X), rtol=1e-12)
