"""The proof that comes with eigenpairs: residuals, bounds, gaps, and how far each of them can be trusted.

Bounds, with r the residual (rounding included) and gap the distance to the nearest other eigenvalue:
|lambda - true| <= r,  |lambda - true| <= r^2 / gap,  sin(angle) <= r / gap.

Grades
------
proved
    A dense solve ranked every eigenvalue, or a Cholesky factorization showed that the deflated matrix has none left
    above the ones found; the rounding of the matrix is bounded for any order of its sums.
measured
    The same, but what float32 products have cost the matrix was measured on some of them: an estimate.
probable
    A random search of the rest of the space would have seen a missed one; its chance of failing is stated.
conditional
    Residuals only: each pair is an eigenpair, but another one may lie above it.
rejected
    The residual does not meet the tolerance, or an eigenvalue was missed above this one.

:func:`certify` makes a :class:`Certificate`. After it come the grading of "none was missed" (:func:`rank_pairs`), the
random search that can make it probable, and the checks by a matrix in memory that can prove it.
"""

from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np
import scipy

from gramian.arrays.namespace import (
    Array,
    HostArray,
    cast,
    cholesky,
    device_of,
    from_host,
    gaussian,
    namespace_of,
    on_device,
    to_host,
)
from gramian.arrays.precision import FLOAT64, eps_of
from gramian.arrays.squares import column_norms, completed
from gramian.eigen.pairs import EigenPairs, Probe
from gramian.operators.symmetric import SymmetricOperator

EPS = eps_of(FLOAT64)


@dataclass(frozen=True)
class CertificateLine:
    """What is known of one pair.

    Attributes
    ----------
    index : int
        Counted from one.
    value : float
    residual : float
        |A v - lambda v|, measured.
    value_bound : float
        |lambda - true| is at most this.
    quadratic_bound : float
        The same from r^2 / gap; never larger than ``value_bound``.
    angle_bound : float
        The sine of the angle to the true eigenvector is at most this; inf for a tie.
    gap : float
        Distance to the nearest other eigenvalue, less what is uncertain about both.
    gap_grade, grade : str
        "proved", "measured", "probable", "conditional" or "rejected".
    failure_probability : float
        Chance that a larger eigenvalue was missed: 0 when proved, nan when nothing is claimed.
    tie : bool
        Whether the nearest other eigenvalue cannot be told from this one; compare subspaces, not vectors. A gap that
        is not known (0, with an angle bound of inf) is not a tie.
    """

    index: int
    value: float
    residual: float
    value_bound: float
    quadratic_bound: float
    angle_bound: float
    gap: float
    gap_grade: str
    grade: str
    failure_probability: float
    tie: bool


