"""Refusing work that the memory now free cannot hold, before it starts."""

from gramian.errors import MemoryBudgetError
from gramian.planning.machine import MEGABYTE, available_memory

ALWAYS_FREE = 64 * MEGABYTE
"""Needs below this are not compared with anything: asking the system costs a tenth of a small fit."""


def require_free(needed: int, *, work: str) -> None:
    """Raise when ``work`` needs more bytes than are free now.

    A plan is made for the machine's total memory, so that it does not vary from run to run; what other programs have
    taken meanwhile is looked at here.

    Raises
    ------
    MemoryBudgetError

    Examples
    --------
    >>> require_free(1000, work="PCA of 3 x 2 rows")
    """
    if needed <= ALWAYS_FREE or needed <= (free := available_memory()):
        return
    message = (
        f"{work} needs {needed / 1e9:,.1f} GB beyond the rows, and {free / 1e9:,.1f} GB are free now. Close other "
        f"programs, ask for fewer components, or set memory_budget to {free} or less: a way that fits is then looked "
        "for, slower but within it."
    )
    raise MemoryBudgetError(message, needed=needed, budget=free)
