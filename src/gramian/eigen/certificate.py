"""The proof that comes with eigenpairs: residuals, bounds, gaps, and how far each of them can be trusted.

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

Bounds, with r the residual (rounding included) and gap the distance to the nearest other eigenvalue:
|lambda - true| <= r,  |lambda - true| <= r^2 / gap,  sin(angle) <= r / gap.
"""

from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np

from gramian.arrays.namespace import HostArray, to_host
from gramian.arrays.precision import FLOAT64, eps_of
from gramian.eigen.held_checks import measured_residuals
from gramian.eigen.pairs import EigenPairs
from gramian.eigen.ranking import rank_pairs
from gramian.operators.symmetric import MatrixLike, SymmetricOperator

LARGEST_OVERLAP = 1e-6
"""Inner product of two vectors above which they are not two pairs."""

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
    >>> from gramian.operators.held import HeldMatrix
    >>> operator = HeldMatrix(np.diag([4.0, 2.0, 1.0]))
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
        """One line a pair."""
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

    No product is made beyond what the solver measured. A held matrix is tried by Cholesky (m^3 / 3 operations) when the
    solver did not rank the whole spectrum.

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
    """Return the residuals: measured again where the matrix is held, the solver's measurements else."""
    claimed = np.asarray(pairs.residuals)
    if not isinstance(operator, MatrixLike) or len(claimed) == 0:
        return claimed
    measured = measured_residuals(to_host(operator.matrix), pairs.values, to_host(pairs.vectors), seed=1)
    return np.asarray(np.maximum(claimed, measured))


def _independent(pairs: EigenPairs) -> HostArray:
    """Tell, a pair, whether its vector is a unit vector orthogonal to the others; a dense solve's are."""
    k = len(pairs.values)
    if pairs.complete or k == 0:
        return np.ones(k, dtype=bool)
    overlap = to_host(pairs.vectors.T @ pairs.vectors) - np.eye(k)
    return np.asarray(np.abs(overlap).max(axis=0) < LARGEST_OVERLAP)


def effort(operator: SymmetricOperator, applications: int) -> str:
    """Say how many passes, or products with a held matrix, were made."""
    one, many, where = ("pass", "passes", "over the rows")
    if isinstance(operator, MatrixLike):
        one, many, where = ("product", "products", "with the held matrix")
    return f"{applications} {one if applications == 1 else many} {where}"


def _left_over(operator: SymmetricOperator, trace: float, values: HostArray) -> float:
    """Return what the trace leaves for eigenvalues that were not returned."""
    return max(trace - float(values.sum()), 0.0) if operator.is_psd else np.inf


def _rounding(operator: SymmetricOperator, top: float, trace: float) -> float:
    """Return the rounding in the operator itself, as an eigenvalue could feel it.

    What is known of a matrix made of rows is in ``lost``: a bound of the sums that it was made of, in whatever order.
    Where nothing is (products with rows, kernels), entries are taken to be wrong by a few eps |x_i||x_j|: a random
    matrix of Frobenius norm about eps trace, whose spectral norm is 2 / sqrt(m) of that. Float32 products add the error
    measured on them. A matrix that was given, not formed, has no such error.
    """
    rounding = operator.lost + top * (operator.error + 8 * EPS)
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
        # All pairs of the smaller side: the other side of the same problem has zeros besides.
        gaps[-1] = min(gaps[-1], abs(values[-1]))
    return gaps


def _gap_grades(
    operator: SymmetricOperator, grades: tuple[str, ...], next_bound: float | None, pairs: EigenPairs
) -> tuple[str, ...]:
    """Grade the gaps: as well known as the pairs where the matrix is held, else resting on estimates from below."""
    if pairs.complete or (isinstance(operator, MatrixLike) and next_bound is not None):
        return grades
    return tuple("conditional" for _ in grades)
