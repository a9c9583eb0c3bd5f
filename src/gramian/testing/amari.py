"""How far an unmixing is from the truth, when only order, sign and scale are free."""

import numpy as np

from gramian.arrays.namespace import HostArray


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
