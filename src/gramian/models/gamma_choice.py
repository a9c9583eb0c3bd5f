"""How wide a kernel should be, without labels: the gamma of a grid whose score gains most."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gramian.arrays.namespace import HostArray
from gramian.errors import ParameterError
from gramian.features.resolving import resolve_kernel
from gramian.kernels.kernel import Kernel
from gramian.kernels.widths import plain_number
from gramian.models.kernel_score import (
    REPEATS,
    KernelScore,
    chance_of,
    checked_rows,
    draw_tables,
    draw_trials,
    kernel_of_rows,
    score_on,
)
from gramian.sources.rows import RowSource

GRID = 2.0 ** np.arange(-5, 8)
"""Multiples of the gamma of the median distance that are tried when no grid is given."""


LARGEST_CHANCE = 0.05
"""Chance that rows without structure are called structured."""


@dataclass(frozen=True)
class GammaChoice:
    """A width chosen by its gain, and the whole curve.

    Attributes
    ----------
    gamma : float
        The one with the largest gain.
    scores : tuple of KernelScore
        One a gamma, in increasing order of gamma.
    median_gamma : float or None
        What ``gamma="median"`` would be; ``None`` for kernels that do not know it.
    chance : float
        Share of tables of shuffled columns, the rows counted as one, whose largest gain over the same grid is at least
        as large; 0.04 is the least that 24 shuffles can give.
    """

    gamma: float
    scores: tuple[KernelScore, ...]
    median_gamma: float | None
    chance: float

    @property
    def best(self) -> KernelScore:
        """The score of the gamma that was chosen."""
        return max(self.scores, key=float)

    @property
    def kernel(self) -> Kernel:
        """The kernel with that gamma."""
        return self.best.kernel

    @property
    def gammas(self) -> HostArray:
        """Every gamma that was tried (g,)."""
        return np.array([_gamma(score.kernel) for score in self.scores])

    @property
    def found(self) -> bool:
        """Whether shuffled columns have a largest gain like this in at most a twentieth of cases (see ``chance``)."""
        return self.chance <= LARGEST_CHANCE and self.best.gain > 0

    @property
    def at_edge(self) -> bool:
        """Whether the gamma chosen is the first or the last of the grid, so that a better one may lie beyond."""
        return self.gamma in {_gamma(self.scores[0].kernel), _gamma(self.scores[-1].kernel)}

    def __str__(self) -> str:
        lines = [f"gamma={self.gamma:.4g} has the largest gain of {len(self.scores)}: {self.best}"]
        if not self.found:
            lines.append(
                f"Rows without structure have as large a gain in {self.chance:.0%} of cases: no gamma is found to show "
                "any, and PCA may do as well."
            )
        elif self.gamma == _gamma(self.scores[0].kernel) and len(self.scores) > 1:
            lines.append("It is the widest kernel of the grid: the structure may be linear, and PCA do as well.")
        elif self.at_edge and len(self.scores) > 1:
            lines.append("It is the narrowest kernel of the grid: a longer grid may hold a better one.")
        return "\n".join(lines)


def choose_gamma(
    X: Any,
    grid: Sequence[float] | None = None,
    *,
    kernel: Any = "rbf",
    n_components: int = 10,
    degree: float = 3,
    coef0: float = 1.0,
    repeats: int = REPEATS,
    seed: int = 0,
) -> GammaChoice:
    """Choose the width of a kernel without labels: the gamma with the largest gain of a grid.

    Computes  :func:`~gramian.models.kernel_score.kernel_score`  for every gamma, on the same splits, and takes the
    largest gain.

    Whether that is more than chance, ``found``, is asked of the largest gain itself: on 300 of the rows it is set
    beside that of 24 tables of the same rows with their columns shuffled, over the same grid. Columns that are
    independent are taken for structure in at most a twentieth of cases.

    Cost: that of a score for each gamma of the grid, and 25 kernel PCAs of 200 rows for each: some seconds in all,
    however many rows there are. Not where labels are at hand: a grid search over a pipeline answers the question that
    is really asked.

    Parameters
    ----------
    X : array, sparse array or table (n, d)
    grid : sequence of float, optional
        Gammas to try. Where not given: the one of the median distance times 2^-5 to 2^7.
    kernel : str or Kernel
        One that has a gamma.
    n_components : int
    degree, coef0 : of kernels given by name
    repeats : int
    seed : int

    Returns
    -------
    GammaChoice
        ``choice.gamma``, ``choice.kernel``; ``gramian.plot.gamma(choice)`` draws the whole curve.

    Examples
    --------
    >>> t = np.linspace(0, 2 * np.pi, 300, endpoint=False)
    >>> choice = choose_gamma(np.column_stack([np.cos(t), np.sin(t)]), [1e-4, 1.0, 1e4], n_components=4)
    >>> choice.gamma, choice.found
    (1.0, True)
    """
    source = checked_rows(X, n_components, repeats, seed)
    asked = kernel_of_rows(kernel, None, degree, coef0)
    middle = _median_gamma(asked, source, seed)
    kernels = [_with_gamma(asked, gamma) for gamma in _gammas(grid, middle)]
    trials = draw_trials(source, n_components, repeats, seed)
    scores = [score_on(trials, each, n_components) for each in kernels]
    best = max(scores, key=float)
    chance = chance_of(draw_tables(source, n_components, seed), kernels, n_components)
    return GammaChoice(_gamma(best.kernel), tuple(scores), middle, chance)


def _gammas(grid: Sequence[float] | None, middle: float | None) -> list[float]:
    if grid is None:
        if middle is None:
            message = "This kernel has no gamma of the median distance to build a grid around. Pass grid=[...]."
            raise ParameterError(message)
        grid = [float(multiple) * middle for multiple in GRID]
    given: Any = grid
    numbers = [plain_number(value) for value in given] if isinstance(given, Iterable) else [None]
    values = [value for value in numbers if value is not None and 0 < value < np.inf]
    if not values or len(values) < len(numbers):
        message = f"grid={grid!r} is not a grid of gammas. Pass a list of positive numbers, at least one."
        raise ParameterError(message)
    return sorted(set(values))


def _median_gamma(kernel: Kernel, source: RowSource, seed: int) -> float | None:
    try:
        return _gamma(resolve_kernel(_with_gamma(kernel, "median"), source, seed=seed).kernel)
    except ParameterError:
        _with_gamma(kernel, 1.0)
        return None


def _with_gamma(kernel: Kernel, gamma: Any) -> Kernel:
    if not hasattr(kernel, "gamma"):
        message = f"{kernel!r} has no gamma to choose. Pass a kernel that has one, such as 'rbf' or Matern(1.5)."
        raise ParameterError(message)
    changed: Kernel = replace(kernel, gamma=gamma)  # type: ignore[type-var]
    return changed


def _gamma(kernel: Kernel) -> float:
    return float(getattr(kernel, "gamma"))  # noqa: B009 - not every kernel has one
