"""Fitted models: frozen values, and the functions that fit them."""

from gramian.models.pca.fit import fit_pca, fit_pca_from_moments
from gramian.models.pca.model import PCAModel, PCAOptions

__all__ = ["PCAModel", "PCAOptions", "fit_pca", "fit_pca_from_moments"]
