"""Passes over standardized rows that several operators share: triangles by QR, and sums of products."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.arrays.namespace import Array, HostArray, is_numpy, namespace_of, to_host
from gramian.arrays.precision import FLOAT64
from gramian.arrays.products import UNPACKED
from gramian.arrays.squares import SquareSum, add_squares
from gramian.operators.centering import Standardization
from gramian.operators.symmetric import SymmetricOperator
from gramian.sources.rows import Block, ColumnBlock, ranges

FEW_COLUMNS = 16
"""Columns up to which a product with all rows is bound by memory, not by arithmetic."""


def row_pieces(block: Block, step: int) -> list[Block]:
    """Cut a block into pieces of ``step`` rows, with their weights."""
    weights = block.weights
    cuts = ranges(block.rows.shape[0], step)
    return [Block(block.rows[i, :], block.start + i.start, None if weights is None else weights[i]) for i in cuts]


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

    For few columns the pass is bound by memory: float64 blocks are cut into pieces so small that BLAS multiplies them
    as they lie (8 columns of 200,000 x 500 rows: 33 ms, or 70 if they are centered first, against 53 and 78).
    """

    standardization: Standardization
    V: Array

    def __call__(self, state: SquareSum | None, block: Block) -> SquareSum | None:
        """Take one more block of rows into the sum."""
        for piece in self._pieces(block):
            state = add_squares(state, self.standardization.times(piece, self.V))
        return state

    def _pieces(self, block: Block) -> list[Block]:
        n, (d, s) = block.rows.shape[0], self.V.shape
        if n == 0 or s > FEW_COLUMNS or not is_numpy(block.rows) or block.rows.dtype != FLOAT64:
            return [block]
        return row_pieces(block, max(64, UNPACKED // (d * s)))


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
