"""Principal component analysis, in scikit-learn's manners.

Below the class stand scikit-learn's names for solvers: what each allows, how it words a refusal, and which one its
"auto" means. They decide limits and wording only; how the eigenproblem is solved is the plan's choice (``plan_``).
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from sklearn.utils import Tags

from gramian.arrays.namespace import Array, HostArray
from gramian.eigen.pairs import PowerTrace
from gramian.errors import NotSupportedError, ParameterError
from gramian.estimators.inputs import (
    FLAG,
    NOTHING,
    RESOURCES,
    SEED,
    SHARE,
    Limits,
    check_features,
    check_parameters,
    feature_names,
    is_whole,
    number,
    one_of,
    open_rows,
    seed_of,
    whole,
)
from gramian.estimators.projection import (
    GaussianScores,
    LinearProjection,
    StreamedFit,
    naming_the_model_of_missing_values,
)
from gramian.models.pca.fit import check_divisor, fit_pca
from gramian.models.pca.model import PCAModel, PCAOptions
from gramian.models.pca.robust import central_rows
from gramian.models.pca.streaming import Batches, begin, resume
from gramian.models.placing import home
from gramian.planning.plan import SOLVERS
from gramian.sources.rows import RowSource

ITERATIVE = ("arpack", "randomized")
DENSE_ONLY = ("full", "randomized")


class PCA(GaussianScores, StreamedFit, LinearProjection):
    """Principal component analysis: the directions along which rows vary most, each with its proof.

    Computes  the k largest eigenpairs of  C = Xc' Xc / (n - ddof),  Xc = X - mean,  through whichever of C (d x d)
    and Xc Xc' (n x n) is smaller, or without either when k is small; digits that squaring would lose are recovered
    from Xc itself.  The scores are  Y = Xc V'.  With ``scale=True``  Xc = (X - mean) / scale.

    Takes the parameters and gives the attributes of ``sklearn.decomposition.PCA``. Differences: any solver stops on
    measured residuals, never on a count; null directions are never whitened into noise; a likelihood does not depend
    on ``whiten``; signs make the largest loading of each component positive.

    Cost: about n d min(n, d) operations and one pass for all components; 4 n d (k + 10) per step for few of many.
    ``plan_`` says what was done. Not for rows with missing values, nor for structure that is not linear.

    Parameters
    ----------
    n_components : int, float, 'mle', 'auto' or None, default=None
        How many components to keep. None: min(n, d). A float in (0, 1): the fewest whose share of the variance is
        more than that. 'mle': Minka's rule. 'auto': the number that stands out of the noise.
    copy : bool, default=True
        Accepted as scikit-learn's; rows are never written to.
    whiten : bool, default=False
        Whether scores are divided by the deviation along their component.
    svd_solver : str, default='auto'
        'auto', 'full', 'covariance_eigh', 'arpack', 'randomized' as scikit-learn's, with its limits on
        ``n_components`` and on sparse rows; 'gram' solves the n x n problem, 'krylov' iterates on blocks, 'power'
        is the power method with deflation. Every name gives the same answer within ``tol``.
    tol : float, default=0.0
        Largest residual, relative to the first eigenvalue. 0 means 1e-10 (1e-6 for float32 rows).
    iterated_power : int or 'auto', default='auto'
        Of ``svd_solver='power'``: steps that each component may take, 10,000 by default. Other solvers stop on
        residuals, whatever it says.
    n_oversamples, power_iteration_normalizer : default=10, 'auto'
        Accepted as scikit-learn's, and checked; iterations stop on residuals, so none of them changes the answer.
    random_state : int, RandomState, Generator or None, default=None
        Where iterations start. None is a fixed seed; it changes the answer by rounding at most.
    center : bool, default=True
        Whether the mean is subtracted.
    scale : bool, default=False
        Whether columns are divided by their deviation first (PCA of the correlations); without ``center`` by the root
        of their mean square. Columns that do not vary are left as they are.
    ddof : int, default=1
        Subtracted from the number of rows (or the sum of weights) to divide by; must be less than it.
    robust : bool, default=False
        Whether rows that lie apart from the others are given weight zero: those beyond the limits of the minimum
        covariance determinant or, where columns are many, of ROBPCA (Hubert, Rousseeuw and Vanden Branden, 2005).
        Up to a quarter of the rows may be outlying, but a tight cluster of them is told only where it lies far out
        (``docs/findings.rst``). Where no row is told from the others, a warning says why and all are used.
        ``support_`` says which rows were used; the certificate is that of their components. Needs ``center``; batches
        of ``partial_fit`` are refused.
    memory_budget : int or None, default=None
        Bytes that a fit may use beyond the rows. None: three quarters of the machine's memory.
    device : str, torch.device or None, default=None
        Where to compute. None: where the rows are. Rows of the host are moved to another one, as a whole or, where
        they do not fit, in each pass; what is made of them comes back to the host.
    progress : callable or None, default=None
        Called with a sentence before each stage of the work.

    Attributes
    ----------
    components_ : array (k, d)
        Orthonormal directions as rows, by decreasing variance.
    explained_variance_, explained_variance_ratio_, singular_values_ : array (k,)
    mean_ : array (d,)
    scale_ : array (d,) or None
        What each column was divided by; None without ``scale``.
    noise_variance_ : float
        Mean variance of the directions left out.
    n_components_, n_samples_, n_features_in_ : int
    rank_ : int
        Components whose variance is more than rounding; of all components, the rank of the centered rows.
    power_trace_ : PowerTrace or None
        Of ``svd_solver='power'``: Rayleigh quotient (``value``), ``residual`` and ``angle`` to the component found, at
        each step of each component.
    support_ : array of bool (n,)
        Rows that were used. Only after ``fit`` with ``robust=True``.
    feature_names_in_ : array (d,)
        Only for tables whose column names are all strings.
    loadings_ : array (d, k)
        Components times the deviation along each.
    certificate_ : Certificate
        Residual, bounds and grade of each component; prints as a table.
    plan_ : Plan
        What was done and why.
    n_components_reason_ : str
        How the number of components was chosen; empty when it was given.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import PCA
    >>> X = np.array([[-1.0, -1.0], [-2.0, -1.0], [-3.0, -2.0], [1.0, 1.0], [2.0, 1.0], [3.0, 2.0]])
    >>> pca = PCA(n_components=2).fit(X)
    >>> pca.explained_variance_ratio_.round(4)
    array([0.9924, 0.0076])
    >>> pca.singular_values_.round(4)
    array([6.3006, 0.5498])
    >>> bool(np.allclose(pca.inverse_transform(pca.transform(X)), X))
    True
    """

    _LIMITS: ClassVar[Limits] = {
        "n_components": (NOTHING, whole(0), SHARE, one_of("mle", "auto")),
        "copy": (FLAG,),
        "whiten": (FLAG,),
        "svd_solver": (one_of(*SOLVERS),),
        "tol": (number(0.0),),
        "iterated_power": (one_of("auto"), whole(0)),
        "n_oversamples": (whole(1),),
        "power_iteration_normalizer": (one_of("auto", "QR", "LU", "none"),),
        "random_state": (NOTHING, SEED),
        "center": (FLAG,),
        "scale": (FLAG,),
        "ddof": (whole(0),),
        "robust": (FLAG,),
        **RESOURCES,
    }
    _SOLVED: ClassVar[tuple[str, ...]] = ("_model", *LinearProjection._COPIED, "n_components_")  # noqa: SLF001

    def __init__(
        self,
        n_components: Any = None,
        *,
        copy: bool = True,
        whiten: bool = False,
        svd_solver: str = "auto",
        tol: float = 0.0,
        iterated_power: int | str = "auto",
        n_oversamples: int = 10,
        power_iteration_normalizer: str = "auto",
        random_state: Any = None,
        center: bool = True,
        scale: bool = False,
        ddof: int = 1,
        robust: bool = False,
        memory_budget: int | None = None,
        device: str | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        self.n_components = n_components
        self.copy = copy
        self.whiten = whiten
        self.svd_solver = svd_solver
        self.tol = tol
        self.iterated_power = iterated_power
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state
        self.center = center
        self.scale = scale
        self.ddof = ddof
        self.robust = robust
        self.memory_budget = memory_budget
        self.device = device
        self.progress = progress

    @property
    def scale_(self) -> Array | None:
        """What each column is divided by before it is projected; None without ``scale``."""
        factor = self._fitted_model().factor
        return None if factor is None else 1.0 / factor

    @property
    def n_components_reason_(self) -> str:
        """How the number of components was chosen, in words; empty when it was given."""
        return str(self._fitted_model().verdict)

    @property
    def power_trace_(self) -> PowerTrace | None:
        """What the power method saw at each step, in the units of ``explained_variance_``; None for other solvers."""
        trace: PowerTrace | None = self._fitted_model().power_trace
        return trace

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "PCA":
        """Learn from one more batch of rows, as if all batches had been one table.

        Exact for batches of any size, dense or sparse. The eigenproblem is solved when a fitted attribute is next
        read. Where a d x d matrix does not fit ``memory_budget``, and after a ``fit`` that left components out, the
        leading directions are kept instead: then a warning and the bounds of ``certificate_`` say what may be lost.

        Cost: d^2 operations per row and two d x d matrices, however many batches there are.

        Parameters
        ----------
        X : array, sparse array, table or path (n, d)
        y : ignored
        sample_weight : array (n,), optional
            How often each row counts: a weight is a repetition.

        Returns
        -------
        self : PCA
            If a batch is refused, the state before it stays.
        """
        check_parameters(self)
        if self.robust:
            message = "robust=True compares all rows with one another, and partial_fit sees a batch of them. Use fit."
            raise NotSupportedError(message)
        with naming_the_model_of_missing_values():
            source = open_rows(self, X, weights=sample_weight)
        earlier = self._earlier()
        if earlier is not None:
            check_features(self, X, source)
        count = source.n_rows + (0 if earlier is None else earlier.moments.count)
        options, name = self._streamed_options(count, source.n_columns)
        with naming_the_model_of_missing_values():
            if earlier is None:
                batches = begin(source, n_components=self.n_components, budget=self._budget)
            else:
                batches = earlier.absorb(source)
        fields = {"n_features_in_": source.n_columns, "n_samples_": count, "_fit_svd_solver": name}
        self._remember(batches, options, fields | self._first_names(X, source, earlier))
        return self

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn what this estimator takes."""
        tags = super().__sklearn_tags__()
        tags.array_api_support = True
        tags.input_tags.sparse = self.svd_solver not in DENSE_ONLY
        return tags

    def _fit(self, X: Any, sample_weight: Any) -> RowSource:
        """Fit a model and take it over; return the rows as they were opened."""
        with naming_the_model_of_missing_values():
            check_parameters(self)
            source = open_rows(self, X, weights=sample_weight, moves="streamed")
            check_divisor(source, self.ddof)
            options, name = self._options((source.n_rows, source.n_columns), sparse=source.is_sparse)
            support = central_rows(source, options) if self.robust else None
            if support is not None:
                both = support if sample_weight is None else support * source.weights
                source = open_rows(self, X, weights=both, moves="streamed")
            model, names = home(fit_pca(source, options), source), feature_names(X, source)
            self._forget()
            self.__dict__.pop("support_", None)
            if support is not None:
                self.support_ = support
            self._adopt(model, names)
            self.n_components_, self.n_samples_, self._fit_svd_solver = len(model.components), model.n_rows, name
            self._library = type(X).__module__.partition(".")[0]
            return source

    def _adopt_streamed(self, model: PCAModel) -> None:
        self._adopt(model, self.__dict__.get("feature_names_in_"))
        self.n_components_ = len(model.components)

    def _earlier(self) -> Batches | None:
        """Return what is known of the rows seen so far, from batches or from a fit."""
        if "_batches" in self.__dict__:
            return self._batches
        if "_model" not in self.__dict__:
            return None
        if self.center and not self._model.options.center:
            message = (
                "This model was fitted with center=False, so the mean of its rows is not known and batches cannot be "
                "added about it. Set center=False again, or begin with partial_fit on a new PCA."
            )
            raise NotSupportedError(message)
        return resume(self._model, budget=self._budget)

    def _streamed_options(self, n: int, d: int) -> tuple[PCAOptions, str]:
        """Return the options for batches: as many components as were asked for, once there are enough rows."""
        options, name = self._options((max(n, d), d), sparse=False)
        if isinstance(options.n_components, int):
            options = replace(options, n_components=min(options.n_components, n))
        return options, name

    def _options(self, shape: tuple[int, int], *, sparse: bool) -> tuple[PCAOptions, str]:
        """Check the parameters against the rows; return what the model is asked for, and the solver's name."""
        if self.robust and not self.center:
            message = "robust=True looks for rows that lie far from the center. Leave center=True with it."
            raise ParameterError(message)
        check_sparse(self.svd_solver, sparse=sparse)
        name = name_solver(self.svd_solver, n_components=self.n_components, shape=shape, sparse=sparse)
        limits = self.svd_solver if sparse else name
        check_components(self.n_components, svd_solver=limits, shape=shape)
        k = self.n_components
        if k is None and self.svd_solver == "arpack":
            k = min(shape) - 1
        elif k is not None and not isinstance(k, str):
            k = int(k) if is_whole(k) else float(k)
        options = PCAOptions(
            n_components=k,
            center=self.center,
            scale=self.scale,
            ddof=self.ddof,
            solver="auto" if self.svd_solver in ITERATIVE else self.svd_solver,
            tol=self.tol,
            seed=seed_of(self.random_state),
            memory_budget=self.memory_budget,
            progress=self.progress,
            most_steps=self._most_steps(),
            robust=self.robust,
        )
        return options, name

    def _most_steps(self) -> int | None:
        """Return the steps that the power method may take; 0, which scikit-learn allows, means one."""
        if self.svd_solver != "power" or isinstance(self.iterated_power, str):
            return None
        return max(1, int(self.iterated_power))

    def _restore(self, model: PCAModel, names: HostArray | None, fields: Mapping[str, Any]) -> None:
        super()._restore(model, names, fields)
        shape = (model.n_rows, model.n_columns)
        name = name_solver(self.svd_solver, n_components=self.n_components, shape=shape, sparse=False)
        self.n_components_, self.n_samples_, self._fit_svd_solver = len(model.components), model.n_rows, name

    @classmethod
    def _from_model(cls, model: PCAModel) -> tuple["PCA", PCAModel]:
        asked = model.options
        estimator = cls(
            asked.n_components,
            svd_solver=asked.solver,
            tol=asked.tol,
            random_state=asked.seed,
            center=asked.center,
            scale=asked.scale,
            ddof=asked.ddof,
            robust=asked.robust,
            memory_budget=asked.memory_budget,
        )
        return estimator, model


