"""Tiles of a kernel matrix: made, used for all that they are good for, and dropped; or kept where there is room.

A tile is K between two blocks of rows. By symmetry it stands for two places of K, so each is made once a product and
multiplied from both sides. The callables here are what a source runs over pairs of its blocks.
"""

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.arrays.namespace import HostArray, to_host
from gramian.arrays.precision import FLOAT64
from gramian.arrays.products import LINE, empty_on_lines, product_in_strips, turned_in_strips, turned_product
from gramian.kernels.blocks import shifted
from gramian.kernels.kernel import Kernel, Prepared
from gramian.kernels.naming import named_rows
from gramian.sources.rows import Block

TILE_ROWS = 528
"""Rows of a block: a float32 tile of 528 x 528 stays in a core's second-level cache. An odd number of cache lines, as
rows a power of two apart share places in the caches (sides of 256 to 784 were measured: flat from 336 to 528, slower
above; with two threads slower below, as calls become short and wait for the interpreter)."""

SHELF_BYTES = 1 << 25
"""Bytes of a piece of the memory that kept tiles lie in."""


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

    def prepare(self, rows: Any, *, dtype: np.dtype[Any]) -> Prepared:
        """Make a block of rows, of any library or CSR, ready for tiles of ``dtype`` on the host."""
        rows = self._on_host(rows)
        return self.kernel.prepare(rows, dtype=dtype, origin=None if self.moves else self.origin)

    def diagonal(self, rows: Any) -> HostArray:
        """Return k(x, x) for each row, (b,), float64."""
        return np.asarray(self.kernel.diagonal(self._on_host(rows)), dtype=FLOAT64)

    def between(self, left: Any, right: Any, *, dtype: np.dtype[Any] = FLOAT64) -> HostArray:
        """Return k(x, y) for the rows of two blocks, prepared and evaluated once."""
        ready = self.prepare(left, dtype=dtype)
        return to_host(self.kernel.evaluate(ready, ready if right is left else self.prepare(right, dtype=dtype)))

    def _on_host(self, rows: Any) -> Any:
        rows = rows if hasattr(rows, "indptr") else to_host(rows)
        return shifted(rows, self.origin) if self.moves else rows


class Shelf:
    """Room for many small arrays, taken from the system in large pieces: new memory comes sooner that way."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype
        self._piece, self._used = np.empty(0, dtype), 0
        self._lock = threading.Lock()

    def room(self, *shape: int) -> HostArray:
        """Return an array of that shape that nobody else has."""
        size = int(np.prod(shape))
        with self._lock:
            if self._used + size > len(self._piece):
                self._piece = empty_on_lines(max(size, SHELF_BYTES // self.dtype.itemsize), dtype=self.dtype)
                self._used = 0
            begin, self._used = self._used, self._used + -(-size // LINE) * LINE
            return self._piece[begin : begin + size].reshape(shape)


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
        self._shelf = Shelf(dtype)

    def __getstate__(self) -> dict[str, Any]:
        """Travel empty: a worker elsewhere makes what it needs, and what it would keep does not outlive the product."""
        return self.__dict__ | {"keep": False, "_ready": {}, "_kept": {}, "_shelf": None}

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
        room = self._shelf.room(*out.shape) if self.keep else out
        with named_rows(*place):
            tile = to_host(self.placed.kernel.evaluate(left, right, out=room))
        if self.shift:
            np.subtract(tile, self.dtype.type(self.shift), out=tile)
        if self.keep:
            self._kept[place] = tile
        return tile


class Running:
    """What one worker carries from tile to tile: its sums, and buffers that are allocated once and do not travel."""

    def __init__(self, size: int, columns: int, dtype: np.dtype[Any]) -> None:
        self.total = np.zeros((size, columns))
        self.squares = 0.0
        self.dtype = dtype
        self.start = -1
        self.left: Prepared = None
        self.turned: HostArray | None = None
        self._buffers: dict[tuple[str, tuple[int, ...]], HostArray] = {}

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"start": -1, "left": None, "_buffers": {}, "turned": None}

    def buffer(self, use: str, *shape: int) -> HostArray:
        """Return an array of that shape to write into, the same one every time for one use."""
        key = (use, shape)
        if key not in self._buffers:
            self._buffers[key] = empty_on_lines(*shape, dtype=self.dtype)
        return self._buffers[key]

    def add(self, rows: slice, product: HostArray) -> None:
        """Add a product to the sums, in float64: in one call, as between calls workers wait for the interpreter."""
        self.total[rows] += product


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
        """Take in one pair of blocks."""
        columns = self.V.shape[1]
        state = Running(len(self.V), columns, self.tiles.dtype) if state is None else state
        i, j = _places(left), _places(right)
        a, b = i.stop - i.start, j.stop - j.start
        if state.start != left.start:
            state.start, state.left = left.start, self.tiles.ready(left)
            state.turned = turned_in_strips(self.V[i], b)
        tile = self.tiles.tile(state.left, (left, right), state.buffer("tile", a, b))
        state.add(i, product_in_strips(tile, self.V[j], out=state.buffer("product", a, columns)))
        if i.start != j.start and state.turned is not None:
            # Vectors as rows: the faster of the two ways to multiply by a transposed tile.
            parts, out = state.buffer("parts", len(state.turned), columns, b), state.buffer("turned", columns, b)
            state.add(j, turned_product(state.turned, tile, parts=parts, out=out).T)
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
        if state.start != left.start:
            state.start, state.left = left.start, self.tiles.ready(left)
        i, j = _places(left), _places(right)
        place = self.matrix[j, i].T
        # A tile that is the whole matrix is made where it belongs; any other has its rows apart there.
        room = place if place.flags.c_contiguous else state.buffer("tile", *place.shape)
        tile = self.tiles.tile(state.left, (left, right), room)
        if tile is not place:
            place[...] = tile
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
    """Return how many rows a block of a tile has: at most 528 or so, an odd number of cache lines of float32.

    Examples
    --------
    >>> tile_rows(100_000), tile_rows(1000), tile_rows(700), tile_rows(5)
    (528, 528, 368, 16)
    """
    even = -(-n // max(1, -(-n // TILE_ROWS)))
    return 16 * (-(-even // 16) | 1)


def _places(block: Block) -> slice:
    return slice(block.start, block.start + block.rows.shape[0])
