"""Incremental PCA: scikit-learn's class over exact moments."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from gramian.arrays.namespace import HostArray, dtype_of, from_host, to_host
from gramian.errors import NotSupportedError, ParameterError
from gramian.estimators.inputs import (
    FLAG,
    NOTHING,
    RESOURCES,
    Limits,
    check_features,
    check_parameters,
    feature_names,
    open_rows,
    whole,
)
from gramian.estimators.mixins import saved_numbers
from gramian.estimators.projection import (
    GaussianScores,
    LinearProjection,
    StreamedFit,
    naming_the_model_of_missing_values,
)
from gramian.models.pca.fit import check_divisor, effective_rows, fit_pca
from gramian.models.pca.model import PCAModel, PCAOptions
from gramian.models.pca.streaming import Batches, ExactBatches, begin, resume, squares_fit
from gramian.sources.moments import measure_moments
from gramian.sources.progress import say
from gramian.sources.rows import RowSource


class IncrementalPCA(GaussianScores, StreamedFit, LinearProjection):
    """PCA from batches of rows, exact: the same answer as one fit of all of them.

    Computes  the components of  sum over batches of (rows - mean)'(rows - mean),  merged pairwise (Chan, Golub and
    LeVeque, 1979, doi:10.1007/978-3-642-51461-6_3).

    Takes the parameters and gives the attributes of ``sklearn.decomposition.IncrementalPCA``, which truncates after
    each batch and so depends on their order and size; this one does not. It keeps that class's refusals (a first
    batch smaller than ``n_components``, sparse rows in ``partial_fit``): ``PCA.partial_fit`` has neither.

    Cost: d^2 operations per row, two d x d matrices whatever the number of batches, and one d^3 solution when a fitted
    attribute is read. Where d x d does not fit the machine, ``fit`` goes through the rows, and ``partial_fit`` keeps
    leading directions and says what may be lost.

    Parameters
    ----------
    n_components : int or None, default=None
        How many components to keep. None: min(rows of the first batch, d).
    whiten : bool, default=False
        Whether scores are divided by the deviation along their component.
    copy : bool, default=True
        Accepted as scikit-learn's; rows are never written to.
    batch_size : int or None, default=None
        Kept by ``fit`` as ``batch_size_`` (None: 5 d). Rows are read in blocks that suit the machine; the answer does
        not depend on it.
    memory_budget : int or None, default=None
        Bytes that a fit may use beyond the rows. None: three quarters of the machine's memory.
    device : str or None, default=None
        Where to compute. None: where the rows are. Rows are not moved between devices.
    progress : callable or None, default=None
        Called with a sentence before each stage of the work.

    Attributes
    ----------
    components_ : array (k, d)
    explained_variance_, explained_variance_ratio_, singular_values_ : array (k,)
    mean_, var_ : array (d,)
        Mean and variance of each column (divided by n).
    noise_variance_ : float
    n_components_, n_samples_seen_, n_features_in_ : int
    batch_size_ : int
        Only after ``fit``; ``partial_fit`` has no batches to choose.
    feature_names_in_ : array (d,)
        Only for tables whose column names are all strings.
    certificate_, plan_, loadings_, rank_
        As those of ``PCA``.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import IncrementalPCA, PCA
    >>> X = np.random.default_rng(0).normal(size=(100, 3)) * [3.0, 2.0, 1.0]
    >>> batches = IncrementalPCA(n_components=2)
    >>> for start in range(0, 100, 25):
    ...     batches = batches.partial_fit(X[start : start + 25])
    >>> bool(np.allclose(batches.components_, PCA(n_components=2).fit(X).components_))
    True
    """

    _LIMITS: ClassVar[Limits] = {
        "n_components": (NOTHING, whole(1)),
        "whiten": (FLAG,),
        "copy": (FLAG,),
        "batch_size": (NOTHING, whole(1)),
        **RESOURCES,
    }
    _SOLVED: ClassVar[tuple[str, ...]] = ("_model", *LinearProjection._COPIED, "var_")  # noqa: SLF001

    def __init__(
        self,
        n_components: int | None = None,
        *,
        whiten: bool = False,
        copy: bool = True,
        batch_size: int | None = None,
        memory_budget: int | None = None,
        device: str | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        self.n_components = n_components
        self.whiten = whiten
        self.copy = copy
        self.batch_size = batch_size
        self.memory_budget = memory_budget
        self.device = device
        self.progress = progress

    def partial_fit(
        self, X: Any, y: Any = None, check_input: Any = True, sample_weight: Any = None
    ) -> "IncrementalPCA":
        """Learn from one more batch of rows, as if all batches had been one table.

        Parameters
        ----------
        X : array or table (n, d)
            Sparse rows are refused, as scikit-learn does; ``PCA.partial_fit`` takes them.
        y : ignored
        check_input : bool, default=True
            Accepted as scikit-learn's, in its place; rows are always checked.
        sample_weight : array (n,), optional
            How often each row counts: a weight is a repetition.

        Returns
        -------
        self : IncrementalPCA
            If a batch is refused, the state before it stays.
        """
        check_parameters(self)
        with naming_the_model_of_missing_values():
            source = open_rows(self, X, weights=sample_weight)
        if source.is_sparse:
            message = (
                "IncrementalPCA.partial_fit does not support sparse input. Either convert data to dense or use "
                "IncrementalPCA.fit to do so in batches. PCA.partial_fit takes sparse batches as they are."
            )
            raise NotSupportedError(message)
        earlier = self.__dict__.get("_batches")
        if earlier is not None:
            check_features(self, X, source)
        options = self._options(self._count_components(source, earlier))
        with naming_the_model_of_missing_values():
            if earlier is None:
                batches = begin(source, n_components=options.n_components, budget=self._budget)
            else:
                batches = earlier.absorb(source)
        self._remember(batches, options, self._counts(batches, options) | self._first_names(X, source, earlier))
        return self

    def _fit(self, X: Any, sample_weight: Any) -> RowSource:
        with naming_the_model_of_missing_values():
            check_parameters(self)
            source = open_rows(self, X, weights=sample_weight)
            options = self._options(self._count_components(source, None))
            check_divisor(source, options.ddof)
            batches, model = self._solved(source, options)
            names = feature_names(X, source)
            self._forget()
            self.__dict__.update(self._counts(batches, options), _batches=batches)
            self.batch_size_ = self.batch_size or 5 * source.n_columns
            self._adopt(model, names)
            self._set_column_variances(model)
            return source

    def _solved(self, source: RowSource, options: PCAOptions) -> tuple[Batches, PCAModel]:
        """Fit all rows exactly, through their moments or, where a d x d matrix does not fit, through the rows."""
        if squares_fit(source.n_columns, self._budget):
            say(self, f"solving: moments of {source.n_rows:,} rows in one pass, then {source.n_columns:,} columns")
            exact = ExactBatches.of(source)
            return exact, exact.fit(options)
        model = fit_pca(source, options)
        return resume(model, budget=self._budget, squares=measure_moments(source, scatter=False).squares), model

    def _options(self, k: int) -> PCAOptions:
        return PCAOptions(n_components=k, memory_budget=self.memory_budget, progress=self.progress)

    def _counts(self, batches: Batches, options: PCAOptions) -> dict[str, Any]:
        moments = batches.moments
        return {
            "n_features_in_": len(moments.mean),
            "n_samples_seen_": moments.count,
            "n_components_": options.n_components,
        }

    def _adopt_streamed(self, model: PCAModel) -> None:
        self._adopt(model, self.__dict__.get("feature_names_in_"))
        self._set_column_variances(model)

    def _set_column_variances(self, model: PCAModel) -> None:
        moments = self._batches.moments
        self.var_ = from_host(moments.squares / moments.weight, like=model.components, dtype=dtype_of(model.components))

    def _count_components(self, source: RowSource, earlier: Batches | None) -> int:
        """Return k, fixed by the first batch, in the limits and words of scikit-learn."""
        n, d, k = effective_rows(source), source.n_columns, self.n_components
        if k is None:
            return min(n, d) if earlier is None else int(self.n_components_)
        if k > d:
            message = (
                f"n_components={k} invalid for n_features={d}, need more rows than columns for IncrementalPCA "
                f"processing. Pass an integer up to {d}, or None."
            )
            raise ParameterError(message)
        if earlier is None and k > n:
            message = (
                f"n_components={k} must be less or equal to the batch number of samples {n} for the first partial_fit "
                "call. Begin with a larger batch, or use PCA.partial_fit, which takes any."
            )
            raise ParameterError(message)
        if earlier is not None and k != self.n_components_:
            message = (
                f"Number of input features has changed from {self.n_components_} to {k} between calls to partial_fit! "
                "Keep n_components as it was, or call fit."
            )
            raise ParameterError(message)
        return int(k)

    def _saved_fields(self) -> dict[str, Any]:
        batch = {"batch_size_": self.batch_size_} if "batch_size_" in self.__dict__ else {}
        return super()._saved_fields() | {"var_": self.var_} | batch

    def _restore(self, model: PCAModel, names: HostArray | None, fields: Mapping[str, Any]) -> None:
        super()._restore(model, names, fields)
        self.var_ = saved_numbers(fields, "var_", model.n_columns)
        self.n_components_, self.n_samples_seen_ = len(model.components), model.n_rows
        if "batch_size_" in fields:
            self.batch_size_ = int(fields["batch_size_"])
        squares = to_host(self.var_).astype(np.float64) * model.weight
        self._batches = resume(model, budget=self._budget, squares=squares)
