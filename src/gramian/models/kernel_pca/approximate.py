"""Kernel PCA in an explicit feature space of D dimensions, where the problem is D x D and not n x n.

Two ways: the features of landmarks, for rows by the million, are summed in strips and never kept
(:func:`solve_landmarks`); any others are rows that PCA is fitted to, the kernel's own where they are few, or those of a
map that was asked for (:func:`solve_features`).
"""

from dataclasses import replace
from functools import partial
from operator import add
from typing import Any

import numpy as np
import scipy.linalg

from gramian.arrays.namespace import (
    Array,
    HostArray,
    cast,
    from_host,
    host_floats,
    is_sparse,
    to_host,
)
from gramian.arrays.precision import FLOAT32, FLOAT64, eps_of
from gramian.eigen.certificate import Certificate, certify
from gramian.eigen.direct import Direct
from gramian.eigen.krylov import Krylov
from gramian.errors import InputError
from gramian.features.feature_map import FeatureMap, MappedRows
from gramian.features.nystrom import LandmarkMap
from gramian.features.sampling import draw_positions, take_rows
from gramian.kernels.blocks import named_rows, shifted
from gramian.kernels.centering import KernelCentering, RowWeights
from gramian.kernels.kernel import Kernel
from gramian.models.kernel_pca.expansion import FeatureExpansion
from gramian.models.kernel_pca.solve import Solved, SolveRequest, completed_vectors, rank_of
from gramian.models.pca.fit import fit_pca
from gramian.models.pca.model import PCAModel, PCAOptions
from gramian.operators.kernel_gram import moved_errors
from gramian.operators.kernel_tiles import ExtendStrips, PlacedKernel, Strips, StripSums, sum_strips, times_trapezoid
from gramian.operators.symmetric import DenseMatrix
from gramian.planning.kernel_plan import PCA_TOLERANCE, strip_bytes
from gramian.planning.plan import DIRECT_SIZE
from gramian.sources.finiteness import require_finite
from gramian.sources.rows import Block, RowSource, left_of, rows_here
from gramian.sources.sparse import SparseRows, in_float64

SINGLE_WORK = 1e11
"""Operations n m^2 above which strips are made in float32: twice as fast, and far more accurate than landmarks are."""


