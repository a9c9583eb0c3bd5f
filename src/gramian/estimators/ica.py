"""Independent component analysis, in the manners of scikit-learn's FastICA."""

from dataclasses import replace
from typing import Any, Literal

from gramian.arrays.namespace import Array, HostArray
from gramian.estimators.parameters import FASTICA_LIMITS, ICA_LIMITS, Limits
from gramian.estimators.unmixed import UnmixedSources
from gramian.models.ica import ICAOptions
from gramian.unmixing.independence import Independence


class ICA(UnmixedSources):
    """Independent component analysis: the linear map whose outputs have the least mutual information.

    Computes  S = (X - mean) components',  components = W K:  K whitens on the directions that the rows have, W makes
    the sources as little Gaussian, and so as independent, as it can. Sources of unit variance come ordered by the
    variance that they explain; the largest entry of each mixing column is positive.

    Takes the parameters and gives the attributes of ``sklearn.decomposition.FastICA``. Differences: the default
    algorithm is Picard-O, which finds FastICA's solutions and converges on recordings too; ``tol`` bounds the gradient
    norm, of every algorithm; repeated or constant columns reduce the number of sources; independence and stability
    are measured.

    Cost: that of a PCA, then one pass an iteration: 4 n k^2 operations and n k hyperbolic tangents, in float32 but for
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
        With 2 or more: how many bootstrap resamples are unmixed, each from a start of its own, to measure
        ``stability_``; the fit then begins at the most central of them. Each has a quarter as many rows as the data (of
        which 20,000 at most are drawn from), or 10 a source where that is more.
    independence : bool or 'all', default=True
        Whether independence is measured: on at most 100,000 rows of up to 5 sources, 12,500 of 10, 10,000 of 11 to 50
        and 200 a source of more; 'all' takes all rows. ``independence_.n_rows`` says how many it were, and the errors
        stated hold for that many. No source is called too Gaussian that all rows can tell from one.
    memory_budget : int or None, default=None
        Bytes beyond the rows that the whitening, and then copies of the white rows, may use.

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
        is large and about as uncertain. NaN for fewer than 50 rows or 10 a source.
    independence_ : Independence or None
        That number's error, negentropy, kurtosis, dependence of pairs, and sources that are too Gaussian; prints as a
        table.
    stability_ : array (k,) or None
        Index of each source over the runs: 1 when all of them find it. It is that of fits to a quarter of the rows, so
        lower than all rows together would give.
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

    def _limits(self) -> Limits:
        return ICA_LIMITS

    def _options(self) -> ICAOptions:
        return replace(
            self._shared_options(), runs=self.runs, independence=self.independence, memory_budget=self.memory_budget
        )


class FastICA(UnmixedSources):
    """FastICA with scikit-learn's own parameters and defaults.

    The same as :class:`ICA` with ``algorithm='parallel'`` or ``'deflation'`` and nothing measured afterwards.
    Differences from ``sklearn.decomposition.FastICA``: ``tol`` bounds the gradient norm; deflation too warns when it
    has not converged; the rank is respected; sources are ordered by the variance that they explain.

    Parameters
    ----------
    n_components, whiten, fun, fun_args, w_init, whiten_solver, random_state
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

    def _limits(self) -> Limits:
        return FASTICA_LIMITS

    def _options(self) -> ICAOptions:
        return replace(self._shared_options(), independence=False)


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
