"""How far an answer is from the truth: angles between subspaces to the last digit, and the distance of an unmixing."""

from typing import Any

import numpy as np
import numpy.typing as npt

from gramian.arrays.namespace import HostArray

Array = npt.NDArray[Any]


def _orthonormal(V: Array) -> Array:
    """Orthonormal basis (m, k) of the columns of V, in float64."""
    columns = np.asarray(V, dtype=np.float64)
    columns = columns[:, np.newaxis] if columns.ndim == 1 else columns
    return np.asarray(np.linalg.qr(columns)[0])


def largest_angle(V: Array, W: Array) -> float:
    """Largest principal angle, in radians, between the column spaces of V and W.

    Computes  arcsin |W - V V'W|_2  after an orthonormal basis is taken of each, with
    the smaller space held against the larger one (their order does not matter).
    The sine is used because the cosine of an angle below 1e-8 is 1 in float64
    (Bjorck and Golub, 1973, doi:10.2307/2005662).

    Cost: 4 m k^2 flops. Not for comparing single vectors inside a tie: any rotation
    of them is as right, so compare the whole tied space.

    Parameters
    ----------
    V, W : array of shape (m, k) or (m,)
        Bases, as columns; they need not be orthonormal but must have full rank.

    Returns
    -------
    angle : float
        Between 0 and pi/2.

    Examples
    --------
    >>> import numpy as np
    >>> round(largest_angle(np.array([1.0, 0.0]), np.array([1.0, 1e-12])) * 1e12, 6)
    1.0
    """
    V, W = _orthonormal(V), _orthonormal(W)
    if V.shape[0] != W.shape[0]:
        message = f"V has {V.shape[0]} rows and W has {W.shape[0]}: they span parts of different spaces."
        raise ValueError(message)
    if 0 in (V.shape[1], W.shape[1]):
        return 0.0
    large, small = (V, W) if V.shape[1] >= W.shape[1] else (W, V)
    sine = np.linalg.norm(small - large @ (large.T @ small), 2)
    return float(np.arcsin(min(1.0, float(sine))))


def assert_same_subspace(V: Array, W: Array, *, tol: float | None = None) -> None:
    """Fail unless V and W have as many columns and span the same space.

    Parameters
    ----------
    V, W : array of shape (m, k) or (m,)
    tol : float, optional
        Largest angle allowed, in radians; by default the square root of the coarser
        rounding unit of the two.

    Examples
    --------
    >>> import numpy as np
    >>> assert_same_subspace(np.eye(3)[:, :2], np.array([[1.0, 1.0], [1.0, -1.0], [0.0, 0.0]]))
    """
    k_left, k_right = _columns(V), _columns(W)
    if k_left != k_right:
        message = f"The first space has {k_left} columns and the second {k_right}."
        raise AssertionError(message)
    allowed = tol if tol is not None else max(_eps(V), _eps(W)) ** 0.5
    angle = largest_angle(V, W)
    if not angle <= allowed:
        message = f"The largest angle between the spaces is {angle:.3g}, and {allowed:.3g} is allowed."
        raise AssertionError(message)


def orthonormality_error(V: Array) -> float:
    """Size of V'V - I in the spectral norm.

    Examples
    --------
    >>> import numpy as np
    >>> orthonormality_error(2.0 * np.eye(3))
    3.0
    """
    V = np.asarray(V, dtype=np.float64)
    return float(np.linalg.norm(V.T @ V - np.eye(V.shape[1]), 2)) if V.shape[1] else 0.0


def _columns(V: Array) -> int:
    return 1 if np.ndim(V) == 1 else int(np.shape(V)[1])


def _eps(V: Array) -> float:
    dtype = np.asarray(V).dtype
    return float(np.finfo(dtype if dtype.kind == "f" else np.float64).eps)


def amari_distance(unmixing: HostArray, mixing: HostArray) -> float:
    """Return the Amari distance of an unmixing matrix (k, d) from a mixing matrix (d, k).

    Computes, with  P = |unmixing mixing|,  the mean over rows and columns of  (sum / max - 1) / (k - 1): zero when P is
    a permutation times a scale of each source, one when nothing was unmixed (Amari, Cichocki and Yang, 1996).

    Examples
    --------
    >>> amari_distance(np.array([[0.0, 2.0], [-1.0, 0.0]]), np.eye(2))
    0.0
    """
    P = np.abs(np.asarray(unmixing, dtype=np.float64) @ np.asarray(mixing, dtype=np.float64))
    k = len(P)
    if k == 1:
        return 0.0
    # Rows of P may have any scale: sources are compared at the same one.
    P = P / P.max(axis=1, keepdims=True)
    rows = P.sum(axis=1) - 1.0
    columns = P.sum(axis=0) / P.max(axis=0) - 1.0
    return float((rows.sum() + columns.sum()) / (2 * k * (k - 1)))


def mixed_sources(n: int, k: int, *, seed: int, dtype: str = "float64") -> HostArray:
    """Draw k independent sources of unit variance, in turn peaked (Laplace) and flat (uniform) (n, k).

    Examples
    --------
    >>> mixed_sources(1000, 3, seed=0).shape
    (1000, 3)
    """
    rng = np.random.default_rng(seed)
    columns = [
        rng.laplace(scale=np.sqrt(0.5), size=n) if j % 2 else rng.uniform(-np.sqrt(3), np.sqrt(3), n) for j in range(k)
    ]
    return np.column_stack(columns).astype(dtype)
