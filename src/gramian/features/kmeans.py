"""Centers of groups of points: a light k-means, for choosing landmarks on a sample of rows."""

import numpy as np
import scipy.sparse as sp

from gramian.arrays.namespace import HostArray
from gramian.sources.rows import ranges

SWEEPS = 10
"""Passes over the points at most: landmarks are hardly better after more."""

PROPOSED = 256
"""Seeds proposed at a time."""


def kmeans_centers(points: HostArray, count: int, *, seed: int) -> HostArray:
    """Return centers that points are near to (at most ``count``, d).

    Computes  Lloyd's iteration (1982, doi:10.1109/TIT.1982.1056489): points go to their nearest center, centers to the
    mean of their points; ten sweeps at most, from the seeds of k-means++. A center without points stays. Fewer
    centers come back only where there are fewer different points.

    Cost: 2 n d count operations a sweep, n count numbers in pieces. Not a clustering to be interpreted: it stops early.

    Examples
    --------
    >>> points = np.array([[0.0], [0.2], [5.0], [5.2]])
    >>> sorted(kmeans_centers(points, 2, seed=0).ravel().tolist())
    [0.1, 5.1]
    """
    mean = points.mean(axis=0)
    points = points.astype(np.float64) - mean
    centers = points[spread_seeds(points, count, seed=seed)]
    labels = np.full(len(points), -1)
    for _ in range(SWEEPS):
        before, labels = labels, _nearest(points, centers)
        if np.array_equal(before, labels):
            break
        centers = _means(points, labels, centers)
    return np.asarray(centers + mean)


def spread_seeds(points: HostArray, count: int, *, seed: int) -> HostArray:
    """Return positions of points that lie far apart: the seeds of k-means++ (Arthur and Vassilvitskii, 2007).

    Each seed is drawn with probability proportional to its squared distance from those before it. Seeds are proposed
    by the dozen and accepted with the probability that distances have shrunk by meanwhile, which gives the same
    distribution with one matrix product for many seeds.

    Cost: 2 n d count operations.
    """
    rng = np.random.default_rng(seed)
    seeds = [int(rng.integers(len(points)))]
    left = _squared_distances(points, points[seeds])[:, 0]
    floor = 1e-14 * float(left.max())
    while len(seeds) < count and left.max() > floor:
        proposed = rng.choice(len(points), min(PROPOSED, 2 * (count - len(seeds))), p=left / left.sum())
        accepted = _accepted(points[proposed], left[proposed], rng)[: count - len(seeds)]
        seeds.extend(proposed[accepted].tolist())
        for part in ranges(len(points), 8192):
            np.minimum(
                left[part], _squared_distances(points[part], points[proposed[accepted]]).min(axis=1), out=left[part]
            )
        left[seeds] = 0.0
    return np.array(seeds)


def _accepted(points: HostArray, left: HostArray, rng: np.random.Generator) -> HostArray:
    """Return which proposals to keep, in order: each by how much of its distance those kept before it have left."""
    apart, now = _squared_distances(points, points), left.copy()
    kept = []
    for i, draw in enumerate(rng.random(len(points))):
        if draw * left[i] < now[i]:
            kept.append(i)
            np.minimum(now, apart[i], out=now)
            now[i] = 0.0
    return np.array(kept)


def _squared_distances(left: HostArray, right: HostArray) -> HostArray:
    squares = np.einsum("ij,ij->i", left, left)[:, None] + np.einsum("ij,ij->i", right, right)
    squares -= 2.0 * (left @ right.T)
    return np.asarray(np.maximum(squares, 0.0, out=squares))


def _nearest(points: HostArray, centers: HostArray) -> HostArray:
    half = 0.5 * np.einsum("ij,ij->i", centers, centers)
    pieces = [np.argmax(points[part] @ centers.T - half, axis=1) for part in ranges(len(points), 4096)]
    return np.concatenate(pieces)


def _means(points: HostArray, labels: HostArray, centers: HostArray) -> HostArray:
    n = len(points)
    member = sp.csr_array((np.ones(n), (labels, np.arange(n))), shape=(len(centers), n))
    counts = np.bincount(labels, minlength=len(centers))[:, None]
    return np.where(counts > 0, (member @ points) / np.maximum(counts, 1), centers)
