"""Singular values of centered rows in more than double precision.

Two independent ways: one-sided Jacobi in NumPy's ``longdouble`` (64 bits of mantissa on
x86, fast enough for tests), and mpmath (any number of digits, slow), which checks it.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

__all__ = ["centered", "jacobi_svd", "mpmath_singular_values", "singular_values"]

MAX_SWEEPS = 60


def has_long_double() -> bool:
    """Whether ``longdouble`` carries more digits than float64 on this platform."""
    return bool(np.finfo(np.longdouble).eps < 1e-18)


def centered(X: Array) -> Array:
    """Rows less their mean, in long double, right to the last digits of the spread.

    The float64 mean is taken first, where the difference loses nothing that matters, and
    the mean of what is left afterwards: one step alone would carry the rounding of a
    mean 1e8 times the spread into the answer.

    Examples
    --------
    >>> import numpy as np
    >>> centered(np.array([[1e8], [1e8 + 1.0]])).astype(float).tolist()
    [[-0.5], [0.5]]
    """
    rows = np.asarray(X, dtype=np.longdouble)
    shifted = rows - np.asarray(X, dtype=np.float64).mean(axis=0)
    return np.asarray(shifted - shifted.mean(axis=0))


def singular_values(X: Array, *, center: bool = True) -> Array:
    """All min(n, d) singular values of X, or of X centered, largest first, in long double.

    Cost: about ten Jacobi sweeps of 6 n d min(n, d) long double operations; meant for
    matrices of up to about a hundred columns.

    Examples
    --------
    >>> import numpy as np
    >>> singular_values(np.array([[3.0, 0.0], [0.0, 4.0]]), center=False).astype(float).tolist()
    [4.0, 3.0]
    """
    if not has_long_double():
        return mpmath_singular_values(X, center=center)
    rows = centered(X) if center else np.asarray(X, dtype=np.longdouble)
    return jacobi_svd(rows)[0]


def jacobi_svd(A: Array) -> tuple[Array, Array]:
    """Singular values and right singular vectors of A by one-sided Jacobi, in A's precision.

    Computes  A J_1 J_2 ... with plane rotations until all columns are orthogonal to
    rounding; their norms are then the singular values (Hestenes, 1958,
    doi:10.1137/0106005). Columns are paired by a round-robin tournament, so that a half
    of them turn in one vectorized step.

    Returns
    -------
    s : array of shape (min(n, d),)
        Largest first.
    V : array of shape (d, d)
        Right singular vectors, as columns; a wide A gives (d, min(n, d)) of them.

    Examples
    --------
    >>> import numpy as np
    >>> s, V = jacobi_svd(np.array([[1.0, 1.0], [1.0, -1.0]]) * [3.0, 1.0])
    >>> (s / np.sqrt(2)).round(12).tolist()
    [3.0, 1.0]
    """
    n, d = A.shape
    if n < d:
        s, left = jacobi_svd(np.ascontiguousarray(A.T))
        return s, _divide_columns(A.T @ left, s)
    # Columns are kept as rows of W, next to the rotations, so that each step is contiguous.
    W = np.ascontiguousarray(np.concatenate([A, np.eye(d, dtype=A.dtype)]).T)
    for _ in range(MAX_SWEEPS):
        if not _sweep(W, n):
            break
    norms = np.sqrt((W[:, :n] ** 2).sum(axis=1))
    order = np.argsort(-norms, kind="stable")
    return norms[order], np.ascontiguousarray(W[order, n:].T)


def _sweep(W: Array, n: int) -> bool:
    """Rotate every pair of rows of W once; whether any pair still had to turn."""
    turned = False
    for left, right in _tournament(W.shape[0]):
        turned |= _rotate(W, left, right, n)
    return turned


def _rotate(W: Array, left: Array, right: Array, n: int) -> bool:
    """Make rows ``left`` orthogonal to rows ``right`` in their first n entries."""
    P, Q = W[left], W[right]
    a, b, c = ((P[:, :n] ** 2).sum(1), (Q[:, :n] ** 2).sum(1), (P[:, :n] * Q[:, :n]).sum(1))
    eps = np.finfo(W.dtype).eps
    turn = np.abs(c) > eps * np.sqrt(a) * np.sqrt(b)
    if not turn.any():
        return False
    zeta = (b - a) / np.where(turn, 2 * c, 1)
    t = np.where(zeta >= 0, 1, -1) / (np.abs(zeta) + np.hypot(1, zeta))
    t = np.where(turn, t, 0)
    cosine = (1 / np.hypot(1, t))[:, np.newaxis]
    sine = cosine * t[:, np.newaxis]
    W[left], W[right] = cosine * P - sine * Q, sine * P + cosine * Q
    return True


def _tournament(d: int) -> list[tuple[Array, Array]]:
    """Rounds in which every pair of d players meets once, as index arrays."""
    players = list(range(d + d % 2))
    rounds = []
    for _ in range(len(players) - 1):
        half = len(players) // 2
        pairs = [(p, q) for p, q in zip(players[:half], players[: half - 1 : -1], strict=True) if max(p, q) < d]
        if pairs:
            rounds.append((np.array([p for p, _ in pairs]), np.array([q for _, q in pairs])))
        players = [players[0], players[-1], *players[1:-1]]
    return rounds


def _divide_columns(V: Array, s: Array) -> Array:
    return np.asarray(V / np.where(s > 0, s, 1))


def mpmath_singular_values(X: Array, *, center: bool = True, digits: int = 50) -> Array:
    """Singular values of X, or of X centered, by mpmath with ``digits`` digits, as long doubles.

    Slow (a second for 40 x 40): it is there to check :func:`jacobi_svd`, and to serve
    where ``longdouble`` is float64. Needs mpmath.

    Examples
    --------
    >>> import numpy as np
    >>> mpmath_singular_values(np.array([[1.0], [3.0]])).astype(float).round(12).tolist()
    [1.414213562373]
    """
    import mpmath

    with mpmath.workdps(digits):
        A = mpmath.matrix(np.asarray(X, dtype=np.float64).tolist())
        if center:
            for j in range(A.cols):
                mean = mpmath.fsum(A[:, j]) / A.rows
                for i in range(A.rows):
                    A[i, j] -= mean
        tall = A if A.rows >= A.cols else A.T
        values = mpmath.svd_r(tall, compute_uv=False)
        return np.asarray([np.longdouble(mpmath.nstr(s, 30)) for s in values])
