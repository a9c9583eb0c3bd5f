"""Weights of rows: how often each row counts."""

from typing import Any, NoReturn

import numpy as np

from gramian.arrays.namespace import HostArray, is_torch, to_host
from gramian.arrays.precision import FLOAT64
from gramian.errors import InputError


def check_weights(weights: Any, n_rows: int) -> HostArray:
    """Return one float64 weight a row, on the host; refuse what cannot be a number of repetitions.

    A weight w counts its row w times: 0 leaves it out, and fractions are allowed.

    Examples
    --------
    >>> check_weights([1, 0, 2.5], 3)
    array([1. , 0. , 2.5])
    """
    w = _as_floats(weights)
    if w.ndim != 1:
        message = f"sample_weight has shape {w.shape}. Pass a 1-D array of {n_rows:,} weights, one a row."
        raise InputError(message)
    if len(w) != n_rows:
        message = f"sample_weight has {len(w):,} values and X has {n_rows:,} rows. Pass one weight a row."
        raise InputError(message)
    _require_repetitions(w)
    return w


def _as_floats(weights: Any) -> HostArray:
    if is_torch(weights):
        weights = to_host(weights)
    if np.ma.is_masked(weights):
        first = int(np.argmax(np.ma.getmaskarray(weights)))
        message = f"sample_weight[{first}] is masked. Pass 0 to leave a row out."
        raise InputError(message)
    array = np.asarray(weights)
    if array.dtype.kind not in "biufO":
        message = f"sample_weight has dtype {array.dtype}. Pass real numbers, one a row of X."
        raise InputError(message)
    try:
        return array.astype(FLOAT64, copy=False)
    except (TypeError, ValueError) as error:
        message = f"sample_weight holds something that is no number ({error}). Pass real numbers, one a row."
        raise InputError(message) from error


def _require_repetitions(w: HostArray) -> None:
    good = w >= 0
    good &= w < np.inf
    if not good.all():
        _refuse_weight(w, int(np.argmin(good)))
    if not w.any():
        message = "Every sample_weight is zero, so no row counts. Pass at least one positive weight."
        raise InputError(message)


def _refuse_weight(w: HostArray, i: int) -> NoReturn:
    message = f"sample_weight[{i}] is {w[i]}. A weight is a number of repetitions: pass finite numbers from 0 up."
    raise InputError(message, row=i)
