"""Dense eigendecomposition of the small matrix, repaired where squaring has cost digits."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import scipy

from gramian.arrays.namespace import (
    Array,
    HostArray,
    eigh,
    from_host,
    is_numpy,
    namespace_of,
    on_device,
    picked,
    to_host,
)
from gramian.arrays.precision import FLOAT32, FLOAT64, eps_of, squaring_floor
from gramian.eigen.certificate import measured_residuals
from gramian.eigen.orthonormal import rotate
from gramian.eigen.pairs import Approximation, EigenPairs, EigenSolver, Watch, sum_of_squares
from gramian.operators.symmetric import SymmetricOperator

ALL_PAIRS = 256
"""Size below which all pairs are found at once where the whole spectrum is of use: it takes two or three times as long
as a few pairs."""

FEW_PAIRS = 10
"""Below that size, up to one pair in so many is found sooner than all (50 rows, one thread: two pairs in 0.10 ms, five
in 0.15, all in 0.17; 100: two in 0.28, ten in 0.57, all in 0.60; 200: two in 1.0, twenty in 2.3, all in 2.5)."""

SAMPLE = 8
"""Pairs whose digits are looked at before many are recomputed."""


@dataclass(frozen=True)
class Direct(EigenSolver):
    """Eigendecomposition of the materialized matrix in float64: by LAPACK, or where the matrix is.

    Computes  A = V diag(lambda) V'. Where the wanted eigenvalues reach so far below the first that forming A
    has cost their digits (a singular value under ``squaring_floor`` of the first), that part of the
    spectrum is solved again from the factor F, A = F'F:  F V is small there, so that squaring it costs digits relative
    to its own size, not to s_1. Where that is still too much, what lies under the floor of that part is solved again
    in the same way or, if it is 256 pairs at most, from the triangle R of a QR factorization of F V, never squared:
    R = P diag(s) Q',  lambda = s^2, and V is rotated by Q. Many pairs are repaired only if a sample of them shows that
    it is needed.

    Cost: 4 to 5 m^3 operations for all pairs, 4 m^3 / 3 for few; four m x m matrices. The repair of s pairs: one pass,
    n s^2 + 5 s^3 operations, and three s x s matrices; a pass more for every four or five digits that are still
    missing.

    Not for m in the tens of thousands: use :class:`~gramian.eigen.krylov.Krylov`.

    Parameters
    ----------
    repair : bool, default=True
        Whether lost digits are recovered.
    share : float, default=1.0
        Share of the trace that the pairs wanted in the end hold: digits of pairs beyond them are not recovered.
    whole : bool, default=True
        Whether all pairs of a small matrix are found though a few are wanted, so that its whole spectrum is known.
        Without, and without ``repair``, it takes half as long or less where BLAS is held to one thread; else SciPy's
        threads, which find a few, would compete with NumPy's.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.operators.symmetric import DenseMatrix
    >>> Direct().solve(DenseMatrix(np.diag([1.0, 3.0, 2.0])), 2).values
    array([3., 2.])
    """

    is_dense: ClassVar[bool] = True

    repair: bool = True
    share: float = 1.0
    whole: bool = True

    def solve(
        self,
        operator: SymmetricOperator,
        k: int,
        *,
        seed: int = 0,
        start: Approximation | None = None,
        watch: Watch | None = None,
    ) -> EigenPairs:
        """Return the ``k`` largest eigenpairs of ``operator``; a dense solve is one step and needs no start."""
        del start
        dense = operator.materialize()
        matrix = dense.matrix if on_device(dense.matrix) else to_host(dense.matrix)
        values, vectors = dense_pairs(matrix, k, whole=self.whole or self.repair)
        repaired = 0
        wanted = values[: k if self.share >= 1 else self._holding(operator.trace(), values, k)]
        if self.repair and _has_lost_digits(wanted, len(matrix)) and not _is_sound(operator, wanted, vectors):
            if len(values) < len(matrix):
                values, vectors = dense_pairs(matrix, len(matrix))
            values, vectors, repaired = _repaired(operator, values, to_host(vectors))
        # LAPACK's vectors lie one after the other; another order would cost a transposition.
        leading = vectors[:, :k]
        leading = from_host(np.asfortranarray(leading), like=matrix) if is_numpy(leading) else leading
        known = len(values) == len(matrix)
        residuals = measured_residuals(matrix, values[:k], leading, seed=seed)
        if watch is not None:
            top = float(values[0]) if k else 0.0
            watch(operator.applications, float(residuals.max(initial=0.0)) / top if top > 0 else 0.0)
        return EigenPairs(
            values=values[:k].copy(),
            vectors=from_host(leading, like=dense.like()) if is_numpy(leading) else leading,
            residuals=residuals,
            applications=operator.applications,
            converged=k,
            stopped=f"dense solve; {repaired} small values recomputed from the rows" if repaired else "dense solve",
            complete=True,
            next_value=float(values[k]) if len(values) > k else None,
            spectrum=values if known else None,
            repaired=repaired,
            square_sum=None if known else sum_of_squares(to_host(matrix)),
        )

    def _holding(self, trace: float, values: HostArray, k: int) -> int:
        """Return how many leading values hold the share, ``k`` at most."""
        return min(k, 1 + int(np.searchsorted(np.cumsum(values), self.share * trace)))


def dense_pairs(matrix: Array, k: int, *, whole: bool = True) -> tuple[HostArray, Array]:
    """Return eigenvalues, descending, and eigenvectors: all of them, or k + 1 when k is a small part.

    Of a small matrix all are found even then, unless its ``whole`` spectrum is of no use.
    """
    m = len(matrix)
    if not is_numpy(matrix):
        values, vectors = eigh(matrix)
        return values[::-1], namespace_of(vectors).flip(vectors, axis=1)
    fewest = m // 3 if m >= ALL_PAIRS else 0 if whole else m // FEW_PAIRS + 1
    if k >= fewest:
        values, vectors = np.linalg.eigh(matrix)
    else:
        subset = [m - k - 1, m - 1]
        values, vectors = scipy.linalg.eigh(matrix, driver="evr", subset_by_index=subset, check_finite=False)
        if len(values) <= k:
            # Of a spectrum that is one eigenvalue many times over, this driver may find none (seen for I - 11'/300).
            values, vectors = np.linalg.eigh(matrix)
    return values[::-1], vectors[:, ::-1]


def _has_lost_digits(values: HostArray, m: int) -> bool:
    return bool(len(values)) and bool(values[-1] < squaring_floor(m) ** 2 * values[0])


def _is_sound(operator: SymmetricOperator, values: HostArray, vectors: Array) -> bool:
    """Tell, from a sample of the pairs under the floor, whether their digits are there all the same.

    For a computed pair the first-order error of lambda is  |F v|^2 - lambda,  which is measured here by a product that
    is not squared: for the last pairs, the ones that suffer most, and for others spread over the rest. Twice it has to
    stay within what is promised of s, 35 m eps s_1, and within lambda, so that no zero is taken for a value (of a zero,
    lambda is nothing but error).

    Cost: one pass and 2 n m operations per pair of the sample; a repair of s pairs takes 2 n m s + n s^2.
    """
    m, k = len(vectors), len(values)
    first = _first_below(values, squaring_floor(m) ** 2 * values[0])
    # What is lost counts more where the vectors are not the answer yet.
    if k - first < 4 * SAMPLE or values[-1] <= 0 or np.any(operator.residual_weight(values) > 1):
        return False
    allowed = np.minimum(values, 2 * 35 * m * operator.data_eps * np.sqrt(values[0] * np.maximum(values, 0.0)))
    # Units of eps lambda_1: where less than that is allowed, a sample fails, and looking at it would only cost a pass.
    # Of 24 eigenvalues the worst was wrong by 0.03 to 0.17 units (five tables of 30,000 to 1,000,000 rows).
    if allowed[-1] < (2.0**-8) * eps_of(FLOAT64) * values[0]:
        return False
    some = np.r_[np.linspace(first, k - 1, SAMPLE // 2, endpoint=False).astype(int), np.arange(k - SAMPLE // 2, k)]
    V = np.ascontiguousarray(to_host(picked(vectors.T, some)).T)
    # What the rows' own precision adds to F v goes into the square in quadrature: too little to see.
    dtype = FLOAT32 if operator.data_eps > eps_of(FLOAT64) else FLOAT64
    # An error of F v costs  2 |F v|  times as much in lambda: here an eighth of what is allowed.
    within = float(np.min(allowed[some] / np.sqrt(values[some]))) / 16
    inner = operator.inner(from_host(V, like=operator.like(), dtype=dtype), within=within)
    if inner is None:
        return False
    error = np.abs(np.diag(inner) - values[some])
    return bool(np.all(2 * (error + allowed[some] / 8) <= allowed[some]))


def _repaired(operator: SymmetricOperator, values: HostArray, vectors: HostArray) -> tuple[HostArray, HostArray, int]:
    """Solve the part of the spectrum under the floor again, from the factor, in the place of its vectors.

    Squares in the subspace may have lost digits relative to its own first: what lies under the floor of those is solved
    once more, and so on, or from the triangle of the factor where it is few.
    """
    m = len(values)
    kept = start = _first_below(values, squaring_floor(m) ** 2 * values[0])
    values, found = values.copy(), None
    while start < m:
        # LAPACK's order: ascending, one after the other in memory.
        small = vectors[:, start:][:, ::-1]
        found = _solved_again(operator, small, top=float(values[0]), m=m)
        if found is None:
            break
        values[start:] = found.values[::-1]
        rotate(small, found.rotation, small)
        if found.is_resolved:
            break
        start += max(_first_below(values[start:], squaring_floor(m - start) ** 2 * values[start]), 1)
    repaired = m - kept if start > kept or found is not None else 0
    if (values[1:] <= values[:-1]).all():
        return values, vectors, repaired
    order = np.argsort(-values, kind="stable")
    return values[order], vectors[:, order], repaired


def _first_below(falling: HostArray, level: float) -> int:
    return int(np.searchsorted(-falling, -level))


class _Solved(NamedTuple):
    """Eigenvalues of A within a subspace, ascending, the rotation to its eigenvectors, and if all digits are there."""

    values: HostArray
    rotation: HostArray
    is_resolved: bool


def _solved_again(operator: SymmetricOperator, small: HostArray, *, top: float, m: int) -> _Solved | None:
    """Solve A within a subspace by products with its factor; ``None`` without a factor."""
    V = from_host(small, like=operator.like())
    inner = operator.inner(V)
    if inner is not None:
        values, rotation = _pairs_in_place(inner)
        values = np.maximum(values, 0.0)
        is_resolved = _is_resolved(values[::-1], top, m)
        # Pairs that are repaired from the triangle at once: of more, squares are solved again where they lost digits,
        # which takes a pass more, half the time and a third of the memory.
        if is_resolved or len(values) > 256:
            return _Solved(values, rotation, is_resolved)
    triangle = operator.root(V)
    if triangle is None:
        return None
    _, singular, right = np.linalg.svd(_square(triangle, small.shape[1]))
    return _Solved(singular[::-1] ** 2, right[::-1].T, is_resolved=True)


def _pairs_in_place(matrix: HostArray) -> tuple[HostArray, HostArray]:
    """Return all eigenpairs, ascending; the vectors take the place of the matrix."""
    matrix = matrix if matrix.flags.f_contiguous else matrix.T
    values, vectors = scipy.linalg.eigh(matrix, driver="evd", overwrite_a=True, check_finite=False)
    return values, vectors


def _is_resolved(squares: HostArray, top: float, m: int) -> bool:
    """Tell whether squares in a subspace are sound: an error of 4 eps times the first costs no digit that is promised.

    That is: a zero stays below the threshold of the rank, m eps s_1; or the last one is well above what a zero would
    come out as, and its error within 35 m eps s_1.
    """
    eps = eps_of(FLOAT64)
    zero = np.sqrt(4 * eps * squares[0])
    if zero <= m * eps * np.sqrt(top) / 2:
        return True
    last = np.sqrt(squares[-1])
    return bool(last >= 10 * zero and 4 * squares[0] / (70 * m) <= last * np.sqrt(top))


def _square(triangle: HostArray, size: int) -> HostArray:
    """Pad a trapezoid (fewer rows than columns) with zero rows."""
    return np.vstack([triangle, np.zeros((size - len(triangle), size))]) if len(triangle) < size else triangle
