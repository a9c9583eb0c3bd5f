"""What the parameters of a kernel PCA may be, and what they ask of the model."""

import warnings
from typing import Any

from sklearn.base import BaseEstimator

from gramian.errors import ParameterError, RankWarning, users_line
from gramian.estimators.explicit_map import ExplicitMap
from gramian.estimators.maps import GAMMA, KERNEL, NAMED
from gramian.estimators.parameters import (
    BYTES,
    CALL,
    FLAG,
    NOTHING,
    SEED,
    SHARE,
    Limit,
    Limits,
    check_parameters,
    is_whole,
    number,
    one_of,
    shown,
    whole,
)
from gramian.features.feature_map import FeatureMap, FeatureRecipe
from gramian.kernels.named import as_kernel
from gramian.models.kernel_planned import EIGEN_SOLVERS
from gramian.models.preimage import PreimageMethod

FEATURES = Limit(
    lambda value: isinstance(value, ExplicitMap | FeatureRecipe | FeatureMap),
    "a map such as FourierFeatures() or Nystroem()",
)
METHOD = Limit(lambda value: isinstance(value, PreimageMethod), "a pre-image method")

LIMITS: Limits = {
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
    "memory_budget": (NOTHING, BYTES),
    "landmarks": (NOTHING, whole(1)),
    "features": (NOTHING, FEATURES),
    "pre_image": (NOTHING, one_of("ridge", "fixed_point", "distances", "auto"), METHOD),
    "progress": (NOTHING, CALL),
}
"""Limits of every parameter of ``KernelPCA``."""


def asked_features(estimator: Any) -> FeatureRecipe | FeatureMap | None:
    """Return the map asked for; an estimator stands for its parameters, and is not fitted itself."""
    given = estimator.features
    alone = {"kernel": "linear", "gamma": None, "degree": 3, "coef0": 1, "kernel_params": None}
    for name, default in alone.items() if given is not None else ():
        value = getattr(estimator, name)
        if value not in (default, {}):
            message = (
                f"features stand for a kernel of their own, and {name}={shown(value)} is given beside them. Give its "
                f"name and parameters there, and leave {name} alone."
            )
            raise ParameterError(message)
    if isinstance(given, ExplicitMap):
        check_parameters(given, given.LIMITS)
        return given._recipe()  # noqa: SLF001
    return given  # type: ignore[no-any-return]


def asked_count(k: Any, n: int) -> int | float | None:
    """Return the number of components asked for, at most n as in scikit-learn, with a warning."""
    if k is None or not is_whole(k):
        return None if k is None else float(k)
    if k > n:
        message = f"n_components={k} is more than n_samples={n}: {n} components are all there are."
        warnings.warn(message, RankWarning, stacklevel=users_line())
    return min(int(k), n)


def takes_sparse(estimator: Any) -> bool:
    """Tell whether sparse rows are taken; a parameter that is not yet checked may be anything."""
    if estimator.fit_inverse_transform or estimator.pre_image is not None:
        return False
    if estimator.features is not None:
        return isinstance(estimator.features, BaseEstimator) and estimator.features.__sklearn_tags__().input_tags.sparse
    try:
        return bool(as_kernel(estimator.kernel).takes_sparse)
    except ParameterError:
        return False
