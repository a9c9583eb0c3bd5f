"""Rows that a fitted PCA finds unusual: far out along its components, or far from all of them."""

from dataclasses import dataclass, replace

import numpy as np
from scipy import optimize, stats

from gramian.arrays.namespace import Array, HostArray, to_host
from gramian.arrays.precision import FLOAT64
from gramian.errors import ParameterError
from gramian.models.pca import PCAModel
from gramian.models.scoring import hotelling_t2, standardized_error
from gramian.sources.rows import RowSource

ENOUGH_ROWS = 50
"""Rows from which the spread of the variance left out can be told where the fit did not measure it."""


@dataclass(frozen=True, eq=False)
class Outliers:
    """Two distances of each row, and the limits that few rows of a Gaussian would pass.

    Attributes
    ----------
    t2 : numpy array (n,)
        Hotelling's T2: squared distance from the mean within the components, in standard deviations.
    spe : numpy array (n,)
        Squared prediction error: squared distance from the components, of columns as the model saw them (scaled ones
        where it scaled them).
    t2_limit, spe_limit : float
        What a share ``level`` of Gaussian rows stays under; inf where there is nothing to judge by.
    flagged : numpy array of int
        Rows beyond either limit, those furthest beyond first.
    level : float
    n_components : int
        Components that span the model here.

    Examples
    --------
    >>> import numpy as np
    >>> zero = np.zeros(1)
    >>> Outliers(zero, zero, 9.2, 1.0, np.array([], dtype=int), 0.99, 2).expected
    0.0199
    """

    t2: HostArray
    spe: HostArray
    t2_limit: float
    spe_limit: float
    flagged: HostArray
    level: float
    n_components: int

    @property
    def expected(self) -> float:
        """Rows of a Gaussian that would pass one limit or the other, on average."""
        limits = np.isfinite([self.t2_limit, self.spe_limit]).sum()
        return float(len(self.t2) * (1.0 - self.level**limits))


def find_outliers(
    model: PCAModel, source: RowSource, *, n_components: int | None = None, level: float = 0.99
) -> Outliers:
    """Measure how far rows lie from what a fitted PCA knows, within its components and off them.

    Computes  T2 = sum of scores^2 / variances  with the limit  k (n^2 - 1) / (n (n - k)) F(level; k, n - k)  for a new
    row, and  SPE = squared distance from the k components  with Box's limit  g chi2(level; h),  g = t2/t1,
    h = t1^2/t2,  t1 and t2 being the sums of the variances left out and of their squares (Box, 1954,
    doi:10.1214/aoms/1177728786). Of directions that the model did not compute the fit keeps  h  where it held a matrix;
    else  h  is the one that median and nine tenths of SPE over these rows suggest (t1 is known from the fit), and
    with fewer than 50 rows to tell by, the variance left is taken as even, which puts the limit too low.

    Cost: two passes, 6 n d k operations. The limits hold for rows that are nearly Gaussian: with heavy tails more rows
    pass them, and the rows of the fit itself pass the first a little less often than new ones.

    Parameters
    ----------
    model : PCAModel
    source : RowSource
    n_components : int, optional
        Components that count; all of the model unless told.
    level : float
        Share of Gaussian rows under each limit.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.models.pca import fit_pca
    >>> from gramian.sources import as_source
    >>> X = np.random.default_rng(0).standard_normal((200, 5)) * [9.0, 6.0, 1.0, 1.0, 1.0]
    >>> X[7] = [0.0, 0.0, 9.0, 0.0, 0.0]
    >>> find_outliers(fit_pca(as_source(X)), as_source(X), n_components=2).flagged[0]
    np.int64(7)
    """
    if not 0.0 < level < 1.0:
        message = f"level={level!r} is no share of rows. Pass a number between 0 and 1, such as 0.99."
        raise ParameterError(message)
    whole = len(model.components)
    k = whole if n_components is None else n_components
    if not 0 <= k <= whole:
        message = f"n_components={k} lies outside 0..{whole}: the model has {whole} components."
        raise ParameterError(message)
    part = leading_model(model, k)
    t2, spe = (_host(measure(part, source)) for measure in (hotelling_t2, standardized_error))
    limits = _t2_limit(part, level), _spe_limit(model, k, spe, level)
    beyond = np.maximum(t2 / limits[0], spe / limits[1])
    flagged = np.flatnonzero(beyond > 1.0)
    return Outliers(t2, spe, *limits, flagged[np.argsort(-beyond[flagged], kind="stable")], level, k)


def leading_model(model: PCAModel, k: int) -> PCAModel:
    """Return the model of the first ``k`` components."""
    first = slice(0, k)
    return replace(
        model,
        components=model.components[first, :],
        variances=model.variances[first],
        shares=model.shares[first],
        singular_values=model.singular_values[first],
        rank=min(model.rank, k),
        certificate=model.certificate.leading(k),
    )


def _t2_limit(model: PCAModel, level: float) -> float:
    n, k = model.n_rows, model.rank
    if k == 0 or n <= k:
        return float("inf")
    return float(k * (n * n - 1.0) / (n * (n - k)) * stats.f.ppf(level, k, n - k))


def _spe_limit(model: PCAModel, k: int, spe: HostArray, level: float) -> float:
    """Return Box's limit from the variances left out; inf where none is, or what is left is rounding."""
    variances = _host(model.variances)
    known, beyond = variances[k:], max(model.total_variance - float(variances.sum()), 0.0)
    first = float(known.sum()) + beyond
    if not 1e-12 * model.total_variance < first < np.inf:
        return float("inf")
    directions = min(model.n_rows - int(model.options.center), model.n_columns) - len(variances)
    shares, rest = known / first, beyond / first if directions > 0 else 0.0
    if rest <= 1e-12:
        dimensions = 1.0 / float(shares @ shares)
    elif model.left_out_dimensions is not None:
        dimensions = 1.0 / (float(shares @ shares) + rest * rest / max(model.left_out_dimensions, 1.0))
    elif len(spe) >= ENOUGH_ROWS:
        dimensions = _dimensions_seen(spe, most=len(known) + directions)
    else:
        dimensions = 1.0 / (float(shares @ shares) + rest * rest / directions)
    return float(first / dimensions * stats.chi2.ppf(level, dimensions))


def _dimensions_seen(spe: HostArray, *, most: int) -> float:
    """Return the h, from 1 to ``most``, for which g chi2(h) has the ratio of median to nine tenths seen in rows.

    Quantiles, so that fewer than a tenth of the rows, however far off, hardly move it.
    """
    middle, high = np.quantile(spe, [0.5, 0.9])
    if most <= 1 or high <= 0:
        return 1.0

    def excess(h: float) -> float:
        return float(stats.chi2.ppf(0.5, h) / stats.chi2.ppf(0.9, h) - middle / high)

    if excess(1.0) >= 0:
        return 1.0
    return float(most) if excess(float(most)) <= 0 else float(optimize.brentq(excess, 1.0, float(most), rtol=1e-6))


def _host(values: Array) -> HostArray:
    return to_host(values).astype(FLOAT64)