def solve_landmarks(source: RowSource, phi: LandmarkMap, request: SolveRequest) -> Solved:
    """Find the leading eigenpairs of the centered Nystroem approximation of K on the landmarks of a map.

    Computes the D x D matrix  Phi'P Phi  with  Phi = C R  and  C = K between rows and landmarks,  made and summed in
    strips: R = T Q with T triangular and Q orthogonal, so that C T, which costs half of C R, is summed and the sum is
    turned by Q afterwards. R'(C'C) R would cost half of that again and is wrong: R is as large as 1 / sqrt(s), s the
    smallest eigenvalue kept between landmarks, and takes the rounding of C'C from both sides. What rounding of C does
    to Phi is measured, and the certificate widened by it. In float32, directions that float32 cannot tell from rounding
    are left out (the expansion has the map without them). Values that are not found are bounded by the certificate, as
    those of the approximation; its distance from K is measured apart.

    Cost: two passes over n m kernel values, n D (2 m - D) + n D^2 + 2 n m k operations, 9 m^3 for the small problem;
    m^2 numbers per worker.

    Parameters
    ----------
    source : RowSource
    phi : LandmarkMap
    request : SolveRequest
    """
    phi, dtype = _in_precision(source, phi, request.k)
    m = phi.landmarks.shape[0]
    placed = PlacedKernel(phi.kernel, None if phi.origin is None else to_host(phi.origin).astype(FLOAT64))
    positions = draw_positions(source, 256, seed=request.seed)
    sampled = take_rows(source, positions)
    with named_rows(positions, phi.positions, ending=" of the landmarks" if phi.positions is None else ""):
        near = placed.between(sampled, phi.landmarks)
    # The mean of the features over some rows: what is left is small, and P does not see it.
    shift = near.mean(axis=0).astype(FLOAT32).astype(FLOAT64) if request.center else np.zeros(m)
    strips = Strips.between(placed, phi.landmarks, shift=shift, dtype=dtype, size=strip_bytes(request.budget))
    strips = replace(strips, positions=phi.positions)
    request.say(f"summing strips of {source.n_rows:,} rows and {m:,} landmarks")
    root, turn = scipy.linalg.rq(phi.root, check_finite=False)
    sums = _turned(sum_strips(source, replace(strips, root=root.astype(dtype))), turn)
    rows = RowWeights.of(source.n_rows, source.weights)
    B = rows.centered_squares(sums.squares, sums.columns) if request.center else sums.squares
    held = DenseMatrix((B + B.T) / 2, error=8 * eps_of(dtype))
    request.say(f"solving the {held.size:,} x {held.size:,} problem")
    direct = held.size <= DIRECT_SIZE or request.k > held.size // 5
    solver = Direct(repair=False) if direct else Krylov(tol=request.tol, block=16, search=True)
    pairs = solver.solve(held, request.k, seed=request.seed)
    mean = sums.columns / rows.total + phi.root.T @ shift if request.center else np.zeros(held.size)
    values = np.maximum(pairs.values, 0.0)
    top = float(np.max(values, initial=0.0))
    feature_error = _feature_error(strips, phi, root, sampled, near=near, total=rows.total)
    noise = feature_error**2 / top if top > 0 else 0.0
    rank = rank_of(values, rounding=max(held.size * eps_of(FLOAT64), noise))
    components = to_host(pairs.vectors)
    # A singular value s of Phi moves by its error at most, and an eigenvalue s^2 by that much:
    moved = feature_error * (2 * float(np.sqrt(top)) + feature_error)
    summed = 4 * eps_of(dtype) * float(np.trace(sums.squares)) / float(np.sqrt(held.size))
    whole = _diagonal_sum(source, placed) - rows.total * float(mean @ mean)
    u, means = _rows_along(source, strips, phi.root @ components[:, :rank] / np.sqrt(values[:rank]), phi.root @ mean)
    u = rows.scaled(u)
    u = _nearest_orthonormal(rows.project(u, out=u) if request.center else u)
    return Solved(
        values=values,
        vectors=completed_vectors(u, request.k, seed=request.seed),
        certificate=certify(held, pairs, tol=request.tol).widened(moved + summed),
        total=max(whole, 0.0),
        # The means of the approximation of K are phi(x) mean and |mean|^2.
        centering=KernelCentering(means, float(mean @ mean), rows.shares)
        if request.center
        else KernelCentering.none(rows),
        rank=rank,
        features=FeatureExpansion(phi, mean, components),
    )


def _in_precision(source: RowSource, phi: LandmarkMap, k: int) -> tuple[LandmarkMap, np.dtype[Any]]:
    """Return the map and the type of its strips: float32 for much work, where that leaves k directions."""
    if float(source.n_rows) * phi.landmarks.shape[0] ** 2 <= SINGLE_WORK:
        return phi, FLOAT64
    cut = phi.in_precision(FLOAT32)
    return (cut, FLOAT32) if cut.n_features >= k else (phi, FLOAT64)


def _turned(sums: StripSums, Q: HostArray) -> StripSums:
    """Return the sums of Phi Q from those of Phi; an orthogonal Q adds rounding in float64 alone."""
    return StripSums(Q.T @ sums.squares @ Q, sums.columns @ Q)


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
    return 2.0 * largest * float(np.sqrt(total / len(near)))  # twice: a sample is not the whole


def _rows_along(
    source: RowSource, strips: Strips, combination: HostArray, mean: HostArray
) -> tuple[HostArray, HostArray]:
    """Return strips times a combination (m, p), and phi(x) mean for each row: a pass."""
    both = np.column_stack([combination, mean]).astype(strips.dtype)
    along = rows_here(source.map_rows(ExtendStrips(strips, both, FLOAT64, weighted=False)))
    return along[:, :-1], along[:, -1] + float(np.asarray(strips.shift) @ mean)


