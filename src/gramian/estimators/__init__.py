"""The scikit-learn skin: it checks parameters, calls the models and copies their fields."""

from gramian.estimators.ica import ICA, FastICA, fastica
from gramian.estimators.incremental_pca import IncrementalPCA
from gramian.estimators.pca import PCA
from gramian.estimators.truncated_svd import TruncatedSVD

__all__ = ["ICA", "PCA", "FastICA", "IncrementalPCA", "TruncatedSVD", "fastica"]
