"""Principal, kernel and independent components, every answer with its error bounds.

``import gramian`` loads nothing heavy: each public name is fetched on first use (PEP 562).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

if TYPE_CHECKING:
    from gramian import kernels
    from gramian.estimators.categories import FAMD, MCA
    from gramian.estimators.ica import ICA, FastICA, fastica
    from gramian.estimators.incremental_pca import IncrementalPCA
    from gramian.estimators.kernel_pca import KernelPCA
    from gramian.estimators.maps import FourierFeatures, Nystroem, PolynomialMap
    from gramian.estimators.mixins import load
    from gramian.estimators.pca import PCA
    from gramian.estimators.probabilistic_pca import ProbabilisticPCA
    from gramian.estimators.truncated_svd import TruncatedSVD
    from gramian.kernels.centering import center_kernel
    from gramian.kernels.checking import check_kernel
    from gramian.models.clustering import kmeans_cost
    from gramian.models.kernel_pca.bandwidth import choose_gamma, kernel_score
    from gramian.models.pca.fit import how_many
    from gramian.models.plan import plan
    from gramian.models.probabilistic.entries import triplets
    from gramian.pictures import gallery as plot
    from gramian.report.analysis import analyze
    from gramian.sources.opening import as_source
    from gramian.unmixing.contrast import check_contrast

_HOMES = {
    "FAMD": "gramian.estimators.categories",
    "ICA": "gramian.estimators.ica",
    "MCA": "gramian.estimators.categories",
    "PCA": "gramian.estimators.pca",
    "FastICA": "gramian.estimators.ica",
    "IncrementalPCA": "gramian.estimators.incremental_pca",
    "KernelPCA": "gramian.estimators.kernel_pca",
    "TruncatedSVD": "gramian.estimators.truncated_svd",
    "FourierFeatures": "gramian.estimators.maps",
    "Nystroem": "gramian.estimators.maps",
    "PolynomialMap": "gramian.estimators.maps",
    "ProbabilisticPCA": "gramian.estimators.probabilistic_pca",
    "analyze": "gramian.report.analysis",
    "as_source": "gramian.sources.opening",
    "center_kernel": "gramian.kernels.centering",
    "check_kernel": "gramian.kernels.checking",
    "how_many": "gramian.models.pca.fit",
    "choose_gamma": "gramian.models.kernel_pca.bandwidth",
    "kmeans_cost": "gramian.models.clustering",
    "kernel_score": "gramian.models.kernel_pca.bandwidth",
    "check_contrast": "gramian.unmixing.contrast",
    "fastica": "gramian.estimators.ica",
    "load": "gramian.estimators.mixins",
    "plan": "gramian.models.plan",
    "triplets": "gramian.models.probabilistic.entries",
}
_PACKAGES = {"choosing": "gramian.choosing", "kernels": "gramian.kernels", "plot": "gramian.pictures.gallery"}

__all__ = [
    "FAMD",
    "ICA",
    "MCA",
    "PCA",
    "FastICA",
    "FourierFeatures",
    "IncrementalPCA",
    "KernelPCA",
    "Nystroem",
    "PolynomialMap",
    "ProbabilisticPCA",
    "TruncatedSVD",
    "__version__",
    "analyze",
    "as_source",
    "center_kernel",
    "check_contrast",
    "check_kernel",
    "choose_gamma",
    "fastica",
    "how_many",
    "kernel_score",
    "kernels",
    "kmeans_cost",
    "load",
    "plan",
    "plot",
    "triplets",
]


def __getattr__(name: str) -> Any:
    """Fetch a public name from its home the first time it is asked for."""
    if name in _PACKAGES:
        return import_module(_PACKAGES[name])
    if name not in _HOMES:
        message = f"module 'gramian' has no attribute {name!r}"
        raise AttributeError(message)
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted(__all__)
