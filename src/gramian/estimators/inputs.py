"""What an estimator is given, checked: parameters within the limits that its class declares, and rows.

Each estimator holds its own table of limits as ``_LIMITS``; ``RESOURCES`` is the part that they share. Rows are opened,
moved to the device that is asked for, or refused, and their columns compared with those of the fit in scikit-learn's
words. A path is read within the ``memory_budget`` of its estimator, which hears of it through its ``progress``.
"""

import warnings
from collections.abc import Callable, Mapping
from functools import cache
from inspect import signature
from math import isfinite
from reprlib import Repr
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from gramian.arrays.namespace import Array, HostArray, is_dask, is_elsewhere, namespace_of, on_device
from gramian.arrays.transfer import empty_on
from gramian.errors import InputError, InputWarning, ParameterError, users_line
from gramian.sources.file_options import is_path
from gramian.sources.finiteness import require_finite
from gramian.sources.on_device import moved
from gramian.sources.opening import as_source
from gramian.sources.progress import say
from gramian.sources.rows import RowSource


class Limit(NamedTuple):
    """One kind of value that a parameter takes: the test, and the words for it."""

    holds: Callable[[Any], Any]
    words: str


Limits = Mapping[str, tuple[Limit, ...]]


def whole(least: int) -> Limit:
    """Allow integers from ``least`` upwards."""
    return Limit(lambda value: is_whole(value) and value >= least, f"an integer of at least {least}")


def number(least: float) -> Limit:
    """Allow finite numbers from ``least`` upwards."""
    return Limit(
        lambda value: (is_whole(value) or isinstance(value, float | np.floating)) and least <= value < np.inf,
        f"a number of at least {least:g}",
    )


def one_of(*words: str) -> Limit:
    """Allow these words."""
    return Limit(lambda value: isinstance(value, str) and value in words, ", ".join(repr(word) for word in words))


NOTHING = Limit(lambda value: value is None, "None")
FLAG = Limit(lambda value: isinstance(value, bool | np.bool_), "True or False")
DEVICE = Limit(
    lambda value: (
        (isinstance(value, str) or type(value).__module__ == "torch")
        and str(value).partition(":")[0] in {"cpu", "cuda", "mps", "xpu"}
    ),
    "a device: 'cpu', 'cuda', 'cuda:1', 'mps' or 'xpu'",
)
CALL = Limit(callable, "a function")
SHARE = Limit(
    lambda value: isinstance(value, float | np.floating) and 0 < value < 1,
    "a share strictly between 0 and 1",
)
BYTES = Limit(whole(1).holds, "an integer of at least 1, in bytes, such as 2_000_000_000")
SEED = Limit(
    lambda value: (
        (is_whole(value) and 0 <= value < 2**32) or isinstance(value, np.random.RandomState | np.random.Generator)
    ),
    "an integer from 0 to 2**32 - 1, a numpy RandomState or Generator",
)
KERNEL = Limit(
    lambda value: isinstance(value, str) or callable(value),
    "a kernel's name, a kernel of gramian.kernels, or a function",
)
NAMED = Limit(lambda value: isinstance(value, Mapping), "a mapping from names to values")
GAMMA = (NOTHING, number(0.0), one_of("scale", "median"))

_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 80

RESOURCES: Limits = {
    "memory_budget": (NOTHING, BYTES),
    "device": (NOTHING, DEVICE),
    "progress": (NOTHING, CALL),
}
"""Limits of the parameters that say what a fit may use, where it computes, and who hears of it."""


def check_parameters(estimator: Any) -> None:
    """Refuse the first parameter that is outside the limits of its class.

    Examples
    --------
    >>> from gramian import IncrementalPCA
    >>> check_parameters(IncrementalPCA(batch_size=0))
    Traceback (most recent call last):
    gramian.errors.ParameterError: batch_size=0 is not a value that IncrementalPCA takes. Pass None, or an integer
    of at least 1.
    """
    owner: Any = type(estimator)
    defaults = _defaults(owner)
    for name, allowed in owner._LIMITS.items():  # noqa: SLF001
        value = getattr(estimator, name)
        if value is defaults.get(name, defaults):
            continue
        for limit in allowed:
            if limit.holds(value):
                break
        else:
            raise ParameterError(_sentence(owner.__name__, name, value, allowed))


