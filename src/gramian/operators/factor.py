"""Passes over standardized rows that several operators share: triangles by QR, and sums of products."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.arrays.namespace import Array, HostArray, namespace_of, to_host
from gramian.arrays.squares import SquareSum, add_squares
from gramian.operators.centering import Standardization
from gramian.operators.symmetric import SymmetricOperator
from gramian.sources.rows import Block, ColumnBlock, ranges
from gramian.sources.sparse import is_sparse

FEW_COLUMNS = 16
"""Columns up to which a product with all rows is bound by memory, not by arithmetic."""

SMALL_PRODUCT = 1_000_000
"""Multiplications up to which OpenBLAS does not copy the factors of a product first."""


@dataclass(frozen=True, eq=False)
class RowTriangle:
    """Fold the triangle R of a QR factorization of Xs V, block by block (TSQR).

    Computes  R with R'R = (Xs V)'(Xs V), without squaring anything. Cost: 4 n s^2 operations for s vectors
    beside the product itself.
    """

    standardization: Standardization
    V: Array

    def __call__(self, state: HostArray | None, block: Block) -> HostArray:
        """Take one more block of rows into the triangle."""
        return taller_triangle(state, self.standardization.times(block, self.V))


@dataclass(frozen=True, eq=False)
class ColumnTriangle:
    """Fold the triangle R of a QR factorization of Xs'U over blocks of columns (TSQR)."""

    standardization: Standardization
    U: Array

    def __call__(self, state: HostArray | None, block: ColumnBlock) -> HostArray:
        """Take one more block of columns into the triangle."""
        return taller_triangle(state, self.standardization.columns(block).T @ self.U)


@dataclass(frozen=True, eq=False)
class RowSquares:
    """Fold the squares  (Xs V)'(Xs V),  in float64, block by block. Cost: 2 n d s + n s^2 operations.

    For few columns the pass is bound by memory: blocks are cut into pieces whose copies stay in a core's cache, and
    which are so small that BLAS multiplies them as they lie (1.6 times as fast for 8 columns of 1,000,000 x 100).
    """

    standardization: Standardization
    V: Array

    def __call__(self, state: SquareSum | None, block: Block) -> SquareSum:
        """Take one more block of rows into the sum."""
        n, (d, s) = block.rows.shape[0], self.V.shape
        step = n if s > FEW_COLUMNS or is_sparse(block.rows) else max(64, SMALL_PRODUCT // (d * s))
        for rows in ranges(n, step):
            weights = None if block.weights is None else block.weights[rows]
            piece = Block(block.rows[rows, :], block.start + rows.start, weights)
            state = add_squares(state, self.standardization.times(piece, self.V))
        return state


@dataclass(frozen=True, eq=False)
class ColumnSquares:
    """Fold the squares  (Xs'U)'(Xs'U),  in float64, over blocks of columns."""

    standardization: Standardization
    U: Array

    def __call__(self, state: SquareSum | None, block: ColumnBlock) -> SquareSum:
        """Take one more block of columns into the sum."""
        return add_squares(state, self.standardization.columns(block).T @ self.U)


def taller_triangle(state: HostArray | None, rows: Array) -> HostArray:
    """Return the triangle of the rows stacked under a former triangle."""
    part = to_host(namespace_of(rows).linalg.qr(rows, mode="r")[1]) if not isinstance(rows, np.ndarray) else rows
    stacked = part if state is None else np.vstack([state, part])
    return np.asarray(np.linalg.qr(stacked, mode="r"))


def merge_triangles(left: HostArray, right: HostArray) -> HostArray:
    """Return the triangle of two triangles stacked."""
    return np.asarray(np.linalg.qr(np.vstack([left, right]), mode="r"))


def columns_of(operator: SymmetricOperator) -> HostArray:
    """Return the matrix of an operator by applying it to the unit vectors, some at a time.

    For sparse rows far from the origin: a product corrects for the mean in a term linear in it, where forming X'X
    first and correcting afterwards would square it. Cost: m / 256 passes.
    """
    m = operator.size
    matrix = np.empty((m, m))
    for columns in ranges(m, 256):
        unit = np.zeros((m, columns.stop - columns.start))
        unit[np.arange(columns.start, columns.stop), np.arange(unit.shape[1])] = 1.0
        matrix[:, columns] = operator.apply(unit).values
    return (matrix + matrix.T) / 2


def add(left: Any, right: Any) -> Any:
    """Add two partial sums, reusing the left one."""
    left += right
    return left
