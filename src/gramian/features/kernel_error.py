"""How far phi phi' is from the kernel matrix, measured on sampled pairs of rows."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gramian.arrays.namespace import Array, HostArray, to_host
from gramian.errors import InputError, ParameterError
from gramian.features.feature_map import FeatureMap
from gramian.features.sampling import draw_positions, take_rows
from gramian.kernels.blocks import named_rows
from gramian.sources.rows import RowSource, ranges

ALL_PAIRS = 1024
"""Rows up to which every pair is examined; they have half the features to compute that a sample has."""

N_GROUPS, GROUP = 64, 16
"""A sample is so many independent groups of 2 x 16 rows, each giving 16 x 16 pairs."""


@dataclass(frozen=True)
class KernelError:
    """The error of a map as an approximation of a kernel matrix.

    Attributes
    ----------
    relative : float
        |K - phi phi'| / |K|, Frobenius norms over all n^2 pairs of rows.
    standard_error : float
        Of ``relative``, for the sampling; 0 when every pair was examined.
    n_pairs : int
        Pairs that were examined.
    trace, trace_standard_error : float or None
        trace(K - phi phi') / trace(K), where K - phi phi' is positive semidefinite and its trace therefore bounds
        every one of its eigenvalues; ``None`` for maps without that property.

    Examples
    --------
    >>> print(KernelError(0.0314, 0.0021, 16384, trace=0.012, trace_standard_error=0.0004))
    relative error of K 0.0314 +- 0.0021 (16,384 pairs), share of its trace missing 0.012 +- 0.0004
    """

    relative: float
    standard_error: float
    n_pairs: int
    trace: float | None = None
    trace_standard_error: float | None = None

    def __str__(self) -> str:
        text = f"relative error of K {self.relative:.3g} +- {self.standard_error:.2g} ({self.n_pairs:,} pairs)"
        if self.trace is None:
            return text
        return f"{text}, share of its trace missing {self.trace:.3g} +- {self.trace_standard_error:.2g}"


def measure_kernel_error(phi: FeatureMap, source: RowSource, *, seed: int = 0) -> KernelError:
    """Measure |K - phi phi'| / |K| over pairs of rows of a source, with its standard error.

    Computes, from independent groups of rows, the mean squares of  k(x, y) - phi(x).phi(y)  and of  k(x, y)  over
    pairs of different rows and over rows with themselves, put together as they are in n x n; the standard error is
    that of a ratio of means over groups. Rows count as often as their weight says.

    Cost: one pass to fetch 2,048 rows, phi and 8 kernel values for each; up to 1,024 rows all pairs are taken.

    Parameters
    ----------
    phi : FeatureMap
    source : RowSource
        The rows of the fit, or others: what is measured is the error on these.
    seed : int
        May be the one that the map was drawn with: rows come from a stream of their own, not from the landmarks' one.
    """
    if phi.kernel is None:
        message = "These features stand for no kernel (weights=False), so there is nothing to compare them with."
        raise ParameterError(message)
    if source.n_rows <= ALL_PAIRS:
        return _over_all(phi, source)
    weight = float(source.n_rows if source.weights is None else to_host(source.weights).sum())
    count = min(N_GROUPS, source.n_rows // (2 * GROUP)) * 2 * GROUP
    # As many landmarks, drawn by the same seed, would be the very rows that are examined, where they are exact.
    own = int(np.random.SeedSequence([seed, count]).generate_state(1)[0])
    places = draw_positions(source, count, seed=own, replace=source.weights is not None)
    rows = take_rows(source, places)
    unit = _unit(phi, rows)
    groups = [_group(phi, rows[part], places[part], 1.0 / weight, unit=unit) for part in ranges(count, 2 * GROUP)]
    return _from_groups(groups, with_trace=phi.bounds_trace)


class _Squares(NamedTuple):
    """Mean squares of one group of rows: the error's and the kernel's; and its trace, missing and whole."""

    error: float
    whole: float
    missing: float
    trace: float


def _over_all(phi: FeatureMap, source: RowSource) -> KernelError:
    """Look at every pair; a weight counts as so many rows."""
    n = source.n_rows
    rows = take_rows(source, np.arange(n))
    weights = np.ones(n) if source.weights is None else to_host(source.weights).astype(np.float64)
    unit = _unit(phi, rows)
    K, pairs = to_host(phi.kernel(rows)) / unit, weights[:, None] * weights
    features = _features(phi, rows, unit)
    error = _ratio(float(np.sum(pairs * (K - features @ features.T) ** 2)), float(np.sum(pairs * K**2)))
    diagonal, own = _diagonals(phi, rows, features, unit)
    share = max(_ratio(float(weights @ own), float(weights @ diagonal)), 0.0) if phi.bounds_trace else None
    return KernelError(float(np.sqrt(error)), 0.0, n * n, share, None if share is None else 0.0)


def _group(phi: FeatureMap, rows: Array, places: HostArray, diagonal_share: float, *, unit: float) -> _Squares:
    half = rows.shape[0] // 2
    with named_rows(places):
        features = _features(phi, rows, unit)
    with named_rows(places[:half], places[half:]):
        K = to_host(phi.kernel(rows[:half], rows[half:])) / unit
    apart = K - features[:half] @ features[half:].T
    diagonal, own = _diagonals(phi, rows, features, unit)
    return _Squares(
        (1 - diagonal_share) * float(np.mean(apart**2)) + diagonal_share * float(np.mean(own**2)),
        (1 - diagonal_share) * float(np.mean(K**2)) + diagonal_share * float(np.mean(diagonal**2)),
        float(own.sum()),
        float(diagonal.sum()),
    )


def _unit(phi: FeatureMap, rows: Array) -> float:
    """Return the largest k(x, x): what is divided by it can be squared without leaving the range of numbers."""
    with np.errstate(over="ignore"):
        unit = float(np.max(phi.kernel.diagonal(rows)))
    if not np.isfinite(unit):
        message = f"{phi.kernel} overflows on these rows. Scale the columns, or choose smaller parameters."
        raise InputError(message)
    return unit or 1.0


def _features(phi: FeatureMap, rows: Array, unit: float) -> HostArray:
    return np.asarray(to_host(phi.map_block(rows)).astype(np.float64) / np.sqrt(unit))


def _diagonals(phi: FeatureMap, rows: Array, features: HostArray, unit: float) -> tuple[HostArray, HostArray]:
    """Return k(x, x), and what of it phi misses, for each row."""
    diagonal = phi.kernel.diagonal(rows) / unit
    return diagonal, diagonal - np.einsum("ij,ij->i", features, features)


def _from_groups(groups: list[_Squares], *, with_trace: bool) -> KernelError:
    error, whole, missing, trace = np.array(groups).T
    square, deviation = _ratio_of_means(error, whole)
    relative = float(np.sqrt(square))
    # The deviation of a root is that of the square over twice the root.
    standard_error = deviation / (2 * relative) if relative > 0 else 0.0
    if not with_trace:
        return KernelError(relative, standard_error, len(groups) * GROUP**2)
    share, share_deviation = _ratio_of_means(missing, trace)
    return KernelError(relative, standard_error, len(groups) * GROUP**2, max(share, 0.0), share_deviation)


def _ratio_of_means(upper: HostArray, lower: HostArray) -> tuple[float, float]:
    """Return mean(upper) / mean(lower) and its standard error, groups being independent."""
    ratio = _ratio(float(upper.mean()), float(lower.mean()))
    residuals = upper - ratio * lower
    deviation = float(np.sqrt(np.sum(residuals**2) / (len(upper) * (len(upper) - 1))))
    return ratio, _ratio(deviation, float(lower.mean()))


def _ratio(upper: float, lower: float) -> float:
    return upper / lower if lower > 0 else 0.0