@dataclass(frozen=True, eq=False)
class Certificate:
    """The proof of a set of eigenpairs; prints as a small table.

    Attributes
    ----------
    values, residuals, bounds, gaps : numpy arrays (k,)
    grades, gap_grades : tuple of str
    failure_probabilities : numpy array (k,)
    ties : numpy array of bool (k,)
    missed_bound : float
        No eigenvalue that was not returned exceeds this (from the trace; inf for indefinite operators).
    rounding : float
        What a value may be wrong by from its own computation, however small the residual.
    note : str
        How the solve ended, in words.
    stored : float
        Part of itself that a value or vector is rounded by where it is kept in another type than it was found in: 6e-8
        for float32, zero for float64. It is in the bounds of ``lines``, not in ``bounds``.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.eigen.direct import Direct
    >>> from gramian.operators.symmetric import DenseMatrix
    >>> operator = DenseMatrix(np.diag([4.0, 2.0, 1.0]))
    >>> certificate = certify(operator, Direct().solve(operator, 2), tol=1e-10)
    >>> [line.grade for line in certificate.lines]
    ['proved', 'proved']
    """

    values: HostArray
    residuals: HostArray
    bounds: HostArray
    gaps: HostArray
    grades: tuple[str, ...]
    gap_grades: tuple[str, ...]
    failure_probabilities: HostArray
    ties: HostArray
    missed_bound: float
    rounding: float
    note: str
    stored: float = 0.0

    @property
    def lines(self) -> tuple[CertificateLine, ...]:
        """One line per pair."""
        return tuple(self._line(i) for i in range(len(self.values)))

    @property
    def grade(self) -> str:
        """The weakest grade of all pairs; "proved" when there are none."""
        order = ("rejected", "conditional", "probable", "measured", "proved")
        return min(self.grades, key=order.index, default="proved")

    def leading(self, k: int) -> "Certificate":
        """Return the certificate of the first ``k`` pairs."""
        if k >= len(self.values):
            return self
        return replace(
            self,
            values=self.values[:k],
            residuals=self.residuals[:k],
            bounds=self.bounds[:k],
            gaps=self.gaps[:k],
            grades=self.grades[:k],
            gap_grades=self.gap_grades[:k],
            failure_probabilities=self.failure_probabilities[:k],
            ties=self.ties[:k],
            missed_bound=max(self.missed_bound, float(np.max(self.values[k:], initial=0.0))),
        )

    def null_beyond(self, rank: int) -> "Certificate":
        """Return the certificate with every pair beyond ``rank`` a tie: one null direction is as good as another.

        What is returned may be any direction orthogonal to the first ones: its residual is at most the largest
        eigenvalue that is left.
        """
        if rank >= len(self.values):
            return self
        null = np.arange(len(self.values)) >= rank
        left = max(float(self.values[rank]), 0.0) + float(self.bounds[rank])
        residuals = np.where(null, np.maximum(self.residuals, left), self.residuals)
        return replace(self, ties=self.ties | null, gaps=np.where(null, 0.0, self.gaps), residuals=residuals)

    def kept_in(self, dtype: np.dtype[Any]) -> "Certificate":
        """Return the certificate of pairs that are kept in another type."""
        return self if dtype == FLOAT64 else replace(self, stored=eps_of(dtype) / 2)

    def widened(self, by: float) -> "Certificate":
        """Return the certificate of an operator that may itself be wrong by ``by``, in the spectral norm.

        Every eigenvalue, found or not, moves by at most that (Weyl), whatever its residual; a gap is less by it for its
        other end. One that is not known stays so, and no tie is said of it.
        """
        known = (self.gaps > 0) | self.ties
        bounds, gaps = self.bounds + by, np.maximum(self.gaps - by, 0.0)
        return replace(
            self,
            bounds=bounds,
            gaps=gaps,
            ties=(gaps <= bounds) & known,
            missed_bound=self.missed_bound + by,
            rounding=self.rounding + by,
        )

    def rescaled(self, factor: float, *, exponent: int = 0) -> "Certificate":
        """Return the certificate in other units: every value, residual, bound and gap times factor 2**exponent."""

        def sized(values: Any) -> Any:
            if exponent == 0:
                return values * factor
            with np.errstate(over="ignore", under="ignore"):
                return np.ldexp(values * factor, exponent)

        return replace(
            self,
            values=sized(self.values),
            residuals=sized(self.residuals),
            bounds=sized(self.bounds),
            gaps=sized(self.gaps),
            missed_bound=float(sized(self.missed_bound)),
            rounding=float(sized(self.rounding)),
        )

    def _line(self, i: int) -> CertificateLine:
        bound, gap, value = float(self.bounds[i]), float(self.gaps[i]), float(self.values[i])
        kept = self.stored * abs(value)
        return CertificateLine(
            index=i + 1,
            value=value,
            residual=float(self.residuals[i]),
            value_bound=bound + kept,
            quadratic_bound=kept + (min(bound, bound * (bound / gap) + self.rounding) if gap > 0 else bound),
            angle_bound=bound / gap + self.stored if gap > 0 else np.inf,
            gap=gap,
            gap_grade=self.gap_grades[i],
            grade=self.grades[i],
            failure_probability=float(self.failure_probabilities[i]),
            tie=bool(self.ties[i]),
        )

    def __str__(self) -> str:
        head = f"{'':>4}{'eigenvalue':>14}{'residual':>11}{'|error| <=':>12}{'angle <=':>11}  grade"
        rows = [_table_row(line) for line in self.lines[:40]]
        more = [f"     ... and {len(self.values) - 40} more"] if len(self.values) > 40 else []
        return "\n".join([head, *rows, *more, self.note])


