"""What the estimators of independent sources share: fitting, sources and back, and taking sources out."""

import warnings
from abc import abstractmethod
from dataclasses import replace
from functools import partial
from math import isfinite, sqrt
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning as TheirConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from gramian.arrays.namespace import Array, HostArray, cast, dtype_of, namespace_of
from gramian.errors import ConvergenceWarning, InputError, ParameterError, users_line
from gramian.estimators.features import feature_names
from gramian.estimators.opening import open_new_rows, open_rows
from gramian.estimators.parameters import Limits, check_parameters, seed_of
from gramian.estimators.saving import Saved
from gramian.estimators.shown import Reported
from gramian.estimators.source_positions import source_positions
from gramian.models.ica import ICAModel, ICAOptions, fit_ica
from gramian.models.score_file import write_scores
from gramian.sources.opening import as_source, require_finite
from gramian.sources.rows import Block, RowSource
from gramian.unmixing.contrast import contrast_of


class UnmixingNotConverged(ConvergenceWarning, TheirConvergenceWarning):
    """Gramian's warning and scikit-learn's in one, so that a filter for either sees it."""


class UnmixedSources(Reported, Saved, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A fitted linear map to independent sources and back, in scikit-learn's manners. Abstract: see ``ICA``."""

    n_components: int | None
    algorithm: str
    whiten: str | bool
    fun: Any
    fun_args: dict[str, Any] | None
    max_iter: int
    tol: float
    w_init: Any
    random_state: Any
    components_: Array
    mixing_: Array
    mean_: Array
    n_features_in_: int
    n_iter_: int
    feature_names_in_: HostArray
    _model: ICAModel

    def fit(self, X: Any, y: Any = None) -> "UnmixedSources":
        """Learn to unmix from rows.

        Parameters
        ----------
        X : array, sparse array or table (n, d)
            Rows are samples, columns sensors.
        y : ignored

        Returns
        -------
        self : estimator
            If the fit fails, the former model stays.
        """
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Learn to unmix from rows and return the sources of the same rows.

        Parameters
        ----------
        X : array, sparse array or table (n, d)
        y : ignored

        Returns
        -------
        S : array (n, k)
            The same as ``fit(X).transform(X)``.
        """
        return self._sources(self._fit(X))

    def transform(self, X: Any, copy: bool = True) -> Array:  # noqa: FBT001 - as scikit-learn's
        """Return the sources of rows:  S = (X - mean) components'.

        Cost: 2 n d k operations, one pass.

        Parameters
        ----------
        X : array, sparse array or table (n, d)
        copy : bool, default=True
            Accepted as scikit-learn's; rows are never written to.

        Returns
        -------
        S : array (n, k)
        """
        return self._sources(self._opened(X))

    def write_scores(self, X: Any, path: str | PathLike[str]) -> Path:
        """Write the sources of rows to a .parquet, .npy or .csv file, block by block: see ``PCA.write_scores``.

        Parameters
        ----------
        X : path, array, sparse array or table (n, d)
        path : path

        Returns
        -------
        path : Path
        """
        source = self._opened(X)
        return write_scores(partial(_block_sources, self._model), source, path, names=self.get_feature_names_out())

    def inverse_transform(self, X: Any, copy: bool = True) -> Array:  # noqa: FBT001 - as scikit-learn's
        """Return the rows that sources stand for:  X = S mixing' + mean.

        Parameters
        ----------
        X : array (n, k)
            Sources, as ``transform`` gives them.
        copy : bool, default=True
            Accepted as scikit-learn's; sources are never written to.

        Returns
        -------
        rows : array (n, d)
        """
        model, source = self._fitted_model(), as_source(X)
        k = self._n_features_out
        if source.n_columns != k:
            message = (
                f"X has {source.n_columns} columns, and this {type(self).__name__} has {k} sources. Pass sources as "
                "transform gives them, one column each."
            )
            raise InputError(message)
        return self._finite(source.map_rows(partial(_reconstruct, model)), source)

    def remove(self, X: Any, sources: Any) -> Array:
        """Return rows without some of their sources, for example those that hold eye blinks.

        Computes  X - sum_i s_i mixing_i'  over the sources named; what no source explains stays in the rows. Fit on
        some rows and remove from all of them.  Cost: one pass, 4 n d operations a source.

        Parameters
        ----------
        X : array, sparse array or table (n, d)
        sources : int, str, iterable of them, or mask of k bools
            The sources to take out: positions from 0, negative ones from the end, or names, so that 0 is "IC1"; or True
            for each that is to go. Repeated ones count once.

        Returns
        -------
        rows : array (n, d)
        """
        source = self._opened(X)
        positions = source_positions(sources, self._n_features_out, name=type(self).__name__)
        return self._finite(self._model.remove(source, positions), source)

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn what this estimator takes."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.sparse = True
        return tags

    @property
    def _n_features_out(self) -> int:
        """Number of columns that ``transform`` gives."""
        return int(self.components_.shape[0])

    @abstractmethod
    def _limits(self) -> Limits:
        """Return what each parameter may be."""

    @abstractmethod
    def _options(self) -> ICAOptions:
        """Return what the model is asked for."""

    def _fitted_model(self) -> ICAModel:
        if "_model" not in self.__dict__:
            check_is_fitted(self)
        return self._model

    def _shared_options(self) -> ICAOptions:
        """Return the options that every class of this kind has parameters for."""
        return ICAOptions(
            n_components=None if self.n_components is None or self.whiten is False else int(self.n_components),
            algorithm=self.algorithm,
            contrast=contrast_of(self.fun, self.fun_args),
            whiten=self.whiten is not False,
            tol=float(self.tol),
            max_iter=int(self.max_iter),
            start=None if self.w_init is None else _start_of(self.w_init),
            seed=seed_of(self.random_state),
            name=type(self).__name__,
            warning=UnmixingNotConverged,
        )

    def _fit(self, X: Any) -> RowSource:
        check_parameters(self, self._limits())
        options = self._options()
        if self.whiten is False and self.n_components is not None:
            warnings.warn("Ignoring n_components with whiten=False.", UserWarning, stacklevel=users_line())
        source = open_rows(self, X)
        model, names = fit_ica(source, options), feature_names(X, source)
        self._adopt(in_their_units(model, self.whiten), names)
        return source

    def _adopt(self, model: ICAModel, names: HostArray | None) -> None:
        """Take over a finished model: the last step of a fit, so that a fit that fails leaves the former one."""
        for name in ("feature_names_in_", "mean_", "whitening_"):
            self.__dict__.pop(name, None)
        fields: dict[str, Any] = {
            "components_": model.components,
            "mixing_": model.mixing,
            "_unmixing": model.unmixing,
            "n_iter_": model.n_iter,
            "gradient_norm_": model.gradient_norm,
            "explained_variance_": model.variances,
        }
        if model.mean is not None:
            fields |= {"mean_": model.mean, "whitening_": model.whitening}
        if names is not None:
            fields["feature_names_in_"] = names
        self.__dict__.update(fields, _model=model, n_features_in_=model.n_columns)

    def _opened(self, X: Any) -> RowSource:
        self._fitted_model()
        return open_new_rows(self, X)

    def _sources(self, source: RowSource) -> Array:
        return self._finite(self._model.project(source), source)

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


def _start_of(w_init: Any) -> HostArray:
    """Return ``w_init`` as a square matrix of finite numbers, or say what it is instead."""
    try:
        start = np.asarray(w_init, dtype=np.float64)
    except (TypeError, ValueError) as error:
        message = f"w_init is no matrix of numbers ({error}). Pass an array with a row and a column for each source."
        raise ParameterError(message) from error
    if start.ndim != 2 or start.shape[0] != start.shape[1]:
        message = f"w_init has invalid shape {start.shape} -- should be (k, k), a row and a column for each source."
        raise ParameterError(message)
    if not np.isfinite(start).all():
        i, j = np.argwhere(~np.isfinite(start))[0].tolist()
        message = f"w_init has {start[i, j]} in row {i}, column {j}. Pass finite numbers, or None to draw a start."
        raise ParameterError(message)
    return start


def in_their_units(model: ICAModel, whiten: Any) -> ICAModel:
    """Return the model with scikit-learn's whitening, K / sqrt(n), and sources of the variance asked for."""
    if model.whitening is None:
        return model
    root = sqrt(model.n_rows)
    if whiten == "arbitrary-variance":
        return replace(
            model, whitening=model.whitening / root, components=model.components / root, mixing=model.mixing * root
        )
    return replace(model, whitening=model.whitening / root, unmixing=model.unmixing * root)


def _block_sources(model: ICAModel, block: Block) -> Array:
    return model.project(block.rows)


def _reconstruct(model: ICAModel, block: Block) -> Array:
    sources = block.rows.toarray() if hasattr(block.rows, "indptr") else block.rows
    with np.errstate(invalid="ignore", over="ignore"):
        return model.reconstruct(cast(sources, dtype_of(model.components)))
