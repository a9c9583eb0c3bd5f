"""Tables with holes: a regularized EM-PCA that fills what is missing from what is there.

Of the two classical ways, maximum likelihood of the probabilistic model (Tipping and Bishop, 1999, with missing
entries) and iterative regularized PCA (Josse and Husson, 2012), this is the second: the same alternation, with the
shrinkage that keeps it from overfitting where many entries are missing.
"""

import warnings
from dataclasses import dataclass

import numpy as np

from gramian.arrays.namespace import HostArray, to_host
from gramian.arrays.precision import FLOAT64
from gramian.errors import ConvergenceWarning, InputError, RankWarning, users_line
from gramian.models.pca import PCAModel

TOLERANCE = 1e-6
"""Change of the filled values, relative to the spread of the columns, at which the alternation stops."""

MOST_STEPS = 1000
"""Steps of one alternation, at most."""

FIRST_TRIED, MOST_TRIED = 5, 40
"""Components that are tried when their number is not given: twice as many where all help, and how many at most."""

ROUGH, ROUGH_STEPS = 1e-3, 50
"""Tolerance and steps, at most, of the alternations by which numbers of components are compared."""

ENOUGH_HELD_OUT, MOST_REPEATS = 400, 4
"""Entries that are held out at least, again in other parts where the table has fewer, and how often at most."""

FOLDS, SMALL_TABLE = 10, 300_000
"""Parts that known entries are held out in, and entries of a table up to which there are so many and not two."""


@dataclass(frozen=True, eq=False)
class FilledRows:
    """A table whose holes are filled.

    Attributes
    ----------
    rows : numpy array (n, d)
        Observed values as they were.
    holes : numpy array (n, d) of bool
    n_components : int
        Components that the filling used.
    n_steps : int
    noise_variance : float
        Of the standardized columns, what the components leave.
    converged : bool
    """

    rows: HostArray
    holes: HostArray
    n_components: int
    n_steps: int
    noise_variance: float
    converged: bool


def fill_holes(
    X: HostArray, n_components: int | None = None, *, scale: bool = True, seed: int = 0, warn: bool = True
) -> FilledRows:
    """Fill the holes (NaN) of a dense table by iterative regularized PCA.

    Computes, from holes filled with the means of their columns, again and again: means m and deviations s of the
    filled columns;  Z = (X - m) / s = U diag(d) V';  the shrunken reconstruction

        Z^ = sum over i <= k of  u_i (d_i - n sigma2 / d_i) v_i',
        sigma2 = (sum of d_i^2 / n over i > k) (n d / min(d, n - 1)) / ((n - 1 - k)(d - k)),  at most d_(k+1)^2 / n;

    and holes filled from  m + s Z^,  until they change by less than 1e-6 of a deviation (Josse and Husson, 2012,
    Journal de la Societe francaise de statistique 153, section 3.2, the algorithm of their package missMDA). The number
    of components, where it is not given, is the one that fills held-out entries best: see :func:`choose_filling`.

    Cost: n d^2 operations a step (n^2 d for wide tables), some tens to hundreds of steps, two copies of the table; ten
    shorter alternations more for every number that is tried where the number of components is chosen. Not for holes
    that say something by being there (a value too large to measure): nothing here knows of that.

    Parameters
    ----------
    X : numpy array (n, d)
        NaN where nothing is known. Every column needs two values that are.
    n_components : int, optional
    scale : bool, default=True
        Whether columns count by their deviations, or as they are.
    seed : int, default=0
        Of the entries that are held out, where the number of components is chosen.
    warn : bool, default=True
        Whether a filling that has not settled is warned of; where it is only a start it need not be.

    Examples
    --------
    >>> t = np.arange(8.0)
    >>> X = np.column_stack([t, 2 * t, 10 - t])
    >>> X[3, 1] = np.nan
    >>> fill_holes(X, 1).rows[3].round(2)
    array([3., 6., 7.])
    """
    X = np.asarray(X, dtype=FLOAT64)
    holes = np.isnan(X)
    require_values(X, holes)
    if not holes.any():
        return FilledRows(X, holes, 0, 0, 0.0, converged=True)
    if n_components is None:
        n_components = choose_filling(X, scale=scale, seed=seed)
    return _alternate(X, holes, min(n_components, *(side - 1 for side in X.shape)), scale=scale, warn=warn)


