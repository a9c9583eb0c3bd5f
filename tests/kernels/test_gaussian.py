"""The Gaussian kernel: against scikit-learn, far from the origin, in float32."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from gramian.kernels import Gaussian

FLOAT32 = np.dtype(np.float32)


@pytest.mark.parametrize("n, m, d", [(1, 1, 1), (7, 5, 3), (120, 90, 50)])
@pytest.mark.parametrize("gamma", [0.0, 0.02, 1.5])
def test_gaussian_is_that_of_scikit_learn(n, m, d, gamma):
    """Rectangular and square matrices agree to rounding."""
    rng = np.random.default_rng(n + d)
    X, Y = rng.standard_normal((n, d)), rng.standard_normal((m, d))
    kernel = Gaussian(gamma)
    np.testing.assert_allclose(kernel(X, Y), rbf_kernel(X, Y, gamma=gamma), rtol=1e-12, atol=0)
    np.testing.assert_allclose(kernel(X), rbf_kernel(X, gamma=gamma), rtol=1e-12, atol=0)


def test_sparse_rows_give_the_same_matrix():
    """CSR rows are used as they are."""
    X = sparse.random(60, 500, density=0.03, format="csr", random_state=1)
    np.testing.assert_allclose(Gaussian(0.1)(X), Gaussian(0.1)(X.toarray()), rtol=1e-12)


@pytest.mark.parametrize("seed", [0, 1])
def test_float32_tile_is_accurate(seed):
    """A float32 tile is within 3e-7 of the float64 one, entry by entry."""
    X = np.random.default_rng(seed).standard_normal((200, 50))
    kernel = Gaussian(0.01)
    ready = kernel.prepare(X, dtype=FLOAT32)
    tile = kernel.evaluate(ready, ready)
    assert tile.dtype == FLOAT32
    np.testing.assert_allclose(tile, kernel(X), rtol=5e-7)
