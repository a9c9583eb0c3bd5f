"""Principal, kernel and independent components, every answer with its proof.

``import gramian`` loads nothing heavy: each public name is fetched on first use (PEP 562).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

if TYPE_CHECKING:
    from gramian import kernels
    from gramian.estimators import ICA, PCA, FastICA, IncrementalPCA, TruncatedSVD, fastica
    from gramian.estimators.kernel_pca import KernelPCA
    from gramian.estimators.maps import FourierFeatures, Nystroem, PolynomialMap
    from gramian.estimators.probabilistic_pca import ProbabilisticPCA
    from gramian.estimators.saving import load
    from gramian.kernels.checking import check_kernel
    from gramian.models.every_rule import how_many
    from gramian.models.gamma_choice import choose_gamma
    from gramian.models.kernel_score import kernel_score
    from gramian.models.planned import plan
    from gramian.plots import gallery as plot
    from gramian.unmixing.contrast import check_contrast

_HOMES = {
    "ICA": "gramian.estimators",
    "PCA": "gramian.estimators",
    "FastICA": "gramian.estimators",
    "IncrementalPCA": "gramian.estimators",
    "KernelPCA": "gramian.estimators.kernel_pca",
    "TruncatedSVD": "gramian.estimators",
    "FourierFeatures": "gramian.estimators.maps",
    "Nystroem": "gramian.estimators.maps",
    "PolynomialMap": "gramian.estimators.maps",
    "ProbabilisticPCA": "gramian.estimators.probabilistic_pca",
    "check_kernel": "gramian.kernels.checking",
    "how_many": "gramian.models.every_rule",
    "choose_gamma": "gramian.models.gamma_choice",
    "kernel_score": "gramian.models.kernel_score",
    "check_contrast": "gramian.unmixing.contrast",
    "fastica": "gramian.estimators",
    "load": "gramian.estimators.saving",
    "plan": "gramian.models.planned",
}
_PACKAGES = {"choosing": "gramian.choosing", "kernels": "gramian.kernels", "plot": "gramian.plots.gallery"}

__all__ = [
    "ICA",
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
    "check_contrast",
    "check_kernel",
    "choose_gamma",
    "fastica",
    "how_many",
    "kernel_score",
    "kernels",
    "load",
    "plan",
    "plot",
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
