"""The n x n operator of kernel PCA, applied without the kernel matrix."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gramian.arrays.namespace import Array, HostArray, cast, to_host
from gramian.arrays.precision import FLOAT32, FLOAT64, eps_of
from gramian.arrays.products import empty_on_lines
from gramian.arrays.squares import completed
from gramian.errors import InputError
from gramian.kernels.kernel import Kernel
from gramian.operators.factor import add
from gramian.operators.held import HeldMatrix
from gramian.operators.held_kernel import small_value_amplification
from gramian.operators.kernel_centering import center_matrix
from gramian.operators.kernel_precision import Sample, SingleCheck, draw_sample, values_rounding
from gramian.operators.kernel_tiles import (
    FillMatrix,
    GatherTiles,
    PlacedKernel,
    TileProducts,
    Tiles,
    merge_running,
    tile_rows,
)
from gramian.operators.symmetric import Product, SymmetricOperator
from gramian.sources.rows import Block, RowSource, rows_here

SINGLE_FLOOR = 1e-8
"""Relative accuracy below which float32 tiles are not even tried."""

DOUBLE_ERROR = 64 * eps_of(FLOAT64)
"""Error of a product in float64, relative to the largest eigenvalue."""

READY_BYTES = 1 << 28
"""Prepared rows up to this size are kept between products."""


class Sums(NamedTuple):
    """What the first product leaves besides itself.

    Attributes
    ----------
    row_means : numpy array (n,)
        K w / W: the mean of each row of K, rows counted by their weights.
    grand_mean : float
        Of all of K.
    squares : float
        Sum of the squared eigenvalues of the operator, |A|_F^2.
    squares_error : float
        What that may be wrong by.
    """

    row_means: HostArray
    grand_mean: float
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
    of a Gaussian); n (k + 1) numbers a worker and the prepared rows, 2 n (d + 2). With ``keep``, n^2 / 2 numbers, and
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
        self.weights = None if source.weights is None else to_host(source.weights).astype(FLOAT64)
        self.total_weight = float(self.size) if self.weights is None else float(self.weights.sum())
        self.applications, self.error = 0, 4 * eps_of(FLOAT64)
        self._check = SingleCheck(source, self.placed, centered=centered)
        self._sums: Sums | None = None
        self._diagonal: HostArray | None = None
        self._tiles: dict[np.dtype[Any], Tiles] = {}
        self._sample: Sample | None = None
        self._rounding: float | None = None

    def apply(self, V: Array, *, accuracy: float | None = None) -> Product:
        """Return A V: half of the tiles of K, in the cheapest precision that meets ``accuracy``."""
        vectors = self.project(to_host(cast(V, FLOAT64)))
        scaled = vectors if self.weights is None else vectors * np.sqrt(self.weights)[:, None]
        asked = max(self.accuracy or 0.0, accuracy or 0.0)
        values, error = self._single_products(scaled, asked)
        if values is None:
            values, error = self._products(scaled, FLOAT64), DOUBLE_ERROR
        if self.weights is not None:
            values *= np.sqrt(self.weights)[:, None]
        values = self.project(values)
        self.error = max(self.error, error)
        self._notice(values, vectors)
        return Product(values, error)

    def project(self, V: HostArray) -> HostArray:
        """Return P V; V itself where nothing is centered."""
        if not self.centered:
            return V
        if self.weights is None:
            return np.asarray(V - V.mean(axis=0))
        s = np.sqrt(self.weights)
        return np.asarray(V - np.outer(s, s @ V / self.total_weight))

    @property
    def sums(self) -> Sums:
        """Row means of K and the squared norm of A; a pass of their own where no product has been made."""
        if self._sums is None:
            self._products(np.zeros((self.size, 0)), FLOAT64)
        return self._sums  # type: ignore[return-value]

    @property
    def diagonal(self) -> HostArray:
        """k(x, x) for every row, (n,), float64."""
        if self._diagonal is None:
            self._diagonal = to_host(rows_here(self.source.map_rows(partial(_diagonal_of, self.placed))))
        return self._diagonal

    @property
    def shift(self) -> float:
        """The constant c that is taken off K: its mean over sampled rows, zero where nothing is centered."""
        return self.sample.mean if self.centered else 0.0

    @property
    def sample(self) -> Sample:
        """Rows at which products are checked; drawn once."""
        if self._sample is None:
            self._sample = draw_sample(self.source, self.placed, seed=self.seed)
        return self._sample

    @property
    def rounding(self) -> float:
        """What A is wrong by because its kernel values are rounded to float64, in the spectral norm; measured once."""
        if self._rounding is None:
            self._rounding = self.rounding_of(self.source)()
        return self._rounding

    def rounding_of(self, rows: RowSource) -> Callable[[], float]:
        """Return what measures ``rounding`` on the rows of the operator, or on a copy of them that can be kept."""
        sizes = np.abs(self.diagonal)
        whole = float(sizes.sum() if self.weights is None else self.weights @ sizes)
        about: dict[str, Any] = {"centered": self.centered, "weight": self.total_weight, "seed": self.seed}
        return partial(values_rounding, rows, self.placed, whole=whole, **about)

    def like(self) -> Array:
        """Return an empty NumPy array: vectors are on the host."""
        return np.empty((0, 0))

    def trace(self) -> float:
        """Return the sum of all eigenvalues:  sum w_i k(x_i, x_i)  less  W times the mean of K."""
        whole = float(self.diagonal.sum() if self.weights is None else self.weights @ self.diagonal)
        return whole - self.total_weight * self.sums.grand_mean if self.centered else whole

    def materialize(self) -> HeldMatrix:
        """Form A in float64: n^2 / 2 kernel values, n^2 numbers."""
        self.applications += 1
        matrix = empty_on_lines(self.size, self.size, dtype=FLOAT64).T
        tiles = self._tiles.get(FLOAT64) or Tiles(self.placed, dtype=FLOAT64, shift=0.0, keep=False)
        step = tile_rows(self.size)
        if self.source.is_local:
            self.source.reduce_pairs(FillMatrix(tiles, matrix), _first, symmetric=True, block_rows=step)
        else:
            for i, j, tile in self.source.reduce_pairs(GatherTiles(tiles), add, symmetric=True, block_rows=step):
                matrix[j : j + tile.shape[1], i : i + len(tile)] = tile.T
        completed(matrix)
        means, grand = center_matrix(matrix, self.weights, centered=self.centered)
        # The transpose lies in row order, which is how the products of its entries are summed: no copy is made of it.
        norm = float(np.vdot(matrix.T, matrix.T))
        if self._sums is None:
            self._sums = Sums(means + tiles.shift, grand + tiles.shift, norm, 64 * eps_of(FLOAT64) * norm)
        # Both triangles were centered, in another order of subtractions: one of them counts.
        completed(matrix)
        return HeldMatrix(matrix, error=eps_of(FLOAT64), is_psd=self.is_psd)

    def root(self, V: Array) -> HostArray | None:
        """Return ``None``: the factor lies in feature space."""
        del V
        return None

    def cost(self, k: int) -> float:
        """Return the operations of a product with ``k`` vectors, a kernel value counting as 2 d + 16."""
        d = self.source.n_entries / max(self.size, 1)
        return self.size**2 * (d + 8.0 + 2.0 * k)

    def amplification(self, values: HostArray) -> HostArray:
        """Return 0.01 lambda_1 / lambda_i where that is above one: small values are found to their own size.

        Below 1e-6 lambda_1 nothing more is asked; in float64 below 1e-8: values that are almost zero are then known to
        1e-12 lambda_1 with the house's tolerance.
        """
        return small_value_amplification(values, least=1e-8 if self.accuracy is None else 1e-6)

    def _products(self, V: HostArray, dtype: np.dtype[Any]) -> HostArray:
        """Return (K - c) V, the sums of rows carried along the first time."""
        self.applications += 1
        first = self._sums is None
        tiles = self._tiles_of(dtype)
        W = empty_on_lines(self.size, V.shape[1] + first, dtype=dtype)
        W[:, : V.shape[1]] = V
        if first:
            W[:, -1] = 1.0 if self.weights is None else self.weights
        fold = TileProducts(tiles, W, self.weights, squares=first)
        step = tile_rows(self.size)
        running = self.source.reduce_pairs(fold, merge_running, symmetric=True, block_rows=step)
        if not first:
            return np.asarray(running.total)
        self._sums = self._summed(running.total[:, -1], running.squares, dtype)
        return np.asarray(running.total[:, :-1])

    def _summed(self, rows: HostArray, squares: float, dtype: np.dtype[Any]) -> Sums:
        """Turn the sums of the rows of K - c, and of its squares, into means of K and the norm of A."""
        W, w = self.total_weight, np.ones(self.size) if self.weights is None else self.weights
        norm = squares
        if self.centered:
            # |P M P|^2 = |M|^2 - 2 |M s|^2 / W + (s'M s)^2 / W^2,  M = D (K - c) D.
            norm = squares - 2 * float(w @ rows**2) / W + float(w @ rows) ** 2 / W**2
        means = rows / W + self.shift
        # A sum of squares of one tile is rounded in its own type, thousands of entries to an accumulator.
        return Sums(means, float(w @ means) / W, max(norm, 0.0), 256 * eps_of(dtype) * squares)

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
        if asked < SINGLE_FLOOR or self.kernel_is_slow or FLOAT64 in self._tiles:
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

    @property
    def kernel_is_slow(self) -> bool:
        """Whether float32 tiles are no faster: a user's own function answers in float64."""
        return self.kernel.name.startswith("own")

    def _notice(self, values: HostArray, vectors: HostArray) -> None:
        lengths = np.einsum("ij,ij->j", vectors, vectors)
        stretched = np.einsum("ij,ij->j", values, values)
        ratios = np.divide(stretched, lengths, out=np.zeros_like(stretched), where=lengths > 0)
        self._check.notice(float(np.sqrt(ratios.max(initial=0.0))))


def _diagonal_of(placed: PlacedKernel, block: Block) -> HostArray:
    return placed.diagonal(block.rows)


def _first(left: Any, _right: Any) -> Any:
    return left
