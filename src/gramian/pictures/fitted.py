"""What the pictures ask of any fitted model, and what things are called wherever a person reads of them."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from gramian.errors import NotSupportedError, ParameterError
from gramian.models.categories.model import CodedModel
from gramian.models.ica.model import ICAModel
from gramian.models.kernel_pca.model import KernelPCAModel
from gramian.models.pca.model import PCAModel
from gramian.models.row_values import open_rows_of, require_finite_rows


class FittedModel(Protocol):
    """What pictures, the page and the command line ask of a model, so that none of them asks for its type."""

    @property
    def kind(self) -> str:
        """One of "pca", "kernel" and "ica"."""

    @property
    def prefix(self) -> str:
        """What the names of the components begin with, PC, KPC or IC."""

    @property
    def n_rows(self) -> int:
        """Rows of the fit."""

    @property
    def n_columns(self) -> int:
        """Columns of the fit."""

    @property
    def n_components(self) -> int:
        """Components, or sources."""

    @property
    def variances(self) -> Any:
        """Variance along each component (k,), of a kernel in feature space, of sources what they explain."""

    @property
    def shares(self) -> Any:
        """The same over the variance of the whole table; of sources, over what all of them explain."""

    @property
    def is_centered(self) -> bool:
        """Whether rows were centered."""

    @property
    def is_scaled(self) -> bool:
        """Whether columns were scaled to unit variance."""

    @property
    def directions(self) -> np.ndarray | None:
        """Unit vectors over the columns (k, d); None where components are none."""

    @property
    def loadings(self) -> np.ndarray | None:
        """Covariances of the columns, as the model saw them, with components of unit variance (d, k)."""

    @property
    def column_deviations(self) -> np.ndarray | None:
        """Of the columns as the model saw them (d,), where the model alone tells them."""

    @property
    def certificate(self) -> Any:
        """What is proved of the components, where something is."""

    @property
    def source(self) -> Any:
        """Rows of the fit, where the model keeps them."""

    @property
    def scores(self) -> np.ndarray | None:
        """Their scores (n, k), where it keeps those."""

    @property
    def options(self) -> Any:
        """What was asked of the fit."""

    def project(self, rows: Any) -> Any:
        """Return the scores of rows (n, k)."""


KINDS = {"pca": "PCA", "kernel": "KernelPCA", "ica": "ICA"}
"""What a model of each kind is called."""


def model_of(fitted: Any) -> FittedModel:
    """Return the frozen model of an estimator, or the model itself.

    Examples
    --------
    >>> from gramian import PCA
    >>> type(model_of(PCA(1).fit([[0.0, 0.0], [3.0, 4.0]]))).__name__
    'PCAModel'
    """
    if isinstance(fitted, PCAModel | KernelPCAModel | ICAModel | CodedModel):
        return fitted
    if not hasattr(fitted, "_fitted_model"):
        message = (
            f"A {type(fitted).__name__} is no fitted model. Pass a PCA, KernelPCA or ICA after fit, or the model that "
            "fit_pca, fit_kernel_pca or fit_ica returns."
        )
        raise NotSupportedError(message)
    model: FittedModel = fitted._fitted_model()  # noqa: SLF001 - the one door between the skin and its model
    return model


def require_kind(fitted: Any, *kinds: str) -> Any:
    """Return the frozen model of an estimator, if it is of a kind that a picture can be made of."""
    model = model_of(fitted)
    if model.kind not in kinds:
        wanted = " or ".join(KINDS[kind] for kind in kinds)
        message = f"This picture is one of {wanted}, and the model is {KINDS[model.kind]}."
        raise NotSupportedError(message)
    return model


def names_of(model: FittedModel) -> list[str]:
    """Return what each component is called where a person reads it: PC1, KPC1 of a kernel, IC1 of ICA."""
    return [f"{model.prefix}{position + 1}" for position in range(model.n_components)]


def axis_label(model: FittedModel, component: int) -> str:
    """Return the name of a component with its share of the variance.

    Examples
    --------
    >>> from gramian import PCA
    >>> axis_label(model_of(PCA().fit([[3.0, 0.0], [-3.0, 0.0], [0.0, 1.0], [0.0, -1.0]])), 0)
    'PC1 (90.0%)'
    """
    return f"{model.prefix}{component + 1} ({float(model.shares[component]):.1%})"


def column_names(model: FittedModel, names: Any = None) -> list[str]:
    """Return the names of the columns, made up where none are given."""
    if names is None:
        return [f"column {j + 1}" for j in range(model.n_columns)]
    if len(names) != model.n_columns:
        message = f"names has {len(names)} entries and the model {model.n_columns} columns. Give one name per column."
        raise ParameterError(message)
    return [str(name) for name in names]


def own_names(model: Any, names: Sequence[str] | None) -> Sequence[str] | None:
    """Return the names given, or those that the columns had in the fit."""
    return names if names is not None else getattr(model, "feature_names_in_", None)


def require_pair(components: Sequence[int], k: int) -> list[int]:
    """Return two components, refused where the model does not have them.

    Examples
    --------
    >>> require_pair((0, 1), 5)
    [0, 1]
    """
    highest = max(components)
    if len(components) != 2 or min(components) < 0 or highest >= k:
        message = (
            f"components={tuple(components)} asks for component {highest + 1}, and there are {k}. "
            f"Fit at least {highest + 1} components, or choose two from 0..{k - 1}."
        )
        raise ParameterError(message)
    return list(components)


def host(values: Any) -> np.ndarray:
    """Return a small array as float64 on the host."""
    return np.asarray(values.cpu() if hasattr(values, "cpu") else values, dtype=np.float64)


def scores_of(model: FittedModel, source: Any = None, scores: Any = None) -> np.ndarray | None:
    """Return the scores of a table (n, k): those given, those of the rows, or those a kernel model keeps.

    Examples
    --------
    >>> from gramian import PCA
    >>> from gramian.models.row_values import open_rows
    >>> model = model_of(PCA(1).fit([[0.0, 0.0], [3.0, 4.0]]))
    >>> scores_of(model, open_rows([[0.0, 0.0], [3.0, 4.0]])).ravel().round(6)
    array([-2.5,  2.5])
    """
    k = model.n_components
    if scores is not None:
        given = host(scores)
        if given.ndim != 2 or given.shape[1] < k:
            message = f"scores has shape {given.shape} and the model {k} components. Give one column per component."
            raise ParameterError(message)
        return given[:, :k]
    if source is None or source is model.source:
        kept = model.scores
        return kept if kept is not None and len(kept) else None
    return host(model.project(source))


def scores_table(fitted: Any, X: Any) -> np.ndarray:
    """Return the scores of rows (n, k); rows with other columns than the fit, or with missing values, are refused.

    Examples
    --------
    >>> from gramian import PCA
    >>> scores_table(PCA(1).fit([[0.0, 0.0], [3.0, 4.0]]), [[0.0, 0.0]]).round(6)
    array([[-2.5]])
    """
    model = model_of(fitted)
    source = open_rows_of(X, model.n_columns)
    made = np.asarray(scores_of(model, source))
    require_finite_rows(made, source)
    return made
