"""Where a fit holds BLAS to one thread: wherever its own threads would only be in the workers' way.

A thread of OpenBLAS that has helped with a problem, however small, spins for up to 100 ms after it, on a core that a
worker needs: a pass over 1,000,000 x 100 float32 rows then takes 155 ms in place of 104.
"""

from contextlib import AbstractContextManager, nullcontext

from gramian.eigen.direct import Direct
from gramian.operators.covariance import Covariance
from gramian.operators.gram import Gram
from gramian.planning.machine import one_blas_thread
from gramian.planning.plan import Plan
from gramian.sources.measuring import SMALL_PROBLEM
from gramian.sources.rows import RowSource

BETWEEN_PASSES = 512
"""Size under which a dense solve gains less from BLAS's threads than passes lose by them (at 500: 7 against 50 ms)."""

BEFORE_A_PASS = 1024
"""Size up to which a dense solve is left to one thread before the pass back to the columns (at 1,000: 57 ms, and 38 by
two threads, which then spin for 100 ms on the cores of that pass: it takes 115 ms beside them, and 66 without)."""

SMALL_SIDE = 256
"""Smaller side up to which a dense solve takes one thread no longer than two (2.5 ms at 200)."""

THREADED_WORK = 1 << 18
"""Multiplications from which on OpenBLAS uses threads."""


def threads_of_fit(source: RowSource, plan: Plan) -> AbstractContextManager[None]:
    """Hold BLAS to one thread for a whole fit: passes by workers with small problems between, or little work at all."""
    return one_blas_thread() if _is_in_passes(source, plan) or _is_small(source) else nullcontext()


def threads_of_solve(operator: Covariance | Gram, plan: Plan) -> AbstractContextManager[None]:
    """Hold BLAS to one thread for a solve that is passes by workers, or is followed by one."""
    dense = isinstance(plan.solver, Direct)
    held = not dense or (isinstance(operator, Gram) and operator.size <= BEFORE_A_PASS)
    return one_blas_thread() if held else nullcontext()


def _is_in_passes(source: RowSource, plan: Plan) -> bool:
    if source.is_sparse:
        return not plan.held
    small = isinstance(plan.solver, Direct) and plan.operator == "covariance" and source.n_columns < BETWEEN_PASSES
    return source.has_columns and source.n_blocks > 1 and small


def _is_small(source: RowSource) -> bool:
    """Tell whether BLAS would use threads for these rows, and one would be as fast."""
    n, d = source.n_rows, source.n_columns
    return (
        not source.is_sparse
        and n * d <= SMALL_PROBLEM
        and min(n, d) <= SMALL_SIDE
        and n * d * min(n, d) >= THREADED_WORK
    )
