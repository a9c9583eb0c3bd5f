"""Explicit maps phi whose inner products are, or are near to, a kernel; each with its measured error."""

from gramian.features.feature_map import FeatureMap, FeatureRecipe, MappedRows
from gramian.features.fourier import FourierMap, RandomFourier
from gramian.features.kernel_error import KernelError, measure_kernel_error
from gramian.features.nystrom import LandmarkMap, Landmarks
from gramian.features.polynomial import MonomialMap, Monomials

__all__ = [
    "FeatureMap",
    "FeatureRecipe",
    "FourierMap",
    "KernelError",
    "LandmarkMap",
    "Landmarks",
    "MappedRows",
    "MonomialMap",
    "Monomials",
    "RandomFourier",
    "measure_kernel_error",
]
