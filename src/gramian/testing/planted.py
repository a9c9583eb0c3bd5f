"""Rows and matrices whose spectrum is known because it was put there."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import hadamard

Array = npt.NDArray[Any]
Values = Sequence[float] | Array

__all__ = ["Planted", "exact_rows", "exact_symmetric", "haar", "rows_with_spectrum", "symmetric_with_spectrum"]

# Values of the exact makers are rounded to this many bits below the largest, so that a
# sum of 2^12 of them still fits in the 53 bits of a float64 and nothing is ever rounded.
EXACT_BITS = 40


@dataclass(frozen=True)
class Planted:
    """The truth behind planted rows.

    Parameters
    ----------
    values : array of shape (k,)
        Eigenvalues of the covariance, largest first, with divisor ``n - ddof``.
    singular_values : array of shape (k,)
        Of the centered rows: sqrt((n - ddof) values).
    vectors : array of shape (d, k)
        Its unit eigenvectors, as columns.
    scores : array of shape (n, k)
        Centered rows times ``vectors``.
    mean : array of shape (d,)
        Mean of the rows before any rounding to the data's type.
    ddof : int
        What is taken from n in the divisor.
    """

    values: Array
    singular_values: Array
    vectors: Array
    scores: Array
    mean: Array
    ddof: int = 1


def haar(m: int, k: int, *, seed: int) -> Array:
    """Orthonormal columns (m, k), uniform over all such frames.

    Computes  Q of the QR factorization of a Gaussian matrix, with the signs of R's
    diagonal moved into Q (Mezzadri, 2007, arXiv:math-ph/0609050).

    Examples
    --------
    >>> haar(5, 2, seed=0).shape
    (5, 2)
    """
    Q, R = np.linalg.qr(np.random.default_rng(seed).standard_normal((m, k)))
    return np.asarray(Q * np.sign(np.diag(R)))


def rows_with_spectrum(
    n: int, d: int, values: Values, *, mean: float | Array = 0.0, dtype: str = "float64", seed: int = 0, ddof: int = 1
) -> tuple[Array, Planted]:
    """Rows whose covariance has the given leading eigenvalues, and zeros after them.

    Computes  X = U diag(sqrt((n - ddof) values)) V' + mean,  U orthonormal and orthogonal
    to the ones vector, V orthonormal, both Haar. What is stored differs from the plan by
    the rounding of ``dtype``; where that matters use :func:`exact_rows`, or ask
    :mod:`gramian.testing.truth` for the spectrum of what is stored.

    Parameters
    ----------
    n, d : int
        Rows and features.
    values : sequence of float
        At most min(n - 1, d) eigenvalues, largest first.
    mean : float or array of shape (d,)
    dtype : str
    seed : int
    ddof : int
        The divisor of the covariance is n - ddof.

    Returns
    -------
    X : array of shape (n, d)
    planted : Planted

    Examples
    --------
    >>> X, planted = rows_with_spectrum(60, 12, [9.0, 4.0, 1.0], seed=0)
    >>> X.shape, planted.vectors.shape
    ((60, 12), (12, 3))
    >>> round(float(X.var(axis=0, ddof=1).sum()), 10)
    14.0
    """
    lam = np.asarray(values, dtype=np.float64)
    k = lam.size
    if k > min(n - 1, d):
        message = f"{k} values do not fit: {n} centered rows of {d} features have rank {min(n - 1, d)} at most."
        raise ValueError(message)
    U = _centered_frame(n, k, seed=seed)
    V = haar(d, k, seed=seed + 1)
    s = np.sqrt((n - ddof) * lam)
    center = np.broadcast_to(np.asarray(mean, dtype=np.float64), (d,)).copy()
    X = ((U * s) @ V.T + center).astype(dtype)
    return X, Planted(values=lam, singular_values=s, vectors=V, scores=U * s, mean=center, ddof=ddof)


def _centered_frame(n: int, k: int, *, seed: int) -> Array:
    """Haar columns (n, k) inside the complement of the ones vector."""
    G = np.random.default_rng(seed).standard_normal((n, k))
    Q = np.linalg.qr(G - G.mean(axis=0))[0]
    # Once more: QR brings back a rounding error along the ones vector.
    return np.asarray(np.linalg.qr(Q - Q.mean(axis=0))[0])


def symmetric_with_spectrum(values: Values, *, seed: int = 0) -> tuple[Array, Array]:
    """Symmetric matrix with these eigenvalues (to rounding) and Haar eigenvectors.

    Returns
    -------
    A : array of shape (m, m)
        Symmetric to the last bit.
    V : array of shape (m, m)
        Its eigenvectors, to rounding, in the order of ``values``.

    Examples
    --------
    >>> A, V = symmetric_with_spectrum([3.0, 2.0, 1.0], seed=0)
    >>> round(float(A.trace()), 12)
    6.0
    """
    lam = np.asarray(values, dtype=np.float64)
    V = haar(lam.size, lam.size, seed=seed)
    A = (V * lam) @ V.T
    return (A + A.T) / 2, V


def exact_symmetric(values: Values, *, seed: int = 0) -> tuple[Array, Array, Array]:
    """Symmetric matrix whose eigenvalues and eigenvectors are known to the last bit.

    Computes  A = V diag(lam) V'  with V a Hadamard matrix over sqrt(m), its rows and
    columns shuffled and its signs drawn. With m a power of two and the values rounded to
    40 bits below the largest, every sum fits in a float64, so no rounding happens at all.

    Parameters
    ----------
    values : sequence of float
        As many as a power of two.
    seed : int

    Returns
    -------
    A : array of shape (m, m)
    lam : array of shape (m,)
        The values after rounding to 40 bits: exactly the eigenvalues of A.
    V : array of shape (m, m)
        Eigenvectors as columns, of entries plus or minus 1/sqrt(m).

    Examples
    --------
    >>> A, lam, V = exact_symmetric([4.0, 2.0, 1.0, 0.0], seed=0)
    >>> bool((A @ V == V * lam).all())
    True
    """
    lam = _to_exact_bits(values)
    H = _shuffled_hadamard(lam.size, seed=seed)
    A = (H * lam) @ H.T / lam.size
    return A, lam, H / np.sqrt(lam.size)


def exact_rows(n: int, d: int, singular_values: Values, *, seed: int = 0) -> tuple[Array, Planted]:
    """Rows that are centered, and whose singular values are known, to the last bit.

    Computes  X = U diag(s) V'  with U and V columns of shuffled Hadamard matrices, U
    without the constant one. Needs n and d powers of two whose product is a power of
    four, so that 1/sqrt(n d) is one float.

    Parameters
    ----------
    n, d : int
    singular_values : sequence of float
        At most min(n - 1, d), largest first; rounded to 40 bits below the largest.
    seed : int

    Returns
    -------
    X : array of shape (n, d)
    planted : Planted
        ``vectors`` and ``scores`` are exact when d and n are powers of four.

    Examples
    --------
    >>> X, planted = exact_rows(32, 8, [5.0, 3.0, 1.0], seed=0)
    >>> bool((X.mean(axis=0) == 0.0).all()), planted.singular_values.tolist()
    (True, [5.0, 3.0, 1.0])
    """
    s = _to_exact_bits(singular_values)
    scale = np.sqrt(float(n * d))
    if scale != 2.0 ** np.round(np.log2(scale)):
        message = f"n d = {n} x {d} = {n * d} is not a power of four, so its root is not one float."
        raise ValueError(message)
    if s.size > min(n - 1, d):
        message = f"{s.size} singular values do not fit: the rank is {min(n - 1, d)} at most."
        raise ValueError(message)
    U = _centered_hadamard(n, seed=seed)[:, : s.size]
    V = _shuffled_hadamard(d, seed=seed + 1)[:, : s.size]
    X = (U * (s / scale)) @ V.T
    return X, Planted(
        values=s**2 / (n - 1),
        singular_values=s,
        vectors=V / np.sqrt(d),
        scores=U * (s / np.sqrt(n)),
        mean=np.zeros(d),
    )


def _to_exact_bits(values: Values) -> Array:
    lam = np.asarray(values, dtype=np.float64)
    top = float(np.abs(lam).max(initial=0.0))
    unit = 2.0 ** (np.ceil(np.log2(top)) - EXACT_BITS) if top else 1.0
    return np.asarray(np.round(lam / unit) * unit)


def _shuffled_hadamard(m: int, *, seed: int) -> Array:
    """Hadamard matrix of order m with rows, columns and signs drawn at random."""
    rng = np.random.default_rng(seed)
    H = hadamard(m).astype(np.float64)
    H = H[rng.permutation(m)][:, rng.permutation(m)]
    return np.asarray(rng.choice([-1.0, 1.0], (m, 1)) * H * rng.choice([-1.0, 1.0], m))


def _centered_hadamard(n: int, *, seed: int) -> Array:
    """The n - 1 columns of a Hadamard matrix that sum to zero, shuffled."""
    rng = np.random.default_rng(seed)
    H = hadamard(n).astype(np.float64)[:, 1:]
    H = H[rng.permutation(n)][:, rng.permutation(n - 1)]
    return np.asarray(H * rng.choice([-1.0, 1.0], n - 1))
