"""Which kernel, and how wide, without labels: what components explain of held-out rows and of rows without structure.

The share of the variance in feature space that k components leave of held-out rows needs k alone (F18), but it cannot
choose a width by itself: the wider a kernel, the nearer it is to a linear one, whose few directions are soon explained.
So it is compared with the same share for rows in which every column was shuffled by itself. Those have the same columns
and no structure between them; what a kernel explains of them it explains of anything.
"""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from gramian.arrays.namespace import HostArray, is_sparse, to_host
from gramian.arrays.precision import FLOAT64
from gramian.errors import InputError, KernelWidthWarning, NotSupportedError, ParameterError
from gramian.features.sampling import draw_positions, resolve_kernel, take_rows
from gramian.kernels.kernel import Kernel
from gramian.kernels.named import as_kernel
from gramian.kernels.widths import plain_number
from gramian.models.kernel_pca.fit import fit_kernel_pca
from gramian.models.kernel_pca.model import KernelPCAOptions
from gramian.sources.opening import as_source
from gramian.sources.rows import RowSource

REPEATS = 4
"""Splits that a score is the mean of."""


@dataclass(frozen=True)
class KernelScore:
    """What k components of a kernel leave of held-out rows, and of rows without structure.

    Attributes
    ----------
    kernel : Kernel
        With numbers for parameters.
    n_components : int
    lost : float
        Share of the variance of held-out rows in feature space that the components leave: mean of kc(x, x) - |y|^2
        over mean of kc(x, x), from 0 to about 1.
    lost_by_chance : float
        The same for rows whose columns were shuffled, each by itself.
    gain_error : float
        Standard error of the gain, from the differences between splits; nan for one split.
    """

    kernel: Kernel
    n_components: int
    lost: float
    lost_by_chance: float
    gain_error: float

    @property
    def gain(self) -> float:
        """lost_by_chance - lost: what is explained of the rows beyond what would be of rows without structure."""
        return self.lost_by_chance - self.lost

    @property
    def _spread(self) -> str:
        known = np.isfinite(self.gain_error)
        return f"+- {self.gain_error:.3f}" if known else "(how exactly is not known from one split)"

    def __float__(self) -> float:
        return self.gain

    def __str__(self) -> str:
        return (
            f"{self.kernel!r}, {self.n_components} components: {self.lost:.1%} of held-out variance lost, "
            f"{self.lost_by_chance:.1%} without structure, gain {self.gain:.3f} {self._spread}"
        )


def kernel_score(
    X: Any,
    kernel: Any = "rbf",
    n_components: int = 10,
    *,
    gamma: Any = None,
    degree: float = 3,
    coef0: float = 1.0,
    repeats: int = REPEATS,
    seed: int = 0,
) -> KernelScore:
    """Tell how well a kernel suits rows, without labels.

    Computes, for rows split at random, kernel PCA of two thirds of them (at most 600), and over the other third

        lost = mean of (kc(x, x) - |y|^2) / mean of kc(x, x),

    kc being the kernel centered on the rows learned from and y the scores: the share of the variance in feature space
    that n_components components leave (F18). ``lost_by_chance`` is the same for rows whose columns were shuffled, each
    by itself, with the same kernel. Both are means over ``repeats`` splits, and ``gain`` is their difference.

    The gain is zero for a kernel so narrow that rows are like themselves alone (both lose everything), zero for one
    so wide that it is linear where there are enough components for all columns (both lose nothing), and near zero for
    rows without structure. Scores of different kernels and widths can be compared for one number of components.

    Cost: 2 ``repeats`` dense kernel PCAs of at most 600 rows, half a second, however many rows there are. Not for one
    column, where there is nothing to shuffle, nor for choosing the number of components.

    Parameters
    ----------
    X : array, sparse array or table (n, d)
    kernel : str, Kernel or function
    n_components : int
    gamma, degree, coef0 : of kernels given by name, as for ``KernelPCA``
    repeats : int
    seed : int

    Returns
    -------
    KernelScore
        ``float(score)`` is the gain.

    Examples
    --------
    >>> t = np.linspace(0, 2 * np.pi, 300, endpoint=False)
    >>> circle = np.column_stack([np.cos(t), np.sin(t)])
    >>> near, linear = (kernel_score(circle, kernel, 4, gamma=1.0) for kernel in ("rbf", "linear"))
    >>> near.gain > 0.05 > linear.gain
    True
    """
    source = checked_rows(X, n_components, repeats, seed)
    resolved = resolve_kernel(kernel_of_rows(kernel, gamma, degree, coef0), source, seed=seed).kernel
    return score_on(draw_trials(source, n_components, repeats, seed), resolved, n_components)