def _table_row(line: CertificateLine) -> str:
    angle = "tie" if line.tie else f"{line.angle_bound:.1e}"
    grade = line.grade
    if grade == "probable":
        grade += f" (fails {line.failure_probability:.0e})"
    return f"{line.index:>4}{line.value:>14.6g}{line.residual:>11.1e}{line.quadratic_bound:>12.1e}{angle:>11}  {grade}"


def certify(operator: SymmetricOperator, pairs: EigenPairs, *, tol: float) -> Certificate:
    """Check eigenpairs and state what is proved of them.

    No product is made beyond what the solver measured. A matrix in memory is tried by Cholesky (m^3 / 3 operations)
    when the solver did not rank the whole spectrum.

    Parameters
    ----------
    operator : SymmetricOperator
    pairs : EigenPairs
    tol : float
        Residuals above ``tol`` times the first eigenvalue are rejected.
    """
    values = np.asarray(pairs.values)
    top, root, trace = _largest(values), sqrt(operator.size), operator.trace()
    residuals = _residuals(operator, pairs)
    rounding = _rounding(operator, top, trace) + pairs.error * top
    steps = values[:-1] - values[1:]
    bounds = _cluster_norms(steps, residuals) + rounding
    widest, allowed = float(bounds.max(initial=0.0)), max(tol, 64 * EPS * root) * top
    next_bound, grades, chances = rank_pairs(operator, pairs, bounds)
    if operator.is_dense and not pairs.complete and next_bound is not None:
        # What was not found may lie as high as this, and is then the true eigenvalue of a lower pair's rank.
        bounds = np.maximum(bounds, next_bound - values)
    if operator.is_measured or pairs.error > 0:
        grades = tuple("measured" if grade == "proved" else grade for grade in grades)
    if not (pairs.complete and widest <= allowed):
        met = _independent(pairs) & (residuals <= allowed)
        grades = tuple(grade if ok else "rejected" for grade, ok in zip(grades, met, strict=True))
    gaps = _gaps(values, steps, bounds, next_bound)
    ties = gaps <= bounds
    np.maximum(gaps, 0.0, out=gaps)
    if next_bound is None and len(values) < operator.size:
        # Nothing is known of the last gap, which is no tie.
        gaps[-1:], ties[-1:] = 0.0, False
    return Certificate(
        values=values,
        residuals=residuals,
        bounds=bounds,
        gaps=gaps,
        grades=grades,
        gap_grades=_gap_grades(operator, grades, next_bound, pairs),
        failure_probabilities=chances,
        ties=ties,
        missed_bound=_left_over(operator, trace, values) + widest,
        rounding=(8 + 4 * root) * EPS * top + rounding,
        note=f"{pairs.stopped}; {effort(operator, pairs.applications)}",
    )


def _residuals(operator: SymmetricOperator, pairs: EigenPairs) -> HostArray:
    """Return the residuals: measured again where the matrix is in memory, the solver's measurements else."""
    claimed = np.asarray(pairs.residuals)
    if not operator.is_dense or len(claimed) == 0:
        return claimed
    there = on_device(operator.matrix)
    matrix, vectors = (A if there else to_host(A) for A in (operator.matrix, pairs.vectors))
    measured = measured_residuals(matrix, pairs.values, vectors, seed=1)
    return np.asarray(np.maximum(claimed, measured))


def _independent(pairs: EigenPairs) -> HostArray:
    """Tell, for each pair, whether its vector is a unit vector orthogonal to the others; a dense solve's are."""
    k = len(pairs.values)
    if pairs.complete or k == 0:
        return np.ones(k, dtype=bool)
    overlap = to_host(pairs.vectors.T @ pairs.vectors) - np.eye(k)
    return np.asarray(np.abs(overlap).max(axis=0) < 1e-6)


