"""Truncated SVD: PCA without centering, under scikit-learn's name for it."""

from collections.abc import Callable
from typing import Any, ClassVar

from sklearn.utils import Tags

from gramian.arrays.namespace import Array, dtype_of, from_host
from gramian.eigen.certificate import Certificate
from gramian.errors import ParameterError
from gramian.estimators.inputs import (
    NOTHING,
    RESOURCES,
    SEED,
    Limits,
    check_parameters,
    feature_names,
    number,
    one_of,
    open_rows,
    seed_of,
    whole,
)
from gramian.estimators.projection import LinearProjection
from gramian.models.pca.fit import fit_pca
from gramian.models.pca.model import PCAOptions
from gramian.models.placing import home
from gramian.sources.moments import measure_moments
from gramian.sources.opening import as_source
from gramian.sources.rows import RowSource


class TruncatedSVD(LinearProjection):
    """The k largest singular triplets of rows as they are, without centering.

    Computes  X = U S V'  up to k, with residuals and bounds; the scores are  X V' = U S.  It is
    ``PCA(center=False)`` with the parameters and attributes of ``sklearn.decomposition.TruncatedSVD``.

    Cost: 4 n d (k + 10) operations per step (stored entries instead of n d for sparse rows), or n d min(n, d) in one
    pass where that is less. Not for finding directions of variance: without centering the first component is mostly
    the mean. Centering sparse rows costs nothing here, so PCA takes them too.

    Parameters
    ----------
    n_components : int, default=2
    algorithm : 'randomized' or 'arpack', default='randomized'
        scikit-learn's names; with 'arpack' n_components must be less than min(n, d). The answer is the same.
    n_iter, n_oversamples, power_iteration_normalizer : default=5, 10, 'auto'
        Accepted as scikit-learn's, and checked; iterations stop on residuals, so none of them changes the answer.
    random_state : int, RandomState, Generator or None, default=None
        Where iterations start.
    tol : float, default=0.0
        Largest residual, relative to the first eigenvalue. 0 means 1e-10 (1e-6 for float32 rows).
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
    singular_values_ : array (k,)
    explained_variance_ : array (k,)
        Variance of each column of scores about its mean (divided by n), as scikit-learn's.
    explained_variance_ratio_ : array (k,)
        The same over the summed variance of the columns. Neither need decrease.
    n_features_in_ : int
    feature_names_in_ : array (d,)
        Only for tables whose column names are all strings.
    certificate_ : Certificate
        As that of ``PCA``, in the units of ``singular_values_**2``, the eigenvalues of X'X.
    plan_ : Plan
        As that of ``PCA``.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import TruncatedSVD
    >>> X = np.array([[3.0, 0.0], [0.0, 2.0], [0.0, 0.0]])
    >>> TruncatedSVD(n_components=2).fit(X).singular_values_
    array([3., 2.])
    """

    _LIMITS: ClassVar[Limits] = {
        "n_components": (whole(1),),
        "algorithm": (one_of("randomized", "arpack"),),
        "n_iter": (whole(0),),
        "n_oversamples": (whole(1),),
        "power_iteration_normalizer": (one_of("auto", "QR", "LU", "none"),),
        "random_state": (NOTHING, SEED),
        "tol": (number(0.0),),
        **RESOURCES,
    }
    _COPIED: ClassVar[dict[str, str]] = {"components_": "components", "singular_values_": "singular_values"}
    _REPLACEABLE: ClassVar[tuple[str, ...]] = ("components_",)

    def __init__(
        self,
        n_components: int = 2,
        *,
        algorithm: str = "randomized",
        n_iter: int = 5,
        n_oversamples: int = 10,
        power_iteration_normalizer: str = "auto",
        random_state: Any = None,
        tol: float = 0.0,
        memory_budget: int | None = None,
        device: str | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        self.n_components = n_components
        self.algorithm = algorithm
        self.n_iter = n_iter
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state
        self.tol = tol
        self.memory_budget = memory_budget
        self.device = device
        self.progress = progress

    @property
    def certificate_(self) -> Certificate:
        """How far each squared singular value and component can be from the truth; prints as a table."""
        model = self._fitted_model()
        return model.certificate.rescaled(model.weight - model.options.ddof)

    def _fit(self, X: Any, sample_weight: Any) -> Array:
        check_parameters(self)
        source = open_rows(self, X, weights=sample_weight, moves="streamed")
        self._check_count(source)
        # No degree of freedom goes to a mean, so that one row has a divisor too.
        options = PCAOptions(
            n_components=self.n_components,
            center=False,
            ddof=0,
            tol=self.tol,
            seed=seed_of(self.random_state),
            memory_budget=self.memory_budget,
            progress=self.progress,
        )
        model = home(fit_pca(source, options), source)
        scores = self._scores(model, source)
        variances, shares = _variances(scores, source, like=model.components)
        self._adopt(model, feature_names(X, source))
        self.explained_variance_, self.explained_variance_ratio_ = variances, shares
        return scores

    def _scores_of_fit(self, fitted: Array) -> Array:
        return fitted

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn what this estimator takes."""
        tags = super().__sklearn_tags__()
        tags.array_api_support = True
        return tags

    def _check_count(self, source: RowSource) -> None:
        n, d = source.n_rows, source.n_columns
        most = min(n, d) - (self.algorithm == "arpack")
        if self.n_components > most:
            other = ", or algorithm='randomized'" if self.algorithm == "arpack" else ""
            message = (
                f"n_components({self.n_components}) must be <= {most} with algorithm={self.algorithm!r} for "
                f"n_samples={n} and n_features={d}. Pass an integer up to {most}{other}."
            )
            raise ParameterError(message)


def _variances(scores: Array, source: RowSource, *, like: Array) -> tuple[Array, Array]:
    """Return the variance of each column of scores about its mean, and its share of that of the rows."""
    of_scores = measure_moments(as_source(scores, weights=source.weights), scatter=False)
    of_rows = measure_moments(source, scatter=False)
    total = float(of_rows.squares.sum())
    shares = of_scores.squares / total if total > 0 else of_scores.squares
    # Scores of a Dask collection are lazy, and what is learned of them lives with the components.
    place = {"like": like, "dtype": dtype_of(like)}
    return from_host(of_scores.squares / of_scores.weight, **place), from_host(shares, **place)
