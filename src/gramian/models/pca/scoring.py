"""What a fitted PCA says about rows: their density, their distances, and which of them are unusual.

A PCA with k components and noise variance s2 is a Gaussian (Tipping and Bishop, 1999, doi:10.1111/1467-9868.00196,
section 3.2):  rows ~ N(mean, C),  C = V' diag(variances - s2) V + s2 I,  V being the components as rows. All is
computed from the k components and the distance to their subspace; no d x d matrix is made unless it is asked for. A row
is unusual that lies far out along the components, or far from all of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from math import log, pi

import numpy as np
import scipy

from gramian.arrays.namespace import (
    Array,
    HostArray,
    cast,
    dtype_of,
    from_host,
    host_floats,
    is_sparse,
    namespace_of,
    to_host,
)
from gramian.arrays.precision import FLOAT64, eps_of
from gramian.errors import ParameterError
from gramian.models.pca.model import PCAModel
from gramian.sources.rows import Block, RowSource, ranges

PIECE_NUMBERS = 1 << 19
"""Numbers of a sparse block that are made dense at once: 4 MB."""


def deviations(model: PCAModel) -> HostArray:
    """Return the standard deviation along each component, zero for null directions (k,), in float64.

    Computes  s / sqrt(W - ddof)  from the singular values: right also where their squares overflow.
    """
    s = to_host(model.singular_values).astype(FLOAT64)
    spread: HostArray = s / np.sqrt(max(model.weight - model.options.ddof, 0.0) or 1.0)
    spread[model.rank :] = 0.0
    return spread


def whitening(model: PCAModel) -> Array:
    """Return what each score is multiplied by to have unit variance (k,); zero for null directions.

    A null direction holds rounding alone. One over its deviation would make noise of the size of the signal.
    """
    spread = deviations(model)
    factors = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
    return from_host(factors, like=model.components, dtype=dtype_of(model.components))


def covariance(model: PCAModel) -> Array:
    """Return the covariance of the rows under the model (d, d).

    Computes  V' diag(variances - s2) V + s2 I,  divided by the scale factors of both columns when the model
    scaled its columns.  Cost: d^2 k operations and one d x d matrix.
    """
    return _with_eigenvalues(model, _variances(model), model.noise_variance, power=-1)


def precision(model: PCAModel) -> Array:
    """Return the inverse of :func:`covariance` (d, d), by the eigenvalues instead of an inversion.

    Computes  V' diag(1/variances - 1/s2) V + I/s2.  Where the covariance is singular (no noise, and fewer
    directions than columns) this is its pseudo-inverse.  Cost: d^2 k operations and one d x d matrix.
    """
    lam = _variances(model)
    outside = 1.0 / model.noise_variance if model.noise_variance > 0 else 0.0
    return _with_eigenvalues(model, np.divide(1.0, lam, out=np.zeros_like(lam), where=lam > 0), outside, power=1)


def log_likelihood(model: PCAModel, source: RowSource) -> Array:
    """Return the log-density of each row under the model (n,).

    Computes  -(q log 2 pi + log det C + z' diag(1/variances) z + r^2/s2) / 2  with z the scores, r the distance
    to the subspace and q = d.  Without noise and with fewer directions than columns the Gaussian is flat: its
    density is taken within its subspace (q = rank), and a row off the subspace has log-density -inf.

    Cost: one pass, 4 n d k operations.
    """
    return source.map_rows(_LogLikelihood.of(model))


def hotelling_t2(model: PCAModel, source: RowSource) -> Array:
    """Return Hotelling's T2 of each row (n,): its squared distance from the mean in standard deviations.

    Computes  sum of scores^2 / variances  over the components; null directions count nothing.
    Cost: one pass, 2 n d k operations.
    """
    return source.map_rows(partial(_t2, model, whitening(model)))


def reconstruction_error(model: PCAModel, source: RowSource) -> Array:
    """Return the squared distance of each row from its reconstruction (n,), also called Q or SPE.

    Computes  |x - reconstruct(project(x))|^2  in the units of the rows.  Over the rows of the fit its mean is the
    sum of the variances left out (with ddof=0).  Cost: one pass, 4 n d k operations.
    """
    return source.map_rows(partial(_squared_distance, model, None))


@dataclass(frozen=True, eq=False)
class _LogLikelihood:
    """Log-density of the rows of one block."""

    model: PCAModel
    precisions: Array
    outside: float
    constant: float

    @classmethod
    def of(cls, model: PCAModel) -> "_LogLikelihood":
        lam, s2, d = _variances(model), model.noise_variance, model.n_columns
        log_det = (d - len(lam)) * log(s2) if s2 > 0 else 0.0
        if s2 == 0:
            model, lam = replace(model, components=model.components[: model.rank, :]), lam[: model.rank]
        dimensions = d if s2 > 0 else len(lam)
        log_det += float(np.log(lam).sum())
        if model.factor is not None:
            log_det -= 2.0 * float(np.log(to_host(model.factor).astype(FLOAT64)).sum())
        outside = 1.0 / s2 if s2 > 0 else np.inf if dimensions < d else 0.0
        return cls(model, from_host(1.0 / lam, like=model.components), outside, dimensions * log(2 * pi) + log_det)

    def __call__(self, block: Block) -> Array:
        with np.errstate(invalid="ignore", over="ignore"):
            scores = cast(self.model.project(block.rows), FLOAT64)
            squares = (scores * scores) @ self.precisions
            if self.outside > 0:
                squares = squares + self._outside(block, scores)
            return cast(-0.5 * (squares + self.constant), dtype_of(self.model.components))

    def _outside(self, block: Block, scores: Array) -> Array:
        xp = namespace_of(scores)
        residual = cast(_squared_distance(self.model, self.model.factor, block), FLOAT64)
        if np.isfinite(self.outside):
            return residual * self.outside
        # On the subspace the residual is rounding, sqrt(eps) of the row at most; off it, density is zero.
        size = residual + xp.sum(scores * scores, axis=1)
        off = residual > eps_of(dtype_of(self.model.components)) * size
        return xp.where(off, xp.full_like(residual, np.inf), xp.zeros_like(residual))


def _variances(model: PCAModel) -> HostArray:
    """Return the variances, none under the noise and zero beyond the rank, in float64."""
    lam = np.maximum(to_host(model.variances).astype(FLOAT64), model.noise_variance)
    if model.noise_variance == 0:
        lam[model.rank :] = 0.0
    return lam


def _with_eigenvalues(model: PCAModel, values: HostArray, outside: float, *, power: int) -> Array:
    """Return  V' diag(values - outside) V + outside I  in the units of the rows: scale factors to a power, twice."""
    V = host_floats(model.components)
    matrix = (V.T * (values - outside)) @ V
    matrix.flat[:: len(matrix) + 1] += outside
    if model.factor is not None:
        factor = host_floats(model.factor) ** power
        matrix = matrix * factor[:, None] * factor[None, :]
    return from_host(matrix, like=model.components, dtype=dtype_of(model.components))


def _t2(model: PCAModel, factors: Array, block: Block) -> Array:
    return _whitened_squares(model.project(block.rows), factors)


def _whitened_squares(scores: Array, factors: Array) -> Array:
    """Return the sum of squares of each row of scores (b,), components times their factors."""
    with np.errstate(invalid="ignore", over="ignore"):
        white = scores * factors
        return namespace_of(white).sum(white * white, axis=1)


def _squared_distance(model: PCAModel, factor: Array | None, block: Block, scores: Array | None = None) -> Array:
    """Return the squared distance of rows from their reconstruction, columns multiplied by ``factor`` first.

    ``scores`` are those of the rows, where they are known.
    """
    at, found = 0, []
    with np.errstate(invalid="ignore", over="ignore"):
        for rows in _dense_pieces(block):
            known = model.project(rows) if scores is None else scores[at : at + rows.shape[0], :]
            difference = rows - model.reconstruct(known)
            if factor is not None:
                difference *= factor
            found.append(namespace_of(difference).sum(difference * difference, axis=1))
            at += rows.shape[0]
    return found[0] if len(found) == 1 else np.concatenate(found)


def _dense_pieces(block: Block) -> Iterator[Array]:
    """Give the rows of a block as dense arrays; sparse ones a few at a time, since d of them may be many."""
    if not is_sparse(block.rows):
        yield block.rows
        return
    n, d = block.rows.shape
    for rows in ranges(n, max(1, PIECE_NUMBERS // d)):
        yield block.rows[rows].toarray()


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
    doi:10.1214/aoms/1177728786). Of directions that the model did not compute the fit keeps  h  where it formed a
    matrix; else  h  is what the median and nine tenths of SPE over these rows suggest (t1 is known from the fit), and
    with fewer than 50 rows to tell by, the variance left is taken as even, which puts the limit too low.

    Cost: one pass, 4 n d k operations. The limits hold for rows that are nearly Gaussian: with heavy tails more rows
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
    >>> from gramian.models.pca.fit import fit_pca
    >>> from gramian.sources import as_source
    >>> X = np.random.default_rng(0).standard_normal((200, 5)) * [9.0, 6.0, 1.0, 1.0, 1.0]
    >>> X[7] = [0.0, 0.0, 9.0, 0.0, 0.0]
    >>> find_outliers(fit_pca(as_source(X)), as_source(X), n_components=2).flagged[0]
    np.int64(7)
    """
    require_level(level)
    whole = len(model.components)
    k = whole if n_components is None else n_components
    if not 0 <= k <= whole:
        message = f"n_components={k} lies outside 0..{whole}: the model has {whole} components."
        raise ParameterError(message)
    t2, spe = host_floats(source.map_rows(partial(_both, RowDistances.of(model, k)))).T
    return outliers_of(model, k, t2=np.ascontiguousarray(t2), spe=np.ascontiguousarray(spe), level=level)


def require_level(level: float) -> None:
    """Refuse a share of rows that is none."""
    if not 0.0 < level < 1.0:
        message = f"level={level!r} is no share of rows. Pass a number between 0 and 1, such as 0.99."
        raise ParameterError(message)


def outliers_of(model: PCAModel, k: int, *, t2: HostArray, spe: HostArray, level: float = 0.99) -> Outliers:
    """Hold the two distances of rows from the first ``k`` components against their limits: no pass."""
    limits = t2_limit(model.n_rows, min(model.rank, k), level), _spe_limit(model, k, spe, level)
    return held_against(limits, k, t2=t2, spe=spe, level=level)


def held_against(limits: tuple[float, float], k: int, *, t2: HostArray, spe: HostArray, level: float) -> Outliers:
    """Return the rows beyond the limits of T2 and SPE, the furthest first."""
    # Squares of rows near the end of the range of floats are infinite, as their limit is: nothing is told by them.
    with np.errstate(invalid="ignore"):
        beyond = np.fmax(t2 / limits[0], spe / limits[1])
    flagged = np.flatnonzero(beyond > 1.0)
    return Outliers(t2, spe, *limits, flagged[np.argsort(-beyond[flagged], kind="stable")], level, k)


@dataclass(frozen=True, eq=False)
class RowDistances:
    """Scores of the rows of a block on all components of a model, and their distances from the first of them.

    Cost per row: 2 d k operations for the scores, and as many for the distance from the components.
    """

    model: PCAModel
    part: PCAModel
    factors: Array

    @classmethod
    def of(cls, model: PCAModel, k: int) -> "RowDistances":
        """Measure distances from the first ``k`` components."""
        part = model.truncated(k)
        return cls(model, part, whitening(part))

    def __call__(self, block: Block) -> tuple[Array, Array, Array]:
        """Return scores (b, k), T2 (b,) and SPE (b,)."""
        scores = self.model.project(block.rows)
        return scores, *self.distances(scores, block)

    def distances(self, scores: Array, block: Block) -> tuple[Array, Array]:
        """Return T2 (b,) and SPE (b,) of rows whose scores are known."""
        known = scores[:, : len(self.part.components)]
        return _whitened_squares(known, self.factors), _squared_distance(self.part, self.part.factor, block, known)


def _both(measure: RowDistances, block: Block) -> Array:
    """Return T2 and SPE of the rows of a block, side by side."""
    scores = measure.part.project(block.rows)
    return namespace_of(scores).stack(measure.distances(scores, block), axis=1)


def t2_limit(n: int, k: int, level: float) -> float:
    """Return Hotelling's limit of T2 from k components of n rows; inf where there is none."""
    if k == 0 or n <= k:
        return float("inf")
    return k * (n * n - 1.0) / (n * (n - k)) * f_quantile(level, k, n - k)


def f_quantile(level: float, a: float, b: float) -> float:
    """Return a quantile of the F law, by that of beta: the module of distributions takes longer than a table to read.

    Examples
    --------
    >>> round(f_quantile(0.99, 2, 10), 4)
    7.5594
    """
    x = float(scipy.special.betaincinv(a / 2, b / 2, level))
    return b * x / (a * (1.0 - x)) if x < 1.0 else float("inf")


def _spe_limit(model: PCAModel, k: int, spe: HostArray, level: float) -> float:
    """Return Box's limit from the variances left out; inf where none is, or what is left is rounding."""
    variances = host_floats(model.variances)
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
    # Rows from which the spread of the variance left out can be told where the fit did not measure it.
    elif len(spe) >= 50:
        dimensions = _dimensions_seen(spe, most=len(known) + directions)
    else:
        dimensions = 1.0 / (float(shares @ shares) + rest * rest / directions)
    return float(first / dimensions * _chi_squared(level, dimensions))


def _chi_squared(level: float, freedom: float) -> float:
    """Return a quantile of the chi-squared law."""
    return 2.0 * float(scipy.special.gammaincinv(freedom / 2, level))


def _dimensions_seen(spe: HostArray, *, most: int) -> float:
    """Return the h, from 1 to ``most``, for which g chi2(h) has the ratio of median to nine tenths seen in rows.

    Quantiles, so that fewer than a tenth of the rows, however far off, hardly move it.
    """
    from scipy import optimize

    middle, high = np.quantile(spe, [0.5, 0.9])
    if most <= 1 or high <= 0:
        return 1.0

    def excess(h: float) -> float:
        return float(_chi_squared(0.5, h) / _chi_squared(0.9, h) - middle / high)

    if excess(1.0) >= 0:
        return 1.0
    return float(most) if excess(float(most)) <= 0 else float(optimize.brentq(excess, 1.0, float(most), rtol=1e-6))
