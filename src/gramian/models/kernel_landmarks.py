"""Approximate kernel PCA on landmarks, for rows by the million: no feature of a row is ever made."""

from typing import Any

import numpy as np

from gramian.arrays.namespace import HostArray, to_host
from gramian.arrays.precision import FLOAT32, FLOAT64, eps_of
from gramian.eigen.certificate import certify
from gramian.eigen.direct import Direct
from gramian.eigen.krylov import Krylov
from gramian.features.nystrom import LandmarkMap
from gramian.models.kernel_projection import FeatureExpansion, KernelCentering
from gramian.models.kernel_solving import Solved, Wish, completed_vectors, rank_of
from gramian.models.kernel_strips import ExtendStrips, Strips, StripSums, sum_strips
from gramian.operators.held import HeldMatrix
from gramian.operators.kernel_tiles import PlacedKernel
from gramian.planning.plan import DIRECT_SIZE
from gramian.sources.rows import Block, RowSource, rows_here

SINGLE_WORK = 1e11
"""Operations n m^2 above which strips are made in float32: twice as fast, and far more accurate than landmarks are."""


def solve_landmarks(source: RowSource, phi: LandmarkMap, wish: Wish) -> Solved:
    """Find the leading eigenpairs of the centered Nystroem approximation of K on the landmarks of a map.

    Computes the D x D matrix  R'(C'P C) R  with  C = K between rows and landmarks and  phi = C R,  from  C'C  summed in
    strips: PCA of phi without phi. Values that are not found are bounded by the certificate, as those of the
    approximation; its distance from K is measured apart.

    Cost: two passes over n m kernel values, n m^2 + 2 n m k operations, 9 m^3 for the small problem; m^2 numbers a
    worker. (PCA of phi itself would take 2 n m D operations a pass beside.)

    Parameters
    ----------
    source : RowSource
    phi : LandmarkMap
    wish : Wish
    """
    m = phi.landmarks.shape[0]
    single = source.dtype == FLOAT32 or float(source.n_rows) * m * m > SINGLE_WORK
    dtype = FLOAT32 if single else FLOAT64
    placed = PlacedKernel(phi.kernel, None if phi.origin is None else to_host(phi.origin).astype(FLOAT64))
    shift = float(np.float32(placed.between(phi.landmarks[:256], phi.landmarks[:256]).mean())) if wish.center else 0.0
    strips = Strips.between(placed, phi.landmarks, shift=shift, dtype=dtype)
    wish.say(f"summing strips of {source.n_rows:,} rows and {m:,} landmarks")
    sums = sum_strips(source, strips)
    weights = None if source.weights is None else to_host(source.weights).astype(FLOAT64)
    total = float(source.n_rows) if weights is None else float(weights.sum())
    held = _small_matrix(phi.root, sums, total, centered=wish.center, eps=eps_of(dtype))
    wish.say(f"solving the {held.size:,} x {held.size:,} problem")
    direct = held.size <= DIRECT_SIZE or wish.k > held.size // 5
    solver = Direct(repair=False) if direct else Krylov(tol=wish.tol, block=16, search=False)
    pairs = solver.solve(held, wish.k, seed=wish.seed)
    mean = phi.root.T @ (sums.columns / total + shift) if wish.center else np.zeros(held.size)
    values = np.maximum(pairs.values, 0.0)
    rank = rank_of(values, rounding=held.size * eps_of(FLOAT64))
    components = to_host(pairs.vectors)
    whole = _diagonal_sum(source, placed) - total * float(mean @ mean)
    return Solved(
        values=values,
        vectors=_vectors(source, strips, phi.root @ components[:, :rank] / np.sqrt(values[:rank]), wish),
        certificate=certify(held, pairs, tol=wish.tol),
        total=max(whole, 0.0),
        centering=_centering(source, strips, phi.root @ mean, mean, weights, centered=wish.center),
        rank=rank,
        features=FeatureExpansion(phi, mean, components),
    )


def _small_matrix(root: HostArray, sums: StripSums, total: float, *, centered: bool, eps: float) -> HeldMatrix:
    """Return  R'(C'P C) R."""
    G = sums.squares
    if centered:
        G = G - np.outer(sums.columns, sums.columns / total)
    B = root.T @ (G @ root)
    return HeldMatrix((B + B.T) / 2, error=8 * eps)


def _vectors(source: RowSource, strips: Strips, combination: HostArray, wish: Wish) -> HostArray:
    """Return u for the first pairs, and directions orthogonal to all for those of value zero."""
    u = rows_here(source.map_rows(ExtendStrips(strips, combination.astype(strips.dtype), FLOAT64)))
    if wish.center:
        s = np.ones(len(u)) if source.weights is None else np.sqrt(to_host(source.weights).astype(FLOAT64))
        u -= np.outer(s, s @ u / float(s @ s))
    return completed_vectors(u, wish.k, seed=wish.seed)


def _centering(
    source: RowSource,
    strips: Strips,
    combination: HostArray,
    mean: HostArray,
    weights: HostArray | None,
    *,
    centered: bool,
) -> KernelCentering:
    """Return the means of the approximation of K:  phi(x) mean  for each row, and  |mean|^2."""
    shares = None if weights is None else weights / weights.sum()
    if not centered:
        return KernelCentering(np.zeros(source.n_rows), 0.0, shares, centered=False)

    def along(block: Block) -> HostArray:
        parts = [strip @ combination.astype(strips.dtype) for _, strip in strips.of(block)]
        return np.concatenate(parts).astype(FLOAT64) + strips.shift * float(combination.sum())

    return KernelCentering(to_host(rows_here(source.map_rows(along))), float(mean @ mean), shares, centered=True)


def _diagonal_sum(source: RowSource, placed: PlacedKernel) -> float:
    """Return the sum of w k(x, x): one pass."""

    def fold(state: float | None, block: Block) -> float:
        diagonal = placed.diagonal(block.rows)
        weights: Any = 1.0 if block.weights is None else to_host(block.weights)
        return (state or 0.0) + float(np.sum(weights * diagonal))

    return float(source.reduce(fold, lambda left, right: left + right))
