"""Pre-images by the fixed point and by distances, on problems whose answer is known."""

import numpy as np
import pytest

from gramian.errors import NotSupportedError, ParameterError
from gramian.kernels import Cosine, Gaussian, Laplacian, Linear, Matern, Polynomial
from gramian.models.kernel_pca.expansion import KernelExpansion, solve_densely
from gramian.models.kernel_pca.preimage import DistanceConstraints, FixedPoint, Ridge, place

RADIAL = [
    pytest.param(Gaussian(0.5), id="gaussian"),
    pytest.param(Matern(1.5, 0.5), id="matern 3/2"),
    pytest.param(Matern(2.5, 0.5), id="matern 5/2"),
    pytest.param(2.0 * Gaussian(0.5) + Matern(2.5, 1.0), id="sum"),
]
METHODS = [
    pytest.param(FixedPoint(), id="fixed point"),
    pytest.param(DistanceConstraints(), id="distances"),
    pytest.param(Ridge(0.01), id="ridge"),
]


def _circle(n):
    angles = 2 * np.pi * np.arange(n) / n
    return np.column_stack([np.cos(angles), np.sin(angles)])


def _noisy(n, noise, seed):
    rng = np.random.default_rng(seed)
    angles = rng.uniform(0, 2 * np.pi, n)
    truth = np.column_stack([np.cos(angles), np.sin(angles)])
    return truth, truth + noise * rng.standard_normal((n, 2))


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("kernel", RADIAL)
@pytest.mark.parametrize("method", METHODS)
def test_noisy_points_come_nearer_to_the_circle(method, kernel, seed):
    """Points of a circle plus noise are rebuilt nearer to it and to where they came from."""
    expansion = solve_densely(_circle(100), kernel, 6)
    truth, noisy = _noisy(60, 0.2, seed)
    rebuilt = method.fit(expansion).rebuild(expansion.project(noisy))
    off = [np.abs(np.linalg.norm(rows, axis=1) - 1) for rows in (noisy, rebuilt.rows)]
    assert off[1].mean() < 0.4 * off[0].mean()
    error = [np.linalg.norm(rows - truth, axis=1).mean() for rows in (noisy, rebuilt.rows)]
    assert error[1] < 0.85 * error[0]
    assert rebuilt.found.all()


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("method", [*METHODS[:2], pytest.param(Ridge(1.0), id="ridge")])
def test_noisy_rows_of_a_fit_come_nearer(method, seed):
    """Also when the fit has seen only noisy rows are they rebuilt nearer to the circle."""
    _, noisy = _noisy(300, 0.15, seed)
    expansion = solve_densely(noisy, Gaussian(0.5), 4)
    rebuilt = method.fit(expansion).rebuild(expansion.scores)
    off = [np.mean((np.linalg.norm(rows, axis=1) - 1) ** 2) for rows in (noisy, rebuilt.rows)]
    assert off[1] < 0.35 * off[0]


@pytest.mark.parametrize("kernel", RADIAL)
@pytest.mark.parametrize("offset", [0.0, 1e5])
@pytest.mark.parametrize("method", [pytest.param(FixedPoint(tol=1e-8), id="fixed point"), METHODS[1]])
def test_a_row_that_is_there_is_found(method, kernel, offset):
    """With all components kept, P is phi of the row itself, and the row comes back, far from the origin too."""
    X = np.random.default_rng(4).standard_normal((50, 3)) + offset
    expansion = solve_densely(X, kernel, 49)
    rebuilt = method.fit(expansion).rebuild(expansion.scores)
    np.testing.assert_allclose(rebuilt.rows, X, atol=1e-5 + 1e-9 * offset)
    assert rebuilt.errors.max() < 1e-6


@pytest.mark.parametrize("method", [*METHODS, pytest.param(FixedPoint(1), id="one start")])
@pytest.mark.parametrize("kernel", RADIAL)
def test_errors_are_what_they_say(method, kernel):
    """The error returned is |phi(z) - P|^2 for the row returned."""
    expansion = solve_densely(_circle(40), kernel, 3)
    scores = expansion.project(_noisy(15, 0.3, 5)[1])
    rebuilt = method.fit(expansion).rebuild(scores)
    K, w = kernel(expansion.rows), expansion.weights(scores)
    across = kernel(rebuilt.rows, expansion.rows)
    truth = kernel.diagonal(rebuilt.rows) - 2 * (across * w).sum(axis=1) + ((w @ K) * w).sum(axis=1)
    np.testing.assert_allclose(rebuilt.errors, truth, atol=1e-10)


