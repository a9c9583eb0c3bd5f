"""Probabilistic PCA of a table with missing values: the fit.

The model is that of :mod:`~gramian.models.probabilistic.variational`. Where nothing is missing and rows have no biases,
its maximum likelihood has a closed form, the principal components (Tipping and Bishop, 1999,
doi:10.1111/1467-9868.00196), which is taken.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from gramian.arrays.namespace import HostArray, to_host
from gramian.arrays.precision import FLOAT64
from gramian.errors import ConvergenceWarning, InputError, users_line
from gramian.machine import memory_budget
from gramian.models.pca.fit import fit_pca
from gramian.models.pca.model import PCAOptions
from gramian.models.probabilistic.entries import (
    DenseEntries,
    KnownEntries,
    Rows,
    SourceEntries,
    known_entries,
    one_value_per_cell,
)
from gramian.models.probabilistic.model import ProbabilisticPCAModel
from gramian.models.probabilistic.variational import (
    Columns,
    Layout,
    Priors,
    Rounds,
    improve,
    leading,
    row_posterior,
    start,
)
from gramian.planning.missing_plan import MissingPlan, plan_missing
from gramian.planning.plan import require_free
from gramian.sources.opening import as_source
from gramian.sources.progress import say


@dataclass(frozen=True)
class ProbabilisticPCAOptions:
    """What is asked of a fit.

    Attributes
    ----------
    n_components : int or None
        At most so many; those that are not needed are removed, but for a complete table without row biases, whose
        closed form keeps all. None: as many as predict held-out entries best.
    least : int
        Components that are kept even where they are not needed.
    biases : bool or None
        Whether rows have biases. None: where the table was a sparse one.
    bounds : (float, float) or None
        Limits of predictions.
    tol : float
        Rounds end when one raises the lower bound by less than this per known entry.
    max_iter : int
    seed : int
    keep_rows : bool
        Whether the model keeps the posterior of the rows, for ``predict`` by position.
    memory_budget : int or None
        Bytes that the fit may take beyond the known entries.
    progress : callable or None
        Called with a sentence per stage.
    """

    n_components: int | None = None
    least: int = 0
    biases: bool | None = None
    bounds: tuple[float, float] | None = None
    tol: float = 1e-5
    max_iter: int = 500
    seed: int = 0
    keep_rows: bool = True
    memory_budget: int | None = None
    progress: Callable[[str], None] | None = None


def fit_probabilistic_pca(known: KnownEntries, options: ProbabilisticPCAOptions | None = None) -> ProbabilisticPCAModel:
    """Fit probabilistic PCA to the known entries of a table.

    Computes the variational posterior of :mod:`~gramian.models.probabilistic.variational`; of a complete table
    without row biases, the closed form  W = V' diag(lam - v)^(1/2),  v the mean of the other eigenvalues of the
    covariance over n.

    Cost per round: 2 k^2 operations per known entry and k^3 per row and column, shared out over the cores; complete
    rows of a dense table cost d^2 k together. Ten to a hundred rounds. Memory: 8 bytes per known entry in float32, and
    d k^2 numbers. Not for values that are missing for a reason (too large to measure): nothing here knows of it.

    Parameters
    ----------
    known : KnownEntries
        From :func:`~gramian.models.probabilistic.entries.known_entries`.
    options : ProbabilisticPCAOptions, optional

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 1)) @ np.array([[3.0, 2.0, 1.0]]) + 0.1 * rng.standard_normal((200, 3))
    >>> X[5, 0] = np.nan
    >>> model = fit_probabilistic_pca(known_entries(X), ProbabilisticPCAOptions(1))
    >>> round(model.noise_variance, 2), bool(abs(model.impute(X)[5, 0] - 1.5 * X[5, 1]) < 0.5)
    (0.01, True)
    """
    options = options or ProbabilisticPCAOptions()
    if known.n_known == 0:
        message = "Nothing is known in this table: all of its values are missing. Pass one with some values."
        raise InputError(message)
    if known.counts.max() < 2:
        message = (
            "No column of this table has two known values, and nothing tells how far others lie from one. Pass a table "
            "with a column that has two."
        )
        raise InputError(message)
    # Of columns that are scaled the deviation overflows alone, and what they are multiplied by is zero.
    if not np.isfinite(known.squares) or not known.factor.all():
        message = (
            "Values of this table are so far from their means that a sum of squares is beyond the range of numbers. "
            "Divide the table by its largest value, and multiply what comes out."
        )
        raise InputError(message)
    if options.biases is None:
        options = replace(options, biases=known.of_sparse)
    k, reason = options.n_components, "as asked"
    if k is None:
        k, reason = choose_components(known, options)
        k = max(k, options.least)
    said = f"{k} component{'' if k == 1 else 's'} to {known.n_known:,} known entries"
    say(options, f"fitting {said} of {known.n_rows:,} x {known.n_columns:,}")
    plan = plan_known(known, k, biases=bool(options.biases), budget=options.memory_budget or memory_budget())
    require_free(plan.peak_bytes, work="This fit")
    if plan.way == "closed form":
        return _closed_form(known, k, options, reason)
    k = min(k, max(known.n_rows - 1, 0), known.n_columns)
    found = improve(
        known,
        start(known, k, biases=bool(options.biases), seed=options.seed),
        tol=options.tol,
        max_iter=options.max_iter,
        least=min(options.least, k),
        watch=_watching(options, known.n_known),
    )
    _warn(found, options, k)
    return _model(known, found, options, reason)


def plan_known(known: KnownEntries, k: int, *, biases: bool, budget: int | None = None) -> MissingPlan:
    """Return how so many components would be fitted to known entries, refused where it does not fit the budget."""
    way = "closed form" if known.is_complete and not biases and known.way != "known entries" else known.way
    n, d = known.n_rows, known.n_columns
    return plan_missing(way, n=n, d=d, known=known.n_known, k=k, biases=biases, budget=budget)


class HeldOut(NamedTuple):
    """A table without some of its known entries, and these.

    Attributes
    ----------
    X : numpy array with NaN, or scipy sparse array
    rows, columns, values : numpy arrays (m,)
    """

    X: Any
    rows: HostArray
    columns: HostArray
    values: HostArray


def hold_out(X: Any, *, share: float = 0.1, seed: int = 0) -> HeldOut:
    """Return a table without a random share of its known entries, and these: to see how well they are predicted.

    Each row and each column keeps one entry, where it has some.

    Examples
    --------
    >>> held = hold_out(np.arange(200.0).reshape(20, 10), share=0.1)
    >>> len(held.values), bool(np.isnan(held.X[held.rows, held.columns]).all())
    (20, True)
    """
    rng = np.random.default_rng(seed)
    table: Any = one_value_per_cell(X).tocoo() if sp.issparse(X) else None
    if table is not None:
        rows, columns = table.coords
        values = table.data
    else:
        X = np.asarray(X, dtype=FLOAT64)
        rows, columns = np.nonzero(~np.isnan(X))
        values = X[rows, columns]
    order = rng.permutation(len(rows))
    # The first entry of each row and column, in this order, stays.
    stays = np.zeros(len(rows), dtype=bool)
    for places in (rows, columns):
        stays[order[np.unique(places[order], return_index=True)[1]]] = True
    free = order[~stays[order]]
    out = np.sort(free[: round(share * len(rows))])
    if table is not None:
        kept = np.ones(len(rows), dtype=bool)
        kept[out] = False
        rest: Any = sp.csr_array((values[kept], (rows[kept], columns[kept])), shape=X.shape)
    else:
        rest = X.copy()
        rest[rows[out], columns[out]] = np.nan
    return HeldOut(rest, rows[out], columns[out], np.asarray(values[out], dtype=FLOAT64))


FIRST_TRIED, MOST_TRIED = 5, 40
"""Components that are tried when their number is not given: twice as many where all are needed, and at most."""

ROUGH, ROUGH_ROUNDS = 1e-3, 30
"""Tolerance and rounds of the fits by which numbers of components are compared."""

SAMPLED_CELLS, SAMPLED_ENTRIES = 100_000, 2_000_000
"""Cells of a dense table, and known entries of a sparse one, that are enough to choose the number of components by:
further rows, or columns, are not looked at."""


def choose_components(known: KnownEntries, options: ProbabilisticPCAOptions) -> tuple[int, str]:
    """Return the number of components that predicts held-out entries best, and the reason in words.

    A tenth of the known entries is held out, and components are removed from a fit of the others as long as that raises
    its evidence. Of the numbers up to those that are left, with the smallest components dropped, the one is taken whose
    likelihood of the held-out entries, with one noise for all, so whose mean squared error, is best. Evidence alone
    takes noise of different size in scaled columns for components.

    Cost: two or three fits at a looser tolerance, and three rounds for each number compared, of a part of the rows.
    """
    X = known.sample(SAMPLED_CELLS, SAMPLED_ENTRIES)
    held = hold_out(X, seed=options.seed)
    limit = max(0, min(MOST_TRIED, X.shape[0] - 2, X.shape[1] - 1))
    if len(held.values) < 5 or limit == 0:
        return min(1, limit), "there are too few entries to choose by"
    train, most, before = known_entries(held.X), min(FIRST_TRIED, limit), np.inf
    biases = bool(options.biases)

    def error(columns: Columns) -> float:
        layout, table, j = columns.layout, columns.packed(), held.columns
        g = np.concatenate(train.map_rows(lambda rows: row_posterior(rows, columns, table).means.T))[held.rows]
        expected = np.einsum("ma,ma->m", g, columns.means[j][:, layout.of_rows]) + columns.means[j, -1]
        return float(np.mean((expected + columns.shift[j] - held.values) ** 2))

    while True:
        say(options, f"predicting held-out entries with up to {most} component{'' if most == 1 else 's'}")
        found = improve(train, start(train, most, biases=biases, seed=options.seed), tol=ROUGH, max_iter=ROUGH_ROUNDS)
        here = error(found.columns)
        if found.columns.layout.k < most or most == limit or here >= before:
            break
        most, before = min(2 * most, limit), here
    largest = found.columns.layout.k
    scores = {largest: here}
    for k in {*range(min(largest, 5)), *np.geomspace(5, max(largest, 5), 6).astype(int)}:
        if k < largest:
            fewer = improve(train, leading(found.columns, k), tol=ROUGH, max_iter=3, least=k)
            scores[int(k)] = error(fewer.columns)
    best = min(sorted(scores), key=scores.__getitem__)
    return best, f"{best} of up to {most} predict held-out entries best"


def _closed_form(known: KnownEntries, k: int, options: ProbabilisticPCAOptions, reason: str) -> ProbabilisticPCAModel:
    n, d = known.n_rows, known.n_columns
    q = min(k, n, d)
    if isinstance(known, SourceEntries):
        pca = fit_pca(known.source, PCAOptions(q, ddof=0, scale=bool((known.factor != 1.0).any())))
    elif isinstance(known, DenseEntries):
        pca = fit_pca(as_source(known.values), PCAOptions(q, ddof=0))
    V, lam = to_host(pca.components).astype(FLOAT64), to_host(pca.variances).astype(FLOAT64)
    total, fitted = float(pca.total_variance), min(q, d - 1)
    rest = (total - float(lam[:fitted].sum())) / (d - fitted)
    # Without any noise no density is finite.
    noise = max(rest, 1e-12 * total / d, TINY)
    variances = np.concatenate([lam[:fitted], np.full(q - fitted, noise)])
    weights = V.T * np.sqrt(np.maximum(variances - noise, 0.0))
    # Given the rows, each column is a regression on them, and their E[z z'] sums to n I.
    layout = Layout(q, biases=False)
    means = np.column_stack([weights, np.zeros(d)])
    covariances = np.eye(q + 1)[None] * (noise / n)
    center = known.center * known.factor
    priors = Priors(noise, np.maximum((weights**2).mean(axis=0), TINY), 1.0, float(center.mean()), float(center.var()))
    none = np.zeros((1, 0))
    columns = Columns(layout, means, covariances, np.zeros(d, dtype=int), priors, center, none.sum(axis=1), none)
    model = _model(known, Rounds(columns, (), converged=True), options, reason)
    variances = np.maximum(variances, noise)
    logs = d * np.log(2 * np.pi) + np.log(variances).sum() + (d - q) * np.log(noise) - 2 * np.log(known.factor).sum()
    fit = (lam[:fitted] / variances[:fitted]).sum() + (total - lam[:fitted].sum()) / noise
    return replace(
        model, components=V, variances=variances, shares=variances / max(total, TINY), evidence=-0.5 * (logs + fit) / d
    )


def _model(known: KnownEntries, found: Rounds, options: ProbabilisticPCAOptions, reason: str) -> ProbabilisticPCAModel:
    """Write what was found as a model: W in its principal axes, variances with what is not known of W."""
    columns, layout, priors = found.columns, found.columns.layout, found.columns.priors
    d, k, free = known.n_columns, found.columns.layout.k, found.columns.layout.of_columns
    W, C = columns.means[:, :k], columns.covariances
    if options.n_components is not None and k < options.n_components:
        asked, rest = options.n_components, "the others are not" if k else "none is"
        reason = f"of the {asked} asked for, {rest} needed" if asked > 1 else "the one asked for is not needed"
    left, deviations, right = np.linalg.svd(W, full_matrices=False)
    V = left.T
    # The entry largest in size is positive, as in PCA.
    V = V * np.where(V[np.arange(len(V)), np.argmax(np.abs(V), axis=1)] < 0, -1.0, 1.0)[:, None]
    unknown = np.einsum("ka,ab,kb->k", right, np.tensordot(columns.shared_by, C[:, :k, :k], 1), right)
    variances = deviations**2 + unknown + priors.noise
    row_bias = priors.row_bias if layout.biases else 0.0
    total = float((variances - priors.noise).sum()) + d * (priors.noise + row_bias)
    i, j = np.triu_indices(len(free))
    low, high = (None, None) if options.bounds is None else (float(limit) for limit in options.bounds)
    rows = _kept_rows(known, columns) if options.keep_rows else (None, None, None)
    errors = _share_errors(known, columns, right, row_bias, options.seed)
    return ProbabilisticPCAModel(
        mean=(columns.means[:, -1] + columns.shift) / known.factor,
        factor=known.factor,
        weights=W,
        column_covariances=C[:, free[i], free[j]][columns.pattern],
        components=V,
        variances=variances,
        shares=variances / max(total, TINY),
        share_errors=errors[0],
        cumulative_share_errors=errors[1],
        noise_variance=priors.noise,
        weight_variances=priors.components,
        row_bias_variance=row_bias,
        prior_mean=priors.mean,
        prior_variance=priors.column_bias,
        row_means=rows[0],
        row_covariances=rows[1],
        row_patterns=rows[2],
        n_rows=known.n_rows,
        n_known=known.n_known,
        n_steps=len(found.bounds),
        # A density in the units of the table, not of scaled columns.
        evidence=float((found.bounds[-1] + known.counts @ np.log(known.factor)) / known.n_known)
        if found.bounds
        else 0.0,
        converged=found.converged,
        lower=low,
        upper=high,
        reason=reason,
    )


TINY = float(np.finfo(FLOAT64).tiny)


def _share_errors(
    known: KnownEntries, columns: Columns, right: HostArray, row_bias: float, seed: int
) -> tuple[HostArray, HostArray]:
    """Return the standard deviations of the shares of variance, and of their cumulative sums, of 200 draws.

    Drawn are W, the rows, and the noise.

    W is drawn from its posterior; were other rows drawn, the variance of n scores would be that of chi^2_n / n, and
    that of noise chi^2_N / N.
    """
    k, (n, d) = columns.layout.k, (known.n_rows, known.n_columns)
    if k == 0:
        return np.zeros(0), np.zeros(0)
    rng, noise = np.random.default_rng(seed), columns.priors.noise
    # The squares of W are sums of d terms: their means and variances are enough.
    C = np.einsum("ka,jab,kb->jk", right, columns.covariances[:, :k, :k], right, optimize=True)[columns.pattern]
    W = columns.means[:, :k] @ right.T
    mean, spread = (W**2 + C).sum(axis=0), np.sqrt((4 * W**2 * C + 2 * C**2).sum(axis=0))
    drawn = np.maximum(mean + spread * rng.standard_normal((200, k)), 0.0) * rng.chisquare(n, (200, k)) / n
    noises = noise * rng.chisquare(known.n_known, (200, 1)) / known.n_known
    total = drawn.sum(axis=1, keepdims=True) + d * (noises + row_bias)
    shares = (drawn + noises) / np.maximum(total, TINY)
    return shares.std(axis=0), shares.cumsum(axis=1).std(axis=0)


def _kept_rows(known: KnownEntries, columns: Columns) -> tuple[HostArray, HostArray, HostArray]:
    """Return means, packed covariances and patterns of all rows, in float32 but for the last: one more pass."""
    layout, table = columns.layout, columns.packed()
    r = len(layout.of_rows)
    i, j = np.triu_indices(r)

    def posterior(rows: Rows) -> tuple[HostArray, HostArray, HostArray]:
        found = row_posterior(rows, columns, table)
        own = np.arange(rows.n_rows) if found.pattern is None else found.pattern
        return found.means.T.astype(np.float32), found.covariances[i, j].T.astype(np.float32), own

    parts = known.map_rows(posterior)
    firsts = np.cumsum([0, *(len(packed) for _, packed, _ in parts)])
    patterns = np.concatenate([own + first for (_, _, own), first in zip(parts, firsts, strict=False)])
    return (
        np.concatenate([means for means, _, _ in parts]),
        np.concatenate([packed for _, packed, _ in parts]),
        patterns.astype(np.int64),
    )


def _watching(options: ProbabilisticPCAOptions, n_known: int) -> Callable[[int, float], None] | None:
    if options.progress is None:
        return None
    return lambda step, value: say(options, f"round {step}: log evidence of an entry at least {value / n_known:.6f}")


def _warn(found: Rounds, options: ProbabilisticPCAOptions, asked: int) -> None:
    if not found.converged:
        message = (
            f"The evidence still rises after {options.max_iter} rounds with {asked} components. Use a larger max_iter, "
            "or a larger tol."
        )
        warnings.warn(message, ConvergenceWarning, stacklevel=users_line())
