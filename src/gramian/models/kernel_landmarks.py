"""Approximate kernel PCA on landmarks, for rows by the million: features are summed and never kept."""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.linalg

from gramian.arrays.namespace import HostArray, to_host
from gramian.arrays.precision import FLOAT32, FLOAT64, eps_of
from gramian.eigen.certificate import certify
from gramian.eigen.direct import Direct
from gramian.eigen.krylov import Krylov
from gramian.features.nystrom import LandmarkMap
from gramian.features.sampling import draw_positions, take_rows
from gramian.kernels.naming import named_rows
from gramian.models.kernel_bounds import widened
from gramian.models.kernel_projection import FeatureExpansion, KernelCentering
from gramian.models.kernel_solving import Solved, Wish, completed_vectors, rank_of
from gramian.models.kernel_strips import ExtendStrips, Strips, StripSums, sum_strips, times_trapezoid
from gramian.operators.held import HeldMatrix
from gramian.operators.kernel_precision import moved_errors
from gramian.operators.kernel_tiles import PlacedKernel
from gramian.planning.kernel_plan import strip_bytes
from gramian.planning.plan import DIRECT_SIZE
from gramian.sources.rows import Block, RowSource, rows_here

SINGLE_WORK = 1e11
"""Operations n m^2 above which strips are made in float32: twice as fast, and far more accurate than landmarks are."""

SAMPLED = 256
"""Rows at which the rounding of features is measured."""

CAUTION = 2.0
"""What that rounding is multiplied by: a sample is not the whole."""


def solve_landmarks(source: RowSource, phi: LandmarkMap, wish: Wish) -> Solved:
    """Find the leading eigenpairs of the centered Nystroem approximation of K on the landmarks of a map.

    Computes the D x D matrix  Phi'P Phi  with  Phi = C R  and  C = K between rows and landmarks,  made and summed in
    strips: R = T Q with T triangular and Q orthogonal, so that C T, which costs half of C R, is summed and the sum is
    turned by Q afterwards. R'(C'C) R would cost half of that again and is wrong: R is as large as 1 / sqrt(s), s the
    smallest eigenvalue kept between landmarks, and takes the rounding of C'C from both sides. What rounding of C does
    to Phi is measured, and the certificate widened by it. In float32, directions that float32 cannot tell from rounding
    are left out (the expansion has the map without them). Values that are not found are bounded by the certificate, as
    those of the approximation; its distance from K is measured apart.

    Cost: two passes over n m kernel values, n D (2 m - D) + n D^2 + 2 n m k operations, 9 m^3 for the small problem;
    m^2 numbers a worker.

    Parameters
    ----------
    source : RowSource
    phi : LandmarkMap
    wish : Wish
    """
    phi, dtype = _in_precision(source, phi, wish.k)
    m = phi.landmarks.shape[0]
    placed = PlacedKernel(phi.kernel, None if phi.origin is None else to_host(phi.origin).astype(FLOAT64))
    positions = draw_positions(source, SAMPLED, seed=wish.seed)
    sampled = take_rows(source, positions)
    with named_rows(positions, phi.positions, ending=" of the landmarks" if phi.positions is None else ""):
        near = placed.between(sampled, phi.landmarks)
    # The mean of the features over some rows: what is left is small, and P does not see it.
    shift = near.mean(axis=0).astype(FLOAT32).astype(FLOAT64) if wish.center else np.zeros(m)
    strips = Strips.between(placed, phi.landmarks, shift=shift, dtype=dtype, size=strip_bytes(wish.budget))
    strips = replace(strips, positions=phi.positions)
    wish.say(f"summing strips of {source.n_rows:,} rows and {m:,} landmarks")
    root, turn = scipy.linalg.rq(phi.root, check_finite=False)
    sums = _turned(sum_strips(source, replace(strips, root=root.astype(dtype))), turn)
    weights = None if source.weights is None else to_host(source.weights).astype(FLOAT64)
    total = float(source.n_rows) if weights is None else float(weights.sum())
    held = _small_matrix(sums, total, centered=wish.center, eps=eps_of(dtype))
    wish.say(f"solving the {held.size:,} x {held.size:,} problem")
    direct = held.size <= DIRECT_SIZE or wish.k > held.size // 5
    solver = Direct(repair=False) if direct else Krylov(tol=wish.tol, block=16, search=True)
    pairs = solver.solve(held, wish.k, seed=wish.seed)
    mean = sums.columns / total + phi.root.T @ shift if wish.center else np.zeros(held.size)
    values = np.maximum(pairs.values, 0.0)
    top, lost = float(np.max(values, initial=0.0)), _feature_error(strips, phi, root, sampled, near=near, total=total)
    noise = lost**2 / top if top > 0 else 0.0
    rank = rank_of(values, rounding=max(held.size * eps_of(FLOAT64), noise))
    components = to_host(pairs.vectors)
    summed = 4 * eps_of(dtype) * float(np.trace(sums.squares)) / float(np.sqrt(held.size))
    whole = _diagonal_sum(source, placed) - total * float(mean @ mean)
    u, means = _rows_along(source, strips, phi.root @ components[:, :rank] / np.sqrt(values[:rank]), phi.root @ mean)
    return Solved(
        values=values,
        vectors=_vectors(source, u, wish),
        certificate=widened(certify(held, pairs, tol=wish.tol), lost * (2 * float(np.sqrt(top)) + lost) + summed),
        total=max(whole, 0.0),
        centering=_centering(means, mean, weights, centered=wish.center),
        rank=rank,
        features=FeatureExpansion(phi, mean, components),
    )


