"""Intervals for shares and correlations by the bootstrap, and which components are told apart.

Rows are drawn again by Poisson weights, and what changes is solved within the components that are known: a K x K
problem per draw, whatever the number of columns. Rows are numbered by their length, not by their place, so that a table
whose rows or columns are shuffled gives the same intervals.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.arrays.namespace import HostArray, to_host
from gramian.arrays.precision import FLOAT64
from gramian.models.pca.model import PCAModel
from gramian.models.pca.robust import sample_rows
from gramian.sources.indicator import Coding

MOST_ROWS = 5000
"""Rows that are drawn from at most; their weights vary as those of all rows would."""

LEAST_ROWS = 8
"""Rows under which nothing is said about other samples."""

DRAWS = 200
WIDE, DRAWS_OF_WIDE = 400, 60
"""Columns above which fewer draws are made, and how many: each holds ten correlations of every column, and 200 of
100,000 columns are 1.6 GB. Sixty know a deviation to 12%, 200 to 7%."""

MOST_COMPONENTS = 40
COMPONENTS = 10
"""Components whose correlations have intervals."""

NORMAL_95 = 1.959964

NEXT_TO_NOTHING, MOST_LOST = 1e-3, 0.1
"""Part of a share under which a draw has lost it, and of the draws that may; of more no deviation tells."""


@dataclass(frozen=True, eq=False)
class Intervals:
    """95% intervals of shares and correlations, and how sure the order of the components is.

    Attributes
    ----------
    shares, together : numpy arrays (K, 2)
        Of the share of each component, and of the first 1, 2, ... together: of one for every four rows, at most. NaN
        where a draw without a single row may have none of it.
    correlations : numpy array (c, d, 2)
        Of columns with the first c components.
    gaps : numpy array (K, K)
        log(variance of i / variance of j), over its standard error: by the draws, or to first order where they lose
        either.
    alone : numpy array of bool (K,)
        Components that a few rows make: none is like them, and other rows would have other ones.
    n_rows, n_draws : int
        Rows that were drawn from, and how often.
    """

    shares: HostArray
    together: HostArray
    correlations: HostArray
    gaps: HostArray
    alone: HostArray
    n_rows: int
    n_draws: int

    def tied_with(self, component: int) -> tuple[int, ...]:
        """Return the components whose variance is not told apart from that of one, it among them.

        From the first component on, each takes those after it whose gap to it is under two standard errors: North's
        rule of thumb, with the error measured instead of taken from a Gaussian.
        """
        left = np.flatnonzero(~self.alone)
        while component in left:
            apart = np.flatnonzero(self.gaps[left[0], left[1:]] >= 2.0)
            count = 1 + int(apart[0]) if len(apart) else len(left)
            if component <= left[count - 1]:
                return tuple(left[:count].tolist())
            left = left[count:]
        return (component,)


def bootstrap(
    model: PCAModel,
    scores: HostArray,
    spread: HostArray,
    *,
    order: HostArray,
    coding: Coding | None = None,
    seed: int = 0,
) -> Intervals | None:
    """Draw rows again, and say how shares and correlations of the components would change.

    Computes, for Poisson weights w of the rows with mean 1 and variance 1, the covariance C of the scores; where
    columns were scaled, D = diag(1 / deviations) of the columns under w, and the eigenpairs of  V D V' C V D V'. The
    columns of levels are coded again, by  D = sqrt(p / p*)  with p* the share of the rows drawn that has the level.
    This is the PCA of the rows drawn where all components are known (at most 40), and first-order exact else. An
    interval is the estimate and 1.96 deviations of the draws (half of their middle 68%), of log(p / (1 - p)) for shares
    and of Fisher's z for correlations.

    Cost: 200 times (60 above 400 columns) m K^2 operations with m <= 5,000 rows: linear in the rows. Where rows are
    more, the weights of those drawn vary as much less as a larger table varies less.

    Parameters
    ----------
    model : PCAModel
        With K components, centered.
    scores : numpy array (n, K)
    spread : numpy array (d,)
        Deviations of the columns as the model saw them.
    order : numpy array of int (n,)
        Of the rows, by :func:`~gramian.models.pca.robust.row_order`.
    coding : Coding, optional
        Of rows that are coded quantities and levels.
    seed : int

    Returns
    -------
    Intervals or None
        ``None`` where there are fewer than eight rows, or nothing varies.
    """
    scores, model = scores[:, :MOST_COMPONENTS], model.truncated(MOST_COMPONENTS)
    n, K = scores.shape
    lam, total = to_host(model.variances).astype(FLOAT64), float(model.total_variance)
    if n < LEAST_ROWS or K == 0 or not 0.0 < total < np.inf:
        return None
    used = sample_rows(order, min(MOST_ROWS, max(1000, 2_000_000 // K**2)), seed=seed)
    rng = np.random.default_rng(seed)
    count = DRAWS if model.n_columns <= WIDE else DRAWS_OF_WIDE
    draws = _Draws.of(model, scores[used], spread, coding)
    found = draws.drawn(rng.poisson(n / len(used), (count, len(used))).astype(FLOAT64))
    known = np.clip(lam / total, 0.0, 1.0)
    shares = _logit_interval(known, np.array([d.shares for d in found]))
    together = _logit_interval(np.cumsum(known), np.cumsum([d.shares for d in found], axis=1))
    correlations = _fisher_interval(draws.correlations, np.array([d.correlations for d in found]))
    log_lam = np.log(np.maximum(lam, np.finfo(np.float64).tiny))
    logs = np.log(np.maximum([d.fixed for d in found], np.finfo(np.float64).tiny))
    # Draws without the row that makes a component hold none of it, and tell nothing of its variance.
    lost = (logs < log_lam - np.log(total / NEXT_TO_NOTHING)).mean(axis=0) > MOST_LOST
    errors = _deviation(logs[:, :, None] - logs[:, None, :])
    errors = np.where(lost[:, None] | lost, _ratio_errors(scores[used], n), errors)
    ratios = log_lam[:, None] - log_lam[None, :]
    gaps = np.divide(ratios, errors, out=np.zeros_like(ratios), where=errors > 0)
    # Of four rows to a component or fewer, draws hold too few different rows to tell how shares vary.
    told = max(n // 4, 1)
    return Intervals(
        shares[:told], together[:told], correlations[:told], gaps, np.zeros(K, dtype=bool), len(used), count
    )


@dataclass(frozen=True, eq=False)
class _Drawn:
    """What one draw gives: sorted shares, correlations of columns, and variances along the fixed components."""

    shares: HostArray
    correlations: HostArray
    fixed: HostArray


@dataclass(frozen=True, eq=False)
class _Draws:
    """The rows to draw from, in the unit of which the total variance is one.

    ``rest`` is the variance of each column off the components, ``beyond`` their sum.
    """

    scores: HostArray
    V: HostArray
    spread: HostArray
    rest: HostArray
    beyond: float
    correlations: HostArray
    is_scaled: bool
    coding: Coding | None
    unit: float

    @classmethod
    def of(cls, model: PCAModel, scores: HostArray, spread: HostArray, coding: Coding | None) -> "_Draws":
        V, lam = model.directions, to_host(model.variances).astype(FLOAT64)
        unit = float(np.sqrt(model.total_variance))
        held = (lam[:, None] * V**2).sum(axis=0)
        correlations = correlations_of(V, lam, spread)[:COMPONENTS]
        rest = np.maximum(spread**2 - held, 0.0) / unit**2
        beyond = max(1.0 - float(lam.sum()) / unit**2, 0.0)
        return cls(scores / unit, V, spread / unit, rest, beyond, correlations, model.is_scaled, coding, unit)

    def drawn(self, weights: HostArray) -> list[_Drawn]:
        """Solve once for each row of weights (draws, m): their covariances are one product with the rows' squares."""
        S = self.scores
        m, K = S.shape
        totals = np.maximum(weights.sum(axis=1, keepdims=True), 1.0)
        means = weights @ S / totals
        squares = weights @ (S[:, :, None] * S[:, None, :]).reshape(m, K * K) / totals
        covariances = squares.reshape(-1, K, K) - means[:, :, None] * means[:, None, :]
        return [self._solved(mean, C) for mean, C in zip(means, covariances, strict=True)]

    def _solved(self, mean: HostArray, C: HostArray) -> _Drawn:
        """Return what rows of this mean and covariance give."""
        V = self.V
        variances = np.einsum("kc,kc->c", C @ V, V) + self.rest
        deviations = np.sqrt(np.maximum(variances, 0.0))
        if self.is_scaled or self.coding is not None:
            factors = np.divide(self.spread, deviations, out=np.zeros_like(deviations), where=deviations > 0)
            if self.coding is not None:
                factors[len(self.coding.quantities) :] = self._recoded(mean)
            B = (V * factors) @ V.T
            C = B @ C @ B
            deviations = np.sqrt(np.einsum("kc,kc->c", C @ V, V) + self.rest * factors**2)
        values, U = np.linalg.eigh(C)
        values, U = np.maximum(values[::-1], 0.0), U[:, ::-1]
        whole = 1.0 if self.is_scaled else max(float(np.trace(C)) + self.beyond, np.finfo(np.float64).tiny)
        # The sign of the component that it stands for.
        U = U * np.where(np.diag(U) < 0, -1.0, 1.0)
        count = len(self.correlations)
        correlations = correlations_of(U[:, :count].T @ V, values[:count], deviations)
        return _Drawn(np.minimum(values / whole, 1.0), correlations, np.diag(C).copy())

    def _recoded(self, mean: HostArray) -> HostArray:
        """Return what columns of levels are multiplied by to be coded by the shares of the rows drawn: sqrt(p / p*)."""
        coding: Any = self.coding
        p = coding.proportions
        drawn = p + self.unit * (mean @ self.V)[len(coding.quantities) :] / coding.weights
        # A level that no row drawn has is no column.
        found: HostArray = np.sqrt(np.divide(p, drawn, out=np.zeros_like(p), where=drawn > 1e-9))
        return found


