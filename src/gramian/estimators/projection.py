"""What PCA, IncrementalPCA and TruncatedSVD share.

``LinearProjection`` takes rows to scores and back. ``GaussianScores`` is the Gaussian that components and noise stand
for: how likely, and how far, each row is. ``StreamedFit`` is ``partial_fit``: batches are merged at once, and the
eigenproblem is solved when a fitted field is read.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramian.arrays.namespace import (
    Array,
    HostArray,
    cast,
    dtype_of,
    from_host,
    is_numpy,
    is_sparse,
    namespace_of,
    to_host,
)
from gramian.arrays.precision import FLOAT64
from gramian.errors import InputError
from gramian.estimators.inputs import (
    feature_names,
    finite_results,
    keep_names,
    open_new_rows,
    open_scores,
)
from gramian.estimators.mixins import CertifiedMixin, ReportMixin, WeightedFit, saved_numbers
from gramian.machine import memory_budget
from gramian.models.pca import scoring
from gramian.models.pca.fit import require_divisor
from gramian.models.pca.model import PCAModel, PCAOptions
from gramian.models.pca.scoring import Outliers, find_outliers
from gramian.models.pca.streaming import Batches
from gramian.models.placing import near
from gramian.models.score_file import write_scores
from gramian.sources.moments import measure_moments
from gramian.sources.on_device import map_home
from gramian.sources.rows import Block, RowSource, rows_here


class LinearProjection(CertifiedMixin, ReportMixin, WeightedFit):
    """A fitted linear map to scores and back, in scikit-learn's manners. Abstract: see ``PCA``.

    The fitted fields are those of one frozen model. A field that a person assigns afterwards
    (``pca.components_ = rotated``) is the one used from then on.
    """

    _MODEL: ClassVar[type] = PCAModel
    _COPIED: ClassVar[Mapping[str, str]] = {
        "components_": "components",
        "explained_variance_": "variances",
        "explained_variance_ratio_": "shares",
        "singular_values_": "singular_values",
        "mean_": "mean",
        "noise_variance_": "noise_variance",
    }
    _REPLACEABLE: ClassVar[tuple[str, ...]] = ("components_", "explained_variance_", "mean_")

    components_: Array
    explained_variance_: Array
    mean_: Array
    n_features_in_: int
    feature_names_in_: HostArray
    _model: PCAModel

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
        return write_scores(self._projection(model), source, path, names=self.get_feature_names_out())

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
        source = open_scores(self, X, k=k)
        self._check_library(model, source, "inverse_transform")
        factors = scoring.deviations(model) if self._is_whitened else None
        return finite_results(source.map_rows(partial(_reconstruct, model, factors)), source)

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
        return finite_results(scoring.reconstruction_error(model, source), source)

    def _fitted_model(self) -> PCAModel:
        """Return the model, with the fields that a person has replaced since the fit."""
        if "_model" not in self.__dict__:
            check_is_fitted(self)
        model = self._model
        changed = {}
        for name in self._REPLACEABLE:
            value, field = getattr(self, name), self._COPIED[name]
            if value is not getattr(model, field):
                changed[field] = value
        return replace(model, **changed) if changed else model

    def _adopt(self, model: PCAModel, names: HostArray | None) -> None:
        """Take over a finished model: the last step of a fit, so that a fit that fails leaves the former one."""
        fields = {name: getattr(model, field) for name, field in self._COPIED.items()}
        self.__dict__.update(fields, _model=model, n_features_in_=model.n_columns)
        keep_names(self, names)

    def _saved_fields(self) -> dict[str, Any]:
        """Return the variances that are not the model's: those that a person, or TruncatedSVD, has put there."""
        names = ("explained_variance_", "explained_variance_ratio_")
        here = {name: self.__dict__[name] for name in names if name in self.__dict__}
        model = self._fitted_model()
        return {
            name: value
            for name, value in here.items()
            if name not in self._COPIED or value is not getattr(model, self._COPIED[name])
        }

    def _restore(self, model: PCAModel, names: HostArray | None, fields: Mapping[str, Any]) -> None:
        self._adopt(model, names)
        for name in ("explained_variance_", "explained_variance_ratio_"):
            if name in fields:
                self.__dict__[name] = saved_numbers(fields, name, len(model.components))

    @property
    def _is_whitened(self) -> bool:
        return bool(getattr(self, "whiten", False))

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

    def _projection(self, model: PCAModel) -> Callable[[Block], Array]:
        return partial(_project, model, scoring.whitening(model) if self._is_whitened else None)

    def _scores_of_fit(self, fitted: RowSource) -> Array:
        return self._scores(self._model, fitted)

    def _scores(self, model: PCAModel, source: RowSource) -> Array:
        return finite_results(map_home(source, self._projection(near(model, source))), source)

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


