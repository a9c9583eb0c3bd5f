"""Probabilistic PCA, in scikit-learn's manners."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from gramian.arrays.namespace import HostArray, to_host
from gramian.arrays.precision import FLOAT64
from gramian.errors import InputError, NotSupportedError, ParameterError
from gramian.estimators.inputs import (
    FLAG,
    NOTHING,
    SEED,
    Limits,
    check_parameters,
    feature_names,
    keep_names,
    number,
    open_new_rows,
    open_rows,
    seed_of,
    whole,
)
from gramian.estimators.mixins import SaveMixin
from gramian.models.probabilistic.filling import choose_filling
from gramian.models.probabilistic.fit import ProbabilisticPCAModel, fit_probabilistic_pca
from gramian.sources.rows import Block, RowSource


class ProbabilisticPCA(SaveMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """PCA as a probability model: for tables with missing values (NaN), with the uncertainty of what is filled in.

    Computes  the maximum likelihood of  x = mu + W z + e,  z ~ N(0, I) of k numbers,  e ~ N(0, s2 I)  (Tipping and
    Bishop, 1999, doi:10.1111/1467-9868.00196):  without missing values in closed form, the principal components;
    with them by EM over what is known. The scores of a row are the expected  V (x - mu),  those of PCA where nothing is
    missing.

    Cost: n d k^2 operations per step, some tens to hundreds of them, and the table in memory. Not for values that
    are missing for a reason (too large to measure), nor for sparse tables, whose unstored entries would be
    zeros here. Where few entries are known, maximum likelihood overfits: use few components.

    Parameters
    ----------
    n_components : int or None, default=None
        From 1 to min(n, d). None: as many, up to 5, as predict held-out entries best.
    scale : bool, default=False
        Whether columns are divided by their deviation first; noise is taken to be equal in all of them.
    tol : float, default=1e-8
        EM stops when two steps raise the log-likelihood of an entry by less than this.
    max_iter : int, default=1000
        Steps of EM, at most.
    random_state : int, RandomState, Generator or None, default=None
        Which entries are held out, where the number of components is chosen. None is a fixed seed.

    Attributes
    ----------
    components_ : array (k, d)
        Orthonormal directions as rows, by decreasing variance.
    explained_variance_, explained_variance_ratio_ : array (k,)
        Along the components, noise included; over n, as maximum likelihood has it (``PCA(ddof=0)``).
    mean_ : array (d,)
    noise_variance_ : float
    loglike_ : float
        Mean log-likelihood of what is known of a row.
    n_components_, n_samples_, n_features_in_, n_iter_ : int
    feature_names_in_ : array (d,)
        Only for tables whose column names are all strings.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import ProbabilisticPCA
    >>> t = np.linspace(-1, 1, 31)
    >>> X = np.column_stack([t, 2 * t, -t]) + 0.01 * np.random.default_rng(0).standard_normal((31, 3))
    >>> X[5, 1] = np.nan
    >>> model = ProbabilisticPCA(n_components=1).fit(X)
    >>> bool(abs(model.impute(X)[5, 1] - 2 * t[5]) < 0.05)
    True
    >>> bool(model.impute_std(X)[5, 1] < 0.05)
    True
    """

    _MODEL: ClassVar[type] = ProbabilisticPCAModel
    _LIMITS: ClassVar[Limits] = {
        "n_components": (NOTHING, whole(1)),
        "scale": (FLAG,),
        "tol": (number(0.0),),
        "max_iter": (whole(1),),
        "random_state": (NOTHING, SEED),
    }

    components_: HostArray
    n_components_: int
    n_features_in_: int
    feature_names_in_: HostArray
    _model: ProbabilisticPCAModel
    _seed: int = 0

    def __init__(
        self,
        n_components: int | None = None,
        *,
        scale: bool = False,
        tol: float = 1e-8,
        max_iter: int = 1000,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.scale = scale
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> "ProbabilisticPCA":
        """Learn the model from rows with missing values.

        Parameters
        ----------
        X : array or table (n, d)
            NaN where nothing is known; every column needs two values that are.
        y : ignored

        Returns
        -------
        self : ProbabilisticPCA
        """
        check_parameters(self)
        source = open_rows(self, X)
        names, rows = feature_names(X, source), _dense(source)
        if len(rows) < 2:
            message = f"{len(rows)} sample is no table to learn a variance from: a minimum of 2 is required."
            raise InputError(message)
        seed = seed_of(self.random_state)
        k = self._count(rows, seed)
        model = fit_probabilistic_pca(rows, k, scale=self.scale, tol=float(self.tol), max_iter=self.max_iter)
        self._adopt(model, names)
        self._seed = seed
        return self

    def transform(self, X: Any) -> HostArray:
        """Return the expected scores of rows (n, k), given what is known of each."""
        model, rows = self._rows(X)
        return model.project(rows)

    def transform_std(self, X: Any) -> HostArray:
        """Return the standard deviation of each score (n, k): 0 for a complete row."""
        model, rows = self._rows(X)
        return model.transform_std(rows)

    def inverse_transform(self, X: Any) -> HostArray:
        """Return the rows (n, d) that scores (n, k) stand for: scores times components, plus the mean."""
        check_is_fitted(self)
        scores = np.asarray(X, dtype=FLOAT64)
        if scores.ndim != 2 or scores.shape[1] != self.n_components_:
            message = (
                f"X has shape {scores.shape}, and this ProbabilisticPCA has {self.n_components_} components. Pass "
                "scores as transform gives them, one column a component."
            )
            raise InputError(message)
        return self._model.reconstruct(scores)

    def impute(self, X: Any) -> HostArray:
        """Return rows (n, d) with each missing value filled by its expectation, given the rest of its row."""
        model, rows = self._rows(X)
        return model.impute(rows)

    def impute_std(self, X: Any) -> HostArray:
        """Return the standard deviation of each filled value (n, d), noise included; 0 where the value is known.

        It takes the model as given: how far the model itself is from the truth is not in it.
        """
        model, rows = self._rows(X)
        return model.impute_std(rows)

    def score_samples(self, X: Any) -> HostArray:
        """Return the log-likelihood of what is known of each row (n,)."""
        model, rows = self._rows(X)
        return model.score_samples(rows)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log-likelihood of what is known of a row."""
        return float(self.score_samples(X).mean())

    def get_covariance(self) -> HostArray:
        """Return the covariance of the rows under the model (d, d):  W W' + s2 I."""
        check_is_fitted(self)
        return self._model.covariance()

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn what this estimator takes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = False
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags

    @property
    def _n_features_out(self) -> int:
        """Number of columns that ``transform`` gives."""
        return int(self.components_.shape[0])

    def _count(self, rows: HostArray, seed: int) -> int:
        most = int(min(rows.shape))
        if self.n_components is None:
            return min(most, max(1, choose_filling(rows, scale=self.scale, seed=seed)))
        if self.n_components > most:
            message = (
                f"n_components={self.n_components} is more than min(n_samples, n_features)={most}. Pass an integer "
                f"from 1 to {most}, or None."
            )
            raise ParameterError(message)
        return int(self.n_components)

    def _adopt(self, model: ProbabilisticPCAModel, names: HostArray | None) -> None:
        whole = float(model.variances.sum()) + model.noise_variance * (len(model.mean) - len(model.variances))
        self._model = model
        self.components_, self.mean_ = model.components, model.mean
        self.explained_variance_, self.noise_variance_ = model.variances, model.noise_variance
        self.explained_variance_ratio_ = model.variances / whole
        self.loglike_, self.n_iter_ = model.log_likelihood, max(1, model.n_steps)
        self.n_components_, self.n_features_in_ = len(model.components), len(model.mean)
        self.n_samples_ = model.n_rows
        keep_names(self, names)

    def _model_to_save(self) -> ProbabilisticPCAModel:
        check_is_fitted(self)
        return self._model

    def _seed_used(self) -> int:
        return self._seed

    def _restore(self, model: ProbabilisticPCAModel, names: HostArray | None, fields: Mapping[str, Any]) -> None:
        del fields
        self._adopt(model, names)

    def _rows(self, X: Any) -> tuple[ProbabilisticPCAModel, HostArray]:
        check_is_fitted(self)
        rows = _dense(open_new_rows(self, X))
        if np.isinf(rows).any():
            row, column = (int(i) for i in np.argwhere(np.isinf(rows))[0])
            message = f"Row {row:,} holds infinity in column {column}. Remove it, or make it NaN if it is unknown."
            raise InputError(message, row=row, column=column)
        return self._model, rows


def _dense(source: RowSource) -> HostArray:
    """Return all rows as one array; a sparse table is refused."""
    if source.is_sparse:
        message = (
            "ProbabilisticPCA takes dense tables: of a sparse one, nothing says whether an entry that is not stored is "
            "zero or unknown. Pass X.toarray() with NaN for what is unknown, or use TruncatedSVD for zeros."
        )
        raise NotSupportedError(message)
    return np.asarray(source.map_rows(_rows_of), dtype=FLOAT64)


def _rows_of(block: Block) -> HostArray:
    return to_host(block.rows)
