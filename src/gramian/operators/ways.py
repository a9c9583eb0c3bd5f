"""In which precision, and with which centering, a product with standardized rows is made."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gramian.arrays.draws import gaussian
from gramian.arrays.namespace import Array, HostArray, cast, to_host
from gramian.arrays.precision import FLOAT32, FLOAT64, eps_of
from gramian.operators.centering import Standardization
from gramian.sources.moments import Moments
from gramian.sources.rows import Block, RowSource
from gramian.sources.sparse import in_float64

ROUNDING = 8
"""Rounding of a product, in units of eps, relative to the norms of its factors."""

COARSEST = 50 * eps_of(FLOAT32)
"""Accuracy from which on float32 products of float32 rows will do."""


MANY_COLUMNS = 8
"""Columns from which on sparse entries are converted at every product, a piece at a time: little beside the product
itself (5,000,000 of them, 20 columns: 70 ms, and 70 to 144 where a copy of all is made, its memory being fresh)."""

SAMPLE = 64
"""Rows on which the error of a float32 product is measured (4,000 to 50,000 columns: as with 128, in half the time)."""


class Way(NamedTuple):
    """A way to make a product: of which rows, what is done to them, in which precision, and its relative error."""

    source: RowSource
    standardization: Standardization
    dtype: np.dtype[Any]
    error: float


@dataclass(frozen=True, eq=False)
class Ways:
    """The ways to make products with the standardized rows of one source.

    Dense rows are centered before a product, which takes a copy of each block; or the product is corrected for the mean
    afterwards, which takes none and costs the digits by which the mean exceeds the spread. float32 rows are multiplied
    in float32 or, one block at a time, in float64; sparse ones are converted once, when few columns are first asked for
    in float64, and a piece at a time for many.
    With ``sums_rows`` products are  Xs'(Xs V),  summed over all rows.
    """

    source: RowSource
    moments: Moments
    standardization: Standardization
    sums_rows: bool = False
    known: dict[str, Way] = field(default_factory=dict)

    def cheapest(self, accuracy: float | None, *, columns: int = 1) -> Way:
        """Return the cheapest way whose error is at most ``accuracy``; ``None`` asks for the best there is.

        Dense rows are multiplied in float32 whatever its error where ``accuracy`` is coarse enough to ask for that.
        """
        sparse, dtype = self.source.is_sparse, FLOAT64
        least = eps_of(FLOAT32) if sparse else COARSEST
        if self.source.dtype == FLOAT32 and accuracy is not None and accuracy >= least:
            if "coarse" not in self.known:
                self.known["coarse"] = self._coarse(accuracy)
            if not sparse or self.known["coarse"].error <= accuracy:
                return self.known["coarse"]
        error = ROUNDING * eps_of(dtype)
        corrected = error * (1 + self.moments.offset) if self.standardization.centered else error
        if sparse:
            source = self.source if self.sums_rows and columns >= MANY_COLUMNS else self.wide
            return Way(source, self.standardization, dtype, corrected)
        if accuracy is None or not corrected <= accuracy or self.standardization.factor is not None:
            return Way(self.source, self.standardization, dtype, error)
        return Way(self.source, replace(self.standardization, corrected=True), dtype, corrected)

    @cached_property
    def wide(self) -> RowSource:
        """The rows as they are multiplied in float64: see :func:`~gramian.sources.sparse.in_float64`."""
        return in_float64(self.source)

    def _coarse(self, accuracy: float) -> Way:
        """Return the cheapest way in float32, its error measured on a block of rows in float64.

        The error of Xs V is taken beside Xs V itself for a random V, which is less than the norms of both, and times
        eight: the second product and its sum over all rows have errors of their own.
        """
        V = gaussian((self.source.n_columns, 4), seed=0, like=self.source.like())
        rows = self.source.block(0).rows[:SAMPLE, :]
        block = Block(rows, 0, None)
        exact = to_host(self.standardization.times(block, cast(V, FLOAT64)))
        wrong = self._wrong_mean()
        # What a mean wrong by e leaves of a sum over all rows is quadratic in it, W |e|^2; see _wrong_mean.
        left = self._beside_largest(float(wrong @ wrong))
        centered = self._measured(block, V, exact + wrong @ to_host(V), corrected=False, left=left)
        corrected = self._measured(block, V, exact, corrected=not self.source.is_sparse)
        # A copy of the rows must buy digits.
        return corrected if corrected.error <= max(accuracy, 2 * centered.error) else centered

    def _measured(self, block: Block, V: Array, exact: HostArray, *, corrected: bool, left: float = 0.0) -> Way:
        way = replace(self.standardization, corrected=corrected)
        found = to_host(cast(way.times(block, cast(V, FLOAT32)), FLOAT64))
        size = float(np.linalg.norm(exact))
        error = ROUNDING * float(np.linalg.norm(found - exact)) / size if size > 0 else 0.0
        return Way(self.source, way, FLOAT32, max(error + left, eps_of(FLOAT32)))

    def _wrong_mean(self) -> HostArray:
        """Return by how much (d,) the mean is wrong, in standardized units, that float32 rows are centered about.

        Rows are  Xs + r e'  about a mean that is wrong by e, r being the roots of the weights. As  r'Xs = 0,  that adds
        W e e'  to the squares summed over all rows, and nothing of the first order. Zero where no such sum is made.
        """
        own = self.standardization
        if not self.sums_rows or self.source.is_sparse:
            return np.zeros_like(own.mean)
        wrong = own.mean - own.mean.astype(FLOAT32)
        return wrong if own.factor is None else wrong * own.factor

    def _beside_largest(self, squares: float) -> float:
        """Return  W squares  beside the largest eigenvalue of  Xs'Xs,  which is at least its largest diagonal entry."""
        factor = self.standardization.factor
        diagonal = self.moments.squares if factor is None else self.moments.squares * factor**2
        largest = float(diagonal.max(initial=0.0))
        return self.moments.weight * squares / largest if largest > 0 else 0.0