def _ratio_errors(scores: HostArray, n_rows: int) -> HostArray:
    """Return the standard errors of log(variance of i / variance of j) to first order (K, K).

    Computes the deviations of  t_i^2 / lam_i - t_j^2 / lam_j  over the rows, by sqrt(n): sqrt(2) at most, where one row
    makes each of both.
    """
    squares = np.square(scores / np.maximum(np.abs(scores).max(axis=0), np.finfo(FLOAT64).tiny))
    squares /= np.maximum(squares.mean(axis=0), np.finfo(FLOAT64).tiny)
    inner = squares.T @ squares / len(squares)
    own = np.diag(inner)
    found: HostArray = np.sqrt(np.maximum(own[:, None] + own - 2.0 * inner, 0.0) / n_rows)
    return found


def correlations_of(V: HostArray, variances: HostArray, spread: HostArray) -> HostArray:
    """Return the correlations of columns with scores (k, d):  v_jc sqrt(lam_j) / deviation of c.

    Examples
    --------
    >>> correlations_of(np.array([[0.6, 0.8]]), np.array([4.0]), np.array([1.2, 2.0])).tolist()
    [[1.0, 0.8]]
    """
    loadings = V * np.sqrt(np.maximum(variances, 0.0))[:, None]
    found: HostArray = np.divide(loadings, spread, out=np.zeros_like(loadings), where=spread > 0)
    return found.clip(-1.0, 1.0)


