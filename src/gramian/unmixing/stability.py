"""Whether another start, or other rows, would give the same sources.

For stability every run unmixes rows of its own from a random start; the sources of all runs are matched, and each gets
the index of ICASSO (Himberg, Hyvarinen and Esposito, 2004, doi:10.1016/j.neuroimage.2004.03.027), with two changes.
Runs share no rows: chance shapes of Gaussian columns return in resamples of the same rows (a quarter of them, drawn
with replacement, gave pairs that no rotation tells from another an index up to 0.94, parts of their own up to 0.79).
And a source is compared with the one other source that it is most like, not with all of them on average, which would
hide such a pair among many sources. For the error of W quarters of the rows are unmixed, each by itself.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from gramian.arrays.namespace import HostArray, to_host
from gramian.sources.dense import DenseRows
from gramian.sources.moments import measure_moments
from gramian.sources.rows import run_each
from gramian.unmixing.method import UnmixingMethod, nearest_rotation
from gramian.unmixing.white_rows import WhiteRows, thinned


@dataclass(frozen=True, eq=False)
class Stability:
    """How alike the sources of several runs are.

    Attributes
    ----------
    index : numpy array (k,)
        Mean squared correlation of a source with its matches in other runs, less that with the other source that it is
        most like: 1 when every run finds it and it alone. Squares are shares of variance, and tell chance likeness from
        a match better than the correlations of ICASSO do.
    matrix : numpy array (k, k)
        W of the most central run: the one whose sources have the best matches in all others.
    n_runs : int
    n_converged : int
        Runs that reached their tolerance.
    """

    index: HostArray
    matrix: HostArray
    n_runs: int
    n_converged: int


def measure_stability(rows: WhiteRows, method: UnmixingMethod, *, runs: int, seed: int) -> Stability:
    """Unmix ``runs`` parts of rows in memory, each from a start of its own.

    A part has one row in ``runs``, a quarter of the rows at most and 10 for each source at least; only where that is
    more than there are do parts share rows.  Cost: about that of unmixing these rows once, and k^3 operations for each
    pair of runs. Runs are shared out among the workers.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.unmixing.picard import PicardO
    >>> z = np.random.default_rng(0).uniform(-1.732, 1.732, size=(2000, 2))
    >>> white = WhiteRows(DenseRows(z), np.eye(2), None, np.eye(2))
    >>> bool(measure_stability(white, PicardO(), runs=4, seed=0).index.min() > 0.9)
    True
    """
    # Gradient norm at which a run may stop: far under the differences between parts.
    method = replace(method, tol=max(method.tol, 1e-3))
    tasks = [
        (part, np.random.default_rng([seed, run]))
        for run, part in enumerate(_parts(rows.n_rows, rows.size, runs=runs, seed=seed))
    ]
    found = run_each(tasks, lambda task: _unmixed_part(rows, method, *task))
    matrices = [matrix for matrix, _ in found]
    similarity = _similarity(np.vstack(matrices), rows.second).reshape(runs, rows.size, runs, rows.size)
    matches = _matches(similarity)
    central = int(np.argmax([_matched(similarity, matches, run).mean() for run in range(runs)]))
    index = _index(similarity, matches, central)
    return Stability(index, matrices[central], runs, sum(done for _, done in found))


def _unmixed_part(
    rows: WhiteRows, method: UnmixingMethod, taken: HostArray, rng: np.random.Generator
) -> tuple[HostArray, bool]:
    """Unmix some rows by themselves, from a random start."""
    source = rows.source
    assert source.whole is not None  # noqa: S101 - samples are dense rows in memory
    weights = None if source.weights is None else source.weights[taken]
    white = whitened_anew(DenseRows(source.whole[taken], weights=weights))
    found = method.solve(white, nearest_rotation(rng.standard_normal((rows.size, rows.size))))
    return found.matrix @ white.whitening, found.converged


def _parts(n: int, k: int, *, runs: int, seed: int) -> list[HostArray]:
    """Return the rows of each run: one after another from a random order of all, begun again where it ends."""
    size = max(n // max(runs, 4), min(n, 10 * k))
    order = np.random.default_rng(seed).permutation(n)
    return [order.take(np.arange(run * size, (run + 1) * size), mode="wrap") for run in range(runs)]


def _similarity(stacked: HostArray, second: HostArray) -> HostArray:
    """Return the squared correlation of every source of every run with every other."""
    products = stacked @ second @ stacked.T
    scale = np.diagonal(products)
    similarity: HostArray = products**2 / scale[:, None] / scale[None, :]
    return similarity


def _matches(similarity: HostArray) -> HostArray:
    """Return (runs, runs, k): which source of run r is matched with source i of run q, one to one."""
    runs, k = similarity.shape[:2]
    matches = np.empty((runs, runs, k), dtype=int)
    for q in range(runs):
        for r in range(runs):
            matches[q, r] = linear_sum_assignment(similarity[q, :, r, :], maximize=True)[1]
    return matches


def _matched(similarity: HostArray, matches: HostArray, q: int) -> HostArray:
    """Return the similarity of each source of run q with its match in every run (runs, k)."""
    runs, k = matches.shape[1:]
    return np.array([similarity[q, np.arange(k), r, matches[q, r]] for r in range(runs)])


def _index(similarity: HostArray, matches: HostArray, central: int) -> HostArray:
    """Return, for the cluster around each source of the central run, the similarity inside less the largest outside."""
    runs, k = matches.shape[1:]
    order = matches[central]
    aligned = np.stack([similarity[:, :, r, :][:, :, order[r]] for r in range(runs)], axis=2)
    aligned = np.stack([aligned[r][order[r]] for r in range(runs)], axis=0)
    # aligned[r, i, q, j]: source i's member in run r against source j's member in run q.
    pairs = aligned.transpose(1, 3, 0, 2)
    other_runs = ~np.eye(runs, dtype=bool)
    inside = np.array([pairs[i, i][other_runs].mean() if runs > 1 else 1.0 for i in range(k)])
    outside = np.array([np.delete(pairs[i], i, axis=0).mean(axis=(1, 2)).max() if k > 1 else 0.0 for i in range(k)])
    index: HostArray = inside - outside
    return index


def whitened_anew(source: DenseRows) -> WhiteRows:
    """Return part of white rows as white.

    Its correlations, of size 1/sqrt(N), would otherwise turn sources by that much over their curvature: ten times more
    than the sampling of the sources themselves does.

    Examples
    --------
    >>> import numpy as np
    >>> part = DenseRows(np.random.default_rng(0).standard_normal((100, 2)))
    >>> z = whitened_anew(part).sources(np.eye(2))
    >>> np.abs(np.cov(z.T, bias=True) - np.eye(2)).max() < 1e-12
    np.True_
    """
    moments = measure_moments(source)
    values, vectors = np.linalg.eigh(to_host(moments.scatter) / moments.weight)
    whitening = (vectors / np.sqrt(np.maximum(values, np.finfo(float).eps * values[-1]))) @ vectors.T
    return WhiteRows(source, whitening, moments.mean, np.eye(source.n_columns))


def unmixed_quarters(z: HostArray, method: UnmixingMethod, W: HostArray, *, whiten: bool) -> list[HostArray]:
    """Return the W that each quarter of white rows z (N, k) gives by itself, begun at W.

    Their angles are twice as uncertain as those of W.  Cost: a few passes over z.
    """
    # Fifty iterations at most: they begin at the solution of all rows.
    near = replace(method, tol=max(method.tol, 0.1 / np.sqrt(len(z))), max_iter=min(method.max_iter, 50))

    def unmixed(shift: int) -> HostArray:
        source, size = DenseRows(z[thinned(len(z), 4, shift=shift)]), len(W)
        rows = whitened_anew(source) if whiten else WhiteRows(source, np.eye(size), None, np.eye(size))
        return near.descend(rows, W).matrix @ rows.whitening

    return run_each(range(4), unmixed)
