"""What is left of each column's variance once the first k components are taken out."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from gramian.choosing.leading import as_components
from gramian.choosing.noise_edge import NoiseEdge, noise_edge
from gramian.choosing.spectrum import MeasuredSpectrum, Values

LEAST_FREEDOM = 0.05
"""A column whose leverage leaves less than this is not divided by less: the quotient would be rounding."""


class ColumnNoise(NamedTuple):
    """Noise after k components: of each column, how many free columns that one stands for, and n - k."""

    variances: Values
    multiplicity: Values
    degrees: float

    def edge(self) -> NoiseEdge:
        """Locate the largest variance of such noise."""
        return noise_edge(self.variances, self.degrees, multiplicity=self.multiplicity)

    def sum_of_squares(self, unit: float) -> float:
        """Expected sum of squared sample variances of such noise, sum tau^2 (1 + 1/n) + (sum tau)^2 / n.

        In ``unit``, because squares of variances overflow sooner than variances.
        """
        total = float(self.multiplicity @ (self.variances / unit))
        squares = float(self.multiplicity @ (self.variances / unit) ** 2)
        return squares * (1.0 + 1.0 / self.degrees) + total * total / self.degrees


def noise_after(
    spectrum: MeasuredSpectrum, column_variances: Any | None = None, components: Any | None = None
) -> Iterator[ColumnNoise]:
    """Yield the noise of the columns after 0, 1, 2, ... components.

    Computes  tau_j = (D_j - sum_{i<=k} lam_i v_ij^2) / ((1 - g_j)(1 - k/n)),  g_j = sum_{i<=k} v_ij^2.  A
    component takes some noise with it, from the columns where it lives (leverage g_j) and from the rows; the
    division gives it back. Column j then stands for 1 - g_j free columns. Without components the columns
    shrink in proportion; without column variances all are alike.

    Cost: O(d) a step.
    """
    D = _column_variances(spectrum, column_variances)
    last = min(len(spectrum.values), spectrum.directions - 1)
    V = as_components(components)
    if V is None or column_variances is None:
        yield from (_shrunk(spectrum, D, k) for k in range(last + 1))
        return
    left, leverage = D.copy(), np.zeros(len(D))
    for k in range(min(last, len(V)) + 1):
        yield _corrected(spectrum, left, leverage, k)
        if k < min(last, len(V)):
            left -= spectrum.values[k] * V[k] ** 2
            leverage += V[k] ** 2


def _shrunk(spectrum: MeasuredSpectrum, D: Values, k: int) -> ColumnNoise:
    degrees, free = _freedom(spectrum, k)
    share = spectrum.rest(k) / spectrum.total_variance if spectrum.total_variance else 0.0
    variances = D * (share * spectrum.n_columns / free * spectrum.degrees / degrees)
    return ColumnNoise(variances, np.full(len(D), free / len(D)), degrees)


def _corrected(spectrum: MeasuredSpectrum, left: Values, leverage: Values, k: int) -> ColumnNoise:
    degrees, _ = _freedom(spectrum, k)
    left = np.maximum(left, 0.0)
    total = float(left.sum())
    # The sum is known from the spectrum; the single columns only to the accuracy of the components.
    scale = spectrum.rest(k) / total if total > 0.0 else 0.0
    free = np.maximum(1.0 - leverage, LEAST_FREEDOM)
    return ColumnNoise(left * (scale * spectrum.degrees / degrees) / free, free, degrees)


def _freedom(spectrum: MeasuredSpectrum, k: int) -> tuple[float, float]:
    """Return the rows and columns left free by k components, at least one of each."""
    return max(spectrum.degrees - k, 1.0), max(float(spectrum.n_columns - k), 1.0)


def _column_variances(spectrum: MeasuredSpectrum, column_variances: Any | None) -> Values:
    if column_variances is None:
        return np.full(1, spectrum.total_variance / spectrum.n_columns)
    D = np.asarray(column_variances, dtype=np.float64).ravel()
    total = float(D.sum())
    # In the unit of the spectrum, whatever divisor or scaling the caller used.
    return D * (spectrum.total_variance / total) if total > 0.0 else D
