"""What a rule answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Verdict:
    """The number of components that one rule asks for, and why.

    Attributes
    ----------
    rule : str
        Name of the rule.
    n_components : int
        Its answer; zero where the rule finds nothing that stands out.
    reason : str
        One sentence with the numbers that decided.
    detail : mapping
        Those numbers by name. ``exhausted`` is True when the answer is bounded by how many variances were
        given: with more of them it could be larger.

    Examples
    --------
    >>> print(Verdict("share", 2, "2 components hold 96.0% of the variance."))
    share: 2. 2 components hold 96.0% of the variance.
    """

    rule: str
    n_components: int
    reason: str
    detail: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.rule}: {self.n_components}. {self.reason}"


def counted(count: int, noun: str = "component", plural: str | None = None) -> str:
    """Return ``count`` with its noun: "1 component", "2 components"."""
    return f"{count} {noun if count == 1 else plural or noun + 's'}"
