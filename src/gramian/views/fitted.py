"""What every fitted model has in common, whatever it is called there: its kind, shares and names of components."""

from typing import Any

import numpy as np

from gramian.errors import NotSupportedError, ParameterError
from gramian.models.ica import ICAModel, source_name
from gramian.models.kernel_model import KernelPCAModel
from gramian.models.pca import PCAModel
from gramian.views.labels import component_name

FittedModel = PCAModel | KernelPCAModel | ICAModel

KINDS: dict[type, str] = {PCAModel: "pca", KernelPCAModel: "kernel", ICAModel: "ica"}


def model_of(fitted: Any) -> FittedModel:
    """Return the frozen model of an estimator, or the model itself.

    Examples
    --------
    >>> from gramian import PCA
    >>> type(model_of(PCA(1).fit([[0.0, 0.0], [3.0, 4.0]]))).__name__
    'PCAModel'
    """
    if isinstance(fitted, PCAModel | KernelPCAModel | ICAModel):
        return fitted
    if not hasattr(fitted, "_fitted_model"):
        message = (
            f"A {type(fitted).__name__} is no fitted model. Pass a PCA, KernelPCA or ICA after fit, or the model that "
            "fit_pca, fit_kernel_pca or fit_ica returns."
        )
        raise NotSupportedError(message)
    model: FittedModel = fitted._fitted_model()  # noqa: SLF001 - the one door between the skin and its model
    return model


def require_kind(fitted: Any, *kinds: type) -> Any:
    """Return the frozen model of an estimator, if it is of a kind that a picture can be made of."""
    model = model_of(fitted)
    if not isinstance(model, kinds):
        wanted = " or ".join(kind.__name__.removesuffix("Model") for kind in kinds)
        message = f"This picture is one of {wanted}, and the model is {type(model).__name__.removesuffix('Model')}."
        raise NotSupportedError(message)
    return model


def kind_of(model: FittedModel) -> str:
    """Return "pca", "kernel" or "ica"."""
    return KINDS[type(model)]


def count_of(model: FittedModel) -> int:
    """Return the number of components, or sources."""
    return len(variances_of(model))


def variances_of(model: FittedModel) -> np.ndarray:
    """Return the variance along each component (k,); of a kernel, in feature space; of sources, that they explain."""
    if isinstance(model, KernelPCAModel):
        return host(model.shares) * model.total_variance
    return host(model.variances)


def shares_of(model: FittedModel) -> np.ndarray:
    """Return the share of the variance of each component (k,).

    The whole is that of the table, also where some components were left out; for sources, what they explain together.

    Examples
    --------
    >>> from gramian import PCA
    >>> shares_of(model_of(PCA().fit([[3.0, 0.0], [-3.0, 0.0], [0.0, 1.0], [0.0, -1.0]])))
    array([0.9, 0.1])
    """
    if isinstance(model, ICAModel):
        variances = host(model.variances)
        total = float(variances.sum())
        return variances / total if total > 0 else variances
    return host(model.shares)


def names_of(model: FittedModel) -> list[str]:
    """Return what each component is called where a person reads it: PC1, KPC1 of a kernel, IC1 of ICA."""
    name = source_name if isinstance(model, ICAModel) else component_name
    kernel = "K" if isinstance(model, KernelPCAModel) else ""
    return [f"{kernel}{name(position)}" for position in range(count_of(model))]


def column_names(model: FittedModel, names: Any = None) -> list[str]:
    """Return the names of the columns, made up where none are given."""
    if names is None:
        return [f"column {j + 1}" for j in range(model.n_columns)]
    if len(names) != model.n_columns:
        message = f"names has {len(names)} entries and the model {model.n_columns} columns. Give one name a column."
        raise ParameterError(message)
    return [str(name) for name in names]


def host(values: Any) -> np.ndarray:
    """Return a small array as float64 on the host."""
    return np.asarray(values.cpu() if hasattr(values, "cpu") else values, dtype=np.float64)