def choose_filling(X: HostArray, *, scale: bool = True, most: int = MOST_TRIED, seed: int = 0) -> int:
    """Return the number of components that fills entries best which are known, but were held out.

    Computes, for every k from 0 to 5, and on to twice as many while all of them help, the mean square of (filled -
    known) / deviation over entries held out a tenth at a time (a half where the table is large), and takes the smallest
    k whose error is not above the least by more than a standard error of their difference. The generalized
    cross-validation of Josse and Husson (2012, doi:10.1016/j.csda.2011.11.012) needs no held-out entries, but takes
    noise of different size in scaled columns for components: on planted tables it chose 4 or 5 where there are 2.

    Cost: ten alternations to a looser tolerance for every k. Warns where all of `most` help and more might.

    Parameters
    ----------
    X : numpy array (n, d)
        NaN where nothing is known.
    scale : bool
    most : int
        Components, at most.
    seed : int

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((80, 1)) @ np.ones((1, 6)) + 0.3 * rng.standard_normal((80, 6))
    >>> choose_filling(X), choose_filling(rng.standard_normal((80, 6)))
    (1, 0)
    """
    n, d = X.shape
    limit = max(0, min(most, n - 2, d - 1))
    known = int((~np.isnan(X)).sum())
    folds = FOLDS if X.size <= SMALL_TABLE else 2
    again = max(1, min(MOST_REPEATS, ENOUGH_HELD_OUT // max(known, 1)))
    rng = np.random.default_rng(seed)
    drawn = [rng.integers(0, folds, X.shape) for _ in range(again)]
    parts = [places == part for places in drawn for part in range(folds)]
    tried = min(FIRST_TRIED, limit)
    errors = np.array([_held_out_errors(X, part, range(tried + 1), scale=scale) for part in parts])
    while (k := _fewest(errors)) == tried < limit:
        more = range(tried + 1, min(2 * tried, limit) + 1)
        errors = np.hstack([errors, [_held_out_errors(X, part, more, scale=scale) for part in parts]])
        tried = more[-1]
    if 0 < k == most < min(n - 2, d - 1):
        message = f"All of the {most} components that were tried help to fill the holes, and more might. Say how many."
        warnings.warn(message, RankWarning, stacklevel=users_line())
    return k


def _fewest(errors: HostArray) -> int:
    """Return the smallest number of components whose error is within a standard error of the least (parts, k)."""
    worse = errors - errors[:, [int(np.argmin(errors.mean(axis=0)))]]
    margin = worse.std(axis=0, ddof=1) / np.sqrt(len(errors))
    return int(np.argmax(worse.mean(axis=0) <= margin))


def fill_rows(model: PCAModel, X: HostArray) -> HostArray:
    """Fill the holes of new rows with what a fitted PCA expects there, given what is known of each row.

    Computes, for a row with known columns o,  z = (V_o'V_o + s2 diag(1 / (lam - s2)))^-1 V_o' x_o,  the expected scores
    under the probabilistic model with noise s2 (Tipping and Bishop, 1999, doi:10.1111/1467-9868.00196), and holes from
    z V. Cost: a k x k system for each row with holes.

    Parameters
    ----------
    model : PCAModel
    X : numpy array (m, d)

    Examples
    --------
    >>> from gramian.models.pca import PCAOptions, fit_pca
    >>> from gramian.sources import as_source
    >>> t = np.arange(8.0)
    >>> model = fit_pca(as_source(np.column_stack([t, 2 * t])), PCAOptions(1))
    >>> fill_rows(model, np.array([[3.0, np.nan]])).round(6)
    array([[3., 6.]])
    """
    X = np.array(X, dtype=FLOAT64)
    holes = np.isnan(X)
    mean, V = to_host(model.mean).astype(FLOAT64), to_host(model.components).astype(FLOAT64)[: model.rank]
    factor = np.ones(len(mean)) if model.factor is None else to_host(model.factor).astype(FLOAT64)
    lam, s2 = to_host(model.variances).astype(FLOAT64)[: model.rank], float(model.noise_variance)
    ridge = s2 / np.maximum(lam - s2, np.finfo(FLOAT64).eps * max(float(np.max(lam, initial=0.0)), 1e-300))
    for i in np.flatnonzero(holes.any(axis=1)):
        there = ~holes[i]
        W = V[:, there]
        z = np.linalg.lstsq(W @ W.T + np.diag(ridge), W @ ((X[i] - mean) * factor)[there], rcond=None)[0]
        X[i, ~there] = (mean + (z @ V) / factor)[~there]
    return X


def _held_out_errors(X: HostArray, out: HostArray, counts: range, *, scale: bool) -> HostArray:
    """Return the mean squared error of held-out entries for every number of components."""
    out = out & ~np.isnan(X)
    # A column keeps two values, or there would be nothing to fill it from.
    out &= ((~np.isnan(X)) & ~out).sum(axis=0) >= 2
    if not out.any():
        return np.zeros(len(counts))
    seen = np.where(out, np.nan, X)
    spread = np.nanstd(X, axis=0)
    known = (X / np.where(spread > 0, spread, 1.0))[out]
    fits = (
        _alternate(seen, np.isnan(seen), k, scale=scale, warn=False, tol=ROUGH, most_steps=ROUGH_STEPS) for k in counts
    )
    filled = ((fit.rows / np.where(spread > 0, spread, 1.0))[out] for fit in fits)
    return np.array([np.mean((values - known) ** 2) for values in filled])


def require_values(X: HostArray, holes: HostArray) -> None:
    """Refuse infinity, and a column with fewer than two values that are known."""
    infinite = np.isinf(X)
    if infinite.any():
        row, column = (int(i) for i in np.argwhere(infinite)[0])
        message = f"Row {row:,} holds infinity in column {column}. Remove it, or leave it empty if it is unknown."
        raise InputError(message, row=row, column=column)
    known = (~holes).sum(axis=0)
    if (known < 2).any():
        column = int(np.argmin(known))
        message = (
            f"Column {column} has {known[column]} values that are known, and filling holes needs two in each column. "
            "Leave it out."
        )
        raise InputError(message, column=column)


def _alternate(
    X: HostArray,
    holes: HostArray,
    k: int,
    *,
    scale: bool,
    warn: bool = True,
    tol: float = TOLERANCE,
    most_steps: int | None = None,
) -> FilledRows:
    means = np.nanmean(X, axis=0)
    rows = np.where(holes, means, X)
    spread_known = np.where((known := np.nanstd(X, axis=0)) > 0, known, 1.0)
    change, noise, step = np.inf, 0.0, 0
    most_steps = MOST_STEPS if most_steps is None else most_steps
    while change > tol and step < most_steps:
        mean, spread = _standards(rows, scale=scale)
        Z, noise = _shrunken((rows - mean) / spread, k)
        new = np.where(holes, Z * spread + mean, X)
        change = float(np.sqrt(np.mean((((new - rows) / spread_known)[holes]) ** 2)))
        rows, step = new, step + 1
    found = FilledRows(rows, holes, k, step, noise, change <= tol)
    if warn:
        _warn(found)
    return found


def _standards(rows: HostArray, *, scale: bool) -> tuple[HostArray, HostArray]:
    mean = rows.mean(axis=0)
    spread = rows.std(axis=0) if scale else np.ones(rows.shape[1])
    return mean, np.where(spread > 8 * np.finfo(FLOAT64).eps * np.abs(mean), spread, 1.0)


def _shrunken(Z: HostArray, k: int) -> tuple[HostArray, float]:
    """Return the shrunken reconstruction from k components, and sigma2."""
    n, d = Z.shape
    if k == 0:
        return np.zeros_like(Z), float(np.mean(Z**2))
    squares, V = np.linalg.eigh(Z.T @ Z / n if d <= n else Z @ Z.T / n)
    squares, V = np.maximum(squares[::-1], 0.0), V[:, ::-1]
    sigma2 = float(squares[k:].sum()) * n * d / min(d, n - 1) / max((n - 1 - k) * (d - k), 1)
    sigma2 = min(sigma2, float(squares[k]) if k < len(squares) else 0.0)
    shrink = np.divide(squares[:k] - sigma2, squares[:k], out=np.zeros(k), where=squares[:k] > 0)
    kept = V[:, :k]
    return (Z @ kept * shrink) @ kept.T if d <= n else (kept * shrink) @ (kept.T @ Z), sigma2


def _warn(found: FilledRows) -> None:
    if not found.converged:
        message = (
            f"Filling the holes has not settled after {found.n_steps} steps with {found.n_components} components: "
            "there may be too many holes. Use fewer components, or leave out the emptiest columns or rows."
        )
        warnings.warn(message, ConvergenceWarning, stacklevel=4)