def _nearest_orthonormal(u: HostArray) -> HostArray:
    """Return  u (u'u)^(-1/2):  what rounding took from orthonormal columns is given back, each moved the least."""
    left, _, right = np.linalg.svd(u, full_matrices=False)
    return np.asarray(left @ right)


def _diagonal_sum(source: RowSource, placed: PlacedKernel) -> float:
    """Return the sum of w k(x, x): one pass."""

    def fold(state: float | None, block: Block) -> float:
        diagonal = placed.diagonal(block.rows)
        weights: Any = 1.0 if block.weights is None else to_host(block.weights)
        return (state or 0.0) + float(np.sum(weights * diagonal))

    return float(source.reduce(fold, add))


def solve_features(
    source: RowSource, phi: FeatureMap | None, request: SolveRequest, *, budget: int | None, origin: Array | None = None
) -> Solved:
    """Find the leading eigenpairs of  Phi_c Phi_c'  by PCA of the features (F16: the same problem in D x D).

    Computes  lambda = s^2  and  u = Phi_c v / s  from the singular values s and components v of the centered features.

    Cost: that of PCA on n rows of D features, and two more passes.

    Parameters
    ----------
    source : RowSource
    phi : FeatureMap or None
        ``None`` for the rows themselves.
    request : SolveRequest
    budget : int or None
        Bytes beyond the rows.
    origin : array (d,), optional
        A point near sparse rows: they are then copied and counted from it.
    """
    moves = phi is None and request.center and source.is_sparse and source.whole is not None
    origin = host_floats(origin) if moves and origin is not None else None
    rows = _rows_of(source, phi, origin)
    try:
        pca = _fitted(rows, request, budget)
    except InputError:
        # Said of a feature, which nobody gave: the row of X that makes it is looked for.
        require_finite(source)
        source.reduce(partial(_try_kernel, None if phi is None else phi.kernel), left_of)
        raise
    mean = host_floats(pca.mean) if origin is None else host_floats(pca.mean) + origin
    counted = RowWeights.of(source.n_rows, source.weights)
    # Values are those of the certificate, in float64, whatever the rows are kept in.
    certificate = replace(pca.certificate.rescaled(counted.total), stored=0.0)
    if phi is not None:
        whole = counted.total * (pca.total_variance + float(mean @ mean))
        certificate = certificate.widened(_rounding_of(phi, rows, certificate, whole))
    # New rows may be sparse where those of the fit are dense: they are then counted from the mean itself.
    point = mean if phi is None and not source.is_sparse else origin
    scores, drift = _scores(pca, rows, counted, centered=request.center)
    mean = mean + drift
    rank = min(pca.rank, rank_of(certificate.values, rounding=0.0))
    k = request.k if request.nulls else min(request.k, rank)
    vectors = completed_vectors(scores[:, :rank] / host_floats(pca.singular_values)[:rank], k, seed=request.seed)
    certificate = _with_null_pairs(certificate, scores, vectors)
    return Solved(
        # Singular values have the type of the rows; the certificate has what was found, in float64.
        values=np.maximum(certificate.values, 0.0),
        vectors=vectors,
        certificate=certificate,
        total=pca.total_variance * counted.total,
        centering=_feature_centering(mean, source if origin is not None else rows, counted)
        if request.center
        else KernelCentering.none(counted),
        rank=rank,
        features=FeatureExpansion(phi, mean, _padded(host_floats(pca.components).T, k), point),
    )


def _fitted(rows: RowSource, request: SolveRequest, budget: int | None) -> PCAModel:
    """Return PCA of the features, to its own tolerance, with variances over n."""
    options = PCAOptions(
        min(request.k, rows.n_rows, rows.n_columns),
        center=request.center,
        ddof=0,
        tol=min(request.tol, PCA_TOLERANCE),
        seed=request.seed,
        memory_budget=budget,
        progress=request.say,
    )
    return fit_pca(rows, options)


