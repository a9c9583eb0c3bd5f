"""In which precision, and with which centering, a product with standardized rows is made."""

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from gramian.arrays.draws import gaussian
from gramian.arrays.namespace import Array, cast, to_host
from gramian.arrays.precision import FLOAT32, FLOAT64, eps_of
from gramian.operators.centering import Standardization
from gramian.sources.moments import Moments
from gramian.sources.rows import Block, RowSource

ROUNDING = 8
"""Rounding of a product, in units of eps, relative to the norms of its factors."""

COARSEST = 50 * eps_of(FLOAT32)
"""Accuracy from which on float32 products of float32 rows will do."""


SAMPLE = 128
"""Rows on which the error of a float32 product is measured."""


class Way(NamedTuple):
    """A way to make a product: what is done to the rows, in which precision, and the relative error that it has."""

    standardization: Standardization
    dtype: np.dtype[Any]
    error: float


@dataclass(frozen=True, eq=False)
class Ways:
    """The ways to make products with the standardized rows of one source.

    Dense rows are centered before a product, which takes a copy of each block; or the product is corrected for the mean
    afterwards, which takes none and costs the digits by which the mean exceeds the spread. float32 rows are multiplied
    in float32 or, one block at a time, in float64. With ``sums_rows`` products are  Xs'(Xs V),  summed over all rows.
    """

    source: RowSource
    moments: Moments
    standardization: Standardization
    sums_rows: bool = False
    known: dict[str, Way] = field(default_factory=dict)

    def cheapest(self, accuracy: float | None) -> Way:
        """Return the cheapest way whose error is at most ``accuracy``; ``None`` asks for the best there is."""
        if self.source.dtype == FLOAT32 and accuracy is not None and accuracy >= COARSEST:
            if "coarse" not in self.known:
                self.known["coarse"] = self._coarse(accuracy)
            return self.known["coarse"]
        dtype = FLOAT64
        error = ROUNDING * eps_of(dtype)
        corrected = error * (1 + self.moments.offset) if self.standardization.centered else error
        if accuracy is None or self.source.is_sparse:
            return Way(self.standardization, dtype, corrected if self.source.is_sparse else error)
        if not corrected <= accuracy or self.standardization.factor is not None:
            return Way(self.standardization, dtype, error)
        way = replace(self.standardization, corrected=True)
        return Way(way, dtype, corrected)

    def _coarse(self, accuracy: float) -> Way:
        """Return the cheapest way in float32, its error measured on a block of rows in float64.

        The error of Xs V is taken beside Xs V itself for a random V, which is less than the norms of both, and times
        eight: the second product and its sum over all rows have errors of their own.
        """
        V = gaussian((self.source.n_columns, 4), seed=0, like=self.source.like())
        rows = self.source.block(0).rows[:SAMPLE, :]
        block = Block(rows, 0, None)
        centered, corrected = (self._measured(block, V, corrected=kept) for kept in (False, not self.source.is_sparse))
        # A copy of the rows must buy digits.
        return corrected if corrected.error <= max(accuracy, 2 * centered.error) else centered

    def _measured(self, block: Block, V: Array, *, corrected: bool) -> Way:
        way, about = replace(self.standardization, corrected=corrected), self.standardization
        rounded = 0.0
        if self.sums_rows and not corrected and not self.source.is_sparse:
            about, rounded = self._about_rounded_mean()
        exact = to_host(about.times(block, cast(V, FLOAT64)))
        found = to_host(cast(way.times(block, cast(V, FLOAT32)), FLOAT64))
        size = float(np.linalg.norm(exact))
        error = ROUNDING * float(np.linalg.norm(found - exact)) / size if size > 0 else 0.0
        return Way(way, FLOAT32, max(error + rounded, eps_of(FLOAT32)))

    def _about_rounded_mean(self) -> tuple[Standardization, float]:
        """Return what centering in float32 does to rows, and what the rounding of the mean costs a sum over all rows.

        About a mean that is wrong by e, rows are  Xs - r e',  r being the roots of the weights, and  r'Xs = 0: of
        Xs'Xs  that leaves  W |e|^2  at most, quadratic in the rounding where a single row is wrong in the first order.
        """
        own = self.standardization
        rounded = replace(own, mean=own.mean.astype(FLOAT32).astype(FLOAT64))
        wrong = own.mean - rounded.mean if own.factor is None else (own.mean - rounded.mean) * own.factor
        squares = self.moments.squares if own.factor is None else self.moments.squares * own.factor**2
        largest = float(squares.max(initial=0.0))
        return rounded, float(self.moments.weight * (wrong @ wrong)) / largest if largest > 0 else 0.0
