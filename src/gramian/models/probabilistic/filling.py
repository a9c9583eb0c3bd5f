"""Tables with missing values: a regularized EM-PCA that fills what is missing from what is there.

Of the two classical ways, maximum likelihood of the probabilistic model (Tipping and Bishop, 1999, with missing
entries) and iterative regularized PCA (Josse and Husson, 2012), this is the second: the same alternation, with the
shrinkage that keeps it from overfitting where many entries are missing.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gramian.arrays.namespace import HostArray, to_host
from gramian.arrays.precision import FLOAT64
from gramian.errors import ConvergenceWarning, InputError, RankWarning, users_line
from gramian.models.pca.model import PCAModel

TOLERANCE, OF_THE_NOISE = 1e-6, 1e-5
"""How far filled values may be from where the alternation leads, in deviations of the columns; or a part of the noise
where that is more: filled values are uncertain by the noise, and digits far below it mean nothing."""

MOST_STEPS = 200
"""Steps of one alternation, at most."""

FIRST_TRIED, MOST_TRIED = 5, 40
"""Components that are tried when their number is not given: twice as many where all help, and how many at most."""

ROUGH, ROUGH_STEPS = 1000.0, 50
"""How many times coarser, and with how many steps at most, are the alternations by which numbers of components are
compared: 1e-3 of a deviation, or 1e-2 of the noise."""

ENOUGH_HELD_OUT, MOST_REPEATS = 400, 4
"""Entries that are held out at least, again in other parts where the table has fewer, and how often at most."""

FOLDS, SMALL_TABLE = 10, 300_000
"""Parts that known entries are held out in, and entries of a table up to which there are so many and not two."""


@dataclass(frozen=True, eq=False)
class FilledRows:
    """A table whose missing values are filled.

    Attributes
    ----------
    rows : numpy array (n, d)
        Observed values as they were.
    missing : numpy array (n, d) of bool
    n_components : int
        Components that the filling used.
    n_steps : int
    noise_variance : float
        Of the standardized columns, what the components leave.
    converged : bool
    """

    rows: HostArray
    missing: HostArray
    n_components: int
    n_steps: int
    noise_variance: float
    converged: bool


def fill_missing(
    X: HostArray, n_components: int | None = None, *, scale: bool = True, seed: int = 0, warn: bool = True
) -> FilledRows:
    """Fill the missing values (NaN) of a dense table by iterative regularized PCA.

    Computes, from the means of their columns, again and again: means m and deviations s of the filled columns;
    Z = (X - m) / s = U diag(d) V';  the shrunken reconstruction

        Z^ = sum over i <= k of  u_i (d_i - n sigma2 / d_i) v_i',
        sigma2 = (sum of d_i^2 / n over i > k) (n d / min(d, n - 1)) / ((n - 1 - k)(d - k)),  at most d_(k+1)^2 / n;

    and missing values from  m + s Z^,  until they are within 1e-6 of a deviation, or 1e-5 sigma, of where their last
    two changes lead (Josse and Husson, 2012, Journal de la Societe francaise de statistique 153, section 3.2, the
    algorithm of their package missMDA). The number of components, where it is not given, is the one that fills held-out
    entries best: see :func:`choose_filling`.

    Cost: n d^2 operations per step (n^2 d for wide tables), some tens of steps and 200 at most, with a warning then,
    two copies of the table; ten shorter alternations more for every number that is tried where the number of components
    is chosen. Not for values that are missing for a reason (too large to measure): nothing here knows of it.

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
    >>> fill_missing(X, 1).rows[3].round(2)
    array([3., 6., 7.])
    """
    X = np.asarray(X, dtype=FLOAT64)
    missing = np.isnan(X)
    require_values(X, missing)
    if not missing.any():
        return FilledRows(X, missing, 0, 0, 0.0, converged=True)
    if n_components is None:
        n_components = choose_filling(X, scale=scale, seed=seed)
    return _alternate(X, missing, min(n_components, *(side - 1 for side in X.shape)), scale=scale, warn=warn)


def choose_filling(X: HostArray, *, scale: bool = True, most: int = MOST_TRIED, seed: int = 0) -> int:
    """Return the number of components that fills entries best which are known, but were held out.

    Computes, for every k from 0 to 5, and on while all of them help (in steps of a fifth from 10), the mean square of
    (filled - known) / deviation  over entries held out a tenth at a time (a half where the table is large), and takes
    the smallest k whose error is not above the least by more than a standard error of their difference. The
    generalized cross-validation of Josse and Husson (2012, doi:10.1016/j.csda.2011.11.012) needs no held-out entries,
    but takes noise of different size in scaled columns for components: on planted tables it chose 4 or 5 where there
    are 2.

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
    tried = list(range(min(FIRST_TRIED, limit) + 1))
    errors = np.array([_held_out_errors(X, part, tried, scale=scale) for part in parts])
    while (k := tried[_fewest(errors)]) == tried[-1] < limit:
        more = _more(k, limit)
        errors = np.hstack([errors, [_held_out_errors(X, part, more, scale=scale) for part in parts]])
        tried += more
    if 0 < k == most < min(n - 2, d - 1):
        message = (
            f"All of the {most} components that were tried help to fill the missing values, and more might. Say how "
            "many."
        )
        warnings.warn(message, RankWarning, stacklevel=users_line())
    return k


