"""Tables with a few missing values, filled by the model of this package: what is done before a PCA."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gramian.arrays.namespace import HostArray, to_host
from gramian.arrays.precision import FLOAT64
from gramian.errors import InputError
from gramian.models.pca.model import PCAModel
from gramian.models.probabilistic.entries import known_entries
from gramian.models.probabilistic.fit import ProbabilisticPCAOptions, fit_probabilistic_pca
from gramian.models.probabilistic.model import ProbabilisticPCAModel


@dataclass(frozen=True, eq=False)
class FilledRows:
    """A table whose missing values are filled.

    Attributes
    ----------
    rows : numpy array (n, d)
        Observed values as they were.
    missing : numpy array (n, d) of bool
    model : ProbabilisticPCAModel or None
        What filled them; None where nothing was missing.
    """

    rows: HostArray
    missing: HostArray
    model: ProbabilisticPCAModel | None

    @property
    def n_components(self) -> int:
        """Components that the filling used."""
        return 0 if self.model is None else self.model.n_components

    @cached_property
    def std(self) -> HostArray:
        """Standard deviation of each filled value (n, d); 0 where the value is known."""
        if self.model is None:
            return np.zeros(self.rows.shape)
        return self.model.impute_with_std(np.where(self.missing, np.nan, self.rows))[1]


def fill_missing(X: HostArray, n_components: int | None = None, *, scale: bool = True, seed: int = 0) -> FilledRows:
    """Fill the missing values (NaN) of a dense table with what is expected there, given all that is known.

    Computes the posterior mean of each missing value under probabilistic PCA, see
    :func:`~gramian.models.probabilistic.fit.fit_probabilistic_pca`. The number of components, where it is not given, is
    the one that predicts held-out entries best, which may be none: then missing values are the means of their columns.

    Cost: complete rows cost one pass together, and rows with missing values d k + k^3 operations per round each. Not
    for values that are missing for a reason (too large to measure): nothing here knows of it.

    Parameters
    ----------
    X : numpy array (n, d)
        NaN where nothing is known. Every column needs two values that are.
    n_components : int, optional
        At most.
    scale : bool, default=True
        Whether columns count by their deviations, or as they are.
    seed : int, default=0
        Of the entries that are held out, where the number of components is chosen.

    Examples
    --------
    >>> t = np.arange(8.0)
    >>> X = np.column_stack([t, 2 * t, 10 - t])
    >>> X[3, 1] = np.nan
    >>> fill_missing(X, 1).rows[3].round(1)
    array([3., 6., 7.])
    """
    X = np.asarray(X, dtype=FLOAT64)
    missing = np.isnan(X)
    _require_values(missing)
    if not missing.any():
        return FilledRows(X, missing, None)
    options = ProbabilisticPCAOptions(n_components, biases=False, seed=seed, keep_rows=False)
    model = fit_probabilistic_pca(known_entries(X, scale=scale), options)
    rows, some = X.copy(), missing.any(axis=1)
    rows[some] = model.impute(X[some])
    return FilledRows(rows, missing, model)


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


def _require_values(missing: HostArray) -> None:
    """Refuse a column with fewer than two values that are known."""
    known = (~missing).sum(axis=0)
    if (known < 2).any():
        column = int(np.argmin(known))
        message = (
            f"Column {column} has {known[column]} values that are known, and filling the others needs two in each "
            "column. Leave it out."
        )
        raise InputError(message, column=column)
