"""Begin on a sample of the rows, go on in single precision, end on all rows in their own."""

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

SINGLE_TOLERANCE = 5e-7
"""Gradient norm at which single precision has done its part: its rounding there is 1e-8 to 1e-7 (measured)."""

STALLED = 1e-4
"""Gradient norm from which on a stage in single precision that did not end may have been held up by its rounding."""

FEW_ITERATIONS = 10
"""Iterations under which someone wants to count them: they are all made on all rows."""


def unmix(rows: WhiteRows, method: UnmixingMethod, start: HostArray, *, hold: bool = True) -> Unmixing:
    """Unmix in up to three stages, each from where the last one ended: a sample, all rows in float32, all rows.

    The sources of N rows are known to about 1/sqrt(N) of a radian, whatever is done; so the way from the start to
    within 1/sqrt(N) is made on N rows, one of each run of m. The way on is made on a float32 copy of the white rows,
    where they are float64 and ``hold`` says that 4 n k bytes are there. The gradient norm that is returned, and
    compared with ``tol``, is always that of all rows in their own precision. Cost: one pass for the float32 rows,
    those of the method over them, at a third of the price, and mostly one pass over the rows themselves.
    """
    if method.max_iter < FEW_ITERATIONS:
        return method.solve(rows, start)
    single = rows.in_single() if hold else None
    sampled = _from_sample(rows if single is None else single, method, start)
    if single is None:
        return _after(sampled, method.solve(rows, sampled.matrix))
    near = replace(method, tol=max(0.9 * method.tol, SINGLE_TOLERANCE), max_iter=method.max_iter - 1)
    first = near.solve(single, sampled.matrix)
    del single
    # Where rounding kept single precision from its goal, all iterations are there for the other one.
    stalled = not first.converged and first.gradient_norm <= STALLED
    left = method.max_iter if stalled else method.max_iter - first.n_iter
    return _after(sampled, _after(first, replace(method, max_iter=left).solve(rows, first.matrix)))


def _from_sample(rows: WhiteRows, method: UnmixingMethod, start: HostArray) -> Unmixing:
    """Return the solution on a sample of the rows, or the start where there are few."""
    size = max(LEAST_SAMPLE, SAMPLE_PER_PAIR * rows.size**2)
    if rows.n_rows < WORTHWHILE * size:
        return Unmixing(start, np.inf, 0, converged=False)
    return replace(method, tol=max(method.tol, 0.1 / np.sqrt(size))).solve(rows.sampled(size), start)


def _after(first: Unmixing, last: Unmixing) -> Unmixing:
    return replace(last, n_iter=first.n_iter + last.n_iter)
