"""The Laplacian kernel: sums of absolute differences, column by column."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from gramian.arrays.namespace import Array, HostArray, cast, device_of, is_numpy, namespace_of, on_device
from gramian.arrays.precision import FLOAT64
from gramian.errors import ParameterError
from gramian.kernels.blocks import exponential, host_rows, shifted, written
from gramian.kernels.kernel import FusedForm, Kernel, Prepared, WaveDraw, Waves
from gramian.kernels.widths import DataFacts, Gamma, checked_gamma, inverse_or_one, number_of


class _Scaled(NamedTuple):
    rows: Array
    dtype: np.dtype[Any]


@dataclass(frozen=True)
class Laplacian(Kernel):
    """The Laplacian kernel.

    Computes  k(x, y) = exp(-gamma sum_j |x_j - y_j|).  Differences are taken column by column in float64, so an offset
    costs no digits.

    Cost of a tile (a, b): 3 a b d operations, none of them in a matrix product: with 50 columns a tile costs eight to
    fifteen times as much as a Gaussian one. Dense NumPy rows only.

    Not where a Gaussian or ``Matern(0.5)`` does: those run at the speed of a matrix product. It suffers less from a
    single wild value than they do.

    Equals scikit-learn's ``laplacian_kernel``.

    Parameters
    ----------
    gamma : float, "scale", "median" or None, default=None
        None is 1/d; "scale" is 1 / (d s), s^2 being the mean of the variances of the columns; "median" is 1 / m, m
        being the median over pairs of rows of the sum of absolute differences.

    Examples
    --------
    >>> Laplacian(gamma=0.5)([[0.0, 0.0], [1.0, 1.0]]).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """

    gamma: Gamma = None
    name: ClassVar[str] = "Laplacian"
    has_gamma: ClassVar[bool] = True
    has_width: ClassVar[bool] = True
    shift_invariant: ClassVar[bool] = True
    is_psd: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", checked_gamma(self.gamma, kernel=self.name))

    def prepare(self, rows: Array, *, dtype: np.dtype[Any], origin: Array | None = None) -> Prepared:
        """Scale rows by gamma, in float64."""
        gamma = number_of(self.gamma, rows.shape[1])
        if on_device(rows):
            return _Scaled(cast(shifted(rows, origin), FLOAT64) * gamma, dtype)
        return _Scaled(shifted(host_rows(rows, kernel=self), origin) * gamma, dtype)

    def evaluate(self, left: Prepared, right: Prepared, *, out: HostArray | None = None) -> Array:
        """Return exp of minus the sum of absolute differences."""
        if not is_numpy(left.rows):
            return cast(_exponentials_of(left.rows, right.rows), left.dtype)
        distances = cdist(left.rows, right.rows, "cityblock")
        np.negative(distances, out=distances)
        return exponential(written(distances.astype(left.dtype, copy=False), out))

    def diagonal(self, rows: Array) -> HostArray:
        """Return ones."""
        return np.ones(rows.shape[0])

    def resolved(self, facts: DataFacts) -> "Laplacian":
        """Return the kernel with gamma a number."""
        if self.gamma == "scale":
            return Laplacian(inverse_or_one(facts.n_columns * facts.variance**0.5))
        if self.gamma == "median":
            return Laplacian(inverse_or_one(_median_cityblock(facts)))
        return Laplacian(number_of(self.gamma, facts.n_columns))

    def fused_form(self, n_columns: int) -> FusedForm:
        """Return 2 to the power of minus the sum of absolute differences of rows times gamma log2(e)."""
        return FusedForm("cityblock", number_of(self.gamma, n_columns) / math.log(2.0), about_origin=True)

    def draw_waves(self, draw: WaveDraw) -> Waves:
        """Draw independent Cauchy frequencies, of scale gamma."""
        if draw.orthogonal:
            message = (
                "orthogonal=True is for kernels of the Euclidean distance, whose frequencies have no preferred "
                "direction; those of the Laplacian lie along the columns. Use orthogonal=False."
            )
            raise ParameterError(message)
        waves = draw.rng.standard_cauchy((draw.count, draw.n_columns))
        return Waves(number_of(self.gamma, draw.n_columns) * waves, 1.0)


def _exponentials_of(x: Array, y: Array) -> Array:
    distances = namespace_of(x).zeros((x.shape[0], y.shape[0]), dtype=x.dtype, **device_of(x))
    for column in range(x.shape[1]):
        distances += abs(x[:, column, None] - y[None, :, column])
    return namespace_of(x).exp(-distances)


def _median_cityblock(facts: DataFacts) -> float:
    if facts.median_cityblock is None:
        message = 'gamma="median" of the Laplacian kernel needs dense rows to be sampled. Pass a number or "scale".'
        raise ParameterError(message)
    return facts.median_cityblock()
