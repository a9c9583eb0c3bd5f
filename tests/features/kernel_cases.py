"""Kernels that feature maps are tested with."""

from gramian.kernels import Gaussian, Laplacian, Matern

SPECTRAL = {
    "gaussian": Gaussian(0.1),
    "matern 1/2": Matern(0.5, 0.1),
    "matern 3/2": Matern(1.5, 0.1),
    "matern 5/2": Matern(2.5, 0.1),
    "laplacian": Laplacian(0.15),
    "scaled": 3.0 * Gaussian(0.2),
    "sum": Gaussian(0.05) + 2.0 * Matern(1.5, 0.2),
    "product": Gaussian(0.05) * Laplacian(0.05),
}
"""Kernels whose spectral density is known."""