def _logit_interval(known: HostArray, drawn: HostArray) -> HostArray:
    """Return estimate and 1.96 deviations of the draws on the scale of log(p / (1 - p)) (k, 2).

    NaN where a tenth of the draws or more hold next to nothing of it, or of the rest: one row makes it, or all but it.
    """
    tiny = 1e-12
    p, q = np.clip(known, tiny, 1.0 - tiny), np.clip(drawn, tiny, 1.0 - tiny)
    deviation = _deviation(np.log(q / (1.0 - q)))
    ends = np.log(p / (1.0 - p))[:, None] + NORMAL_95 * deviation[:, None] * np.array([-1.0, 1.0])
    found = 1.0 / (1.0 + np.exp(-ends))
    lost = ((drawn < NEXT_TO_NOTHING * known) | (1.0 - drawn < NEXT_TO_NOTHING * (1.0 - known))).mean(axis=0)
    found[lost > MOST_LOST] = np.nan
    # What holds everything holds everything in any sample.
    return np.where((known >= 1.0 - 1e-9)[:, None], 1.0, found)


def _deviation(drawn: HostArray) -> HostArray:
    """Return half the width of the middle 68% of the draws: of few rows some draws hold nearly nothing."""
    low, high = np.quantile(drawn, [0.1587, 0.8413], axis=0)
    found: HostArray = (high - low) / 2.0
    return found


def _fisher_interval(known: HostArray, drawn: HostArray) -> HostArray:
    """Return estimate and 1.96 deviations of the draws on the scale of Fisher's z (c, d, 2)."""
    almost = 1.0 - 1e-12
    z = np.arctanh(np.clip(drawn, -almost, almost))
    deviation = _deviation(z)
    ends = np.arctanh(np.clip(known, -almost, almost))[..., None] + NORMAL_95 * deviation[..., None] * np.array([-1, 1])
    found: HostArray = np.tanh(ends)
    return found
