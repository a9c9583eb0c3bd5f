"""From rows and a kernel, or from a given matrix, to certified eigenpairs of the centered kernel matrix.

:func:`solve_rows` goes the way that a plan chose: a dense solve, or an iteration that starts from the Nystroem
approximation on a few landmarks (:func:`nystroem_start`). :func:`solve_matrix` takes the matrix itself.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy.linalg

from gramian.arrays.namespace import (
    Array,
    HostArray,
    cast,
    cholesky,
    device_of,
    eigh,
    from_host,
    gaussian,
    namespace_of,
    on_device,
    picked,
    solve_triangular,
    to_host,
)
from gramian.arrays.precision import FLOAT32, FLOAT64, eps_of
from gramian.eigen.certificate import Certificate, certify, effort
from gramian.eigen.davidson import Approximation, Davidson
from gramian.eigen.direct import Direct
from gramian.eigen.krylov import Krylov
from gramian.eigen.orthonormal import orthonormalized, rotated
from gramian.eigen.pairs import EigenPairs, warn_unconverged
from gramian.errors import InputError
from gramian.features.sampling import Resolved, draw_positions, take_rows
from gramian.kernels.blocks import named_rows
from gramian.kernels.centering import KernelCentering, RowWeights, center_kernel, center_matrix
from gramian.kernels.kernel import Kernel
from gramian.machine import threads_for
from gramian.models.kernel_pca.checks import lowest_value, require_positive, warn_of_negative, warn_of_rounding
from gramian.models.kernel_pca.expansion import FeatureExpansion
from gramian.operators.kernel_device import DeviceKernelGram, strip_squares
from gramian.operators.kernel_gram import KernelGram, Sums, rough_norm
from gramian.operators.kernel_tiles import ExtendStrips, Strips, sum_strips
from gramian.operators.symmetric import DenseKernel
from gramian.planning.kernel_plan import DENSE_SIZE, DOUBLE_SIZE, KernelPlan, strip_bytes
from gramian.sources.finiteness import require_finite
from gramian.sources.progress import Say
from gramian.sources.rows import RowSource, require_local, rows_here


def with_norm(certificate: Certificate, pairs: EigenPairs, sums: Sums) -> Certificate:
    """Bound the eigenvalues that were not returned by what the Frobenius norm of the matrix leaves for them.

    With A = [[T, R'], [R, C]] in the basis Q and its complement,  |C|_F^2 = |A|_F^2 - |T|_F^2 - 2 |R|_F^2,  and no
    eigenvalue beyond the k found exceeds the larger one of  [[theta, |R|], [|R|, |C|]],  theta being Ritz value k + 1.
    A pair above that bound is proved to be a leading one, without a search.
    """
    seen = pairs.compression
    if seen is None or len(certificate.values) == 0 or pairs.complete:
        return certificate
    k = len(certificate.values)
    theta = max(float(seen.values[k]), 0.0) if len(seen.values) > k else 0.0
    rest = sums.squares + sums.squares_error - float(np.sum(seen.values**2)) - 2 * seen.coupling**2
    largest = float(np.sqrt(max(rest, sums.squares_error, 0.0)))
    bound = (theta + largest) / 2 + float(np.hypot((theta - largest) / 2, seen.coupling)) + certificate.rounding
    proved = (bound < certificate.values - certificate.bounds) & np.array([g != "rejected" for g in certificate.grades])
    return replace(
        certificate,
        grades=tuple("proved" if ok else grade for ok, grade in zip(proved, certificate.grades, strict=True)),
        failure_probabilities=np.where(proved, 0.0, certificate.failure_probabilities),
        missed_bound=min(certificate.missed_bound, bound),
    )


@dataclass(frozen=True, eq=False)
class Solved:
    """Eigenpairs of the centered, weighted kernel matrix.

    Attributes
    ----------
    values : numpy array (k,)
        Descending; negative ones are rounding.
    vectors : numpy array (n, k)
        Orthonormal, signs not yet fixed; rows times the square roots of the weights.
    certificate : Certificate
    total : float
        The trace.
    centering : KernelCentering
    rank : int
        Values that are more than rounding.
    features : FeatureExpansion or None
        The components themselves, where they were found in an explicit feature space.
    """

    values: HostArray
    vectors: HostArray
    certificate: Certificate
    total: float
    centering: KernelCentering
    rank: int
    features: FeatureExpansion | None = None


@dataclass(frozen=True)
class SolveRequest:
    """What is asked of a solve.

    Attributes
    ----------
    k : int
    tol : float
    seed : int
    center : bool
    say : callable
        Called with a sentence.
    strict : bool
        Whether negative eigenvalues that are not among those wanted are refused, not only warned of.
    budget : int
        Bytes beyond the rows.
    nulls : bool
        Whether pairs with a zero eigenvalue are wanted, where there are fewer others than ``k``.
    """

    k: int
    tol: float
    seed: int
    center: bool
    say: Say
    strict: bool = True
    budget: int = 1 << 40
    nulls: bool = True


def solve_rows(source: RowSource, resolved: Resolved, plan: KernelPlan, request: SolveRequest) -> Solved:
    """Find the leading eigenpairs of the centered kernel matrix of the rows of a source."""
    gram = (DeviceKernelGram if on_device(source.like()) else KernelGram)(
        source,
        resolved.kernel,
        origin=resolved.origin,
        centered=request.center,
        keep=plan.way == "stored",
        seed=request.seed,
    )
    return _dense(gram, request) if plan.way == "dense" else _iterated(gram, plan, request)


def solve_matrix(source: RowSource, kernel: Kernel, request: SolveRequest) -> Solved:
    """Find the leading eigenpairs of a given kernel matrix, centered and weighted here.

    Cost: a copy of the matrix, and that of a dense or iterative solve on it.

    Raises
    ------
    InputError
        Where the matrix is not square, not finite, or not symmetric once it is centered.
    """
    if source.n_rows != source.n_columns:
        message = (
            f"A precomputed kernel is a square matrix, k(x_i, x_j) for all pairs of rows, and this one is "
            f"{source.n_rows:,} x {source.n_columns:,}."
        )
        raise InputError(message)
    require_local(source, "A precomputed kernel")
    require_finite(source)
    matrix = np.vstack([to_host(source.block(i).rows) for i in range(source.n_blocks)]).astype(FLOAT64)
    rows, absolute_error = RowWeights.of(len(matrix), source.weights), 0.0
    centering, symmetric = KernelCentering.none(rows), np.array_equal(matrix, matrix.T)
    if request.center:
        # Entries close to their means are subtracted without error: what is left is rounded, and the means were.
        absolute_error = len(matrix) * eps_of(FLOAT64) * float(np.abs(matrix - rows.means(matrix)).max(initial=0.0))
        centering = center_matrix(matrix, rows)
    if not symmetric:
        _require_symmetric(matrix)
    matrix = (matrix + matrix.T) / 2
    if rows.weights is not None:
        matrix *= np.sqrt(np.outer(rows.weights, rows.weights))
        absolute_error *= float(rows.weights.max(initial=0.0))
    held = DenseKernel(matrix, is_psd=False)
    small = len(matrix) <= DENSE_SIZE or request.k > len(matrix) // 10
    solver = Direct(repair=False) if small else Krylov(tol=request.tol, block=16, search=True)
    request.say(f"solving the {len(matrix):,} x {len(matrix):,} matrix")
    with threads_for(10 * len(matrix) ** 3):
        pairs = solver.solve(held, request.k, seed=request.seed)
        if pairs.converged < request.k and len(matrix) <= DOUBLE_SIZE:
            pairs = Direct(repair=False).solve(held, request.k, seed=request.seed)
    if pairs.converged < request.k:
        _warn(pairs, request)
    known = pairs.values if pairs.spectrum is None else pairs.spectrum
    lowest = lowest_value(held, seed=request.seed) if pairs.spectrum is None else float(known[-1])
    seen, whole = np.append(known, lowest), pairs.spectrum is not None
    require_positive(seen if request.strict else pairs.values, kernel, seen=known if whole else seen, all_seen=whole)
    warn_of_negative(seen, kernel)
    certificate = certify(held, pairs, tol=request.tol).widened(absolute_error)
    top = max(float(np.max(pairs.values, initial=0.0)), np.finfo(float).tiny)
    rank = rank_of(pairs.values, rounding=max(len(matrix) * eps_of(FLOAT64), absolute_error / top))
    return Solved(pairs.values, to_host(pairs.vectors), certificate, max(held.trace(), 0.0), centering, rank)


def _require_symmetric(matrix: HostArray) -> None:
    """Refuse mirrored entries that differ by more than rounding: 1e-8 of the largest entry."""
    difference = np.abs(matrix - matrix.T)
    if float(difference.max(initial=0.0)) <= 1e-8 * float(np.abs(matrix).max(initial=0.0)):
        return
    i, j = (int(index) for index in np.unravel_index(int(np.argmax(difference)), matrix.shape))
    message = (
        f"The precomputed kernel is not symmetric, also after centering: entries ({i}, {j}) and ({j}, {i}) are then "
        f"{matrix[i, j]:.6g} and {matrix[j, i]:.6g}. Pass (K + K.T) / 2 if the difference is rounding."
    )
    raise InputError(message)


def _dense(gram: KernelGram, request: SolveRequest) -> Solved:
    request.say(f"forming {gram.size:,} x {gram.size:,} kernel values")
    held = gram.materialize()
    if not gram.is_psd:
        with threads_for(2 * gram.size**3):
            spectrum = np.linalg.eigvalsh(held.matrix)[::-1]
        require_positive(
            spectrum if request.strict else spectrum[: request.k], gram.kernel, seen=spectrum, all_seen=True
        )
        warn_of_negative(spectrum, gram.kernel)
    request.say("solving the dense eigenproblem")
    with threads_for(10 * gram.size**3):
        pairs = Direct(repair=False, whole=False).solve(held, request.k, seed=request.seed)
    pairs = replace(pairs, applications=gram.applications)
    certificate = replace(certify(held, pairs, tol=request.tol), note="dense solve of the kernel matrix")
    return _from_gram(gram, pairs, certificate.widened(gram.rounding))


def _iterated(gram: KernelGram, plan: KernelPlan, request: SolveRequest) -> Solved:
    request.say(f"starting from {plan.landmarks:,} landmarks")
    sizes = {"landmarks": plan.landmarks, "pairs": plan.pairs, "strip_bytes": strip_bytes(request.budget)}
    start = nystroem_start(gram, seed=request.seed, **sizes)
    if request.strict:
        require_positive(start.landmark_values, gram.kernel, where=f" of {plan.landmarks:,} of the rows")
    near = start.approximation
    dense_fits = gram.size <= DOUBLE_SIZE and 32 * gram.size**2 <= request.budget
    if plan.double and not dense_fits:
        # Float64 still, but values that are almost zero are not held to 1e-12: nothing would be left to fall back on.
        gram.accuracy = eps_of(FLOAT64)
    ratio = None if near is None or len(near.values) < request.k else float(near.values[request.k - 1] / near.values[0])
    # Among few rows float32 serves where those are float32 themselves and the last value wanted is clear of its error:
    # products are wrong by 1e-7 to 3e-7 of the first one at 1,000 to 5,000 rows.
    single = gram.source.dtype == FLOAT32 and ratio is not None and ratio >= 1e-3
    if single or not plan.double:
        # A quarter of the tolerance for the products; residuals are held to what it leaves.
        gram.accuracy = min(0.25 * request.tol, np.inf if ratio is None else _spared(ratio, gram.size))
    solver = plan.solver or Davidson(tol=request.tol)

    def watch(product: int, worst: float) -> None:
        request.say(f"product {product}: worst residual {worst:.1e} of the first eigenvalue")

    pairs = solver.solve(gram, request.k, seed=request.seed, start=near, watch=watch)
    checked = _check_lower_end(gram, plan, pairs, request, start.landmark_values)
    if pairs.converged < request.k:
        if dense_fits:
            return _dense(gram, request)
        _warn(pairs, request)
    certificate = with_norm(certify(gram, pairs, tol=request.tol).widened(gram.rounding), pairs, gram.sums)
    note = f"{pairs.stopped}; {effort(gram, gram.applications)} in tiles{checked}"
    return _from_gram(gram, pairs, replace(certificate, note=note))


def _spared(ratio: float, n: int) -> float:
    """Return the error of a product that leaves an eigenvalue of ``ratio`` times the first one its six digits.

    Errors of rounding differ from row to row, so that of a value, v'E v, is about |E v| / sqrt(n); four times that is
    allowed for.
    """
    return 1e-6 * float(np.sqrt(n)) / 4 * max(ratio, 0.0)


def _check_lower_end(
    gram: KernelGram, plan: KernelPlan, pairs: EigenPairs, request: SolveRequest, of_landmarks: HostArray
) -> str:
    """Look for negative eigenvalues as far as that is affordable; say what was found and what was not examined."""
    if gram.is_psd:
        return ""
    seen = pairs.values if pairs.compression is None else pairs.compression.values
    if plan.way == "stored":
        seen = np.append(seen, lowest_value(gram, seed=request.seed))
    require_positive(seen if request.strict else pairs.values[: request.k], gram.kernel, seen=seen)
    if warn_of_negative(seen, gram.kernel) or warn_of_negative(
        of_landmarks, gram.kernel, where=f" of {plan.landmarks:,} of the rows"
    ):
        return "; the matrix has negative eigenvalues below the components kept"
    if plan.way == "stored":
        return "; no negative eigenvalue found by a search of the lower end"
    return (
        f"; {gram.kernel!r} is not known to be positive semidefinite, and its lower end was looked at on "
        f"{plan.landmarks:,} of the rows only"
    )


def _from_gram(gram: KernelGram, pairs: EigenPairs, certificate: Certificate) -> Solved:
    sums, rounding = gram.sums, gram.rounding
    warn_of_rounding(rounding, float(np.max(pairs.values, initial=0.0)), gram.kernel)
    rank = _rank(gram, pairs.values, rounding=rounding)
    return Solved(pairs.values, to_host(pairs.vectors), certificate, max(gram.trace(), 0.0), sums.centering, rank)


def _rank(gram: KernelGram, values: HostArray, *, rounding: float) -> int:
    """Return how many values are more than what the operator and its kernel values are rounded by."""
    top = max(float(np.max(values, initial=0.0)), np.finfo(float).tiny)
    error = max(gram.error, rounding / top)
    return rank_of(values, rounding=max(gram.size * eps_of(FLOAT64), error if error > 1e-12 else 0.0))


def rank_of(values: HostArray, *, rounding: float) -> int:
    """Return how many eigenvalues are not zero: above rounding, and above 1e-12 of the largest as in scikit-learn."""
    top = float(np.max(values, initial=0.0))
    return int(np.count_nonzero(values > max(max(rounding, 1e-12) * top, np.finfo(float).tiny)))


def completed_vectors(vectors: HostArray, k: int, *, seed: int) -> HostArray:
    """Return (n, k) orthonormal columns: those given, and seeded directions orthogonal to them."""
    missing = k - vectors.shape[1]
    if missing <= 0:
        return vectors[:, :k]
    draw = np.random.default_rng(seed).standard_normal((len(vectors), missing))
    return np.hstack([vectors, to_host(orthonormalized(draw, vectors))])


def _warn(pairs: EigenPairs, request: SolveRequest) -> None:
    advice = "ask for fewer components, or choose a wider kernel"
    warn_unconverged("Kernel PCA", pairs, request.k, tol=request.tol, advice=advice)


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


def nystroem_start(gram: KernelGram, *, landmarks: int, pairs: int, seed: int, strip_bytes: int) -> Start:
    """Return leading eigenpairs of the centered Nystroem approximation of a kernel matrix.

    Computes  P C (M + ridge)^-1 C' P,  C = K between all rows and m landmarks drawn uniformly, M = K between the
    landmarks, without forming it: the m x m matrix  L^-1 C'P C L^-T  (L L' = M + ridge) has the same eigenvalues, and
    its eigenvectors s give  u = P C L^-T s / sqrt(mu). That is far nearer to the eigenvectors of K than those of M
    carried over to all rows: its error is what the landmarks do not span, not the noise of having drawn them.

    Cost: two passes over n m kernel values in float32, n m^2 + 2 n m p operations, m^2 numbers per worker, n p out.

    Parameters
    ----------
    gram : KernelGram
    landmarks, pairs : int
        m and p.
    seed : int
    strip_bytes : int
        Of a strip that a worker holds.
    """
    if isinstance(gram, DeviceKernelGram):
        return _start_there(gram, landmarks=landmarks, pairs=pairs, seed=seed)
    positions = draw_positions(gram.source, landmarks, seed=seed)
    points = take_rows(gram.source, positions)
    with named_rows(positions, positions):
        M = gram.placed.between(points, points)
    M = (M + M.T) / 2 - gram.shift
    own = center_kernel(M) if gram.centered else M
    values = np.zeros(0) if gram.is_psd else np.linalg.eigvalsh(own)[::-1]
    # A smaller ridge lets the rounding of float32 strips pass for structure (at 1e-8 a start of 1,400 landmarks was
    # measured to be worthless); a larger one would blur pairs of a thousandth of the first.
    factor = _factor(M + gram.shift, 1e-5 * rough_norm(own, seed))
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
    # In place: there may be hundreds of vectors.
    return Start(Approximation(mu, gram.rows.project(vectors, out=vectors) if gram.centered else vectors), values)


def _start_there(gram: DeviceKernelGram, *, landmarks: int, pairs: int, seed: int) -> Start:
    """Return the same for rows on a device, made there in float64."""
    positions = draw_positions(gram.source, landmarks, seed=seed)
    points = picked(gram.rows_there, positions)
    with named_rows(positions, positions):
        M = gram.placed_there.between(points, points, there=True)
    M = (M + M.T) / 2 - gram.shift
    xp = namespace_of(M)
    own = M - xp.mean(M, axis=0)
    own = own - xp.mean(own, axis=1)[:, None]
    own = own if gram.centered else M
    values = np.zeros(0) if gram.is_psd else eigh(own)[0][::-1]
    ridge = 1e-5 * rough_norm(own, seed)
    L = cholesky(M + gram.shift + ridge * xp.eye(len(M), dtype=M.dtype, **device_of(M)))
    if L is None:
        return Start(None, values)
    G, sums = strip_squares(gram, points)
    if gram.centered:
        G = G - sums[:, None] * sums / gram.rows.total
    B = solve_triangular(L, solve_triangular(L, G).T)
    mu, S = leading_pairs((B + B.T) / 2, pairs, seed=seed)
    kept = mu > 1e-6 * max(float(mu[0]), 0.0)
    mu, S = mu[kept], S[:, : int(kept.sum())]
    if len(mu) == 0:
        return Start(None, values)
    weights = solve_triangular(L, S, transposed=True) / from_host(np.sqrt(mu), like=S)
    vectors = gram.rows.scaled(gram.against(points, weights))
    vectors = gram.rows.project(vectors) if gram.centered else vectors
    return Start(Approximation(mu, cast(vectors, FLOAT32)), values)


def leading_pairs(B: Array, count: int, *, seed: int) -> tuple[HostArray, Array]:
    """Return leading eigenpairs of a positive semidefinite matrix by subspace iteration, the first to many digits."""
    xp, m = namespace_of(B), B.shape[0]
    Q = gaussian((m, min(m, count + 16)), seed=seed, like=B)
    for _ in range(5):
        Q, _R = xp.linalg.qr(B @ Q)
    values, S = np.linalg.eigh(to_host(Q.T @ (B @ Q)))
    order = np.argsort(values)[::-1][:count]
    return values[order], rotated(Q, S[:, order])


def _small_pairs(gram: KernelGram, strips: Strips, factor: HostArray, pairs: int) -> tuple[HostArray, HostArray]:
    """Return the leading eigenpairs of  L^-1 C'P C L^-T."""
    sums = sum_strips(gram.source, strips)
    G = sums.squares
    if gram.centered:
        G = gram.rows.centered_squares(G, sums.columns, out=G)
    solve = scipy.linalg.solve_triangular
    m = len(G)
    with threads_for(10 * m**3, shared=gram.size * m**2):
        B = solve(factor, solve(factor, G, lower=True, check_finite=False).T, lower=True, check_finite=False)
        # float32 is enough for a start, and twice as fast.
        B = ((B + B.T) / 2).astype(FLOAT32)
        mu, S = scipy.linalg.eigh(B, driver="evd", check_finite=False)
    mu, S = mu[::-1][:pairs].astype(FLOAT64), S[:, ::-1][:, :pairs].astype(FLOAT64)
    kept = mu > 1e-6 * max(float(mu[0]), 0.0)
    return mu[kept], S[:, kept]


def _factor(M: HostArray, ridge: float) -> HostArray | None:
    """Return the Cholesky factor of M and a ridge, a larger one where that is needed; ``None`` for indefinite M."""
    for more in (1.0, 1e2, 1e4):
        shifted = M + np.diag(np.full(len(M), more * max(ridge, np.finfo(float).tiny)))
        try:
            return np.asarray(scipy.linalg.cholesky(shifted, lower=True, check_finite=False))
        except np.linalg.LinAlgError:
            continue
    return None
