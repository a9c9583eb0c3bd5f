"""Principal, kernel and independent components, every answer with its proof.

``import gramian`` loads nothing heavy: each public name is fetched on first use (PEP 562).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

if TYPE_CHECKING:
    from gramian.estimators import ICA, PCA, FastICA, IncrementalPCA, TruncatedSVD, fastica
    from gramian.models.planned import plan
    from gramian.unmixing.contrast import check_contrast

_HOMES = {
    "ICA": "gramian.estimators",
    "PCA": "gramian.estimators",
    "FastICA": "gramian.estimators",
    "IncrementalPCA": "gramian.estimators",
    "TruncatedSVD": "gramian.estimators",
    "check_contrast": "gramian.unmixing.contrast",
    "fastica": "gramian.estimators",
    "plan": "gramian.models.planned",
}

__all__ = [
    "ICA",
    "PCA",
    "FastICA",
    "IncrementalPCA",
    "TruncatedSVD",
    "__version__",
    "check_contrast",
    "fastica",
    "plan",
]


def __getattr__(name: str) -> Any:
    """Fetch a public name from its home the first time it is asked for."""
    if name == "choosing":
        return import_module("gramian.choosing")
    if name not in _HOMES:
        message = f"module 'gramian' has no attribute {name!r}"
        raise AttributeError(message)
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted(__all__)
