"""Inner products of centered rows together with their moments: one pass over blocks of columns.

A block of columns holds every row, so its means are known as soon as it is read: it is centered, multiplied and
dropped, and the moments that other sources need a pass of their own for come with it.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gramian.arrays.namespace import HostArray, cast, from_host, namespace_of, to_host
from gramian.arrays.precision import FLOAT64, eps_of
from gramian.arrays.squares import SquareSum, add_squares, completed, merge_squares
from gramian.sources.finiteness import require_finite
from gramian.sources.measuring import working_dtype
from gramian.sources.moments import Moments
from gramian.sources.rows import ColumnBlock, RowSource


class _Sums(NamedTuple):
    means: dict[int, HostArray]
    squares: dict[int, HostArray]
    gram: SquareSum


def measure_gram(source: RowSource, *, center: bool) -> tuple[Moments, SquareSum]:
    """Return the moments (without a scatter) and the matrix Xc Xc' of a source whose columns can be read.

    Computes  Xc = diag(sqrt w) (X - 1 mean')  block by block, its means measured twice so that a large mean costs no
    digits, and the sum of Xc Xc' over the blocks. Cost: n^2 d operations, one pass, n^2 numbers a worker.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.sources.dense import DenseRows
    >>> moments, gram = measure_gram(DenseRows(np.array([[1.0, 5.0, 0.0], [3.0, 5.0, 4.0]])), center=True)
    >>> moments.mean, gram.matrix
    (array([2., 5., 2.]), array([[ 5., -5.],
           [-5.,  5.]]))
    """
    n = source.n_rows
    fold = _Fold(center, working_dtype(source))
    sums = source.reduce_columns(fold, _merge, state_bytes=8 * n * n)
    mean = np.concatenate([sums.means[start] for start in sorted(sums.means)])
    squares = np.concatenate([sums.squares[start] for start in sorted(sums.squares)])
    if not np.isfinite(squares).all():
        require_finite(source)
    weight = float(n) if source.weights is None else float(to_host(source.weights).sum())
    moments = Moments(n, weight, mean, squares, None, sums.gram.error)
    return moments, sums.gram._replace(matrix=completed(sums.gram.matrix))


@dataclass(frozen=True, eq=False)
class _Fold:
    """Take a block of columns into the running sums."""

    center: bool
    dtype: np.dtype[Any]

    def __call__(self, state: _Sums | None, block: ColumnBlock) -> _Sums:
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            columns, mean, squares = self._centered(block)
            gram = add_squares(None if state is None else state.gram, columns.T)
        parts = _Sums({}, {}, gram) if state is None else state._replace(gram=gram)
        parts.means[block.start] = mean
        parts.squares[block.start] = squares.astype(FLOAT64, copy=False)
        return parts

    def _centered(self, block: ColumnBlock) -> tuple[Any, HostArray, HostArray]:
        """Return the weighted block about its means, the means, and the sum of squares of each column.

        A second look at the means corrects the rounding of the first, where that is more than rounding of the squares.
        """
        columns = cast(block.columns, self.dtype)
        weights = np.ones(columns.shape[0]) if block.weights is None else to_host(block.weights)
        root = None if block.weights is None else from_host(np.sqrt(weights), like=columns, dtype=self.dtype)[:, None]
        if not self.center:
            columns = columns * (1 if root is None else root)
            return columns, np.zeros(columns.shape[1]), _column_squares(columns)
        share = from_host(weights / weights.sum(), like=columns[:0, :0], dtype=self.dtype)
        first = share @ columns
        columns = columns - first
        second = share @ columns
        mean, left = to_host(first).astype(FLOAT64), to_host(second).astype(FLOAT64)
        squares = None if root is not None else _column_squares(columns)
        if squares is None or not np.all(weights.sum() * left**2 <= eps_of(self.dtype) * squares):
            columns -= second
            columns = columns if root is None else columns * root
            squares = _column_squares(columns)
        return columns, mean + left, squares


def _column_squares(columns: Any) -> HostArray:
    if isinstance(columns, np.ndarray):
        return np.asarray(np.einsum("ij,ij->j", columns, columns))
    return to_host(namespace_of(columns).sum(columns * columns, axis=0))


def _merge(left: _Sums, right: _Sums) -> _Sums:
    gram = merge_squares(left.gram, right.gram)
    return _Sums(left.means | right.means, left.squares | right.squares, gram)
