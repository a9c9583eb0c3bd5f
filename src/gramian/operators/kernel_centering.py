"""Centering of a kernel matrix that is held, in place."""

import numpy as np

from gramian.arrays.namespace import HostArray


def center_matrix(matrix: HostArray, weights: HostArray | None, *, centered: bool = True) -> tuple[HostArray, float]:
    """Replace K by  P D K D P  (D K D where it is not centered); return its row means and grand mean before that.

    Means count rows by their weights.

    Examples
    --------
    >>> K = np.array([[2.0, 0.0], [0.0, 4.0]])
    >>> center_matrix(K, None)
    (array([1., 2.]), 1.5)
    >>> K
    array([[ 1.5, -1.5],
           [-1.5,  1.5]])
    """
    w = np.ones(len(matrix)) if weights is None else weights
    total = float(w.sum())
    # Divided last: the mean of equal values is then that value.
    means = matrix @ w / total
    grand = float(w @ means) / total
    if centered:
        matrix -= means
        matrix -= (means - grand)[:, None]
        center_again(matrix, w / total)
    if weights is not None:
        matrix *= np.sqrt(np.outer(w, w))
    return means, grand


def center_again(matrix: HostArray, shares: HostArray) -> None:
    """Take off a centered matrix, in place, the means that the rounding of its first means has left: n eps |K|."""
    matrix -= shares @ matrix
    matrix -= (matrix @ shares)[:, None]
