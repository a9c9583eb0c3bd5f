"""How many eigenvalues lie above a number: asked of Cholesky, which fails exactly when there are any."""

import numpy as np
import scipy.linalg

from gramian.arrays.namespace import Array, HostArray, to_host


def none_above(matrix: Array, values: HostArray, vectors: Array, level: float) -> bool:
    """Tell whether the matrix without the given pairs has no eigenvalue above ``level``.

    Computes a Cholesky factorization of  level I - (A - V diag(lambda) V'), which exists when every eigenvalue of the
    deflated matrix lies below ``level`` and breaks down when one lies above (Sylvester's law of inertia).

    Cost: m^3 / 3 + 2 m^2 k operations and one more m x m matrix.

    Examples
    --------
    >>> import numpy as np
    >>> A, e = np.diag([3.0, 2.0, 1.0]), np.eye(3)
    >>> none_above(A, np.array([3.0]), e[:, :1], 2.5), none_above(A, np.array([2.0]), e[:, 1:2], 2.5)
    (True, False)
    """
    V = to_host(vectors)
    shifted = (V * values) @ V.T
    shifted -= to_host(matrix)
    shifted[np.diag_indices_from(shifted)] += level
    try:
        scipy.linalg.cholesky(shifted, lower=True, overwrite_a=True, check_finite=False)
    except scipy.linalg.LinAlgError:
        return False
    return True
