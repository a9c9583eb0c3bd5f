"""Kernel principal component analysis, in scikit-learn's manners.

The class, then what its parameters ask of the model, and the way of rows and scores in and out.
"""

import warnings
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from gramian.arrays.namespace import Array, HostArray, from_host, is_elsewhere
from gramian.errors import ModelFileError, NotSupportedError, ParameterError, RankWarning, users_line
from gramian.estimators.inputs import (
    FLAG,
    GAMMA,
    KERNEL,
    NAMED,
    NOTHING,
    RESOURCES,
    SEED,
    SHARE,
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
    shown,
    whole,
)
from gramian.estimators.maps import ExplicitMap, takes_sparse
from gramian.estimators.mixins import CertifiedMixin, ReportMixin, WeightedFit
from gramian.features.feature_map import FeatureMap, FeatureRecipe
from gramian.features.kernel_error import KernelError
from gramian.kernels.named import Precomputed, as_kernel
from gramian.kernels.widths import Gamma
from gramian.models.kernel_pca.fit import EIGEN_SOLVERS, fit_kernel_pca
from gramian.models.kernel_pca.model import KernelPCAModel, KernelPCAOptions
from gramian.models.kernel_pca.preimage import (
    ChosenPreimage,
    PreimageChoice,
    PreimageMethod,
    Preimages,
    RidgeMap,
    expansion_of,
    fit_preimage,
    method_named,
    require_room,
)
from gramian.models.placing import home
from gramian.models.score_file import write_scores
from gramian.sources.dense import DenseRows
from gramian.sources.finiteness import require_finite
from gramian.sources.rows import Block, RowSource, require_local


