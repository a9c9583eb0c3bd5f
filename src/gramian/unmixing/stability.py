"""Whether another start, or other rows, would give the same sources.

Every run unmixes a bootstrap resample of the rows from a random start; the sources of all runs are matched, and each
gets the index of ICASSO (Himberg, Hyvarinen and Esposito, 2004, doi:10.1016/j.neuroimage.2004.03.027).
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from gramian.arrays.namespace import HostArray
from gramian.sources.dense import DenseRows
from gramian.unmixing.method import UnmixingMethod, nearest_rotation
from gramian.unmixing.resamples import whitened_anew
from gramian.unmixing.white_rows import WhiteRows

RUN_TOLERANCE = 1e-3
"""Gradient norm at which a run may stop: far under the differences between resamples."""

SHARE = 4
"""Rows are drawn a quarter as often as there are rows. Resamples as long as the data share so many rows that chance
shapes of Gaussian columns return in them: an index up to 0.87, against 0.71 for a quarter, in ten simulations."""


@dataclass(frozen=True, eq=False)
class Stability:
    """How alike the sources of several runs are.

    Attributes
    ----------
    index : numpy array (k,)
        Mean squared correlation of a source with its matches in other runs, less that with all other sources: 1 when
        every run finds it and it alone. Squares are shares of variance, and tell chance likeness from a match better
        than the correlations of ICASSO do.
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
    """Unmix ``runs`` bootstrap resamples of rows held in memory, each from a start of its own.

    Cost: ``runs`` times an unmixing of these rows, and k^3 operations a pair of runs.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.unmixing.picard import PicardO
    >>> z = np.random.default_rng(0).uniform(-1.732, 1.732, size=(2000, 2))
    >>> white = WhiteRows(DenseRows(z), np.eye(2), None, np.eye(2))
    >>> bool(measure_stability(white, PicardO(), runs=4, seed=0).index.min() > 0.9)
    True
    """
    method = replace(method, tol=max(method.tol, RUN_TOLERANCE))
    found = [_one_run(rows, method, np.random.default_rng([seed, run])) for run in range(runs)]
    matrices = [matrix for matrix, _ in found]
    similarity = _similarity(np.vstack(matrices), rows.second).reshape(runs, rows.size, runs, rows.size)
    matches = _matches(similarity)
    central = int(np.argmax([_matched(similarity, matches, run).mean() for run in range(runs)]))
    index = _index(similarity, matches, central)
    return Stability(index, matrices[central], runs, sum(done for _, done in found))


def _one_run(rows: WhiteRows, method: UnmixingMethod, rng: np.random.Generator) -> tuple[HostArray, bool]:
    """Unmix one resample: rows count as often as they were drawn, so nothing is copied."""
    source = rows.source
    assert isinstance(source, DenseRows)  # noqa: S101 - samples are held as dense rows
    drawn = max(rows.n_rows // SHARE, min(rows.n_rows, 10 * rows.size))
    counts = rng.multinomial(drawn, np.full(rows.n_rows, 1.0 / rows.n_rows)).astype(np.float64)
    resampled = DenseRows(source.array, weights=counts if source.weights is None else counts * source.weights)
    white = whitened_anew(resampled)
    found = method.solve(white, nearest_rotation(rng.standard_normal((rows.size, rows.size))))
    return found.matrix @ white.whitening, found.converged


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
    """Return, for the cluster around each source of the central run, the mean similarity inside less that outside."""
    runs, k = matches.shape[1:]
    order = matches[central]
    aligned = np.stack([similarity[:, :, r, :][:, :, order[r]] for r in range(runs)], axis=2)
    aligned = np.stack([aligned[r][order[r]] for r in range(runs)], axis=0)
    # aligned[r, i, q, j]: source i's member in run r against source j's member in run q.
    pairs = aligned.transpose(1, 3, 0, 2)
    other_runs = ~np.eye(runs, dtype=bool)
    inside = np.array([pairs[i, i][other_runs].mean() if runs > 1 else 1.0 for i in range(k)])
    outside = np.array([np.delete(pairs[i], i, axis=0).mean() if k > 1 else 0.0 for i in range(k)])
    index: HostArray = inside - outside
    return index
