"""Matrices that break careless singular value code: Laeuchli, Hilbert, Kahan, graded."""

from typing import Any

import numpy as np
import numpy.typing as npt

from gramian.testing.planted import haar

Array = npt.NDArray[Any]

__all__ = ["graded", "hilbert", "kahan", "laeuchli"]


def laeuchli(n: int, d: int, *, mu: float = 2.0**-30) -> Array:
    """Laeuchli's matrix: a row of ones over mu times the identity.

    Its Gram matrix 1 1' + mu^2 I rounds to 1 1' once mu^2 is below eps, so whoever
    squares it finds zeros where the singular values are mu (Laeuchli, 1961,
    doi:10.1007/BF01386022).

    Parameters
    ----------
    n, d : int
        Any shape: the pattern is cut or followed by zero rows; a wide one is transposed.
    mu : float

    Examples
    --------
    >>> laeuchli(3, 2, mu=0.5).tolist()
    [[1.0, 1.0], [0.5, 0.0], [0.0, 0.5]]
    """
    if n < d:
        return laeuchli(d, n, mu=mu).T
    X = mu * np.eye(n, d, k=-1)
    X[0] = 1.0
    return X


def hilbert(n: int, d: int) -> Array:
    """Hilbert's matrix 1 / (i + j + 1): singular values that fall geometrically to zero.

    Examples
    --------
    >>> hilbert(2, 2).tolist()
    [[1.0, 0.5], [0.5, 0.3333333333333333]]
    """
    return np.asarray(1.0 / (np.arange(n)[:, np.newaxis] + np.arange(d) + 1.0))


def kahan(n: int, d: int, *, theta: float = 0.8) -> Array:
    """Kahan's triangular matrix, nearly singular with no small entry on its diagonal.

    Computes  diag(1, s, s^2, ...) (I - c N)  with s, c the sine and cosine of theta and
    N the strictly upper triangle of ones (Kahan, 1966, doi:10.4153/CMB-1966-083-2).
    With 32 columns and theta = 0.8 the smallest singular value is 1e-12 of the first. Tall shapes are followed by zero
    rows, wide ones go on to the right.

    Examples
    --------
    >>> kahan(2, 2, theta=float(np.pi / 2)).round(12).tolist()
    [[1.0, -0.0], [0.0, 1.0]]
    """
    row_scale = np.sin(theta) ** np.arange(n)
    row_scale[min(n, d) :] = 0.0
    T = np.eye(n, d) - np.cos(theta) * np.triu(np.ones((n, d)), k=1)
    return np.asarray(row_scale[:, np.newaxis] * T)


def graded(n: int, d: int, *, orders: float = 16.0, seed: int = 0) -> Array:
    """Haar singular vectors and singular values evenly graded over many orders of magnitude.

    Examples
    --------
    >>> np.linalg.svd(graded(9, 3, orders=4.0), compute_uv=False).round(8).tolist()
    [1.0, 0.01, 0.0001]
    """
    m = min(n, d)
    s = 10.0 ** -np.linspace(0.0, orders, m)
    return np.asarray((haar(n, m, seed=seed) * s) @ haar(d, m, seed=seed + 1).T)
