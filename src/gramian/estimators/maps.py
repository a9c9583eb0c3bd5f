"""Explicit feature maps in scikit-learn's manners: ``PolynomialMap``, ``FourierFeatures`` and ``Nystroem``."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from math import isfinite
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from gramian.arrays.namespace import Array, HostArray, namespace_of
from gramian.errors import InputError, MemoryBudgetError, ModelFileError, ParameterError
from gramian.estimators.inputs import (
    FLAG,
    GAMMA,
    KERNEL,
    NAMED,
    NOTHING,
    RESOURCES,
    SEED,
    Limits,
    check_parameters,
    feature_names,
    keep_names,
    number,
    one_of,
    open_new_rows,
    open_rows,
    seed_of,
    whole,
)
from gramian.estimators.mixins import SavedTransformer
from gramian.features.feature_map import FeatureMap, FeatureRecipe, MappedRows
from gramian.features.fourier import FourierMap, RandomFourier
from gramian.features.kernel_error import KernelError, measure_kernel_error
from gramian.features.nystrom import CHOICES, LandmarkMap, Landmarks
from gramian.features.polynomial import MonomialMap, Monomials
from gramian.kernels.named import as_kernel
from gramian.kernels.widths import Gamma
from gramian.machine import available_memory, in_words
from gramian.sources.finiteness import require_finite
from gramian.sources.progress import say
from gramian.sources.rows import RowSource, rows_of


class ExplicitMap(SavedTransformer):
    """A feature map in scikit-learn's manners. Abstract: see ``PolynomialMap``, ``FourierFeatures``, ``Nystroem``."""

    _LIMITS: ClassVar[Limits]
    _COPIED: ClassVar[Mapping[str, Callable[[Any], Any]]]

    memory_budget: int | None
    progress: Callable[[str], None] | None
    n_features_in_: int
    feature_names_in_: HostArray
    error_estimate_: KernelError | None
    _map: FeatureMap
    _seed: int = 0

    def fit(self, X: Any, y: Any = None) -> "ExplicitMap":
        """Fit the map to rows, and measure its error on them.

        Parameters
        ----------
        X : array, sparse array or table (n, d)
        y : ignored

        Returns
        -------
        self : estimator
            If the fit fails, the former map stays.
        """
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Fit the map to rows and return their features: the same as ``fit(X).transform(X)``.

        Parameters
        ----------
        X : array, sparse array or table (n, d)
        y : ignored

        Returns
        -------
        features : array (n, D)
        """
        return self._features(self._fit(X))

    def transform(self, X: Any) -> Array:
        """Return the features of rows.

        Parameters
        ----------
        X : array, sparse array or table (n, d)

        Returns
        -------
        features : array (n, D)
            In the library and the precision of X; dense also for sparse rows.
        """
        check_is_fitted(self, "_map")
        source = open_new_rows(self, X)
        # In the rows, for a kernel may well give finite numbers for infinite ones.
        if source.is_local:
            require_finite(source)
        return self._features(source)

    @abstractmethod
    def _recipe(self) -> FeatureRecipe:
        """Return what is asked for."""

    @property
    def _n_features_out(self) -> int:
        """Number of columns that ``transform`` gives."""
        return self._map.n_features

    def _fit(self, X: Any) -> RowSource:
        check_parameters(self)
        source = open_rows(self, X)
        require_finite(source)
        recipe = self._recipe()
        say(self, "fitting the map")
        phi = recipe.fit(source)
        say(self, "measuring the error of the map")
        error = None if phi.kernel is None else measure_kernel_error(phi, source)
        self._adopt(phi, error, feature_names(X, source))
        self._seed = int(getattr(recipe, "seed", 0))
        return source

    def _adopt(self, phi: Any, error: KernelError | None, names: HostArray | None) -> None:
        """Take over a finished map: the last step of a fit, so that a fit that fails leaves the former one."""
        self._map, self.error_estimate_, self.n_features_in_ = phi, error, phi.n_columns
        self.__dict__.update({name: field(phi) for name, field in self._COPIED.items()})
        keep_names(self, names)

    def _model_to_save(self) -> FeatureMap:
        check_is_fitted(self, "_map")
        return self._map

    def _seed_used(self) -> int:
        return self._seed

    def _saved_fields(self) -> dict[str, Any]:
        return {"error_estimate_": self.error_estimate_}

    def _restore(self, model: FeatureMap, names: HostArray | None, fields: Mapping[str, Any]) -> None:
        error = fields["error_estimate_"]
        if not isinstance(error, KernelError | None):
            message = "its error estimate is none"
            raise ModelFileError(message)
        self._adopt(model, error, names)

    def _features(self, source: RowSource) -> Array:
        if not source.is_local:
            return MappedRows(source, self._map).map_rows(rows_of)
        needed = source.n_rows * self._map.n_features * source.dtype.itemsize
        room = self.memory_budget or available_memory()
        if needed > room:
            message = (
                f"{source.n_rows:,} rows of {self._map.n_features:,} features are {in_words(needed)}, and "
                f"{in_words(room)} are {'free' if self.memory_budget is None else 'the memory_budget'}. Transform "
                "them in parts, or ask for fewer features."
            )
            raise MemoryBudgetError(message, needed=needed, budget=room)
        with np.errstate(over="ignore", invalid="ignore"):
            features = MappedRows(source, self._map).map_rows(rows_of)
            total = float(namespace_of(features).sum(features))
        if not isfinite(total):
            message = f"The features of these rows overflow {source.dtype.name}. Scale the columns first."
            raise InputError(message)
        return features


class PolynomialMap(ExplicitMap):
    """Every monomial up to a degree, weighted so that inner products are the polynomial kernel, exactly.

    Computes  phi(x)  with  phi(x).phi(y) = (gamma x.y + coef0)^degree:  each monomial x^a times the square root of its
    multinomial coefficient, of gamma^|a| and of coef0^(degree - |a|). PCA of these features is kernel PCA with that
    kernel; where C(degree + d, d) is less than the number of rows it is the smaller problem.

    With ``weights=False`` the features are scikit-learn's ``PolynomialFeatures``: plain monomials, another geometry.

    Cost: n D products, n D numbers. Not for many columns: 100 have 5,151 features of degree 2, 176,851 of degree 3.

    Parameters
    ----------
    degree : int, default=2
    gamma : float or None, default=1.0
        None is 1 / n_features.
    coef0 : float, default=1.0
        Not negative. With 0 only the monomials of the full degree are there.
    weights : bool, default=True
    memory_budget : int or None, default=None
        Bytes that the features that ``transform`` returns may take. None: what is free.
    device : str or None, default=None
        Where to compute. None: where the rows are. Rows are not moved between devices.
    progress : callable or None, default=None
        Called with a sentence before each stage of the work.

    Attributes
    ----------
    error_estimate_ : KernelError or None
        Measured; of the size of rounding. None without weights, where there is no kernel to compare with.
    n_features_in_, n_output_features_ : int
    feature_names_in_ : array (d,)
        Only for tables whose column names are all strings.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import PolynomialMap
    >>> phi = PolynomialMap(degree=2).fit([[1.0, 2.0], [3.0, 4.0]])
    >>> phi.get_feature_names_out()
    array(['1', 'x0', 'x1', 'x0^2', 'x0 x1', 'x1^2'], dtype=object)
    >>> x, y = phi.transform([[1.0, 2.0], [3.0, 4.0]])
    >>> round(float(x @ y), 9)
    144.0
    """

    _LIMITS: ClassVar[Limits] = {
        "degree": (whole(1),),
        "gamma": (NOTHING, number(0.0)),
        "coef0": (number(0.0),),
        "weights": (FLAG,),
        **RESOURCES,
    }
    _MODEL: ClassVar[type] = MonomialMap
    _COPIED: ClassVar[Mapping[str, Callable[[Any], Any]]] = {"n_output_features_": attrgetter("n_features")}

    def __init__(
        self,
        degree: int = 2,
        *,
        gamma: float | None = 1.0,
        coef0: float = 1.0,
        weights: bool = True,
        memory_budget: int | None = None,
        device: str | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.weights = weights
        self.memory_budget = memory_budget
        self.device = device
        self.progress = progress

    def get_feature_names_out(self, input_features: Any = None) -> HostArray:
        """Return the monomials as text, from the names of the columns.

        Parameters
        ----------
        input_features : sequence of str, optional
            Names of the columns; those of the fit, or x0, x1, ... where it had none.

        Returns
        -------
        names : array (D,) of str
        """
        check_is_fitted(self, "_map")
        columns = _column_names(self, input_features)
        return np.array(self._map.names(columns), dtype=object)  # type: ignore[attr-defined]  # a MonomialMap

    def _recipe(self) -> Monomials:
        return Monomials(int(self.degree), self.gamma, float(self.coef0), bool(self.weights))


class FourierFeatures(ExplicitMap):
    """Random Fourier features: waves whose inner products are near to a kernel of the difference of two rows.

    Computes  phi(x) = sqrt(2 k(0) / D) (cos w_j.x, sin w_j.x),  j = 1 ... D/2,  with frequencies w_j drawn from the
    spectral density of the kernel. The error of K falls as 1/sqrt(D) and is measured: ``error_estimate_``.

    Does what scikit-learn's ``RBFSampler`` does, for more kernels, with pairs of cosine and sine (less variance, exact
    diagonal) and orthogonal frequencies on request.

    Cost: n d D operations and n D cosines. Not where few features must do: ``Nystroem`` adapts to the rows.

    Parameters
    ----------
    kernel : str or Kernel, default='rbf'
        'rbf' or 'laplacian', or a Gaussian, Laplacian or Matern kernel of ``gramian.kernels``, or sums, products and
        positive multiples of them.
    gamma : float, 'scale', 'median' or None, default=None
        For kernels given by name. None is 1 / n_features.
    n_components : int, default=100
        D. Even numbers have an exact diagonal.
    orthogonal : bool, default=False
        Whether frequencies come in orthogonal groups: less error, for kernels of the Euclidean distance.
    random_state : int, RandomState, Generator or None, default=None
        Draws the frequencies. None is a fixed seed.
    memory_budget : int or None, default=None
        Bytes that the features that ``transform`` returns may take. None: what is free.
    device : str or None, default=None
        Where to compute. None: where the rows are. Rows are not moved between devices.
    progress : callable or None, default=None
        Called with a sentence before each stage of the work.

    Attributes
    ----------
    frequencies_ : array (D / 2, d)
    kernel_ : Kernel
        With numbers for parameters.
    error_estimate_ : KernelError
        |K - phi phi'| / |K| over the rows of the fit, from sampled pairs, with its standard error.
    n_features_in_ : int
    feature_names_in_ : array (d,)
        Only for tables whose column names are all strings.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import FourierFeatures
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> rough, fine = (FourierFeatures(gamma=0.2, n_components=D).fit(X) for D in (100, 10_000))
    >>> fine.transform(X).shape
    (200, 10000)
    >>> 5 < rough.error_estimate_.relative / fine.error_estimate_.relative < 20
    True
    """

    _LIMITS: ClassVar[Limits] = {
        "kernel": (KERNEL,),
        "gamma": GAMMA,
        "n_components": (whole(1),),
        "orthogonal": (FLAG,),
        "random_state": (NOTHING, SEED),
        **RESOURCES,
    }
    _MODEL: ClassVar[type] = FourierMap
    _COPIED: ClassVar[Mapping[str, Callable[[Any], Any]]] = {
        "frequencies_": attrgetter("frequencies"),
        "kernel_": attrgetter("kernel"),
    }

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: Gamma = None,
        n_components: int = 100,
        orthogonal: bool = False,
        random_state: Any = None,
        memory_budget: int | None = None,
        device: str | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.n_components = n_components
        self.orthogonal = orthogonal
        self.random_state = random_state
        self.memory_budget = memory_budget
        self.device = device
        self.progress = progress

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn what this estimator takes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = takes_sparse(self.kernel)
        return tags

    def _recipe(self) -> RandomFourier:
        return RandomFourier(
            as_kernel(self.kernel, gamma=self.gamma),
            int(self.n_components),
            bool(self.orthogonal),
            seed_of(self.random_state),
        )


class Nystroem(ExplicitMap):
    """Features from landmarks: the Nystroem approximation of any positive semidefinite kernel.

    Computes  phi(x) = S^(-1/2) Q' k(L, x)  with  k(L, L) = Q S Q'  for landmarks L, so that phi(x).phi(y) is the kernel
    of both points projected, in feature space, on the span of the landmarks. Both errors are measured:
    ``error_estimate_``.

    Takes the parameters of scikit-learn's ``Nystroem`` that have a meaning here, plus ``landmarks``. Differences: the
    features are by decreasing weight, and directions that rounding cannot tell apart are left out, so that there may
    be fewer than ``n_components``; a kernel that is not positive semidefinite is refused, not made so.

    Cost: 9 m^3 operations for a fit with m landmarks, and their choice; n m kernel values and 2 n m D operations for n
    rows. Not for kernels of very small width, whose spectrum falls slowly: the measured error says so.

    Parameters
    ----------
    kernel : str, Kernel or function, default='rbf'
    gamma : float, 'scale', 'median' or None, default=None
    coef0, degree : float or None, default=None
        Parameters of kernels given by name; None for the kernel's own default.
    kernel_params : mapping or None, default=None
        Passed by name to a kernel that is a function.
    n_components : int, default=100
        Landmarks. All rows are used where there are fewer.
    landmarks : {'uniform', 'kmeans', 'pivoted'}, default='uniform'
        Rows drawn at random; centers of k-means; or rows chosen by a randomly pivoted Cholesky factorization.
    random_state : int, RandomState, Generator or None, default=None
        Draws the landmarks. None is a fixed seed.
    memory_budget : int or None, default=None
        Bytes that the features that ``transform`` returns may take. None: what is free.
    device : str or None, default=None
        Where to compute. None: where the rows are. Rows are not moved between devices.
    progress : callable or None, default=None
        Called with a sentence before each stage of the work.

    Attributes
    ----------
    components_ : array (m, d)
        The landmarks.
    component_indices_ : array (m,) or None
        Which rows they are; None for k-means.
    normalization_ : array (D, m)
        Features are kernel values at the landmarks times its transpose.
    kernel_ : Kernel
        With numbers for parameters.
    error_estimate_ : KernelError
        |K - phi phi'| / |K| and the share of the trace of K that is missing, over the rows of the fit, from a sample,
        with their standard errors.
    n_features_in_ : int
    feature_names_in_ : array (d,)
        Only for tables whose column names are all strings.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import Nystroem
    >>> X = np.random.default_rng(0).standard_normal((300, 3))
    >>> phi = Nystroem(gamma=0.1, n_components=60, landmarks="pivoted").fit(X)
    >>> phi.error_estimate_.relative < 1e-3
    True
    """

    _LIMITS: ClassVar[Limits] = {
        "kernel": (KERNEL,),
        "gamma": GAMMA,
        "coef0": (NOTHING, number(-np.inf)),
        "degree": (NOTHING, number(0.0)),
        "kernel_params": (NOTHING, NAMED),
        "n_components": (whole(1),),
        "landmarks": (one_of(*CHOICES),),
        "random_state": (NOTHING, SEED),
        **RESOURCES,
    }
    _MODEL: ClassVar[type] = LandmarkMap
    _COPIED: ClassVar[Mapping[str, Callable[[Any], Any]]] = {
        "components_": attrgetter("landmarks"),
        "component_indices_": attrgetter("positions"),
        "normalization_": attrgetter("root.T"),
        "kernel_": attrgetter("kernel"),
    }

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: Gamma = None,
        coef0: float | None = None,
        degree: float | None = None,
        kernel_params: Mapping[str, Any] | None = None,
        n_components: int = 100,
        landmarks: str = "uniform",
        random_state: Any = None,
        memory_budget: int | None = None,
        device: str | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.kernel_params = kernel_params
        self.n_components = n_components
        self.landmarks = landmarks
        self.random_state = random_state
        self.memory_budget = memory_budget
        self.device = device
        self.progress = progress

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn what this estimator takes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.landmarks != "kmeans" and takes_sparse(self.kernel)
        return tags

    def _recipe(self) -> Landmarks:
        given: dict[str, Any] = {
            "gamma": self.gamma,
            "coef0": self.coef0,
            "degree": self.degree,
            "parameters": self.kernel_params,
        }
        kernel = as_kernel(self.kernel, **{name: value for name, value in given.items() if value is not None})
        return Landmarks(kernel, int(self.n_components), self.landmarks, seed_of(self.random_state))


def takes_sparse(kernel: Any) -> bool:
    """Tell whether a kernel, or the kernel of a name, takes sparse rows; a parameter not yet checked may be neither."""
    try:
        return as_kernel(kernel).takes_sparse
    except ParameterError:
        return False


def _column_names(estimator: ExplicitMap, given: Any) -> list[str]:
    fitted = getattr(estimator, "feature_names_in_", None)
    if given is None:
        return [f"x{j}" for j in range(estimator.n_features_in_)] if fitted is None else list(fitted)
    names = [str(name) for name in given]
    if fitted is not None and names != list(fitted):
        message = "input_features is not equal to feature_names_in_"
        raise InputError(message)
    if len(names) != estimator.n_features_in_:
        message = (
            f"input_features should have length equal to number of features ({estimator.n_features_in_}), got "
            f"{len(names)}"
        )
        raise InputError(message)
    return names
