"""Some rows of a source, in one pass, and a kernel whose "scale" or "median" is made a number on them."""

from dataclasses import dataclass
from functools import cache
from operator import add
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from gramian.arrays.namespace import Array, HostArray, from_host, is_sparse, namespace_of, picked, to_host
from gramian.kernels.blocks import far_means, require_taken, shifted
from gramian.kernels.kernel import Kernel
from gramian.kernels.widths import SAMPLE_ROWS, DataFacts, median_distance
from gramian.sources.moments import Moments, measure_moments
from gramian.sources.rows import Block, RowSource


def draw_positions(source: RowSource, count: int, *, seed: int, replace: bool = False) -> HostArray:
    """Draw positions of rows at random, each as often as its weight says (count,).

    Without ``replace`` no row comes twice, and no more come than there are rows of positive weight.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.sources import DenseRows
    >>> sorted(draw_positions(DenseRows(np.ones((4, 1)), weights=np.array([1.0, 0, 2, 0])), 9, seed=0))
    [np.int64(0), np.int64(2)]
    """
    rng = np.random.default_rng(seed)
    if source.weights is None:
        return rng.choice(source.n_rows, count if replace else min(count, source.n_rows), replace=replace)
    weights = to_host(source.weights).astype(np.float64)
    if not replace:
        count = min(count, int(np.count_nonzero(weights)))
    return rng.choice(source.n_rows, count, replace=replace, p=weights / weights.sum())


def take_rows(source: RowSource, positions: HostArray) -> Array:
    """Return the rows at some positions, in their order: one pass over the source.

    The rows come in the library of the source, CSR from sparse rows.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.sources import DenseRows
    >>> take_rows(DenseRows(np.arange(6.0).reshape(6, 1), block_rows=2), np.array([4, 0, 4])).ravel()
    array([4., 0., 4.])
    """
    wanted, back = np.unique(positions, return_inverse=True)
    return picked(_stacked(source.reduce(_Gather(wanted), add)), back)


@dataclass(frozen=True, eq=False)
class _Gather:
    """Fold: append the wanted rows of a block."""

    wanted: HostArray

    def __call__(self, state: list[Any] | None, block: Block) -> list[Any]:
        state = [] if state is None else state
        low, high = np.searchsorted(self.wanted, [block.start, block.start + block.rows.shape[0]])
        if high > low:
            state.append(picked(block.rows, self.wanted[low:high] - block.start))
        return state


def host_rows_at(source: RowSource, positions: HostArray) -> Array:
    """Return some rows as NumPy or CSR: few of them, to be looked at on the host wherever they live."""
    rows = take_rows(source, positions)
    return rows if is_sparse(rows) else to_host(rows)


def _stacked(pieces: list[Any]) -> Array:
    if is_sparse(pieces[0]):
        return sp.csr_array(sp.vstack(pieces))
    return namespace_of(pieces[0]).concat(pieces, axis=0)


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
