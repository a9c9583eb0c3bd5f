"""Kernels whose parameters are words ("scale", "median"), made numbers on the rows of a source."""

from functools import cache
from typing import NamedTuple

import numpy as np

from gramian.arrays.namespace import Array, from_host, is_sparse
from gramian.features.sampling import draw_positions, take_rows
from gramian.kernels.blocks import far_means, require_taken, shifted
from gramian.kernels.kernel import Kernel
from gramian.kernels.widths import SAMPLE_ROWS, DataFacts, median_distance
from gramian.sources.moments import Moments, measure_moments
from gramian.sources.rows import RowSource


class Resolved(NamedTuple):
    """A kernel without unknown parameters, and the point that distances are taken from.

    Of sparse rows it is their mean in columns far from zero, nearly all of which they store, and zero in the others;
    ``None`` where there is no such column.
    """

    kernel: Kernel
    origin: Array | None


def resolve_kernel(kernel: Kernel, source: RowSource, *, seed: int = 0) -> Resolved:
    """Replace None, "scale" and "median" by numbers, and refuse rows that the kernel cannot take.

    Cost: one pass for the mean and the variances, which also finds what is not finite; one more where a median
    distance is asked for, from at most 1,000 rows drawn by ``seed``.

    Examples
    --------
    >>> from gramian.kernels import Gaussian
    >>> from gramian.sources import as_source
    >>> resolve_kernel(Gaussian("scale"), as_source([[0.0, 0.0], [2.0, 2.0]])).kernel
    Gaussian(gamma=0.5)
    """
    require_taken(sparse=source.is_sparse, kernel=kernel)
    moments = measure_moments(source, scatter=False)
    variance = float(moments.squares.sum()) / (moments.weight * source.n_columns)

    origin = _origin(source, moments)

    @cache
    def sample() -> Array:
        rows = take_rows(source, np.sort(draw_positions(source, SAMPLE_ROWS, seed=seed)))
        return shifted(rows, origin) if is_sparse(rows) else rows

    facts = DataFacts(
        n_columns=source.n_columns,
        variance=variance,
        median_distance=lambda: median_distance(sample()),
        median_cityblock=lambda: median_distance(sample(), metric="cityblock"),
    )
    return Resolved(kernel.resolved(facts), origin)


def _origin(source: RowSource, moments: Moments) -> Array | None:
    if source.is_sparse:
        return far_means(moments.mean, moments.squares / moments.weight)
    return from_host(moments.mean, like=source.like())
