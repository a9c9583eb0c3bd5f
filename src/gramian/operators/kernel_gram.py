"""The n x n operator of kernel PCA, applied without the kernel matrix, and what its products are wrong by.

Two errors are measured, not assumed: that of kernel values rounded to float64 (:func:`values_rounding`), and that of a
product made of float32 tiles, foreseen at sampled rows and then confirmed on the product (:class:`SingleCheck`).
"""

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from gramian.arrays.namespace import (
    Array,
    HostArray,
    cast,
    from_host,
    gaussian,
    is_sparse,
    namespace_of,
    on_device,
    to_host,
)
from gramian.arrays.precision import FLOAT32, FLOAT64, eps_of
from gramian.arrays.squares import column_norms, completed
from gramian.errors import InputError
from gramian.features.sampling import draw_positions, host_rows_at
from gramian.kernels.blocks import named_rows, on_host, shifted, squared_norms
from gramian.kernels.centering import KernelCentering, RowWeights, center_kernel, center_matrix
from gramian.kernels.kernel import Kernel, Prepared
from gramian.operators.kernel_tiles import (
    FillMatrix,
    GatherTiles,
    PlacedKernel,
    TileProducts,
    Tiles,
    merge_running,
    tile_rows,
)
from gramian.operators.standardization import add
from gramian.operators.symmetric import DenseMatrix, Product, SymmetricOperator, small_value_weight
from gramian.sources.rows import Block, RowSource, add_each, left_of, ranges, rows_here

SAMPLED_ROWS = 128
"""Rows at which the error of a float32 product is measured: its norm is then known to about six percent."""

ROUNDING_CAUTION = 4.0
"""What the measured rounding of kernel values is multiplied by: float64 rounds unlike float32, a sample is a part."""


def values_rounding(
    source: RowSource, placed: PlacedKernel, *, whole: float, weight: float, centered: bool, seed: int
) -> float:
    """Return what rounding of the kernel values in float64 does to the centered matrix, in the spectral norm.

    Computes  caution eps / eps32 |P (K32 - K) P| T / t  between s sampled rows, T being the sum of k(x, x) over all
    rows and t over those: rounding grows through a kernel by the same factors in float32, where it can be measured, it
    is in proportion to  sqrt(k(x, x) k(y, y)),  and the worst is assumed of the rows that were not examined. At least
    eps |K|_F / sqrt(s) T / t: a value is rounded where it is stored, whatever made it. At least, too, what a kernel of
    differences changes by when rows are counted from one of them instead: where groups of rows lie so far apart that
    float32 tells nothing of their distances any more, that is what float64 has lost. The same between the farthest rows
    comes on top: a sample may miss the few that lose most.

    Cost: one pass to fetch the rows and one for their lengths, 200,000 kernel values. ``whole`` is T, ``weight`` the
    number of rows.
    """
    positions = draw_positions(source, 256, seed=seed)
    rows = host_rows_at(source, positions)
    with named_rows(positions, positions):
        K = placed.between(rows, rows)
    eps, seen = eps_of(FLOAT64), float(np.abs(np.diagonal(K)).sum())
    share = max(weight / max(len(K), 1), whole / seen if seen > 0 else 0.0)
    least = eps * share * float(np.linalg.norm(K) / np.sqrt(max(len(K), 1)))
    if placed.kernel.is_user_function:
        # A user's own function answers in float64 whatever it is asked: nothing can be measured.
        return ROUNDING_CAUTION * least
    E = _single_errors(placed, rows, K)
    if not np.isfinite(E).all():
        # Out of the range of float32: as if every value were wrong by some eps of the largest, all one way.
        return ROUNDING_CAUTION * 8 * eps * max(whole, weight * float(np.abs(K).max(initial=0.0)))
    moved = moved_errors(placed, rows, rows, K)
    if centered:
        E, moved = center_kernel(E), center_kernel(moved)
    coarse = eps / eps_of(FLOAT32) * rough_norm(E, seed)
    sampled = max(share * max(coarse, rough_norm(moved, seed)), least)
    return ROUNDING_CAUTION * (sampled + rough_norm(_farthest_errors(source, placed), seed))


