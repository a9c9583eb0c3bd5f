"""How wide a kernel is: gamma given as a number or a word, and the facts of the data that words are resolved on."""

import math
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from scipy.spatial.distance import pdist

from gramian.arrays.namespace import Array, HostArray, is_sparse, to_host
from gramian.arrays.precision import FLOAT64, eps_of
from gramian.errors import NotSupportedError, Parameter, ParameterError, Sentence
from gramian.kernels.blocks import column_means, shifted, squared_norms

Gamma = float | Literal["scale", "median"] | None
"""A number, or how to find it: None is 1/d, "scale" follows the variance, "median" the median distance."""

SAMPLE_ROWS = 1000
"""Rows among which distances are measured: half a million pairs give their median to a fraction of a percent."""


class DataFacts(NamedTuple):
    """What a kernel may ask of the data when it replaces words by numbers (``gamma="scale"``, ``"median"``).

    Attributes
    ----------
    n_columns : int
    variance : float
        Mean of the variances of all columns (divided by n).
    median_distance : callable
        Gives the median Euclidean distance of pairs of rows; called only when it is needed.
    median_cityblock : callable or None
        The same for the sum of absolute differences; ``None`` when the caller cannot tell.
    """

    n_columns: int
    variance: float
    median_distance: Callable[[], float]
    median_cityblock: Callable[[], float] | None = None


def plain_number(value: object) -> float | None:
    """Return a number of Python or NumPy as a float; ``None`` for anything else, booleans too."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        return None
    return float(value)


def checked_gamma(gamma: object, *, kernel: str, words: tuple[str, ...] = ("scale", "median")) -> Gamma:
    """Return gamma as a plain float, a word or None; refuse anything else.

    Examples
    --------
    >>> checked_gamma(2, kernel="Gaussian")
    2.0
    """
    if gamma is None or (isinstance(gamma, str) and gamma in words):
        return cast("Gamma", gamma)
    number = plain_number(gamma)
    if number is not None and 0 <= number < math.inf:
        return number
    message = Sentence(
        "{asked} for the {kernel} kernel: pass a finite number that is not negative, {choices}.",
        asked=Parameter("gamma", (gamma,)),
        kernel=kernel,
        choices=", ".join([*(f'"{word}"' for word in words), "or None for 1/d"]),
    )
    raise ParameterError(message, parameter="gamma", value=gamma)


def gamma_of_width(width: object, *, name: str) -> float:
    """Return gamma = 1 / (2 width^2) of a width called ``name`` (sigma, length_scale)."""
    number = plain_number(width)
    if number is not None and 0 < number < math.inf and math.isfinite(gamma := 0.5 / number / number):
        return gamma
    message = f"{name}={width!r} must be a finite number above zero, not too near it; gamma = 1 / (2 {name}^2)."
    raise ParameterError(message)


def number_of(gamma: Gamma, n_columns: int) -> float:
    """Return gamma as a number for rows of ``n_columns``: None is 1/d; a word needs ``resolved`` first."""
    if gamma is None:
        return 1.0 / max(n_columns, 1)
    if isinstance(gamma, str):
        message = f'gamma="{gamma}" depends on all rows: call kernel.resolved(facts) before a block is prepared.'
        raise ParameterError(message)
    return gamma


def resolved_gamma(gamma: Gamma, facts: DataFacts) -> float:
    """Return gamma as a number: 1/d, 1/(d variance) for "scale", 1/(2 median^2) for "median".

    Examples
    --------
    >>> resolved_gamma("median", DataFacts(3, 1.0, lambda: 2.0))
    0.125
    """
    if gamma == "scale":
        return inverse_or_one(facts.n_columns * facts.variance)
    if gamma == "median":
        return inverse_or_one(2.0 * facts.median_distance() ** 2)
    return number_of(gamma, facts.n_columns)


def inverse_or_one(measure: float) -> float:
    """Return 1 / measure; 1 where there is nothing to measure: on equal rows every gamma gives the same kernel."""
    return 1.0 / measure if measure > 0 else 1.0


def facts_of(rows: Array, *, seed: int = 0) -> DataFacts:
    """Return the facts of rows held in memory; the medians come from a seeded sample of at most 1,000 rows.

    Parameters
    ----------
    rows : (n, d) array or CSR matrix
    seed : int, default=0

    Examples
    --------
    >>> facts = facts_of(np.array([[0.0, 0.0], [3.0, 4.0]]))
    >>> facts.variance, facts.median_distance()
    (3.125, 5.0)
    """
    if is_sparse(rows):
        # Neither variances nor distances know a shift, and both would lose digits to an offset.
        rows = shifted(rows, column_means(rows))
    return DataFacts(
        n_columns=rows.shape[1],
        variance=_mean_variance(rows),
        median_distance=lambda: median_distance(sampled_rows(rows, seed=seed)),
        median_cityblock=lambda: median_distance(sampled_rows(rows, seed=seed), metric="cityblock"),
    )


def sampled_rows(rows: Array, *, seed: int) -> Array:
    """Return 1,000 rows drawn without replacement by ``seed``, in their order; all of them when there are fewer."""
    return rows if rows.shape[0] <= SAMPLE_ROWS else rows[drawn_indices(rows.shape[0], SAMPLE_ROWS, seed=seed)]


def drawn_indices(n: int, count: int, *, seed: int) -> HostArray:
    """Return ``count`` of the numbers 0 to n - 1, drawn by ``seed``, in order; all of them when there are fewer."""
    if n <= count:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, size=count, replace=False))


def median_distance(sample: Array, *, metric: Literal["euclidean", "cityblock"] = "euclidean") -> float:
    """Return the median distance of all pairs of sampled rows that differ; zero when none do.

    Cost: d m^2 / 2 operations and m^2 / 2 numbers for m rows. Repeated rows say nothing of a width, and when they are
    most of the pairs they would make it zero: they are left out.

    Examples
    --------
    >>> median_distance(np.array([[0.0], [1.0], [3.0]]))
    2.0
    """
    distances = _sparse_distances(sample, metric) if is_sparse(sample) else _distances(to_host(sample), metric)
    apart = distances[distances > 0]
    return float(np.median(apart)) if apart.size else 0.0


def _distances(rows: HostArray, metric: Literal["euclidean", "cityblock"]) -> HostArray:
    return pdist(rows, metric) if len(rows) > 1 else np.zeros(0)


def _sparse_distances(sample: Any, metric: Literal["euclidean", "cityblock"]) -> HostArray:
    if metric == "cityblock":
        message = "The median of absolute differences is measured on dense rows, and these are sparse."
        raise NotSupportedError(message)
    norms = squared_norms(sample)
    sums = norms[:, None] + norms
    squares = sums - 2.0 * (sample @ sample.T).toarray()
    squares[squares < 16 * eps_of(FLOAT64) * sums] = 0.0  # Equal rows, but for the rounding of the norms.
    return np.asarray(np.sqrt(squares[np.triu_indices(len(norms), 1)]))


def _mean_variance(rows: Array) -> float:
    n, d = rows.shape
    if n == 0 or d == 0:
        return 0.0
    with np.errstate(over="ignore", invalid="ignore"):  # Infinite where squares overflow: what needs it then says so.
        if is_sparse(rows):
            mean = np.asarray(rows.mean(axis=0)).ravel()
            return max(0.0, float(squared_norms(rows).sum() / (n * d) - mean @ mean / d))
        return float(to_host(rows).var(axis=0, dtype=FLOAT64).sum() / d)
