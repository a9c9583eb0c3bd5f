"""How many kernel components a fit keeps: a number, those that are not zero, or a share of the exact trace."""

import warnings
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from gramian.errors import MemoryBudgetError, ParameterError, RankWarning, users_line
from gramian.models.kernel_solving import Solved
from gramian.planning.kernel_plan import KernelFacts, fits, largest_k, plan_kernel_pca

DENSE_SHARE = 3000
"""Rows up to which a share of the variance is chosen from the whole spectrum, where that fits the budget."""

FIRST_LOOK = 64
"""Components that a share is first looked for among otherwise, a quarter of the rows at most."""


class Kept(NamedTuple):
    """How many components are kept, and why; ``None`` when more must be seen first."""

    k: int | None
    reason: str = ""


def requested(n_components: Any, n: int) -> int | None:
    """Return how many components are asked for; ``None`` when the spectrum must be seen first.

    Examples
    --------
    >>> requested(3, 7), requested(0.95, 7), requested(None, 7)
    (3, None, None)
    """
    if n_components is None or (isinstance(n_components, float) and 0 < n_components < 1):
        return None
    if isinstance(n_components, str) or int(n_components) != n_components or not 1 <= n_components <= n:
        message = (
            f"n_components={n_components!r} is not a number of components between 1 and n_samples={n}. Pass an "
            f"integer up to {n}, a share such as 0.95, or None for all with a non-zero eigenvalue."
        )
        raise ParameterError(message)
    return int(n_components)


def first_look(facts: KernelFacts, n_components: Any) -> KernelFacts:
    """Return the facts of the first solve: for a share all pairs where those are few and fit, else some of them."""
    if facts.k is not None or n_components is None or (facts.n <= DENSE_SHARE and fits(facts)):
        return facts
    return replace(facts, k=min(FIRST_LOOK, max(facts.n // 4, 1)))


def kept(solved: Solved, n_components: Any, n: int) -> Kept:
    """Return how many of the pairs found are kept."""
    if n_components is None:
        return Kept(solved.rank, "Every eigenvalue that is not zero.")
    k = requested(n_components, n)
    if k is not None:
        return Kept(k)
    if solved.total <= 0:
        return Kept(min(1, len(solved.values)), "Nothing varies.")
    share = np.cumsum(np.maximum(solved.values, 0.0)) / solved.total
    # The share of all pairs is one but for rounding, and a share that is met to rounding is met.
    reached = np.flatnonzero(share >= float(n_components) - 1e-12)
    if len(reached):
        return Kept(int(reached[0]) + 1, f"It holds at least {float(n_components):.4g} of the variance.")
    if len(solved.values) < n:
        return Kept(None)
    return Kept(len(solved.values), f"All there are: they hold {share[-1]:.4g} of the variance, less than was asked.")


def warn_of_share(solved: Solved, n_components: Any) -> None:
    """Say so when all components of an approximation hold less than the share that was asked for."""
    if requested(n_components, len(solved.vectors)) is not None or n_components is None or solved.total <= 0:
        return
    have = float(np.maximum(solved.values, 0.0).sum()) / solved.total
    if have >= float(n_components) - 1e-12:
        return
    message = (
        f"The {len(solved.values):,} components of this approximation hold {have:.4g} of the variance of the rows, and "
        f"n_components={n_components} asks for more: all of them are kept. Pass more landmarks or features, a smaller "
        "share, or fit exactly."
    )
    warnings.warn(message, RankWarning, stacklevel=users_line())


def more(facts: KernelFacts, solved: Solved, n_components: Any) -> KernelFacts:
    """Return the facts of the next look: twice the pairs, or more where the values found say that more are needed.

    Raises
    ------
    MemoryBudgetError
        When as many pairs as fit the budget do not hold the share.
    """
    have = float(np.maximum(solved.values, 0.0).sum()) / solved.total
    # What is left would take that many more pairs if all of them were as large as the last one found.
    left, last = float(n_components) - have, max(float(solved.values[-1]), 0.0) / solved.total
    at_least = facts.wanted + (int(left / last) if left < facts.n * last else facts.n)
    wanted = min(max(2 * facts.wanted, at_least), facts.n)
    asked, most = replace(facts, k=wanted), largest_k(facts)
    try:
        plan_kernel_pca(asked)
    except MemoryBudgetError as refusal:
        if facts.wanted < most:
            return replace(facts, k=most)
        message = (
            f"The first {facts.wanted:,} components of {facts.n:,} rows hold {have:.3f} of the variance, "
            f"n_components={n_components} asks for more, and no more than {most:,} fit the memory_budget. Pass a "
            "smaller share, a number of components, a larger memory_budget, or a wider kernel."
        )
        raise MemoryBudgetError(message, needed=refusal.needed, budget=facts.budget) from None
    return asked
