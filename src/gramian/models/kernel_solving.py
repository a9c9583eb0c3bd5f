"""From rows and a kernel to eigenpairs of the centered kernel matrix, by the way that a plan chose."""

import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace

import numpy as np

from gramian.arrays.namespace import HostArray, to_host
from gramian.arrays.precision import FLOAT32, FLOAT64, eps_of
from gramian.eigen.certificate import certify, effort
from gramian.eigen.davidson import Davidson
from gramian.eigen.direct import Direct
from gramian.eigen.krylov import Krylov
from gramian.eigen.orthonormal import orthonormalized
from gramian.eigen.pairs import EigenPairs
from gramian.errors import ConvergenceWarning, users_line
from gramian.features.resolving import Resolved
from gramian.kernels.kernel import Kernel
from gramian.models.kernel_bounds import Proof, widened, widened_later, with_norm
from gramian.models.kernel_checks import lowest_value, require_positive, warn_of_negative, warn_of_rounding
from gramian.models.kernel_projection import FeatureExpansion, KernelCentering
from gramian.models.kernel_start import nystroem_start
from gramian.operators.held_kernel import HeldKernel
from gramian.operators.kernel_gram import KernelGram
from gramian.operators.rounding_ceiling import rounding_ceiling
from gramian.planning.kernel_plan import DENSE_SIZE, DOUBLE_SIZE, KernelPlan, strip_bytes
from gramian.planning.machine import as_worker, one_blas_thread
from gramian.sources.rows import RowSource, worker_count

Say = Callable[[str], None]

VALUE_ACCURACY = 1e-6
"""Relative accuracy of an eigenvalue that float32 tiles must not spoil."""

ALONE_ROWS = 2500
"""Rows up to which one thread is as fast as two: passes are so short that waking the second costs what it saves (2,000
rows: 43.5 against 45.6 ms, 3,000: 73 and 73)."""

PRODUCT_SHARE = 0.25
"""Share of the tolerance that the error of a float32 product may take; residuals are held to what it leaves."""

CLEAR = 1e-3
"""Share of the first eigenvalue from which on the last one wanted lets float32 serve among few rows, if those are
float32 themselves: float32 products are wrong by 1e-7 to 3e-7 of the first one at 1,000 to 5,000 rows."""

KEPT_NUMBERS = 1 << 17
"""Numbers up to which rows of a dense solve are copied, so that its bounds can wait until they are read: 1 MB."""

ZERO_SHARE = 1e-12
"""Eigenvalues under this share of the largest count as zero: scikit-learn's limit for spectra in float64."""


