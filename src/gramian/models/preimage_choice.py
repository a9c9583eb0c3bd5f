"""Which pre-image serves best: tried on rows that were held out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gramian.arrays.namespace import Array, HostArray, to_host
from gramian.arrays.precision import FLOAT64
from gramian.errors import GramianError, MemoryBudgetError, NotSupportedError, ParameterError
from gramian.kernels.kernel import Kernel
from gramian.kernels.radial import Gaussian
from gramian.models.kernel_expansion import KernelExpansion, solve_densely
from gramian.models.preimage import FittedPreimage, PreimageMethod
from gramian.models.preimage_distances import DistanceConstraints
from gramian.models.preimage_fixed_point import FixedPoint
from gramian.models.preimage_ridge import Ridge

LEARNED, HELD_OUT = 800, 200
"""Rows that a trial fits on and is judged by, at most: a dense kernel PCA of that size takes 0.3 s."""


@dataclass(frozen=True)
class Trial:
    """How a method did on held-out rows.

    Attributes
    ----------
    method : PreimageMethod
    error : float
        Mean squared distance of rebuilt rows from the rows themselves; inf where the method is not for the kernel.
    standard_error : float
    note : str
        Why it was not tried; empty when it was.
    """

    method: PreimageMethod
    error: float
    standard_error: float
    note: str = ""


@dataclass(frozen=True)
class PreimageChoice:
    """The method with the least held-out error, and how each did."""

    method: PreimageMethod
    trials: tuple[Trial, ...]

    def __str__(self) -> str:
        lines = [
            f"{trial.method}: {trial.note or f'{trial.error:.4g} +- {trial.standard_error:.2g}'}"
            for trial in self.trials
        ]
        return "\n".join([f"chose {self.method}; mean squared error of held-out rows:", *lines])


def candidates(alpha: float = 1.0) -> tuple[PreimageMethod, ...]:
    """Return the methods that are tried when none is named: each of the three, the ridge also with its own width."""
    own = Gaussian("median")
    ridges = (Ridge(alpha), *(Ridge(alpha * share, own) for share in (1.0, 0.1, 0.01)))
    return (*ridges, FixedPoint(), DistanceConstraints())


class ChosenPreimage(NamedTuple):
    """A method bound to an expansion, and how it was chosen: ``None`` when it was named."""

    fitted: FittedPreimage
    choice: PreimageChoice | None


def method_named(method: str | PreimageMethod, *, alpha: float = 1.0, seed: int = 0) -> PreimageMethod | None:
    """Return the method of a name, or the one given; ``None`` for "auto"."""
    known = {"ridge": Ridge(alpha, seed=seed), "fixed_point": FixedPoint(), "distances": DistanceConstraints()}
    chosen = known.get(method) if isinstance(method, str) else method
    if chosen is None and method != "auto":
        message = f"pre_image={method!r} is not known. Pass one of {', '.join(known)}, auto, or a method itself."
        raise ParameterError(message)
    return chosen


def require_room(method: PreimageMethod | None, n: int, d: int, *, budget: int) -> None:
    """Refuse a method whose fit on n rows of d columns exceeds a budget; "auto" (``None``) where none fits."""
    tried = candidates() if method is None else (method,)
    needed = min(one.peak_bytes(n, d) for one in tried)
    if needed <= budget:
        return
    advice = "" if isinstance(method, (FixedPoint, DistanceConstraints)) else "pass pre_image='fixed_point', or "
    message = (
        f"Pre-images of {n:,} rows by {method or 'any method'} need {needed / 1e6:.0f} MB beyond the rows, and "
        f"memory_budget is {budget / 1e6:.0f} MB. To go on, {advice}set memory_budget to {needed} or more."
    )
    raise MemoryBudgetError(message, needed=needed, budget=budget)


def fit_preimage(
    method: str | PreimageMethod,
    expansion: KernelExpansion,
    *,
    alpha: float = 1.0,
    seed: int = 0,
    budget: int | None = None,
) -> ChosenPreimage:
    """Bind a pre-image method, given by name or as a value, to the components of a kernel PCA.

    Parameters
    ----------
    method : {"ridge", "fixed_point", "distances", "auto"} or PreimageMethod
        "auto" tries all of them on held-out rows: :func:`choose_preimage`.
    expansion : KernelExpansion
    alpha : float
        Of the ridge.
    seed : int
    budget : int, optional
        Bytes beyond the rows: a method that takes more is refused, and not tried by "auto".

    Examples
    --------
    >>> t = 2 * np.pi * np.arange(50) / 50
    >>> expansion = solve_densely(np.column_stack([np.cos(t), np.sin(t)]), Gaussian(0.5), 6)
    >>> fit_preimage("distances", expansion).fitted.method
    DistanceConstraints(n_neighbors=10, bounded=True)
    >>> fit_preimage("auto", expansion).choice.trials[0].method
    Ridge(alpha=1.0, kernel=None, seed=0)
    """
    chosen, shape = method_named(method, alpha=alpha, seed=seed), expansion.rows.shape
    if budget is not None:
        require_room(chosen, *shape, budget=budget)
    if chosen is not None:
        return ChosenPreimage(chosen.fit(expansion), None)
    k = expansion.coefficients.shape[1]
    # A row of weight zero is no row of the fit: nothing is to be judged by it.
    rows = expansion.rows if expansion.counts is None else expansion.rows[expansion.counts > 0]
    methods = [one for one in candidates(alpha) if budget is None or one.peak_bytes(*shape) <= budget]
    choice = choose_preimage(rows, expansion.kernel, k, methods=methods, seed=seed)
    return ChosenPreimage(choice.method.fit(expansion), choice)


def choose_preimage(
    rows: Array, kernel: Kernel, n_components: int, *, methods: Sequence[PreimageMethod] | None = None, seed: int = 0
) -> PreimageChoice:
    """Choose among pre-image methods by the error of rows that were held out.

    Computes  kernel PCA of 800 rows drawn at random (four fifths where there are fewer than 1,000), the scores of 200
    others under it, their pre-images by each method, and the mean of |z - x|^2 over them.

    Cost: a dense kernel PCA of at most 800 rows, about a second in all, however many rows there are.

    Parameters
    ----------
    rows : array (n, d)
    kernel : Kernel
        With numbers for parameters.
    n_components : int
    methods : sequence of PreimageMethod, optional
        :func:`candidates` where not given. Those that the kernel cannot serve are passed over, and say why.
    seed : int

    Examples
    --------
    >>> t = 2 * np.pi * np.arange(200) / 200
    >>> circle = np.column_stack([np.cos(t), np.sin(t)])
    >>> choice = choose_preimage(circle, Gaussian(0.5), 6)
    >>> min(trial.error for trial in choice.trials) < 1e-4
    True
    """
    learned, held_out = split(rows, seed=seed)
    expansion = solve_densely(learned, kernel, min(n_components, len(learned)))
    scores = expansion.project(held_out)
    trials = []
    for method in candidates() if methods is None else methods:
        try:
            rebuilt = method.fit(expansion).rebuild(scores).rows
        except GramianError as error:
            trials.append(Trial(method, np.inf, np.nan, str(error)))
            continue
        squares = np.sum((rebuilt - held_out) ** 2, axis=1)
        trials.append(Trial(method, float(squares.mean()), float(squares.std() / np.sqrt(len(squares)))))
    best = min(trials, key=lambda trial: trial.error)
    if not np.isfinite(best.error):
        message = f"No pre-image method serves {kernel}: {trials[0].note}"
        raise NotSupportedError(message)
    return PreimageChoice(best.method, tuple(trials))


def split(rows: Array, *, seed: int) -> tuple[HostArray, HostArray]:
    """Return rows to learn from and rows to judge by, drawn at random; one row alone is both."""
    points = to_host(rows)
    order = np.random.default_rng(seed).permutation(len(points))
    held_out = min(HELD_OUT, max(1, len(points) // 5))
    learned = order[held_out : held_out + LEARNED] if len(points) > 1 else order
    return points[learned].astype(FLOAT64), points[order[:held_out]].astype(FLOAT64)
