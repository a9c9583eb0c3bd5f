"""What every rule reads, a measured spectrum that is checked once, here, and what it answers, a ``Verdict``."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gramian.errors import ParameterError

ROUNDING = 1e-5
"""Relative slack for order, sign and total: variances may have been computed in float32."""

NOTHING = 1e-12
"""Share of the total under which the variance that is not listed counts as none."""

Values = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, eq=False)
class MeasuredSpectrum:
    """Variances along the components, largest first, and what they were measured on.

    Attributes
    ----------
    values : numpy array (m,)
        All variances or only the leading ones.
    n_rows : float
        Rows, or the sum of their weights.
    n_columns : int
    total_variance : float
        Sum over all directions, listed or not.
    """

    values: Values
    n_rows: float
    n_columns: int
    total_variance: float

    @property
    def degrees(self) -> float:
        """Degrees of freedom left once the mean is known, n - 1, at least one."""
        return max(self.n_rows - 1.0, 1.0)

    @property
    def directions(self) -> int:
        """How many directions centered rows can spread in: min(n - 1, d), at least one."""
        return max(1, min(math.ceil(self.n_rows) - 1, self.n_columns))

    @property
    def complete(self) -> bool:
        """Whether every direction that has variance is listed."""
        return len(self.values) >= self.directions or self.rest(len(self.values)) <= NOTHING * self.total_variance

    def rest(self, k: int) -> float:
        """Return the variance after the first ``k`` components, never negative."""
        return max(self.total_variance - float(self.values[:k].sum()), 0.0)

    def padded(self, size: int) -> Values:
        """Return the first ``size`` variances, zeros where none are listed."""
        out = np.zeros(size)
        kept = self.values[:size]
        out[: len(kept)] = kept
        return out


def read_spectrum(
    variances: Any, *, n_rows: float, n_columns: int, total_variance: float | None = None
) -> MeasuredSpectrum:
    """Check a spectrum and take it to float64.

    Parameters
    ----------
    variances : array (m,)
        Largest first. Only their ratios matter to most rules, so shares of variance do as well.
    n_rows, n_columns : number, int
    total_variance : float, optional
        Their sum over all directions; by default the sum of what is given.

    Raises
    ------
    ParameterError
        Empty, not finite, negative, ascending, or larger in sum than the total.

    Examples
    --------
    >>> spectrum = read_spectrum([4.0, 1.0], n_rows=10, n_columns=3, total_variance=5.5)
    >>> spectrum.rest(2), spectrum.complete
    (0.5, False)
    """
    values = np.array(variances, dtype=np.float64).ravel()
    _check_shape(values, n_rows, n_columns)
    slack = ROUNDING * float(np.abs(values).max())
    _check_values(values, slack)
    values = np.maximum.accumulate(np.maximum(values, 0.0)[::-1])[::-1]
    listed = float(values.sum())
    total = listed if total_variance is None else float(total_variance)
    if not math.isfinite(total) or total < listed - len(values) * slack:
        message = (
            f"total_variance={total:g} is less than {listed:g}, the sum of {len(values)} variances given. "
            "Pass the sum over all directions."
        )
        raise ParameterError(message)
    return MeasuredSpectrum(values, float(n_rows), int(n_columns), max(total, listed))


def _check_shape(values: Values, n_rows: float, n_columns: int) -> None:
    if values.size == 0:
        message = "No variances were given. Pass at least the largest one."
        raise ParameterError(message)
    if not (n_rows > 0 and n_columns > 0):
        message = f"n_rows={n_rows} and n_columns={n_columns} must both be positive. Pass the shape of the table."
        raise ParameterError(message)


def _check_values(values: Values, slack: float) -> None:
    if not np.isfinite(values).all():
        message = (
            f"Variance {int(np.argmin(np.isfinite(values)))} of {values.size} is not finite. "
            "Only ratios matter here: pass shares of the total variance instead."
        )
        raise ParameterError(message)
    if values.min() < -slack:
        message = f"The smallest variance is {values.min():g}, and variances are never negative. Pass eigenvalues."
        raise ParameterError(message)
    rises = np.diff(values)
    if rises.size and rises.max() > slack:
        at = int(rises.argmax())
        message = (
            f"Variances must come largest first, but {values[at]:g} is followed by {values[at + 1]:g}. "
            "Sort them in descending order."
        )
        raise ParameterError(message)


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
