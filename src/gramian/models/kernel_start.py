"""Where an exact kernel PCA starts: the eigenpairs of the Nystroem approximation of K on a few landmarks."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from gramian.arrays.namespace import HostArray, to_host
from gramian.arrays.precision import FLOAT32, FLOAT64
from gramian.eigen.davidson import Approximation
from gramian.features.sampling import draw_positions, take_rows
from gramian.kernels.kernel import Prepared
from gramian.operators.kernel_gram import KernelGram
from gramian.operators.kernel_tiles import PlacedKernel
from gramian.sources.rows import Block, ranges

STRIP_BYTES = 8 << 20
"""Bytes of the strip of K between some rows and all landmarks that a worker makes at a time."""

RIDGE = 1e-5
"""What is added to the landmarks' matrix, as a share of its largest centered eigenvalue. Less lets the rounding of
float32 strips pass for structure (at 1e-8 a start of 1,400 landmarks was measured to be worthless); more would blur
pairs of a thousandth of the first."""


class Start(NamedTuple):
    """A Nystroem approximation of the centered kernel matrix.

    Attributes
    ----------
    approximation : Approximation or None
        Its leading pairs; ``None`` where the landmarks' matrix could not be factorized.
    landmark_values : numpy array (m,)
        Eigenvalues of the landmarks' own centered matrix, descending; empty where the kernel is known to be positive
        semidefinite. A negative one proves that K has one too.
    """

    approximation: Approximation | None
    landmark_values: HostArray


def nystroem_start(gram: KernelGram, *, landmarks: int, pairs: int, seed: int) -> Start:
    """Return leading eigenpairs of the centered Nystroem approximation of a kernel matrix.

    Computes  P C (M + ridge)^-1 C' P,  C = K between all rows and m landmarks drawn uniformly, M = K between the
    landmarks, without forming it: the m x m matrix  L^-1 C'P C L^-T  (L L' = M + ridge) has the same eigenvalues, and
    its eigenvectors s give  u = P C L^-T s / sqrt(mu). That is far nearer to the eigenvectors of K than those of M
    carried over to all rows: its error is what the landmarks do not span, not the noise of having drawn them.

    Cost: two passes over n m kernel values in float32, n m^2 + 2 n m p operations, m^2 numbers a worker, n p out.

    Parameters
    ----------
    gram : KernelGram
    landmarks, pairs : int
        m and p.
    seed : int
    """
    points = take_rows(gram.source, draw_positions(gram.source, landmarks, seed=seed))
    M = gram.placed.between(points, points)
    M = (M + M.T) / 2 - gram.shift
    own = _centered(M) if gram.centered else M
    values = np.zeros(0) if gram.is_psd else np.linalg.eigvalsh(own)[::-1]
    factor = _factor(M + gram.shift, RIDGE * _largest(own, seed))
    if factor is None:
        return Start(None, values)
    strips = _Strips(gram.placed, gram.placed.prepare(points, dtype=FLOAT32), len(M), gram.shift)
    mu, S = _small_pairs(gram, strips, factor, pairs)
    if len(mu) == 0:
        return Start(None, values)
    weights = scipy.linalg.solve_triangular(factor, S, lower=True, trans="T", check_finite=False) / np.sqrt(mu)
    vectors = np.empty((gram.size, len(mu)), FLOAT32)
    gram.source.reduce(_Extend(strips, weights.astype(FLOAT32), vectors), _first)
    return Start(Approximation(mu, _projected(gram, vectors)), values)


def _small_pairs(gram: KernelGram, strips: "_Strips", factor: HostArray, pairs: int) -> tuple[HostArray, HostArray]:
    """Return the leading eigenpairs of  L^-1 C'P C L^-T."""
    sums = gram.source.reduce(_Square(strips), _merge)
    G = sums.squares
    if gram.centered:
        G -= np.outer(sums.columns, sums.columns / gram.total_weight)
    solve = scipy.linalg.solve_triangular
    B = solve(factor, solve(factor, G, lower=True, check_finite=False).T, lower=True, check_finite=False)
    m = len(B)
    # float32 is enough for a start, and twice as fast.
    B = ((B + B.T) / 2).astype(FLOAT32)
    mu, S = scipy.linalg.eigh(B, subset_by_index=[max(m - pairs, 0), m - 1], driver="evr", check_finite=False)
    mu, S = mu[::-1].astype(FLOAT64), S[:, ::-1].astype(FLOAT64)
    kept = mu > 1e-6 * max(float(mu[0]), 0.0)
    return mu[kept], S[:, kept]


