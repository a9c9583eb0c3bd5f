"""M7, M8, M9, M10, F9, F14, F15, F16, F18 and F19 of the lectures, with their numbers."""

import warnings

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import gramian
from gramian import KernelPCA, PolynomialMap
from gramian.errors import InputError, RankWarning
from gramian.features import MappedRows, Monomials
from gramian.kernels import BlockKernel, Gaussian, Linear, Polynomial, Precomputed
from gramian.models.kernel_pca.fit import fit_kernel_pca
from gramian.models.kernel_pca.model import KernelPCAOptions
from gramian.models.kernel_pca.preimage import expansion_of, fit_preimage
from gramian.models.pca.fit import fit_pca
from gramian.sources import as_source
from gramian.testing import assert_same_subspace, largest_angle, rows_with_spectrum

WAYS = ["dense", "stored", "tiled"]
SQUARE = Polynomial(degree=2, gamma=1.0, coef0=1.0)


def _fit(X, kernel, k, **options):
    return fit_kernel_pca(as_source(X), KernelPCAOptions(k, kernel, **options))


def _rows(n, d, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def _circle(n):
    t = 2 * np.pi * np.arange(n) / n
    return 10.0 * np.column_stack([np.cos(t), np.sin(t)])


def _phi(X):
    """The features of (1 + x.y)^2 in two variables, in the lecture's order: 1, x1, x2, x1 x2, x1^2, x2^2."""
    a, b = X.T
    r = np.sqrt(2.0)
    return np.column_stack([np.ones(len(X)), r * a, r * b, r * a * b, a * a, b * b])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("n, d, seed", [(60, 3, 0), (450, 5, 1)])
def test_m7_algorithm_3_step_by_step(n, d, seed, way):
    """K centered, K u = lambda u, scores sqrt(lambda) u, alpha = u / sqrt(lambda), and a new point by kc alone."""
    X, new = _rows(n, d, seed), _rows(7, d, seed + 10)
    kernel = Gaussian(sigma=2.0)
    model = _fit(X, kernel, 4, way=way, tol=1e-9)
    H = np.eye(n) - 1 / n
    K = H @ kernel(X) @ H
    lam, U = model.eigenvalues, model.vectors
    np.testing.assert_allclose(K @ U, U * lam, atol=1e-8 * lam[0])
    np.testing.assert_allclose(U.T @ U, np.eye(4), atol=1e-10)
    np.testing.assert_allclose(model.scores, np.sqrt(lam) * U, atol=1e-12)
    np.testing.assert_allclose(model.alphas, U / np.sqrt(lam), atol=1e-12)
    # The unit components:  alpha_l' K alpha_l = 1.
    np.testing.assert_allclose(model.alphas.T @ K @ model.alphas, np.eye(4), atol=1e-8)
    np.testing.assert_allclose(model.project(X), model.scores, atol=1e-7)
    centered_rows = model.centering.rows(kernel(new, X))
    np.testing.assert_allclose(model.project(new), centered_rows @ model.alphas, atol=1e-10)
    # 001 and 002 write K / n.
    np.testing.assert_allclose(lam / n, np.linalg.eigvalsh(K / n)[::-1][:4], rtol=1e-7)


@pytest.mark.parametrize("n, m", [(30, 5), (40, 12)])
def test_m8_centering_by_kernel_values_is_centering_of_phi(n, m):
    """K* - 1*K - K*1 + 1*K1 with the lecture's matrices of 1/n, equal to explicit centering of phi."""
    X, new = _rows(n, 2, 1) + 0.5, _rows(m, 2, 2)
    K, Kn = SQUARE(X), SQUARE(new, X)
    ones, ones_new = np.full((n, n), 1 / n), np.full((m, n), 1 / n)
    model = _fit(X, SQUARE, 3, way="dense")
    of_fit = K - ones @ K - K @ ones + ones @ K @ ones
    of_new = Kn - ones_new @ K - Kn @ ones + ones_new @ K @ ones
    np.testing.assert_allclose(model.centering.rows(K), of_fit, atol=1e-12 * K.max())
    np.testing.assert_allclose(model.centering.rows(Kn), of_new, atol=1e-12 * K.max())
    mean = _phi(X).mean(axis=0)
    np.testing.assert_allclose(of_fit, (_phi(X) - mean) @ (_phi(X) - mean).T, atol=1e-12 * K.max())
    np.testing.assert_allclose(of_new, (_phi(new) - mean) @ (_phi(X) - mean).T, atol=1e-12 * K.max())


@pytest.mark.parametrize("way", [*WAYS, "auto"])
@pytest.mark.parametrize("n", [5, 8, 12, 300])
def test_f9_the_circle_has_four_components_or_five(n, way):
    """Eigenvalues of K/n: 2500, 2500, 100, 100 centered, 5001 besides without; phi is orthogonal to w."""
    X = _circle(n)
    model = _fit(X, SQUARE, 5, way=way)
    np.testing.assert_allclose(model.eigenvalues / n, [2500, 2500, 100, 100, 0], atol=1e-8)
    assert model.rank == 4
    np.testing.assert_allclose(model.shares[:4], np.array([25, 25, 1, 1]) / 52, rtol=1e-9)
    plain = _fit(X, SQUARE, 5, way=way, center=False)
    np.testing.assert_allclose(plain.eigenvalues / n, [5001, 2500, 2500, 100, 100], rtol=1e-9)
    # Ties: spaces, not vectors. The first pair spans the products, the second the coordinates.
    a, b = X.T
    assert_same_subspace(model.vectors[:, :2], np.linalg.qr(np.column_stack([a * b, a * a - b * b]))[0], tol=1e-5)
    assert_same_subspace(model.vectors[:, 2:4], np.linalg.qr(X)[0], tol=1e-5)
    np.testing.assert_allclose(_phi(X) @ np.array([-100.0, 0, 0, 0, 1, 1]), 0.0, atol=1e-10)


def test_f9_scikit_learns_default_is_another_kernel():
    """gamma = 1/d and degree 3 are not (1 + x.y)^2."""
    assert (Polynomial().degree, Polynomial().gamma, Polynomial().coef0) == (3, None, 1.0)
    X = _circle(8)
    assert not np.allclose(_fit(X, Polynomial(), 2).eigenvalues / 8, [2500, 2500])


@pytest.mark.parametrize("way", [*WAYS, "auto"])
def test_f14_components_lie_in_the_span_of_the_centered_features(way):
    """sum_i alpha_i phi_c(x_i) is a unit vector of the span for lambda > 0; the rest see no centered point."""
    X = _rows(50, 2, 3)
    model = _fit(X, SQUARE, 7, way=way)
    phi = _phi(X) - _phi(X).mean(axis=0)
    assert model.rank == 5
    components = phi.T @ model.alphas[:, :5]
    np.testing.assert_allclose(components.T @ components, np.eye(5), atol=1e-8)
    inside = np.linalg.svd(phi, full_matrices=False)[2][:5].T
    assert largest_angle(components, inside) < 1e-8
    # Vectors of zero eigenvalue:  sum_i u_i phi_c(x_i) = 0.
    assert np.abs(phi.T @ model.vectors[:, 5:]).max() < 1e-6 * np.abs(phi).max()


def test_f15_projections_need_only_the_kernel():
    """A kernel given as a function of two blocks, whose phi nobody knows, projects new points; it alone is called."""
    calls = []

    def kernel(X, Y):
        calls.append((len(X), len(Y)))
        return (1.0 + X @ Y.T) ** 2

    X, new = _rows(60, 2, 4), _rows(5, 2, 5)
    model = _fit(X, BlockKernel(kernel, psd=True), 4)
    fitted = len(calls)
    scores = model.project(new)
    assert fitted > 0
    assert sum(a * b for a, b in calls[fitted:]) <= 5 * 60 + 5 * 5
    phi_model = fit_pca(MappedRows(as_source(X), Monomials(2).fit(as_source(X))))
    expected = phi_model.project(Monomials(2).fit(as_source(X)).map_block(new))[:, :4]
    np.testing.assert_allclose(np.abs(scores), np.abs(expected), atol=1e-8)


@pytest.mark.parametrize("way", [*WAYS, "auto"])
@pytest.mark.parametrize("n, d", [(30, 4), (12, 40), (500, 6)])
def test_f16_with_a_linear_kernel_kernel_pca_is_pca(n, d, way):
    """lambda_K = (n - 1) explained variance, and the scores are the same up to sign."""
    k = min(n - 1, d, 4)
    X, _ = rows_with_spectrum(n, d, np.geomspace(9.0, 1.0, min(n - 1, d)), mean=3.0, seed=d)
    model, pca = _fit(X, Linear(), k, way=way, tol=1e-9), fit_pca(as_source(X))
    np.testing.assert_allclose(model.eigenvalues, (n - 1) * pca.variances[:k], rtol=1e-8)
    np.testing.assert_allclose(np.abs(model.scores), np.abs(pca.project(X)[:, :k]), atol=1e-4)


@pytest.mark.parametrize("way", [*WAYS, "auto"])
def test_f18_the_error_that_is_minimised_needs_k_alone(way):
    """kc(x, x) - |y|^2 is the squared distance of phi(x) from the components, in the fit and for new points."""
    X, new = _rows(80, 2, 6), _rows(9, 2, 7)
    model = _fit(X, SQUARE, 3, way=way)
    mean = _phi(X).mean(axis=0)
    V = (_phi(X) - mean).T @ model.alphas
    for points in (X, new):
        phi = _phi(points) - mean
        truth = np.sum((phi - phi @ V @ V.T) ** 2, axis=1)
        np.testing.assert_allclose(model.squared_error(points), truth, atol=1e-8 * truth.max())
    # Over the rows of the fit, its sum is the sum of the eigenvalues left out (F11 in feature space).
    left_out = model.total_variance * 80 - model.eigenvalues.sum()
    assert float(model.squared_error(X).sum()) == pytest.approx(left_out, rel=1e-6)


@pytest.mark.parametrize("seed", [0, 1])
def test_f19_both_equations_have_the_same_projections(seed):
    """Solutions of K K a = n lambda K a differ from those of K a = n lambda a by null vectors, which see no point."""
    n = 40
    X = _rows(n, 2, seed)
    model = _fit(X, SQUARE, 3, way="dense")
    H = np.eye(n) - 1 / n
    K = H @ SQUARE(X) @ H
    null = np.linalg.eigh(K)[1][:, : n - 6]
    other = model.alphas + null @ np.random.default_rng(seed).standard_normal((n - 6, 3))
    lam = model.eigenvalues
    np.testing.assert_allclose(K @ K @ other, K @ other * lam, atol=1e-8 * lam[0])
    assert np.linalg.norm(K @ other - other * lam) > 1e-3 * lam[0]
    new = model.centering.rows(SQUARE(_rows(6, 2, seed + 5), X))
    np.testing.assert_allclose(K @ other, K @ model.alphas, atol=1e-8 * lam[0])
    np.testing.assert_allclose(new @ other, new @ model.alphas, atol=1e-8 * np.abs(new).max())


@pytest.mark.parametrize("p", [1, 2, 5])
@pytest.mark.parametrize("sigma", [0.3, 4.0])
def test_m9_kernels_are_the_lectures_formulas(p, sigma):
    """Polynomial, Gaussian and linear kernels, their sums and products, a function of the user's own, a matrix."""
    X, Y = _rows(7, 3), _rows(5, 3, 1)
    polynomial, gaussian = (1 + X @ Y.T) ** p, np.exp(-cdist(X, Y, "sqeuclidean") / (2 * sigma**2))
    kernels = Polynomial(degree=p, gamma=1.0, coef0=1.0), Gaussian(sigma=sigma)
    np.testing.assert_allclose(kernels[0](X, Y), polynomial, rtol=1e-12)
    np.testing.assert_allclose(kernels[1](X, Y), gaussian, rtol=1e-11)
    np.testing.assert_allclose(Linear()(X, Y), X @ Y.T, rtol=1e-12)
    np.testing.assert_allclose((kernels[0] * kernels[1] + 2.0 * Linear())(X, Y), polynomial * gaussian + 2 * X @ Y.T)
    own = BlockKernel(lambda left, right: (1 + left @ right.T) ** p, psd=True)
    fits = [_fit(X, kernels[0], 2), _fit(X, own, 2), _fit(kernels[0](X), Precomputed(), 2)]
    for model in fits[1:]:
        np.testing.assert_allclose(model.eigenvalues, fits[0].eigenvalues, rtol=1e-9)


@pytest.mark.parametrize("method", ["ridge", "distances"])
@pytest.mark.parametrize("k", [2, 4])
def test_m10_pre_images_state_how_far_they_are(method, k):
    """What the lecture leaves out: rows for points of feature space, with |phi(z) - P|^2 as phi itself gives it."""
    X = _rows(60, 2)
    model = _fit(X, SQUARE if method == "ridge" else Gaussian(0.3), k)
    found = fit_preimage(method, expansion_of(model), alpha=0.1).fitted.rebuild(model.scores)
    assert found.rows.shape == X.shape
    if method == "ridge":
        mean = _phi(X).mean(axis=0)
        components = (_phi(X) - mean).T @ model.alphas
        points = mean + model.scores @ components.T
        truth = np.sum((_phi(found.rows) - points) ** 2, axis=1)
    else:
        K = np.exp(-0.3 * cdist(np.vstack([X, found.rows]), X, "sqeuclidean"))
        centered = model.alphas - model.alphas.mean(axis=0)
        weights = 1 / 60 + model.scores @ centered.T
        truth = 1 - 2 * np.sum(weights * K[60:], axis=1) + np.einsum("ij,jk,ik->i", weights, K[:60], weights)
    np.testing.assert_allclose(found.errors, truth, atol=1e-8 * max(1.0, float(truth.max())))


@pytest.mark.parametrize("n", [5, 6, 17, 200])
@pytest.mark.parametrize("eigen_solver", ["auto", "dense", "tiled"])
def test_f9_without_centering_there_are_five_values(n, eigen_solver):
    """`center=False` gives all five eigenvalues of K/n on the circle, the constant direction among them."""
    t = 2 * np.pi * np.arange(n) / n
    circle = 10 * np.column_stack([np.cos(t), np.sin(t)])
    words = {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0, "eigen_solver": eigen_solver}
    kpca = KernelPCA(5, center=False, **words).fit(circle)
    np.testing.assert_allclose(kpca.eigenvalues_ / n, [5001, 2500, 2500, 100, 100], rtol=1e-6)
    np.testing.assert_allclose(np.abs(kpca.eigenvectors_[:, 0]), 1 / np.sqrt(n), atol=1e-6)
    K = (1 + circle @ circle.T) ** 2
    scores = kpca.transform(circle)
    np.testing.assert_allclose(scores @ scores.T, K, atol=1e-3)
    np.testing.assert_allclose(kpca.reconstruction_error(circle), 0.0, atol=1e-3)


@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear"])
@pytest.mark.parametrize("features", [None, "landmarks"])
def test_m7_without_centering_the_scores_give_the_kernel_itself(kernel, features, tmp_path):
    """With all components and no centering, inner products of scores are k(x, y); a saved model gives the same."""
    X = np.random.default_rng(3).standard_normal((40, 3))
    words = {"gamma": 0.5, "degree": 2, "coef0": 1.0}
    kpca = KernelPCA(kernel=kernel, center=False, landmarks=40 if features else None, **words)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        kpca.fit(X)
    new = np.random.default_rng(4).standard_normal((7, 3))
    scores = kpca.transform(np.vstack([X, new]))
    np.testing.assert_allclose(scores[:40] @ scores[:40].T, kpca.kernel_(X), atol=1e-6)
    np.testing.assert_allclose(scores[:40] @ scores[40:].T, kpca.kernel_(X, new), atol=1e-5)
    kpca.save(tmp_path / "plain.gramian")
    loaded = gramian.load(tmp_path / "plain.gramian")
    assert loaded.center is False
    np.testing.assert_allclose(loaded.transform(new), kpca.transform(new), atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_m8_new_rows_are_centered_by_the_matrix_of_the_fit(weighted):
    """center_kernel of new rows equals inner products of features about the mean of the fit, and KernelPCA's own."""
    rng = np.random.default_rng(0)
    X, new = rng.standard_normal((30, 2)), rng.standard_normal((6, 2))
    w = rng.integers(0, 3, 30).astype(float) if weighted else None
    phi = PolynomialMap(2).fit(X)
    mean = np.average(phi.transform(X), axis=0, weights=w)
    K, K_new = (1 + X @ X.T) ** 2, (1 + new @ X.T) ** 2
    expected = (phi.transform(new) - mean) @ (phi.transform(X) - mean).T
    np.testing.assert_allclose(gramian.center_kernel(K_new, fitted=K, weights=w), expected, atol=1e-10)
    np.testing.assert_allclose(
        gramian.center_kernel(K, fitted=K, weights=w), gramian.center_kernel(K, weights=w), atol=1e-10
    )


def test_m8_shapes_that_do_not_fit_are_refused():
    """A K that is not square wants the matrix of the fit, which has to be square and as wide."""
    with pytest.raises(InputError, match="pass fitted"):
        gramian.center_kernel(np.ones((2, 3)))
    with pytest.raises(InputError, match=r"fitted \(2, 2\)"):
        gramian.center_kernel(np.ones((2, 3)), fitted=np.ones((2, 2)))
