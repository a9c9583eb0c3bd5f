"""What a float32 product with a kernel matrix is wrong by: foreseen at sampled rows, then confirmed on the product."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gramian.arrays.namespace import HostArray, to_host
from gramian.arrays.precision import FLOAT32, FLOAT64, eps_of
from gramian.errors import InputError
from gramian.features.sampling import draw_positions, take_rows
from gramian.kernels.blocks import shifted, squared_norms
from gramian.kernels.kernel import Prepared
from gramian.kernels.naming import named_rows
from gramian.operators.kernel_tiles import PlacedKernel, tile_rows
from gramian.sources.rows import Block, RowSource, ranges, rows_here

SAMPLED_ROWS = 128
"""Rows at which the error of a float32 product is measured: its norm is then known to about six percent."""

FEW_TILES = 16
"""Tiles in a row of K up to which the error of a float32 product is not foreseen, only confirmed: to foresee it takes
one of them, twice."""

CAUTION = 1.25
"""What a measured error is multiplied by: four times the spread of its measurement."""


ROUNDED_ROWS = 256
"""Rows between which the rounding of kernel values is measured."""

FARTHEST_ROWS = 32
"""Rows, the farthest ones, between which it is measured too: a group of more is hardly missed by the others, with a
chance of e^-4 among 2,000 rows."""

ROUNDING_CAUTION = 4.0
"""What that rounding is multiplied by: float64 rounds otherwise than float32 does, and a sample is not the whole."""


def values_rounding(
    source: RowSource, placed: PlacedKernel, *, whole: float, weight: float, centered: bool, seed: int
) -> float:
    """Return what rounding of the kernel values in float64 does to the centered matrix, in the spectral norm.

    Computes  caution eps / eps32 |P (K32 - K) P| T / t  between s sampled rows, T being the sum of k(x, x) over all
    rows and t over those: rounding grows through a kernel by the same factors in float32, where it can be measured, it
    is in proportion to  sqrt(k(x, x) k(y, y)),  and the worst is assumed of the rows that were not looked at. At least
    eps |K|_F / sqrt(s) T / t: a value is rounded where it is stored, whatever made it. At least, too, what a kernel of
    differences changes by when rows are counted from one of them instead: where groups of rows lie so far apart that
    float32 tells nothing of their distances any more, that is what float64 has lost. The same between the farthest rows
    comes on top: a sample may miss the few that lose most.

    Cost: one pass to fetch the rows and one for their lengths, 200,000 kernel values. ``whole`` is T, ``weight`` the
    number of rows.
    """
    positions = draw_positions(source, ROUNDED_ROWS, seed=seed)
    rows = take_rows(source, positions)
    with named_rows(positions, positions):
        K = placed.between(rows, rows)
    eps, seen = eps_of(FLOAT64), float(np.abs(np.diagonal(K)).sum())
    share = max(weight / max(len(K), 1), whole / seen if seen > 0 else 0.0)
    least = eps * share * float(np.linalg.norm(K) / np.sqrt(max(len(K), 1)))
    if placed.kernel.name.startswith("own"):
        # A user's own function answers in float64 whatever it is asked: nothing can be measured.
        return ROUNDING_CAUTION * least
    E = _single_errors(placed, rows, K)
    if not np.isfinite(E).all():
        # Out of the range of float32: as if every value were wrong by some eps of the largest, all one way.
        return ROUNDING_CAUTION * 8 * eps * max(whole, weight * float(np.abs(K).max(initial=0.0)))
    moved = moved_errors(placed, rows, rows, K)
    if centered:
        E, moved = _centered(E), _centered(moved)
    coarse = eps / eps_of(FLOAT32) * rough_norm(E, seed)
    sampled = max(share * max(coarse, rough_norm(moved, seed)), least)
    return ROUNDING_CAUTION * (sampled + rough_norm(_farthest_errors(source, placed), seed))


def _farthest_errors(source: RowSource, placed: PlacedKernel) -> HostArray:
    """Return what K between the rows farthest from the origin changes by when they are counted from one of them."""
    if not any(leaf.shift_invariant for leaf in placed.kernel.leaves):
        return np.zeros((1, 1))
    lengths = to_host(rows_here(source.map_rows(partial(_lengths_of, placed.origin))))
    if source.weights is not None:
        lengths = np.where(to_host(source.weights) > 0, lengths, -1.0)
    farthest = np.sort(np.argsort(lengths)[-FARTHEST_ROWS:])
    rows = take_rows(source, farthest)
    moved = moved_errors(placed, rows, rows, placed.between(rows, rows))
    if source.weights is None:
        return moved
    s = np.sqrt(to_host(source.weights)[farthest])
    return np.asarray(moved * np.outer(s, s))


def _lengths_of(origin: Any, block: Block) -> HostArray:
    return squared_norms(shifted(block.rows if hasattr(block.rows, "indptr") else to_host(block.rows), origin))


def _centered(E: HostArray) -> HostArray:
    E = E - E.mean(axis=0)
    return np.asarray(E - E.mean(axis=1)[:, None])


def moved_errors(placed: PlacedKernel, left: Any, right: Any, K: HostArray) -> HostArray:
    """Return what K between rows changes by when they are counted from one of them: that of median length on the left.

    Parts of a kernel that are not of the difference of two rows do not change.
    """
    if not any(leaf.shift_invariant for leaf in placed.kernel.leaves):
        return np.zeros_like(K)
    if placed.moves:
        placed = replace(placed, moves=False)
        K = placed.between(left, right)
    lengths = squared_norms(shifted(left if hasattr(left, "indptr") else to_host(left), placed.origin))
    apart = np.flatnonzero(lengths > 0)
    if len(apart) == 0:
        return np.zeros_like(K)
    middle = apart[np.argsort(lengths[apart])[len(apart) // 2]]
    row = left[[middle]].toarray() if hasattr(left, "indptr") else to_host(left)[middle]
    return replace(placed, origin=np.asarray(row, dtype=FLOAT64).ravel()).between(left, right) - K


def _single_errors(placed: PlacedKernel, rows: Any, K: HostArray) -> HostArray:
    """Return K in float32 less K; nan where the range of float32 is too small."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            return placed.between(rows, rows, dtype=FLOAT32).astype(FLOAT64) - K
    except InputError:
        return np.full_like(K, np.nan)


