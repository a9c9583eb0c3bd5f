"""Strips of kernel values between rows and landmarks, which a Nystroem approximation is summed from."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gramian.arrays.namespace import HostArray, to_host
from gramian.arrays.precision import FLOAT64
from gramian.arrays.squares import completed
from gramian.kernels.kernel import Prepared
from gramian.kernels.naming import named_rows
from gramian.operators.kernel_tiles import PlacedKernel
from gramian.planning.kernel_plan import STRIP_BYTES
from gramian.sources.rows import Block, RowSource, ranges

PANEL = 512
"""Columns of the squares that are summed at a time: only those up to its own are multiplied with a panel."""


@dataclass(frozen=True, eq=False)
class Strips:
    """C - shift, C being K between rows and m landmarks, in one precision; times a root where there is one.

    Attributes
    ----------
    placed : PlacedKernel
    ready : Prepared
        The landmarks.
    count : int
        m.
    shift : float or numpy array (m,)
    dtype : numpy.dtype
    root : numpy array (m, D) or None
        Makes features of the strips: sums of those have errors in proportion to the features, however small some are.
        Upper trapezoidal (zero below the last diagonal, as an RQ factor): half of the product with it is left out.
    size : int
        Bytes of a strip, or of the rows that it is made from, that a worker holds at a time. With many landmarks it has
        a quarter as many rows, as adding up the squares of fewer costs as much as multiplying them.
    positions : numpy array (m,) or None
        Which rows the landmarks are, where they are rows.
    """

    placed: PlacedKernel
    ready: Prepared
    count: int
    shift: float | HostArray
    dtype: np.dtype[Any]
    root: HostArray | None = None
    size: int = STRIP_BYTES
    positions: HostArray | None = None

    @property
    def width(self) -> int:
        """Columns of a strip."""
        return self.count if self.root is None else int(self.root.shape[1])

    @classmethod
    def between(
        cls,
        placed: PlacedKernel,
        landmarks: Any,
        *,
        shift: float | HostArray,
        dtype: np.dtype[Any],
        size: int = STRIP_BYTES,
    ) -> "Strips":
        """Return the strips of these landmarks."""
        return cls(placed, placed.prepare(landmarks, dtype=dtype), landmarks.shape[0], shift, dtype, size=size)

    def of(self, block: Block) -> Iterator[tuple[slice, HostArray]]:
        """Give the strips of a block of rows, and the places of their rows in it."""
        wide = max(self.count, block.rows.shape[1])
        step = max(16, self.count // 4, self.size // (self.dtype.itemsize * wide))
        for part in ranges(block.rows.shape[0], step):
            ending = " of the landmarks" if self.positions is None else ""
            with named_rows(block.start + part.start):
                left = self.placed.prepare(block.rows[part], dtype=self.dtype)
            with named_rows(block.start + part.start, self.positions, ending=ending):
                strip = to_host(self.placed.kernel.evaluate(left, self.ready))
            strip = np.subtract(strip, np.asarray(self.shift, self.dtype), out=strip)
            yield part, strip if self.root is None else times_trapezoid(strip, self.root)


def times_trapezoid(strip: HostArray, root: HostArray) -> HostArray:
    """Return strip root, (s, D), for an upper trapezoidal root (m, D), m >= D.

    Cost: s D (2 m - D) operations, and a panel's more.

    Examples
    --------
    >>> root = np.array([[1.0, 2.0], [3.0, 4.0], [0.0, 5.0]])
    >>> times_trapezoid(np.ones((1, 3)), root)
    array([[ 4., 11.]])
    """
    (m, D), out = root.shape, np.empty((len(strip), root.shape[1]), strip.dtype)
    for panel in ranges(D, PANEL):
        above = m - D + panel.stop
        np.matmul(strip[:, :above], root[:above, panel], out=out[:, panel])
    return out


class StripSums(NamedTuple):
    """C'C (m, m) and C'w (m,) of strips C, rows counted by their weights w, in float64."""

    squares: HostArray
    columns: HostArray


def sum_strips(source: RowSource, strips: Strips) -> StripSums:
    """Return C'C and C'w: one pass.

    Cost: n m^2 operations, as many again for a root, in the strips' precision, a strip and a panel at a time; summed
    in float64, m^2 numbers a worker.
    """
    sums = source.reduce(SquareStrips(strips), _merge_sums)
    return StripSums(completed(sums.squares), sums.columns)


@dataclass(frozen=True, eq=False)
class SquareStrips:
    """Fold: the sums of the strips, of the squares the lower triangle alone."""

    strips: Strips

    def __call__(self, state: StripSums | None, block: Block) -> StripSums:
        """Take in one block of rows."""
        m = self.strips.width
        state = StripSums(np.zeros((m, m)), np.zeros(m)) if state is None else state
        for part, strip in self.strips.of(block):
            roots = _roots(block, part, self.strips.dtype)
            C = strip if block.weights is None else strip * roots[:, None]
            for panel in ranges(m, PANEL):
                lower = state.squares[panel, : panel.stop]
                np.add(lower, C[:, panel].T @ C[:, : panel.stop], out=lower)
            np.add(state.columns, roots @ C, out=state.columns)
        return state


def _merge_sums(left: StripSums, right: StripSums) -> StripSums:
    """Add the sums of two workers, reusing the left ones."""
    np.add(left.squares, right.squares, out=left.squares)
    np.add(left.columns, right.columns, out=left.columns)
    return left


@dataclass(frozen=True, eq=False)
class ExtendStrips:
    """Map: strips times a combination (m, p), and times roots of the weights where ``weighted``, in ``dtype``."""

    strips: Strips
    combination: HostArray
    dtype: np.dtype[Any]
    weighted: bool = True

    def __call__(self, block: Block) -> HostArray:
        """Return the rows of one block."""
        out = np.empty((block.rows.shape[0], self.combination.shape[1]), self.dtype)
        for part, strip in self.strips.of(block):
            rows = out[part]
            if rows.dtype == strip.dtype:
                np.matmul(strip, self.combination, out=rows)
            else:
                rows[...] = strip @ self.combination
            if self.weighted and block.weights is not None:
                rows *= _roots(block, part, FLOAT64)[:, None].astype(rows.dtype)
        return out


def _roots(block: Block, part: slice, dtype: np.dtype[Any]) -> HostArray:
    """Return the square roots of the weights of some rows of a block."""
    if block.weights is None:
        return np.ones(part.stop - part.start, dtype)
    return np.sqrt(to_host(block.weights)[part]).astype(dtype)