@dataclass(frozen=True, eq=False)
class Solved:
    """Eigenpairs of the centered, weighted kernel matrix.

    Attributes
    ----------
    values : numpy array (k,)
        Descending; negative ones are rounding.
    vectors : numpy array (n, k)
        Orthonormal, signs not yet fixed; rows times the square roots of the weights.
    certificate : Certificate or callable
        A callable draws it up, at any time.
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
    certificate: Proof
    total: float
    centering: KernelCentering
    rank: int
    features: FeatureExpansion | None = None


@dataclass(frozen=True)
class Wish:
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


def solve_rows(source: RowSource, resolved: Resolved, plan: KernelPlan, wish: Wish) -> Solved:
    """Find the leading eigenpairs of the centered kernel matrix of the rows of a source."""
    gram = KernelGram(
        source,
        resolved.kernel,
        origin=resolved.origin,
        centered=wish.center,
        keep=plan.way == "stored",
        seed=wish.seed,
    )
    if plan.way == "dense":
        with _threads(gram.size):
            return _dense(gram, wish)
    alone = gram.size <= ALONE_ROWS and worker_count() == 2
    with as_worker() if alone else one_blas_thread():
        return _iterated(gram, plan, wish)


def _threads(n: int) -> AbstractContextManager[None]:
    """Hold BLAS to one thread for few rows: the solver's is another than NumPy's, whose idle thread spins beside it.

    300 rows take 21 ms by two threads, and 8 by one.
    """
    return one_blas_thread() if n <= DENSE_SIZE else nullcontext()


def solve_matrix(
    matrix: HostArray, centering: KernelCentering, kernel: Kernel, wish: Wish, *, lost: float = 0.0
) -> Solved:
    """Find the leading eigenpairs of a centered, weighted kernel matrix that was given; centering lost so much."""
    held = HeldKernel(matrix, is_psd=False)
    small = len(matrix) <= DENSE_SIZE or wish.k > len(matrix) // 10
    solver = Direct(repair=False) if small else Krylov(tol=wish.tol, block=16, search=True)
    wish.say(f"solving the {len(matrix):,} x {len(matrix):,} matrix")
    with _threads(len(matrix)):
        pairs = solver.solve(held, wish.k, seed=wish.seed)
    if pairs.converged < wish.k and len(matrix) <= DOUBLE_SIZE:
        pairs = Direct(repair=False).solve(held, wish.k, seed=wish.seed)
    elif pairs.converged < wish.k:
        _warn(pairs, wish)
    known = pairs.values if pairs.spectrum is None else pairs.spectrum
    lowest = lowest_value(held, seed=wish.seed) if pairs.spectrum is None else float(known[-1])
    seen, whole = np.append(known, lowest), pairs.spectrum is not None
    require_positive(seen if wish.strict else pairs.values, kernel, seen=known if whole else seen, all_seen=whole)
    warn_of_negative(seen, kernel)
    certificate = widened(certify(held, pairs, tol=wish.tol), lost)
    top = max(float(np.max(pairs.values, initial=0.0)), np.finfo(float).tiny)
    rank = rank_of(pairs.values, rounding=max(len(matrix) * eps_of(FLOAT64), lost / top))
    return Solved(pairs.values, to_host(pairs.vectors), certificate, max(held.trace(), 0.0), centering, rank)


def _dense(gram: KernelGram, wish: Wish) -> Solved:
    wish.say(f"forming {gram.size:,} x {gram.size:,} kernel values")
    held = gram.materialize()
    if not gram.is_psd:
        spectrum = np.linalg.eigvalsh(held.matrix)[::-1]
        require_positive(spectrum if wish.strict else spectrum[: wish.k], gram.kernel, seen=spectrum, all_seen=True)
        warn_of_negative(spectrum, gram.kernel)
    wish.say("solving the dense eigenproblem")
    pairs = Direct(repair=False, whole=False).solve(held, wish.k, seed=wish.seed)
    pairs = replace(pairs, applications=gram.applications)
    certificate = replace(certify(held, pairs, tol=wish.tol), note="dense solve of the kernel matrix")
    if not _can_wait(gram, pairs.values):
        return _from_gram(gram, pairs, widened(certificate, gram.rounding), rounding=gram.rounding)
    return _from_gram(gram, pairs, widened_later(certificate, gram), rounding=0.0)


def _can_wait(gram: KernelGram, values: HostArray) -> bool:
    """Tell whether what kernel values are rounded by, however much that is, changes neither rank nor warnings."""
    if gram.size > DENSE_SIZE or gram.source.n_entries > KEPT_NUMBERS:
        return False
    ceiling = rounding_ceiling(gram)
    if not ceiling < float(values[0]):
        return False
    return ceiling < float(values[-1]) or _rank(gram, values, rounding=ceiling) == _rank(gram, values, rounding=0.0)


def _iterated(gram: KernelGram, plan: KernelPlan, wish: Wish) -> Solved:
    wish.say(f"starting from {plan.landmarks:,} landmarks")
    sizes = {"landmarks": plan.landmarks, "pairs": plan.pairs, "strip_bytes": strip_bytes(wish.budget)}
    start = nystroem_start(gram, seed=wish.seed, **sizes)
    if wish.strict:
        require_positive(start.landmark_values, gram.kernel, where=f" of {plan.landmarks:,} of the rows")
    near = start.approximation
    dense_fits = gram.size <= DOUBLE_SIZE and 32 * gram.size**2 <= wish.budget
    if plan.double and not dense_fits:
        # Float64 still, but values that are almost zero are not held to 1e-12: nothing would be left to fall back on.
        gram.accuracy = eps_of(FLOAT64)
    ratio = None if near is None or len(near.values) < wish.k else float(near.values[wish.k - 1] / near.values[0])
    single = gram.source.dtype == FLOAT32 and ratio is not None and ratio >= CLEAR
    if single or not plan.double:
        gram.accuracy = min(PRODUCT_SHARE * wish.tol, np.inf if ratio is None else _spared(ratio, gram.size))
    solver = plan.solver if isinstance(plan.solver, Davidson) else Davidson(tol=wish.tol)

    def watch(product: int, worst: float) -> None:
        wish.say(f"product {product}: worst residual {worst:.1e} of the first eigenvalue")

    pairs = solver.solve(gram, wish.k, seed=wish.seed, approximation=near, watch=watch)
    checked = _check_lower_end(gram, plan, pairs, wish, start.landmark_values)
    if pairs.converged < wish.k:
        if dense_fits:
            return _dense(gram, wish)
        _warn(pairs, wish)
    certificate = with_norm(widened(certify(gram, pairs, tol=wish.tol), gram.rounding), pairs, gram.sums)
    note = f"{pairs.stopped}; {effort(gram, gram.applications)} in tiles{checked}"
    return _from_gram(gram, pairs, replace(certificate, note=note), rounding=gram.rounding)


def _spared(ratio: float, n: int) -> float:
    """Return the error of a product that leaves an eigenvalue of ``ratio`` times the first one its six digits.

    Errors of rounding differ from row to row, so that of a value, v'E v, is about |E v| / sqrt(n); four times that is
    allowed for.
    """
    return VALUE_ACCURACY * float(np.sqrt(n)) / 4 * max(ratio, 0.0)


def _check_lower_end(gram: KernelGram, plan: KernelPlan, pairs: EigenPairs, wish: Wish, of_landmarks: HostArray) -> str:
    """Look for negative eigenvalues as far as that is affordable; say what was found and what was not looked at."""
    if gram.is_psd:
        return ""
    seen = pairs.values if pairs.compression is None else pairs.compression.values
    if plan.way == "stored":
        seen = np.append(seen, lowest_value(gram, seed=wish.seed))
    require_positive(seen if wish.strict else pairs.values[: wish.k], gram.kernel, seen=seen)
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


def _from_gram(gram: KernelGram, pairs: EigenPairs, certificate: Proof, *, rounding: float) -> Solved:
    sums = gram.sums
    shares = None if gram.weights is None else gram.weights / gram.total_weight
    centering = KernelCentering(sums.row_means, sums.grand_mean, shares, gram.centered)
    warn_of_rounding(rounding, float(np.max(pairs.values, initial=0.0)), gram.kernel)
    rank = _rank(gram, pairs.values, rounding=rounding)
    return Solved(pairs.values, to_host(pairs.vectors), certificate, max(gram.trace(), 0.0), centering, rank)


def _rank(gram: KernelGram, values: HostArray, *, rounding: float) -> int:
    """Return how many values are more than what the operator and its kernel values are rounded by."""
    top = max(float(np.max(values, initial=0.0)), np.finfo(float).tiny)
    error = max(gram.error, rounding / top)
    return rank_of(values, rounding=max(gram.size * eps_of(FLOAT64), error if error > 1e-12 else 0.0))


def rank_of(values: HostArray, *, rounding: float) -> int:
    """Return how many eigenvalues are not zero: more than rounding, and more than 1e-12 of the largest."""
    top = float(np.max(values, initial=0.0))
    return int(np.count_nonzero(values > max(max(rounding, ZERO_SHARE) * top, np.finfo(float).tiny)))


def completed_vectors(vectors: HostArray, k: int, *, seed: int) -> HostArray:
    """Return (n, k) orthonormal columns: those given, and seeded directions orthogonal to them."""
    missing = k - vectors.shape[1]
    if missing <= 0:
        return vectors[:, :k]
    draw = np.random.default_rng(seed).standard_normal((len(vectors), missing))
    return np.hstack([vectors, to_host(orthonormalized(draw, vectors))])


def _warn(pairs: EigenPairs, wish: Wish) -> None:
    top = float(pairs.values[0]) if len(pairs.values) else 0.0
    worst = float(np.max(pairs.residuals)) / top if top > 0 else np.inf
    message = (
        f"Kernel PCA stopped with {pairs.converged} of {wish.k} pairs converged ({pairs.stopped}; worst residual "
        f"{worst:.0e}, tol {wish.tol:.0e}, relative to the first eigenvalue). The first {pairs.converged} are good; "
        "for the rest loosen tol, ask for fewer components, or choose a wider kernel."
    )
    warnings.warn(message, ConvergenceWarning, stacklevel=users_line())