@contextmanager
def naming_the_model_of_missing_values() -> Iterator[None]:
    """Add to a refusal of rows with NaN which estimator takes them."""
    try:
        yield
    except InputError as error:
        if error.is_missing:
            error.args = (f"{error} ProbabilisticPCA fits rows with missing values as they are.",)
        raise


def _project(model: PCAModel, factors: Array | None, block: Block) -> Array:
    """Return the scores of one block, whitened where there are factors; what is not finite is refused afterwards."""
    with np.errstate(invalid="ignore", over="ignore"):
        scores = model.project(block.rows)
        if factors is not None:
            scores *= factors
        return scores


def _reconstruct(model: PCAModel, factors: HostArray | None, block: Block) -> Array:
    """Return the rows of one block of scores, whitening undone where there are factors."""
    scores = block.rows.toarray() if is_sparse(block.rows) else block.rows
    scores = cast(scores, dtype_of(model.components))
    if factors is not None:
        scores = scores * from_host(factors, like=scores, dtype=dtype_of(scores))
    return model.reconstruct(scores)


def _library(array: Array) -> str:
    if isinstance(array, np.ndarray):
        return "NumPy arrays"
    return f"{type(array).__module__.partition('.')[0]} arrays on {array.device}"


class GaussianScores:
    """Covariance, likelihood and distances, for the estimators that have a noise variance."""

    _fitted_model: Any
    _opened: Any
    _saved_names: Any

    @property
    def rank_(self) -> int:
        """Components whose variance is more than rounding; of all components, the rank of the centered rows."""
        return int(self._fitted_model().rank)

    @property
    def loadings_(self) -> Array:
        """Components times the deviation along each (d, k), or covariances of columns with unit-variance scores."""
        model = self._fitted_model()
        factors = from_host(scoring.deviations(model), like=model.components, dtype=None)
        return model.components.T * namespace_of(factors).asarray(factors, dtype=model.components.dtype)

    def summary(self, X: Any = None) -> Any:
        """Return the tables of this fit; they print as R's ``summary(prcomp(...))`` and FactoMineR's do.

        Tables are data frames of the library of X, or of the rows of the fit: ``components`` (deviations, variances,
        shares), ``loadings``, ``contributions`` and ``cos2`` of the columns, and, of the rows given, ``scores``,
        ``row_contributions`` and ``row_cos2``.  Cost: with rows a pass for their scores and one for their lengths.

        Parameters
        ----------
        X : array, table or path (n, d), optional
            Rows to tell of: those of the fit, or others. After a fit with ``robust=True``, as many rows as were fitted
            are taken for those of the fit, and the ones that were not used have contributions of zero.

        Returns
        -------
        summary : Summary

        Examples
        --------
        >>> import numpy as np
        >>> from gramian import PCA
        >>> X = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 5.0], [4.0, 4.0]])
        >>> print(str(PCA().fit(X).summary()).partition("Columns")[0].strip())
        Importance of components
                                    PC1     PC2
        Standard deviation        2.089   0.798
        Variance                  4.363   0.637
        Proportion of variance    0.873   0.127
        Cumulative proportion     0.873   1.000
        """
        from gramian.analysis.summary import SummaryRows, library_of, summarize

        model, library, names = self._fitted_model(), getattr(self, "_library", None), self._saved_names()
        called = [f"x{j}" for j in range(model.n_columns)] if names is None else list(map(str, names))
        if X is None:
            return summarize(model, called, library=library)
        model, source = self._opened(X, "summary")
        support = getattr(self, "support_", None)
        used = np.ones(source.n_rows, dtype=bool)
        if support is not None and len(support) == source.n_rows:
            used, source = support, open_new_rows(self, X, weights=support)
        scores = to_host(rows_here(model.project(source))).astype(FLOAT64)
        off = find_outliers(model, source).spe
        spread = None
        if model.factor is None and model.is_centered:
            moments = measure_moments(source, scatter=False)
            spread = np.sqrt(moments.squares / max(moments.weight - model.options.ddof, 1.0))
        at = X.index if library_of(X) == "pandas" else range(len(scores))
        rows = SummaryRows(scores, np.square(scores).sum(axis=1) + off, list(map(str, at)), used)
        return summarize(model, called, spread=spread, rows=rows, library=library_of(X) or library)

    def get_covariance(self) -> Array:
        """Return the covariance of the rows under the model (d, d).

        Computes  C = V' diag(variances - s2) V + s2 I  with s2 the noise variance. It is the covariance of the
        rows as they came, whether or not ``whiten`` is set (scikit-learn's is another matrix when it is).
        Cost: d^2 k operations and one d x d matrix: not for d in the tens of thousands.

        Returns
        -------
        covariance : array (d, d)
        """
        return scoring.covariance(self._fitted_model())

    def get_precision(self) -> Array:
        """Return the inverse of the covariance (d, d); its pseudo-inverse where it is singular.

        Computes  V' diag(1/variances - 1/s2) V + I/s2,  which needs no inversion.
        Cost: d^2 k operations and one d x d matrix.

        Returns
        -------
        precision : array (d, d)
        """
        return scoring.precision(self._fitted_model())

    def score_samples(self, X: Any) -> Array:
        """Return the log-likelihood of each row under the model.

        Computes  -(d log 2 pi + log det C + z' diag(1/variances) z + r^2/s2) / 2,  z being the scores of a row and
        r its distance from the subspace of the components. Without noise and with fewer directions than columns
        the density is that within the subspace, and -inf for a row off it.  Cost: one pass, 4 n d k operations.

        Parameters
        ----------
        X : array, sparse array or table (n, d)

        Returns
        -------
        log_likelihood : array (n,)
        """
        model, source = self._opened(X, "score_samples")
        return finite_results(scoring.log_likelihood(model, source), source)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log-likelihood of the rows, so that a grid search can choose ``n_components``.

        Parameters
        ----------
        X : array, sparse array or table (n, d)
        y : ignored

        Returns
        -------
        mean_log_likelihood : float
        """
        samples = self.score_samples(X)
        return float(rows_here(namespace_of(samples).mean(samples)))

    def hotelling_t2(self, X: Any) -> Array:
        """Return Hotelling's T2 of each row: its squared distance from the mean, in standard deviations.

        Computes  sum of scores^2 / variances  over the components. Null directions count nothing.
        Cost: one pass, 2 n d k operations. It sees only the subspace of the components: a row far outside it
        shows in ``reconstruction_error`` instead.

        Parameters
        ----------
        X : array, sparse array or table (n, d)

        Returns
        -------
        t2 : array (n,)
        """
        model, source = self._opened(X, "hotelling_t2")
        return finite_results(scoring.hotelling_t2(model, source), source)

    def outliers(self, X: Any, *, n_components: int | None = None, level: float = 0.99) -> Outliers:
        """Return both distances of each row with their limits, and the rows above one of them, furthest first.

        Computes Hotelling's T2 within the components and the squared prediction error off them: see
        :func:`~gramian.models.pca.scoring.find_outliers`.  Cost: one pass, 4 n d k operations.

        Parameters
        ----------
        X : array, sparse array or table (n, d)
        n_components : int, optional
            Components that count as known; by default all, and then nothing is left to be off.
        level : float, default=0.99
            Share of Gaussian rows under each limit.

        Returns
        -------
        Outliers
        """
        model, source = self._opened(X, "outliers")
        found = find_outliers(model, source, n_components=n_components, level=level)
        finite_results(found.t2 + found.spe, source)
        return found


class StreamedFit(ABC):
    """The state of ``partial_fit``: one frozen ``Batches`` value, replaced by each merge, and the options to solve it.

    A batch costs its own d^2 operations per row and one d x d addition. The eigenproblem, d^3, is solved once for
    any number of batches: the first time that a fitted field is read.
    """

    _SOLVED: ClassVar[tuple[str, ...]]
    memory_budget: int | None
    _batches: Batches
    _pending: PCAOptions

    def __getattr__(self, name: str) -> Any:
        """Solve what has been gathered when a field of the solution is read for the first time."""
        if name in self._SOLVED and "_pending" in self.__dict__:
            model = self._batches.fit(self._pending)
            # Here and not when a batch comes: later batches may bring what the first ones lack.
            require_divisor(model.n_rows, model.options.ddof, weight=model.weight)
            self._adopt_streamed(model)
            del self._pending
            return self.__dict__[name]
        if isinstance(getattr(type(self), name, None), property):
            # A property that could not be read because nothing is fitted: its own sentence, not that it is missing.
            check_is_fitted(self)
        message = f"{type(self).__name__!r} object has no attribute {name!r}"
        raise AttributeError(message)

    @abstractmethod
    def _adopt_streamed(self, model: PCAModel) -> None:
        """Take the solution of the batches gathered so far."""

    @property
    def _budget(self) -> int:
        return self.memory_budget or memory_budget()

    def _remember(self, batches: Batches, pending: PCAOptions, fields: dict[str, Any]) -> None:
        """Replace the state and drop the solution of the former one."""
        for name in self._SOLVED:
            self.__dict__.pop(name, None)
        self.__dict__.update(fields, _batches=batches, _pending=pending)

    def _forget(self) -> None:
        """Drop the state: a fit of all rows at once starts anew."""
        self.__dict__.pop("_batches", None)
        self.__dict__.pop("_pending", None)

    def _first_names(self, X: Any, source: RowSource, earlier: Batches | None) -> dict[str, Any]:
        """Return the column names to remember: those of the first batch."""
        names = None if earlier is not None else feature_names(X, source)
        return {} if names is None else {"feature_names_in_": names}
