"""Which rows a sample takes: one of each run of m rows, at a place drawn for that run.

Every m-th row would see rows that repeat with a period at a few of their phases only, or at one.
"""

import numpy as np

from gramian.arrays.namespace import HostArray

MULTIPLIERS = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
"""Those of SplitMix64 (Steele, Lea and Flood, 2014), which turns consecutive numbers into random-looking ones."""


def thinned(n: int, step: int, *, start: int = 0, stop: int | None = None, shift: int = 0) -> slice | HostArray:
    """Return the rows from ``start`` to ``stop``, of n, that a sample of one row in each run of ``step`` takes.

    They are counted from ``start``, and depend on n, ``step`` and the position of the run alone, so not on blocks or
    threads. Samples of other shifts below ``step`` share no row but in the last run, which may be shorter.

    Examples
    --------
    >>> thinned(12, 4)
    array([ 3,  4, 11])
    >>> thinned(12, 4, start=4, stop=8)
    array([0])
    >>> thinned(12, 1)
    slice(None, None, None)
    """
    if step == 1:
        return slice(None)
    stop = n if stop is None else stop
    runs = np.arange(start // step, -(-stop // step))
    taken = (_scrambled(runs) % np.uint64(step)).astype(np.int64)
    if shift:
        taken = (taken + shift) % step
    taken += runs * step
    if len(runs) and (runs[-1] + 1) * step > n:
        # The last run of all may be shorter than the others.
        taken[-1] = runs[-1] * step + (taken[-1] - runs[-1] * step) % (n - runs[-1] * step)
    return taken[(taken >= start) & (taken < stop)] - start


def thinned_rows(rows: HostArray, step: int, *, shift: int = 0) -> HostArray:
    """Return the rows that :func:`thinned` names; the values of a column lie side by side in memory, as in ``rows``."""
    taken = thinned(len(rows), step, shift=shift)
    return rows if isinstance(taken, slice) else rows.T.take(taken, axis=1).T


def first_place(step: int, start: int, taken: slice | HostArray) -> int:
    """Return the place in the sample of the first of the rows that :func:`thinned` names, counted from ``start``."""
    return start if isinstance(taken, slice) else (start + int(taken[0])) // step


def _scrambled(numbers: HostArray) -> HostArray:
    """Return a fixed random-looking 64-bit number for each number."""
    first, second, third = (np.uint64(factor) for factor in MULTIPLIERS)
    x = (numbers.astype(np.uint64) + np.uint64(1)) * first
    x = (x ^ (x >> np.uint64(30))) * second
    x = (x ^ (x >> np.uint64(27))) * third
    scrambled: HostArray = x ^ (x >> np.uint64(31))
    return scrambled
