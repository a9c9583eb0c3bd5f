"""Pieces of a kernel matrix: made, used for all that they are good for, and dropped; or kept where there is room.

A tile is K between two blocks of rows. By symmetry it stands for two places of K, so each is made once per product and
multiplied from both sides. The callables here are what a source runs over pairs of its blocks, one worker per core,
each with a buffer and a running sum of its own.

A strip is K between some rows and all landmarks of a Nystroem approximation, which is summed from strips.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import isqrt
from typing import Any, NamedTuple

import numpy as np

from gramian.arrays.namespace import Array, HostArray, from_host, on_device, to_host
from gramian.arrays.precision import FLOAT64
from gramian.arrays.squares import completed
from gramian.kernels.blocks import named_rows, on_host, shifted
from gramian.kernels.kernel import Kernel, Prepared
from gramian.machine import MEGABYTE, cache_bytes, worker_count
from gramian.sources.rows import Block, RowSource, ranges


@dataclass(frozen=True, eq=False)
class PlacedKernel:
    """A kernel and the point that rows are counted from.

    Attributes
    ----------
    kernel : Kernel
        With numbers for parameters.
    origin : numpy array (d,) or None
        Kernels of the difference of two rows subtract it themselves.
    moves : bool
        Whether rows are moved to the origin before the kernel sees them, whatever the kernel: right where K is centered
        and that leaves the centered matrix as it is (the linear kernel).
    """

    kernel: Kernel
    origin: HostArray | None = None
    moves: bool = False

    @classmethod
    def of(cls, kernel: Kernel, origin: Any, *, centered: bool) -> "PlacedKernel":
        """Return the kernel placed so that an offset of the rows costs no digits, where that can be had."""
        if origin is None:
            return cls(kernel)
        moves = centered and kernel.shift_invariant_centered and not kernel.shift_invariant
        return cls(kernel, to_host(origin).astype(FLOAT64), moves)

    def on(self, like: Array) -> "PlacedKernel":
        """Return the same with its origin where ``like`` is, which is then copied there once."""
        there: Any = None if self.origin is None else from_host(self.origin, like=like)
        return replace(self, origin=there)

    def prepare(self, rows: Any, *, dtype: np.dtype[Any]) -> Prepared:
        """Make a block of rows ready for tiles of ``dtype``: on the device that they are on, else as NumPy or CSR."""
        rows = self._taken(rows)
        return self.kernel.prepare(rows, dtype=dtype, origin=None if self.moves else self.origin)

    def diagonal(self, rows: Any) -> HostArray:
        """Return k(x, x) for each row, (b,), float64."""
        return to_host(self.kernel.diagonal(self._taken(rows))).astype(FLOAT64, copy=False)

    def between(self, left: Any, right: Any, *, dtype: np.dtype[Any] = FLOAT64, there: bool = False) -> Array:
        """Return k(x, y) for the rows of two blocks, prepared and evaluated once; on the host, unless ``there``."""
        ready = self.prepare(left, dtype=dtype)
        K = self.kernel.evaluate(ready, ready if right is left else self.prepare(right, dtype=dtype))
        return K if there else to_host(K)

    def _taken(self, rows: Any) -> Any:
        rows = rows if on_device(rows) else on_host(rows)
        return shifted(rows, self.origin) if self.moves else rows


class Tiles:
    """Gives the tile of K - shift between two blocks: made from rows, or taken from where it is kept.

    Prepared rows are kept between products, and so are the tiles themselves with ``keep``: half of n^2 numbers.
    """

    def __init__(
        self, placed: PlacedKernel, *, dtype: np.dtype[Any], shift: float, keep: bool, keep_rows: bool = True
    ) -> None:
        self.placed, self.dtype, self.shift = placed, dtype, shift
        self.keep, self.keep_rows = keep, keep_rows
        self._ready: dict[int, Prepared] = {}
        self._kept: dict[tuple[int, int], HostArray] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Travel empty: a worker elsewhere makes what it needs, and what it would keep does not outlive the product."""
        return self.__dict__ | {"keep": False, "_ready": {}, "_kept": {}}

    def ready(self, block: Block) -> Prepared:
        """Return a block of rows made ready. Two workers at once may both make it; either serves."""
        known = self._ready.get(block.start)
        if known is None:
            with named_rows(block.start):
                known = self.placed.prepare(block.rows, dtype=self.dtype)
            if self.keep_rows:
                self._ready[block.start] = known
        return known

    def tile(self, left: Prepared, where: tuple[Block, Block], out: HostArray) -> HostArray:
        """Return the tile between two blocks, written into ``out`` unless it is kept."""
        place = (where[0].start, where[1].start)
        kept = self._kept.get(place)
        if kept is not None:
            return kept
        right = left if place[0] == place[1] else self.ready(where[1])
        room = np.empty_like(out) if self.keep else out
        with named_rows(*place):
            tile = to_host(self.placed.kernel.evaluate(left, right, out=room))
        if self.shift:
            np.subtract(tile, self.dtype.type(self.shift), out=tile)
        if self.keep:
            self._kept[place] = tile
        return tile


