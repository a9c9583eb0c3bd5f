"""Kernels: similarities of two rows, as small values that evaluate a tile of the kernel matrix at a time.

::

    from gramian import kernels

    kernel = kernels.Gaussian(gamma="median") + 0.1 * kernels.Linear()
    kernel(X)                       # the matrix, for small X
    kernels.check_kernel(kernel, X) # symmetric? positive semidefinite?
"""

from gramian.kernels.checking import KernelCheck, check_kernel
from gramian.kernels.chi_squared import ChiSquared
from gramian.kernels.combination import Product, Scaled, Stretched, Sum
from gramian.kernels.inner_product import Cosine, Linear, Polynomial, Sigmoid
from gramian.kernels.kernel import Kernel
from gramian.kernels.laplacian import Laplacian
from gramian.kernels.named import Precomputed, as_kernel
from gramian.kernels.own import BlockKernel, PointKernel
from gramian.kernels.radial import Gaussian, Matern
from gramian.kernels.widths import DataFacts, facts_of

__all__ = [
    "BlockKernel",
    "ChiSquared",
    "Cosine",
    "DataFacts",
    "Gaussian",
    "Kernel",
    "KernelCheck",
    "Laplacian",
    "Linear",
    "Matern",
    "PointKernel",
    "Polynomial",
    "Precomputed",
    "Product",
    "Scaled",
    "Sigmoid",
    "Stretched",
    "Sum",
    "as_kernel",
    "check_kernel",
    "facts_of",
]
