"""From rows to singular values and components: the walk that every linear model shares.

rows -> moments (:func:`prepare_rows`) -> operator -> solver -> certificate (:func:`decompose`) -> components over the
columns (:class:`Decomposition`), completed where there are fewer directions than asked for
(:func:`completed_components`). Their shares, what they leave out and their rank are read off :class:`Spectrum` and
:func:`rank_of`.
"""

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from gramian.arrays.namespace import (
    DRAWN_AT_ONCE,
    Array,
    HostArray,
    device_of,
    dtype_of,
    from_host,
    gaussian,
    namespace_of,
    to_host,
)
from gramian.arrays.precision import FLOAT32, eps_of, rank_threshold
from gramian.arrays.squares import SquareSum
from gramian.choosing.facts import LeadingComponents
from gramian.eigen.certificate import Certificate, certify, effort
from gramian.eigen.direct import Direct
from gramian.eigen.orthonormal import orthonormalized
from gramian.eigen.pairs import Approximation, EigenPairs, signs_of, sum_of_squares, warn_unconverged
from gramian.machine import all_blas_threads
from gramian.operators.covariance import Covariance
from gramian.operators.gram import Gram
from gramian.operators.standardization import Standardization
from gramian.operators.symmetric import DenseMatrix, SymmetricOperator
from gramian.planning.plan import Plan
from gramian.sources.moments import Moments, largest, measure_gram, measure_moments, squares_are_safe
from gramian.sources.rows import RowSource, ranges
from gramian.sources.scaled import Exponents, ScaledRows, exponent_of
from gramian.sources.sparse import in_float64


@dataclass(frozen=True, eq=False)
class Rows:
    """Standardized rows ready to be solved: a source, its moments, and what was done to them.

    Attributes
    ----------
    source : RowSource or None
        Scaled by 2**-exponents when squares of the rows would leave the floating-point range; ``None`` when only
        the moments are known.
    moments : Moments
        Of ``source``.
    standardization : Standardization
    exponents : int or numpy array (d,)
        One for all columns, or one per column where each is scaled to unit variance.
    passes : int
        Passes made over the rows so far.
    gram : SquareSum or None
        Inner products of the centered rows, where they were measured with the moments.
    """

    source: RowSource | None
    moments: Moments
    standardization: Standardization
    exponents: Exponents = 0
    passes: int = 0
    gram: SquareSum | None = None

    @property
    def exponent(self) -> int:
        """The power of two in the unit of standardized rows: none where each column is scaled to unit variance."""
        return self.exponents if isinstance(self.exponents, int) else 0

    @property
    def standardized_squares(self) -> Array:
        """Sum of squares of each standardized column (d,), where the moments are."""
        return self.standardization.squares_of(self.moments)

    @property
    def column_sizes(self) -> HostArray:
        """Root mean square of each column before centering, in standardized units; zero for a constant column.

        What an entry is rounded by is relative to it; the entries of a constant column are all rounded alike.
        """
        moments, factor = self.moments, self.standardization.factor
        squares = to_host(moments.squares)
        sizes: HostArray = np.hypot(np.sqrt(squares / moments.weight), to_host(moments.mean))
        sizes[squares == 0] = 0.0
        return sizes if factor is None else sizes * factor

    @property
    def largest_size(self) -> float:
        """No column size is larger: from the largest spread and the largest mean, with no array made for it."""
        moments, factor = self.moments, self.standardization.factor
        mean = max(float(moments.mean.max()), -float(moments.mean.min()))
        size = float(np.hypot(np.sqrt(largest(moments.squares) / moments.weight), mean))
        return size if factor is None else size * largest(factor)


def prepare_rows(
    source: RowSource, *, plan: Plan, center: bool, scale: bool, ddof: int = 1, moments: Moments | None = None
) -> Rows:
    """Measure the moments that a plan needs, and set the standardization: one pass for good data.

    Rows whose squares overflow or underflow are read again as rows times a power of two. Centered ``moments`` of these
    rows that are known already save the pass, where they hold what the plan needs.
    """
    scatter = plan.held and plan.operator == "covariance"
    if plan.held and plan.operator == "gram" and source.has_columns and not scale:
        found, gram = measure_gram(source, center=center)
        if squares_are_safe(found, source.dtype):
            return Rows(source, found, Standardization(found.mean, None, center), 0, 1, gram)
    known = moments is not None and center and (moments.scatter is not None or not scatter)
    if moments is None or not known or not squares_are_safe(moments, source.dtype, each=scale):
        moments = measure_moments(source, scatter=scatter, center=center)
    exponents: Exponents = 0
    passes = 1
    if not squares_are_safe(moments, source.dtype, each=scale):
        mean = np.where(np.isfinite(moments.mean), moments.mean, 0.0)
        exponents = exponent_of(source, mean, each=scale)
        if np.any(exponents):
            source = ScaledRows(source, -exponents)
            moments, passes = measure_moments(source, scatter=scatter, center=center), 3
    standardization = standardization_of(moments, center=center, scale=scale, ddof=ddof)
    return Rows(source, moments, standardization, exponents, passes)