def effort(operator: SymmetricOperator, applications: int) -> str:
    """Say how many passes, or products with a matrix in memory, were made."""
    one, many, where = ("pass", "passes", "over the rows")
    if operator.is_dense:
        one, many, where = ("product", "products", "with the matrix")
    return f"{applications} {one if applications == 1 else many} {where}"


def _left_over(operator: SymmetricOperator, trace: float, values: HostArray) -> float:
    """Return what the trace leaves for eigenvalues that were not returned."""
    return max(trace - float(values.sum()), 0.0) if operator.is_psd else np.inf


def _rounding(operator: SymmetricOperator, top: float, trace: float) -> float:
    """Return the rounding in the operator itself, as an eigenvalue could feel it.

    What is known of a matrix made of rows is in ``absolute_error``: a bound of the sums that it was made of, in
    whatever order. Where nothing is (products with rows, kernels), entries are taken to be wrong by a few
    eps |x_i||x_j|: a random matrix of Frobenius norm about eps trace, whose spectral norm is 2 / sqrt(m) of that.
    Float32 products add the error measured on them. A matrix that was given, not formed, has no such error.
    """
    rounding = operator.absolute_error + top * (operator.error + 8 * EPS)
    return rounding if operator.error == 0 else rounding + 12 * EPS * abs(trace) / sqrt(operator.size)


def _largest(values: HostArray) -> float:
    """Return the largest |value| of descending values."""
    return max(abs(float(values[0])), abs(float(values[-1]))) if len(values) else 0.0


def _cluster_norms(steps: HostArray, residuals: HostArray) -> HostArray:
    """Return, for each pair, the norm of all residuals of its cluster; ``steps`` lie between a value and the next.

    Pairs closer than their residuals share eigenvalues, and only the block of them can be matched one to one with the
    true ones (Kahan 1967; Parlett 1998, theorem 11.5.1), with the norm of the block's residual as bound.
    """
    near = steps <= residuals[:-1] + residuals[1:]
    if not near.any():
        return residuals
    label = np.concatenate([[0], np.cumsum(~near)])
    sums = np.bincount(label, weights=residuals**2)
    return np.asarray(np.sqrt(sums[label]))


def _gaps(values: HostArray, steps: HostArray, bounds: HostArray, next_bound: float | None) -> HostArray:
    """Return the distance of each value to the nearest other one, less the uncertainty of the other."""
    gaps = np.empty(len(values))
    gaps[:-1], gaps[-1:] = steps - bounds[1:], np.inf
    np.minimum(gaps[1:], steps - bounds[:-1], out=gaps[1:])
    if next_bound is not None:
        np.minimum(gaps, values - next_bound, out=gaps)
    elif len(values):
        # All pairs of the smaller side: the other side of the same problem has zeros too.
        gaps[-1] = min(gaps[-1], abs(values[-1]))
    return gaps


def _gap_grades(
    operator: SymmetricOperator, grades: tuple[str, ...], next_bound: float | None, pairs: EigenPairs
) -> tuple[str, ...]:
    """Grade the gaps: as the pairs where the matrix is in memory; else they rest on estimates from below."""
    if pairs.complete or (operator.is_dense and next_bound is not None):
        return grades
    return tuple("conditional" for _ in grades)


