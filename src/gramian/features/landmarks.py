"""Which rows, or points between them, stand for all rows in a Nystroem approximation."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import solve_triangular

from gramian.arrays.namespace import Array, HostArray, from_host, to_host
from gramian.arrays.precision import FLOAT64, eps_of
from gramian.errors import NotSupportedError
from gramian.features.resolving import Resolved
from gramian.features.sampling import draw_positions, take_rows
from gramian.kernels.blocks import named_rows
from gramian.sources.rows import RowSource, ranges


def kmeans_centers(points: HostArray, count: int, *, seed: int) -> HostArray:
    """Return centers that points are near to (at most ``count``, d).

    Computes  Lloyd's iteration (1982, doi:10.1109/TIT.1982.1056489): points go to their nearest center, centers to the
    mean of their points; ten sweeps at most, from the seeds of k-means++. A center without points stays. Fewer
    centers come back only where there are fewer different points.

    Cost: 2 n d count operations per sweep, n count numbers in pieces. Not a clustering to interpret: it stops early.

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
    for _ in range(10):  # landmarks are hardly better after more
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
        proposed = rng.choice(len(points), min(256, 2 * (count - len(seeds))), p=left / left.sum())
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


CANDIDATES = 10_000
"""Rows, at least, that k-means and pivots look at where there are as many."""

CHOICES = ("uniform", "kmeans", "pivoted")
"""How landmarks can be chosen."""


class Chosen(NamedTuple):
    """Landmarks (m, d), and their positions among the rows where they are rows."""

    points: Array
    positions: HostArray | None


def choose_landmarks(source: RowSource, resolved: Resolved, count: int, *, choice: str, seed: int) -> Chosen:
    """Choose ``count`` landmarks for a kernel on the rows of a source; fewer where fewer say all.

    uniform
        Rows drawn at random, each as often as its weight says. One pass; good when rows are spread evenly.
    kmeans
        Centers of groups (Zhang, Tsang and Kwok, 2008), for kernels of the distance of dense rows: few of them do
        what many drawn rows do. 2 c d m operations per sweep for c candidates.
    pivoted
        Rows chosen by a randomly pivoted Cholesky factorization of K: for every kernel, also where rows are spread
        unevenly. c m (d + m) operations and c m numbers.

    The last two look at c = max(10,000, 8 m) or max(10,000, 4 m) rows drawn at random.
    """
    if choice == "uniform":
        return _rows_at(source, draw_positions(source, count, seed=seed))
    if choice == "kmeans":
        return _centers(source, count, seed=seed)
    candidates = draw_positions(source, max(CANDIDATES, 4 * count), seed=seed)
    rows = take_rows(source, candidates)
    with named_rows(candidates, candidates):
        pivots = pivoted_positions(rows, resolved, count, seed=seed + 1)
    return _rows_at(source, candidates[pivots])


def pivoted_positions(rows: Array, resolved: Resolved, count: int, *, seed: int) -> HostArray:
    """Return the pivots of a randomly pivoted partial Cholesky factorization of K over these rows.

    Computes  pivots drawn with probability proportional to the diagonal of what is left of K, eliminated, and so on
    (Chen, Epperly, Tropp and Webber, 2022, arXiv:2207.06503). They are proposed by the dozen from the same
    diagonal and kept with the probability that theirs has shrunk by meanwhile, which leaves the distribution as it is
    (Epperly, Tropp and Webber, 2024, arXiv:2410.03969).

    Cost: n count kernel values, n count^2 operations and n count numbers. Stops early where K has no more rank.

    Parameters
    ----------
    rows : array (n, d) or CSR
    resolved : Resolved
        The kernel and the point that distances are taken from.
    """
    rng, work = np.random.default_rng(seed), _PartialCholesky(rows, resolved, count)
    while work.wanted > 0 and work.left.sum() > work.floor:
        share = work.left / work.left.sum()
        # 128 at a time: enough for full matrix products, few enough that most are accepted.
        work.grow(rng.choice(len(share), min(128, 2 * work.wanted), p=share), rng)
    return work.pivots


