"""How a table with missing values would be fitted, and in how much memory: a pure function of its shape."""

from dataclasses import dataclass

from gramian.errors import MemoryBudgetError, Parameter, Sentence
from gramian.machine import MEGABYTE, in_words, worker_count


@dataclass(frozen=True)
class MissingPlan:
    """What a fit of probabilistic PCA to known entries would take.

    Attributes
    ----------
    way : str
        "closed form", "dense rows", "known entries", or "blocks", which each round reads anew.
    reason : str
    rounds : int
        Passes over the table, about; their number is not known beforehand.
    operations : float
        Of a round.
    peak_bytes : int
        Beyond the table as it was given.

    Examples
    --------
    >>> print(plan_missing("known entries", n=48_000, d=1777, known=1_000_000, k=10, biases=True))
    variational Bayes on known entries, 10 components at most, because 1.2% of 48,000 x 1,777 values are known
    about 30 rounds of 4e+08 operations, ... MB beyond the table
    """

    way: str
    reason: str
    rounds: int
    operations: float
    peak_bytes: int

    def __str__(self) -> str:
        """Say it in two lines."""
        cost = f"about {self.rounds} rounds of {self.operations:.2g} operations, " if self.rounds > 1 else ""
        return f"{self.reason}\n{cost}{in_words(self.peak_bytes)} beyond the table"


def plan_missing(
    way: str, *, n: int, d: int, known: int, k: int, biases: bool, budget: int | None = None
) -> MissingPlan:
    """Return the plan of a fit, or refuse one that does not fit the budget.

    Raises
    ------
    MemoryBudgetError
    """
    components = f"{k} component{'' if k == 1 else 's'}"
    if way == "closed form":
        why = f"the closed form, {components}, because nothing is missing and rows have no biases"
        return MissingPlan(way, why, 1, 2.0 * n * d * k, 24 * n * d + 64 * d * (k + 20) ** 2)
    K = k + 1 + biases
    q, workers = K * (K + 1) // 2, worker_count()
    m = min(n, max(2048, min(d, 32_768)))
    share = known / max(n * d, 1)
    why = f"variational Bayes on {way}, {components} at most, because {share:.1%} of {n:,} x {d:,} values are known" + (
        " and the table is read anew in each round" if way == "blocks" else ""
    )
    # Per worker a running value, what one chunk adds to it (its product in float32 first), and the chunk's posterior.
    passed = 8 * d * (q + K * K) + workers * (20 * d * q + m * (12 * q + 16 * K * K))
    solved = 8 * d * (3 * q + 4 * K * K)
    kept = 8 * n * (q + K)
    # While entries are centered in float64, and as they are held: dense rows twice, in their order and by pattern.
    made, held = {
        "dense rows": (26 * n * d, 20 * n * d + 32 * (n * d - known)),
        "known entries": (36 * known, 12 * known),
        "blocks": (0, 64 * MEGABYTE * workers),
    }[way]
    peak = max(made, held + max(passed, solved, kept)) + 8 * MEGABYTE
    plan = MissingPlan(way, why, 30, 4.0 * known * q + (n + d) * float(K) ** 3, peak)
    if budget is not None and plan.peak_bytes > budget:
        message = Sentence(
            f"A fit of {components} to {known:,} known entries of {n:,} x {d:,} needs {in_words(plan.peak_bytes)} "
            f"beyond the table, and {{budget}} is {in_words(budget)}. Ask for fewer components ({{count}}), or set "
            f"{{budget}} to {plan.peak_bytes} or more.",
            budget=Parameter("memory_budget"),
            count=Parameter("n_components"),
        )
        raise MemoryBudgetError(message, needed=plan.peak_bytes, budget=budget)
    return plan
