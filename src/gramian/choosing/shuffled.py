"""How many components of coded categories stand out of what columns give that have nothing to do with each other.

Rules for quantities do not hold for indicators: the levels of one category depend on each other, so that components of
independent categories have unequal variances by construction. Here whole columns are shuffled, codes and not
indicators, which leaves each column as it is and breaks every relation between two.
"""

from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import scipy

from gramian.arrays.namespace import HostArray
from gramian.choosing.spectrum import Verdict, counted

DRAWS = 39
"""Shuffled tables: a component stands out where at most one of them reaches it, which chance does once in twenty."""

SAMPLED = 20_000
"""Rows of a shuffled table, at most; what chance makes of more rows is as much smaller as its deviation is."""


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a table whose columns are shuffled.

    Attributes
    ----------
    codes : numpy array (n, Q)
        Level of each category, -1 for the average.
    numbers : numpy array (n, q)
        Standardized quantities.
    factors : list of numpy array
        What the indicator of each level of each category is multiplied by.
    weights : numpy array (n,) or None
        Repetitions of the rows.
    """

    codes: HostArray
    numbers: HostArray
    factors: list[HostArray]
    weights: HostArray | None = None


def shuffled_verdict(eigenvalues: HostArray, cells: Cells, *, seed: int) -> Verdict:
    """Return how many leading eigenvalues are above those of tables whose columns were shuffled.

    Component j stands out where at most one in twenty shuffled tables has a j-th eigenvalue as large; the first that
    does not ends the count.

    Cost: for each of 39 draws an addition per pair of cells of a row, of 20,000 rows at most, and the eigenvalues of a
    D x D matrix.

    Parameters
    ----------
    eigenvalues : numpy array (k,)
        Of the coded table.
    cells : Cells
    seed : int

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> codes = rng.integers(0, 3, (300, 4))
    >>> codes[:, 1] = codes[:, 0]
    >>> cells = Cells(codes, np.empty((300, 0)), [np.full(3, np.sqrt(3 / 4))] * 4)
    >>> shuffled_verdict(np.array([0.5, 0.5, 0.28, 0.26]), cells, seed=0).n_components
    2
    """
    rng, k = np.random.default_rng(seed), len(eigenvalues)
    own = _own_blocks(cells)
    null = np.array([_leading(own + _between(cells, rng), k) for _ in range(DRAWS)])
    limits = np.sort(null, axis=0)[-2]
    above = eigenvalues > limits * (1 + 1e-9)
    kept = k if above.all() else int(np.argmin(above))
    detail = {"exhausted": kept == k, "limits": limits}
    if kept == k:
        return Verdict("shuffled", kept, f"All {counted(k)} are above those of shuffled columns.", detail)
    reason = (
        f"Component {kept + 1} has variance {eigenvalues[kept]:.4g}, and columns that were shuffled reach "
        f"{limits[kept]:.4g}."
    )
    return Verdict("shuffled", kept, reason, detail)


def _starts(cells: Cells) -> list[int]:
    """Return where the columns of each category begin, and where all end."""
    return list(accumulate(map(len, cells.factors), initial=cells.numbers.shape[1]))


def _own_blocks(cells: Cells) -> HostArray:
    """Return the covariance within each column, which shuffling does not change."""
    starts, (n, q) = _starts(cells), cells.numbers.shape
    w = np.ones(n) if cells.weights is None else cells.weights
    out = np.zeros((starts[-1], starts[-1]))
    out[np.arange(q), np.arange(q)] = w @ cells.numbers**2 / w.sum()
    for i, factor in enumerate(cells.factors):
        known = cells.codes[:, i] >= 0
        counts = np.bincount(cells.codes[known, i], w[known], minlength=len(factor))
        shares = counts / max(counts.sum(), 1e-300)
        here = slice(starts[i], starts[i + 1])
        within = np.diag(shares) - np.outer(shares, shares)
        out[here, here] = counts.sum() / w.sum() * within * np.outer(factor, factor)
    return out


def _between(cells: Cells, rng: np.random.Generator) -> HostArray:
    """Return the covariance between columns, each of which was shuffled by itself (the lower half)."""
    starts, (n, q) = _starts(cells), cells.numbers.shape
    weight = n if cells.weights is None else float(cells.weights.sum())
    m = int(min(max(weight, 1), SAMPLED))
    chances = None if cells.weights is None else cells.weights / weight

    def drawn(column: HostArray) -> HostArray:
        return column[rng.choice(n, m, replace=chances is not None, p=chances)]

    out = np.zeros((starts[-1], starts[-1]))
    numbers = np.column_stack([drawn(cells.numbers[:, j]) for j in range(q)]) if q else np.empty((m, 0))
    numbers = numbers - numbers.mean(axis=0)
    out[:q, :q] = np.tril(numbers.T @ numbers / m, -1)
    columns = [drawn(cells.codes[:, i]) for i in range(cells.codes.shape[1])]
    for i, left in enumerate(columns):
        here, size, known = slice(starts[i], starts[i + 1]), len(cells.factors[i]), left >= 0
        if q:
            counts = np.bincount(left[known], minlength=size)
            sums = [np.bincount(left[known], numbers[known, j], minlength=size) for j in range(q)]
            expected = np.outer(counts, numbers[known].mean(axis=0)) if known.any() else 0.0
            out[here, :q] = (np.column_stack(sums) - expected) / m * cells.factors[i][:, None]
        for j in range(i):
            right, there, width = columns[j], slice(starts[j], starts[j + 1]), len(cells.factors[j])
            both = known & (right >= 0)
            table = np.bincount(left[both] * width + right[both], minlength=size * width).reshape(size, width)
            expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / max(table.sum(), 1)
            out[here, there] = (table - expected) / m * np.outer(cells.factors[i], cells.factors[j])
    out *= np.sqrt(m / weight)
    return out


def _leading(lower: HostArray, k: int) -> HostArray:
    """Return the k largest eigenvalues of a symmetric matrix of which the lower half is given, zeros where fewer."""
    d = len(lower)
    found = scipy.linalg.eigh(lower, lower=True, eigvals_only=True, subset_by_index=[max(d - k, 0), d - 1])[::-1]
    return np.pad(found, (0, k - len(found)))
