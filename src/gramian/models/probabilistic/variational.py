"""Variational Bayes for  x_ij = b_j + a_i + w_j'z_i + e  on the known entries of a table.

After Ilin and Raiko (2010, JMLR 11:1957): Gaussian posteriors q(z_i, a_i) of rows and q(w_j, b_j) of columns, each
with its full covariance; priors  z ~ N(0, I),  a ~ N(0, v_a),  w_k ~ N(0, alpha_k),  b ~ N(m, v_b)  and noise
e ~ N(0, v);  alpha, v_a, m, v_b and v are set to where the lower bound of the log evidence is largest. A component that
is not needed has its alpha go to zero and is removed.

Both sides are written with one more number that is fixed:  x = g'h + e,  g = (z, a, 1),  h = (w, 1, b)  (without row
biases g = (z, 1), h = (w, b)). A round is one pass over the rows: each chunk finds its q(g), adds what the columns need
of it,  sum of E[g g']  and  sum of x E[g]  per column, and is forgotten. Before columns are solved for, g -> A g and
h -> A^-T h, which leaves every prediction as it is, with an A that raises the bound: z has mean zero and unit second
moment, and the columns of W are orthogonal (sections 3.2 and 4.1 there). Without that, the alternation crawls.

Cost of a round, K = k + 2:  2 K^2 operations per known entry, and K^3 per row and column.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from gramian.arrays.namespace import HostArray
from gramian.arrays.precision import FLOAT64
from gramian.machine import cache_bytes
from gramian.models.probabilistic.entries import KnownEntries, RowMoments, Rows
from gramian.sources.rows import ranges, run_each

PRIOR_ENTRIES, PRIOR_NOISE = 1.0, 1e-6
"""The noise variance has the prior of so many entries with this part of the table's variance: without one, a table of
low rank without noise, or with few entries, has no largest bound."""


SLOW = 3e-4
"""Rise of the bound per known entry in a round below which components are removed that do not pay for themselves."""


class Layout(NamedTuple):
    """Which numbers of g = (z, a, 1) and h = (w, 1, b) are unknown, and the packed upper half of a K x K matrix.

    Attributes
    ----------
    k : int
    biases : bool
        Whether rows have one.
    """

    k: int
    biases: bool

    @property
    def size(self) -> int:
        """K: the length of g and h."""
        return self.k + 1 + self.biases

    @property
    def of_rows(self) -> HostArray:
        """Positions in g that are unknown: z, and a."""
        return np.arange(self.k + self.biases)

    @property
    def of_columns(self) -> HostArray:
        """Positions in h that are unknown: w and b."""
        return np.array([*range(self.k), self.size - 1])

    @property
    def half(self) -> tuple[HostArray, HostArray]:
        """Rows and columns of the packed half."""
        return np.triu_indices(self.size)

    @property
    def whole(self) -> HostArray:
        """The place (K, K) of each entry in the packed half."""
        places = np.empty((self.size, self.size), dtype=int)
        i, j = self.half
        places[i, j] = places[j, i] = np.arange(len(i))
        return places


@dataclass(frozen=True, eq=False)
class Priors:
    """What is assumed of rows and columns before an entry is seen.

    Attributes
    ----------
    noise : float
        v, the variance of e.
    components : numpy array (k,)
        alpha, the variance of the weights of each component.
    row_bias : float
        v_a; not used without row biases.
    mean, column_bias : float
        m and v_b.
    """

    noise: float
    components: HostArray
    row_bias: float
    mean: float
    column_bias: float


@dataclass(frozen=True, eq=False)
class Columns:
    """Posterior of the columns, and the priors.

    Attributes
    ----------
    layout : Layout
    means : numpy array (d, K)
        Of h.
    covariances : numpy array (p, K, K)
        Of h; zero where h is fixed. One for each pattern of rows that know a column.
    pattern : numpy array (d,)
        Which covariance is each column's.
    priors : Priors
    shift : numpy array (d,)
        b is measured from here:  m - shift  is its prior mean. The means of what is known, so that no digits are lost.
    log_determinants, log_precisions : numpy arrays (p,) and (p, k + 1)
        Of the inverse covariances, and of their diagonals.
    """

    layout: Layout
    means: HostArray
    covariances: HostArray
    pattern: HostArray
    priors: Priors
    shift: HostArray
    log_determinants: HostArray
    log_precisions: HostArray

    def packed(self) -> HostArray:
        """Return E[h h'] of each column, its upper half (d, K (K + 1) / 2)."""
        i, j = self.layout.half
        table = self.means[:, i]
        table *= self.means[:, j]
        table += (
            self.covariances[self.pattern[:, None], i, j] if len(self.covariances) > 1 else self.covariances[:, i, j]
        )
        return table

    def packed_sums(self) -> HostArray:
        """Return the sum of E[h h'] over the columns of each pattern, its upper half (p, K (K + 1) / 2)."""
        table, p = self.packed(), len(self.covariances)
        if p == len(table):
            return table
        member = sp.csr_array((np.ones(len(table)), (self.pattern, np.arange(len(table)))), shape=(p, len(table)))
        return np.asarray(member @ table)

    @property
    def shared_by(self) -> HostArray:
        """How many columns have each covariance (p,)."""
        return np.bincount(self.pattern, minlength=len(self.covariances))


class RowPosterior(NamedTuple):
    """Posterior of some rows.

    Attributes
    ----------
    means : numpy array (r, m)
        Of (z, a), one column per row.
    covariances : numpy array (r, r, p)
        One per pattern.
    log_determinants : numpy array (p,)
        Of the inverse covariances.
    pattern : numpy array (m,) or None
        Which covariance is each row's; None: its own.
    gains : float
        Sum of  m' C^-1 m.
    log_precisions : numpy array (r, p)
        Logarithms of the diagonals of the inverse covariances.
    """

    means: HostArray
    covariances: HostArray
    log_determinants: HostArray
    pattern: HostArray | None
    gains: float
    log_precisions: HostArray


class Statistics(NamedTuple):
    """What a pass over the rows leaves: sums over rows, per column and over all.

    Attributes
    ----------
    squares : numpy array (p, K (K + 1) / 2)
        Sum of E[g g'] over the rows that know a column, for each pattern of columns.
    products : numpy array (d, K)
        Sum of x E[g].
    total : numpy array (K (K + 1) / 2,)
        Sum of E[g g'] over all rows.
    log_precisions : numpy array (r,)
        Sum over rows of the logarithms of the diagonal of C^-1.
    evidence : float
        Sum over rows of  (m' C^-1 m - log det C^-1) / 2.
    """

    squares: HostArray
    products: HostArray
    total: HostArray
    log_precisions: HostArray
    evidence: float


def inverse(A: HostArray) -> tuple[HostArray, HostArray]:
    """Return the inverses and log determinants of positive definite matrices (r, r, m), which are overwritten.

    Gauss-Jordan elimination without pivoting, stable for these, over the last axis: for the small r here it takes half
    the time of as many calls of LAPACK.

    Examples
    --------
    >>> A = np.array([[2.0, 1.0], [1.0, 3.0]])
    >>> inverses, logs = inverse(A[:, :, None].copy())
    >>> np.allclose(inverses[:, :, 0] @ A, np.eye(2)), round(float(np.exp(logs[0])), 6)
    (True, 5.0)
    """
    logs = np.zeros(A.shape[2])
    for p in range(len(A)):
        pivot = A[p, p].copy()
        logs += np.log(pivot)
        column = A[:, p].copy()
        row = column / pivot
        A -= column[:, None] * row
        A[p], A[:, p] = row, row
        A[p, p] = -1.0 / pivot
    # The sweep leaves -A^-1.
    return np.negative(A, out=A), logs


def row_posterior(rows: Rows, columns: Columns, table: HostArray | None = None) -> RowPosterior:
    """Return q(z_i, a_i) of some rows.

    Computes  C_i = (P + sum over known j of E[h_j h_j'] / v)^-1  and
    m_i = C_i sum over known j of (x_ij E[h_j] - E[h_j b_j]) / v,  of the unknown part of h; P is the prior precision.
    """
    layout, priors = columns.layout, columns.priors
    free, v = layout.of_rows, columns.priors.noise
    table = columns.packed() if table is None else table
    sums = np.asarray(rows.sums(table), dtype=FLOAT64).T
    products = np.asarray(rows.products(columns.means[:, free]), dtype=FLOAT64).T
    m, p, r = rows.n_rows, sums.shape[1], len(free)
    means, covariances, logs, diagonals = np.empty((r, m)), np.empty((r, r, p)), np.empty(p), np.empty((r, p))
    precision = np.diag([*np.ones(layout.k), *([1.0 / priors.row_bias] if layout.biases else [])])
    for part in ranges(p, _small(r)):
        A = sums[:, part][layout.whole[np.ix_(free, free)]] / v
        A += precision[:, :, None]
        diagonals[:, part] = np.log(np.einsum("aam->am", A))
        covariances[:, :, part], logs[part] = inverse(A)
    fixed = sums[layout.whole[free, layout.size - 1]]
    gains = 0.0
    for part in ranges(m, _small(r)):
        own = part if rows.shared is None else rows.shared[part]
        right = (products[:, part] - fixed[:, own]) / v
        if p == 1:
            means[:, part] = covariances[:, :, 0] @ right
        else:
            means[:, part] = np.einsum("abm,bm->am", covariances[:, :, own], right)
        gains += float(np.vdot(means[:, part], right))
    return RowPosterior(means, covariances, logs, rows.shared, gains, diagonals)


def _small(r: int) -> int:
    """Return how many r x r systems are worked on at a time: two copies of them fit a core's cache."""
    return int(max(64, cache_bytes() // (16 * max(r, 1) ** 2)))


def _moments_statistics(group: RowMoments, columns: Columns, table: HostArray) -> Statistics:
    """Return the statistics of rows with a common pattern from their moments: their posterior means are linear in x."""
    layout, v = columns.layout, columns.priors.noise
    free, K = layout.of_rows, layout.size
    whole, j, n = layout.whole, group.columns, group.count
    sums = table[j].sum(axis=0)
    precision = np.diag([*np.ones(layout.k), *([1.0 / columns.priors.row_bias] if layout.biases else [])])
    precision = precision + sums[whole[np.ix_(free, free)]] / v
    C, logs = inverse(precision[:, :, None].copy())
    C = C[:, :, 0]
    # means = L x - c, with a one below for the fixed part of g
    L, c = np.zeros((K, len(j))), np.zeros(K)
    L[free] = C @ columns.means[np.ix_(j, free)].T / v
    c[free], c[-1] = C @ sums[whole[free, K - 1]] / v, -1.0
    products = group.squares @ L.T - np.outer(group.sums, c)
    G = L @ products - np.outer(c, L @ group.sums - n * c)
    total = (G + G.T) / 2
    gains = float(np.einsum("ab,ab->", precision, total[np.ix_(free, free)]))
    total[np.ix_(free, free)] += n * C
    packed = total[layout.half]
    squares, linear = np.zeros((len(columns.means), len(packed))), np.zeros((len(columns.means), K))
    squares[j], linear[j] = packed, products
    diagonal = n * np.log(np.diagonal(precision))
    return Statistics(squares, linear, packed, diagonal, 0.5 * (gains - n * float(logs.sum())))


def _statistics(rows: Rows, columns: Columns, table: HostArray) -> Statistics:
    found = row_posterior(rows, columns, table)
    layout = columns.layout
    free, K, m = layout.of_rows, layout.size, rows.n_rows
    g = np.ones((K, m))
    g[free] = found.means
    i, j = layout.half
    packed = np.empty((m, len(i)), dtype=getattr(rows, "known", g).dtype)
    position = np.full(K, -1)
    position[free] = free
    unknown = (position[i] >= 0) & (position[j] >= 0)
    for part in ranges(m, _small(K)):
        own = part if found.pattern is None else found.pattern[part]
        table_part = g[i, part] * g[j, part]
        table_part[unknown] += found.covariances[:, :, own][i[unknown], j[unknown]]
        packed[part] = table_part.T
    p = len(found.log_determinants)
    counts = np.ones(p) if found.pattern is None else np.bincount(found.pattern, minlength=p)
    evidence = 0.5 * (found.gains - float(counts @ found.log_determinants))
    squares = np.asarray(rows.column_sums(packed), dtype=FLOAT64)
    products = np.asarray(rows.column_products(np.ascontiguousarray(g.T)), dtype=FLOAT64)
    total = packed.sum(axis=0, dtype=FLOAT64)
    return Statistics(squares, products, total, found.log_precisions @ counts, evidence)


def _added(left: Statistics | None, right: Statistics) -> Statistics:
    if left is None:
        return right
    for mine, other in zip(left[:4], right[:4], strict=True):
        np.add(mine, other, out=mine)
    return left._replace(evidence=left.evidence + right.evidence)


def measure_rows(known: KnownEntries, columns: Columns) -> Statistics:
    """Find q(g) of all rows and return what the columns need of it: one pass, shared out over the cores."""
    fold = partial(_add_rows, columns, columns.packed())
    found: Statistics = known.reduce(fold, _added, state_bytes=8 * known.n_columns * len(columns.layout.half[0]))
    return found._replace(squares=found.squares[known.column_patterns[0]])


def _add_rows(columns: Columns, table: HostArray, state: Statistics | None, chunk: Rows | RowMoments) -> Statistics:
    measure = _moments_statistics if isinstance(chunk, RowMoments) else _statistics
    return _added(state, measure(chunk, columns, table))  # type: ignore[arg-type]


def bound(known: KnownEntries, columns: Columns, found: Statistics) -> float:
    """Return the lower bound of the log evidence, just after rows were solved for.

    Computes  sum over rows of (m' C^-1 m - log det C^-1 - log det prior) / 2  - sum over known entries of
    (E(x - b)^2 / v + log 2 pi v) / 2  - KL(q(h) | prior)  + log prior of v.
    """
    layout, priors = columns.layout, columns.priors
    v, N = priors.noise, known.n_known
    b, var_b = columns.means[:, -1], columns.covariances[columns.pattern, -1, -1]
    left = known.squares - 2 * float(b @ known.sums) + float(known.counts @ (b**2 + var_b))
    value = found.evidence - 0.5 * (left / v + N * np.log(2 * np.pi * v))
    if layout.biases:
        value -= 0.5 * known.n_rows * np.log(priors.row_bias)
    free = layout.of_columns
    C = columns.covariances[:, free[:, None], free]
    variances = np.array([*priors.components, priors.column_bias])
    away = columns.means[:, free].copy()
    away[:, -1] -= priors.mean - columns.shift
    spread = (away**2).sum(axis=0) + columns.shared_by @ np.diagonal(C, axis1=1, axis2=2)
    logs = columns.log_determinants + np.log(variances).sum()
    value -= 0.5 * float(np.sum(spread / variances - len(b)) + columns.shared_by @ logs)
    return float(value - 0.5 * PRIOR_ENTRIES * (np.log(v) + _prior_noise(known) / v))


def _prior_noise(known: KnownEntries) -> float:
    return max(PRIOR_NOISE * known.squares / max(known.n_known, 1), float(np.finfo(FLOAT64).tiny) * 1e20)


def turned(known: KnownEntries, columns: Columns, found: Statistics) -> tuple[Columns, Statistics]:
    """Return columns and statistics for  g -> A g,  h -> A^-T h  with an A that raises the bound.

    A is a product of steps, taken in turn; the best of all A may be another. The mean of z goes to the column biases,
    and what z and the mean say of row biases to W and the column biases, each where that raises the bound; then z gets
    a unit second moment, and W orthogonal columns. The priors' variances are then the means of what they are variances
    of. The columns' covariances are not turned: they are solved for next.
    """
    layout, (n, d) = columns.layout, (known.n_rows, known.n_columns)
    k, K = layout.k, layout.size
    S, C = found.total[layout.whole], np.tensordot(columns.shared_by, columns.covariances, 1)
    steps = []
    for kind in ("mean", "bias"):
        A = np.eye(K)
        if kind == "mean":
            A[:k, -1] = -S[:k, -1] / n
        elif layout.biases:
            A[k, [*range(k), K - 1]] = -np.linalg.lstsq(
                S[np.ix_(free := [*range(k), K - 1], free)], S[free, k], rcond=None
            )[0]
        steps.append(A)
    A, best = np.eye(K), _objective(np.eye(K), S, C, columns, n)
    for step in steps:
        value = _objective(step @ A, S, C, columns, n)
        if value > best:
            A, best = step @ A, value
    Sz = (A @ S @ A.T)[:k, :k] / n
    lam, Q = np.linalg.eigh(Sz)
    whiten = Q / np.sqrt(lam) @ Q.T
    h = columns.means @ np.linalg.inv(A)
    back = np.linalg.inv(whiten)
    cov = (np.linalg.inv(A).T @ C @ np.linalg.inv(A))[:k, :k]
    T = back.T @ (h[:, :k].T @ h[:, :k] + cov) @ back
    _, R = np.linalg.eigh(T)
    last = np.eye(K)
    last[:k, :k] = R[:, ::-1].T @ whiten
    A = last @ A
    inv = np.linalg.inv(A)
    means, C = columns.means @ inv, inv.T @ C @ inv
    S = A @ S @ A.T
    b = means[:, -1] + columns.shift
    tiny = float(np.finfo(FLOAT64).tiny) * 1e20
    alpha = (np.einsum("jk,jk->k", means[:, :k], means[:, :k]) + np.diagonal(C)[:k]) / d
    mean = float(b.mean())
    priors = replace(
        columns.priors,
        components=np.maximum(alpha, tiny),
        mean=mean,
        column_bias=max((float(np.sum((b - mean) ** 2)) + float(C[-1, -1])) / d, tiny),
        row_bias=max(float(S[k, k]) / n, tiny) if layout.biases else 1.0,
    )
    i, j = layout.half
    # A S A' of a packed half is linear in it: one product for all columns.
    double = A[i][:, i] * A[j][:, j]
    double += np.where(i == j, 0.0, 1.0) * A[i][:, j] * A[j][:, i]
    return replace(columns, means=means, priors=priors), Statistics(
        found.squares @ double.T, found.products @ A.T, S[i, j], found.log_precisions, found.evidence
    )


def _objective(A: HostArray, S: HostArray, C: HostArray, columns: Columns, n: int) -> float:
    """Return the part of the bound that a shear of g and h changes, priors' variances being at their best."""
    layout, d = columns.layout, len(columns.means)
    k, inv = layout.k, np.linalg.inv(A)
    S, C, means = A @ S @ A.T, inv.T @ C @ inv, columns.means @ inv
    b = means[:, -1] + columns.shift
    weights = (means[:, :k] ** 2).sum(axis=0) + np.diagonal(C)[:k]
    tiny = float(np.finfo(FLOAT64).tiny)
    value = -np.trace(S[:k, :k]) - d * np.log(np.maximum(weights, tiny)).sum()
    value -= d * np.log(max(float(((b - b.mean()) ** 2).sum()) + float(C[-1, -1]), tiny))
    if layout.biases:
        value -= n * np.log(max(float(S[k, k]), tiny))
    return 0.5 * float(value)


def solved_columns(known: KnownEntries, columns: Columns, found: Statistics) -> Columns:
    """Return the columns with q(w_j, b_j) solved for, given the rows.

    Computes  C_j = (P + sum over known i of E[g_i g_i'] / v)^-1  and its mean, as for rows.
    """
    layout, priors, d = columns.layout, columns.priors, known.n_columns
    free, whole, v, K = layout.of_columns, layout.whole, columns.priors.noise, layout.size
    pattern = known.column_patterns[1]
    variances, p = np.array([*priors.components, priors.column_bias]), len(found.squares)
    logs, diagonals = np.empty(p), np.empty((p, len(free)))
    means, own = np.zeros((d, K)), np.empty((p, len(free), len(free)))
    right = found.products[:, free] / v
    if layout.biases:
        means[:, layout.k] = 1.0
        right -= (found.squares[:, whole[free, layout.k]] / v)[pattern]
    right[:, -1] += (priors.mean - columns.shift) / priors.column_bias

    def solve(part: slice) -> None:
        A = found.squares[part].T[whole[np.ix_(free, free)]] / v
        A += np.diag(1.0 / variances)[:, :, None]
        diagonals[part] = np.log(np.einsum("aam->ma", A))
        C, logs[part] = inverse(A)
        own[part] = np.moveaxis(C, 2, 0)

    def place(part: slice) -> None:
        means[part, free] = np.matmul(own[pattern[part]], right[part, :, None])[:, :, 0]

    run_each(ranges(p, _small(len(free))), solve)
    run_each(ranges(d, _small(len(free))), place)
    covariances = np.zeros((p, K, K))
    covariances[:, free[:, None], free] = own
    return replace(
        columns,
        means=means,
        covariances=covariances,
        pattern=pattern,
        log_determinants=logs,
        log_precisions=diagonals,
    )


def with_noise(known: KnownEntries, columns: Columns, found: Statistics) -> Columns:
    """Return the columns with the noise variance that raises the bound most: the mean of E(x - g'h)^2."""
    table, half = columns.packed_sums(), columns.layout.half
    twice = np.where(half[0] == half[1], 1.0, 2.0)
    left = known.squares - 2 * float(np.vdot(found.products, columns.means))
    left += float(np.einsum("jq,jq,q->", found.squares, table, twice))
    entries = known.n_known + PRIOR_ENTRIES
    noise = (max(left, 0.0) + PRIOR_ENTRIES * _prior_noise(known)) / entries
    return replace(columns, priors=replace(columns.priors, noise=noise))


def pruned(known: KnownEntries, columns: Columns, found: Statistics, least: int) -> tuple[Columns, Statistics]:
    """Return columns and statistics without the component, or the row biases, whose removal raises the bound most.

    Computes, for number k of (z, a) left out of the posteriors,  what the error of the known entries loses and what the
    Kullback-Leibler divergences from the priors gain,

        -(E' - E) / (2 v)  +  sum over rows of (E z_k^2 / p_k - 1 + log(p_k (C^-1)_kk)) / 2
        +  sum over columns of (E w_k^2 / alpha_k - 1 + log(alpha_k (C^-1)_kk)) / 2,

    p_k being the prior variance, 1 or v_a; the last sum is for components alone. Both come back as they were where
    nothing is gained. A component that is not needed would go to zero by itself, but slowly.
    """
    layout, priors = columns.layout, columns.priors
    k, n = layout.k, known.n_rows
    r, diagonal = k + layout.biases, layout.whole[range(k + layout.biases), range(k + layout.biases)]
    if r == 0:
        return columns, found
    table, places, shared = columns.packed_sums(), layout.whole[:r], columns.shared_by
    # E' - E: what number k adds to the expected squared errors, with its products with the others.
    twice = 2.0 * np.einsum("jka,jka->k", found.squares[:, places], table[:, places])
    own = np.einsum("jk,jk->k", found.squares[:, diagonal], table[:, diagonal])
    lost = 2.0 * np.einsum("jk,jk->k", found.products[:, :r], columns.means[:, :r]) - (twice - own)
    variances = np.array([*np.ones(k), *([priors.row_bias] if layout.biases else [])])
    gains = found.total[diagonal] / variances - n + found.log_precisions + n * np.log(variances) - lost / priors.noise
    logs = columns.log_precisions[:, :k] + np.log(priors.components)
    gains[:k] += table[:, diagonal[:k]].sum(axis=0) / priors.components - shared.sum() + shared @ logs
    if k <= least:
        gains[:k] = 0.0
    if not (gains > 0).any():
        return columns, found
    out = int(np.argmax(gains))
    keep = np.flatnonzero(np.arange(layout.size) != out)
    smaller = Layout(k - 1, layout.biases) if out < k else Layout(k, biases=False)
    i, j = smaller.half
    packed = layout.whole[keep[i], keep[j]]
    left = np.delete(priors.components, out) if out < k else priors.components
    return replace(
        columns,
        layout=smaller,
        means=columns.means[:, keep],
        covariances=columns.covariances[:, keep[:, None], keep],
        priors=replace(priors, components=left),
    ), Statistics(
        found.squares[:, packed],
        found.products[:, keep],
        found.total[packed],
        np.delete(found.log_precisions, out),
        found.evidence,
    )


def leading(columns: Columns, k: int) -> Columns:
    """Return the columns with their first k components; the variance of the others becomes noise."""
    layout, priors = columns.layout, columns.priors
    keep = np.array([*range(k), *range(layout.k, layout.size)])
    noise, smaller = priors.noise + float(priors.components[k:].sum()), Layout(k, layout.biases)
    covariances, free = columns.covariances[:, keep[:, None], keep], smaller.of_columns
    precisions = np.linalg.inv(covariances[:, free[:, None], free])
    return replace(
        columns,
        layout=smaller,
        means=columns.means[:, keep],
        covariances=covariances,
        log_determinants=np.linalg.slogdet(precisions)[1],
        log_precisions=np.log(np.diagonal(precisions, axis1=1, axis2=2)),
        priors=replace(priors, components=priors.components[:k], noise=noise),
    )


def start(known: KnownEntries, k: int, *, biases: bool, seed: int) -> Columns:
    """Return columns to begin with: the leading singular vectors of the table with zeros for what is missing.

    Found by three rounds of block power iteration from a random start; a seed only chooses where they begin.
    """
    n, d, layout = known.n_rows, known.n_columns, Layout(k, biases)
    variance = max(known.squares / max(known.n_known, 1), _prior_noise(known))
    V = np.linalg.qr(np.random.default_rng(seed).standard_normal((d, min(k + 5, n, d))))[0]
    squares = np.zeros(V.shape[1])
    for _ in range(3 if k else 0):
        V, squares, _ = np.linalg.svd(known.squared(V), full_matrices=False)
    singular = np.sqrt(squares)
    share = max(known.n_known / (n * d), 1e-12)
    # What is missing counts as zero: singular values are smaller by the share that is known.
    weights = V[:, :k] * (singular[:k] / (share * np.sqrt(n)))
    scale = np.sqrt(0.5 * d * variance / max(float((weights**2).sum()), float(np.finfo(FLOAT64).tiny)))
    weights = np.zeros((d, k)) + np.pad(weights * min(1.0, scale), ((0, 0), (0, k - weights.shape[1])))
    first, pattern = known.column_patterns
    spread = variance / np.maximum(known.counts[first], 1.0) / 10
    means, covariances = np.zeros((d, layout.size)), np.zeros((len(first), layout.size, layout.size))
    means[:, :k] = weights
    if biases:
        means[:, k] = 1.0
    free = layout.of_columns
    covariances[:, free, free] = np.minimum(spread, variance)[:, None]
    logs = np.tile(-np.log(np.minimum(spread, variance))[:, None], (1, k + 1))
    center = known.center * known.factor
    weight = known.counts / max(known.n_known, 1)
    mean = float(weight @ center)
    priors = Priors(
        noise=0.5 * variance,
        components=np.maximum((weights**2).mean(axis=0), 1e-3 * variance),
        row_bias=0.1 * variance,
        mean=mean,
        column_bias=max(float(weight @ (center - mean) ** 2), 1e-3 * variance),
    )
    # What is never known is expected where the others are.
    shift = np.where(known.counts > 0, center, mean)
    return Columns(layout, means, covariances, pattern, priors, shift, logs.sum(axis=1), logs)


class Rounds(NamedTuple):
    """Where the rounds ended.

    Attributes
    ----------
    columns : Columns
    bounds : tuple of float
        The lower bound after each pass over the rows.
    converged : bool
    """

    columns: Columns
    bounds: tuple[float, ...]
    converged: bool


def improve(
    known: KnownEntries,
    columns: Columns,
    *,
    tol: float,
    max_iter: int,
    least: int = 0,
    watch: Callable[[int, float], None] | None = None,
) -> Rounds:
    """Raise the bound round by round, until one raises it by less than ``tol`` per known entry.

    Components are removed, down to ``least``, once the bound rises slowly: a component that has yet to grow looks as if
    it were not needed.
    """
    bounds: list[float] = []
    for _ in range(max_iter):
        found = measure_rows(known, columns)
        bounds.append(bound(known, columns, found))
        if watch is not None:
            watch(len(bounds), bounds[-1])
        rise = (bounds[-1] - bounds[-2]) / max(known.n_known, 1) if len(bounds) > 1 else np.inf
        before = columns
        if rise <= max(SLOW, tol):
            columns, found = pruned(known, columns, found, least)
        if rise <= tol and columns is before:
            return Rounds(columns, tuple(bounds), converged=True)
        columns, found = turned(known, columns, found)
        columns = solved_columns(known, columns, found)
        columns = with_noise(known, columns, found)
    return Rounds(columns, tuple(bounds), converged=False)