def seed_of(random_state: Any) -> int:
    """Return the seed that ``random_state`` stands for: 0 for None, a draw for a generator.

    None gives a fixed seed because a seed only chooses where an iteration starts: the answer is the same to
    rounding, and running twice should give the same digits.
    """
    if random_state is None:
        return 0
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    return int(random_state)


@cache
def _defaults(owner: Any) -> dict[str, Any]:
    """Return the defaults of a class, which need no check: most parameters of most fits."""
    return {name: parameter.default for name, parameter in signature(owner).parameters.items()}


def is_whole(value: Any) -> bool:
    """Tell whether a value is an integer of Python or NumPy; True and False are not."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _sentence(owner: str, name: str, value: Any, allowed: tuple[Limit, ...]) -> str:
    words = [limit.words for limit in allowed]
    choice = words[0] if len(words) == 1 else f"{', '.join(words[:-1])}, or {words[-1]}"
    return f"{name}={shown(value)} is not a value that {owner} takes. Pass {choice}."


def shown(value: Any) -> str:
    """Return a value as a sentence can hold it: an array by its shape, anything else by its repr, shortened.

    Examples
    --------
    >>> shown(np.zeros((20, 4))), shown("all"), shown(list(range(9)))
    ('<ndarray of shape (20, 4)>', "'all'", '[0, 1, 2, 3, 4, 5, ...]')
    """
    shape = getattr(value, "shape", ())
    if isinstance(shape, tuple) and len(shape) > 0:
        return f"<{type(value).__name__} of shape {shape}>"
    return _SHORT.repr(value)


def open_rows(estimator: Any, X: Any, *, weights: Any = None, moves: str = "", missing: bool = False) -> RowSource:
    """Open rows to learn from; a file is read in windows that suit the estimator's ``memory_budget``.

    Rows of the host are moved to the ``device`` of the estimator where ``moves`` is "whole", or "streamed" where they
    need not fit there as a whole; else they are refused.

    An ``InputWarning`` names the columns of a table file that hold numbers, or nearly, and are left out: five of them.
    """
    device = getattr(estimator, "device", None)
    if is_path(X) and is_elsewhere(device):
        empty_on(device)  # one that is not there is refused before a file is read
    source = _open_path(estimator, X, weights=weights) if is_path(X) else as_source(X, weights=weights, missing=missing)
    facts = source.facts if is_path(X) else None
    if facts is not None and (doubts := facts.doubts()):
        more = f" And {len(doubts) - 5} more." if len(doubts) > 5 else ""
        message = (
            f"{facts.origin}: {' '.join(doubts[:5])}{more} To choose yourself, pass gramian.as_source(path, "
            "columns=...) or gramian.as_source(path, drop=...) in place of the path; to use text as numbers, mend its "
            "cells first."
        )
        warnings.warn(message, InputWarning, stacklevel=users_line())
    elif is_path(X) and facts is None and source.remarks:
        message = (
            f"{' '.join(source.remarks)} To choose yourself, pass gramian.as_source(path, ...) in place of the path."
        )
        warnings.warn(message, InputWarning, stacklevel=users_line())
    return _on_device(estimator, source, moves=moves)


def open_new_rows(estimator: Any, X: Any, *, weights: Any = None, missing: bool = False) -> RowSource:
    """Open rows for a fitted estimator: of a table file the columns of the fit, in their order."""
    names = getattr(estimator, "feature_names_in_", None)
    if not is_path(X):
        source = as_source(X, weights=weights, missing=missing)
    elif names is None:
        source = _open_path(estimator, X, weights=weights)
    else:
        source = _open_path(estimator, X, columns=list(names), weights=weights)
    check_features(estimator, X, source)
    return source


def _open_path(estimator: Any, X: Any, **options: Any) -> RowSource:
    budget, say = getattr(estimator, "memory_budget", None), getattr(estimator, "progress", None)
    return as_source(X, memory_budget=budget, progress=say, **options)


def _on_device(estimator: Any, source: RowSource, *, moves: str) -> RowSource:
    """Return rows where the estimator is to compute; moved there if they are on the host."""
    device = getattr(estimator, "device", None)
    if device is None:
        return source
    is_here = not on_device(source.like())
    where = "cpu" if is_here else str(source.like().device)
    if is_here and is_elsewhere(device):
        empty_on(device)
        if moves:
            there = moved(source, device, whole=moves == "whole")
            say(estimator, there.moved)
            return there
    elif str(device) in (where, where.partition(":")[0]) or is_here:
        return source
    message = (
        f"device={str(device)!r}, and these rows are on {where!r}, from where they are not moved. Move them first, or "
        "leave device=None to compute where they are."
    )
    raise ParameterError(message)


def feature_names(X: Any, source: RowSource | None = None) -> HostArray | None:
    """Return the column names of a table whose names are all strings, else None; those of the source for a file.

    scikit-learn's own rule is asked, on an estimator that is thrown away: the one being fitted keeps its former
    names until the fit has succeeded.
    """
    if type(X) is np.ndarray:
        return None
    if source is not None and (is_path(X) or isinstance(X, RowSource)):
        return None if source.column_names is None else np.asarray(source.column_names, dtype=object)
    if not hasattr(X, "shape"):
        return None
    probe = BaseEstimator()
    validate_data(probe, _stand_in(X), skip_check_array=True)
    return getattr(probe, "feature_names_in_", None)


def keep_names(estimator: Any, names: HostArray | None) -> None:
    """Remember the names of the columns of a fit; none where they are not all strings."""
    estimator.__dict__.pop("feature_names_in_", None)
    if names is not None:
        estimator.feature_names_in_ = names


def check_features(estimator: Any, X: Any, source: RowSource) -> None:
    """Refuse rows whose columns are not those of the fit."""
    if is_path(X) or isinstance(X, RowSource):
        _check_names(estimator, source)
    elif type(X) is not np.ndarray or hasattr(estimator, "feature_names_in_"):
        validate_data(estimator, _stand_in(X), reset=False, skip_check_array=True)
    if source.n_columns != estimator.n_features_in_:
        message = (
            f"X has {source.n_columns} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input."
        )
        raise InputError(message)


def _check_names(estimator: Any, source: RowSource) -> None:
    fitted, here = getattr(estimator, "feature_names_in_", None), source.column_names
    if fitted is None or here is None or tuple(fitted) == here:
        return
    odd = next((pair for pair in zip(fitted, here, strict=False) if pair[0] != pair[1]), None)
    where = "" if odd is None else f": {odd[1]!r} stands where the fit had {odd[0]!r}"
    message = (
        f"The feature names should match those that were passed during fit{where}. Open the rows with the columns of "
        "the fit, in their order: gramian.as_source(path, columns=list(estimator.feature_names_in_))."
    )
    raise InputError(message)


def _stand_in(X: Any) -> Any:
    """Return, for a Dask collection, an empty table with its columns: scikit-learn would compute it to see them."""
    if not is_dask(X):
        return X
    if not hasattr(X, "columns"):
        return np.empty((0, X.shape[1]))
    from gramian.sources.dask import declared

    return declared(X)


def open_scores(estimator: Any, X: Any, *, k: int, scores: str = "scores", of: str = "components") -> RowSource:
    """Open scores for the way back, refused where they have not one column per component."""
    source = as_source(X)
    if source.n_columns != k:
        message = (
            f"X has {source.n_columns} columns, and this {type(estimator).__name__} has {k} {of}. Pass {scores} as "
            "transform gives them, one column each."
        )
        raise InputError(message)
    return source


def finite_results(results: Array, source: RowSource) -> Array:
    """Return what was made of rows, which are refused where they hold NaN or infinity.

    One sum over the results stands for a check of all n d values: NaN and infinity survive every product. Results of
    lazy rows are not computed here: a chunk that holds NaN or infinity is refused when it is.
    """
    if source.is_local:
        with np.errstate(invalid="ignore", over="ignore"):
            total = float(namespace_of(results).sum(results))
        if not isfinite(total):
            require_finite(source)
    return results