def standardization_of(moments: Moments, *, center: bool, scale: bool, ddof: int = 1) -> Standardization:
    """Return mean and scale factors; a constant column, whose spread is rounding, is left as it is."""
    if not scale:
        return Standardization(moments.mean, None, center)
    divisor = moments.weight - ddof
    spread = np.sqrt(moments.squares / (divisor if divisor > 0 else 1.0))
    constant = spread <= 8 * np.finfo(float).eps * np.abs(moments.mean)
    factor = np.divide(1.0, spread, out=np.ones_like(spread), where=~constant & (spread > 0))
    return Standardization(moments.mean, factor, center)


def decompose(
    rows: Rows, *, plan: Plan, k: int, tol: float, seed: int, start: Approximation | None = None
) -> "Decomposition":
    """Find the ``k`` leading singular values and components as the plan says, from pairs known so far (``start``).

    Solves and certifies; an iteration that ends in doubt is followed by a dense solve, where one fits, before anything
    doubtful reaches the caller.
    """
    operator, solver = _operator(rows, plan, tol), plan.solver
    k = min(k, operator.size)
    # A dense solver forms the matrix by itself.
    target = operator.materialize() if plan.held and not solver.is_dense else operator
    by_passes = target is operator
    pairs = solver.solve(target, k, seed=seed, start=start if solver.gains_from_start else None)
    # A matrix that was formed on the way is not kept with the pairs: components may take its place.
    target, pairs = pairs.formed or target, replace(pairs, formed=None)
    certificate = certify(target, pairs, tol=tol)
    taken_over = not solver.is_dense and plan.dense_fits and _is_doubtful(pairs, certificate)
    if taken_over:
        with all_blas_threads():
            pairs = Direct().solve(operator, k, seed=seed)
        pairs = replace(pairs, stopped=f"{type(solver).__name__} was in doubt, so: {pairs.stopped}")
        certificate = certify(operator, pairs, tol=tol)
    elif pairs.converged < k:
        advice = "ask for fewer components, or use svd_solver='full'"
        warn_unconverged(type(solver).__name__, pairs, k, tol=tol, advice=advice)
    if pairs.square_sum is None and pairs.spectrum is None and target.is_dense:
        pairs = replace(pairs, square_sum=sum_of_squares(to_host(target.matrix)))
    return Decomposition(operator, len(rows.moments.mean), pairs, certificate, by_passes, taken_over)


def _operator(rows: Rows, plan: Plan, tol: float) -> SymmetricOperator:
    """Return the operator of the plan; of moments alone, whose lost digits no rows can give back, their scatter."""
    moments, own, source = rows.moments, rows.standardization, rows.source
    if source is None:
        matrix, factor = to_host(moments.scatter), own.factor
        if factor is not None:
            matrix = matrix * factor[:, None] * factor[None, :]
        rounding = moments.lost_by_rounding(factor)
        return DenseMatrix(matrix, error=moments.error, absolute_error=rounding, is_measured=moments.error > 0)
    # Sums of sparse float32 products grow with the rows: where the tolerance is so loose that they would not be made
    # again in float64, they are made in it.
    source = in_float64(source) if tol > 10 * eps_of(FLOAT32) else source
    if plan.operator == "covariance":
        return Covariance(source, moments, own, passes=rows.passes, forming=plan.forming)
    return Gram(source, moments, own, passes=rows.passes, gram=rows.gram, forming=plan.forming)


def _is_doubtful(pairs: EigenPairs, certificate: Certificate) -> bool:
    """Tell whether pairs did not converge, were passed over, or lie where squaring has cost their digits."""
    small = len(pairs.values) > 0 and pairs.values[-1] < 1e-10 * pairs.values[0]
    return small or pairs.converged < len(pairs.values) or certificate.grade == "rejected"