def _projected(gram: KernelGram, vectors: HostArray) -> HostArray:
    """Return P V for many float32 vectors, in place."""
    if not gram.centered:
        return vectors
    if gram.weights is None:
        vectors -= vectors.mean(axis=0, dtype=FLOAT64).astype(FLOAT32)
        return vectors
    s = np.sqrt(gram.weights)
    for rows in ranges(len(vectors), 4096):
        vectors[rows] -= np.outer(s[rows], s @ vectors / gram.total_weight).astype(FLOAT32)
    return vectors


def _centered(M: HostArray) -> HostArray:
    means = M.mean(axis=0)
    return np.asarray(M - means - (means - means.mean())[:, None])


def _largest(M: HostArray, seed: int) -> float:
    """Return the largest eigenvalue of a small symmetric matrix, to a few percent, by the power method."""
    v = np.random.default_rng(seed).standard_normal((len(M), 4))
    for _ in range(10):
        v = M @ np.linalg.qr(v)[0]
    return float(np.sqrt(np.einsum("ij,ij->j", v, v)).max())


def _factor(M: HostArray, ridge: float) -> HostArray | None:
    """Return the Cholesky factor of M and a ridge, a larger one where that is needed; ``None`` for indefinite M."""
    for more in (1.0, 1e2, 1e4):
        shifted = M + np.diag(np.full(len(M), more * max(ridge, np.finfo(float).tiny)))
        try:
            return np.asarray(scipy.linalg.cholesky(shifted, lower=True, check_finite=False))
        except np.linalg.LinAlgError:
            continue
    return None


@dataclass(frozen=True, eq=False)
class _Strips:
    """K - c between rows and the landmarks, a strip at a time, in float32."""

    placed: PlacedKernel
    ready: Prepared
    count: int
    shift: float

    def of(self, block: Block) -> Any:
        """Give the strips of a block and the places of their rows in it."""
        for part in ranges(block.rows.shape[0], max(16, STRIP_BYTES // (4 * self.count))):
            left = self.placed.prepare(block.rows[part], dtype=FLOAT32)
            strip = to_host(self.placed.kernel.evaluate(left, self.ready))
            strip -= np.float32(self.shift)
            yield part, strip


class _Sums(NamedTuple):
    squares: HostArray
    columns: HostArray


@dataclass(frozen=True, eq=False)
class _Square:
    """Fold: C'C and the column sums of C, rows counted by their weights."""

    strips: _Strips

    def __call__(self, state: _Sums | None, block: Block) -> _Sums:
        m = self.strips.count
        state = _Sums(np.zeros((m, m)), np.zeros(m)) if state is None else state
        for part, strip in self.strips.of(block):
            roots = _roots(block, part)
            C = strip if block.weights is None else strip * roots[:, None]
            np.add(state.squares, C.T @ C, out=state.squares)
            np.add(state.columns, roots @ C, out=state.columns)
        return state


@dataclass(frozen=True, eq=False)
class _Extend:
    """Fold: fill the rows of ``vectors`` with combinations of the landmarks' columns."""

    strips: _Strips
    combination: HostArray
    vectors: HostArray

    def __call__(self, _state: None, block: Block) -> None:
        for part, strip in self.strips.of(block):
            out = self.vectors[block.start + part.start : block.start + part.stop]
            np.matmul(strip, self.combination, out=out)
            if block.weights is not None:
                out *= _roots(block, part)[:, None]


def _roots(block: Block, part: slice) -> HostArray:
    """Return the square roots of the weights of some rows of a block."""
    if block.weights is None:
        return np.ones(part.stop - part.start, FLOAT32)
    return np.sqrt(to_host(block.weights)[part]).astype(FLOAT32)


def _first(left: None, _right: None) -> None:
    return left


def _merge(left: _Sums, right: _Sums) -> _Sums:
    np.add(left.squares, right.squares, out=left.squares)
    np.add(left.columns, right.columns, out=left.columns)
    return left
