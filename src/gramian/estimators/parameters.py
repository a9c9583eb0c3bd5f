"""What a parameter may be: limits that a class declares, one table per class, and the sentence where one is broken.

Each estimator holds its own table as ``_LIMITS``; ``RESOURCES`` is the part that they share.
"""

from collections.abc import Callable, Mapping
from functools import cache
from inspect import signature
from reprlib import Repr
from typing import Any, NamedTuple

import numpy as np

from gramian.errors import ParameterError


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
TEXT = Limit(lambda value: isinstance(value, str), "a name")
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

_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 80

RESOURCES: Limits = {
    "memory_budget": (NOTHING, BYTES),
    "device": (NOTHING, TEXT),
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