def rough_norm(E: HostArray, seed: int) -> float:
    """Return the spectral norm of a small symmetric matrix, to some percent, by ten steps of the power method."""
    v = np.random.default_rng(seed).standard_normal((len(E), 4))
    for _ in range(10):
        lengths = np.sqrt(np.einsum("ij,ij->j", v, v))
        v = E @ (v / np.where(lengths > 0, lengths, 1.0))
    return float(np.sqrt(np.einsum("ij,ij->j", v, v).max(initial=0.0)))


class Sample(NamedTuple):
    """Sampled rows of a source.

    Attributes
    ----------
    positions : numpy array (s,)
    rows : array or CSR
        As many rows as a tile has, so that BLAS sums as it does there.
    ready : Prepared
        The first s of them, in float64: the ones that are checked.
    mean : float
        Of K between the s rows; a float32 number.
    """

    positions: HostArray
    rows: Any
    ready: Prepared
    mean: float


def draw_sample(source: RowSource, placed: PlacedKernel, *, seed: int) -> Sample:
    """Draw rows by their weights and make them ready: one pass."""
    positions = draw_positions(source, tile_rows(source.n_rows), seed=seed)
    rows = take_rows(source, positions)
    with named_rows(positions, positions):
        ready = placed.prepare(rows[:SAMPLED_ROWS], dtype=FLOAT64)
        mean = float(to_host(placed.kernel.evaluate(ready, ready)).mean())
    return Sample(positions[:SAMPLED_ROWS], rows, ready, float(np.float32(mean)) if abs(mean) < 1e30 else 0.0)


