"""What a solver returns, and the contract it keeps."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gramian.arrays.namespace import Array, HostArray
from gramian.operators.symmetric import SymmetricOperator


class Probe(NamedTuple):
    """A random search of the space beside the pairs found: its Gaussian columns, and the products made from them."""

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
        Sum of the squares of all eigenvalues, where the matrix was held and they are not known one by one.
    error : float
        Of the products that the pairs rest on, relative to the largest eigenvalue: what float32 ones have, where the
        tolerance allows for them.
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


class EigenSolver(ABC):
    """A method for the k largest eigenpairs: a frozen value that prints, compares and pickles."""

    @abstractmethod
    def solve(self, operator: SymmetricOperator, k: int, *, seed: int = 0) -> EigenPairs:
        """Return the ``k`` largest eigenpairs of ``operator``."""
