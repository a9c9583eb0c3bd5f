import numpy as np
import pytest
import scipy.sparse as sp

from gramian import kernels
from gramian.errors import ParameterError
from gramian.models.kernel_pca.fit import fit_kernel_pca
from gramian.models.kernel_pca.model import KernelPCAOptions
from gramian.sources.opening import as_source

F = (1.0, 0.01, 3.0)
X = np.random.default_rng(0).standard_normal((50, 3)) * [1.0, 100.0, 0.3] + 4.0


@pytest.mark.parametrize(
    "kernel", [kernels.Gaussian(0.3), kernels.Linear(), kernels.Polynomial(2, 0.5), kernels.Laplacian(0.2)]
)
def test_kernel_pca_of_the_scaled_table(kernel):
    """Kernel PCA with a stretched kernel is kernel PCA of the stretched rows, also of new ones."""
    model = fit_kernel_pca(as_source(X), KernelPCAOptions(3, kernels.Stretched(kernel, F)))
    scaled = fit_kernel_pca(as_source(X * F), KernelPCAOptions(3, kernel))
    assert np.allclose(model.eigenvalues, scaled.eigenvalues)
    assert np.allclose(np.abs(model.project(X[:7] + 1)), np.abs(scaled.project((X[:7] + 1) * F)), atol=1e-8)


def test_sparse_rows_stay_sparse_and_agree():
    """Sparse rows give the kernel of dense ones."""
    rows = sp.random_array((20, 3), density=0.5, rng=0, format="csr")
    kernel = kernels.Stretched(kernels.Gaussian(0.4), F)
    assert np.allclose(kernel(rows), kernel(rows.toarray()))


def test_wrong_factors_are_refused():
    """One finite factor a column."""
    with pytest.raises(ParameterError, match="finite"):
        kernels.Stretched(kernels.Linear(), (1.0, np.inf))
    with pytest.raises(ParameterError, match="2 columns, and the rows have 3"):
        fit_kernel_pca(as_source(X), KernelPCAOptions(2, kernels.Stretched(kernels.Gaussian(0.1), (1.0, 2.0))))