class SingleCheck:
    """The error of float32 products, measured once, where a kernel is first applied.

    The first vectors are leading ones, along which the errors of a row add up; later ones fare no worse.

    Attributes
    ----------
    largest : float
        The largest eigenvalue as far as it is known, from below: errors are relative to it.
    """

    def __init__(self, source: RowSource, placed: PlacedKernel, *, centered: bool) -> None:
        self.source, self.placed, self.centered = source, placed, centered
        self.largest = 0.0
        self._error: float | None = None
        self._exact: HostArray | None = None
        self._stretch = np.zeros(0)

    @property
    def error(self) -> float:
        """Error of a product, relative to the largest eigenvalue."""
        return CAUTION * (self._error or 0.0) / self.largest if self.largest > 0 else np.inf

    def foresee(self, V: HostArray, sample: Sample, shift: float) -> float:
        """Return the error that a float32 product of  (K - shift) V  would have, the first time from sampled rows."""
        if self._error is None:
            step = tile_rows(self.source.n_rows)
            # Among few rows the float32 product itself costs little more than looking ahead: it is made and confirmed.
            few = self.source.n_rows <= FEW_TILES * step
            coarse_rows = None if few else self.placed.prepare(sample.rows, dtype=FLOAT32)
            fold = CompareProducts(self.placed, (coarse_rows, sample.ready), (V.astype(FLOAT32), V), shift, step)
            coarse, exact = self.source.reduce(fold, merge_comparisons)
            norms = np.sqrt(np.einsum("ij,ij->j", V, V))
            self._stretch = np.sqrt(len(V) / len(exact)) / np.where(norms > 0, norms, 1.0)
            within = exact - exact.mean(axis=0) if self.centered else exact
            self.notice(float((np.linalg.norm(within, axis=0) * self._stretch).max(initial=0.0)))
            self._error, self._exact = 0.0 if few else self._norm(coarse[: len(exact)] - exact), exact
        return self.error

    def confirm(self, product: HostArray, sample: Sample) -> float:
        """Return the error of a product that was foreseen, now that it is there."""
        if self._exact is not None:
            self._error = float(np.maximum(self._error or 0.0, self._norm(product[sample.positions] - self._exact)))
            self._exact = None
        return self.error

    def notice(self, stretched: float) -> None:
        """Remember how far a unit vector has been stretched: the largest eigenvalue is at least that."""
        self.largest = max(self.largest, stretched)

    def _norm(self, difference: HostArray) -> float:
        return float((np.linalg.norm(difference, axis=0) * self._stretch).max(initial=0.0))


class Comparison(NamedTuple):
    """A product at sampled rows, as float32 tiles give it (r, c), and at the first of them as float64 does (s, c)."""

    coarse: HostArray
    exact: HostArray


@dataclass(frozen=True, eq=False)
class CompareProducts:
    """Fold: the product (K - shift) V at sampled rows, in float32 and in float64, in the tiles' own steps."""

    placed: PlacedKernel
    sampled: tuple[Prepared | None, Prepared]
    V: tuple[HostArray, HostArray]
    shift: float
    step: int

    def __call__(self, state: Comparison | None, block: Block) -> Comparison:
        """Take in one block of rows."""
        for part in ranges(block.rows.shape[0], self.step):
            rows = slice(block.start + part.start, block.start + part.stop)
            sums = [self._product(side, block.rows[part], rows) for side in (0, 1)]
            state = Comparison(*sums) if state is None else Comparison(state.coarse + sums[0], state.exact + sums[1])
        return state if state is not None else Comparison(np.zeros((0, 0)), np.zeros((0, 0)))

    def _product(self, side: int, block: Any, rows: slice) -> HostArray:
        V = self.V[side][rows]
        sampled = self.sampled[side]
        if sampled is None:
            return np.zeros((0, V.shape[1]))
        left = self.placed.prepare(block, dtype=V.dtype)
        tile = to_host(self.placed.kernel.evaluate(left, sampled))
        tile = np.subtract(tile, V.dtype.type(self.shift), out=tile if tile.flags.writeable else None)
        # Vectors as rows, as in a product: for a few columns BLAS sums the other way round with less error.
        return np.asarray(np.ascontiguousarray(V.T) @ tile, dtype=FLOAT64).T


def merge_comparisons(left: Comparison, right: Comparison) -> Comparison:
    """Add two partial products."""
    return Comparison(left.coarse + right.coarse, left.exact + right.exact)