class TestFixedPoint:
    """The iteration of Mika et al."""

    @pytest.mark.parametrize("kernel", RADIAL)
    def test_its_ends_are_stationary(self, kernel):
        """At the rows returned the gradient of |phi(z) - P|^2 vanishes, by finite differences."""
        X = np.random.default_rng(1).standard_normal((80, 2))
        expansion = solve_densely(X, kernel, 6)
        scores = expansion.project(np.random.default_rng(2).standard_normal((12, 2)))
        rows = FixedPoint(tol=1e-10, max_steps=5_000).fit(expansion).rebuild(scores).rows
        for step in 1e-4 * np.eye(2):
            slope = expansion.squared_distances(rows + step, scores) - expansion.squared_distances(rows - step, scores)
            assert np.abs(slope).max() / 2e-4 < 1e-4

    def test_more_starts_are_never_worse(self):
        """The best of several ends is at least as near to P as the end of the first start."""
        X = np.random.default_rng(0).standard_normal((120, 4))
        expansion = solve_densely(X, Gaussian(0.3), 8)
        scores = expansion.project(3 * np.random.default_rng(1).standard_normal((40, 4)))
        errors = [FixedPoint(count).fit(expansion).rebuild(scores).errors for count in (1, 2, 5)]
        assert (errors[1] <= errors[0] + 1e-9).all()
        assert (errors[2] <= errors[1] + 1e-9).all()
        assert (errors[2] < errors[0] - 1e-6).any()

    def test_vanishing_weights_fall_back_on_the_start(self):
        """Scores of the origin of feature space have no weights: the answer is a finite start, and says so."""
        X = np.random.default_rng(0).standard_normal((30, 2))
        fit = solve_densely(X, Gaussian(0.3), 4)
        plain = KernelExpansion(X, fit.kernel, fit.coefficients, np.zeros(30), np.zeros(30), fit.scores)
        rebuilt = FixedPoint().fit(plain).rebuild(np.zeros((3, 4)))
        assert not rebuilt.found.any()
        assert np.isfinite(rebuilt.rows).all()
        assert np.abs(rebuilt.rows).max() <= np.abs(X).max()

    def test_hostile_scores_give_finite_rows(self):
        """Scores far from any that rows have, with negative weights all over, still give finite rows."""
        X = np.random.default_rng(0).standard_normal((60, 3))
        expansion = solve_densely(X, Gaussian(1.0), 10)
        scores = 50 * np.random.default_rng(1).standard_normal((40, 10))
        rebuilt = FixedPoint().fit(expansion).rebuild(scores)
        assert np.isfinite(rebuilt.rows).all()
        assert np.isfinite(rebuilt.errors).all()

    @pytest.mark.parametrize("method", [FixedPoint(0), FixedPoint(tol=0.0), FixedPoint(max_steps=0)])
    def test_what_cannot_run_is_refused(self, method):
        """Without starts, steps or a tolerance there is nothing to do."""
        with pytest.raises(ParameterError, match="cannot run"):
            method.fit(solve_densely(_circle(10), Gaussian(1.0), 2))


