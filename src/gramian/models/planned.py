"""How a fit would go about it, said beforehand."""

from typing import Any

from gramian.errors import ParameterError
from gramian.models.pca import SOLVERS, PCAOptions, first_facts
from gramian.planning.plan import Plan, plan_pca
from gramian.sources.opening import as_source


def plan(
    X: Any,
    n_components: float | str | None = None,
    *,
    tol: float = 0.0,
    svd_solver: str = "auto",
    memory_budget: int | None = None,
) -> Plan:
    """Say how ``PCA(n_components).fit(X)`` would go about it, without touching the numbers.

    A share of variance, "auto" on a side of thousands of columns begins with the leading components and may go on to
    more: the plan is that of the beginning. On a smaller side its memory is that of all components, should the rule
    keep them; ``plan_`` of a fitted model has that of the ones kept.

    Parameters
    ----------
    X : anything that ``fit`` takes
        Only its shape, type and number of stored entries are looked at.
    n_components, tol, svd_solver, memory_budget
        As for :class:`~gramian.estimators.PCA`.

    Examples
    --------
    >>> import numpy as np
    >>> print(plan(np.zeros((200, 5000)), 10).operator)
    gram
    """
    if svd_solver not in SOLVERS:
        message = f"svd_solver={svd_solver!r} is not one of {', '.join(SOLVERS)}."
        raise ParameterError(message)
    options = PCAOptions(n_components=n_components, tol=tol, solver=svd_solver, memory_budget=memory_budget)
    return plan_pca(first_facts(as_source(X), options))
