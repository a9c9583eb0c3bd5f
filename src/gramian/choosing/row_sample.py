"""A bounded sample of centered rows, for rules that must look at the rows themselves."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from gramian.arrays.namespace import HostArray, device_of, is_numpy, namespace_of, to_host
from gramian.choosing.spectrum import Values
from gramian.sources.rows import Block, RowSource

MAX_ENTRIES = 6_000_000
"""Numbers in a sample: 24 MB in float32. 10,000 x 500 is taken whole."""

MAX_SIDE = 600
"""Length of the shorter side: products and eigenvalues of that size take hundredths of a second."""


@dataclass(frozen=True, eq=False)
class RowSample:
    """Some rows and columns of the centered table, in float32 and in a unit of their own.

    Attributes
    ----------
    rows : numpy array (a, c)
        Centered, scaled, times the square root of the weights, divided by the largest entry.
    scores : numpy array (a, k)
        The same rows (all columns) times the components, in the same unit.
    loadings : numpy array (k, c)
        The components at the sampled columns.
    row_share, column_share : float
        a / n and c / d, n and d being the sides of the table that the components belong to.
    """

    rows: HostArray
    scores: HostArray
    loadings: HostArray
    row_share: float
    column_share: float

    def residual(self, k: int) -> HostArray:
        """Return a copy of the rows without their first ``k`` components, noise level restored.

        Computes  (X - Y_k V_k) / sqrt((1 - h_i)(1 - g_j))  with the leverages h of the rows and g of the
        columns: a component takes noise with it from where it lives, and the division gives it back.
        """
        scores, loadings = self.scores[:, :k], self.loadings[:k]
        residual = scores @ loadings
        np.subtract(self.rows, residual, out=residual)
        energy = np.maximum(np.einsum("ik,ik->k", scores, scores), np.finfo(np.float32).tiny)
        row_leverage = np.einsum("ik,ik->i", scores, scores / energy) * self.row_share
        residual /= np.sqrt(np.maximum(1.0 - row_leverage, 0.05))[:, None]
        residual /= np.sqrt(np.maximum(1.0 - np.einsum("kj,kj->j", loadings, loadings), 0.05))
        squares = np.einsum("ij,ij->j", residual, residual)
        # What rounding leaves in constant columns would multiply to subnormal numbers, twenty times slower.
        residual[:, squares <= 1e-14 * squares.max(initial=0.0)] = 0.0
        return np.asarray(residual)

    def with_own_components(self) -> "RowSample":
        """Return the same rows with the components of the sample, which is then a table of its own.

        Cost: one product and one eigenproblem of the shorter side, 600 at most.
        """
        tall = self.rows.shape[0] >= self.rows.shape[1]
        gram = (self.rows.T @ self.rows if tall else self.rows @ self.rows.T).astype(np.float64)
        values, vectors = np.linalg.eigh(gram)
        kept = np.flatnonzero(values > len(values) * np.finfo(np.float32).eps * max(values[-1], 0.0))[::-1]
        U = vectors[:, kept].astype(np.float32)
        loadings = U.T if tall else (self.rows.T @ (U / np.sqrt(values[kept]).astype(np.float32))).T
        scores = self.rows @ loadings.T
        return replace(self, scores=scores, loadings=loadings, row_share=1.0, column_share=1.0)


def sample_shape(n: int, d: int) -> tuple[int, int]:
    """Return how many rows and columns are sampled: the proportions of the table are kept where possible.

    Examples
    --------
    >>> sample_shape(10_000, 500), sample_shape(4_000, 8_000), sample_shape(1_000_000, 100)
    ((10000, 500), (600, 1200), (60000, 100))
    """
    short, long = min(n, d), max(n, d)
    side = min(short, MAX_SIDE)
    other = max(1, min(round(long * side / short), MAX_ENTRIES // side))
    return (side, other) if n <= d else (other, side)


def sample_bytes(n: int, d: int) -> int:
    """Return the most memory that rules take which look at a sample of n x d rows: it, a copy, and what is at hand.

    Examples
    --------
    >>> sample_bytes(10_000, 500) / 1e6
    78.0
    """
    a, c = sample_shape(n, d)
    drawn = sum(8 * min(side, 50 * part) for side, part in ((n, a), (d, c)) if part < side)
    return 2 * 4 * a * c + drawn + 38_000_000


def draw_sample(
    source: RowSource,
    *,
    mean: Values,
    factor: Values | None = None,
    components: Any | None = None,
    seed: int = 0,
) -> RowSample:
    """Draw rows and columns at random, without replacement, in one pass over the source.

    Cost: one pass; 24 MB and the scores; d numbers a sampled row while they are gathered.
    """
    n, d = source.n_rows, source.n_columns
    a, c = sample_shape(n, d)
    rng = np.random.default_rng(seed)
    rows = np.arange(n) if a == n else np.sort(rng.choice(n, a, replace=False))
    columns = np.arange(d) if c == d else np.sort(rng.choice(d, c, replace=False))
    V = np.zeros((0, d)) if components is None else np.asarray(components, dtype=np.float64)
    pieces = source.reduce(_Gather(rows, columns, mean, factor, V), _joined)
    unit = max(piece.unit for piece in pieces) or 1.0
    for piece in pieces:
        np.multiply(piece.rows, np.float32(piece.unit / unit), out=piece.rows)
        np.multiply(piece.scores, np.float32(piece.unit / unit), out=piece.scores)
    return RowSample(
        np.concatenate([piece.rows for piece in pieces]),
        np.concatenate([piece.scores for piece in pieces]),
        V[:, columns].astype(np.float32),
        a / n,
        c / d,
    )


class _Piece(NamedTuple):
    """Sampled rows of one block and their scores, divided by ``unit``: float32 has a short range."""

    rows: HostArray
    scores: HostArray
    unit: float


@dataclass(frozen=True, eq=False)
class _Gather:
    """Fold: append the sampled part of a block, centered, and its scores."""

    rows: HostArray
    columns: HostArray
    mean: Values
    factor: Values | None
    components: HostArray

    def __call__(self, state: list[_Piece] | None, block: Block) -> list[_Piece]:
        state = [] if state is None else state
        low, high = np.searchsorted(self.rows, [block.start, block.start + block.rows.shape[0]])
        chosen = self.rows[low:high] - block.start
        part, scores = self._centered(block.rows, chosen)
        if block.weights is not None:
            root = np.sqrt(to_host(block.weights)[chosen])[:, None]
            part, scores = part * root, scores * root
        unit = float(np.abs(part).max(initial=0.0))
        if unit > 0.0:
            part, scores = part / unit, scores / unit
        state.append(_Piece(part.astype(np.float32), scores.astype(np.float32), unit))
        return state

    def _centered(self, rows: Any, chosen: HostArray) -> tuple[HostArray, HostArray]:
        columns = self.columns
        factor = np.ones(len(self.mean)) if self.factor is None else self.factor
        if hasattr(rows, "tocsr"):
            picked = rows[chosen]
            scores = picked @ (self.components * factor).T - (self.components * factor) @ self.mean
            return (picked[:, columns].toarray() - self.mean[columns]) * factor[columns], np.asarray(scores)
        centered = (_take(rows, chosen).astype(np.float64) - self.mean) * factor
        return centered[:, columns], centered @ self.components.T


def _take(rows: Any, chosen: HostArray) -> HostArray:
    if is_numpy(rows):
        return np.asarray(rows[chosen])
    xp = namespace_of(rows)
    return to_host(xp.take(rows, xp.asarray(chosen, **device_of(rows)), axis=0))


def _joined(left: list[_Piece], right: list[_Piece]) -> list[_Piece]:
    left.extend(right)
    return left