def _more(k: int, limit: int) -> list[int]:
    """Return the numbers of components that are tried after k, up to twice as many: from 10 on in steps of a fifth.

    Examples
    --------
    >>> _more(5, 40), _more(10, 40), _more(22, 40)
    ([6, 7, 8, 9, 10], [12, 14, 16, 19, 22], [26, 31, 37, 40])
    """
    more = [k]
    while more[-1] < min(2 * k, limit):
        more.append(min(more[-1] + max(1, more[-1] // 5), limit))
    return more[1:]


def _fewest(errors: HostArray) -> int:
    """Return the place of the first number of components whose error is within a standard error of the least."""
    worse = errors - errors[:, [int(np.argmin(errors.mean(axis=0)))]]
    margin = worse.std(axis=0, ddof=1) / np.sqrt(len(errors))
    return int(np.argmax(worse.mean(axis=0) <= margin))


def fill_rows(model: PCAModel, X: HostArray) -> HostArray:
    """Fill the missing values of new rows with what a fitted PCA expects there, given what is known of each row.

    Computes, for a row with known columns o,  z = (V_o'V_o + s2 diag(1 / (lam - s2)))^-1 V_o' x_o,  the expected scores
    under the probabilistic model with noise s2 (Tipping and Bishop, 1999, doi:10.1111/1467-9868.00196), and missing
    values from  z V.  Cost: a k x k system for each row that has some.

    Parameters
    ----------
    model : PCAModel
    X : numpy array (m, d)

    Examples
    --------
    >>> from gramian.models.pca.model import PCAOptions
    >>> from gramian.models.pca.fit import fit_pca
    >>> from gramian.sources import as_source
    >>> t = np.arange(8.0)
    >>> model = fit_pca(as_source(np.column_stack([t, 2 * t])), PCAOptions(1))
    >>> fill_rows(model, np.array([[3.0, np.nan]])).round(6)
    array([[3., 6.]])
    """
    X = np.array(X, dtype=FLOAT64)
    missing = np.isnan(X)
    mean, V = to_host(model.mean).astype(FLOAT64), to_host(model.components).astype(FLOAT64)[: model.rank]
    factor = np.ones(len(mean)) if model.factor is None else to_host(model.factor).astype(FLOAT64)
    lam, s2 = to_host(model.variances).astype(FLOAT64)[: model.rank], float(model.noise_variance)
    ridge = s2 / np.maximum(lam - s2, np.finfo(FLOAT64).eps * max(float(np.max(lam, initial=0.0)), 1e-300))
    for i in np.flatnonzero(missing.any(axis=1)):
        there = ~missing[i]
        W = V[:, there]
        z = np.linalg.lstsq(W @ W.T + np.diag(ridge), W @ ((X[i] - mean) * factor)[there], rcond=None)[0]
        X[i, ~there] = (mean + (z @ V) / factor)[~there]
    return X


def _held_out_errors(X: HostArray, out: HostArray, counts: Sequence[int], *, scale: bool) -> HostArray:
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
        _alternate(seen, np.isnan(seen), k, scale=scale, warn=False, coarser=ROUGH, most_steps=ROUGH_STEPS)
        for k in counts
    )
    filled = ((fit.rows / np.where(spread > 0, spread, 1.0))[out] for fit in fits)
    return np.array([np.mean((values - known) ** 2) for values in filled])


def require_values(X: HostArray, missing: HostArray) -> None:
    """Refuse infinity, and a column with fewer than two values that are known."""
    infinite = np.isinf(X)
    if infinite.any():
        row, column = (int(i) for i in np.argwhere(infinite)[0])
        message = f"Row {row:,} holds infinity in column {column}. Remove it, or leave it empty if it is unknown."
        raise InputError(message, row=row, column=column)
    known = (~missing).sum(axis=0)
    if (known < 2).any():
        column = int(np.argmin(known))
        message = (
            f"Column {column} has {known[column]} values that are known, and filling the others needs two in each "
            "column. Leave it out."
        )
        raise InputError(message, column=column)


def _alternate(
    X: HostArray,
    missing: HostArray,
    k: int,
    *,
    scale: bool,
    warn: bool = True,
    coarser: float = 1.0,
    most_steps: int | None = None,
) -> FilledRows:
    """Alternate between components and fillings, from the means of the columns.

    After two steps the values go on along the path that both are on (squared extrapolation, Varadhan and Roland, 2008,
    doi:10.1111/j.1467-9469.2007.00585.x), and back where the next change is larger for it.
    """
    rows = np.where(missing, np.nanmean(X, axis=0), X)
    places = np.nonzero(missing)
    known = np.nanstd(X, axis=0)
    spread_known = np.where(known > 0, known, 1.0)[places[1]]
    path = [rows[places]]
    changes: list[float] = []
    safe, left, enough, noise, step = path[0], np.inf, 0.0, 0.0, 0
    most_steps = MOST_STEPS if most_steps is None else most_steps
    while left > enough and step < most_steps:
        mean, spread = _standards(rows, scale=scale)
        Z, noise = _shrunken((rows - mean) / spread, k)
        path.append(Z[places] * spread[places[1]] + mean[places[1]])
        change = float(np.sqrt(np.mean(((path[-1] - path[-2]) / spread_known) ** 2)))
        step += 1
        uncertain = float(np.sqrt(noise * np.mean((spread[places[1]] / spread_known) ** 2)))
        enough = max(coarser * TOLERANCE, coarser * OF_THE_NOISE * uncertain)
        if len(path) == 2 and changes and change > changes[-1]:
            path, changes = [safe], []
        elif len(path) == 2:
            changes.append(change)
        else:
            # Changes that shrink by a rate r = change / before sum to r / (1 - r) of the last one.
            before = changes[-1]
            left = change if change <= TOLERANCE else change**2 / (before - change) if change < before else np.inf
            safe, changes = path[-1], [*changes, change]
            path = [_extrapolated(path[0], path[1], path[2], spread_known) if left > enough else safe]
        rows[places] = path[-1]
    # At the cap the path may just have been extrapolated, with nothing yet to show for it.
    rows[places] = safe
    found = FilledRows(rows, missing, k, step, noise, left <= enough)
    if warn:
        _warn(found)
    return found


def _extrapolated(x: HostArray, first: HostArray, second: HostArray, unit: HostArray) -> HostArray:
    """Go on along the path of two steps, at least as far as the second; lengths are measured in units of each value."""
    r, v = first - x, second - 2 * first + x
    length = float(np.linalg.norm(v / unit))
    a = 1.0 if length == 0 else max(1.0, float(np.linalg.norm(r / unit)) / length)
    ahead: HostArray = x + 2 * a * r + a**2 * v
    return ahead


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
            f"Filling the missing values has not settled after {found.n_steps} steps with {found.n_components} "
            "components: there may be too many of them. Use fewer components, or leave out the emptiest columns or "
            "rows."
        )
        warnings.warn(message, ConvergenceWarning, stacklevel=users_line())