class Running:
    """What one worker carries from tile to tile: its sums, the prepared rows on the left, and a buffer for a tile."""

    def __init__(self, size: int, columns: int, dtype: np.dtype[Any]) -> None:
        self.total = np.zeros((size, columns))
        self.squares = 0.0
        self.dtype = dtype
        self.start = -1
        self.left: Prepared = None
        self._buffer = np.empty(0, dtype)

    def __getstate__(self) -> dict[str, Any]:
        """Travel with the sums alone."""
        return self.__dict__ | {"start": -1, "left": None, "_buffer": np.empty(0, self.dtype)}

    def prepared(self, tiles: Tiles, block: Block) -> Prepared:
        """Return the rows on the left made ready: the same block comes many times in a row."""
        if self.start != block.start:
            self.start, self.left = block.start, tiles.ready(block)
        return self.left

    def buffer(self, *shape: int) -> HostArray:
        """Return an array of that shape to write into: the same memory every time."""
        size = int(np.prod(shape))
        if size > len(self._buffer):
            self._buffer = np.empty(size, self.dtype)
        return self._buffer[:size].reshape(shape)


@dataclass(frozen=True, eq=False)
class TileProducts:
    """Fold: add what the tile of a pair of blocks gives to (K - shift) V, both ways, and to its sum of squares.

    Attributes
    ----------
    tiles : Tiles
    V : numpy array (n, c), of the tiles' type, row order
    weights : numpy array (n,) or None
        Of the squares only: a weight is a repetition of a row.
    squares : bool
        Whether squares are summed.
    """

    tiles: Tiles
    V: HostArray
    weights: HostArray | None = None
    squares: bool = False

    def __call__(self, state: Running | None, left: Block, right: Block) -> Running:
        """Take in one pair of blocks: products in the tiles' precision, summed over tiles in float64."""
        state = Running(len(self.V), self.V.shape[1], self.tiles.dtype) if state is None else state
        i, j = _places(left), _places(right)
        buffer = state.buffer(i.stop - i.start, j.stop - j.start)
        tile = self.tiles.tile(state.prepared(self.tiles, left), (left, right), buffer)
        state.total[i] += tile @ self.V[j]
        if i.start != j.start:
            state.total[j] += tile.T @ self.V[i]
        if self.squares:
            state.squares += (1 if i.start == j.start else 2) * self._squares(tile, i, j)
        return state

    def _squares(self, tile: HostArray, i: slice, j: slice) -> float:
        if self.weights is None:
            return float(np.vdot(tile, tile))
        return float(self.weights[i] @ np.square(tile, dtype=FLOAT64) @ self.weights[j])


def merge_running(left: Running, right: Running) -> Running:
    """Add the sums of two workers, reusing the left one."""
    left.total += right.total
    left.squares += right.squares
    return left


@dataclass(frozen=True, eq=False)
class FillMatrix:
    """Fold: write tiles into the lower triangle of a matrix that all workers share."""

    tiles: Tiles
    matrix: HostArray

    def __call__(self, state: Running | None, left: Block, right: Block) -> Running:
        """Take in one pair of blocks."""
        state = Running(0, 0, self.tiles.dtype) if state is None else state
        i, j = _places(left), _places(right)
        buffer = state.buffer(i.stop - i.start, j.stop - j.start)
        self.matrix[j, i] = self.tiles.tile(state.prepared(self.tiles, left), (left, right), buffer).T
        return state


@dataclass(frozen=True, eq=False)
class GatherTiles:
    """Fold: list the tiles of the lower triangle with the places of their rows and columns, for workers elsewhere."""

    tiles: Tiles

    def __call__(self, state: list[Any] | None, left: Block, right: Block) -> list[Any]:
        """Take in one pair of blocks."""
        out = np.empty((left.rows.shape[0], right.rows.shape[0]), self.tiles.dtype)
        tile = self.tiles.tile(self.tiles.ready(left), (left, right), out)
        return [*(state or []), (left.start, right.start, tile)]


def tile_rows(n: int) -> int:
    """Return how many rows a block of a tile has, blocks of n rows being of one size.

    A float32 tile fills a core's second-level cache, or is larger where workers are many: between the calls on a tile a
    worker needs Python's interpreter, which all workers share, so that the work on a tile has to grow with their number
    (16 cores, 60,000 rows: tiles of 512 rows 0.74 s, of 1,024 rows 0.43 s; two cores: no difference from 384 to 1,024).
    Few rows are cut so that every worker has some tiles.

    Examples
    --------
    >>> tile_rows(100_000) >= 256, tile_rows(5)
    (True, 5)
    """
    workers = worker_count()
    side = max(isqrt(cache_bytes() // 4), isqrt(256**2 * workers))
    blocks = max(-(-n // side), min(-(-n // 128), isqrt(8 * workers)), 1)
    return max(-(-n // blocks), 1)


def _places(block: Block) -> slice:
    return slice(block.start, block.start + block.rows.shape[0])


PANEL = 512
"""Columns of the squares of strips that are summed at a time: only those up to its own are multiplied with a panel."""


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
    size: int = 4 * MEGABYTE
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
        size: int,
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
    in float64, m^2 numbers per worker.
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
