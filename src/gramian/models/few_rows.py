"""Principal components of a small, plain table: the same answer in a tenth of the calls.

For 150 x 4 numbers the arithmetic takes 10 microseconds; asking what kind of rows they are, planning, and drawing up a
certificate take twenty times as long. Here a few comparisons tell whether a table is plain, the pairs are checked as
they come, and certificate and plan are drawn up when they are first read. Whatever is not plain goes the usual way.
"""

from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import lapack

from gramian.arrays.namespace import HostArray, to_host
from gramian.arrays.precision import FLOAT32, FLOAT64, squaring_floor
from gramian.arrays.squares import FEW_NUMBERS
from gramian.eigen.certificate import EPS, certify
from gramian.eigen.held_checks import measured_residuals
from gramian.eigen.pairs import EigenPairs
from gramian.models.fit_threads import THREADED_WORK
from gramian.models.pca import certificate_of, first_facts
from gramian.models.pca_model import PCAModel, PCAOptions
from gramian.models.spectrum import Spectrum
from gramian.operators.centering import Standardization
from gramian.operators.covariance import Covariance
from gramian.planning.plan import plan_pca
from gramian.sources.dense import DenseRows
from gramian.sources.measuring import centered_moments

ROWS_A_COLUMN = 128
"""Rows a column up to which sums of squares keep within what is promised of s_1, however they are rounded."""

FARTHEST_MEAN = 1e4
"""Sum of squares about the origin, beside that about the mean, up to which centering is plain."""

CLEAR = 1e-9
"""What the largest entry of a component is beyond the next, at least, for its sign not to be a matter of rounding."""

SAFE = 1e-20, 1e20
"""Sums of squares within which no type overflows or underflows."""


ARRAYS = ("components", "variances", "shares", "singular_values", "mean")
"""Fields in the type of the rows."""


class _Found(NamedTuple):
    """All eigenpairs of a centered table, descending, and what a proof of them takes."""

    rows: HostArray
    left: HostArray
    mean: HostArray
    total: float
    values: HostArray
    vectors: HostArray


def is_few(X: HostArray) -> bool:
    """Tell whether a NumPy array is a table that is small enough, with more rows than columns but not far more."""
    if X.ndim != 2 or X.size > FEW_NUMBERS or X.dtype not in (FLOAT64, FLOAT32):
        return False
    n, d = X.shape
    # Where BLAS used threads, NumPy's would spin beside SciPy's: 200 x 65 take 0.7 ms the usual way, and 7.8 here.
    return 0 < d < n <= ROWS_A_COLUMN * d and bool(n * d * d < THREADED_WORK)


def fit_few(X: HostArray, options: PCAOptions) -> PCAModel | None:
    """Fit principal components to a small table; None where it is not a plain one.

    Computes the eigenpairs of  C'C,  C = X - 1 mean',  by LAPACK, and their residuals. A table is plain when all its
    numbers are finite, its mean lies within 100 deviations of the origin, no deviation is so small beside the first
    that squaring costs its digits (so that none is null either), and no sign is a matter of rounding.

    Cost: n d^2 operations, and a float64 copy of the rows, 131 kB at most, that is kept until certificate or plan is
    read or the model is copied, pickled or saved.

    Parameters
    ----------
    X : numpy array (n, d), float32 or float64
    options : PCAOptions
        With ``n_components`` None or from 1 to d, ``center``, no ``scale``, and a dense solver.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).standard_normal((50, 3))
    >>> fit_few(X, PCAOptions()).certificate.grade, fit_few(X * [1.0, 1.0, 1e-9], PCAOptions())
    ('proved', None)
    """
    try:
        found = _found(X)
    except FloatingPointError:  # a person has asked NumPy to raise: the usual way knows where that is no fault
        return None
    if found is None:
        return None
    (n, d), dtype, divisor = X.shape, X.dtype, len(X) - options.ddof
    k = d if options.n_components is None else int(options.n_components)
    squares, total = found.values[:k], found.total
    known = {
        "components": found.vectors[:, :k].T.copy(),
        "variances": squares / divisor,
        "shares": squares / total,
        "singular_values": np.sqrt(squares),
        "mean": found.mean,
        "factor": None,
        "n_rows": n,
        "n_columns": d,
        "rank": k,
        "weight": float(n),
        "total_variance": total / divisor,
        "noise_variance": 0.0,
        "options": options,
    }
    if k < d:
        known |= _beyond(Spectrum(found.values, total, divisor, d), k)
    if dtype != FLOAT64:
        known |= {name: known[name].astype(dtype) for name in ARRAYS}
    return PCAModel.with_rest_later(partial(_rest, found, options, dtype), known)


