"""A kernel matrix held in memory, and how small its eigenvalues may be and still keep digits of their own."""

import numpy as np

from gramian.arrays.namespace import HostArray
from gramian.operators.held import HeldMatrix

SMALL_VALUE = 1e-2
"""Eigenvalues under this share of the first have their residuals held to their own size."""


class HeldKernel(HeldMatrix):
    """A centered kernel matrix that was given: as :class:`HeldMatrix`, small values found to their own size.

    Examples
    --------
    >>> HeldKernel(np.diag([1.0, 1e-4])).amplification(np.array([1.0, 1e-4]))
    array([  1., 100.])
    """

    def amplification(self, values: HostArray) -> HostArray:
        """Return 0.01 lambda_1 / lambda_i where that is above one, and at most a million."""
        return small_value_amplification(values, least=1e-8)


def small_value_amplification(values: HostArray, *, least: float) -> HostArray:
    """Return by how much smaller than tol lambda_1 the residual of each value has to be.

    Computes  max(1, 0.01 lambda_1 / lambda_i),  values under ``least`` lambda_1 counting as that. A residual of
    tol lambda_1 says nothing of an eigenvalue of 1e-6 lambda_1; above 0.01 lambda_1 values are good to about
    residual^2 / gap and need no more.
    """
    top = max(float(np.max(values, initial=0.0)), np.finfo(float).tiny)
    return np.asarray(np.maximum(SMALL_VALUE / np.maximum(values / top, least), 1.0))
