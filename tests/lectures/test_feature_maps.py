"""Method M6 and facts F7, F8 and F9 of the lectures: explicit polynomial features."""

from math import comb

import numpy as np
import pytest

from gramian import PCA, PolynomialMap
from gramian.testing import assert_same_subspace, largest_angle


def _circle(n, radius=10.0):
    angles = 2 * np.pi * np.arange(n) / n
    return radius * np.column_stack([np.cos(angles), np.sin(angles)])


class TestM6PolynomialMap:
    """The explicit map of degree p, with and without weights."""

    @pytest.mark.parametrize("seed", [0, 1])
    @pytest.mark.parametrize("d, p", [(2, 2), (3, 2), (2, 5), (6, 3)])
    def test_inner_products_are_the_kernel(self, d, p, seed):
        """phi(x).phi(y) = (1 + x.y)^p, in C(p + d, d) dimensions."""
        X = np.random.default_rng(seed).standard_normal((25, d))
        phi = PolynomialMap(p).fit_transform(X)
        assert phi.shape == (25, comb(p + d, d))
        K = (1 + X @ X.T) ** p
        np.testing.assert_allclose(phi @ phi.T, K, atol=1e-12 * np.abs(K).max())

    def test_the_map_of_the_plane_is_the_one_written_down(self):
        """For d = p = 2 it is (1, sqrt 2 x1, sqrt 2 x2, x1^2, sqrt 2 x1 x2, x2^2), in our order."""
        x, y = 3.0, -2.0
        root = np.sqrt(2.0)
        phi = PolynomialMap(2).fit_transform([[x, y]])
        np.testing.assert_allclose(phi, [[1, root * x, root * y, x * x, root * x * y, y * y]], rtol=1e-15)

    def test_plain_monomials_are_another_geometry(self):
        """Without weights the features are (1, x1, x2, x1^2, x1 x2, x2^2), and their spectrum is another."""
        X = np.random.default_rng(0).standard_normal((60, 2))
        plain, weighted = (PolynomialMap(2, weights=flag).fit_transform(X) for flag in (False, True))
        x, y = X.T
        np.testing.assert_allclose(plain, np.column_stack([np.ones(60), x, y, x * x, x * y, y * y]), rtol=1e-14)
        shares = [PCA().fit(features).explained_variance_ratio_ for features in (plain, weighted)]
        assert np.abs(shares[0] - shares[1]).max() > 0.01

    @pytest.mark.parametrize("n, d, p", [(90, 2, 3), (15, 5, 2)])
    def test_pca_on_phi_is_kernel_pca(self, n, d, p):
        """Eigenvalues and scores are those of the centered kernel matrix, whichever side is larger."""
        X = np.random.default_rng(1).standard_normal((n, d))
        H = np.eye(n) - 1 / n
        values, U = np.linalg.eigh(H @ (1 + X @ X.T) ** p @ H)
        values, U = values[::-1][:5], U[:, ::-1][:, :5]
        pca = PCA(5)
        scores = pca.fit_transform(PolynomialMap(p).fit_transform(X))
        np.testing.assert_allclose(pca.explained_variance_ * (n - 1), values, rtol=1e-9)
        np.testing.assert_allclose(np.abs(scores), np.abs(U * np.sqrt(values)), atol=1e-7 * np.sqrt(values[0]))


@pytest.mark.parametrize("radius", [1.0, 10.0])
@pytest.mark.parametrize("n", [5, 8, 101])
def test_f7_squares_make_a_circle_linear(n, radius):
    """(x1^2, x2^2), taken from the map, has rank one, direction (1, -1)/sqrt 2 and share one."""
    phi = PolynomialMap(2).fit(_circle(n, radius))
    names = list(phi.get_feature_names_out())
    squares = phi.transform(_circle(n, radius))[:, [names.index("x0^2"), names.index("x1^2")]]
    pca = PCA().fit(squares)
    assert largest_angle(pca.components_[0], np.array([1.0, -1.0]) / np.sqrt(2)) < 1e-7
    np.testing.assert_allclose(pca.explained_variance_ratio_, [1.0, 0.0], atol=1e-12)


@pytest.mark.parametrize("d, p, count", [(100, 2, 5151), (2, 2, 6), (10, 3, 286), (3, 10, 286), (1, 7, 8)])
def test_f8_number_of_features(d, p, count):
    """There are C(p + d, d) of them: 5,151 for d = 100 and p = 2, where x_i x_j is counted once."""
    X = np.random.default_rng(0).standard_normal((3, d))
    phi = PolynomialMap(p).fit(X)
    assert phi.n_output_features_ == count == comb(p + d, d)
    assert phi.transform(X).shape == (3, count)
    assert len(set(phi.get_feature_names_out())) == count


class TestF9Circle:
    """Equally spaced points on a circle of radius 10, with (1 + x.y)^2."""

    @pytest.mark.parametrize("n", [5, 6, 17, 200])
    def test_every_phi_is_orthogonal_to_w(self, n):
        """w = (-100, 0, 0, 0, 1, 1), its ones at the squares, is orthogonal to phi of every point."""
        phi = PolynomialMap(2).fit(_circle(n))
        w = {"1": -100.0, "x0^2": 1.0, "x1^2": 1.0}
        normal = np.array([w.get(name, 0.0) for name in phi.get_feature_names_out()])
        assert np.abs(phi.transform(_circle(n)) @ normal).max() <= 1e-11 * 100 * np.sqrt(6)

    @pytest.mark.parametrize("n", [5, 6, 17, 200])
    def test_spectrum(self, n):
        """Eigenvalues of K/n are 5001, 2500, 2500, 100, 100 without centering, and 2500, 2500, 100, 100 with."""
        features = PolynomialMap(2).fit_transform(_circle(n))
        plain = np.linalg.eigvalsh(features @ features.T / n)[::-1]
        np.testing.assert_allclose(plain[:5], [5001, 2500, 2500, 100, 100], rtol=1e-12)
        np.testing.assert_allclose(plain[5:], 0, atol=1e-9)
        pca = PCA(ddof=0).fit(features)
        np.testing.assert_allclose(pca.explained_variance_[:4], [2500, 2500, 100, 100], rtol=1e-9)
        np.testing.assert_allclose(pca.explained_variance_[4:], 0, atol=1e-9)

    def test_tied_components_span_what_they_should(self):
        """The first two components are the quadratic waves, the next two the circle itself."""
        phi = PolynomialMap(2).fit(_circle(50))
        names = list(phi.get_feature_names_out())
        components = PCA(4).fit(phi.transform(_circle(50))).components_

        def plane(*parts):
            columns = np.zeros((6, len(parts)))
            for j, part in enumerate(parts):
                for name, value in part.items():
                    columns[names.index(name), j] = value
            return np.linalg.qr(columns)[0]

        assert_same_subspace(components[:2].T, plane({"x0^2": 1.0, "x1^2": -1.0}, {"x0 x1": 1.0}))
        assert_same_subspace(components[2:].T, plane({"x0": 1.0}, {"x1": 1.0}))
