"""What a fitted kernel PCA shows of its model, and rows and scores on their way in and out."""

from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from gramian.arrays.namespace import Array, from_host
from gramian.errors import InputError
from gramian.features.nystrom import LandmarkMap
from gramian.models.kernel_pca import KernelPCAModel
from gramian.models.kernel_projection import FeatureExpansion
from gramian.models.preimage import FittedPreimage, Preimages
from gramian.models.preimage_choice import ChosenPreimage
from gramian.models.preimage_ridge import RidgeMap
from gramian.sources.dask_chunks import DaskRows
from gramian.sources.dense import DenseRows
from gramian.sources.opening import as_source, require_finite
from gramian.sources.rows import RowSource, require_local
from gramian.sources.sparse import SparseRows


def fields_of(model: KernelPCAModel, *, gamma: Any) -> dict[str, Any]:
    """Return the fitted fields of a model by their names; ``gamma`` is what was asked for."""
    fields = {
        "eigenvalues_": model.eigenvalues,
        "eigenvectors_": model.vectors,
        "explained_variance_ratio_": model.shares,
        "kernel_": model.kernel,
        "gamma_": _gamma_of(model, gamma),
        "n_features_in_": model.n_columns,
    }
    rows = _rows_of(model)
    return fields if rows is None else fields | {"X_fit_": rows}


def preimage_fields(found: ChosenPreimage | None) -> dict[str, Any]:
    """Return the fields of the way back: the method, how it was chosen, and scikit-learn's names for a ridge."""
    if found is None:
        return {}
    fields: dict[str, Any] = {"_preimage": found}
    if found.choice is not None:
        fields["pre_image_choice_"] = found.choice
    if isinstance(found.fitted, RidgeMap):
        fields |= {"dual_coef_": found.fitted.dual, "X_transformed_fit_": found.fitted.centers}
    return fields


def own_copy(source: RowSource, X: Any) -> RowSource:
    """Return a source whose rows are not the user's, copied only where they still are; Dask's cannot be changed."""
    own = copy(source)
    if isinstance(own, SparseRows):
        own.matrix = own.matrix.copy()
    elif isinstance(own, DenseRows) and not _is_new(own.array, X):
        own.array = own.array.clone() if hasattr(own.array, "clone") else own.array.copy()
    return own


def without_rows(model: KernelPCAModel) -> KernelPCAModel:
    """Return an approximate model without the rows of its fit: nothing that comes later needs them."""
    return replace(model, source=DenseRows(np.zeros((0, model.n_columns))))


def like_rows(values: Any, source: RowSource) -> Array:
    """Return values in the precision of the rows, and in their library where they are dense."""
    if isinstance(source, DaskRows):
        values = source.spread(values) if isinstance(values, np.ndarray) else values
        return values.astype(source.dtype)
    if not isinstance(values, np.ndarray):
        return values
    like = np.empty(0) if source.is_sparse else source.like()
    return from_host(values, like=like, dtype=source.dtype)


def rows_of_scores(fitted: FittedPreimage, X: Any, *, k: int) -> Preimages:
    """Open scores, check them, and return their pre-images in their own library and precision."""
    source = as_source(X)
    if source.n_columns != k:
        message = (
            f"X has {source.n_columns} columns, and this KernelPCA has {k} components. Pass scores as transform gives "
            "them, one column a component."
        )
        raise InputError(message)
    require_local(source, "The way back from kernel scores")
    require_finite(source)
    blocks = [source.block(i).rows for i in range(source.n_blocks)]
    scores = np.vstack([block.toarray() if source.is_sparse else np.asarray(block) for block in blocks])
    found = fitted.rebuild(scores)
    return found._replace(rows=like_rows(found.rows, source))


def _gamma_of(model: KernelPCAModel, asked: Any) -> float:
    """Return the gamma of the kernel; for a kernel without one what scikit-learn shows, 1/d or the number given."""
    own = getattr(model.kernel, "gamma", None)
    if isinstance(own, float):
        return own
    return 1.0 / model.n_columns if asked is None or isinstance(asked, str) else float(asked)


def _rows_of(model: KernelPCAModel) -> Any:
    found = model.expansion
    if not model.approximate:
        return getattr(model.source, "matrix" if isinstance(model.source, SparseRows) else "array", None)
    phi = found.phi if isinstance(found, FeatureExpansion) else None
    return phi.landmarks if isinstance(phi, LandmarkMap) else None


def _is_new(array: Any, X: Any) -> bool:
    """Tell whether rows are certainly not the user's own memory."""
    if not isinstance(array, np.ndarray):
        return False
    return isinstance(X, list | tuple) or (isinstance(X, np.ndarray) and not np.may_share_memory(array, X))