class KernelPCA(CertifiedMixin, ReportMixin, WeightedFit):
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
        'median' for an inner product ('poly', 'sigmoid'), where gamma is no width, and both words for 'chi2'.
    degree, coef0 : float, default=3, 1
        Of the polynomial and sigmoid kernels.
    kernel_params : mapping or None, default=None
        Passed by name to a kernel that is a function; refused for any other.
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
    center : bool, default=True
        Whether features are centered. False: the eigenpairs of K itself, in which the constant part of the features
        has a direction of its own.
    device : str, torch.device or None, default=None
        Where to compute. None: where the rows are. Rows of the host are moved to another one, where they have to fit;
        what is made of them comes back to the host.
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
    n_components_reason_ : str
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

    _MODEL: ClassVar[type] = KernelPCAModel
    _LIMITS: ClassVar[Limits] = {
        "n_components": (NOTHING, whole(1), SHARE),
        "kernel": (KERNEL,),
        "gamma": GAMMA,
        "degree": (number(0.0),),
        "coef0": (number(float("-inf")),),
        "kernel_params": (NOTHING, NAMED),
        "alpha": (number(0.0),),
        "fit_inverse_transform": (FLAG,),
        "eigen_solver": (one_of(*EIGEN_SOLVERS),),
        "tol": (number(0.0),),
        "max_iter": (NOTHING, whole(1)),
        "iterated_power": (whole(0), one_of("auto")),
        "remove_zero_eig": (FLAG,),
        "random_state": (NOTHING, SEED),
        "copy_X": (FLAG,),
        "n_jobs": (NOTHING, Limit(is_whole, "an integer")),
        "landmarks": (NOTHING, whole(1)),
        "features": (
            NOTHING,
            Limit(
                lambda value: isinstance(value, ExplicitMap | FeatureRecipe | FeatureMap),
                "a map such as FourierFeatures() or Nystroem()",
            ),
        ),
        "pre_image": (
            NOTHING,
            one_of("ridge", "fixed_point", "distances", "auto"),
            Limit(lambda value: isinstance(value, PreimageMethod), "a pre-image method"),
        ),
        "center": (FLAG,),
        **RESOURCES,
    }

    n_features_in_: int
    feature_names_in_: HostArray
    eigenvalues_: HostArray
    _model: KernelPCAModel
    pre_image_choice_: PreimageChoice
    _preimage: ChosenPreimage

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
        center: bool = True,
        device: str | None = None,
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
        self.center = center
        self.device = device
        self.progress = progress

    @property
    def approximate_(self) -> bool:
        """Whether the model is that of landmarks or features near the kernel, not of the kernel."""
        return self._fitted_model().approximate

    @property
    def error_estimate_(self) -> KernelError | None:
        """The measured error of the approximation of K; None for an exact model."""
        return self._fitted_model().error

    @property
    def n_components_reason_(self) -> str:
        """How the number of components was chosen, in words; empty when it was given."""
        return self._fitted_model().verdict

    def transform(self, X: Any) -> Array:
        """Project rows on the components.

        Computes  Y = kc(X, X_fit) A,  A = u / sqrt(lambda);  components with a zero eigenvalue score zero.  Cost: n
        kernel values per row, in pieces of 8 MB; m for a model on m landmarks.

        Parameters
        ----------
        X : array, sparse array or table (m, d)
            With ``kernel="precomputed"`` the kernel values between new rows and those of the fit (m, n).

        Returns
        -------
        Y : array (m, k)
            In the library and the precision of X. For a Dask array or data frame a Dask array, lazily.
        """
        model, source = self._opened(X)
        return _like_rows(model.project(source), source)

    def write_scores(self, X: Any, path: str | PathLike[str]) -> Path:
        """Project rows and write the scores to a .parquet, .npy or .csv file, block by block: see ``PCA.write_scores``.

        Parameters
        ----------
        X : path, array, sparse array or table (m, d)
        path : path

        Returns
        -------
        path : Path
        """
        model, source = self._opened(X)
        return write_scores(partial(_scores, model), source, path, names=self.get_feature_names_out())

    def reconstruction_error(self, X: Any) -> Array:
        """Return the squared distance of each row from the components, in feature space.

        Computes  kc(x, x) - |y|^2,  what kernel PCA makes small, from the kernel alone (no phi, no pre-image). With a
        linear kernel it is the ``reconstruction_error`` of ``PCA``.  Cost: that of ``transform``.

        Parameters
        ----------
        X : array, sparse array or table (m, d)

        Returns
        -------
        errors : array (m,)
        """
        model, source = self._opened(X)
        return _like_rows(model.squared_error(source), source)

    def inverse_transform(self, X: Any) -> Array:
        """Return rows whose features are near to what scores stand for.

        Cost: see ``pre_image``; for the ridge n kernel values per row of scores.

        Parameters
        ----------
        X : array (m, k)
            Scores, as ``transform`` gives them.

        Returns
        -------
        rows : array (m, d)
        """
        return self.pre_images(X).rows

    def pre_images(self, X: Any) -> Preimages:
        """Return what ``inverse_transform`` does, with the error of every row.

        Parameters
        ----------
        X : array (m, k)
            Scores, as ``transform`` gives them.

        Returns
        -------
        Preimages
            ``rows`` (m, d); ``errors`` (m,), the squared distance in feature space that is left; ``found`` (m,),
            False where the method fell back on its start.
        """
        check_is_fitted(self, "_model")
        check_is_fitted(
            self,
            "_preimage",
            msg="The fit_inverse_transform parameter was not set to True when instantiating and hence the inverse "
            "transform is not available. Set it, or pre_image, and fit again.",
        )
        source = open_scores(self, X, k=len(self.eigenvalues_))
        require_local(source, "The way back from kernel scores")
        require_finite(source)
        blocks = [source.block(i).rows for i in range(source.n_blocks)]
        scores = np.vstack([block.toarray() if source.is_sparse else np.asarray(block) for block in blocks])
        found = self._preimage.fitted.rebuild(scores)
        return found._replace(rows=_like_rows(found.rows, source))

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn what this estimator takes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed()
        tags.input_tags.sparse = _takes_sparse(self)
        return tags

    def _fit(self, X: Any, sample_weight: Any) -> KernelPCAModel:
        check_parameters(self)
        wanted = self._wanted_preimage()
        self._require_exact_elsewhere()
        source = open_rows(self, X, weights=sample_weight, moves="whole")
        options = self._options(source)
        if self.copy_X and self.landmarks is None and self.features is None and not self._is_precomputed():
            if source.origin is None:
                source = _own_copy(source, X)
            else:
                source.origin = _own_copy(source.origin, X)
        if wanted is not None and self.memory_budget is not None:
            n = min(source.n_rows, self.landmarks or source.n_rows)
            method = method_named(wanted, alpha=float(self.alpha), seed=options.seed)
            require_room(method, n, source.n_columns, budget=self.memory_budget)
        model: KernelPCAModel = home(fit_kernel_pca(source, options), source)
        found = None if wanted is None else self._bind_preimage(wanted, model)
        fields, names = _fields(model, gamma=self.gamma) | _preimage_fields(found), feature_names(X, source)
        for name in ("dual_coef_", "X_transformed_fit_", "X_fit_", "_preimage", "pre_image_choice_"):
            self.__dict__.pop(name, None)
        # Nothing that comes later needs the rows of an approximate model.
        kept = replace(model, source=DenseRows(np.zeros((0, model.n_columns)))) if model.approximate else model
        self.__dict__.update(fields, _model=kept)
        keep_names(self, names)
        return model

    def _scores_of_fit(self, fitted: KernelPCAModel) -> Array:
        return _like_rows(fitted.scores, fitted.source)

    def _options(self, source: RowSource) -> KernelPCAOptions:
        """Check the parameters against each other and the rows; return what the model is asked for."""
        features = _asked_features(self)
        kernel = as_kernel(
            self.kernel, gamma=self.gamma, degree=self.degree, coef0=float(self.coef0), parameters=self.kernel_params
        )
        if kernel.is_precomputed and source.is_sparse:
            message = "A precomputed kernel is a dense matrix, and this one is sparse. Pass X.toarray()."
            raise NotSupportedError(message)
        k, n = self.n_components, source.n_rows
        if is_whole(k) and k > n:
            message = f"n_components={k} is more than n_samples={n}: {n} components are all there are."
            warnings.warn(message, RankWarning, stacklevel=users_line())
        return KernelPCAOptions(
            n_components=min(int(k), n) if is_whole(k) else k if k is None else float(k),
            kernel=kernel,
            center=self.center,
            way=EIGEN_SOLVERS[self.eigen_solver] if n > 1 else "dense",
            tol=float(self.tol),
            seed=seed_of(self.random_state),
            memory_budget=self.memory_budget,
            landmarks=self.landmarks,
            features=features,
            drop_zeros=bool(self.remove_zero_eig),
            strict=self.eigen_solver == "randomized",
            progress=self.progress,
        )

    def _wanted_preimage(self) -> Any:
        if not self.fit_inverse_transform and self.pre_image is None:
            return None
        if self._is_precomputed():
            message = "Cannot fit_inverse_transform with a precomputed kernel."
            raise ParameterError(message)
        return "ridge" if self.pre_image is None else self.pre_image

    def _require_exact_elsewhere(self) -> None:
        """Refuse to move rows for what is computed on the host."""
        asked = {"landmarks": self.landmarks, "features": self.features}
        given = [name for name, value in asked.items() if value is not None]
        if is_elsewhere(self.device) and (given or self._is_precomputed()):
            what = given[0] if given else "kernel='precomputed'"
            message = f"device={str(self.device)!r}, and {what} is computed on the host. Leave device=None with it."
            raise ParameterError(message)

    def _bind_preimage(self, method: Any, model: KernelPCAModel) -> ChosenPreimage:
        seed, budget = model.options.seed, self.memory_budget
        return fit_preimage(method, expansion_of(model), alpha=float(self.alpha), seed=seed, budget=budget)

    def _is_precomputed(self) -> bool:
        return isinstance(self.kernel, Precomputed) or (isinstance(self.kernel, str) and self.kernel == "precomputed")

    @property
    def _n_features_out(self) -> int:
        """Number of columns that ``transform`` gives."""
        return len(self.eigenvalues_)

    def _fitted_model(self) -> KernelPCAModel:
        if "_model" not in self.__dict__:
            check_is_fitted(self, "_model")
        return self._model

    def _opened(self, X: Any) -> tuple[KernelPCAModel, RowSource]:
        """Open new rows for a fitted model: fitted at all, the same columns, finite."""
        model = self._fitted_model()
        source = open_new_rows(self, X)
        # In the rows, for a kernel may well give finite numbers for infinite ones; lazy rows are checked as they come.
        if source.is_local:
            require_finite(source)
        return model, source

    def _saved_parameters(self) -> dict[str, Any]:
        given = super()._saved_parameters()
        # An estimator of features stands for the recipe that the fit used.
        return given if given["features"] is None else given | {"features": self._fitted_model().options.features}

    def _saved_fields(self) -> dict[str, Any]:
        return {"pre_image_choice_": self.pre_image_choice_} if "pre_image_choice_" in self.__dict__ else {}

    def _restore(self, model: KernelPCAModel, names: HostArray | None, fields: Mapping[str, Any]) -> None:
        self.__dict__.update(_fields(model, gamma=self.gamma), _model=model)
        keep_names(self, names)
        wanted, choice = self._wanted_preimage(), fields.get("pre_image_choice_")
        if wanted is None:
            return
        if choice is not None and not isinstance(choice, PreimageChoice):
            message = "its choice of a pre-image is none"
            raise ModelFileError(message)
        found = self._bind_preimage(wanted if choice is None else choice.method, model)
        self.__dict__.update(_preimage_fields(ChosenPreimage(found.fitted, choice)))

    @classmethod
    def _from_model(cls, model: KernelPCAModel) -> tuple["KernelPCA", KernelPCAModel]:
        asked = model.options
        estimator = cls(
            asked.n_components,
            kernel="linear" if asked.features is not None else asked.kernel,
            tol=asked.tol,
            random_state=asked.seed,
            memory_budget=asked.memory_budget,
            landmarks=asked.landmarks,
            features=asked.features,
            remove_zero_eig=asked.drop_zeros,
            center=asked.center,
        )
        return estimator, model