def name_solver(svd_solver: str, *, n_components: Any, shape: tuple[int, int], sparse: bool) -> str:
    """Return the name under which scikit-learn would do this fit: its rule for "auto", or the name itself.

    Examples
    --------
    >>> name_solver("auto", n_components=10, shape=(1000, 500), sparse=False)
    'randomized'
    >>> name_solver("auto", n_components=None, shape=(150, 4), sparse=False)
    'covariance_eigh'
    """
    if svd_solver != "auto":
        return svd_solver
    n, d = shape
    if sparse:
        return "arpack"
    if d <= 1000 and n >= 10 * d:
        return "covariance_eigh"
    if max(n, d) <= 500 or isinstance(n_components, str):
        return "full"
    return "randomized" if n_components is not None and 1 <= n_components < 0.8 * min(n, d) else "full"


def check_sparse(svd_solver: str, *, sparse: bool) -> None:
    """Refuse sparse rows for the names that scikit-learn refuses them for."""
    if sparse and svd_solver in DENSE_ONLY:
        message = (
            f'PCA only support sparse inputs with the "arpack" and "covariance_eigh" solvers, while "{svd_solver}" '
            "was passed. Pass svd_solver='auto', which takes sparse rows with every n_components."
        )
        raise NotSupportedError(message)


