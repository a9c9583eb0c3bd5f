"""How wide a kernel is: gamma given as a number or a word, and the facts of the data that words are resolved on."""

import math
from numbers import Real
from typing import Literal

import numpy as np
from scipy.spatial.distance import pdist

from gramian.arrays.namespace import Array, HostArray, to_host
from gramian.errors import ParameterError
from gramian.kernels.blocks import is_sparse, squared_norms
from gramian.kernels.kernel import DataFacts

Gamma = float | Literal["scale", "median"] | None
"""A number, or how to find it: None is 1/d, "scale" follows the variance, "median" the median distance."""

SAMPLE_ROWS = 1000
"""Rows among which distances are measured: half a million pairs give their median to a fraction of a percent."""


def checked_gamma(gamma: object, *, kernel: str, words: tuple[str, ...] = ("scale", "median")) -> Gamma:
    """Return gamma as a plain float, a word or None; refuse anything else.

    Examples
    --------
    >>> checked_gamma(2, kernel="Gaussian")
    2.0
    """
    if gamma is None or (isinstance(gamma, str) and gamma in words):
        return gamma  # type: ignore[return-value]  # one of the words of Gamma
    if isinstance(gamma, Real) and not isinstance(gamma, bool) and 0 <= float(gamma) < math.inf:
        return float(gamma)
    choices = ", ".join([*(f'"{word}"' for word in words), "or None for 1/d"])
    message = f"gamma={gamma!r} for the {kernel} kernel: pass a finite number that is not negative, {choices}."
    raise ParameterError(message)


def width_as_gamma(width: object, *, name: str) -> float:
    """Return gamma = 1 / (2 width^2) of a width called ``name`` (sigma, length_scale)."""
    if isinstance(width, Real) and not isinstance(width, bool) and 0 < float(width) < math.inf:
        return 0.5 / float(width) / float(width)
    message = f"{name}={width!r} must be a finite number above zero; gamma = 1 / (2 {name}^2)."
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

    Constant rows have no width; gamma is then 1, as every kernel value is the same for any gamma.

    Examples
    --------
    >>> resolved_gamma("median", DataFacts(3, 1.0, lambda: 2.0))
    0.125
    """
    if gamma == "scale":
        return _inverse(facts.n_columns * facts.variance)
    if gamma == "median":
        return _inverse(2.0 * facts.median_distance() ** 2)
    return number_of(gamma, facts.n_columns)


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
    return DataFacts(
        n_columns=rows.shape[1],
        variance=_mean_variance(rows),
        median_distance=lambda: median_distance(sampled_rows(rows, seed=seed)),
        median_cityblock=lambda: median_distance(sampled_rows(rows, seed=seed), metric="cityblock"),
    )


def sampled_rows(rows: Array, *, seed: int, count: int = SAMPLE_ROWS) -> Array:
    """Return ``count`` rows drawn without replacement by ``seed``, in their order; all of them when there are fewer."""
    n = rows.shape[0]
    if n <= count:
        return rows
    return rows[np.sort(np.random.default_rng(seed).choice(n, size=count, replace=False))]


def median_distance(sample: Array, *, metric: Literal["euclidean", "cityblock"] = "euclidean") -> float:
    """Return the median distance of all pairs of sampled rows that differ; zero when none do.

    Cost: d m^2 / 2 operations and m^2 / 2 numbers for m rows. Repeated rows say nothing of a width, and when they are
    most of the pairs they would make it zero: they are left out.

    Examples
    --------
    >>> median_distance(np.array([[0.0], [1.0], [3.0]]))
    2.0
    """
    distances = _sparse_distances(sample, metric) if is_sparse(sample) else pdist(to_host(sample), metric)
    apart = distances[distances > 0]
    return float(np.median(apart)) if apart.size else 0.0


def _sparse_distances(sample: Array, metric: str) -> HostArray:
    if metric == "cityblock":
        # The Laplacian kernel takes no sparse rows; its width is measured on a sample small enough to hold.
        return pdist(sample.toarray(), metric)
    norms = squared_norms(sample)
    squares = norms[:, None] + norms - 2.0 * (sample @ sample.T).toarray()
    return np.sqrt(np.maximum(squares[np.triu_indices(len(norms), 1)], 0.0))


def _mean_variance(rows: Array) -> float:
    n, d = rows.shape
    if n == 0 or d == 0:
        return 0.0
    if is_sparse(rows):
        mean = np.asarray(rows.mean(axis=0)).ravel()
        return max(0.0, float(squared_norms(rows).sum()) / (n * d) - float(mean @ mean) / d)
    return float(rows.var(axis=0).mean()) if isinstance(rows, np.ndarray) else float(to_host(rows).var(axis=0).mean())


def _inverse(square: float) -> float:
    return 1.0 / square if square > 0 else 1.0
