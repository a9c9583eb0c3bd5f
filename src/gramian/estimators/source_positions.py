"""Which sources a person means: positions, names or a mask."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from gramian.errors import ParameterError
from gramian.estimators.parameters import is_whole
from gramian.models.ica import source_name


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
    places = {source_name(i): i for i in range(k)}
    positions: list[Any] = [places.get(i, i) if isinstance(i, str) else i for i in named]
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