def rank_pairs(
    operator: SymmetricOperator, pairs: EigenPairs, bounds: HostArray
) -> tuple[float | None, tuple[str, ...], HostArray]:
    """Grade the claim that no larger eigenvalue was missed.

    Parameters
    ----------
    operator : SymmetricOperator
    pairs : EigenPairs
    bounds : numpy array (k,)
        What each value may be wrong by.

    Returns
    -------
    next_bound : float or None
        A bound, or an estimate where nothing is proved, of eigenvalue k + 1.
    grades : tuple of str
        One per pair; see the head of this module.
    chances : numpy array (k,)
        That a larger eigenvalue was missed: 0 when proved, nan when nothing is claimed.
    """
    k = len(pairs.values)
    if pairs.complete:
        return pairs.next_value, ("proved",) * k, np.zeros(k)
    if operator.is_dense and k:
        return _rank_by_inertia(operator, pairs, bounds)
    chances, probe = np.full(k, np.nan), pairs.probe or Probe(0, 0)
    if operator.is_psd and pairs.next_value is not None and probe.steps >= 1 and probe.columns >= 1:
        chances = chance_of_miss(pairs.values, pairs.next_value, probe, operator.size)
    grades = tuple("probable" if chance <= LARGEST_FAILURE else "conditional" for chance in chances)
    return pairs.next_value, grades, chances


def _rank_by_inertia(
    operator: SymmetricOperator, pairs: EigenPairs, bounds: HostArray
) -> tuple[float | None, tuple[str, ...], HostArray]:
    """Prove by Cholesky that no eigenvalue above the ones found is left, or say which pairs it passes over."""
    k, last = len(pairs.values), float(pairs.values[-1])
    margin = float(bounds[-1]) + check_rounding(operator.trace(), pairs.values, last, operator.size)
    if pairs.next_value is not None and last - pairs.next_value > 4 * margin:
        between = pairs.next_value + 0.25 * (last - pairs.next_value)
        if _has_none_above(operator, pairs, between):
            return between + margin, ("proved",) * k, np.zeros(k)
    if _has_none_above(operator, pairs, last + margin):
        return _proved_level(operator, pairs, last, margin) + margin, ("proved",) * k, np.zeros(k)
    proved = _count_above_missed(operator, pairs, margin)
    grades = ("proved",) * proved + ("rejected",) * (k - proved)
    above_missed = float(pairs.values[proved - 1]) + 2 * margin if proved else None
    return above_missed, grades, np.where(np.arange(k) < proved, 0.0, np.nan)


def _has_none_above(operator: SymmetricOperator, pairs: EigenPairs, level: float) -> bool:
    return none_above(operator.matrix, pairs.values, pairs.vectors, level, in_place=operator.may_overwrite)


def _proved_level(operator: SymmetricOperator, pairs: EigenPairs, last: float, margin: float) -> float:
    """Return a level, as far below the last pair as a few tries find, that no other eigenvalue exceeds."""
    if pairs.next_value is None:
        for share in (0.5, 0.1, 0.01, 1e-4):
            level = last - share * abs(last)
            if level > margin and _has_none_above(operator, pairs, level):
                return level
    return last + margin


def _count_above_missed(operator: SymmetricOperator, pairs: EigenPairs, margin: float) -> int:
    """Count the leading pairs that no missed eigenvalue exceeds, by bisection over their values."""
    low, high = 0, len(pairs.values) - 1
    while low < high:
        middle = (low + high) // 2
        if _has_none_above(operator, pairs, float(pairs.values[middle]) + margin):
            low = middle + 1
        else:
            high = middle
    return low


LARGEST_FAILURE = 1e-3
"""Chance of failure above which a random search is not called proof of anything."""


def chance_of_miss(values: HostArray, following: float, probe: Probe, size: int) -> HostArray:
    """Return, for each value, the chance that a random search which found ``following`` has missed one above it.

    From one Gaussian start, q Krylov steps miss the largest eigenvalue of a positive semidefinite map by a share e or
    more with probability at most 1.648 sqrt(m) exp(-sqrt(e) (2 q - 1)) (Kuczynski and Wozniakowski 1992, theorem
    4.1); independent columns multiply. The map here is the operator with the found pairs removed, and e the share
    from ``following`` to the value.

    Examples
    --------
    >>> chance_of_miss(np.array([2.0, 1.01]), 1.0, Probe(4, 7), 4000).round(5)
    array([0., 1.])
    """
    share = np.clip(1.0 - following / np.maximum(values, np.finfo(float).tiny), 0.0, 1.0)
    log_chance = np.log(1.648 * np.sqrt(size)) - np.sqrt(share) * (2 * probe.steps - 1)
    return np.asarray(np.exp(np.minimum(log_chance * probe.columns, 0.0)))


