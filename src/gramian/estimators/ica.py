"""Independent component analysis, in the manners of scikit-learn's FastICA: ``ICA``, ``FastICA`` and ``fastica``."""

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from math import sqrt
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning as TheirConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from gramian.arrays.namespace import Array, HostArray, cast, dtype_of, is_sparse
from gramian.errors import ConvergenceWarning, ParameterError, users_line
from gramian.estimators.inputs import (
    CALL,
    FLAG,
    NOTHING,
    RESOURCES,
    SEED,
    Limit,
    Limits,
    check_parameters,
    feature_names,
    finite_results,
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
from gramian.estimators.mixins import ReportMixin, WeightedFit
from gramian.models.ica.fit import METHODS, fit_ica
from gramian.models.ica.model import ICAModel, ICAOptions
from gramian.models.placing import home, near
from gramian.models.score_file import write_scores
from gramian.sources.on_device import map_home
from gramian.sources.rows import Block, RowSource
from gramian.unmixing.contrast import CONTRASTS, Contrast, contrast_of
from gramian.unmixing.independence import Independence, source_name


class UnmixingNotConverged(ConvergenceWarning, TheirConvergenceWarning):
    """Gramian's warning and scikit-learn's in one, so that a filter for either sees it."""


FASTICA_LIMITS: Limits = {
    "n_components": (NOTHING, whole(1)),
    "algorithm": (one_of("parallel", "deflation"),),
    "whiten": (
        one_of("unit-variance", "arbitrary-variance"),
        Limit(lambda value: value is False or value is np.False_, "False"),
    ),
    "fun": (one_of(*CONTRASTS), CALL),
    "fun_args": (NOTHING, Limit(lambda value: isinstance(value, dict), "a dict")),
    "max_iter": (whole(1),),
    "tol": (number(0.0),),
    "w_init": (
        NOTHING,
        Limit(
            lambda value: hasattr(value, "__array__") or isinstance(value, list | tuple),
            "an array with a row and a column for each source",
        ),
    ),
    "whiten_solver": (one_of("eigh", "svd"),),
    "random_state": (NOTHING, SEED),
    **RESOURCES,
}
"""Limits of the parameters that both classes have."""


class UnmixedSources(ReportMixin, WeightedFit):
    """A fitted linear map to independent sources and back, in scikit-learn's manners. Abstract: see ``ICA``."""

    _MODEL: ClassVar[type] = ICAModel

    n_components: int | None
    algorithm: str
    whiten: str | bool
    fun: Any
    fun_args: dict[str, Any] | None
    max_iter: int
    tol: float
    w_init: Any
    random_state: Any
    memory_budget: int | None
    progress: Callable[[str], None] | None
    components_: Array
    mixing_: Array
    mean_: Array
    n_features_in_: int
    n_iter_: int
    feature_names_in_: HostArray
    _model: ICAModel

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
        return self._scores_of_fit(self._opened(X))

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
        model = self._fitted_model()
        source = open_scores(self, X, k=self._n_features_out, scores="sources", of="sources")
        return finite_results(source.map_rows(partial(_reconstruct, model)), source)

    def remove(self, X: Any, sources: Any) -> Array:
        """Return rows without some of their sources, for example those that hold eye blinks.

        Computes  X - sum_i s_i mixing_i'  over the sources named; what no source explains stays in the rows. Fit on
        some rows and remove from all of them.  Cost: one pass, 4 n d operations per source.

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
        return finite_results(self._model.remove(source, positions), source)

    @property
    def _n_features_out(self) -> int:
        """Number of columns that ``transform`` gives."""
        return int(self.components_.shape[0])

    def _fitted_model(self) -> ICAModel:
        if "_model" not in self.__dict__:
            check_is_fitted(self)
        return self._model

    def _options(self) -> ICAOptions:
        """Return what the model is asked for, by the parameters that both classes have."""
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
            memory_budget=self.memory_budget,
            progress=self.progress,
        )

    def _fit(self, X: Any, sample_weight: Any) -> RowSource:
        check_parameters(self)
        options = self._options()
        if self.whiten is False and self.n_components is not None:
            warnings.warn("Ignoring n_components with whiten=False.", UserWarning, stacklevel=users_line())
        source = open_rows(self, X, weights=sample_weight, moves="streamed")
        model, names = home(fit_ica(source, options), source), feature_names(X, source)
        self._adopt(in_their_units(model, self.whiten), names)
        return source

    def _adopt(self, model: ICAModel, names: HostArray | None) -> None:
        """Take over a finished model: the last step of a fit, so that a fit that fails leaves the former one."""
        for name in ("mean_", "whitening_"):
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
        self.__dict__.update(fields, _model=model, n_features_in_=model.n_columns)
        keep_names(self, names)

    def _restore(self, model: ICAModel, names: HostArray | None, fields: Mapping[str, Any]) -> None:
        del fields
        self._adopt(model, names)

    def _opened(self, X: Any) -> RowSource:
        self._fitted_model()
        return open_new_rows(self, X)

    def _scores_of_fit(self, fitted: RowSource) -> Array:
        return finite_results(map_home(fitted, partial(_block_sources, near(self._model, fitted))), fitted)


class ICA(UnmixedSources):
    """Independent component analysis: the linear map whose outputs have the least mutual information.

    Computes  S = (X - mean) components',  components = W K:  K whitens on the directions that the rows have, W makes
    the sources as little Gaussian, and so as independent, as it can. Sources of unit variance come ordered by the
    variance that they explain; the largest entry of each mixing column is positive.

    Takes the parameters and gives the attributes of ``sklearn.decomposition.FastICA``. Differences: the default
    algorithm is Picard-O, which finds FastICA's solutions and converges on recordings too; ``tol`` bounds the gradient
    norm, of every algorithm; repeated or constant columns reduce the number of sources; independence and stability
    are measured.

    Cost: that of a PCA, then one pass per iteration: 4 n k^2 operations and n k hyperbolic tangents, in float32 but for
    the last ones, and 4 n k bytes. Not for Gaussian sources, which no method can tell apart: ``independence_`` names
    them.

    Parameters
    ----------
    n_components : int or None, default=None
        How many sources. None: as many as the rows have directions.
    algorithm : {'picard', 'parallel', 'deflation', 'infomax'}, default='picard'
        Picard-O, symmetric FastICA, FastICA one source at a time, or extended Infomax.
    whiten : {'unit-variance', 'arbitrary-variance', False}, default='unit-variance'
        Sources of variance 1, of variance 1/n, or rows that are white already and are not even centered: a warning
        says where they are not.
    fun : {'logcosh', 'exp', 'cube'}, callable or Contrast, default='logcosh'
        The contrast; a function as scikit-learn takes it (see :func:`~gramian.unmixing.contrast.check_contrast`).
        Infomax needs one that is part of a density, so whose psi grows slower than s: not 'cube'.
    fun_args : dict or None, default=None
        Arguments of the contrast, for example {'alpha': 1.5}.
    max_iter : int, default=200
    tol : float, default=1e-6
        Largest entry of the relative gradient at which the algorithm stops.
    w_init : array (k, k) or None, default=None
        First unmixing matrix of the white rows.
    whiten_solver : {'svd', 'eigh'}, default='svd'
        Accepted as scikit-learn's; whitening is by PCA, which keeps all digits in either case.
    random_state : int, RandomState, Generator or None, default=None
        Where the algorithm starts. None is a fixed seed.
    runs : int, default=1
        With 2 or more: how many parts of the rows are unmixed, each from a start of its own, to measure ``stability_``;
        the fit then begins at the most central of them. Each has one row in ``runs`` (of 20,000 at most), a quarter of
        them at most, or 10 for each source where that is more.
    independence : bool or 'all', default=True
        Whether independence is measured: on at most 100,000 rows of up to 5 sources, 12,500 of 10, 10,000 of 11 to 50
        and 200 per source of more; 'all' takes all rows. ``independence_.n_rows`` says how many it were, and the errors
        stated hold for that many. Weighted rows are drawn by their weights. No source is called too Gaussian that all
        rows can tell from one.
    memory_budget : int or None, default=None
        Bytes that a fit may use beyond the rows. None: three quarters of the machine's memory. A copy of the white
        rows takes no more than that, or an eighth of the memory.
    device : str, torch.device or None, default=None
        Where to compute. None: where the rows are. Rows of the host are moved to another one, as a whole or, where
        they do not fit, in each pass; what is made of them comes back to the host.
    progress : callable or None, default=None
        Called with a sentence before each stage of the work.

    Attributes
    ----------
    components_ : array (k, d)
        The map to the sources.
    mixing_ : array (d, k)
        The map back: its pseudo-inverse.
    whitening_ : array (k, d)
        K / sqrt(n).
    mean_ : array (d,)
    explained_variance_ : array (k,)
        Variance that each source adds to the columns, summed over them.
    gradient_norm_ : float
        Largest entry of the relative gradient of the algorithm's objective at the W that it found. Infomax finds a
        scale of its own for every source, at which this holds; sources are brought to their variance afterwards.
    n_iter_ : int
        Iterations, those on a first sample of the rows and in float32 too.
    mutual_information_drop_ : float
        Nats of mutual information that unmixing took out of the white columns. Not finite for discrete columns, which
        have no density, where their values are seen to repeat: of few rows the error of W may part them, and the drop
        is large and about as uncertain. NaN for fewer than 50 rows or 10 per source.
    independence_ : Independence or None
        That number's error, negentropy, kurtosis, dependence of pairs, and sources that are too Gaussian; prints as a
        table.
    stability_ : array (k,) or None
        Index of each source over the runs: 1 when all of them find it. It is that of fits to parts of the rows, so
        lower than all rows together would give. Above 0.95 for clear sources; two that no rotation tells from another,
        such as Gaussian ones, are under 0.9.
    n_features_in_ : int
    feature_names_in_ : array (d,)
        Only for tables whose column names are all strings.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import ICA
    >>> S = np.random.default_rng(0).laplace(size=(5000, 2))
    >>> A = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> ica = ICA().fit(S @ A.T)
    >>> P = np.abs(ica.components_ @ A) / np.sqrt(0.5)
    >>> bool(np.all((P > 0.9) | (P < 0.1)))
    True
    >>> ica.independence_.gaussian
    ()
    """

    _LIMITS: ClassVar[Limits] = {
        **FASTICA_LIMITS,
        "algorithm": (Limit(lambda value: isinstance(value, str) and value in METHODS, ", ".join(map(repr, METHODS))),),
        "fun": (*FASTICA_LIMITS["fun"], Limit(lambda value: isinstance(value, Contrast), "a Contrast")),
        "runs": (whole(1),),
        "independence": (FLAG, one_of("all")),
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        algorithm: str = "picard",
        whiten: str | bool = "unit-variance",
        fun: Any = "logcosh",
        fun_args: dict[str, Any] | None = None,
        max_iter: int = 200,
        tol: float = 1e-6,
        w_init: Any = None,
        whiten_solver: str = "svd",
        random_state: Any = None,
        runs: int = 1,
        independence: bool | Literal["all"] = True,
        memory_budget: int | None = None,
        device: str | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        self.n_components = n_components
        self.algorithm = algorithm
        self.whiten = whiten
        self.fun = fun
        self.fun_args = fun_args
        self.max_iter = max_iter
        self.tol = tol
        self.w_init = w_init
        self.whiten_solver = whiten_solver
        self.random_state = random_state
        self.runs = runs
        self.independence = independence
        self.memory_budget = memory_budget
        self.device = device
        self.progress = progress

    @property
    def independence_(self) -> Independence | None:
        """How independent the sources are: numbers with errors, printed as a table. None where it was not measured."""
        return self._fitted_model().independence

    @property
    def mutual_information_drop_(self) -> float:
        """Nats of mutual information that unmixing took out of the white columns; NaN where it is not measured."""
        report = self._fitted_model().independence
        return float("nan") if report is None else report.drop

    @property
    def stability_(self) -> HostArray | None:
        """Index of each source over the runs; None with ``runs=1``."""
        return self._fitted_model().stability

    def _options(self) -> ICAOptions:
        return replace(super()._options(), runs=self.runs, independence=self.independence)

    @classmethod
    def _from_model(cls, model: ICAModel) -> tuple["ICA", ICAModel]:
        asked = model.options
        estimator = cls(
            asked.n_components,
            algorithm=asked.algorithm,
            whiten="unit-variance" if asked.whiten else False,
            fun=asked.contrast,
            max_iter=asked.max_iter,
            tol=asked.tol,
            w_init=asked.start,
            random_state=asked.seed,
            runs=asked.runs,
            independence=asked.independence,
            memory_budget=asked.memory_budget,
        )
        return estimator, in_their_units(model, estimator.whiten)


class FastICA(UnmixedSources):
    """FastICA with scikit-learn's own parameters and defaults.

    The same as :class:`ICA` with ``algorithm='parallel'`` or ``'deflation'`` and nothing measured afterwards.
    Differences from ``sklearn.decomposition.FastICA``: ``tol`` bounds the gradient norm; deflation too warns when it
    has not converged; the rank is respected; sources are ordered by the variance that they explain.

    Parameters
    ----------
    n_components, whiten, fun, fun_args, w_init, whiten_solver, random_state, memory_budget, device, progress
        As in :class:`ICA`.
    algorithm : {'parallel', 'deflation'}, default='parallel'
    max_iter : int, default=200
    tol : float, default=1e-4

    Attributes
    ----------
    components_, mixing_, whitening_, mean_, n_iter_, gradient_norm_
        As in :class:`ICA`.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import FastICA
    >>> X = np.random.default_rng(0).uniform(size=(1000, 3))
    >>> FastICA(n_components=2).fit_transform(X).shape
    (1000, 2)
    """

    _LIMITS: ClassVar[Limits] = FASTICA_LIMITS

    def __init__(
        self,
        n_components: int | None = None,
        *,
        algorithm: str = "parallel",
        whiten: str | bool = "unit-variance",
        fun: Any = "logcosh",
        fun_args: dict[str, Any] | None = None,
        max_iter: int = 200,
        tol: float = 1e-4,
        w_init: Any = None,
        whiten_solver: str = "svd",
        random_state: Any = None,
        memory_budget: int | None = None,
        device: str | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        self.n_components = n_components
        self.algorithm = algorithm
        self.whiten = whiten
        self.fun = fun
        self.fun_args = fun_args
        self.max_iter = max_iter
        self.tol = tol
        self.w_init = w_init
        self.whiten_solver = whiten_solver
        self.random_state = random_state
        self.memory_budget = memory_budget
        self.device = device
        self.progress = progress

    def _options(self) -> ICAOptions:
        return replace(super()._options(), independence=False)


def fastica(
    X: Any,
    n_components: int | None = None,
    *,
    algorithm: str = "parallel",
    whiten: str | bool = "unit-variance",
    fun: Any = "logcosh",
    fun_args: dict[str, Any] | None = None,
    max_iter: int = 200,
    tol: float = 1e-4,
    w_init: Any = None,
    whiten_solver: str = "svd",
    random_state: Any = None,
    return_X_mean: bool = False,
    compute_sources: bool = True,
    return_n_iter: bool = False,
) -> tuple[Any, ...]:
    """FastICA as one call, with the parameters and results of ``sklearn.decomposition.fastica``.

    Parameters
    ----------
    X : array, sparse array or table (n, d)
    n_components, algorithm, whiten, fun, fun_args, max_iter, tol, w_init, whiten_solver, random_state
        As in :class:`FastICA`.
    return_X_mean : bool, default=False
        Whether the mean is returned too.
    compute_sources : bool, default=True
        Whether the sources are computed.
    return_n_iter : bool, default=False
        Whether the number of iterations is returned too.

    Returns
    -------
    K : array (k, d) or None
        The whitening matrix; None with ``whiten=False``.
    W : array (k, k)
        The unmixing matrix:  S = (X - mean) K' W'.
    S : array (n, k) or None
        The sources.
    X_mean : array (d,) or None
        Only with ``return_X_mean``.
    n_iter : int
        Only with ``return_n_iter``.

    Examples
    --------
    >>> import numpy as np
    >>> K, W, S = fastica(np.random.default_rng(0).uniform(size=(500, 2)), random_state=0)
    >>> K.shape, W.shape, S.shape
    ((2, 2), (2, 2), (500, 2))
    """
    estimator = FastICA(
        n_components,
        algorithm=algorithm,
        whiten=whiten,
        fun=fun,
        fun_args=fun_args,
        max_iter=max_iter,
        tol=tol,
        w_init=w_init,
        whiten_solver=whiten_solver,
        random_state=random_state,
    )
    sources: Array | None = estimator.fit_transform(X) if compute_sources else None
    if not compute_sources:
        estimator.fit(X)
    result = [getattr(estimator, "whitening_", None), estimator._unmixing, sources]  # noqa: SLF001
    if return_X_mean:
        result.append(getattr(estimator, "mean_", None))
    if return_n_iter:
        result.append(estimator.n_iter_)
    return tuple(result)


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
    root = sqrt(model.n_rows if model.weight is None else model.weight)
    if whiten == "arbitrary-variance":
        return replace(
            model, whitening=model.whitening / root, components=model.components / root, mixing=model.mixing * root
        )
    return replace(model, whitening=model.whitening / root, unmixing=model.unmixing * root)


def _block_sources(model: ICAModel, block: Block) -> Array:
    return model.project(block.rows)


def _reconstruct(model: ICAModel, block: Block) -> Array:
    sources = block.rows.toarray() if is_sparse(block.rows) else block.rows
    with np.errstate(invalid="ignore", over="ignore"):
        return model.reconstruct(cast(sources, dtype_of(model.components)))


def source_positions(sources: Any, k: int, *, name: str) -> list[int]:
    """Return the positions, from 0, of the sources that are named, each once.

    Parameters
    ----------
    sources : int, str, iterable of them, or mask of k bools
        Positions from 0, negative ones from the end; or names, "IC1" for the first.
    k : int
        How many sources there are.
    name : str
        What the estimator is called in the error.

    Examples
    --------
    >>> source_positions([0, -1, "IC2"], 3, name="ICA"), source_positions([True, False, True], 3, name="ICA")
    ([0, 2, 1], [0, 2])
    """
    named = _listed(sources)
    if named and all(isinstance(i, bool | np.bool_) for i in named):
        if len(named) != k:
            message = (
                f"sources is a mask of {len(named)}, and this {name} has {k} sources. Pass True or False for each."
            )
            raise ParameterError(message)
        return [i for i, taken in enumerate(named) if taken]
    named_so = {source_name(i): i for i in range(k)}
    positions: list[Any] = [named_so.get(i, i) if isinstance(i, str) else i for i in named]
    wrong = [i for i in positions if not is_whole(i) or not -k <= i < k]
    if wrong:
        message = (
            f"sources holds {wrong[0]!r}, and this {name} has the sources 0 to {k - 1}, called {source_name(0)} to "
            f"{source_name(k - 1)}. Pass positions, names or a mask of {k}."
        )
        raise ParameterError(message)
    # Each source once: 0 and -k are the same one, and taking it out twice would put its opposite in.
    return list(dict.fromkeys(int(i) % k for i in positions))


def _listed(sources: Any) -> list[Any]:
    """Return what is named as a list: one thing alone, an array, or anything that can be gone through."""
    if isinstance(sources, str) or not isinstance(sources, Iterable):
        return [sources]
    if hasattr(sources, "ndim"):
        return list(np.atleast_1d(np.asarray(sources)).tolist())
    return list(sources)
