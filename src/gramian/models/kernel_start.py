"""Where an exact kernel PCA starts: the eigenpairs of the Nystroem approximation of K on a few landmarks."""

from typing import NamedTuple

import numpy as np
import scipy.linalg

from gramian.arrays.namespace import HostArray
from gramian.arrays.precision import FLOAT32, FLOAT64
from gramian.eigen.approximation import Approximation
from gramian.errors import InputError
from gramian.features.sampling import draw_positions, take_rows
from gramian.kernels.naming import named_rows
from gramian.models.kernel_strips import ExtendStrips, Strips, sum_strips
from gramian.operators.kernel_gram import KernelGram
from gramian.operators.kernel_precision import rough_norm
from gramian.planning.kernel_plan import STRIP_BYTES
from gramian.sources.rows import ranges, rows_here

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


def nystroem_start(gram: KernelGram, *, landmarks: int, pairs: int, seed: int, strip_bytes: int = STRIP_BYTES) -> Start:
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
    strip_bytes : int
        Of a strip that a worker holds.
    """
    positions = draw_positions(gram.source, landmarks, seed=seed)
    points = take_rows(gram.source, positions)
    with named_rows(positions, positions):
        M = gram.placed.between(points, points)
    M = (M + M.T) / 2 - gram.shift
    own = _centered(M) if gram.centered else M
    values = np.zeros(0) if gram.is_psd else np.linalg.eigvalsh(own)[::-1]
    factor = _factor(M + gram.shift, RIDGE * rough_norm(own, seed))
    if factor is None:
        return Start(None, values)
    try:
        strips = Strips.between(gram.placed, points, shift=gram.shift, dtype=FLOAT32, size=strip_bytes)
        mu, S = _small_pairs(gram, strips, factor, pairs)
    except InputError:  # out of the range of float32: nothing is known beforehand then
        return Start(None, values)
    if len(mu) == 0:
        return Start(None, values)
    weights = scipy.linalg.solve_triangular(factor, S, lower=True, trans="T", check_finite=False) / np.sqrt(mu)
    vectors = rows_here(gram.source.map_rows(ExtendStrips(strips, weights.astype(FLOAT32), FLOAT32)))
    return Start(Approximation(mu, _projected(gram, vectors)), values)


def _small_pairs(gram: KernelGram, strips: Strips, factor: HostArray, pairs: int) -> tuple[HostArray, HostArray]:
    """Return the leading eigenpairs of  L^-1 C'P C L^-T."""
    sums = sum_strips(gram.source, strips)
    G = sums.squares
    if gram.centered:
        G -= np.outer(sums.columns, sums.columns / gram.total_weight)
    solve = scipy.linalg.solve_triangular
    B = solve(factor, solve(factor, G, lower=True, check_finite=False).T, lower=True, check_finite=False)
    # float32 is enough for a start, and twice as fast.
    B = ((B + B.T) / 2).astype(FLOAT32)
    mu, S = scipy.linalg.eigh(B, driver="evd", check_finite=False)
    mu, S = mu[::-1][:pairs].astype(FLOAT64), S[:, ::-1][:, :pairs].astype(FLOAT64)
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
    along = s @ vectors / gram.total_weight
    for rows in ranges(len(vectors), 4096):
        vectors[rows] -= np.outer(s[rows], along).astype(FLOAT32)
    return vectors


def _centered(M: HostArray) -> HostArray:
    means = M.mean(axis=0)
    return np.asarray(M - means - (means - means.mean())[:, None])


def _factor(M: HostArray, ridge: float) -> HostArray | None:
    """Return the Cholesky factor of M and a ridge, a larger one where that is needed; ``None`` for indefinite M."""
    for more in (1.0, 1e2, 1e4):
        shifted = M + np.diag(np.full(len(M), more * max(ridge, np.finfo(float).tiny)))
        try:
            return np.asarray(scipy.linalg.cholesky(shifted, lower=True, check_finite=False))
        except np.linalg.LinAlgError:
            continue
    return None