@dataclass(frozen=True, eq=False)
class Decomposition:
    """Singular values of standardized rows, and the components that belong to them, made when they are asked for.

    Where the n x n problem was solved a component costs a column of d numbers, so only those that are kept are mapped.

    Attributes
    ----------
    operator : SymmetricOperator
    n_columns : int
        Length of a component, d.
    pairs : EigenPairs
        On the smaller side.
    graded : Certificate
        Of the pairs.
    by_passes : bool
        Whether the solver worked on the rows: the certificate then counts passes over them, not products with a matrix.
    taken_over : bool
        Whether a dense solve took over from an iteration that ended in doubt.
    """

    operator: SymmetricOperator
    n_columns: int
    pairs: EigenPairs
    graded: Certificate
    by_passes: bool = False
    taken_over: bool = False

    @property
    def spectrum(self) -> HostArray:
        """Squared singular values, descending, in the units of ``Rows.source``: all where they are known, else k."""
        known = self.pairs.values if self.pairs.spectrum is None else self.pairs.spectrum
        return np.maximum(known, 0.0)

    @property
    def certificate(self) -> Certificate:
        """The certificate, with the passes made so far."""
        if not self.by_passes or self.operator.applications == self.pairs.applications:
            return self.graded
        made = effort(self.operator, self.operator.applications)
        return replace(self.graded, note=f"{self.pairs.stopped}; {made}")

    def components(self, k: int) -> Array:
        """Return the leading components (d, k): orthonormal columns but for null ones, signs not yet fixed.

        float64, or float32 where the rows are. Columns whose singular value is rounding are no directions yet, and
        zero where there are more of them than pairs: see :func:`completed_components`. Cost on the n x n side: see
        :meth:`~gramian.operators.gram.Gram.components`.
        """
        vectors, values = self.pairs.vectors[:, :k], self.pairs.values[:k]
        return self.operator.components(vectors, values, repaired=self.pairs.repaired, room=k)

    def leading(self) -> LeadingComponents:
        """Return the components as rows on the host, for rules that look at some of them: to a few digits."""
        shape = len(self.pairs.values), self.n_columns
        return LeadingComponents(self._rows, shape)

    def _rows(self, some: slice) -> HostArray:
        return to_host(self.operator.rough_components(self.pairs.vectors[:, some], self.pairs.values[some])).T


