"""The contract of an eigensolver: what it may be given, what it does, and what it returns."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from gramian.arrays.namespace import Array, HostArray, dtype_of, from_host, is_numpy, namespace_of, to_host
from gramian.arrays.precision import eps_of
from gramian.errors import ConvergenceWarning, users_line
from gramian.operators.symmetric import SymmetricOperator

Watch = Callable[[int, float], None]
"""Told of each step of a solver: the products made, and the worst residual relative to the first eigenvalue."""


class Approximation(NamedTuple):
    """Leading pairs of an operator near the one to be solved, or of that operator itself.

    Attributes
    ----------
    values : numpy array (p,)
        Descending, positive.
    vectors : array (m, p)
        Nearly orthonormal columns; float32 will do.
    """

    values: HostArray
    vectors: Array


class Probe(NamedTuple):
    """A random search of the space orthogonal to the pairs found: its Gaussian columns, and its products."""

    columns: int
    steps: int


@dataclass(frozen=True, eq=False)
class EigenPairs:
    """Leading eigenpairs of a symmetric operator, and how they were come by.

    Attributes
    ----------
    values : numpy array (k,), float64
        Eigenvalues, descending.
    vectors : array (m, k)
        Orthonormal columns, in the library of the operator.
    residuals : numpy array (k,)
        Measured norms |A v - lambda v|.
    applications : int
        Products with the operator; each at least one pass over the data.
    converged : int
        How many leading pairs meet the tolerance.
    stopped : str
        Why the method stopped, in words.
    complete : bool
        Whether a dense solve ranked every eigenvalue, so that none can have been missed.
    next_value : float or None
        Eigenvalue k + 1, or the best estimate of it.
    probe : Probe or None
        The random search that a claim of "none missed" can rest on.
    spectrum : numpy array or None
        Every eigenvalue, where all are known.
    repaired : int
        How many of the values were recomputed from a triangle because squaring had cost their digits.
    compression : Compression or None
        What else the iteration knows of the operator.
    square_sum : float or None
        Sum of the squares of all eigenvalues, where the matrix was formed and they are not known one by one.
    error : float
        Of the products that the pairs rest on, relative to the largest eigenvalue: what float32 ones have, where the
        tolerance allows for them.
    formed : SymmetricOperator or None
        The operator with its matrix, where the solver formed it on the way: what the pairs are to be checked by.
    trace : PowerTrace or None
        What the power method saw at each step.
    """

    values: HostArray
    vectors: Array
    residuals: HostArray
    applications: int
    converged: int
    stopped: str
    complete: bool = False
    next_value: float | None = None
    probe: Probe | None = None
    spectrum: HostArray | None = None
    repaired: int = 0
    compression: "Compression | None" = None
    square_sum: float | None = None
    error: float = 0.0
    formed: SymmetricOperator | None = None
    trace: "PowerTrace | None" = None


@dataclass(frozen=True, eq=False)
class Compression:
    """An operator seen from the last basis Q of an iteration:  A = Q T Q' + Q R' + R Q' + the rest.

    Attributes
    ----------
    values : numpy array (p,)
        All Ritz values, the eigenvalues of T = Q'A Q, descending. The last one bounds the smallest eigenvalue of A from
        above.
    coupling : float
        |R|_F,  R = A Q - Q T.
    """

    values: HostArray
    coupling: float


@dataclass(frozen=True, eq=False)
class PowerTrace:
    """What the power method saw at each step, for all pairs one after the other (s steps in all).

    Attributes
    ----------
    component : numpy array (s,) of int
        Which pair was looked for, from 0.
    value : numpy array (s,)
        Rayleigh quotient  v'A v.
    residual : numpy array (s,)
        |A v - (v'A v) v|.
    angle : numpy array (s,)
        Between v and the vector that the iteration ended at, in radians; to about 1e-6.
    """

    component: HostArray
    value: HostArray
    residual: HostArray
    angle: HostArray

    def of(self, component: int) -> "PowerTrace":
        """Return the steps of one pair."""
        return self._some(self.component == component)

    def leading(self, k: int) -> "PowerTrace":
        """Return the steps of the first ``k`` pairs."""
        return self._some(self.component < k)

    def _some(self, kept: HostArray) -> "PowerTrace":
        return PowerTrace(self.component[kept], self.value[kept], self.residual[kept], self.angle[kept])

    @property
    def n_steps(self) -> HostArray:
        """Steps that each pair took."""
        return np.bincount(self.component)

    def scaled(self, factor: float) -> "PowerTrace":
        """Return the trace of a multiple of the operator."""
        return replace(self, value=self.value * factor, residual=self.residual * factor)


def warn_unconverged(who: str, pairs: EigenPairs, k: int, *, tol: float, advice: str) -> None:
    """Say so when fewer than ``k`` pairs have converged: which ones are good, and what to do for the rest."""
    top = float(pairs.values[0]) if len(pairs.values) else 0.0
    worst = float(np.max(pairs.residuals)) / top if top > 0 else np.inf
    message = (
        f"{who} stopped with {pairs.converged} of {k} pairs converged ({pairs.stopped}; worst residual {worst:.0e}, "
        f"tol {tol:.0e}, relative to the first eigenvalue). The first {pairs.converged} are good; for the rest loosen "
        f"tol, {advice}."
    )
    warnings.warn(message, ConvergenceWarning, stacklevel=users_line())


def sum_of_squares(matrix: HostArray) -> float:
    """Return the sum of the squares of a symmetric matrix's eigenvalues: that of its entries, inf where it overflows.

    Examples
    --------
    >>> import numpy as np
    >>> round(sum_of_squares(np.diag([3.0, 1.0])), 12)
    10.0
    """
    with np.errstate(over="ignore"):
        return float(np.linalg.norm(matrix) ** 2)


def signs_of(vectors: Array) -> Array:
    """Return +1 or -1 a column so that its largest entry, the first within 10 eps of it, becomes positive.

    Examples
    --------
    >>> import numpy as np
    >>> signs_of(np.array([[0.6, -0.8], [0.8, 0.6]]))
    array([ 1., -1.])
    """
    if is_numpy(vectors):
        high, low = vectors.max(axis=0), -vectors.min(axis=0)
    else:
        xp = namespace_of(vectors)
        high, low = to_host(xp.max(vectors, axis=0)), -to_host(xp.min(vectors, axis=0))
    lead, near = high - low, 10 * eps_of(dtype_of(vectors))
    signs = np.copysign(1.0, lead)
    for j in (np.abs(lead) <= near * np.maximum(high, low)).nonzero()[0]:
        column = to_host(vectors[:, int(j)])
        sizes = np.abs(column)
        signs[j] = -1.0 if column[np.argmax(sizes >= sizes.max() * (1 - near))] < 0 else 1.0
    return from_host(signs, like=vectors, dtype=dtype_of(vectors))


class EigenSolver(ABC):
    """A method for the k largest eigenpairs: a frozen value that prints, compares and pickles.

    Attributes
    ----------
    is_dense : bool
        Whether it forms the matrix and ranks every eigenvalue, so that the answer needs no other solver's help.
    gains_from_start : bool
        Whether pairs known before save products.
    """

    is_dense: ClassVar[bool] = False

    @property
    def gains_from_start(self) -> bool:
        """Whether pairs known before save products."""
        return False

    @abstractmethod
    def solve(
        self,
        operator: SymmetricOperator,
        k: int,
        *,
        seed: int = 0,
        start: Approximation | None = None,
        watch: Watch | None = None,
    ) -> EigenPairs:
        """Return the ``k`` largest eigenpairs of ``operator``.

        Parameters
        ----------
        operator : SymmetricOperator
        k : int
        seed : int, default=0
            Of the random columns.
        start : Approximation, optional
            What is known of the leading pairs; a hint that a solver may leave aside.
        watch : callable, optional
            Called after each step with the products made so far and the worst residual of a wanted pair, relative to
            the first eigenvalue, as far as it is known then.
        """
