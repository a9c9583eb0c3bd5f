"""Every kernel that scikit-learn has gives scikit-learn's matrix."""

import numpy as np
import pytest
from scipy import sparse

from gramian.kernels import Cosine
from tests.kernels.catalog import NOT_NEGATIVE, REFERENCES, SPARSE, rows


def named(pairs):
    """Parametrize over kernels, each shown by its name and parameters."""
    return pytest.mark.parametrize("kernel, reference", pairs, ids=[repr(kernel) for kernel, _ in pairs])


@named(REFERENCES)
@pytest.mark.parametrize("n, m, d", [(1, 1, 1), (9, 4, 3), (150, 70, 20)])
def test_matrix_is_that_of_scikit_learn(kernel, reference, n, m, d):
    """Square and rectangular matrices agree entry by entry."""
    rng = np.random.default_rng([n, m, d])
    X, Y = rng.standard_normal((n, d)), rng.standard_normal((m, d)) + 0.5
    size = np.abs(reference(X)).max()
    np.testing.assert_allclose(kernel(X, Y), reference(X, Y), rtol=1e-12, atol=1e-13 * size)
    np.testing.assert_allclose(kernel(X), reference(X), rtol=1e-12, atol=1e-13 * size)


@named(NOT_NEGATIVE)
@pytest.mark.parametrize("n, d, seed", [(1, 1, 0), (30, 3, 1), (140, 25, 2)])
def test_histograms_are_compared_as_scikit_learn_does(kernel, reference, n, d, seed):
    """Zeros included, also where both rows have them."""
    X, Y = rows(n, d, seed=seed), rows(n + 3, d, seed=seed)
    X[:, ::3][X[:, ::3] < 1.0] = 0.0
    Y[:, ::3] = 0.0
    np.testing.assert_allclose(kernel(X, Y), reference(X, Y), rtol=1e-12)
    np.testing.assert_allclose(kernel(X), reference(X), rtol=1e-12)


@named(SPARSE)
@pytest.mark.parametrize("d, density", [(12, 0.4), (900, 0.01)])
def test_sparse_rows_give_the_matrix_of_the_dense_ones(kernel, reference, d, density):
    """CSR, CSC and COO, matrices and arrays."""
    X = sparse.random(60, d, density=density, format="csr", random_state=d)
    Y = sparse.random(25, d, density=density, format="csr", random_state=d + 1)
    dense = reference(X.toarray(), Y.toarray())
    np.testing.assert_allclose(kernel(X, Y), dense, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(kernel(X.tocsc(), sparse.coo_array(Y)), dense, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(kernel(X), reference(X.toarray()), rtol=1e-12, atol=1e-14)


@named(SPARSE)
def test_sparse_blocks_stay_sparse(kernel, reference):
    """A block of 40 rows with ten million columns is prepared and multiplied in next to no memory."""
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 10_000_000, 400)
    X = sparse.csr_array((rng.standard_normal(400), (np.repeat(np.arange(40), 10), columns)), shape=(40, 10_000_000))
    used = np.unique(columns)
    kept = X.tocsc()[:, used].toarray()
    assert kept.shape[1] <= 400
    if getattr(kernel, "gamma", 1.0) is None:
        pytest.skip("1/d is not the same for the columns kept")
    ready = kernel.prepare(X, dtype=X.dtype)
    np.testing.assert_allclose(kernel.evaluate(ready, ready), reference(kept), rtol=1e-12, atol=1e-13)


def test_cosine_of_a_zero_row_is_zero():
    """As in scikit-learn, and in the diagonal too."""
    X = np.array([[0.0, 0.0], [3.0, 4.0]])
    assert np.array_equal(Cosine()(X), [[0.0, 0.0], [0.0, 1.0]])
    assert np.array_equal(Cosine().diagonal(X), [0.0, 1.0])
    assert np.array_equal(Cosine().diagonal(sparse.csr_array(X)), [0.0, 1.0])
