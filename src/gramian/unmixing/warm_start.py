"""Begin on a sample of the rows, end on all of them."""

from dataclasses import replace

import numpy as np

from gramian.arrays.namespace import HostArray
from gramian.unmixing.method import Unmixing, UnmixingMethod
from gramian.unmixing.white_rows import WhiteRows

LEAST_SAMPLE = 5_000
"""Rows that a sample has at least."""

SAMPLE_PER_PAIR = 10
"""Rows of a sample for each pair of sources that are to be told apart."""

WORTHWHILE = 4
"""How many times more rows than the sample there must be."""


def unmix(rows: WhiteRows, method: UnmixingMethod, start: HostArray) -> Unmixing:
    """Unmix with a first approach on every m-th row, where there are many.

    The sources of N rows are known to about 1/sqrt(N) of a radian, whatever is done; so the way from the start to
    within 1/sqrt(N) is made on N rows, and the few passes over all rows are spent on the rest.  Cost: one pass for the
    sample, and those of the method, of which there are then few.
    """
    if method.max_iter < 2:
        return method.solve(rows, start)
    size = max(LEAST_SAMPLE, SAMPLE_PER_PAIR * rows.size**2)
    if rows.n_rows < WORTHWHILE * size:
        return method.solve(rows, start)
    near = replace(method, tol=max(method.tol, 0.1 / np.sqrt(size)))
    first = near.solve(rows.sampled(size), start)
    found = method.solve(rows, first.matrix)
    return Unmixing(found.matrix, found.gradient_norm, first.n_iter + found.n_iter, found.converged)