def _farthest_errors(source: RowSource, placed: PlacedKernel) -> HostArray:
    """Return what K between the rows farthest from the origin changes by when they are counted from one of them."""
    if not any(leaf.shift_invariant for leaf in placed.kernel.leaves):
        return np.zeros((1, 1))
    lengths = rows_here(source.map_rows(partial(_lengths_of, placed.origin)))
    if source.weights is not None:
        weights = from_host(to_host(source.weights), like=lengths)
        lengths = namespace_of(lengths).where(weights > 0, lengths, -1.0)
    # A group of more rows is hardly missed by a sample, with a chance of e^-4 among 2,000 rows.
    farthest = np.sort(to_host(namespace_of(lengths).argsort(lengths)[-32:]))
    rows = host_rows_at(source, farthest)
    moved = moved_errors(placed, rows, rows, placed.between(rows, rows))
    if source.weights is None:
        return moved
    s = np.sqrt(to_host(source.weights)[farthest])
    return np.asarray(moved * np.outer(s, s))


def _lengths_of(origin: Any, block: Block) -> Array:
    rows = block.rows if on_device(block.rows) else on_host(block.rows)
    return squared_norms(shifted(rows, origin))


def moved_errors(placed: PlacedKernel, left: Any, right: Any, K: HostArray) -> HostArray:
    """Return what K between rows changes by when they are counted from one of them: that of median length on the left.

    Parts of a kernel that are not of the difference of two rows do not change.
    """
    if not any(leaf.shift_invariant for leaf in placed.kernel.leaves):
        return np.zeros_like(K)
    if placed.moves:
        placed = replace(placed, moves=False)
        K = placed.between(left, right)
    lengths = squared_norms(shifted(on_host(left), placed.origin))
    apart = np.flatnonzero(lengths > 0)
    if len(apart) == 0:
        return np.zeros_like(K)
    middle = apart[np.argsort(lengths[apart])[len(apart) // 2]]
    row = left[[middle]].toarray() if is_sparse(left) else to_host(left)[middle]
    moved: HostArray = replace(placed, origin=np.asarray(row, dtype=FLOAT64).ravel()).between(left, right)
    return moved - K


def _single_errors(placed: PlacedKernel, rows: Any, K: HostArray) -> HostArray:
    """Return K in float32 less K; nan where the range of float32 is too small."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            found: HostArray = placed.between(rows, rows, dtype=FLOAT32)
            return found.astype(FLOAT64) - K
    except InputError:
        return np.full_like(K, np.nan)


def rough_norm(E: Array, seed: int) -> float:
    """Return the spectral norm of a small symmetric matrix, to some percent, by ten steps of the power method."""
    v = gaussian((E.shape[0], 4), seed=seed, like=E)
    for _ in range(10):
        lengths = column_norms(v)
        v = E @ (v / from_host(np.where(lengths > 0, lengths, 1.0), like=v))
    return float(column_norms(v).max(initial=0.0))


class Sample(NamedTuple):
    """Sampled rows of a source.

    Attributes
    ----------
    positions : numpy array (s,)
    rows : array or CSR
        Twice as many, so that BLAS multiplies them as it does a tile.
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
    positions = draw_positions(source, 2 * SAMPLED_ROWS, seed=seed)
    rows = host_rows_at(source, positions)
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
        """Error of a product, relative to the largest eigenvalue; 1.25 is four times the spread of its measurement."""
        return 1.25 * (self._error or 0.0) / self.largest if self.largest > 0 else np.inf

    def foresee(self, V: HostArray, sample: Sample, shift: float) -> float:
        """Return the error that a float32 product of  (K - shift) V  would have, the first time from sampled rows."""
        if self._error is None:
            step = tile_rows(self.source.n_rows)
            # To foresee takes one tile of a row of K, twice. Among few tiles the float32 product itself costs little
            # more: it is made and confirmed.
            few = self.source.n_rows <= 16 * step
            coarse_rows = None if few else self.placed.prepare(sample.rows, dtype=FLOAT32)
            fold = CompareProducts(self.placed, (coarse_rows, sample.ready), (V.astype(FLOAT32), V), shift, step)
            coarse, exact = self.source.reduce(fold, add_each)
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


@dataclass(frozen=True, eq=False)
class CompareProducts:
    """Fold: the product (K - shift) V at sampled rows, in the tiles' own steps.

    As float32 tiles give it (r, c), and at the first of the rows as float64 does (s, c).
    """

    placed: PlacedKernel
    sampled: tuple[Prepared | None, Prepared]
    V: tuple[HostArray, HostArray]
    shift: float
    step: int

    def __call__(self, state: tuple[HostArray, ...] | None, block: Block) -> tuple[HostArray, ...]:
        """Take in one block of rows."""
        for part in ranges(block.rows.shape[0], self.step):
            rows = slice(block.start + part.start, block.start + part.stop)
            found = tuple(self._product(side, block.rows[part], rows) for side in (0, 1))
            state = found if state is None else add_each(state, found)
        assert state is not None  # noqa: S101 - a block has rows
        return state

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


READY_BYTES = 1 << 28
"""Prepared rows up to this size are kept between products."""


class Sums(NamedTuple):
    """What the first product leaves besides itself.

    Attributes
    ----------
    centering : KernelCentering
        The means of K.
    squares : float
        Sum of the squared eigenvalues of the operator, |A|_F^2.
    squares_error : float
        What that may be wrong by.
    """

    centering: KernelCentering
    squares: float
    squares_error: float


class KernelGram(SymmetricOperator):
    """The centered kernel matrix of the rows, applied without storing it.

    Computes  V -> P D K D (P V)  with  K_ij = k(x_i, x_j),  D = diag(sqrt w)  and  P = I - s s'/W,  s = sqrt w: without
    weights that is H K H. K is made in square tiles that stay in cache, each tile is used from both sides, and a source
    runs them in its workers. Centering costs no pass: P touches only vectors, the sums of the rows of K ride along as
    one more column of the first product, and  K - c  is multiplied instead of K (c being about its mean), which P does
    not see and which leaves smaller numbers to round.

    Cost of ``apply`` to k vectors: n^2 / 2 kernel values and 2 n^2 k operations (n^2 (d + 2 k) with the inner products
    of a Gaussian); n (k + 1) numbers per worker and the prepared rows, 2 n (d + 2). With ``keep``, n^2 / 2 numbers, and
    only the first product makes tiles.

    Not for small n: :meth:`materialize` and a dense solve are faster and prove more.

    Parameters
    ----------
    source : RowSource
        Finite rows; ``weights`` are repetitions.
    kernel : Kernel
        With numbers for parameters.
    origin : array (d,), optional
        A point near the rows, their mean as a rule: an offset then costs no digits.
    centered : bool, default=True
    accuracy : float, optional
        Error, relative to the largest eigenvalue, that counts as full precision; float64 when not given. float32 tiles
        are used where their error, measured at sampled rows in float64, is at most that.
    keep : bool, default=False
        Whether the tiles of the first product are kept for the next ones.
    seed : int, default=0
        Of the sampled rows.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.kernels import Gaussian
    >>> from gramian.sources import as_source
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> gram = KernelGram(as_source(X), Gaussian(0.5))
    >>> K, H = Gaussian(0.5)(X), np.eye(3) - 1 / 3
    >>> bool(np.allclose(gram.apply(np.eye(3)).values, H @ K @ H))
    True
    """

    def __init__(
        self,
        source: RowSource,
        kernel: Kernel,
        *,
        origin: Array | None = None,
        centered: bool = True,
        accuracy: float | None = None,
        keep: bool = False,
        seed: int = 0,
    ) -> None:
        self.source, self.kernel, self.centered = source, kernel, centered
        self.placed = PlacedKernel.of(kernel, origin, centered=centered)
        self.accuracy, self.keep, self.seed = accuracy, keep, seed
        self.size, self.dtype, self.is_psd = source.n_rows, FLOAT64, kernel.is_psd
        self.rows = RowWeights.of(self.size, source.weights)
        self.applications, self.error = 0, 4 * eps_of(FLOAT64)
        self.tile_rows = tile_rows(self.size)  # once: tiles that are kept have that size
        self._check = SingleCheck(source, self.placed, centered=centered)
        self._sums: Sums | None = None
        self._tiles: dict[np.dtype[Any], Tiles] = {}

    def apply(self, V: Array, *, accuracy: float | None = None) -> Product:
        """Return A V: half of the tiles of K, in the cheapest precision that meets ``accuracy``."""
        vectors = self.project(self._held(V))
        values, error = self._multiplied(self.rows.scaled(vectors), max(self.accuracy or 0.0, accuracy or 0.0))
        values = self.project(self.rows.scaled(values))
        self.error = max(self.error, error)
        self._notice(values, vectors)
        return Product(values, error)

    def _held(self, V: Array) -> Array:
        """Return vectors where products with them are made: on the host."""
        return to_host(cast(V, FLOAT64))

    def _multiplied(self, V: Array, asked: float) -> tuple[Array, float]:
        """Return (K - c) V in the cheapest precision that is ``asked`` for, and what it is wrong by."""
        values, error = self._single_products(V, asked)
        return (self._products(V, FLOAT64), 64 * eps_of(FLOAT64)) if values is None else (values, error)

    def project(self, V: Array) -> Array:
        """Return P V; V itself where nothing is centered."""
        return self.rows.project(V) if self.centered else V

    @property
    def sums(self) -> Sums:
        """Row means of K and the squared norm of A; a pass of their own where no product has been made."""
        if self._sums is None:
            self._products(np.zeros((self.size, 0)), FLOAT64)
        return self._sums  # type: ignore[return-value]

    @cached_property
    def diagonal(self) -> HostArray:
        """k(x, x) for every row, (n,), float64."""
        return to_host(rows_here(self.source.map_rows(partial(_diagonal_of, self.placed))))

    @property
    def shift(self) -> float:
        """The constant c that is taken off K: its mean over sampled rows, zero where nothing is centered."""
        return self.sample.mean if self.centered else 0.0

    @cached_property
    def sample(self) -> Sample:
        """Rows at which products are checked; drawn once."""
        return draw_sample(self.source, self.placed, seed=self.seed)

    @cached_property
    def rounding(self) -> float:
        """What A is wrong by because its kernel values are rounded to float64, in the spectral norm; measured once."""
        whole = self.rows.sum(np.abs(self.diagonal))
        about: dict[str, Any] = {"centered": self.centered, "weight": self.rows.total, "seed": self.seed}
        return values_rounding(self.source, self.placed, whole=whole, **about)

    def like(self) -> Array:
        """Return an empty NumPy array: vectors are on the host."""
        return np.empty((0, 0))

    def trace(self) -> float:
        """Return the sum of all eigenvalues:  sum w_i k(x_i, x_i)  less  W times the mean of K."""
        whole = self.rows.sum(self.diagonal)
        return whole - self.rows.total * self.sums.centering.grand_mean if self.centered else whole

    def materialize(self) -> DenseMatrix:
        """Form A in float64: n^2 / 2 kernel values, n^2 numbers."""
        self.applications += 1
        matrix = np.empty((self.size, self.size)).T
        self._fill(matrix)
        completed(matrix)
        centering = (
            center_matrix(matrix, self.rows)
            if self.centered
            else KernelCentering.from_means(self.rows.means(matrix), self.rows, centered=False)
        )
        if self.rows.weights is not None:
            matrix *= np.sqrt(np.outer(self.rows.weights, self.rows.weights))
        # The transpose lies in row order, which is how the products of its entries are summed: no copy is made of it.
        norm = float(np.vdot(matrix.T, matrix.T))
        if self._sums is None:
            self._sums = Sums(centering, norm, 64 * eps_of(FLOAT64) * norm)
        # Both triangles were centered, in another order of subtractions: one of them counts.
        completed(matrix)
        return DenseMatrix(matrix, error=eps_of(FLOAT64), is_psd=self.is_psd)

    def _fill(self, matrix: HostArray) -> None:
        """Write K to the lower triangle of a matrix on the host."""
        tiles = self._tiles.get(FLOAT64) or Tiles(self.placed, dtype=FLOAT64, shift=0.0, keep=False)
        pairs: dict[str, Any] = {"symmetric": True, "block_rows": self.tile_rows}
        if self.source.is_local:
            self.source.reduce_pairs(FillMatrix(tiles, matrix), left_of, **pairs)
        else:
            for i, j, tile in self.source.reduce_pairs(GatherTiles(tiles), add, **pairs):
                matrix[j : j + tile.shape[1], i : i + len(tile)] = tile.T

    def root(self, V: Array) -> HostArray | None:
        """Return ``None``: the factor lies in feature space."""
        del V
        return None

    def residual_weight(self, values: HostArray) -> HostArray:
        """Return 0.01 lambda_1 / lambda_i where that is above one: small values are found to their own size.

        Below 1e-6 lambda_1 nothing more is asked; in float64 below 1e-8: values that are almost zero are then known to
        1e-12 lambda_1 with the default tolerance.
        """
        return small_value_weight(values, least=1e-8 if self.accuracy is None else 1e-6)

    def _products(self, V: HostArray, dtype: np.dtype[Any]) -> HostArray:
        """Return (K - c) V, the sums of rows carried along the first time."""
        self.applications += 1
        first = self._sums is None
        tiles = self._tiles_of(dtype)
        W = np.empty((self.size, V.shape[1] + first), dtype)
        W[:, : V.shape[1]] = V
        if first:
            W[:, -1] = 1.0 if self.rows.weights is None else self.rows.weights
        fold = TileProducts(tiles, W, self.rows.weights, squares=first)
        running = self.source.reduce_pairs(fold, merge_running, symmetric=True, block_rows=self.tile_rows)
        if not first:
            return np.asarray(running.total)
        self._sums = self._summed(running.total[:, -1], running.squares, dtype)
        return np.asarray(running.total[:, :-1])

    def _summed(self, rows: HostArray, squares: float, dtype: np.dtype[Any]) -> Sums:
        """Turn the sums of the rows of K - c, and of its squares, into means of K and the norm of A."""
        means = rows / self.rows.total + self.shift
        norm = self.rows.centered_norm(squares, rows) if self.centered else squares
        # A sum of squares of one tile is rounded in its own type, thousands of entries to an accumulator.
        error = 256 * eps_of(dtype) * squares
        return Sums(KernelCentering.from_means(means, self.rows, centered=self.centered), max(norm, 0.0), error)

    def _tiles_of(self, dtype: np.dtype[Any]) -> Tiles:
        if dtype not in self._tiles:
            # A finer precision takes the place of a coarser one; the tiles of both need not be there at once.
            self._tiles.clear()
            ready = 2 * (self.source.n_columns + 2) * self.size * dtype.itemsize
            self._tiles[dtype] = Tiles(
                self.placed, dtype=dtype, shift=self.shift, keep=self.keep, keep_rows=ready <= READY_BYTES
            )
        return self._tiles[dtype]

    def _single_products(self, V: HostArray, asked: float) -> tuple[HostArray | None, float]:
        """Return (K - c) V from float32 tiles and what it is wrong by; ``None`` where that is not within ``asked``."""
        # float32 tiles are never accurate to 1e-8, and a user's function answers in float64 anyway.
        if asked < 1e-8 or self.kernel.is_user_function or FLOAT64 in self._tiles:
            return None, np.inf
        known = self._sums
        try:
            if self._check.foresee(V, self.sample, self.shift) > asked:
                return None, np.inf
            values = self._products(V, FLOAT32)
        except InputError:  # out of the range of float32
            self._sums = known
            return None, np.inf
        error = self._check.confirm(values, self.sample)
        if not error <= asked:
            self._sums = known  # made with values that are too coarse
            return None, np.inf
        return values, error

    def _notice(self, values: Array, vectors: Array) -> None:
        lengths, stretched = column_norms(vectors), column_norms(values)
        ratios = np.divide(stretched, lengths, out=np.zeros_like(stretched), where=lengths > 0)
        self._check.notice(float(ratios.max(initial=0.0)))


def _diagonal_of(placed: PlacedKernel, block: Block) -> HostArray:
    return placed.diagonal(block.rows)
