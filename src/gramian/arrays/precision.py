"""Floating-point types, and every tolerance derived from them.

One home for the constants of the arithmetic: what "zero" means for a singular value, what
"converged" means by default, and when squaring the data has cost too many digits.
"""

from functools import cache
from typing import Any

import numpy as np

FLOAT32 = np.dtype(np.float32)
FLOAT64 = np.dtype(np.float64)

HOUSE_TOLERANCE = {FLOAT64: 1e-10, FLOAT32: 1e-6}
"""Largest residual, relative to the first eigenvalue, at which a pair counts as converged."""


@cache
def eps_of(dtype: np.dtype[Any]) -> float:
    """Return the distance from 1 to the next number of ``dtype``.

    Examples
    --------
    >>> import numpy as np
    >>> eps_of(np.dtype("float64")) == 2.0**-52
    True
    """
    return float(np.finfo(dtype).eps)


def resolve_tolerance(tol: float, dtype: np.dtype[Any]) -> float:
    """Return ``tol``, or the house default for rows of ``dtype`` when it is zero."""
    return tol if tol > 0 else HOUSE_TOLERANCE[np.dtype(dtype)]


def rank_threshold(n: int, d: int, eps: float) -> float:
    """Return the share of the first singular value, min(n, d) eps, under which another one counts as zero."""
    return min(n, d) * eps


def squaring_floor(m: int) -> float:
    """Return the share of s_1 under which a singular value is not read off a Gram matrix.

    A Gram matrix carries an error of about c eps s_1^2, so a singular value s comes out wrong by
    c eps s_1^2 / (2 s). That stays within 35 m eps s_1 while  s >= c s_1 / (70 m); the constant c, a
    few units for SYRK followed by a backward-stable eigensolver, is taken as 4.
    """
    return max(4.0 / (70.0 * max(m, 1)), 1e-5)
