"""The operator of kernel PCA where rows live on a GPU: products are made there, and only small matrices leave it.

Tiles are made by :mod:`gramian.kernels.fused` where it can be used (a kernel that has a fused form, tensors, Triton),
else as arrays, one pair of blocks after the other. What a product is wrong by is measured on sampled rows, in float64,
when a precision is first used.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import isqrt
from typing import Any

import numpy as np

from gramian.arrays.namespace import (
    Array,
    HostArray,
    cast,
    device_of,
    free_bytes,
    from_host,
    is_torch,
    namespace_of,
    picked,
    to_host,
)
from gramian.arrays.precision import FLOAT32, FLOAT64, eps_of
from gramian.arrays.squares import column_norms
from gramian.errors import InputError
from gramian.features.sampling import draw_positions
from gramian.kernels.kernel import Prepared
from gramian.operators.kernel_gram import SAMPLED_ROWS, KernelGram
from gramian.operators.kernel_tiles import PlacedKernel
from gramian.sources.rows import all_rows, ranges

LARGEST_TILE = 1 << 14
"""Rows of a tile that is an array, at most: 2 GB in float64."""


class DeviceKernelGram(KernelGram):
    """The centered kernel matrix of rows on a device: as :class:`KernelGram`, with vectors on that device.

    Cost of ``apply`` to k vectors: n^2 kernel values, made once for every 64 columns, and 2 n^2 (d + k) operations in
    float16, three times as many of those that need both parts of their numbers; no memory but 4 n d bytes and vectors.
    """

    @cached_property
    def rows_there(self) -> Array:
        """All rows, as one array on the device."""
        return all_rows(self.source)

    @cached_property
    def placed_there(self) -> PlacedKernel:
        """The kernel with its origin on the device."""
        return self.placed.on(self.like())

    @cached_property
    def finest(self) -> "BlockTiles":
        """The most accurate way to make products."""
        return BlockTiles(self.placed_there, self.rows_there, FLOAT64)

    @cached_property
    def tiles(self) -> list["Tiles"]:
        """Ways to make products, from the cheapest to the most accurate."""
        fused = _fused_tiles(self.placed_there, self.rows_there)
        rough: list[Tiles] = [BlockTiles(self.placed_there, self.rows_there, FLOAT32)] if fused is None else fused
        return [*rough, self.finest]

    def like(self) -> Array:
        """Return an empty float64 array on the device."""
        return cast(self.source.like(), FLOAT64)

    def against(self, points: Array, V: Array) -> Array:
        """Return (K - c) V, K between all rows and some points, with an error like that of float32."""
        tiles = self.tiles[min(1, len(self.tiles) - 1)]
        return tiles.multiply(tiles.all_rows, tiles.prepared(points), V, shift=self.shift)[0]

    def _held(self, V: Array) -> Array:
        return cast(V, FLOAT64)

    def _multiplied(self, V: Array, asked: float) -> tuple[Array, float]:
        """Return (K - c) V in the cheapest way that is good enough; the first product carries the sums of the rows."""
        self.applications += 1
        first = self._sums is None
        xp = namespace_of(V)
        weights = None
        if first:
            asked = self.accuracy or 0.0  # a coarse product would give coarse means
            ones = np.ones(self.size) if self.rows.weights is None else self.rows.weights
            weights = from_host(ones, like=V, dtype=FLOAT64)
        tiles = self._cheapest(V, asked)
        W = V if weights is None else xp.concat([V, weights[:, None]], axis=1)
        values, squares = tiles.multiply(tiles.all_rows, tiles.all_rows, W, shift=self.shift, weights=weights)
        if weights is not None:
            total = float((squares * weights).sum())
            self._sums = self._summed(to_host(values[:, -1]), total, tiles.dtype)
            values = values[:, :-1]
        return values, self._error_of(tiles)

    def _products(self, V: HostArray, dtype: np.dtype[Any]) -> HostArray:
        """Make a product for the sums alone."""
        del dtype
        found: HostArray = self._multiplied(from_host(V, like=self.like()), self.accuracy or 0.0)[0]
        return found

    def _cheapest(self, V: Array, asked: float) -> "Tiles":
        rough = self.tiles[:-1]
        # Nothing but float64 is accurate to 1e-8, and float16 never to 1e-4.
        for tiles in rough if asked >= 1e-8 and V.shape[1] > 0 else ():
            if tiles.best > asked:
                continue
            if tiles.error is None:
                tiles.error = self._measured(tiles, V)
            if self._error_of(tiles) <= asked:
                return tiles
        return self.finest

    def _error_of(self, tiles: "Tiles") -> float:
        if tiles.dtype == FLOAT64:
            return 64 * eps_of(FLOAT64)
        return 1.25 * (tiles.error or 0.0) / self._check.largest if self._check.largest > 0 else np.inf

    def _measured(self, tiles: "Tiles", V: Array) -> float:
        """Return the norm of what a product with unit vectors is wrong by, from sampled rows in float64."""
        positions = draw_positions(self.source, SAMPLED_ROWS, seed=self.seed)
        points, finest = picked(self.rows_there, positions), self.finest
        exact, _ = finest.multiply(finest.prepared(points), finest.all_rows, V, shift=self.shift)
        try:
            found, _ = tiles.multiply(tiles.prepared(points), tiles.all_rows, V, shift=self.shift)
        except InputError:  # out of the range of float32
            return np.inf
        norms = column_norms(V)
        stretch: HostArray = np.sqrt(self.size / len(positions)) / np.where(norms > 0, norms, 1.0)
        within = exact - namespace_of(exact).mean(exact, axis=0) if self.centered else exact
        self._check.notice(float((column_norms(within) * stretch).max(initial=0.0)))
        wrong = float((column_norms(found - exact) * stretch).max(initial=0.0))
        return wrong if np.isfinite(wrong) else np.inf

    def _fill(self, matrix: HostArray) -> None:
        step = self.finest.step
        for i in ranges(self.size, step):
            for j in ranges(i.stop, step):
                matrix[i, j] = self.placed_there.between(self.rows_there[i, :], self.rows_there[j, :])


class Tiles(ABC):
    """One way to make products of K between two sets of rows with vectors.

    Attributes
    ----------
    dtype : numpy.dtype
        Precision of the kernel values.
    best : float
        Error below which this way never gets.
    error : float or None
        Measured, in the norm of unit vectors; ``None`` before.
    """

    dtype: np.dtype[Any]
    best = 0.0
    error: float | None = None

    @property
    @abstractmethod
    def all_rows(self) -> Any:
        """The rows of the fit, prepared."""

    @abstractmethod
    def prepared(self, points: Array) -> Any:
        """Return other rows prepared."""

    @abstractmethod
    def multiply(
        self, left: Any, right: Any, V: Array, *, shift: float, weights: Array | None = None
    ) -> tuple[Array, Array]:
        """Return (K - shift) V in float64, and with ``weights`` the weighted sums of squares of the rows of that."""


class FusedTiles(Tiles):
    """Tiles made on the chip and used there."""

    dtype = FLOAT32

    def __init__(self, placed: PlacedKernel, form: Any, rows: Any, precision: Any) -> None:
        self.placed, self.form, self.rows, self.precision = placed, form, rows, precision
        self.best = 1e-4 if precision == 0 else 1e-8

    @property
    def all_rows(self) -> Any:
        """The rows of the fit in two parts."""
        return self.rows

    def prepared(self, points: Array) -> Any:
        """Return rows in two parts."""
        from gramian.kernels import fused

        return fused.prepare(points, self.form, self.placed.origin)

    def multiply(
        self, left: Any, right: Any, V: Array, *, shift: float, weights: Array | None = None
    ) -> tuple[Array, Array]:
        """Return the product of one launch for each 64 columns."""
        from gramian.kernels import fused

        return fused.multiply(left, right, V, self.form, precision=self.precision, shift=shift, weights=weights)


def _fused_tiles(placed: PlacedKernel, rows: Array) -> list[Tiles] | None:
    form = placed.kernel.fused_form(rows.shape[1])
    if form is None or not is_torch(rows):
        return None
    try:
        from gramian.kernels import fused
    except ImportError:  # no Triton
        return None
    form = replace(form, about_origin=form.about_origin or placed.moves)
    ready = fused.prepare(rows, form, placed.origin)
    return [FusedTiles(placed, form, ready, precision) for precision in fused.Precision]


@dataclass(eq=False)
class BlockTiles(Tiles):
    """Tiles as arrays: a block of rows on the left, one on the right, and so on; of all rows each is used twice."""

    placed: PlacedKernel
    rows: Array
    dtype: np.dtype[Any]

    @property
    def step(self) -> int:
        """Rows of a block: a tile and what is made of it fit into half of what is free."""
        return max(256, min(LARGEST_TILE, isqrt(free_bytes(self.rows) // 64)))

    @property
    def all_rows(self) -> Any:
        """The rows as they are: they are prepared a block at a time."""
        return self.rows

    def prepared(self, points: Array) -> Any:
        """Return rows as they are, for products; see :attr:`all_rows`."""
        return points

    def multiply(
        self, left: Any, right: Any, V: Array, *, shift: float, weights: Array | None = None
    ) -> tuple[Array, Array]:
        """Return the product, summed over tiles in float64."""
        xp, V, step = namespace_of(V), cast(V, self.dtype), self.step
        n, twice = left.shape[0], left is right
        like = cast(V[:0, :0], FLOAT64)
        products = xp.zeros((n, V.shape[1]), dtype=like.dtype, **device_of(V))
        squares = xp.zeros((n if weights is not None else 0,), dtype=like.dtype, **device_of(V))
        mine = self._blocks(left)
        other = mine if twice else self._blocks(right)
        for i in ranges(n, step):
            for j in ranges(right.shape[0], step):
                if twice and j.start < i.start:
                    continue
                mirrored = twice and i != j
                tile = self.placed.kernel.evaluate(mine(i.start), other(j.start)) - shift
                products[i, :] += cast(tile @ V[j, :], FLOAT64)
                if mirrored:
                    products[j, :] += cast(tile.T @ V[i, :], FLOAT64)
                if weights is not None:
                    tile = cast(tile * tile, FLOAT64)
                    squares[i] += tile @ weights[j]
                    if mirrored:
                        squares[j] += tile.T @ weights[i]
        return products, squares

    def _blocks(self, rows: Array) -> Callable[[int], Prepared]:
        """Return what prepares the block of rows that begins somewhere, once where all of them fit."""
        step, (n, d) = self.step, rows.shape

        def block(start: int) -> Prepared:
            return self.placed.prepare(rows[start : start + step, :], dtype=self.dtype)

        return lru_cache(None if 64 * n * (d + 2) <= free_bytes(rows) else 1)(block)


def strip_squares(gram: DeviceKernelGram, points: Array) -> tuple[Array, Array]:
    """Return C'C (m, m) and C'w (m,), C = D (K - c) between all rows and m points, in float64 on the device.

    Cost: n m kernel values and 2 n m^2 operations in float64.
    """
    placed, rows = gram.placed_there, gram.rows_there
    ready, m = placed.prepare(points, dtype=FLOAT64), points.shape[0]
    xp = namespace_of(rows)
    like = gram.like()
    squares = xp.zeros((m, m), dtype=like.dtype, **device_of(like))
    sums = xp.zeros((m,), dtype=like.dtype, **device_of(like))
    roots = None if gram.rows.weights is None else from_host(np.sqrt(gram.rows.weights), like=like)
    for part in ranges(rows.shape[0], max(1024, min(1 << 17, free_bytes(rows) // (64 * m)))):
        C = placed.kernel.evaluate(placed.prepare(rows[part, :], dtype=FLOAT64), ready) - gram.shift
        if roots is not None:
            C = C * roots[part, None]
        squares += C.T @ C
        sums += xp.sum(C, axis=0) if roots is None else roots[part] @ C
    return squares, sums
