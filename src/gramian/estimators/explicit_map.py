"""What the estimators of explicit maps share: fit and measure, rows in, features out."""

from abc import abstractmethod
from math import isfinite
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from gramian.arrays.namespace import Array, HostArray, namespace_of
from gramian.errors import InputError, MemoryBudgetError
from gramian.estimators.features import feature_names
from gramian.estimators.opening import open_new_rows, open_rows
from gramian.estimators.parameters import Limits, check_parameters
from gramian.features.feature_map import FeatureMap, FeatureRecipe
from gramian.features.kernel_error import KernelError, measure_kernel_error
from gramian.features.mapped_rows import MappedRows
from gramian.planning.machine import available_memory
from gramian.sources.opening import require_finite
from gramian.sources.rows import Block, RowSource


class ExplicitMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A feature map in scikit-learn's manners. Abstract: see ``PolynomialMap``, ``FourierFeatures``, ``Nystroem``."""

    LIMITS: ClassVar[Limits]

    n_features_in_: int
    feature_names_in_: HostArray
    error_estimate_: KernelError | None
    _map: FeatureMap

    def fit(self, X: Any, y: Any = None) -> "ExplicitMap":
        """Fit the map to rows, and measure its error on them.

        Parameters
        ----------
        X : array, sparse array or table (n, d)
        y : ignored

        Returns
        -------
        self : estimator
            If the fit fails, the former map stays.
        """
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Fit the map to rows and return their features: the same as ``fit(X).transform(X)``.

        Parameters
        ----------
        X : array, sparse array or table (n, d)
        y : ignored

        Returns
        -------
        features : array (n, D)
        """
        return self._features(self._fit(X))

    def transform(self, X: Any) -> Array:
        """Return the features of rows.

        Parameters
        ----------
        X : array, sparse array or table (n, d)

        Returns
        -------
        features : array (n, D)
            In the library and the precision of X; dense also for sparse rows.
        """
        check_is_fitted(self, "_map")
        source = open_new_rows(self, X)
        # Looked for in the rows: a kernel may well give finite numbers for infinite ones.
        require_finite(source)
        return self._features(source)

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn what this estimator takes."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.sparse = True
        return tags

    @abstractmethod
    def _recipe(self) -> FeatureRecipe:
        """Return what is asked for."""

    @property
    def _n_features_out(self) -> int:
        """Number of columns that ``transform`` gives."""
        return self._map.n_features

    def _fit(self, X: Any) -> RowSource:
        check_parameters(self, self.LIMITS)
        source = open_rows(self, X)
        require_finite(source)
        phi = self._recipe().fit(source)
        error = None if phi.kernel is None else measure_kernel_error(phi, source)
        names = feature_names(X, source)
        self.__dict__.pop("feature_names_in_", None)
        self._map, self.error_estimate_, self.n_features_in_ = phi, error, source.n_columns
        if names is not None:
            self.feature_names_in_ = names
        self._adopt(phi)
        return source

    def _adopt(self, phi: Any) -> None:
        """Copy the fields of a fitted map."""

    def _features(self, source: RowSource) -> Array:
        needed = source.n_rows * self._map.n_features * source.dtype.itemsize
        if needed > available_memory():
            raise _too_large(source, self._map, needed)
        with np.errstate(over="ignore", invalid="ignore"):
            features = MappedRows(source, self._map).map_rows(_rows_of)
            total = float(namespace_of(features).sum(features))
        if not isfinite(total):
            message = f"The features of these rows overflow {source.dtype.name}. Scale the columns first."
            raise InputError(message)
        return features


def _rows_of(block: Block) -> Array:
    return block.rows


def _too_large(source: RowSource, phi: FeatureMap, needed: int) -> MemoryBudgetError:
    free = available_memory()
    message = (
        f"{source.n_rows:,} rows of {phi.n_features:,} features are {needed / 1e9:,.1f} GB, and {free / 1e9:,.1f} GB "
        "are free. Transform them in parts, or ask for fewer features."
    )
    return MemoryBudgetError(message, needed=needed, budget=free)
