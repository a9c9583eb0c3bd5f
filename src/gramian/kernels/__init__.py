"""Kernels: similarities of two rows, evaluated a tile at a time."""

from gramian.kernels.kernel import DataFacts, Kernel
from gramian.kernels.radial import Gaussian

__all__ = ["DataFacts", "Gaussian", "Kernel"]
