"""The scikit-learn skin: it checks parameters, calls the models and copies their fields."""

from typing import Any


def every_estimator() -> tuple[type[Any], ...]:
    """Return every estimator. Of those with the same kind of model, a file that names none is opened as the first."""
    from gramian.estimators.categories import FAMD, MCA
    from gramian.estimators.ica import ICA, FastICA
    from gramian.estimators.incremental_pca import IncrementalPCA
    from gramian.estimators.kernel_pca import KernelPCA
    from gramian.estimators.maps import FourierFeatures, Nystroem, PolynomialMap
    from gramian.estimators.pca import PCA
    from gramian.estimators.probabilistic_pca import ProbabilisticPCA
    from gramian.estimators.truncated_svd import TruncatedSVD

    linear = (PCA, IncrementalPCA, TruncatedSVD)
    return (*linear, KernelPCA, ICA, FastICA, ProbabilisticPCA, MCA, FAMD, PolynomialMap, Nystroem, FourierFeatures)