def _scores(model: KernelPCAModel, block: Block) -> Array:
    return model.project(block.rows)


def _asked_features(estimator: Any) -> FeatureRecipe | FeatureMap | None:
    """Return the map asked for; an estimator stands for its parameters, and is not fitted itself."""
    given = estimator.features
    alone = {"kernel": "linear", "gamma": None, "degree": 3, "coef0": 1, "kernel_params": None}
    for name, default in alone.items() if given is not None else ():
        value = getattr(estimator, name)
        if value not in (default, {}):
            message = (
                f"features stand for a kernel of their own, and {name}={shown(value)} is given with them. Give its "
                f"name and parameters there, and leave {name} alone."
            )
            raise ParameterError(message)
    if isinstance(given, ExplicitMap):
        check_parameters(given)
        return given._recipe()  # noqa: SLF001
    return given  # type: ignore[no-any-return]


def _takes_sparse(estimator: Any) -> bool:
    if estimator.fit_inverse_transform or estimator.pre_image is not None:
        return False
    if estimator.features is not None:
        return isinstance(estimator.features, BaseEstimator) and estimator.features.__sklearn_tags__().input_tags.sparse
    return takes_sparse(estimator.kernel)


def _fields(model: KernelPCAModel, *, gamma: Any) -> dict[str, Any]:
    """Return the fitted fields of a model by their names; ``gamma`` is what was asked for.

    Of a kernel without a gamma, ``gamma_`` is what scikit-learn shows: the number given, or 1/d.
    """
    own = getattr(model.kernel, "gamma", None)
    if not isinstance(own, float):
        own = 1.0 / model.n_columns if gamma is None or isinstance(gamma, str) else float(gamma)
    if model.approximate:
        rows = getattr(getattr(model.expansion, "phi", None), "landmarks", None)
    else:
        rows = model.source.whole if model.source.is_local else model.source.collection
    fields = {
        "eigenvalues_": model.eigenvalues,
        "eigenvectors_": model.vectors,
        "explained_variance_ratio_": model.shares,
        "kernel_": model.kernel,
        "gamma_": own,
        "n_features_in_": model.n_columns,
    }
    return fields if rows is None else fields | {"X_fit_": rows}


