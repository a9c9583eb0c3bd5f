"""Every kernel once, each with the scikit-learn function that must give the same matrix."""

import numpy as np
from sklearn.gaussian_process.kernels import Matern as ReferenceMatern
from sklearn.metrics import pairwise

from gramian.kernels import (
    BlockKernel,
    ChiSquared,
    Cosine,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    PointKernel,
    Polynomial,
    Sigmoid,
)

FLOAT32, FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)


def histogram(x, y):
    """A kernel of two points: what two histograms share."""
    return np.minimum(x, y).sum()


def cauchy(X, Y, scale=1.0):
    """A kernel of two blocks."""
    return 1.0 / (1.0 + ((X[:, None] - Y) ** 2).sum(axis=2) / scale)


# kernel, and the same by scikit-learn
REFERENCES = [
    (Linear(), pairwise.linear_kernel),
    (Polynomial(), lambda X, Y=None: pairwise.polynomial_kernel(X, Y)),
    (Polynomial(2, 1.0, 1.0), lambda X, Y=None: pairwise.polynomial_kernel(X, Y, degree=2, gamma=1.0, coef0=1.0)),
    (Polynomial(5, 0.3, 0.0), lambda X, Y=None: pairwise.polynomial_kernel(X, Y, degree=5, gamma=0.3, coef0=0.0)),
    (Polynomial(4, 0.2, -0.5), lambda X, Y=None: pairwise.polynomial_kernel(X, Y, degree=4, gamma=0.2, coef0=-0.5)),
    (Sigmoid(), lambda X, Y=None: pairwise.sigmoid_kernel(X, Y)),
    (Sigmoid(0.1, -0.4), lambda X, Y=None: pairwise.sigmoid_kernel(X, Y, gamma=0.1, coef0=-0.4)),
    (Cosine(), pairwise.cosine_similarity),
    (Gaussian(), lambda X, Y=None: pairwise.rbf_kernel(X, Y)),
    (Gaussian(0.7), lambda X, Y=None: pairwise.rbf_kernel(X, Y, gamma=0.7)),
    (Gaussian(0.0), lambda X, Y=None: pairwise.rbf_kernel(X, Y, gamma=0.0)),
    (Gaussian(sigma=3.0), lambda X, Y=None: pairwise.rbf_kernel(X, Y, gamma=1 / 18)),
    (Laplacian(), lambda X, Y=None: pairwise.laplacian_kernel(X, Y)),
    (Laplacian(0.3), lambda X, Y=None: pairwise.laplacian_kernel(X, Y, gamma=0.3)),
    (Matern(0.5, length_scale=2.0), ReferenceMatern(length_scale=2.0, nu=0.5)),
    (Matern(1.5, length_scale=1.0), ReferenceMatern(length_scale=1.0, nu=1.5)),
    (Matern(2.5, length_scale=4.0), ReferenceMatern(length_scale=4.0, nu=2.5)),
]
NOT_NEGATIVE = [(ChiSquared(g), lambda X, Y=None, g=g: pairwise.chi2_kernel(X, Y, gamma=g)) for g in (0.2, 1.0)]

SPARSE = [(kernel, reference) for kernel, reference in REFERENCES if kernel.takes_sparse]

# Every kind, for what must hold for all of them; all take rows that are not negative.
KERNELS = [
    Linear(),
    Polynomial(3, 0.1),
    Sigmoid(0.01, 0.0),
    Cosine(),
    Gaussian(0.05),
    Laplacian(0.05),
    Matern(0.5, 0.02),
    Matern(1.5, 0.02),
    Matern(2.5, 0.02),
    ChiSquared(0.5),
    PointKernel(histogram, psd=True),
    BlockKernel(cauchy, {"scale": 10.0}, psd=True),
    Gaussian(0.1) + 0.5 * Linear(),
    Gaussian(0.1) * Polynomial(2),
    3.0 * (Laplacian(0.1) + Cosine()),
]


def rows(n, d, *, seed, dtype=FLOAT64):
    """Rows of uniform numbers between 0 and 2."""
    return np.random.default_rng([seed, n, d]).uniform(0.0, 2.0, (n, d)).astype(dtype)