class Trial(NamedTuple):
    """Rows to learn from and rows held out."""

    learned: Any
    held_out: Any


def score_on(trials: list[tuple[Trial, Trial]], kernel: Kernel, k: int) -> KernelScore:
    """Return the score of a kernel over splits of rows, each with the same split of shuffled rows."""
    lost = np.array([[_lost(trial, kernel, k) for trial in pair] for pair in trials])
    gains = lost[:, 1] - lost[:, 0]
    deviation = float(gains.std(ddof=1)) if len(gains) > 1 else float("nan")
    own, chance = (float(value) for value in lost.mean(axis=0))
    return KernelScore(kernel, k, own, chance, deviation / float(np.sqrt(len(gains))))


def _lost(trial: Trial, kernel: Kernel, k: int) -> float:
    """Return the share of held-out variance that k components leave."""
    with warnings.catch_warnings():
        # Grids reach widths that are too large or too small: their score says so.
        warnings.simplefilter("ignore", KernelWidthWarning)
        # strict: shares of variance mean nothing for a kernel with negative eigenvalues.
        model = fit_kernel_pca(as_source(trial.learned), KernelPCAOptions(k, kernel, way="dense", strict=True))
    scores, errors = model.expansion.scores_and_errors(trial.held_out)
    whole = float(np.mean(errors) + np.mean(np.einsum("ij,ij->i", scores, scores)))
    return float(np.mean(errors)) / whole if whole > 0 else 0.0


def draw_trials(source: RowSource, k: int, repeats: int, seed: int) -> list[tuple[Trial, Trial]]:
    """Return, for every repeat, a split of sampled rows and the same split of them with their columns shuffled."""
    pairs = []
    for i in range(repeats):
        rng = np.random.default_rng([seed, i])
        rows = _sampled(source, _sample_size(source), rng)
        pairs.append((_split(rows, k), _split(_shuffled(rows, rng), k)))
    return pairs


def draw_tables(source: RowSource, k: int, seed: int) -> list[Trial]:
    """Return a split of a few sampled rows, and the same split of 24 tables in which their columns were shuffled."""
    rng = np.random.default_rng([seed, 1 << 20])
    rows = _sampled(source, min(_sample_size(source), max(300, 3 * k)), rng)
    return [_split(rows, k), *(_split(_shuffled(rows, rng), k) for _ in range(24))]


def chance_of(tables: list[Trial], kernels: list[Kernel], k: int) -> float:
    """Return the share of tables, the rows among them, whose best gain over all kernels is at least that of the rows.

    Where columns are independent the rows are one shuffled table among the others, so that the share is below p in a
    fraction p of cases, whatever the grid (a permutation test of the largest gain).
    """
    lost = np.array([[_lost(table, kernel, k) for kernel in kernels] for table in tables])
    others = (lost.sum(axis=0) - lost) / (len(tables) - 1)
    best = (others - lost).max(axis=1)
    return float(np.mean(best >= best[0]))