def _beyond(whole: Spectrum, k: int) -> dict[str, Any]:
    spread = whole.spread_beyond(k, square_sum=None, eps=EPS)
    return {"noise_variance": whole.noise(k, rank=whole.size), "left_out_dimensions": spread}


def _found(X: HostArray) -> _Found | None:
    # Silent where something is not finite: the usual way says where it is.
    size = float(np.vdot(X, X))
    if not SAFE[0] < size < SAFE[1]:
        return None
    share, rows = _equal_shares(len(X)), X if X.dtype == FLOAT64 else X.astype(FLOAT64)
    mean = np.dot(share, rows)
    rows = rows - mean
    left, matrix, total = np.dot(share, rows), np.dot(rows.T, rows), float(np.vdot(rows, rows))
    if size > FARTHEST_MEAN * total:
        return None
    values, vectors, failed = lapack.dsyevd(matrix)
    top = float(values[-1])
    if failed or values[0] < squaring_floor(len(values)) ** 2 * top or not _are_pairs(matrix, values, vectors, top):
        return None
    # The largest entry is positive; the sum of largest and least has its sign.
    lead = np.maximum.reduce(vectors) + np.minimum.reduce(vectors)
    if min(map(abs, lead.tolist())) < CLEAR:
        return None
    vectors = vectors * np.copysign(1.0, lead)
    return _Found(rows, left, mean + left, total, values[::-1], vectors[:, ::-1])


@lru_cache(maxsize=64)
def _equal_shares(n: int) -> HostArray:
    return np.full(n, 1 / n)


def _are_pairs(matrix: HostArray, values: HostArray, vectors: HostArray, top: float) -> bool:
    """Tell whether the residuals of LAPACK's orthonormal vectors are rounding, in Frobenius norm."""
    wrong = np.dot(matrix, vectors)
    wrong -= vectors * values
    return bool(np.vdot(wrong, wrong) <= (64 * EPS * len(values) * top) ** 2)


def _rest(found: _Found, options: PCAOptions, dtype: np.dtype[Any]) -> dict[str, Any]:
    """Return certificate and plan: the pairs beside a scatter whose rounding is bounded, made for them now."""
    rows, origin = found.rows - found.left, np.zeros(len(found.values))
    moments = centered_moments(rows, origin)
    facts = first_facts(DenseRows(np.empty(rows.shape, dtype)), options)
    operator = Covariance(DenseRows(rows), moments, Standardization(origin, None, centered=False), passes=1)
    pairs = EigenPairs(
        values=found.values.copy(),
        vectors=found.vectors,
        residuals=measured_residuals(to_host(moments.scatter), found.values, found.vectors, seed=0),
        applications=1,
        converged=len(found.values),
        stopped="dense solve",
        complete=True,
        spectrum=found.values,
    )
    graded = certify(operator, pairs, tol=facts.tol)
    divisor = len(rows) - options.ddof
    return {
        "certificate": certificate_of(graded, k=facts.wanted, rank=facts.wanted, dtype=dtype, divisor=divisor),
        "plan": plan_pca(facts),
    }
