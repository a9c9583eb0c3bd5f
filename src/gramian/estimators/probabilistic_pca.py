"""Probabilistic PCA, in scikit-learn's manners: tables with missing values, filled with their uncertainty."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from gramian.arrays.namespace import HostArray, to_host
from gramian.arrays.precision import FLOAT64
from gramian.errors import InputError, ParameterError
from gramian.estimators.inputs import (
    FLAG,
    NOTHING,
    RESOURCES,
    SEED,
    Limit,
    Limits,
    check_parameters,
    feature_names,
    is_whole,
    keep_names,
    number,
    one_of,
    open_new_rows,
    open_rows,
    open_scores,
    seed_of,
    whole,
)
from gramian.estimators.mixins import SaveMixin
from gramian.models.probabilistic.entries import known_entries, one_value_per_cell
from gramian.models.probabilistic.fit import ProbabilisticPCAOptions, fit_probabilistic_pca
from gramian.models.probabilistic.model import ProbabilisticPCAModel
from gramian.sources.rows import Block, RowSource

TWO_NUMBERS = Limit(
    lambda value: (
        isinstance(value, tuple | list)
        and len(value) == 2
        and all(is_whole(limit) or isinstance(limit, float | np.floating) for limit in value)
        and value[0] < value[1]
    ),
    "two numbers, the smaller one first, such as (1, 5)",
)


class ProbabilisticPCA(SaveMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """PCA as a probability model: for tables with missing values, few or nearly all, filled with their uncertainty.

    Computes  the posterior of  x_ij = mu_j + a_i + w_j'z_i + e  on what is known, by variational Bayes (Ilin and Raiko,
    2010, JMLR 11:1957): Gaussian priors on all parts, whose variances are learned too, so that few entries do not
    overfit and components that are not needed are removed. Without missing values, and without row biases a_i, it is
    Tipping and Bishop's closed form (1999, doi:10.1111/1467-9868.00196), the principal components. The scores of a row
    are the expected  V (x - mu - a),  those of PCA where nothing is missing.

    Missing are NaN and nulls in a dense table, and the entries that a sparse one does not store; a stored zero is a
    known zero. ``gramian.triplets(rows, columns, values)`` makes such a table, with the mean of what is given twice.

    Cost: 2 k^2 operations per known entry and round, tens of rounds, over all cores; a sparse table is never made
    dense, and complete rows of a dense one cost one pass together. Not for values that are missing for a reason (too
    large to measure): nothing here knows of it.

    Parameters
    ----------
    n_components : int, "auto" or None, default=None
        At most so many, from 1 to min(n, d); those that the data do not need are removed, down to one, but for
        a complete table without row biases, whose closed form keeps all. None and "auto":
        as many as predict held-out entries best, which may be none: then columns are predicted by their means.
    biases : bool or None, default=None
        Whether rows have a level of their own, a_i: users who rate high, plates that are bright. None: for sparse
        tables.
    scale : bool, default=False
        Whether columns are divided by the deviation of what is known in them; noise is taken to be equal in all.
    bounds : (low, high) or None, default=None
        Limits of filled and predicted values: (1, 5) for stars.
    tol : float, default=1e-5
        Rounds end when one raises the log evidence of an entry by less than this.
    max_iter : int, default=500
        Rounds, at most.
    random_state : int, RandomState, Generator or None, default=None
        Where the iteration begins, and which entries are held out to choose the number of components. None is a fixed
        seed.
    memory_budget : int or None, default=None
        Bytes that a fit may use beyond the rows. None: three quarters of the machine's memory.
    progress : callable or None, default=None
        Called with a sentence before each stage of the work, and after each round.

    Attributes
    ----------
    components_ : array (k, d)
        Orthonormal directions as rows, by decreasing variance.
    explained_variance_, explained_variance_ratio_ : array (k,)
        Of the model, noise included: along the components, and as shares of its whole variance. Over n, as maximum
        likelihood has it (``PCA(ddof=0)``).
    explained_variance_ratio_std_ : array (k,)
        Standard deviations of the shares: other rows, and other missing values, would give others by so much.
    mean_ : array (d,)
    noise_variance_, row_bias_variance_ : float
        Of e and of a_i, in standardized units where ``scale``; 0 where rows have no biases or need none.
    evidence_ : float
        Lower bound of the log evidence, per known entry; without missing values the log-likelihood.
    n_components_, n_samples_, n_features_in_, n_iter_ : int
    n_components_reason_ : str
        How the number of components was chosen.
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
    >>> filled, std = model.impute(X, return_std=True)
    >>> bool(abs(filled[5, 1] - 2 * t[5]) < 0.05), bool(0 < std[5, 1] < 0.05)
    (True, True)
    """

    _MODEL: ClassVar[type] = ProbabilisticPCAModel
    _LIMITS: ClassVar[Limits] = {
        "n_components": (NOTHING, whole(1), one_of("auto")),
        "biases": (NOTHING, FLAG),
        "scale": (FLAG,),
        "bounds": (NOTHING, TWO_NUMBERS),
        "tol": (number(0.0),),
        "max_iter": (whole(1),),
        "random_state": (NOTHING, SEED),
        "memory_budget": RESOURCES["memory_budget"],
        "progress": RESOURCES["progress"],
    }

    components_: HostArray
    n_components_: int
    n_features_in_: int
    feature_names_in_: HostArray
    _model: ProbabilisticPCAModel
    _seed: int = 0

    def __init__(
        self,
        n_components: int | str | None = None,
        *,
        biases: bool | None = None,
        scale: bool = False,
        bounds: tuple[float, float] | None = None,
        tol: float = 1e-5,
        max_iter: int = 500,
        random_state: Any = None,
        memory_budget: int | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        self.n_components = n_components
        self.biases = biases
        self.scale = scale
        self.bounds = bounds
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.memory_budget = memory_budget
        self.progress = progress

    def fit(self, X: Any, y: Any = None) -> "ProbabilisticPCA":
        """Learn the model from rows with missing values.

        Parameters
        ----------
        X : array, sparse array, table or path (n, d)
            NaN, or a null of a table, where nothing is known; of a sparse array, what it does not store. Rows and
            columns of which nothing is known are allowed, where a column has two known values: they are predicted by
            what is expected of any other.
        y : ignored

        Returns
        -------
        self : ProbabilisticPCA
        """
        check_parameters(self)
        source = open_rows(self, _one_value_per_cell(X), missing=True)
        if source.n_rows < 2:
            message = f"{source.n_rows} sample is no table to learn a variance from: a minimum of 2 is required."
            raise InputError(message)
        seed, most = seed_of(self.random_state), min(source.n_rows, source.n_columns)
        k = self.n_components
        if is_whole(k) and k > most:  # type: ignore[operator]
            message = (
                f"n_components={k} is more than min(n_samples, n_features)={most}. Pass an integer from 1 to {most}, "
                "or None."
            )
            raise ParameterError(message)
        options = ProbabilisticPCAOptions(
            n_components=int(k) if is_whole(k) else None,  # type: ignore[arg-type]
            least=1 if is_whole(k) else 0,
            biases=None if self.biases is None else bool(self.biases),
            bounds=None if self.bounds is None else (float(self.bounds[0]), float(self.bounds[1])),
            tol=float(self.tol),
            max_iter=int(self.max_iter),
            seed=seed,
            memory_budget=self.memory_budget,
            progress=self.progress,
        )
        names = feature_names(X, source)
        known = known_entries(source, scale=self.scale, budget=self.memory_budget)
        self._adopt(fit_probabilistic_pca(known, options), names)
        self._seed = seed
        return self

    def transform(self, X: Any) -> HostArray:
        """Return the expected scores of rows (n, k), given what is known of each."""
        return self._each(X, ProbabilisticPCAModel.project)

    def transform_std(self, X: Any) -> HostArray:
        """Return the standard deviation of each score (n, k): 0 for a complete row."""
        return self._each(X, ProbabilisticPCAModel.project_std)

    def inverse_transform(self, X: Any) -> HostArray:
        """Return the rows (n, d) that scores (n, k) stand for: scores times components, plus the mean."""
        check_is_fitted(self)
        if np.shape(X)[1:] == (self.n_components_,) == (0,):  # no table that others open
            return self._model.reconstruct(np.zeros(np.shape(X)))
        scores = open_scores(self, X, k=self.n_components_).map_rows(_rows_of)
        return self._model.reconstruct(np.asarray(scores, dtype=FLOAT64))

    def impute(self, X: Any, *, return_std: bool = False) -> Any:
        """Return rows (n, d) with each missing value filled by its expectation, given the rest of its row.

        The result is dense: of a large sparse table, ask :meth:`predict` for the cells that matter.

        Parameters
        ----------
        X : array, sparse array, table or path (n, d)
        return_std : bool, default=False
            Whether the standard deviations of the filled values come too: those of a new measurement, noise, row and
            parameters included; 0 where the value is known.

        Returns
        -------
        filled : array (n, d), or the pair (filled, std)
        """
        if return_std:
            return self._pair(X, ProbabilisticPCAModel.impute_with_std)
        return self._each(X, ProbabilisticPCAModel.impute)

    def predict(self, rows: Any, columns: Any = None, *, return_std: bool = False) -> Any:
        """Return expected values of cells, by positions of rows and columns of the fit.

        Parameters
        ----------
        rows, columns : integers (m,)
            Cell by cell. -1 is a row or column that the fit did not have: what is expected of any. Without ``columns``,
            ``rows`` is a table (n, d) as ``transform`` takes it, and all of its cells are predicted, known ones too.
        return_std : bool, default=False
            Whether the standard deviations of a new measurement of each cell come too.

        Returns
        -------
        values : array (m,), or (n, d) of a table; or the pair (values, std)
        """
        check_is_fitted(self)
        if columns is None:
            found = self._pair(rows, ProbabilisticPCAModel.expected)
        else:
            found = self._model.predict(rows, columns)
        return found if return_std else found[0]

    def sample_imputations(self, X: Any, m: int = 10, *, random_state: Any = None) -> HostArray:
        """Return m filled tables (m, n, d), missing values drawn from the variational posterior: multiple imputation.

        Between the tables rows and columns vary by what is not known of them, and new noise is added. Combine what is
        computed from each by Rubin's rules (1987). Rows and columns are drawn independently of each other, and the
        variance of the noise is fixed at its estimate: from few entries the tables differ less than they should.
        """
        source = self._new_rows(X)
        rows = list(source.map_blocks(lambda block: block.rows))
        table = sp.vstack(rows, format="csr") if source.is_sparse else np.concatenate([to_host(part) for part in rows])
        return np.array(list(self._model.sample(table, m, seed=seed_of(random_state))))

    def score_samples(self, X: Any) -> HostArray:
        """Return the log-likelihood of what is known of each row (n,)."""
        return self._each(X, ProbabilisticPCAModel.score_samples)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log-likelihood of what is known of a row."""
        return float(self.score_samples(X).mean())

    def score_entries(self, rows: Any, columns: Any, values: Any) -> float:
        """Return the mean log density of cells of the fit's rows that it has not seen: the higher, the better."""
        check_is_fitted(self)
        return float(self._model.log_likelihood(rows, columns, values).mean())

    def get_covariance(self) -> HostArray:
        """Return the covariance of the rows under the model (d, d):  W W' + v_a 1 1' + v I."""
        check_is_fitted(self)
        return self._model.covariance()

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn what this estimator takes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags

    @property
    def _n_features_out(self) -> int:
        """Number of columns that ``transform`` gives."""
        return int(self.components_.shape[0])

    def _adopt(self, model: ProbabilisticPCAModel, names: HostArray | None) -> None:
        self._model = model
        self.components_, self.mean_ = model.components, model.mean
        self.explained_variance_, self.noise_variance_ = model.variances, model.noise_variance
        self.explained_variance_ratio_, self.explained_variance_ratio_std_ = model.shares, model.share_errors
        self.row_bias_variance_, self.evidence_ = model.row_bias_variance, model.evidence
        self.n_components_, self.n_features_in_ = model.n_components, model.n_columns
        self.n_samples_, self.n_iter_ = model.n_rows, max(1, model.n_steps)
        self.n_components_reason_ = model.reason
        keep_names(self, names)

    def _model_to_save(self) -> ProbabilisticPCAModel:
        check_is_fitted(self)
        return self._model

    def _seed_used(self) -> int:
        return self._seed

    def _restore(self, model: ProbabilisticPCAModel, names: HostArray | None, fields: Mapping[str, Any]) -> None:
        del fields
        self._adopt(model, names)

    def _new_rows(self, X: Any) -> RowSource:
        check_is_fitted(self)
        return open_new_rows(self, _one_value_per_cell(X), missing=True)

    def _each(self, X: Any, method: Callable[[ProbabilisticPCAModel, Any], HostArray]) -> HostArray:
        """Return what a method of the model gives for each row of X, a block at a time."""
        source = self._new_rows(X)

        def local(block: Block) -> HostArray:
            rows = block.rows if source.is_sparse else to_host(block.rows)
            return method(self._model, rows)

        # Dask refuses NaN in rows that are mapped there: they come here, a chunk at a time.
        return source.map_rows(local) if source.is_local else np.concatenate(list(source.map_blocks(local)))

    def _pair(
        self, X: Any, method: Callable[[ProbabilisticPCAModel, Any], tuple[HostArray, HostArray]]
    ) -> tuple[HostArray, HostArray]:
        both = self._each(X, lambda model, rows: np.stack(method(model, rows), axis=1))
        return both[:, 0], both[:, 1]


def _one_value_per_cell(X: Any) -> Any:
    """Return X as others open it: of cells that a sparse table stores twice the mean counts."""
    return one_value_per_cell(X) if sp.issparse(X) else X


def _rows_of(block: Block) -> HostArray:
    return to_host(block.rows)