SEARCH_COLUMNS = 4
"""Gaussian columns, at most, of that search: four of them for seven products say as much as sixteen for five."""

STANDING_OUT = 2 / 3
"""Share by which a pair exceeds all beyond the wanted ones when the search is to be long enough to call it probable."""


def search_steps(m: int, columns: int) -> int:
    """Return the products of a random search from so many Gaussian columns.

    Enough that the chance of a miss, (1.648 sqrt(m) exp(-sqrt(e) (2 q - 1)))^columns, is within what is called probable
    at e = ``STANDING_OUT``. Further steps lower it by more than further columns do, which each pay for sqrt(m).

    Examples
    --------
    >>> [search_steps(50_000, columns) for columns in (1, 2, 4, 16)]
    [9, 7, 7, 7]
    """
    exponent = np.log(1.648 * np.sqrt(m)) - np.log(LARGEST_FAILURE) / columns
    # Products, at least, of the random search that follows convergence.
    return max(7, int(np.ceil((exponent / np.sqrt(STANDING_OUT) + 1) / 2)))


def can_be_certain(values: HostArray, *, k: int, m: int, block: int) -> bool:
    """Tell whether a search could say that none of the ``k`` pairs was missed, if the spectrum is as it looks now.

    Parameters
    ----------
    values : numpy array
        Ritz values, descending; those beyond the k-th are what is known of the rest.
    k, m, block : int
        Pairs wanted, the operator's size, and the columns of a product.

    Examples
    --------
    >>> import numpy as np
    >>> [can_be_certain(np.array([9.0, v, 1.0]), k=2, m=4000, block=8) for v in (5.0, 1.01)]
    [True, False]
    """
    probe = Probe(columns := min(block, SEARCH_COLUMNS), search_steps(m, columns))
    following = float(values[k]) if len(values) > k else 0.0
    chance = chance_of_miss(values[k - 1 : k], following, probe, m)
    return bool(chance.max(initial=0.0) <= LARGEST_FAILURE)


def measured_residuals(matrix: Array, values: HostArray, vectors: Array, *, seed: int) -> HostArray:
    """Return |A v - lambda v| for every pair.

    For many pairs E = A V - V diag(lambda) is measured on Gaussian vectors w: |E w|^2 averages |E|_F^2, which bounds
    every column; eight probes are short of it by more than a factor of four with probability below 1e-7.
    """
    k = len(values)
    # Pairs up to which each residual is computed; beyond, all share one bound measured with random probes.
    if k <= 256:
        difference = matrix @ vectors
        difference -= vectors * from_host(values, like=vectors)
        return column_norms(difference)
    probes = gaussian((k, 8), seed=seed, like=matrix)
    difference = matrix @ (vectors @ probes) - vectors @ (from_host(values[:, None], like=matrix) * probes)
    return np.full(k, 4 * np.linalg.norm(column_norms(difference)) / np.sqrt(8))


def none_above(matrix: Array, values: HostArray, vectors: Array, level: float, *, in_place: bool = False) -> bool:
    """Tell whether the matrix without the given pairs has no eigenvalue above ``level``.

    Computes a Cholesky factorization of  level I - (A - V diag(lambda) V'), which exists when every eigenvalue of the
    deflated matrix lies below ``level``, but for :func:`check_rounding`, and breaks down when one lies above
    (Sylvester's law of inertia). A has then no more eigenvalues above it than there are pairs, whatever these are worth
    (Weyl: taking off k pairs lowers eigenvalue k + 1 to no less than the first of the rest).

    Cost: m^3 / 3 + m^2 k operations and one more m x m matrix; with ``in_place`` none: the lower triangle of the matrix
    is worked in, and filled again from the upper one.

    Examples
    --------
    >>> import numpy as np
    >>> A, e = np.diag([3.0, 2.0, 1.0]), np.eye(3)
    >>> none_above(A, np.array([3.0]), e[:, :1], 2.5), none_above(A, np.array([2.0]), e[:, 1:2], 2.5)
    (True, False)
    """
    if on_device(matrix):
        return _is_below_there(cast(matrix, FLOAT64), values, vectors, level)
    host = to_host(matrix)
    # LAPACK wants columns one after the other; the transpose of a symmetric matrix is the matrix.
    columns = host.T if host.flags.c_contiguous else host
    if not (in_place and columns.flags.f_contiguous and columns.dtype == FLOAT64):
        return _is_below(np.array(columns, dtype=FLOAT64, order="F"), values, to_host(vectors), level)
    diagonal = columns.diagonal().copy()
    try:
        return _is_below(columns, values, to_host(vectors), level)
    finally:
        completed(columns.T)
        _diagonal(columns)[...] = diagonal


