"""What the measured rounding of kernel values cannot exceed: known from the rows' lengths, before it is measured.

Where every eigenvalue that counts is above this ceiling, no answer depends on the measurement, and it can wait until
somebody reads the bounds that it is a part of.
"""

import numpy as np

from gramian.arrays.namespace import HostArray, is_numpy
from gramian.arrays.precision import FLOAT32, FLOAT64, eps_of
from gramian.kernels.blocks import shifted, squared_norms
from gramian.kernels.inner_product import Cosine, Linear, Polynomial
from gramian.kernels.radial import Gaussian
from gramian.operators.kernel_gram import KernelGram
from gramian.operators.kernel_precision import FARTHEST_ROWS, ROUNDED_ROWS, ROUNDING_CAUTION
from gramian.sources.dense import DenseRows

LINEAR = 0.1
"""Error of an exponent, or share of a power, in float32 up to which that of the value is hardly more than its first
order: 0.105."""

SMALLEST = 1e-25
"""Largest value of a kernel below which float32 loses more of the others than digits: they become zero near 1e-38."""


def rounding_ceiling(gram: KernelGram) -> float:
    """Return what ``gram.rounding`` cannot exceed; inf where nothing is known of the kernel or the rows.

    Computes  caution (max(n, m T / t) + f) B:  a spectral norm is at most the number of rows times the largest entry,
    B bounds what is measured of an entry (:func:`_entry_error`), T / t is what the m rows that are looked at stand for
    at most, T being the sum of k(x, x) and t that of the m smallest, and f more rows are looked at apart.

    Cost: n d operations, for the lengths of the rows. Known of unweighted NumPy rows, and of the Gaussian, linear,
    cosine, and polynomial kernels; n eps of the largest value times ten to a hundred d.

    Examples
    --------
    >>> from gramian.sources import as_source
    >>> rows = as_source(np.random.default_rng(0).standard_normal((50, 3)))
    >>> gram = KernelGram(rows, Gaussian(0.5), origin=np.zeros(3))
    >>> bool(gram.rounding < rounding_ceiling(gram) < 1e-9)
    True
    """
    source = gram.source
    if not isinstance(source, DenseRows) or not is_numpy(source.array) or gram.weights is not None or gram.size == 0:
        return np.inf
    rows = max(gram.size, _stands_for(np.abs(gram.diagonal))) + FARTHEST_ROWS
    return ROUNDING_CAUTION * rows * _entry_error(gram, source) * eps_of(FLOAT64)


def _stands_for(sizes: HostArray) -> float:
    """Return how many of the rows that are looked at, at least, would weigh as much as all rows: the smallest count."""
    if len(sizes) <= ROUNDED_ROWS:
        return 0.0
    least = float(np.sort(sizes)[:ROUNDED_ROWS].sum())
    return 1.01 * ROUNDED_ROWS * float(sizes.sum()) / least if least > 0 else np.inf


def _entry_error(gram: KernelGram, source: DenseRows) -> float:
    """Return the error of a kernel value in units of eps, whatever order its sums are made in; inf if not known.

    Inner products of d + 1 terms, of rows that are rounded, are wrong by less than (d + 10) / 2 units of their size,
    which k(x, x) bounds; a whole power multiplies that. The exponent of a Gaussian is wrong by (d + 6) units of |z|^2
    at most, z being the rows as they are prepared; counted from one of the rows instead, which is measured too, |z| is
    up to twice that, and the difference of two origins costs two units more: 5 (d + 8) |z|^2, and a few for the
    exponential.
    """
    kernel, d = gram.kernel, source.n_columns
    if isinstance(kernel, Gaussian) and isinstance(kernel.gamma, float):
        farthest = squared_norms(shifted(source.array, gram.placed.origin)).max(initial=0.0)
        exponent = 6.0 * (d + 8) * 2.0 * kernel.gamma * float(farthest)
        return exponent + 8.0 if exponent * eps_of(FLOAT32) <= LINEAR else np.inf
    degree = kernel.degree if isinstance(kernel, Polynomial) and kernel.is_psd else 0
    if isinstance(kernel, Linear | Cosine):
        degree = 1
    relative, largest = degree * (d + 10.0), float(np.abs(gram.diagonal).max(initial=0.0))
    known = 0 < relative * eps_of(FLOAT32) <= LINEAR and largest >= SMALLEST
    return relative * largest if known else np.inf
