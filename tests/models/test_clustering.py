"""k-means after PCA: the cost on the rows, its bound, and what is refused (E4 of the lectures)."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.cluster import KMeans

from gramian import kmeans_cost
from gramian.errors import GramianError
from gramian.models.prediction import prediction_curve


def blobs(n, d, k, *, mean=0.0, seed=0):
    """Rows around k centers."""
    rng = np.random.default_rng(seed)
    centers = 4 * rng.standard_normal((k, d))
    return mean + centers[rng.integers(0, k, n)] + rng.standard_normal((n, d))


@pytest.mark.parametrize("mean", [0.0, 1e5])
@pytest.mark.parametrize("seed", [0, 1])
def test_costs_are_those_of_scikit_learns_kmeans(mean, seed):
    """On all columns the cost is KMeans' inertia; with all components, a rotation, it is the same."""
    X = blobs(200, 8, 3, mean=mean, seed=seed)
    curve = kmeans_cost(X, 3, dimensions=[8], seed=seed)
    own = KMeans(3, n_init=4, random_state=seed).fit(X)
    assert curve.full_cost == pytest.approx(own.inertia_, rel=1e-6)
    assert curve.costs[0] == pytest.approx(curve.full_cost, rel=1e-6)
    assert curve.bounds[0] == 0.0


@pytest.mark.parametrize("seed", range(4))
def test_the_bound_holds_for_best_clusterings(seed):
    """Of few rows every clustering in two is tried: the best one in m dimensions costs no more than the bound says."""
    n, d = 9, 6
    X = np.random.default_rng(seed).standard_normal((n, d)) * np.linspace(2, 0.5, d)
    Xc = X - X.mean(axis=0)
    U, s, _ = np.linalg.svd(Xc, full_matrices=False)
    halves = [np.array([(code >> i) & 1 for i in range(n)]) for code in range(1, 2 ** (n - 1))]

    def cost(rows, labels):
        return sum(np.sum((rows[labels == c] - rows[labels == c].mean(axis=0)) ** 2) for c in (0, 1))

    best = min(cost(Xc, labels) for labels in halves)
    curve = kmeans_cost(X, 2, dimensions=[1, 2, 3, 4], seed=seed)
    for m, bound in zip(curve.dimensions, curve.bounds, strict=True):
        scores = (U * s)[:, :m]
        labels = min(halves, key=lambda labels: cost(scores, labels))
        assert cost(Xc, labels) / best - 1 <= bound + 1e-12
        assert bound == pytest.approx(np.sum(s[m : m + 2] ** 2) / np.sum(s[2:] ** 2), rel=1e-9)


@pytest.mark.parametrize("rank", [1, 3])
@pytest.mark.parametrize("mean", [0.0, 1e3])
def test_where_the_best_clusters_may_cost_nothing_there_is_no_bound(rank, mean):
    """Rows of rank k or less leave nothing to compare with: no bound, but for all of their components, which is 0."""
    rng = np.random.default_rng(0)
    X = mean + rng.standard_normal((200, rank)) @ rng.standard_normal((rank, 8))
    curve = kmeans_cost(X, 3, dimensions=[1, 2, 3, 4])
    np.testing.assert_array_equal(curve.bounds, np.where(curve.dimensions < rank, np.inf, 0.0))
    assert str(curve).count("no bound") == rank - 1


def test_sparse_rows_cost_the_same():
    """A sparse table is clustered sparse, at the cost of the dense one."""
    X = np.where(np.random.default_rng(0).random((120, 30)) < 0.2, blobs(120, 30, 2, seed=3), 0.0)
    dense, stored = kmeans_cost(X, 2, dimensions=[2, 5]), kmeans_cost(sparse.csr_array(X), 2, dimensions=[2, 5])
    np.testing.assert_allclose(stored.costs, dense.costs, rtol=1e-8)
    assert stored.full_cost == pytest.approx(dense.full_cost, rel=1e-8)


def test_a_frame_of_many_types_costs_what_its_numbers_do(monkeypatch):
    """A frame that is converted piece by piece is clustered, and learned from, as the array that it stands for."""
    monkeypatch.setattr("gramian.sources.table.CONVERTED_AT_ONCE", 0)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.integers(0, 9, 60), "b": rng.standard_normal(60), "c": rng.random(60) < 0.5})
    X = frame.to_numpy(float)
    np.testing.assert_allclose(kmeans_cost(frame, 3, seed=0).costs, kmeans_cost(X, 3, seed=0).costs, rtol=1e-12)
    both = (prediction_curve(rows, X[:, 0], n_train=30).errors for rows in (frame, X))
    np.testing.assert_allclose(*both, rtol=1e-12)


def test_it_prints_a_line_per_dimension():
    """The table names the clusters, the columns, and each number of dimensions."""
    text = str(kmeans_cost(blobs(60, 5, 2), 2, dimensions=[1, 3]))
    assert "2 clusters" in text
    assert [line.split()[0] for line in text.splitlines()[3:]] == ["1", "3"]


@pytest.mark.parametrize(
    "words, match",
    [
        ({"n_clusters": 0}, "n_clusters=0 is not between 1 and the number of rows, 20"),
        ({"n_clusters": 21}, "n_clusters=21"),
        ({"n_clusters": 2, "dimensions": [5]}, r"from 1 to min\(n, d\) = 4"),
        ({"n_clusters": 2, "dimensions": []}, "from 1 to"),
    ],
)
def test_wrong_numbers_are_refused(words, match):
    """What cannot be is refused before work starts, with the numbers that can."""
    with pytest.raises(GramianError, match=match):
        kmeans_cost(np.ones((20, 4)), **words)