def completed_components(components: Array, *, rank: int, k: int, seed: int) -> Array:
    """Return (d, k) orthonormal columns with fixed signs, the ones beyond the rank replaced by seeded directions.

    A null direction found by a solver is rounding noise: another memory order gives another one. Here it is the part
    of a seeded Gaussian block that is orthogonal to the true components, so that the same rows give the same answer.
    Cost: 8 d k operations per null direction; they are written over the columns given, a few at a time.
    """
    rank, draws = min(rank, components.shape[1]), 0
    components = _as_wide(components, k)
    d, dtype = components.shape[0], dtype_of(components)
    while rank < k:
        shape = (d, min(k - rank, max(8, DRAWN_AT_ONCE // d)))
        block = gaussian(shape, seed=seed + draws, like=components, dtype=dtype)
        beyond = orthonormalized(block, components[:, :rank])
        components[:, rank : rank + beyond.shape[1]] = beyond
        rank, draws = rank + beyond.shape[1], draws + 1
    components *= signs_of(components)
    return components


def _as_wide(components: Array, k: int) -> Array:
    """Return ``k`` columns, the ones that are not there zero."""
    missing = k - components.shape[1]
    if missing <= 0:
        return components[:, :k]
    xp = namespace_of(components)
    zeros = xp.zeros((components.shape[0], missing), dtype=components.dtype, **device_of(components))
    return xp.concat([components, zeros], axis=1)


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Squared singular values of the standardized rows, and what is known of the rest.

    Attributes
    ----------
    squares : numpy array (k,)
        Leading squared singular values, descending.
    total : float
        Sum of all of them.
    divisor : float
        W - ddof: squares over it are variances.
    size : int
        min(n, d), how many there are.
    """

    squares: HostArray
    total: float
    divisor: float
    size: int

    @property
    def variances(self) -> HostArray:
        """Variance along each component; zero where a single row leaves none to estimate."""
        return self.squares / self.divisor if self.divisor > 0 else np.zeros_like(self.squares)

    @property
    def shares(self) -> HostArray:
        """Share of the total variance; zero for constant data."""
        return self.squares / self.total if self.total > 0 else np.zeros_like(self.squares)

    def noise(self, k: int, *, rank: int) -> float:
        """Mean variance of the directions beyond the first ``k`` (Tipping and Bishop 1999, eq. 8).

        Zero where no direction beyond k is more than rounding. Summed where all squares are known; what the total
        leaves, where only the leading ones are.
        """
        left = self.size - k
        known = len(self.squares)
        if left <= 0 or self.divisor <= 0 or (rank <= k and rank < max(known, 1)):
            return 0.0
        if known >= self.size:
            rest = float(self.squares[k : self.size].sum())
        else:
            rest = max(self.total - float(self.squares[:k].sum()), 0.0)
        return rest / self.divisor / left

    def spread_beyond(self, k: int, *, square_sum: float | None, eps: float) -> float | None:
        """Return  t1^2 / t2  of the squares beyond the first ``k``, t1 and t2 being their sum and sum of squares.

        Summed where all are known. Else from the total and ``square_sum``, that of the squares of all. None where there
        is nothing beyond, no such sum, or where what it leaves is not well above its rounding, a few ``eps``.
        """
        if k >= self.size:
            return None
        if len(self.squares) >= self.size:
            rest = self.squares[k : self.size] / (self.total or 1.0)
            first, second = float(rest.sum()), float(rest @ rest)
            return first * first / second if second > 0 else None
        if square_sum is None or self.total <= 0:
            return None
        known = self.squares[:k] / self.total
        first, whole = 1.0 - float(known.sum()), square_sum / self.total / self.total
        second = whole - float(known @ known)
        if not np.isfinite(whole) or first <= 0 or second <= 1000 * eps * whole:
            return None
        return float(np.clip(first * first / second, 1.0, max(self.size - k, 1)))

    def leading(self, k: int) -> "Spectrum":
        """Return the first ``k`` values, zeros where there are fewer."""
        if k == len(self.squares):
            return self
        squares = np.zeros(k)
        squares[: min(k, len(self.squares))] = self.squares[:k]
        return Spectrum(squares, self.total, self.divisor, self.size)


def rank_of(squares: HostArray, components: Array, *, n: int, eps: float, rounding: HostArray) -> int:
    """Count the singular values up to the last one that is more than rounding.

    A singular value s with component v counts when  s > min(n, d) eps s_1,  eps being that of the precision in which
    the small problem was formed, and  s > c |diag(rounding) v|,  c = (sqrt n + sqrt d) / 2.  The rounding already in
    the rows is a random matrix whose column j has entries of size rounding_j; what v sees of it no arithmetic can tell
    from structure. One large column so costs the directions that lie along it, and no other.

    Where only leading components are known, a value beyond them is compared with the rounding that is left for it: a
    matrix of rank r and the j largest columns of rounding together have r + j singular values (Weyl).

    Parameters
    ----------
    squares : numpy array
        Squared singular values, descending.
    components : array (d, k)
        Columns that belong to the first k of them.
    n : int
    eps : float
    rounding : numpy array (d,)
        Size of the rounding in an entry of each standardized column.

    Examples
    --------
    >>> import numpy as np
    >>> rank_of(np.array([1.0, 1e-10]), np.eye(2), n=4, eps=2e-16, rounding=np.array([1e-3, 0.0]))
    2
    >>> rank_of(np.array([1.0, 1e-10]), np.eye(2), n=4, eps=2e-16, rounding=np.array([1e-3, 1e-3]))
    1
    """
    singular = np.sqrt(np.maximum(squares, 0.0))
    if len(singular) == 0 or singular[0] == 0:
        return 0
    d, k = components.shape[0], min(components.shape[1], len(singular))
    if all_count(squares, n=n, d=d, eps=eps, rounding=float(rounding.max())):
        return len(singular)
    reach, least = _reach(n, d), rank_threshold(n, d, eps) * singular[0]
    largest = _largest(rounding, max(len(singular) - k, 1))
    clear = singular[k - 1] > reach * largest[0] * (1 + 1e-6)
    left = largest[: len(singular) - k]
    noise = np.zeros(len(singular))
    noise[:k] = reach * (largest[0] if clear else _seen(components[:, :k], rounding))
    noise[k : k + len(left)] = reach * left
    counted = np.flatnonzero(singular > np.maximum(noise, least))
    return int(counted[-1]) + 1 if len(counted) else 0


def all_count(squares: HostArray, *, n: int, d: int, eps: float, rounding: float) -> bool:
    """Tell whether every value counts (:func:`rank_of`) by itself, where no entry is rounded by more than ``rounding``.

    What a unit vector sees of the rounding is at most the largest: values above that need no look at their vectors.
    """
    if len(squares) == 0 or not squares[-1] > 0:
        return False
    least = rank_threshold(n, d, eps) * sqrt(squares[0])
    return bool(sqrt(squares[-1]) > max(_reach(n, d) * rounding * (1 + 1e-6), least))


def _reach(n: int, d: int) -> float:
    return (sqrt(n) + sqrt(d)) / 2


def _largest(values: HostArray, count: int) -> HostArray:
    """Return the ``count`` largest values, descending; all where there are fewer."""
    count = min(count, len(values))
    return np.sort(np.partition(values, len(values) - count)[len(values) - count :])[::-1]


def _seen(components: Array, rounding: HostArray) -> HostArray:
    """Return  |diag(rounding) v|  of each column v, some rows at a time: their squares are a copy."""
    d, k = components.shape
    sums = np.zeros(k)
    for some in ranges(d, max(64, (1 << 19) // max(k, 1))):  # 4 MB of squares
        part = components[some, :]
        sums += to_host((part * part).T @ from_host(rounding[some] ** 2, like=components))
    return np.sqrt(sums)