def _in_precision(source: RowSource, phi: LandmarkMap, k: int) -> tuple[LandmarkMap, np.dtype[Any]]:
    """Return the map and the type of its strips: float32 for much work, where that leaves k directions."""
    if float(source.n_rows) * phi.landmarks.shape[0] ** 2 <= SINGLE_WORK:
        return phi, FLOAT64
    cut = phi.told_in(FLOAT32)
    return (cut, FLOAT32) if cut.n_features >= k else (phi, FLOAT64)


def _turned(sums: StripSums, Q: HostArray) -> StripSums:
    """Return the sums of Phi Q from those of Phi; an orthogonal Q adds rounding in float64 alone."""
    return StripSums(Q.T @ sums.squares @ Q, sums.columns @ Q)


def _small_matrix(sums: StripSums, total: float, *, centered: bool, eps: float) -> HeldMatrix:
    """Return  Phi'P Phi."""
    B = sums.squares
    if centered:
        B = B - np.outer(sums.columns, sums.columns / total)
    return HeldMatrix((B + B.T) / 2, error=8 * eps)


def _feature_error(
    strips: Strips, phi: LandmarkMap, root: HostArray, rows: Any, *, near: HostArray, total: float
) -> float:
    """Return what Phi is wrong by, in the spectral norm, because its strips are rounded.

    Measured between some rows and the landmarks in float32 and, for float64, scaled by the ratio of the roundings; at
    least what float64 changes by when rows are counted from another point. A singular value s of Phi moves by no more,
    so that an eigenvalue moves by  2 s error + error^2. ``near`` has the kernel values of the rows in float64.
    """
    exact = near - strips.shift
    with np.errstate(over="ignore", invalid="ignore"):
        rough = strips.placed.between(rows, phi.landmarks, dtype=FLOAT32) - np.asarray(strips.shift, FLOAT32)
        error = times_trapezoid(rough, root.astype(FLOAT32)).astype(FLOAT64) - exact @ root
    if not np.isfinite(error).all():
        # Out of the range of float32: every value wrong by some eps of the largest.
        size = 8 * eps_of(FLOAT32) * float(np.abs(exact).max(initial=0.0))
        error = np.full((1, 1), size * float(np.linalg.norm(root)))
    ratio = eps_of(strips.dtype) / eps_of(FLOAT32)
    moved = moved_errors(strips.placed, rows, phi.landmarks, near) @ root
    largest = max(ratio * float(np.linalg.norm(error, 2)), float(np.linalg.norm(moved, 2)))
    return CAUTION * largest * float(np.sqrt(total / len(near)))


def _rows_along(
    source: RowSource, strips: Strips, combination: HostArray, mean: HostArray
) -> tuple[HostArray, HostArray]:
    """Return strips times a combination (m, p), rows times roots of their weights, and phi(x) mean for each: a pass."""
    both = np.column_stack([combination, mean]).astype(strips.dtype)
    along = rows_here(source.map_rows(ExtendStrips(strips, both, FLOAT64, weighted=False)))
    u, means = along[:, :-1], along[:, -1] + float(np.asarray(strips.shift) @ mean)
    if source.weights is not None:
        u *= np.sqrt(to_host(source.weights).astype(FLOAT64))[:, None]
    return u, means


def _vectors(source: RowSource, u: HostArray, wish: Wish) -> HostArray:
    """Return u for the first pairs, and directions orthogonal to all for those of value zero."""
    if wish.center:
        s = np.ones(len(u)) if source.weights is None else np.sqrt(to_host(source.weights).astype(FLOAT64))
        u -= np.outer(s, s @ u / float(s @ s))
    return completed_vectors(_nearest_orthonormal(u), wish.k, seed=wish.seed)


def _nearest_orthonormal(u: HostArray) -> HostArray:
    """Return  u (u'u)^(-1/2):  what rounding took from orthonormal columns is given back, each moved the least."""
    left, _, right = np.linalg.svd(u, full_matrices=False)
    return np.asarray(left @ right)


def _centering(means: HostArray, mean: HostArray, weights: HostArray | None, *, centered: bool) -> KernelCentering:
    """Return the means of the approximation of K:  phi(x) mean  for each row, and  |mean|^2."""
    shares = None if weights is None else weights / weights.sum()
    if not centered:
        return KernelCentering(np.zeros(len(means)), 0.0, shares, centered=False)
    return KernelCentering(means, float(mean @ mean), shares, centered=True)


def _diagonal_sum(source: RowSource, placed: PlacedKernel) -> float:
    """Return the sum of w k(x, x): one pass."""

    def fold(state: float | None, block: Block) -> float:
        diagonal = placed.diagonal(block.rows)
        weights: Any = 1.0 if block.weights is None else to_host(block.weights)
        return (state or 0.0) + float(np.sum(weights * diagonal))

    return float(source.reduce(fold, lambda left, right: left + right))
