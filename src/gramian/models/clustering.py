"""What k-means loses, and how much sooner it ends, when rows are first projected on their leading components.

Let s_i be the singular values of the centered rows, and C_m the best clustering of their first m scores. Its cost on
the rows themselves is at most  cost(C*) + s_{m+1}^2 + ... + s_{m+k}^2,  C* being the best clustering of the rows: what
m components leave out of the cost is the same for every clustering but for what k means can explain of it, which is at
most that sum (Cohen, Elder, Musco, Musco and Persu, 2015, doi:10.1145/2746539.2746569, section 5). And no clustering
costs less than  s_{k+1}^2 + s_{k+2}^2 + ...,  so that the sum can be compared with a number that is known.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from gramian.arrays.namespace import HostArray, is_sparse, to_host
from gramian.arrays.precision import FLOAT64
from gramian.errors import NotSupportedError, ParameterError
from gramian.models.pca.fit import fit_pca
from gramian.models.pca.model import PCAOptions
from gramian.sources.opening import as_source
from gramian.sources.rows import all_rows


@dataclass(frozen=True, eq=False)
class KMeansCurve:
    """Cost and time of k-means against the number of components that the rows are projected on.

    Attributes
    ----------
    n_clusters : int
    dimensions : numpy array (p,) of int
        Numbers of components that were tried.
    costs : numpy array (p,)
        Sum of squared distances of the rows themselves to the means of their clusters, found in so many dimensions.
    seconds : numpy array (p,)
        For k-means on the scores.
    bounds : numpy array (p,)
        The most by which the cost of the best clustering can grow, relative to it, whatever the clusters are; infinity
        where rows of rank k or less leave nothing to compare it with.
    full_cost, full_seconds : float
        Of k-means on the rows.
    pca_seconds : float
        For the components, once for all dimensions.
    n_columns : int
    """

    n_clusters: int
    dimensions: HostArray
    costs: HostArray
    seconds: HostArray
    bounds: HostArray
    full_cost: float
    full_seconds: float
    pca_seconds: float
    n_columns: int

    @property
    def increases(self) -> HostArray:
        """How much more each costs than k-means on the rows, relative to that; below 0 where it found better ones."""
        return np.asarray(self.costs / self.full_cost - 1.0)

    def __str__(self) -> str:
        lines = [
            f"k-means with {self.n_clusters} clusters: cost {self.full_cost:.6g} in {self.n_columns:,} columns",
            f"{self.full_seconds:.3g} s for these, {self.pca_seconds:.3g} s for the components",
            f"{'dimensions':>10}{'cost':>10}{'at most':>10}{'time':>12}{'faster':>9}",
        ]
        for m, more, bound, seconds in zip(self.dimensions, self.increases, self.bounds, self.seconds, strict=True):
            faster = self.full_seconds / max(seconds, 1e-9)
            most = f"{bound:+.1%}" if np.isfinite(bound) else "no bound"
            lines.append(f"{m:>10,}{more:>+10.1%}{most:>10}{seconds:>10.3g} s{faster:>8.1f}x")
        return "\n".join(lines)


def kmeans_cost(
    X: Any,
    n_clusters: int,
    *,
    dimensions: Sequence[int] | None = None,
    n_init: int = 4,
    seed: int = 0,
    progress: Any = None,
) -> KMeansCurve:
    """Measure what k-means costs after PCA to fewer dimensions, beside k-means on the rows and beside its bound.

    Computes, for each m, the clusters that k-means finds in the first m scores and their cost on the rows,
    sum_i |x_i - mean of its cluster|^2,  and the bound  (s_{m+1}^2 + ... + s_{m+k}^2) / (s_{k+1}^2 + s_{k+2}^2 + ...)
    on its relative increase. The bound is about best clusterings; k-means finds local ones, from ``n_init`` starts, so
    that a measured cost may lie above it or below zero.

    Cost: one PCA with max(dimensions) + k components, and k-means once on the rows and once per m: n d k operations
    per step and start. The rows are held in memory. Times are those of this machine, in one run.

    Parameters
    ----------
    X : array, sparse array, table or path (n, d)
    n_clusters : int
        k; from 1 to n.
    dimensions : sequence of int, optional
        Numbers of components; by default 1, 2, 5, 10, ... up to min(n, d), at most 200, and k.
    n_init : int, default=4
        Starts of k-means, of which the best is kept; the same for the rows and for scores.
    seed : int, default=0
    progress : callable, optional
        Called with a sentence before each stage.

    Returns
    -------
    KMeansCurve
        Prints as a table; ``gramian.plot.kmeans(curve)`` draws it.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = 6 * rng.integers(0, 2, (300, 1)) * np.ones(40) + rng.standard_normal((300, 40))
    >>> curve = kmeans_cost(X, 2, dimensions=[1, 5])
    >>> bool(np.all(np.abs(curve.increases) < 0.01)), bool(np.all(curve.bounds > 0))
    (True, True)
    """
    from sklearn.cluster import KMeans

    source, say = as_source(X), progress or (lambda _sentence: None)
    n, d = source.n_rows, source.n_columns
    if not source.is_local:
        message = "k-means needs the rows in this process, and these are Dask's. Pass X.compute(), or a sample of it."
        raise NotSupportedError(message)
    if not 1 <= n_clusters <= n:
        message = f"n_clusters={n_clusters} is not between 1 and the number of rows, {n:,}."
        raise ParameterError(message, parameter="n_clusters", value=n_clusters)
    tried = _dimensions(dimensions, min(n, d), n_clusters)
    say(f"finding {tried[-1] + n_clusters} components of {n:,} x {d:,} rows")
    started = perf_counter()
    model = fit_pca(source, PCAOptions(min(int(tried[-1]) + n_clusters, n, d), seed=seed))
    scores = to_host(model.project(source)).astype(FLOAT64)
    pca_seconds = perf_counter() - started
    rows = all_rows(source) if source.is_sparse else to_host(all_rows(source))

    def clustered(table: Any) -> tuple[HostArray, float]:
        started = perf_counter()
        labels = KMeans(n_clusters, n_init=n_init, random_state=seed).fit(table).labels_
        return labels, perf_counter() - started

    say(f"clustering all {d:,} columns")
    labels, full_seconds = clustered(rows)
    full_cost = _cost(rows, labels, n_clusters)
    costs, seconds = np.empty(len(tried)), np.empty(len(tried))
    for i, m in enumerate(tried.tolist()):
        say(f"clustering {m} dimensions")
        labels, seconds[i] = clustered(np.ascontiguousarray(scores[:, :m]))
        costs[i] = _cost(rows, labels, n_clusters)
    squares = to_host(model.singular_values).astype(FLOAT64) ** 2
    total = model.total_variance * (model.weight - model.options.ddof)
    least = max(total - float(squares[:n_clusters].sum()), 0.0)
    more = np.array([float(squares[m : m + n_clusters].sum()) for m in tried])
    # What is left of the total by rounding is nothing: the cost of the best clusters may be zero.
    rounding = 1e-12 * total
    bounds = np.where(more > rounding, np.inf, 0.0) if least <= rounding else more / least
    return KMeansCurve(n_clusters, tried, costs, seconds, bounds, full_cost, full_seconds, pca_seconds, d)


def _dimensions(asked: Sequence[int] | None, most: int, k: int) -> HostArray:
    """Return the numbers of components to try, in order."""
    if asked is None:
        asked = [m for m in (1, 2, 5, 10, 20, 50, 100, 200, k) if m <= most]
    found = np.unique(np.asarray(list(asked), dtype=np.int64))
    if not len(found) or found[0] < 1 or found[-1] > most:
        message = f"dimensions={list(asked)}: each is a number of components from 1 to min(n, d) = {most:,}."
        raise ParameterError(message, parameter="dimensions", value=asked)
    return found


def _cost(rows: Any, labels: HostArray, k: int) -> float:
    """Return the sum of squared distances to the means of the clusters, by  sum |x|^2 - sum n_c |mean_c|^2.

    Rows are counted from their mean, so that a mean far from zero costs no digits; sparse rows stay sparse.
    """
    from scipy import sparse

    member: Any = sparse.csr_array((np.ones(len(labels)), (labels, np.arange(len(labels)))), shape=(k, len(labels)))
    counts = np.maximum(member.sum(axis=1), 1.0)[:, None]
    if is_sparse(rows):
        means = (member @ rows).toarray() / counts
        return float(rows.power(2).sum() - np.sum(counts * means**2))
    centered = np.asarray(rows, dtype=FLOAT64)
    centered = centered - centered.mean(axis=0)
    means = (member @ centered) / counts
    return float(np.sum((centered - means[labels]) ** 2))
