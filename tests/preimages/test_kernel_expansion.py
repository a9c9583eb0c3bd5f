import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import KernelPCA

from gramian.errors import NotSupportedError
from gramian.features import Monomials
from gramian.kernels import Gaussian, Polynomial
from gramian.models.kernel_pca import expansion as kernel_expansion
from gramian.models.kernel_pca.expansion import expand, solve_densely
from gramian.sources import as_source


def _rows(n=40, d=3, seed=0):
    return 0.5 + np.random.default_rng(seed).standard_normal((n, d))


def _phi(X, rows):
    return Monomials(2).fit(as_source(X)).map_block(rows)


def _explicit(X, k, *, center=True):
    """Mean, unit components and scores of the polynomial features themselves."""
    phi = _phi(X, X)
    mean = phi.mean(axis=0) if center else np.zeros(phi.shape[1])
    U, s, Vt = np.linalg.svd(phi - mean, full_matrices=False)
    return mean, Vt[:k], U[:, :k] * s[:k], U[:, :k] / s[:k]


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("seed", [0, 1])
def test_all_that_is_asked_of_a_point_needs_k_alone(center, seed):
    """Norms, inner products and distances of P by the kernel are those in the space of explicit features."""
    X, k = _rows(seed=seed), 4
    mean, V, scores, alphas = _explicit(X, k, center=center)
    kernel = Polynomial(degree=2, gamma=1.0, coef0=1.0)
    expansion = expand(X, kernel, alphas=alphas, scores=scores, centered=center)
    y = np.random.default_rng(9).standard_normal((7, k)) * scores.std(axis=0)
    P, Z = mean + y @ V, _rows(7, 3, seed=5)
    size = np.linalg.norm(P, axis=1).max() ** 2
    np.testing.assert_allclose(expansion.weights(y) @ _phi(X, X), P, atol=1e-10 * size)
    np.testing.assert_allclose(expansion.squared_norms(y), (P**2).sum(axis=1), atol=1e-10 * size)
    np.testing.assert_allclose(expansion.inner_products(y), P @ _phi(X, X).T, atol=1e-10 * size)
    truth = ((_phi(X, Z) - P) ** 2).sum(axis=1)
    np.testing.assert_allclose(expansion.squared_distances(Z, y), truth, atol=1e-10 * size)
    np.testing.assert_allclose(expansion.project(Z), (_phi(X, Z) - mean) @ V.T, atol=1e-9)


def test_weights_of_the_mean_may_differ():
    """A weighted mean is the offset: projections are those about the weighted mean of the features."""
    X, weights = _rows(), np.arange(1.0, 41.0)
    offset = weights / weights.sum()
    phi = _phi(X, X)
    centered = np.sqrt(weights)[:, None] * (phi - offset @ phi)
    U, s, Vt = np.linalg.svd(centered, full_matrices=False)
    alphas = np.sqrt(weights)[:, None] * U[:, :3] / s[:3]
    scores = (phi - offset @ phi) @ Vt[:3].T
    kernel = Polynomial(degree=2, gamma=1.0, coef0=1.0)
    expansion = expand(X, kernel, alphas=alphas, scores=scores, offset=offset)
    np.testing.assert_allclose(expansion.project(X), scores, atol=1e-9)
    P = offset @ phi + scores @ Vt[:3]
    np.testing.assert_allclose(expansion.squared_norms(scores), (P**2).sum(axis=1), rtol=1e-10)


def test_the_fit_of_scikit_learn_can_be_expanded():
    """Its eigenvectors make an expansion that projects as it does."""
    X, Z = _rows(60), _rows(9, seed=3)
    peer = KernelPCA(5, kernel="rbf", gamma=0.3).fit(X)
    roots = np.sqrt(peer.eigenvalues_)
    expansion = expand(X, Gaussian(0.3), alphas=peer.eigenvectors_ / roots, scores=peer.eigenvectors_ * roots)
    np.testing.assert_allclose(expansion.project(Z), peer.transform(Z), atol=1e-10)


def test_dense_solution_is_kernel_pca():
    """Eigenvalues are those of scikit-learn, row means are computed or given, and null components are zeros."""
    X = _rows(30, 2)
    expansion = solve_densely(X, Gaussian(0.3), 5)
    peer = KernelPCA(5, kernel="rbf", gamma=0.3).fit(X)
    np.testing.assert_allclose((expansion.scores**2).sum(axis=0), peer.eigenvalues_, rtol=1e-10)
    own = expand(X, Gaussian(0.3), alphas=expansion.coefficients, scores=expansion.scores)
    np.testing.assert_allclose(own.means, expansion.means, rtol=1e-12)
    few = solve_densely(X, Polynomial(degree=1, gamma=1.0, coef0=0.0), 6)
    assert not few.scores[:, 2:].any()
    assert not few.coefficients[:, 2:].any()
    np.testing.assert_allclose(few.project(X), few.scores, atol=1e-12)


def test_pieces_do_not_matter(monkeypatch):
    """Points in pieces of one row have the distances and scores of all at once."""
    X, Z = _rows(), _rows(11, seed=2)
    expansion = solve_densely(X, Gaussian(0.2), 4)
    scores = expansion.project(Z)
    errors = expansion.squared_distances(Z, scores)
    monkeypatch.setattr(kernel_expansion, "PIECE_NUMBERS", 1)
    np.testing.assert_allclose(expansion.project(Z), scores, atol=1e-13)
    np.testing.assert_allclose(expansion.squared_distances(Z, scores), errors, atol=1e-13)


def test_sparse_rows_are_refused():
    """Pre-images of sparse rows would be dense: the sentence says what to do."""
    with pytest.raises(NotSupportedError, match=r"Pre-images of sparse rows are dense.*X\.toarray\(\)"):
        expand(sp.csr_array(np.eye(3)), Gaussian(1.0), alphas=np.eye(3), scores=np.eye(3))
