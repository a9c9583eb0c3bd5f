"""Principal components of the rows that are not outlying: robust location and scatter, and the rows beyond them.

Where rows are many, the first look is the minimum covariance determinant (MCD), by the deterministic algorithm of
Hubert, Rousseeuw and Verdonck (2012, doi:10.1080/10618600.2012.672100); where columns are, it is the outlyingness of
ROBPCA (Hubert, Rousseeuw and Vanden Branden, 2005, doi:10.1198/004017004000000563). Both give the three quarters of the
rows that lie closest together. From there rows join that lie within the limits of those that are in, until none is left
that does. What is reported is then ordinary: the components of the rows that are in.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy

from gramian.arrays.namespace import HostArray, dtype_of, from_host, to_host
from gramian.arrays.precision import FLOAT64
from gramian.errors import IdentifiabilityWarning, users_line
from gramian.models.pca.fit import fit_pca
from gramian.models.pca.model import PCAModel, PCAOptions
from gramian.models.pca.scoring import Outliers, f_quantile, find_outliers, held_against, t2_limit, whitening
from gramian.sources.rows import RowSource, rows_here

CORE = 0.75
"""Share of the rows that the first look keeps. Up to a quarter may lie apart, but a tight cluster of them is told from
the others only where it lies far enough out: see :func:`_mcd`."""

LEVEL = 0.99
MOST_ROWS = 2000
"""Rows that location and scatter are measured on; all others are held against them."""

LEAST_ROWS = 10
"""Rows under which none is told from the others."""

IN_A_PLANE = "most of them lie in a plane, and nothing says how far from it a row may be"

MCD_COLUMNS = 30
"""Columns up to which the determinant is asked, with five rows for each: as ROBPCA does, with more columns."""

MOST_COMPONENTS = 10
"""Components of ROBPCA, at most: more would be fitted to single rows."""

DIRECTIONS = 250


@dataclass(frozen=True, eq=False)
class RobustFit:
    """The components of the rows that are not outlying.

    Attributes
    ----------
    model : PCAModel
        Of those rows: its variances are theirs, without the factors by which an MCD is made consistent for Gaussian
        rows and corrected for few (robustbase's ``cnp2``), because which rows are in is not told by a fixed share.
    scores : numpy array (n, K)
        Of all rows.
    beyond : numpy array (n,)
        Squared distance of each row from everything that the K components span.
    used : numpy array of bool (n,)
        Rows that it rests on.
    method : str
        How the first three quarters were found: "MCD", "projections" (the first step of ROBPCA), or "all rows" where
        none is told from the others.
    is_tall : bool
        Whether there are three rows for each component: then a row is in by its distance along all of them, else along
        the first ones and from those.
    n_rows : int
        Rows that location and scatter were measured on.
    fitted : numpy array of int
        Those of them that the components are of.
    untold : str
        Why no row is told from the others, where that is so.
    """

    model: PCAModel
    scores: HostArray
    beyond: HostArray
    used: HostArray
    method: str
    is_tall: bool
    n_rows: int
    fitted: HostArray
    untold: str = ""

    @cached_property
    def _squares(self) -> HostArray:
        """Squares of the scores (n, K) over the total variance: each number of components weighs them anew."""
        return np.square(self.scores / self._unit)

    @property
    def _unit(self) -> float:
        return float(np.sqrt(self.model.total_variance)) or 1.0

    def distances(self, k: int) -> tuple[HostArray, HostArray]:
        """Return T2 and SPE (n,) of all rows from the first ``k`` components: no pass."""
        factors = to_host(whitening(self.model)).astype(FLOAT64)[:k]
        t2 = self._squares[:, :k] @ np.square(factors * self._unit)
        return t2, self._squares[:, k:] @ np.full(self.scores.shape[1] - k, self._unit**2) + self.beyond

    def held_out(self, k: int) -> tuple[HostArray, HostArray]:
        """Return T2 and SPE (n,) of each row from components that it took no part in, where that makes a difference.

        Components that were fitted to few rows are closer to these than to others by that alone. So each fifth of them
        is held against the components of the other four.
        """
        t2, spe = self.distances(k)
        if self.is_tall:
            return t2, spe
        rows = self.fitted
        Z, beyond, at = self.scores[rows], self.beyond[rows], np.arange(len(rows))
        for fold in range(5):
            out = at % 5 == fold
            other = _of_rows(self.model, Z, beyond, at, ~out, method=self.method, is_tall=False)
            more = other.distances(k)
            t2[rows[out]], spe[rows[out]] = more[0][out], more[1][out]
        return t2, spe

    def limits(
        self, k: int, *, level: float = LEVEL, spe: HostArray | None = None, told_by: float = 1.0
    ) -> tuple[float, float]:
        """Return what a share ``level`` of Gaussian rows stays under in each distance.

        Computes Hotelling's limit for T2; for SPE, of m rows used,  mean F(level; h, m - k)  with Box's h, which is
        his limit where rows are many. Components that were fitted to few rows are closer to those than to others: there
        the cube root of SPE, which is nearly Gaussian (Wilson and Hilferty, 1931), gives the limit by its MCD over all
        rows, which tells a spread as well as 0.37 n rows would. ``told_by`` is the part of the m - k degrees of freedom
        that count.
        """
        m, rank = self.model.n_rows, min(k, self.model.rank)
        variances = to_host(self.model.variances).astype(FLOAT64)
        far = t2_limit(m, rank, level)
        left = variances[k:]
        rest = 0.0 if self.is_tall else self.model.total_variance - float(variances.sum())  # tall ones leave rounding
        if float(left.sum()) + rest <= 1e-12 * self.model.total_variance:
            return far, float("inf")
        if self.is_tall and m > rank:
            h = float(left.sum()) ** 2 / float(left @ left)
            return far, float(left.sum()) * f_quantile(level, h, told_by * (m - rank))
        spe = self.distances(k)[1] if spe is None else spe
        roots = np.cbrt(spe)[:, None]
        middle, spread = (float(found[0]) for found in _closest(roots, _core_size(len(roots))))
        spread *= _consistency(CORE, 1) ** 0.5
        return far, (middle + float(scipy.special.stdtrit(max(0.37 * len(roots), 1.0), level)) * spread) ** 3

    def outliers(self, k: int, *, level: float = LEVEL) -> Outliers:
        """Hold both distances of all rows from the first ``k`` components against their limits: no pass."""
        t2, spe = self.distances(k)
        return held_against(self.limits(k, level=level), k, t2=t2, spe=spe, level=level)

    def far_rows(self, k: int) -> HostArray:
        """Tell which rows (n,) lie further out than any row of a Gaussian table, in 99 of 100 such tables.

        Distances are those of :meth:`held_out`, and each limit is for all n rows and half of the error. A row may lie
        far out because it was left out of the fit, and the spread of the others is the smaller for it: half of the
        degrees of freedom count, as rows chosen by their distances tell a spread less well than as many others do
        (Hardin and Rocke, 2005, doi:10.1198/106186005X77685). How often that is so: ``docs/findings.rst``.
        """
        t2, spe = self.held_out(k)
        each = 1.0 - (1.0 - LEVEL) / (2.0 * max(len(self.used), 1))
        limits = self.limits(k, level=each, spe=spe, told_by=0.5)
        far: HostArray = (t2 > limits[0]) | (spe > limits[1])
        return far


def fit_robust(
    model: PCAModel,
    scores: HostArray,
    *,
    k: int,
    beyond: HostArray | None = None,
    order: HostArray | None = None,
    seed: int = 0,
) -> RobustFit:
    """Find the rows that are not outlying, and the components of these, from the scores of a fitted PCA.

    Computes, of at most 2,000 rows, the three quarters that lie closest together: by MCD where there are five rows for
    each of at most 30 components, else those least outlying along 250 directions through pairs of rows, by the MCD of
    each (ROBPCA's first step). Then, until nothing changes, means and covariances of these rows, and as the next ones
    all rows within the limits that a quarter of a row would pass (Chauvenet's criterion).

    All rows are used where nothing tells one from the others: fewer than ten; more than half of them alike (dry days),
    which would leave no variance at all; three quarters, or at last those within the limits, in a plane; or no more
    than half within the limits.

    Cost: some hundred products of the sample with K columns, and one product n K K; no pass.

    Parameters
    ----------
    model : PCAModel
        Centered, with K components; its variances are finite and not all zero.
    scores : numpy array (n, K)
        Of its rows.
    k : int
        Components that ROBPCA keeps, up to ten.
    beyond : numpy array (n,), optional
        Squared distance of each row from the K components; zero where nothing is said.
    order : numpy array of int (n,), optional
        Of the rows, by :func:`row_order`, where it is known.
    seed : int

    Examples
    --------
    >>> from gramian.sources import as_source
    >>> X = np.random.default_rng(0).standard_normal((60, 3)) * [3.0, 2.0, 1.0]
    >>> X[:6] += [0.0, 0.0, 30.0]
    >>> rows = as_source(X)
    >>> model = fit_pca(rows)
    >>> found = fit_robust(model, model.project(rows), k=2)
    >>> found.method, found.outliers(2).flagged.size >= 6, found.used[:6].any()
    ('MCD', True, np.False_)
    """
    n = len(scores)
    beyond = np.zeros(n) if beyond is None else beyond
    order = row_order(scores) if order is None else order
    at = sample_rows(order, MOST_ROWS, seed=seed)
    rank = int((np.ptp(scores, axis=0) > 1e-9 * np.ptp(scores, axis=0).max(initial=0.0)).sum())
    tall = rank <= min(MCD_COLUMNS, len(at) // 3) and float(beyond.max(initial=0.0)) <= 1e-9 * model.total_variance
    method = "MCD" if tall and 5 * rank <= len(at) else "projections"
    Z, core, untold = scores[at, :rank], None, ""
    if len(at) < LEAST_ROWS:
        untold = f"there are fewer than {LEAST_ROWS} rows"
    elif rank == 0 or _is_half_alike(Z):
        untold = "more than half of them are alike"
    else:
        core = _mcd(Z) if method == "MCD" else _least_outlying(Z, seed)
    kept = rank if tall else max(min(k, MOST_COMPONENTS, rank), 1)
    if core is None:
        return _of_all(model, scores, beyond, at, untold or IN_A_PLANE, is_tall=tall)
    sample, off, every, trimmed = scores[at], beyond[at], np.arange(len(at)), kept
    for _ in range(50):
        joined = _near(_of_rows(model, sample, off, every, core, method=method, is_tall=tall, trimmed=trimmed), kept)
        if (joined == core).all():
            break
        if 2 * joined.sum() <= len(at):
            return _of_all(model, scores, beyond, at, "no half of them lies together", is_tall=tall)
        core, trimmed = joined, 0
    if tall and not _is_full(Z[core]):  # no distance from a plane is measured by rows that are in it
        return _of_all(model, scores, beyond, at, IN_A_PLANE, is_tall=tall)
    found = _of_rows(model, scores, beyond, at, core, method=method, is_tall=tall, trimmed=trimmed)
    limits, (t2, spe) = found.limits(kept, level=_chauvenet(len(at))), found.distances(kept)
    return replace(found, used=(t2 <= limits[0]) & (spe <= limits[1]))


def _of_all(
    model: PCAModel, scores: HostArray, beyond: HostArray, at: HostArray, untold: str, *, is_tall: bool
) -> RobustFit:
    """Return the components of all rows measured, where none of them is told from the others: all are used."""
    found = _of_rows(model, scores, beyond, at, np.ones(len(at), dtype=bool), method="all rows", is_tall=is_tall)
    return replace(found, used=np.ones(len(scores), dtype=bool), untold=untold)


def _chauvenet(n: int) -> float:
    """Return the level of each of two limits that half a row of n is expected beyond: Chauvenet's criterion."""
    return 1.0 - 0.25 / n


def _near(found: "RobustFit", k: int) -> HostArray:
    """Return the rows that belong to those that are in."""
    t2, spe = found.held_out(k)
    limits = found.limits(k, level=_chauvenet(len(t2)), spe=spe)
    near: HostArray = (t2 <= limits[0]) & (spe <= limits[1])
    return near


def row_order(scores: HostArray) -> HostArray:
    """Return the rows by their length, which no order of rows or columns, and no sign, changes.

    Ties, of rows that differ, are broken by the size of the first scores.

    Examples
    --------
    >>> row_order(np.array([[3.0, 0.0], [-1.0, 0.0], [0.0, 2.0]])).tolist()
    [1, 2, 0]
    """
    size = np.abs(scores).max(initial=0.0) or 1.0
    keys = np.round(np.abs(scores[:, 2::-1]) / size, 9)
    lengths = np.round(np.sqrt(np.square(scores / size).sum(axis=1)), 9)
    return np.lexsort((*keys.T, lengths))


def sample_rows(order: HostArray, most: int, *, seed: int) -> HostArray:
    """Return at most so many rows of an order that :func:`row_order` gives: shuffled tables give the same rows."""
    n = len(order)
    return order if n <= most else order[np.sort(np.random.default_rng(seed).choice(n, most, replace=False))]


def _is_half_alike(Z: HostArray) -> bool:
    """Tell whether more than half of the rows are one point, by the distance that three quarters have from it."""
    lengths = np.sqrt(np.square(Z - np.median(Z, axis=0)).sum(axis=1))
    half, core = np.sort(lengths)[[len(Z) // 2, _core_size(len(Z)) - 1]]
    return bool(half <= 1e-6 * core)


def _is_full(Z: HostArray) -> bool:
    """Tell whether rows vary along each column and combination of columns, by more than rounding."""
    spread = Z.std(axis=0)
    if not (spread > 1e-14 * np.abs(Z).max(initial=0.0)).all():
        return False
    return bool(np.linalg.eigvalsh(np.atleast_2d(np.corrcoef(Z.T)))[0] > 1e-12)


def _mcd(Z: HostArray) -> HostArray | None:
    """Return the three quarters of the rows of the smallest covariance determinant; ``None`` where it is zero.

    From each start, the rows nearest by mean and covariance of those that are in are the next ones, as long as the
    determinant falls. The smallest that is reached is taken; whether there is a smaller one is not known.

    A tight cluster makes the determinant smaller, unless it lies far out: a share w of the three quarters multiplies
    the variance along each of p columns by 1 - w, and one of them by 1 + w r^2 where it lies r deviations out. So it
    may be taken while  1 + w r^2 < (1 - w)^-p.  How far out it was told: ``docs/findings.rst``.
    """
    h, found = _core_size(len(Z)), []
    off = np.abs(Z - np.median(Z, axis=0))
    spread = np.partition(off, h - 1, axis=0)[h - 1]  # unlike the deviation, no row far out has a part in it
    if not (spread > 1e-14 * off.max()).all():
        return None
    Z = Z / spread
    for start in _starts(Z):
        core = _nearest(_lengths(Z, start)[0], h)
        lengths, determinant = _lengths(Z, core)
        while True:
            nearer = _nearest(lengths, h)
            lengths, smaller = _lengths(Z, nearer)
            if not smaller < determinant:  # so does a NaN end it
                break
            core, determinant = nearer, smaller
        found.append((determinant, core))
    core = min(found, key=lambda one: one[0])[1]
    inside = np.zeros(len(Z), dtype=bool)
    inside[core] = True
    return inside if _is_full(Z[core]) else None


def _lengths(Z: HostArray, core: HostArray) -> tuple[HostArray, float]:
    """Return the squared distances of all rows by mean and covariance of some, and the log of its determinant."""
    mean = Z[core].mean(axis=0)
    values, U = np.linalg.eigh((Z[core] - mean).T @ (Z[core] - mean) / len(core))
    values = np.maximum(values, max(1e-14 * values[-1], 1e-28))  # of rows that are all alike, all are zero
    return np.square((Z - mean) @ (U / np.sqrt(values))).sum(axis=1), float(np.log(values).sum())


def _nearest(lengths: HostArray, h: int) -> HostArray:
    return np.sort(np.argpartition(lengths, h - 1)[:h])


def _starts(Z: HostArray) -> Iterator[HostArray]:
    """Give halves of the rows that hold few outlying ones: five of the six starts of DetMCD.

    Each is a scatter that far rows change little: correlations of hyperbolic tangents, of ranks and of normal scores,
    the covariance of the rows' directions, and that of the half nearest to the medians. The rows are those nearest to
    the medians in units of the median deviations along its eigenvectors.
    """
    half = (len(Z) + 1) // 2
    Y = _by_medians(Z)
    ranks = np.stack([_ranks(y) for y in Y.T], axis=1)
    normal = scipy.special.ndtri((ranks - 1.0 / 3.0) / (len(Z) + 1.0 / 3.0))
    lengths = np.sqrt(np.square(Y).sum(axis=1, keepdims=True))
    directions = np.divide(Y, lengths, out=np.zeros_like(Y), where=lengths > 0)
    near = Y[_nearest(lengths[:, 0], half)]
    scatters = [np.corrcoef(part.T) for part in (np.tanh(Y), ranks, normal)]
    for scatter in (*scatters, directions.T @ directions, np.cov(near.T)):
        _, U = np.linalg.eigh(np.atleast_2d(scatter))
        yield _nearest(np.square(_by_medians(Y @ U)).sum(axis=1), half)


def _ranks(y: HostArray) -> HostArray:
    """Return ranks from 1 on; numbers that are equal share the mean of theirs."""
    _, which, counts = np.unique(y, return_inverse=True, return_counts=True)
    found: HostArray = (np.cumsum(counts) - (counts - 1) / 2.0)[which]
    return found


def _by_medians(Y: HostArray) -> HostArray:
    """Return columns less their medians, over 1.48 times the median of what is left, where that is not zero."""
    Y = Y - np.median(Y, axis=0)
    scale = 1.4826 * np.median(np.abs(Y), axis=0)
    return np.divide(Y, scale, out=Y, where=scale > 0)


def _least_outlying(Z: HostArray, seed: int) -> HostArray | None:
    """Return the three quarters of the rows that are least outlying along directions through pairs of them."""
    n = len(Z)
    h = _core_size(n)
    if n * (n - 1) <= 2 * DIRECTIONS:
        first, second = np.triu_indices(n, 1)
    else:
        first, second = np.random.default_rng(seed).integers(0, n, (2, DIRECTIONS))
    V = Z[first] - Z[second]
    lengths = np.sqrt(np.square(V).sum(axis=1))
    V = V[lengths > 1e-9 * lengths.max(initial=0.0)]
    Y = Z @ (V / np.sqrt(np.square(V).sum(axis=1))[:, None]).T
    Y -= np.median(Y, axis=0)
    center, scale = _closest(Y, h)
    Y = np.abs(Y - center)
    # A direction along which three quarters of the rows are one has no scale to be far out by.
    told = scale > 1e-9 * Y.max(axis=0, initial=0.0)
    if not told.any():
        return None
    core = np.zeros(n, dtype=bool)
    core[np.argsort((Y[:, told] / scale[told]).max(axis=1), kind="stable")[:h]] = True
    return core


def _core_size(n: int) -> int:
    return max(int(CORE * n), n // 2 + 1)


def _closest(Y: HostArray, h: int) -> tuple[HostArray, HostArray]:
    """Return mean and deviation of the ``h`` numbers of each column that lie closest together: MCD in one dimension."""
    Y = np.sort(Y, axis=0)
    zero = np.zeros((1, Y.shape[1]))
    sums, squares = (np.vstack([zero, np.cumsum(part, axis=0)]) for part in (Y, Y * Y))
    means = (sums[h:] - sums[:-h]) / h
    variances = (squares[h:] - squares[:-h]) / h - means**2
    at = np.argmin(variances, axis=0), np.arange(Y.shape[1])
    return means[at], np.sqrt(np.maximum(variances[at], 0.0))


def _of_rows(
    model: PCAModel,
    scores: HostArray,
    beyond: HostArray,
    at: HostArray,
    core: HostArray,
    *,
    method: str,
    is_tall: bool,
    trimmed: int = 0,
) -> RobustFit:
    """Return the components of some rows, in place of those of all, and the scores of all rows on them.

    Variances of rows that were ``trimmed`` by so many components are those of the Gaussian that they are the middle of.
    """
    Z, K = scores[at[core]], scores.shape[1]
    center, V = Z.mean(axis=0), model.directions
    C = (Z - center).T @ (Z - center) / max(len(Z) - 1, 1)
    factor = None if model.factor is None else to_host(model.factor).astype(FLOAT64)
    shift = center @ V
    mean = to_host(model.mean).astype(FLOAT64)
    mean = mean + (shift if factor is None else np.divide(shift, factor, out=np.zeros_like(shift), where=factor > 0))
    W = np.eye(K)
    if factor is not None and is_tall:
        # Columns have unit variance over these rows: a few rows that make up a column's variance would hide in it.
        deviations = np.sqrt(np.maximum(np.einsum("kc,kc->c", C @ V, V), 0.0))
        again = np.divide(1.0, deviations, out=np.ones_like(deviations), where=deviations > 1e-9)
        factor, V, W = factor * again, np.eye(len(again)), V * again
        C = W.T @ C @ W
    values, U = np.linalg.eigh(C)
    values, U = np.maximum(values[::-1], 0.0)[:K], U[:, ::-1][:, :K]
    directions = U.T @ V
    if trimmed:
        values = values * _consistency(core.mean(), min(trimmed, int((values > 1e-12 * values[0]).sum())))
    rest = float(beyond[at[core]].mean())
    whole = float(values.sum()) + rest
    like = model.components
    weight = float(len(Z)) * (model.n_rows / len(at))
    robust = replace(
        model,
        components=from_host(directions, like=like, dtype=dtype_of(like)),
        variances=from_host(values, like=like),
        shares=from_host(values / whole if whole > 0 else values, like=like),
        singular_values=from_host(np.sqrt(values * max(weight - 1.0, 1.0)), like=like),
        mean=from_host(mean, like=like),
        factor=None if factor is None else from_host(factor, like=like),
        n_rows=max(len(Z), 2),
        weight=weight,
        total_variance=whole,
        rank=int((values > 1e-12 * max(values[0], 1e-300)).sum()) if K else 0,
    )
    used = np.zeros(len(scores), dtype=bool)
    used[at[core]] = True
    return RobustFit(robust, (scores - center) @ (W @ U), beyond, used, method, is_tall, len(at), at[core])


def _consistency(share: float, p: int) -> float:
    """Return how much larger Gaussian variances are than those of the share of rows that lies nearest.

    Computes  P(chi2_p < q) / P(chi2_{p+2} < q)  with q the quantile of the share (Croux and Haesbroeck, 1999).
    """
    if share >= 1.0 or p == 0:
        return 1.0
    q = 2.0 * float(scipy.special.gammaincinv(p / 2.0, share))
    return share / float(scipy.special.gammainc(p / 2.0 + 1.0, q / 2.0))


def central_rows(source: RowSource, options: PCAOptions) -> HostArray:
    """Tell which rows are not outlying (n,): those that ``PCA(robust=True)`` fits.

    Computes the components of all rows (at most 100 of them), and what :func:`fit_robust` says of their scores. Where
    that tells no row from the others an ``IdentifiabilityWarning`` says why.

    Cost: a fit, a pass for the scores and one for the distances from them.

    Examples
    --------
    >>> from gramian.sources import as_source
    >>> X = np.random.default_rng(0).standard_normal((60, 3))
    >>> X[:6, 0] += 20.0
    >>> central_rows(as_source(X), PCAOptions(2))[:8].tolist()
    [False, False, False, False, False, False, True, True]
    """
    count = min(source.n_rows, source.n_columns, 100)
    model = fit_pca(source, replace(options, n_components=count, solver="auto"))
    if not float(np.finfo(dtype_of(model.components)).tiny) < model.total_variance < np.inf:
        _warn_of_all("their variance is zero, or too small or large for its type")
        return np.ones(source.n_rows, dtype=bool)
    scores = to_host(rows_here(model.project(source))).astype(FLOAT64)
    is_whole = count >= min(source.n_rows - 1, source.n_columns)
    beyond = None if is_whole else find_outliers(model, source).spe
    k = options.n_components if isinstance(options.n_components, int) else MOST_COMPONENTS
    found = fit_robust(model, scores, k=k, beyond=beyond, seed=options.seed)
    if found.untold:
        _warn_of_all(found.untold)
    return found.used


def _warn_of_all(untold: str) -> None:
    message = f"robust=True tells no row from the others, and all are fitted: {untold}."
    warnings.warn(message, IdentifiabilityWarning, stacklevel=users_line())