def _sample_size(source: RowSource) -> int:
    """Return how many rows a score looks at: 900, of dense rows with many columns so few that they stay under 64 MB."""
    return 900 if source.is_sparse else int(np.clip((1 << 23) // source.n_columns, 150, 900))


def _sampled(source: RowSource, count: int, rng: np.random.Generator) -> Any:
    """Return so many rows in random order, in float64 on the host; sparse ones as they are."""
    rows = take_rows(source, rng.permutation(draw_positions(source, count, seed=int(rng.integers(2**31)))))
    return rows if is_sparse(rows) else to_host(rows).astype(FLOAT64)


def _split(rows: Any, k: int) -> Trial:
    held_out = rows.shape[0] // 3
    if rows.shape[0] - held_out <= k:
        message = (
            f"n_components={k} asks for more than the {rows.shape[0] - held_out} rows that a score learns from. Pass "
            "fewer components, or more rows."
        )
        raise ParameterError(message)
    return Trial(rows[held_out:], rows[:held_out])


def _shuffled(rows: Any, rng: np.random.Generator) -> Any:
    """Return rows whose columns are shuffled, each by itself; sparse ones stay sparse."""
    if not is_sparse(rows):
        return rng.permuted(rows, axis=0)
    columns = sp.csc_array(rows)
    counts = np.diff(columns.indptr)
    places = [rng.choice(rows.shape[0], count, replace=False) for count in counts]
    moved = np.concatenate([np.zeros(0, dtype=columns.indices.dtype), *places])
    return sp.csr_array(sp.csc_array((columns.data, moved, columns.indptr), shape=rows.shape))


def checked_rows(X: Any, n_components: int, repeats: int, seed: Any) -> RowSource:
    """Open rows that a score can be had of, or say why it cannot."""
    counts: tuple[tuple[str, Any], ...] = (("n_components", n_components), ("repeats", repeats))
    for name, value in counts:
        if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
            message = f"{name}={value!r} is not a number of them. Pass an integer of at least 1."
            raise ParameterError(message)
    if not isinstance(seed, int | np.integer) or isinstance(seed, bool) or seed < 0:
        message = (
            f"seed={seed!r} is not a seed. Pass an integer that is not negative; the same one gives the same score."
        )
        raise ParameterError(message)
    source = as_source(X)
    if source.n_columns < 2 or source.n_rows < 3:
        message = (
            f"X is {source.n_rows:,} x {source.n_columns:,}. A score needs at least 3 rows, and at least 2 columns: "
            "structure is what there is between columns."
        )
        raise InputError(message)
    return source


def kernel_of_rows(kernel: Any, gamma: Any, degree: float, coef0: float) -> Kernel:
    """Return the kernel asked for, which must be one of rows."""
    asked = as_kernel(kernel, gamma=gamma, degree=degree, coef0=coef0)
    if asked.is_precomputed:
        message = "A score shuffles the columns of rows, and a precomputed kernel has none. Pass rows and a kernel."
        raise NotSupportedError(message)
    return asked


@dataclass(frozen=True)
class GammaChoice:
    """A width chosen by its gain, and the whole curve.

    Attributes
    ----------
    gamma : float
        The one with the largest gain.
    scores : tuple of KernelScore
        One per gamma, in increasing order of gamma.
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
        return np.array([score.kernel.gamma_number for score in self.scores])

    @property
    def found(self) -> bool:
        """Whether shuffled columns have a largest gain like this in at most a twentieth of cases (see ``chance``)."""
        return self.chance <= 0.05 and self.best.gain > 0

    @property
    def at_edge(self) -> bool:
        """Whether the gamma chosen is the first or the last of the grid, so that a better one may lie beyond."""
        return self.gamma in {self.scores[0].kernel.gamma_number, self.scores[-1].kernel.gamma_number}

    def __str__(self) -> str:
        lines = [f"gamma={self.gamma:.4g} has the largest gain of {len(self.scores)}: {self.best}"]
        if not self.found:
            lines.append(
                f"Rows without structure have as large a gain in {self.chance:.0%} of cases: no gamma is found to show "
                "any, and PCA may do as well."
            )
        elif self.gamma == self.scores[0].kernel.gamma_number and len(self.scores) > 1:
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

    Computes  :func:`kernel_score`  for every gamma, on the same splits, and takes the
    largest gain.

    Whether that is more than chance, ``found``, is asked of the largest gain itself: on 300 of the rows it is
    compared with that of 24 tables of the same rows with their columns shuffled, over the same grid. Columns that are
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
    kernels = [asked.with_gamma(gamma) for gamma in _gammas(grid, middle)]
    trials = draw_trials(source, n_components, repeats, seed)
    scores = [score_on(trials, each, n_components) for each in kernels]
    best = max(scores, key=float)
    chance = chance_of(draw_tables(source, n_components, seed), kernels, n_components)
    return GammaChoice(best.kernel.gamma_number, tuple(scores), middle, chance)


def _gammas(grid: Sequence[float] | None, middle: float | None) -> list[float]:
    if grid is None:
        if middle is None:
            message = "This kernel has no gamma of the median distance to build a grid around. Pass grid=[...]."
            raise ParameterError(message)
        grid = [2.0**power * middle for power in range(-5, 8)]
    given: Any = grid
    numbers = [plain_number(value) for value in given] if isinstance(given, Iterable) else [None]
    values = [value for value in numbers if value is not None and 0 < value < np.inf]
    if not values or len(values) < len(numbers):
        message = f"grid={grid!r} is not a grid of gammas. Pass a list of positive numbers, at least one."
        raise ParameterError(message)
    return sorted(set(values))


def _median_gamma(kernel: Kernel, source: RowSource, seed: int) -> float | None:
    try:
        return resolve_kernel(kernel.with_gamma("median"), source, seed=seed).kernel.gamma_number
    except ParameterError:
        kernel.with_gamma(1.0)
        return None
