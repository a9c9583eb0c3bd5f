"""H K H has one home: the matrix, new rows and vectors over weighted rows are centered about one mean."""

import numpy as np
import pytest

from gramian.kernels import Gaussian, Polynomial
from gramian.kernels.centering import KernelCentering, RowWeights, center_kernel, center_matrix

N = 40


def weights_of(weighted):
    """Weights from 0 to 3, or none."""
    return np.random.default_rng(1).integers(0, 4, N).astype(float) if weighted else None


def features_of(X, weights):
    """The features of (x.y + 1)^2 about their weighted mean, as rows."""
    x, y = X.T
    phi = np.column_stack([np.ones(len(X)), np.sqrt(2) * x, np.sqrt(2) * y, x**2, np.sqrt(2) * x * y, y**2])
    return phi - np.average(phi, axis=0, weights=weights)


@pytest.fixture
def X():
    """Rows of two columns."""
    return np.random.default_rng(0).standard_normal((N, 2))


@pytest.mark.parametrize("weighted", [False, True])
def test_centered_matrix_is_that_of_centered_features(X, weighted):
    """H K H' = Phi_c Phi_c', Phi_c being the features about their mean."""
    w = weights_of(weighted)
    centered = features_of(X, w)
    np.testing.assert_allclose(center_kernel(Polynomial(2, 1.0)(X), weights=w), centered @ centered.T, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_new_rows_continue_the_matrix(X, weighted):
    """Rows of the fit, taken for new ones, are centered as in the matrix; scores and lengths agree with them."""
    rows, K = RowWeights.of(N, weights_of(weighted)), Gaussian(0.3)(X)
    centered, A = K.copy(), np.random.default_rng(2).standard_normal((N, 3))
    centering = center_matrix(centered, rows)
    np.testing.assert_allclose(centering.rows(K[:7]), centered[:7], atol=1e-14)
    means = K @ centering.mean_weights()
    np.testing.assert_allclose(centering.scores(K @ A, means, A), centered @ A, atol=1e-13)
    np.testing.assert_allclose(centering.lengths(np.diag(K), means), np.diag(centered), atol=1e-14)
    np.testing.assert_allclose(KernelCentering.from_means(rows.means(K), rows).grand_mean, centering.grand_mean)


@pytest.mark.parametrize("weighted", [False, True])
def test_projected_vectors_center_the_matrix_without_touching_it(X, weighted):
    """P D K D P = D (H K H') D, its squared norm from sums of rows, and Z'P Z from Z'Z."""
    rows, K = RowWeights.of(N, weights_of(weighted)), Gaussian(0.3)(X)
    V = np.random.default_rng(3).standard_normal((N, 4))
    D = np.diag(np.ones(N) if rows.weights is None else np.sqrt(rows.weights))
    A = D @ center_kernel(K, weights=rows.weights) @ D
    np.testing.assert_allclose(rows.project(rows.scaled(K @ rows.scaled(rows.project(V)))), A @ V, atol=1e-12)
    np.testing.assert_allclose(rows.centered_norm(np.sum((D @ K @ D) ** 2), K @ np.diag(D) ** 2), np.sum(A**2))
    Z = rows.scaled(V)
    squares = rows.centered_squares(Z.T @ Z, V.T @ np.diag(D) ** 2)
    np.testing.assert_allclose(squares, Z.T @ rows.project(Z), atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_projection_may_overwrite_its_vectors(weighted, dtype):
    """In their type, with the same numbers."""
    rows, V = RowWeights.of(N, weights_of(weighted)), np.random.default_rng(4).standard_normal((N, 4)).astype(dtype)
    expected, given = rows.project(V), V.copy()
    assert rows.project(given, out=given) is given
    assert given.dtype == dtype
    np.testing.assert_array_equal(given, expected)


def test_constant_kernel_is_centered_to_zero():
    """Exactly: a mean of equal values is that value."""
    assert not center_kernel(np.ones((N, N)), weights=weights_of(True)).any()


def test_nothing_is_centered_where_that_is_asked(X):
    """Kernel values, scores and lengths stay as they are."""
    K, centering = Gaussian(0.3)(X), KernelCentering.none(RowWeights(N))
    assert centering.rows(K) is K
    assert centering.scores(K, K[0], K) is K
    assert not centering.mean_weights().any()
