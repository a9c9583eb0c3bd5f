"""Seeded random draws that are equal on every library and device."""

import numpy as np

from gramian.arrays.namespace import Array, from_host
from gramian.arrays.precision import FLOAT64

DRAWN_AT_ONCE = 2**19
"""Numbers that are drawn at a time where a large block is filled: 4 MB."""


def gaussian(shape: tuple[int, ...], *, seed: int, like: Array, dtype: np.dtype = FLOAT64) -> Array:
    """Draw standard normal numbers on the host in float64, then move them to where ``like`` lives.

    Examples
    --------
    >>> import numpy as np
    >>> bool(np.all(gaussian((2, 2), seed=1, like=np.ones(1)) == gaussian((2, 2), seed=1, like=np.ones(1))))
    True
    """
    draw = np.random.default_rng(seed).standard_normal(shape)
    return from_host(draw, like=like, dtype=dtype)