class TestDistanceConstraints:
    """The method of Kwok and Tsang."""

    @pytest.mark.parametrize("d, k", [(3, 2), (6, 4)])
    def test_with_a_linear_kernel_it_is_pca(self, d, k):
        """P is then a point of the space itself, and what comes back is the reconstruction of PCA."""
        X = 2.0 + np.random.default_rng(0).standard_normal((60, d))
        expansion = solve_densely(X, Linear(), k)
        rebuilt = DistanceConstraints(12, bounded=False).fit(expansion).rebuild(expansion.scores)
        mean = X.mean(axis=0)
        V = np.linalg.svd(X - mean, full_matrices=False)[2][:k]
        np.testing.assert_allclose(rebuilt.rows, (X - mean) @ V.T @ V + mean, atol=1e-8)

    @pytest.mark.parametrize("degree", [1, 3])
    def test_polynomials_of_odd_degree(self, degree):
        """Rows come back through a polynomial kernel when all components are kept."""
        X = np.random.default_rng(0).standard_normal((60, 2))
        expansion = solve_densely(X, Polynomial(degree, 0.5, 1.0), 12)
        np.testing.assert_allclose(DistanceConstraints().fit(expansion).rebuild(expansion.scores).rows, X, atol=1e-5)

    def test_polynomials_of_even_degree_take_the_larger_root(self):
        """Rows with positive inner products come back through an even degree as well."""
        X = 1.0 + np.random.default_rng(0).random((60, 2))
        expansion = solve_densely(X, Polynomial(2, 0.5, 1.0), 6)
        np.testing.assert_allclose(DistanceConstraints().fit(expansion).rebuild(expansion.scores).rows, X, atol=1e-5)

    @pytest.mark.parametrize("q, d", [(4, 2), (10, 3), (3, 8)])
    def test_places_are_planted_points(self, q, d):
        """A point in the flat of its neighbors is found from its distances to them."""
        rng = np.random.default_rng(q)
        neighbors = 10.0 + rng.standard_normal((5, q, d))
        shares = rng.dirichlet(np.ones(q), size=5)
        points = np.einsum("mq,mqd->md", shares, neighbors)
        squares = ((neighbors - points[:, None]) ** 2).sum(axis=2)
        np.testing.assert_allclose(place(neighbors, squares), points, atol=1e-9)

    def test_bounded_places_do_not_leave_their_neighbors(self):
        """Distances that no point near the neighbors has throw it far off along a narrow direction, unless bounded."""
        angles = np.linspace(-0.3, 0.3, 10)
        arc = np.column_stack([np.cos(angles), np.sin(angles)])[None]
        squares = ((arc - np.array([1.3, 0.0])) ** 2).sum(axis=2)
        free, bounded = (place(arc, squares, bounded=flag)[0] for flag in (False, True))
        np.testing.assert_allclose(free, [1.3, 0.0], atol=1e-9)
        assert arc[0, :, 0].min() <= bounded[0] <= arc[0, :, 0].max() + 1e-12

    def test_repeated_neighbors_are_one_point(self):
        """Neighbors without any spread give themselves."""
        np.testing.assert_array_equal(place(np.ones((1, 4, 2)), np.full((1, 4), 3.0)), np.ones((1, 2)))

    def test_fewer_rows_than_neighbors(self):
        """All rows are neighbors where there are fewer."""
        X = np.random.default_rng(0).standard_normal((5, 2))
        expansion = solve_densely(X, Gaussian(0.5), 4)
        np.testing.assert_allclose(DistanceConstraints(10).fit(expansion).rebuild(expansion.scores).rows, X, atol=1e-6)

    def test_one_neighbor_is_refused(self):
        """A single distance places nothing."""
        with pytest.raises(ParameterError, match="n_neighbors=1 cannot place a point"):
            DistanceConstraints(1).fit(solve_densely(_circle(10), Gaussian(1.0), 2))


class TestRadialProfile:
    """Kernels as functions of the squared distance."""

    @pytest.mark.parametrize("kernel", [*RADIAL, pytest.param(Matern(0.5, 0.5), id="matern 1/2")])
    def test_values_slopes_and_the_way_back(self, kernel):
        """The curve is the kernel, its fall is minus the derivative, and distances come back from values."""
        profile = kernel.radial_profile()
        squares = np.geomspace(1e-3, 30, 20)
        value, fall = profile.curve(squares)
        np.testing.assert_allclose(value, kernel(np.sqrt(squares)[:, None], np.zeros((1, 1))).ravel(), rtol=1e-9)
        step = 1e-5 * squares
        slope = (profile.curve(squares + step)[0] - profile.curve(squares - step)[0]) / (2 * step)
        np.testing.assert_allclose(fall, -slope, rtol=1e-5)
        np.testing.assert_allclose(profile.squared_distance(value), squares, rtol=1e-9)

    def test_values_out_of_range(self):
        """Above k(0) the distance is zero; at or under zero it is large and finite."""
        profile = Gaussian(1.0).radial_profile()
        found = profile.squared_distance(np.array([2.0, 1.0, 0.0, -3.0]))
        np.testing.assert_array_equal(found[:2], 0.0)
        assert np.all((found[2:] > 100) & np.isfinite(found[2:]))

    @pytest.mark.parametrize("kernel", [Laplacian(1.0), Cosine(), Polynomial()], ids=str)
    def test_other_kernels_are_refused(self, kernel):
        """The sentence says which method serves every kernel."""
        with pytest.raises(
            NotSupportedError, match=r"not known as a function of the Euclidean distance.*Use the ridge"
        ):
            kernel.radial_profile()
        with pytest.raises(NotSupportedError):
            FixedPoint().fit(solve_densely(_circle(10), kernel.resolved(_facts()), 2))


def _facts():
    from gramian.kernels import facts_of

    return facts_of(_circle(10))