def _try_kernel(kernel: Kernel | None, _: None, block: Block) -> None:
    """Fold: let a kernel refuse the rows that it has no value for."""
    if kernel is not None:
        with named_rows(block.start):
            PlacedKernel(kernel).prepare(block.rows, dtype=FLOAT64)


def _scores(pca: PCAModel, rows: RowSource, counted: RowWeights, *, centered: bool) -> tuple[HostArray, HostArray]:
    """Return  Phi_c V,  rows times the square roots of their weights, and what the mean was off by along V.

    A mean has the type of the rows, and is rounded to it: scores have a mean then, which is taken off.
    """
    scores = host_floats(rows_here(pca.project(rows)))
    drift = np.average(scores, axis=0, weights=counted.weights) if centered else np.zeros(scores.shape[1])
    scores = scores - drift
    return counted.scaled(scores), drift @ host_floats(pca.components)


def _with_null_pairs(certificate: Certificate, scores: HostArray, vectors: HostArray) -> Certificate:
    """Return the certificate with a line for every vector: those after the features have the eigenvalue zero.

    D features leave no other eigenvalue than zero beyond the first D. All D of them are scores then, so that
    K u = S (S'u)  is measured without another pass. The grade is the weakest of the others: one that is missed among
    those would stand above a zero.
    """
    found, k = len(certificate.values), vectors.shape[1]
    if k <= found:
        return certificate
    zeros, weakest = np.zeros(k - found), (certificate.grade,) * (k - found)
    residuals = np.linalg.norm(scores @ (scores.T @ vectors[:, found:]), axis=0)
    return replace(
        certificate,
        values=np.append(certificate.values, zeros),
        residuals=np.append(certificate.residuals, residuals),
        bounds=np.append(certificate.bounds, residuals + certificate.rounding),
        gaps=np.append(certificate.gaps, zeros),
        grades=certificate.grades + weakest,
        gap_grades=certificate.gap_grades + weakest,
        failure_probabilities=np.append(
            certificate.failure_probabilities, zeros + np.max(certificate.failure_probabilities, initial=0.0)
        ),
        ties=np.append(certificate.ties, zeros == 0),
    )


def _rows_of(source: RowSource, phi: FeatureMap | None, origin: HostArray | None) -> RowSource:
    """Return the features as rows: a kernel's own in float64, as its values would be; sparse ones about an origin."""
    if phi is not None:
        return MappedRows(source, phi, dtype=FLOAT64 if phi.is_exact else None)
    if origin is None:
        # Products of float32 entries are summed in float32: eigenvalues would have six digits.
        return in_float64(source)
    return SparseRows(shifted(source.whole, origin), weights=source.weights, n_blocks=source.n_blocks)


def _rounding_of(phi: FeatureMap, rows: RowSource, certificate: Certificate, whole: float) -> float:
    """Return what eigenvalues are wrong by because features are rounded when they are made.

    Phi is wrong by at most  delta = roundings eps |Phi|_F,  and its squared singular values by  2 s_1 delta + delta^2.
    """
    delta = phi.roundings * eps_of(rows.dtype) * float(np.sqrt(max(whole, 0.0)))
    return delta * (2 * float(np.sqrt(np.max(certificate.values, initial=0.0))) + delta)


def _feature_centering(mean: HostArray, rows: RowSource, counted: RowWeights) -> KernelCentering:
    """Return the means of K = Phi Phi':  Phi mean  and  |mean|^2; one pass."""

    def along(block: Block) -> HostArray:
        if is_sparse(block.rows):
            return np.asarray(block.rows @ mean)
        like = from_host(mean, like=block.rows)
        return to_host(cast(block.rows, FLOAT64) @ like)

    return KernelCentering(host_floats(rows_here(rows.map_rows(along))), float(mean @ mean), counted.shares)


def _padded(components: HostArray, k: int) -> HostArray:
    """Return k columns, zeros after those there are."""
    extra = k - components.shape[1]
    return components if extra <= 0 else np.hstack([components, np.zeros((len(components), extra))])
