"""What every linear estimator shares: scores and back, names of its outputs, and the fields of a fitted model."""

from dataclasses import replace
from functools import partial
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from gramian.arrays.namespace import Array, HostArray, cast, dtype_of, from_host, is_numpy, namespace_of
from gramian.eigen.certificate import Certificate
from gramian.errors import InputError
from gramian.estimators.opening import open_new_rows
from gramian.estimators.saving import Saved
from gramian.estimators.shown import Reported
from gramian.models import scoring
from gramian.models.pca import PCAModel
from gramian.models.score_file import write_scores
from gramian.planning.plan import Plan
from gramian.sources.opening import as_source, require_finite
from gramian.sources.rows import Block, RowSource


class LinearProjection(Reported, Saved, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A fitted linear map to scores and back, in scikit-learn's manners. Abstract: see ``PCA``.

    The fitted fields are those of one frozen model. A field that a person assigns afterwards
    (``pca.components_ = rotated``) is the one used from then on.
    """

    COPIED: ClassVar[dict[str, str]] = {
        "components_": "components",
        "explained_variance_": "variances",
        "explained_variance_ratio_": "shares",
        "singular_values_": "singular_values",
        "mean_": "mean",
        "noise_variance_": "noise_variance",
    }
    REPLACEABLE: ClassVar[tuple[str, ...]] = ("components_", "explained_variance_", "mean_")

    whiten: bool = False
    components_: Array
    explained_variance_: Array
    mean_: Array
    n_features_in_: int
    feature_names_in_: HostArray
    _model: PCAModel

    @property
    def certificate_(self) -> Certificate:
        """How far each component can be from the truth, and how that is known; prints as a table."""
        return self._fitted_model().certificate

    @property
    def plan_(self) -> Plan:
        """What was done, why, and what it cost."""
        return self._fitted_model().plan

    def transform(self, X: Any) -> Array:
        """Project rows on the components.

        Computes  Y = (X - mean) V',  divided by the deviation along each component when ``whiten=True``; null
        directions of a whitened model score zero.  Cost: 2 n d k operations, one pass; sparse rows stay sparse.

        Parameters
        ----------
        X : array, sparse array, table or path (n, d)

        Returns
        -------
        Y : array (n, k)
            In the library of X and the precision of the fit. For a Dask array or data frame a Dask array, lazily.
        """
        model, source = self._opened(X, "transform")
        return self._scores(model, source)

    def write_scores(self, X: Any, path: str | PathLike[str]) -> Path:
        """Project rows and write the scores to a file, block by block: for rows, or scores, larger than memory.

        The file has its name when it is complete; until then, and after an error or Ctrl-C, what was there stays.
        Cost: that of ``transform``, and memory for one block.

        Parameters
        ----------
        X : path, array, sparse array or table (n, d)
        path : path
            Ends in .parquet, .npy or .csv.

        Returns
        -------
        path : Path
        """
        model, source = self._opened(X, "write_scores")
        factors = scoring.whitening(model) if self.whiten else None
        return write_scores(partial(_project, model, factors), source, path, names=self.get_feature_names_out())

    def inverse_transform(self, X: Any) -> Array:
        """Return the rows that scores stand for.

        Computes  Y V + mean,  after undoing the whitening.  Cost: 2 n d k operations, and n d numbers out.

        Parameters
        ----------
        X : array (n, k)
            Scores, as ``transform`` gives them.

        Returns
        -------
        rows : array (n, d)
        """
        model = self._fitted_model()
        k = model.components.shape[0]
        if k == 0:
            return model.reconstruct(X)
        source = as_source(X)
        self._check_library(model, source, "inverse_transform")
        if source.n_columns != k:
            message = (
                f"X has {source.n_columns} columns, and this {type(self).__name__} has {k} components. Pass scores "
                "as transform gives them, one column a component."
            )
            raise InputError(message)
        factors = scoring.deviations(model) if self.whiten else None
        return self._finite(source.map_rows(partial(_reconstruct, model, factors)), source)

    def reconstruction_error(self, X: Any) -> Array:
        """Return the squared distance of each row from its reconstruction, also called Q or SPE.

        Computes  |x - reconstruct(project(x))|^2  in the units of the rows, with ``scale`` too: columns of large
        numbers then count most, and dividing  X  by ``scale_`` before makes them count alike. Over the rows of a fit
        without ``scale`` its mean is the sum of the variances left out (with ``ddof=0``).
        Cost: one pass, 4 n d k operations.

        Parameters
        ----------
        X : array, sparse array, table or path (n, d)

        Returns
        -------
        errors : array (n,)
        """
        model, source = self._opened(X, "reconstruction_error")
        return self._finite(scoring.reconstruction_error(model, source), source)

    def _fitted_model(self) -> PCAModel:
        """Return the model, with the fields that a person has replaced since the fit."""
        if "_model" not in self.__dict__:
            check_is_fitted(self)
        model = self._model
        changed = {}
        for name in self.REPLACEABLE:
            value, field = getattr(self, name), self.COPIED[name]
            if value is not getattr(model, field):
                changed[field] = value
        return replace(model, **changed) if changed else model

    def _adopt(self, model: PCAModel, names: HostArray | None) -> None:
        """Take over a finished model: the last step of a fit, so that a fit that fails leaves the former one."""
        fields = {name: getattr(model, field) for name, field in self.COPIED.items()}
        self.__dict__.update(fields, _model=model, n_features_in_=model.n_columns)
        if names is not None:
            self.feature_names_in_ = names
        else:
            self.__dict__.pop("feature_names_in_", None)

    @property
    def _n_features_out(self) -> int:
        """Number of columns that ``transform`` gives."""
        return int(self.components_.shape[0])

    def _opened(self, X: Any, method: str) -> tuple[PCAModel, RowSource]:
        """Open new rows for a fitted model: fitted at all, the same columns, the same library."""
        model = self._fitted_model()
        source = open_new_rows(self, X)
        self._check_library(model, source, method)
        return model, source

    def _scores(self, model: PCAModel, source: RowSource) -> Array:
        factors = scoring.whitening(model) if self.whiten else None
        return self._finite(source.map_rows(partial(_project, model, factors)), source)

    def _finite(self, results: Array, source: RowSource) -> Array:
        if not source.is_local:
            # Lazy: a chunk that holds NaN or infinity is refused when it is computed.
            return results
        # One sum over the results stands for a look at all n d values: NaN and infinity survive every product.
        with np.errstate(invalid="ignore", over="ignore"):
            total = float(namespace_of(results).sum(results))
        if not isfinite(total):
            require_finite(source)
        return results

    def _check_library(self, model: PCAModel, source: RowSource, method: str) -> None:
        rows, fitted = source.like(), model.components
        # Subclasses of NumPy's array (a memory map, after unpickling) are NumPy all the same.
        if is_numpy(rows) and is_numpy(fitted):
            return
        if type(rows) is type(fitted) and rows.device == fitted.device:
            return
        name = type(self).__name__
        message = (
            f"Inputs of {name}.{method}() must use the same namespace and device as those of fit: this {name} holds "
            f"{_library(fitted)}, and X is {_library(rows)}. Move one of them; Gramian does not copy between devices "
            "unasked."
        )
        raise InputError(message)


def _project(model: PCAModel, factors: Array | None, block: Block) -> Array:
    """Return the scores of one block, whitened where there are factors; what is not finite is refused afterwards."""
    with np.errstate(invalid="ignore", over="ignore"):
        scores = model.project(block.rows)
        if factors is not None:
            scores *= factors
        return scores


def _reconstruct(model: PCAModel, factors: HostArray | None, block: Block) -> Array:
    """Return the rows of one block of scores, whitening undone where there are factors."""
    scores = block.rows.toarray() if hasattr(block.rows, "indptr") else block.rows
    scores = cast(scores, dtype_of(model.components))
    if factors is not None:
        scores = scores * from_host(factors, like=scores, dtype=dtype_of(scores))
    return model.reconstruct(scores)


def _library(array: Array) -> str:
    if isinstance(array, np.ndarray):
        return "NumPy arrays"
    return f"{type(array).__module__.partition('.')[0]} arrays on {array.device}"
