"""A rough picture of an operator: its leading pairs, and how wide the blocks of an iteration that has them are."""

from typing import NamedTuple

from gramian.arrays.namespace import HostArray

PROBES = 2
"""Gaussian columns of the first block, carried along as a Krylov sequence of their own: an eigenvalue that the
approximation knows nothing of shows itself there."""

CLEAR = 0.7
"""The first block ends where the next value is below this share of the last one wanted, if that is near."""

CLUSTER = 0.95
"""The same where columns are dear: values further apart than this are left to the steps."""

FEWEST = 8
"""Columns of a step, at least."""

WIDEST = 4
"""Blocks of ``width`` that the first one may have beyond what is wanted."""


class Approximation(NamedTuple):
    """Leading pairs of an operator near the one to be solved.

    Attributes
    ----------
    values : numpy array (p,)
        Descending, positive.
    vectors : numpy array (m, p)
        Nearly orthonormal columns; float32 will do.
    """

    values: HostArray
    vectors: HostArray


def first_block(values: HostArray | None, k: int, *, width: int, reserved: int = 0, clear: float = CLEAR) -> int:
    """Return how many columns of an approximation make the first block: full blocks that end at a gap.

    Where wanted values are part of a cluster, the approximation cannot tell its members apart; a block that holds all
    of it can. Blocks are whole ones of ``width``, less what is reserved and the probes; a gap is where the next value
    is below ``clear`` times the last one wanted.

    Examples
    --------
    >>> import numpy as np
    >>> first_block(np.array([9.0, 8.0, 7.0] + [1.0] * 80), 3, width=16)
    14
    >>> first_block(np.array([9.0] * 50 + [1.0] * 80), 3, width=16, reserved=1)
    61
    """
    taken = reserved + PROBES
    blocks = -(-(k + 2 + taken) // width)
    sizes = [width * count - taken for count in range(blocks, blocks + WIDEST)]
    if values is None or len(values) < k:
        return sizes[0]
    ends = [size for size in sizes if size >= len(values) or values[size] <= clear * values[k - 1]]
    return min(ends[0] if ends else sizes[0], len(values))


def step_width(k: int, width: int, *, thrifty: bool = False) -> int:
    """Return the columns of a step: whole blocks of ``width`` for about half of the pairs wanted.

    Where columns are to be saved, no more than the pairs wanted and the probes.

    Examples
    --------
    >>> step_width(10, 16), step_width(10, 16, thrifty=True), step_width(100, 16)
    (16, 12, 64)
    """
    whole = width * max(1, -(-k // (2 * width)))
    return min(whole, max(k + PROBES, FEWEST)) if thrifty else whole