def _preimage_fields(found: ChosenPreimage | None) -> dict[str, Any]:
    """Return the fields of the way back: the method, how it was chosen, and scikit-learn's names for a ridge."""
    if found is None:
        return {}
    fields: dict[str, Any] = {"_preimage": found}
    if found.choice is not None:
        fields["pre_image_choice_"] = found.choice
    if isinstance(found.fitted, RidgeMap):
        fields |= {"dual_coef_": found.fitted.dual, "X_transformed_fit_": found.fitted.centers}
    return fields


def _own_copy(source: RowSource, X: Any) -> RowSource:
    """Return a source whose rows are not the user's, copied only where they still are; Dask's cannot be changed."""
    rows = source.whole
    is_new = isinstance(X, list | tuple) or (
        isinstance(rows, np.ndarray) and isinstance(X, np.ndarray) and not np.may_share_memory(rows, X)
    )
    if rows is None or (isinstance(rows, np.ndarray) and is_new):
        return copy(source)
    return source.copied()


def _like_rows(values: Any, source: RowSource) -> Array:
    """Return values in the precision of the rows, and in their library where they are dense."""
    if not source.is_local:
        values = source.spread(values) if isinstance(values, np.ndarray) else values
        return values.astype(source.dtype)
    if not isinstance(values, np.ndarray):
        return values
    like = np.empty(0) if source.is_sparse else source.like()
    return from_host(values, like=like, dtype=source.dtype)