def check_rounding(trace: float, values: HostArray, level: float, size: int) -> float:
    """Return by how much an eigenvalue may exceed the level that :func:`none_above` finds none above.

    A Cholesky factorization that runs to its end proves that the matrix B it was given has no eigenvalue under
    -(m + 1) eps/2 trace(B),  in whatever order it sums (Rump 2006, doi:10.1007/s10543-006-0056-1). B itself has k + 3
    roundings per entry, of numbers that add up to at most  trace(B) + 2 sum |lambda| + 2 level  in the norm.
    """
    given = size * level - trace + float(values.sum())
    sizes = max(given, 0.0) + 2 * float(np.abs(values).sum()) + 2 * abs(level)
    return (size + len(values) + 8) * eps_of(FLOAT64) / 2 * sizes


def _is_below(columns: HostArray, values: HostArray, V: HostArray, level: float) -> bool:
    """Tell whether  level I - (A - V diag(lambda) V')  is positive definite; A may be written over by it.

    What BLAS returns counts: it may have worked in a copy.
    """
    beta = -1.0
    for sign in (1.0, -1.0):
        part = np.flatnonzero(sign * values > 0)
        if len(part) or beta < 0:
            # BLAS wants one column at least.
            scaled = V[:, part] * np.sqrt(sign * values[part]) if len(part) else np.zeros((len(V), 1))
            columns = scipy.linalg.blas.dsyrk(
                sign, np.asfortranarray(scaled), beta=beta, c=columns, lower=1, overwrite_c=1
            )
            beta = 1.0
    _diagonal(columns)[...] += level
    _, broken_at = scipy.linalg.lapack.dpotrf(columns, lower=1, clean=0, overwrite_a=1)
    return bool(broken_at == 0)


def _is_below_there(A: Array, values: HostArray, V: Array, level: float) -> bool:
    """Tell the same of a matrix on a device, whose library may factorize in a way that no bound is known of.

    So the factor is multiplied out. With B = level I - (A - V diag(lambda) V') and t = trace(B), a computed factor of
    B - s I,  s = (m + 4) eps/2 t,  leaves E = B - s I - R R',  which is measured as a number that is wrong by at most
    (m + 2) eps/2 trace(R R').  No eigenvalue of B is below  s - |E|, and where |E| is within  (m + 1) eps/2 t  that is
    above what :func:`check_rounding` allows for.
    """
    xp, m = namespace_of(A), A.shape[0]
    V = cast(V, FLOAT64)
    B = (V * from_host(values, like=V)) @ V.T - A
    trace = float(xp.linalg.trace(B)) + m * level
    unit = eps_of(FLOAT64) / 2 * max(trace, 0.0)
    B = B + (level - (m + 4) * unit) * xp.eye(m, dtype=B.dtype, **device_of(B))
    R = cholesky(B)
    if R is None:
        return False
    B -= R @ R.T
    return bool(np.linalg.norm(column_norms(xp.tril(B))) * np.sqrt(2) <= (m + 1) * unit)


def _diagonal(columns: HostArray) -> HostArray:
    """Return the diagonal, to be written, of a matrix whose columns lie one after the other."""
    return columns.T.reshape(-1)[:: len(columns) + 1]
