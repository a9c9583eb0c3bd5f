"""Kernel principal component analysis, in scikit-learn's manners."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from sklearn.utils import Tags

from gramian.arrays.namespace import Array
from gramian.errors import NotSupportedError, ParameterError
from gramian.estimators.features import feature_names
from gramian.estimators.kernel_asking import LIMITS, asked_count, asked_features, takes_sparse
from gramian.estimators.kernel_fields import (
    fields_of,
    like_rows,
    own_copy,
    preimage_fields,
    without_rows,
)
from gramian.estimators.kernel_projection import KernelProjection
from gramian.estimators.opening import open_rows
from gramian.estimators.parameters import Limits, check_parameters, seed_of
from gramian.kernels.kernel import Kernel
from gramian.kernels.named import as_kernel
from gramian.kernels.precomputed import Precomputed
from gramian.kernels.widths import Gamma
from gramian.models.kernel_inverse import expansion_of
from gramian.models.kernel_pca import KernelPCAModel, KernelPCAOptions, fit_kernel_pca
from gramian.models.kernel_planned import EIGEN_SOLVERS
from gramian.models.preimage_choice import ChosenPreimage, fit_preimage, method_named, require_room
from gramian.sources.rows import RowSource


class KernelPCA(KernelProjection):
    """Kernel principal component analysis: PCA of features that are known by their inner products alone.

    Computes, with  K_ij = k(x_i, x_j)  centered,  the k largest eigenpairs  K u = lambda u,  |u| = 1.  The scores of
    the rows are  sqrt(lambda) u,  those of a new row  sum_j kc(x, x_j) u_j / sqrt(lambda)  with the centered kernel
    kc. K is not stored: it is made in tiles, each used for two places and dropped, unless keeping it fits and pays.

    Takes the parameters and gives the attributes of ``sklearn.decomposition.KernelPCA``. Differences: memory is
    bounded and n is not; any solver stops on measured residuals; ``inverse_transform`` restores the mean; where
    the kernel matrix has negative eigenvalues, they are named: refused among the components asked for, warned of below
    them; signs make the largest entry of each u positive.

    Cost: a few times  n^2 (d + 2 k + 40)  operations and some n x (k + 100) numbers beyond the rows; ``plan_`` says
    what was done. New rows cost n kernel values each. Not for linear structure: ``PCA`` gives the same as
    ``kernel="linear"``. Not for millions of rows, unless approximately: ``landmarks``, ``features``.

    Parameters
    ----------
    n_components : int, float or None, default=None
        How many components to keep. None: all with a non-zero eigenvalue. A float in (0, 1): the fewest that hold
        that share of the variance in feature space.
    kernel : str, Kernel or function, default='linear'
        A name ('linear', 'poly', 'rbf', 'laplacian', 'matern', 'sigmoid', 'cosine', 'chi2', 'precomputed'), a kernel
        of ``gramian.kernels`` (where ``sigma``, sums and products are), or a function of two rows.
    gamma : float, 'scale', 'median' or None, default=None
        Of kernels given by name. None is 1 / n_features. 'scale' is 1 / (n_features v), v being the mean variance of a
        column; SVC's takes the variance of all entries, which also counts how far the means of columns are apart.
        'median' is 1 / (2 m^2), m being the median distance of rows. A kernel that has no gamma ignores it, as in
        scikit-learn; one that has, and to which a word says nothing, refuses the word instead of guessing a number:
        'median' beside an inner product ('poly', 'sigmoid'), where gamma is no width, and both words beside 'chi2'.
    degree, coef0 : float, default=3, 1
        Of the polynomial and sigmoid kernels.
    kernel_params : mapping or None, default=None
        Passed by name to a kernel that is a function; refused beside any other.
    alpha : float, default=1.0
        Of the ridge regression of ``inverse_transform``.
    fit_inverse_transform : bool, default=False
        Whether to learn the way back, by ridge regression from scores to rows.
    eigen_solver : str, default='auto'
        'auto', 'dense', 'arpack', 'randomized' as scikit-learn's; 'stored' keeps the tiles of K, 'tiled' never does.
        Every name gives the same answer within ``tol``.
    tol : float, default=0
        Largest residual, relative to the first eigenvalue. 0 means 1e-6.
    max_iter, iterated_power, n_jobs : default=None, 'auto', None
        Accepted as scikit-learn's, and checked; iterations stop on residuals, and the machine's cores are used.
    remove_zero_eig : bool, default=False
        Whether components with a zero eigenvalue are left out; with ``n_components=None`` they always are.
    random_state : int, RandomState, Generator or None, default=None
        Where iterations start, and which rows are landmarks. None is a fixed seed.
    copy_X : bool, default=True
        Whether the rows that ``transform`` needs are a copy, so that X may be changed after the fit. A matrix of
        kernel values, and the rows of an approximate model, are not needed and not copied.
    memory_budget : int or None, default=None
        Bytes that a fit may use beyond the rows. None: three quarters of the machine's memory.
    landmarks : int or None, default=None
        An approximate model on so many rows drawn at random, its error measured; for n in the millions.
    features : map or None, default=None
        An approximate model in the space of this map, such as ``FourierFeatures("rbf", n_components=2000)`` or
        ``Nystroem(landmarks="pivoted")``; its kernel is the one that counts. A kernel of one's own is asked whether it
        is symmetric on some of the rows; a ``FeatureMap`` that was fitted before is taken as it is.
    pre_image : {'ridge', 'fixed_point', 'distances', 'auto'} or None, default=None
        How ``inverse_transform`` finds rows; 'auto' chooses by held-out error. None: 'ridge' where
        ``fit_inverse_transform`` is set.
    progress : callable or None, default=None
        Called with a sentence before each stage of the work and after each product.

    Attributes
    ----------
    eigenvalues_ : array (k,)
        lambda, of K itself.
    eigenvectors_ : array (n, k)
        u. Weighted rows: times the square roots of the weights.
    explained_variance_ratio_ : array (k,)
        lambda over the trace of K, which is known exactly.
    kernel_ : Kernel
        With numbers for parameters.
    gamma_ : float
    X_fit_ : array (n, d)
        The rows that new ones are compared with: those of the fit, or the landmarks.
    dual_coef_, X_transformed_fit_ : array (n, d), array (n, k)
        Of the ridge regression, where it was asked for; it predicts rows less their mean.
    pre_image_choice_ : PreimageChoice
        How 'auto' chose.
    n_features_in_ : int
    feature_names_in_ : array (d,)
        Only for tables whose column names are all strings.
    certificate_ : Certificate
        Residual, bounds and grade of each component; prints as a table. Of up to 400 rows, the part of the bounds that
        kernel values are rounded by is measured when it is first read, where no answer depends on it.
    plan_ : KernelPlan
        What was done and why.
    approximate_ : bool
        Whether the model is that of landmarks or features near the kernel.
    error_estimate_ : KernelError or None
        The error of the approximation of K, measured.
    verdict_ : str
        How the number of components was chosen; empty when it was given.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import KernelPCA
    >>> t = 2 * np.pi * np.arange(12) / 12
    >>> circle = 10 * np.column_stack([np.cos(t), np.sin(t)])
    >>> kpca = KernelPCA(n_components=4, kernel="poly", degree=2, gamma=1.0).fit(circle)
    >>> (kpca.eigenvalues_ / 12).round(6)
    array([2500., 2500.,  100.,  100.])
    >>> kpca.explained_variance_ratio_.sum().round(6)
    np.float64(1.0)
    """

    LIMITS: ClassVar[Limits] = LIMITS

    def __init__(
        self,
        n_components: Any = None,
        *,
        kernel: Any = "linear",
        gamma: Gamma = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        alpha: float = 1.0,
        fit_inverse_transform: bool = False,
        eigen_solver: str = "auto",
        tol: float = 0,
        max_iter: int | None = None,
        iterated_power: int | str = "auto",
        remove_zero_eig: bool = False,
        random_state: Any = None,
        copy_X: bool = True,
        n_jobs: int | None = None,
        memory_budget: int | None = None,
        landmarks: int | None = None,
        features: Any = None,
        pre_image: Any = None,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alpha = alpha
        self.fit_inverse_transform = fit_inverse_transform
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.iterated_power = iterated_power
        self.remove_zero_eig = remove_zero_eig
        self.random_state = random_state
        self.copy_X = copy_X
        self.n_jobs = n_jobs
        self.memory_budget = memory_budget
        self.landmarks = landmarks
        self.features = features
        self.pre_image = pre_image
        self.progress = progress

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "KernelPCA":
        """Learn the components from rows.

        Parameters
        ----------
        X : array, sparse array or table (n, d)
            With ``kernel="precomputed"`` the kernel matrix (n, n).
        y : ignored
        sample_weight : array (n,), optional
            How often each row counts: a weight is a repetition.

        Returns
        -------
        self : KernelPCA
            If the fit fails, the former model stays.
        """
        self._fit(X, sample_weight)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Learn the components from rows and return the scores of the same rows, without another kernel value.

        Parameters
        ----------
        X : array, sparse array or table (n, d)
            With ``kernel="precomputed"`` the kernel matrix (n, n).
        y : ignored
        sample_weight : array (n,), optional
            How often each row counts.

        Returns
        -------
        Y : array (n, k)
            The same as ``fit(X).transform(X)``, to rounding.
        """
        model = self._fit(X, sample_weight)
        return like_rows(model.scores, model.source)

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn what this estimator takes."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.pairwise = self._is_precomputed()
        tags.input_tags.sparse = takes_sparse(self)
        return tags

    def _fit(self, X: Any, sample_weight: Any) -> KernelPCAModel:
        check_parameters(self, self.LIMITS)
        wanted = self._wanted_preimage()
        source = open_rows(self, X, weights=sample_weight)
        options = self._options(source)
        if self.copy_X and self.landmarks is None and self.features is None and not self._is_precomputed():
            source = own_copy(source, X)
        if wanted is not None and self.memory_budget is not None:
            n = min(source.n_rows, self.landmarks or source.n_rows)
            method = method_named(wanted, alpha=float(self.alpha), seed=options.seed)
            require_room(method, n, source.n_columns, budget=self.memory_budget)
        model = fit_kernel_pca(source, options)
        found = None if wanted is None else self._bind_preimage(wanted, model)
        fields = fields_of(model, gamma=self.gamma) | preimage_fields(found)
        names = feature_names(X, source)
        for name in ("dual_coef_", "X_transformed_fit_", "X_fit_", "_preimage", "pre_image_choice_"):
            self.__dict__.pop(name, None)
        self.__dict__.pop("feature_names_in_", None)
        self.__dict__.update(fields, _model=without_rows(model) if model.approximate else model)
        if names is not None:
            self.feature_names_in_ = names
        return model

    def _options(self, source: RowSource) -> KernelPCAOptions:
        """Check the parameters against each other and the rows; return what the model is asked for."""
        features, kernel = asked_features(self), self._kernel()
        if isinstance(kernel, Precomputed) and source.is_sparse:
            message = "A precomputed kernel is a dense matrix, and this one is sparse. Pass X.toarray()."
            raise NotSupportedError(message)
        return KernelPCAOptions(
            n_components=asked_count(self.n_components, source.n_rows),
            kernel=kernel,
            way=EIGEN_SOLVERS[self.eigen_solver] if source.n_rows > 1 else "dense",
            tol=float(self.tol),
            seed=seed_of(self.random_state),
            memory_budget=self.memory_budget,
            landmarks=self.landmarks,
            features=features,
            drop_zeros=bool(self.remove_zero_eig),
            strict=self.eigen_solver == "randomized",
            progress=self.progress,
        )

    def _kernel(self) -> Kernel:
        return as_kernel(
            self.kernel, gamma=self.gamma, degree=self.degree, coef0=float(self.coef0), parameters=self.kernel_params
        )

    def _wanted_preimage(self) -> Any:
        if not self.fit_inverse_transform and self.pre_image is None:
            return None
        if self._is_precomputed():
            message = "Cannot fit_inverse_transform with a precomputed kernel."
            raise ParameterError(message)
        return "ridge" if self.pre_image is None else self.pre_image

    def _bind_preimage(self, method: Any, model: KernelPCAModel) -> ChosenPreimage:
        seed, budget = model.options.seed, self.memory_budget
        return fit_preimage(method, expansion_of(model), alpha=float(self.alpha), seed=seed, budget=budget)

    def _is_precomputed(self) -> bool:
        return isinstance(self.kernel, Precomputed) or (isinstance(self.kernel, str) and self.kernel == "precomputed")