class _PartialCholesky:
    """A partial factorization  K ~ F'F  that grows by the pivots it is given; ``left`` is the diagonal of the rest."""

    def __init__(self, rows: Array, resolved: Resolved, count: int) -> None:
        self._rows, self._resolved = rows, resolved
        self._all = self._prepared(rows)
        self.left = resolved.kernel.diagonal(rows).copy()
        self.floor = len(self.left) * eps_of(FLOAT64) * float(self.left.sum())
        self.pivots = np.empty(0, dtype=np.int64)
        self._factor = np.empty((count, len(self.left)))

    @property
    def wanted(self) -> int:
        """Pivots that are still to come."""
        return len(self._factor) - len(self.pivots)

    def grow(self, proposed: HostArray, rng: np.random.Generator) -> None:
        """Eliminate those of the proposed pivots that are accepted."""
        L = accepted_columns(self._remainder(proposed, proposed), self.left[proposed], rng)[:, : self.wanted]
        # Each accepted column begins at its own pivot.
        kept = np.argmax(L != 0, axis=0)
        # Proposals that rounding alone had left are not proposed again.
        self.left[proposed] = np.where(np.einsum("ij,ij->i", L, L) > 0, self.left[proposed], 0.0)
        if not kept.size:
            return
        pivots = proposed[kept]
        strip = solve_triangular(L[kept], self._remainder(pivots, None), lower=True, check_finite=False)
        self._factor[len(self.pivots) : len(self.pivots) + len(pivots)] = strip
        self.left = np.maximum(self.left - np.einsum("ij,ij->j", strip, strip), 0.0)
        self.pivots = np.concatenate([self.pivots, pivots])
        self.left[self.pivots] = 0.0

    def _remainder(self, left: HostArray, right: HostArray | None) -> HostArray:
        """Return K - F'F at rows ``left`` and columns ``right``, all of them where that is ``None``."""
        others = self._all if right is None else self._prepared(self._rows[right])
        factor = self._factor[: len(self.pivots)]
        with named_rows(left, right):
            K = to_host(self._resolved.kernel.evaluate(self._prepared(self._rows[left]), others))
        return K - factor[:, left].T @ (factor if right is None else factor[:, right])

    def _prepared(self, rows: Array) -> Any:
        return self._resolved.kernel.prepare(rows, dtype=FLOAT64, origin=self._resolved.origin)


def accepted_columns(K: HostArray, diagonal: HostArray, rng: np.random.Generator) -> HostArray:
    """Return the Cholesky columns (b, a) of the pivots accepted among b proposed ones, in order.

    A proposal is accepted with probability (what is left of its diagonal entry) / (what was left when it was drawn).

    Examples
    --------
    >>> K = np.array([[4.0, 4.0, 0.0], [4.0, 4.0, 0.0], [0.0, 0.0, 1.0]])
    >>> accepted_columns(K, np.diag(K), np.random.default_rng(0))
    array([[2., 0.],
           [2., 0.],
           [0., 1.]])
    """
    K, columns = K.copy(), []
    floor = len(K) * eps_of(FLOAT64) * float(np.max(diagonal, initial=0.0))
    for i, draw in enumerate(rng.random(len(K))):
        if K[i, i] > max(draw * diagonal[i], floor):
            column = np.zeros(len(K))
            column[i:] = K[i:, i] / np.sqrt(K[i, i])
            K -= np.outer(column, column)
            columns.append(column)
    return np.array(columns).reshape(-1, len(K)).T


def _rows_at(source: RowSource, positions: HostArray) -> Chosen:
    return Chosen(take_rows(source, positions), positions)


def _centers(source: RowSource, count: int, *, seed: int) -> Chosen:
    if source.is_sparse:
        message = (
            "landmarks='kmeans' takes averages of rows, which are dense, and these rows are sparse. Use 'pivoted' or "
            "'uniform', or pass X.toarray() if it fits."
        )
        raise NotSupportedError(message)
    rows = take_rows(source, draw_positions(source, max(CANDIDATES, 8 * count), seed=seed))
    centers = kmeans_centers(to_host(rows), count, seed=seed + 1)
    return Chosen(from_host(centers, like=rows, dtype=source.dtype), None)