def check_components(n_components: Any, *, svd_solver: str, shape: tuple[int, int]) -> None:
    """Refuse a number of components that the rows, or the solver of that name, cannot give."""
    if n_components is None:
        return
    n, d = shape
    if n_components == "mle":
        _check_mle(svd_solver, n, d)
    elif is_whole(n_components):
        _check_count(int(n_components), svd_solver, n, d)


def _check_mle(svd_solver: str, n: int, d: int) -> None:
    if svd_solver in ITERATIVE:
        message = (
            f"n_components='mle' cannot be a string with svd_solver='{svd_solver}'. "
            "Pass an integer or a share, or svd_solver='auto'."
        )
        raise ParameterError(message)
    if n < d and svd_solver in {"full", "covariance_eigh"}:
        message = (
            f"n_components='mle' is only supported if n_samples >= n_features, and there are {n} rows of {d} "
            "columns. Pass n_components='auto', a share, or an integer."
        )
        raise ParameterError(message)


def _check_count(n_components: int, svd_solver: str, n: int, d: int) -> None:
    most = min(n, d)
    least = 1 if svd_solver in ITERATIVE else 0
    if not least <= n_components <= most:
        message = (
            f"n_components={n_components} must be between {least} and min(n_samples, n_features)={most} with "
            f"svd_solver='{svd_solver}'. Pass an integer up to {most}, or None for all."
        )
        raise ParameterError(message)
    if svd_solver == "arpack" and n_components == most:
        message = (
            f"n_components={n_components} must be strictly less than min(n_samples, n_features)={most} with "
            f"svd_solver='arpack', and n_samples={n}, n_features={d}. Pass a smaller integer, or svd_solver='auto'."
        )
        raise ParameterError(message)
