"""Dense eigendecomposition of the small matrix, repaired where squaring has cost digits."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg

from gramian.arrays.namespace import HostArray, from_host, to_host
from gramian.arrays.precision import squaring_floor
from gramian.eigen.held_checks import measured_residuals
from gramian.eigen.pairs import EigenPairs, EigenSolver
from gramian.operators.symmetric import SymmetricOperator


@dataclass(frozen=True)
class Direct(EigenSolver):
    """Eigendecomposition of the materialized matrix by LAPACK, in float64 on the host.

    Computes  A = V diag(lambda) V'. Where the wanted eigenvalues reach so far below the first that forming A
    has cost their digits (a singular value under ``squaring_floor`` of the first), that part of the
    spectrum is solved again from the triangle R of a QR factorization of the factor, never squared:
    R = P diag(s) Q',  lambda = s^2, and V is rotated by Q.

    Cost: about 9 m^3 operations for all pairs, 4 m^3 / 3 for few; m^2 numbers. The repair of s pairs: one
    pass and 4 n s^2 operations.

    Not for m in the tens of thousands: use :class:`~gramian.eigen.krylov.Krylov`.

    Parameters
    ----------
    repair : bool, default=True
        Whether lost digits are recovered.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.operators.held import HeldMatrix
    >>> Direct().solve(HeldMatrix(np.diag([1.0, 3.0, 2.0])), 2).values
    array([3., 2.])
    """

    repair: bool = True

    def solve(self, operator: SymmetricOperator, k: int, *, seed: int = 0) -> EigenPairs:
        """Return the ``k`` largest eigenpairs of ``operator``."""
        held = operator.materialize()
        matrix = to_host(held.matrix)
        values, vectors = dense_pairs(matrix, k)
        repaired = 0
        if self.repair and _has_lost_digits(values[:k], len(matrix)):
            if len(values) < len(matrix):
                values, vectors = dense_pairs(matrix, len(matrix))
            values, vectors, repaired = _repaired(operator, values, vectors)
        pairs = _as_pairs(matrix, values, vectors, k, seed)
        return replace(
            pairs,
            vectors=from_host(pairs.vectors, like=held.like()),
            applications=operator.applications,
            stopped=f"dense solve; {repaired} small values recomputed by QR" if repaired else "dense solve",
            repaired=repaired,
        )


def dense_pairs(matrix: HostArray, k: int) -> tuple[HostArray, HostArray]:
    """Return eigenvalues, descending, and eigenvectors: all of them, or k + 1 when k is a small part."""
    m = len(matrix)
    if m < 32 or k >= m // 3:
        values, vectors = np.linalg.eigh(matrix) if m < 512 else _all_pairs(matrix)
    else:
        subset = [m - k - 1, m - 1]
        values, vectors = scipy.linalg.eigh(matrix, driver="evr", subset_by_index=subset, check_finite=False)
        if len(values) <= k:
            # Of a spectrum that is one eigenvalue many times over, this driver may find none (seen for I - 11'/300).
            values, vectors = _all_pairs(matrix)
    return values[::-1], vectors[:, ::-1]


def _all_pairs(matrix: HostArray) -> Any:
    return scipy.linalg.eigh(matrix, driver="evd", check_finite=False)


def _as_pairs(matrix: HostArray, values: HostArray, vectors: HostArray, k: int, seed: int) -> EigenPairs:
    wanted = np.ascontiguousarray(vectors[:, :k])
    return EigenPairs(
        values=values[:k].copy(),
        vectors=wanted,
        residuals=measured_residuals(matrix, values[:k], wanted, seed=seed),
        applications=0,
        converged=k,
        stopped="dense solve",
        complete=True,
        next_value=float(values[k]) if len(values) > k else None,
        spectrum=values if len(values) == len(matrix) else None,
    )


def _has_lost_digits(values: HostArray, m: int) -> bool:
    return bool(len(values)) and bool(values[-1] < squaring_floor(m) ** 2 * values[0])


def _repaired(operator: SymmetricOperator, values: HostArray, vectors: HostArray) -> tuple[HostArray, HostArray, int]:
    """Solve the part of the spectrum under the floor again, from the triangle of the factor."""
    m = len(values)
    kept = int(np.searchsorted(-values, -(squaring_floor(m) ** 2) * values[0]))
    small = np.ascontiguousarray(vectors[:, kept:])
    triangle = operator.root(from_host(small, like=operator.like()))
    if triangle is None:
        return values, vectors, 0
    _, singular, right = np.linalg.svd(_square(triangle, m - kept))
    values = np.concatenate([values[:kept], singular**2])
    vectors = np.hstack([vectors[:, :kept], small @ right.T])
    order = np.argsort(-values, kind="stable")
    return values[order], vectors[:, order], m - kept


def _square(triangle: HostArray, size: int) -> HostArray:
    """Pad a trapezoid (fewer rows than columns) with zero rows."""
    return np.vstack([triangle, np.zeros((size - len(triangle), size))]) if len(triangle) < size else triangle
