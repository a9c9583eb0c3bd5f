"""Fitted models: frozen values, and the functions that fit them."""

from gramian.models.pca import PCAModel, PCAOptions, fit_pca, fit_pca_from_moments

__all__ = ["PCAModel", "PCAOptions", "fit_pca", "fit_pca_from_moments"]
