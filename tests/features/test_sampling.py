import numpy as np
import pytest
import scipy.sparse as sp

from gramian.errors import NotSupportedError
from gramian.features.nystrom import kmeans_centers, spread_seeds
from gramian.features.sampling import draw_positions, resolve_kernel, take_rows
from gramian.kernels import Gaussian, Laplacian
from gramian.sources import DenseRows, as_source
from tests.catalog import SOURCES, host, parameters


@pytest.mark.parametrize("make_source", parameters(SOURCES))
def test_rows_are_taken_in_the_order_asked_for(make_source):
    """Rows come in the order of their positions, repeated where these are, from every kind of source."""
    X = np.random.default_rng(0).standard_normal((23, 4))
    positions = np.array([22, 0, 7, 7, 11, 3])
    rows = take_rows(make_source(X), positions)
    np.testing.assert_array_equal(rows.toarray() if sp.issparse(rows) else host(rows), X[positions])


def test_positions_are_drawn_by_weight():
    """Positions follow the weights; without replacement none comes twice and no more than there are."""
    source = DenseRows(np.zeros((4, 1)), weights=np.array([0.0, 1.0, 3.0, 0.0]))
    drawn = draw_positions(source, 4_000, seed=0, replace=True)
    assert set(drawn) == {1, 2}
    assert abs(np.mean(drawn == 2) - 0.75) < 0.03
    assert sorted(draw_positions(source, 10, seed=0)) == [1, 2]
    assert sorted(draw_positions(as_source(np.zeros((5, 1))), 10, seed=0)) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("gamma", [None, "scale", "median", 0.3])
def test_kernels_are_resolved_as_they_resolve_themselves(gamma):
    """A source gives the gamma that the kernel finds on the rows themselves."""
    X = 3.0 + np.random.default_rng(0).standard_normal((300, 4))
    kernel = resolve_kernel(Gaussian(gamma), DenseRows(X, block_rows=17)).kernel
    np.testing.assert_allclose(kernel(X[:5]), Gaussian(kernel.gamma)(X[:5]))
    truth = {None: 0.25, "scale": 1 / (4 * X.var(axis=0).mean()), 0.3: 0.3}
    if gamma != "median":
        np.testing.assert_allclose(kernel.gamma, truth[gamma], rtol=1e-12)
    else:
        distances = np.linalg.norm(X[:, None] - X, axis=2)[np.triu_indices(300, 1)]
        np.testing.assert_allclose(kernel.gamma, 1 / (2 * np.median(distances) ** 2), rtol=1e-9)


def test_sparse_rows_are_refused_before_any_work():
    """A kernel that would make them dense says so."""
    with pytest.raises(NotSupportedError, match="takes dense rows, and these are sparse"):
        resolve_kernel(Laplacian(), as_source(sp.csr_array(np.eye(3))))


class TestKMeans:
    """The light k-means."""

    @pytest.mark.parametrize("seed", range(4))
    def test_planted_groups_are_found(self, seed):
        """Well separated groups give their means, whatever the seed."""
        rng = np.random.default_rng(seed)
        centers = 50.0 * rng.standard_normal((12, 3))
        points = np.repeat(centers, 40, axis=0) + 0.01 * rng.standard_normal((480, 3))
        found = kmeans_centers(points, 12, seed=seed)
        nearest = np.linalg.norm(centers[:, None] - found, axis=2).min(axis=1)
        # k-means++ may place two seeds in one group; then one center stands between two groups.
        assert np.sum(nearest < 0.02) >= 10

    def test_sweeps_lower_the_cost(self):
        """Centers are nearer to the points than the seeds they came from."""
        points = np.random.default_rng(0).standard_normal((500, 2))
        seeds = points[spread_seeds(points - points.mean(axis=0), 20, seed=3)]
        cost = [
            (np.linalg.norm(points[:, None] - centers, axis=2).min(axis=1) ** 2).sum()
            for centers in (seeds, kmeans_centers(points, 20, seed=3))
        ]
        assert cost[1] < 0.8 * cost[0]

    def test_seeds_lie_apart_as_drawn_one_by_one(self):
        """The mean cost of seeds proposed by the dozen is that of k-means++ drawn one by one."""
        points = np.random.default_rng(1).standard_normal((80, 2)) * np.array([5.0, 1.0])
        by_dozen = [_cost(points, spread_seeds(points, 8, seed=seed)) for seed in range(200)]
        one_by_one = [_cost(points, _plain_seeds(points, 8, seed=seed)) for seed in range(200)]
        error = np.sqrt((np.var(by_dozen) + np.var(one_by_one)) / 200)
        assert abs(np.mean(by_dozen) - np.mean(one_by_one)) < 4 * error

    def test_there_are_no_more_centers_than_points(self):
        """Repeated points are one center each, and none is left over."""
        points = np.repeat(np.array([[0.0], [1.0], [5.0]]), 10, axis=0)
        assert sorted(kmeans_centers(points, 8, seed=0).ravel().tolist()) == [0.0, 1.0, 5.0]


def _cost(points, seeds):
    return (np.linalg.norm(points[:, None] - points[seeds], axis=2).min(axis=1) ** 2).sum()


def _plain_seeds(points, count, *, seed):
    rng = np.random.default_rng(seed)
    seeds = [int(rng.integers(len(points)))]
    while len(seeds) < count:
        left = (np.linalg.norm(points[:, None] - points[seeds], axis=2).min(axis=1)) ** 2
        seeds.append(int(rng.choice(len(points), p=left / left.sum())))
    return np.array(seeds)
