"""Dependence of pairs of sources, in nats, from classes of equal size."""

from functools import partial
from operator import concat

import numpy as np

from gramian.arrays.namespace import HostArray
from gramian.sources.rows import ranges, run_folds

ALIKE = 6.0
"""Neighboring values of a source nearer than this over sqrt(N) deviations are one value of a discrete source: its
correlation with another, by chance up to 3 / sqrt(N), splits each of its values by twice that."""

ATOM, ATOM_SHARE = 0.25, 0.05
"""Width, in deviations, up to which alike values are one, and the share of the rows that two of them must have each
before a source counts as discrete: the bulk beside a few outliers is narrow too."""

BINS = 8
"""Classes of equal size into which each source is cut."""

GROUP = 8
"""Sources that are counted against all later ones at a time: all pairs at once would take (8 k)^2 numbers."""

PIECE_NUMBERS = 1 << 15
"""Indicators of classes, about, that are held at a time."""


def pairwise_dependence(s: HostArray) -> HostArray:
    """Return the mutual information of each pair of columns, in nats, from eight classes of equal size each (k, k).

    Computes  sum p_ab log(p_ab / (p_a p_b))  less the mean  (a - 1) (b - 1) / 2N  that independent columns of a and b
    classes would give: eight, or fewer where a column is discrete (see :func:`merged`).  Cost: a sort a column, and
    N (8 k)^2 operations.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.random.default_rng(0).standard_normal(20_000)
    >>> pairwise_dependence(np.column_stack([x, x**2])).round(1)[0, 1] > 0.5
    np.True_
    """
    columns, cuts = s.T, [_cut(column) for column in s.T]
    if any(values is not None for values, _ in cuts):
        columns = np.array([old if new is None else new for old, (new, _) in zip(columns, cuts, strict=True)])
    edges = np.array([edges for _, edges in cuts])
    parts = run_folds(ranges(len(columns), GROUP), partial(_fold_group, columns, edges), concat)
    upper = np.triu(np.vstack(parts), 1)
    dependence: HostArray = np.maximum(upper + upper.T, 0.0)
    return dependence


def dependence_noise(n: int) -> float:
    """Return the 99% point of the estimate for independent columns: a chi-square of 49 over 2N, less its mean."""
    return (74.92 - (BINS - 1) ** 2) / (2 * n)


def _cut(values: HostArray) -> tuple[HostArray | None, HostArray]:
    """Return the merged values of a column where it is discrete, and the lower edges of its classes."""
    x, new = np.sort(values), None
    if is_discrete(x):
        new = merged(values)
        x = np.sort(new)
    edges = x[((len(x) - 1) * np.arange(BINS)) // BINS]
    edges[0] = -np.inf
    return new, edges


def _fold_group(columns: HostArray, edges: HostArray, state: list[HostArray] | None, group: slice) -> list[HostArray]:
    """Measure some sources against all that do not come before them; what comes before is left zero."""
    k, n = columns.shape
    above = _counts_above(columns[group.start :], edges[group.start :], group.stop - group.start)
    # Above an edge and not above the next one is in the class between them.
    joint = np.diff(np.diff(above, axis=1, append=0.0), axis=3, append=0.0) / n
    first, second = joint.sum(axis=(2, 3)) / joint.shape[2], joint.sum(axis=(0, 1)) / joint.shape[0]
    logs = first[:, :, None, None] * second
    with np.errstate(divide="ignore", invalid="ignore"):
        np.log(np.divide(joint, logs, out=logs), out=logs)
    # An empty class adds nothing, and its logarithm is not finite.
    logs[joint == 0] = 0.0
    joint *= logs
    free = [(single > 0).sum(axis=1) - 1 for single in (first, second)]
    information = np.zeros((len(first), k))
    information[:, group.start :] = joint.sum(axis=(1, 3)) - np.outer(*free) / (2 * n)
    return [*(state or []), information]


def _counts_above(columns: HostArray, edges: HostArray, g: int) -> HostArray:
    """Count the rows above each edge of the first g columns and each edge of all of them (g, 8, k, 8)."""
    k, n = columns.shape
    counts, step = np.zeros((g * BINS, k * BINS)), min(n, max(64, PIECE_NUMBERS // (k * BINS)))
    room = np.empty((k, BINS, step), dtype=np.float32)
    for part in ranges(n, step):
        piece = columns[:, None, part]
        above = np.greater(piece, edges[:, :, None], out=room[:, :, : piece.shape[2]]).reshape(k * BINS, -1)
        counts += above[: g * BINS] @ above.T
    return counts.reshape(g, BINS, k, BINS)


def merged(values: HostArray) -> HostArray:
    """Return values with those of a discrete source that only the error of W parts made equal; others as they are.

    Sorted values up to  6 / sqrt(N)  deviations apart make a run, and runs up to a quarter deviation wide are set to
    their mean, where two or more of them hold a twentieth of the rows each.  Cost: a sort. Rare far values, such as the
    ones of a coin that shows them once in fifty, part the values of another source further than that.

    Examples
    --------
    >>> import numpy as np
    >>> coins = np.random.default_rng(0).integers(0, 2, (1000, 2)).astype(float)
    >>> split = coins[:, 0] + 0.02 * coins[:, 1]
    >>> len(np.unique(split)), len(np.unique(merged(split)))
    (4, 2)
    """
    order = np.argsort(values, kind="stable")
    x = values[order]
    if not is_discrete(x):
        return values
    starts, counts, atoms = _runs(x)
    means = np.add.reduceat(x.astype(np.float64), starts) / counts
    result: HostArray = np.empty_like(x)
    result[order] = np.where(np.repeat(atoms, counts), np.repeat(means, counts), x)
    return result


def is_discrete(x: HostArray) -> bool:
    """Tell whether two narrow runs of sorted values, or more, hold a twentieth of the rows each."""
    _, counts, atoms = _runs(x)
    return bool(np.count_nonzero(atoms & (counts >= ATOM_SHARE * len(x))) >= 2)


def _runs(x: HostArray) -> tuple[HostArray, HostArray, HostArray]:
    """Return where runs of alike values begin among sorted ones, how many each has, and which are narrow."""
    scale = float(x.std())
    starts = np.flatnonzero(np.diff(x, prepend=-np.inf) > ALIKE / np.sqrt(len(x)) * scale)
    counts = np.diff(starts, append=len(x))
    return starts, counts, x[starts + counts - 1] - x[starts] <= ATOM * scale
