"""What can be wrong with a kernel on these rows.

Its values are not finite, not symmetric, or depend on more than two rows; a part of K is nearly the identity or nearly
constant, for its width does not suit the rows; the centered matrix is not positive semidefinite, or is all rounding.
"""

import warnings
from typing import Any

import numpy as np

from gramian.arrays.namespace import HostArray, to_host
from gramian.arrays.precision import FLOAT64, eps_of
from gramian.eigen.orthonormal import orthonormalized
from gramian.errors import (
    IndefiniteKernelWarning,
    InputError,
    KernelRowsError,
    KernelWidthWarning,
    Parameter,
    PrecisionWarning,
    Sentence,
    users_line,
)
from gramian.features.sampling import Resolved, draw_positions, host_rows_at
from gramian.kernels.blocks import named_rows
from gramian.kernels.combination import Product, factors_of, leaves_on, terms_of
from gramian.kernels.kernel import Kernel
from gramian.kernels.widths import facts_of
from gramian.operators.kernel_tiles import PlacedKernel
from gramian.operators.symmetric import SymmetricOperator
from gramian.sources.rows import RowSource


def warn_of_widths(resolved: Resolved, rows: Any, K: HostArray, *, n: int, centered: bool, seed: int) -> None:
    """Say so when the kernel, or a term of a sum, is nearly diagonal or constant on sampled rows for its gamma.

    In a product the factors with a width count together: where they leave nothing off the diagonal, no other factor
    can; where they are constant, another one may still vary. Nothing is said of rows that are all equal.

    Cost: for a sum, one more matrix between the rows for each term. ``K`` is that of the kernel, ``n`` counts all rows.
    """
    for term in terms_of(resolved.kernel):
        factors = factors_of(term)
        widths = tuple(f for f in factors if all(leaf.has_width for leaf in f.leaves))
        if not widths:
            continue
        part = widths[0] if len(widths) == 1 else Product(widths)
        placed = PlacedKernel.of(part, resolved.origin, centered=centered)
        narrow, wide = _judged(K if part == resolved.kernel else placed.between(rows, rows), n)
        if narrow or (wide and len(widths) == len(factors)):
            _warn(part, resolved.kernel, rows, narrow=narrow, seed=seed)


def _judged(K: HostArray, n: int) -> tuple[bool, bool]:
    """Tell whether K counts as the identity, and whether it counts as constant.

    The identity: a row sums to less than 0.01 of its diagonal entry, apart from that. Constant: less than 1e-7 of the
    diagonal is left once the mean of the other entries is taken off.
    """
    diagonal = float(np.mean(np.diagonal(K)))
    others = (float(K.sum()) - len(K) * diagonal) / (len(K) * (len(K) - 1))
    return n * others < 1e-2 * diagonal, diagonal - others < 1e-7 * diagonal


def _warn(part: Kernel, kernel: Kernel, rows: Any, *, narrow: bool, seed: int) -> None:
    if facts_of(rows, seed=seed).median_distance() == 0:
        return
    gammas = [(leaf.median_gamma(seen, seed=seed), leaf.name) for leaf, seen in leaves_on(part, rows)]
    suggested = gammas[0][0] if len(gammas) == 1 else None
    message = Sentence(
        "{diagnosis}. The median distance of the rows suggests {gammas}.",
        diagnosis=_diagnosis(part, kernel, narrow=narrow),
        gammas=" and ".join(f"gamma={gamma:.3g} ({name})" for gamma, name in gammas)
        if suggested is None
        else Parameter("gamma", (float(f"{suggested:.3g}"),)),
    )
    warnings.warn(KernelWidthWarning(message, suggested=suggested), stacklevel=users_line())


def _diagnosis(part: Kernel, kernel: Kernel, *, narrow: bool) -> str:
    size = (
        "so large that the kernel of two different rows is nearly zero"
        if narrow
        else "so small that the kernel of any two rows is nearly the same"
    )
    if part == kernel:
        so = (
            "K is nearly the identity: all components hold about the same share"
            if narrow
            else "K is nearly constant: what is left after centering is close to rounding"
        )
        return f"{kernel!r}: gamma is {size} and {so}"
    so = "diagonal: no structure of the rows" if narrow else "constant, of which centering leaves little but rounding"
    return f"{part!r} in {kernel!r}: gamma is {size}, and what it gives to K is nearly {so}"


NEGATIVE_SHARE, NEGATIVE_VALUE = 1e-5, 1e-10
"""An eigenvalue under minus this share of the largest, and under minus this value, is not rounding: the limits of
scikit-learn's own check of spectra in float64."""


def check_on_sample(source: RowSource, resolved: Resolved, *, centered: bool, seed: int) -> None:
    """Look at K between some rows: finite, symmetric, neither the identity nor a constant, the same in other blocks.

    Cost: one pass to fetch the rows, 61,504 kernel values; a quarter more of a user's function of blocks.

    Raises
    ------
    InputError
        Where kernel values are not finite, k(x, y) differs from k(y, x), or depends on other rows than x and y.
    """
    positions, rows = _sampled(source, seed)
    placed = PlacedKernel.of(resolved.kernel, resolved.origin, centered=centered)
    # Prepared twice: of one block against itself a kernel may make one half only, and k(y, x) would not be seen.
    with named_rows(positions, positions):
        left, right = (placed.prepare(rows, dtype=FLOAT64) for _ in range(2))
        K = to_host(placed.kernel.evaluate(left, right))
        _require_finite(K, resolved.kernel)
        _require_symmetric(K, resolved.kernel)
    if len(K) < 2:
        return
    for leaf, seen in leaves_on(resolved.kernel, rows):
        if leaf.may_see_block:
            _require_own_rows_only(leaf, seen, K if leaf is resolved.kernel else None)
    warn_of_widths(resolved, rows, K, n=source.n_rows, centered=centered, seed=seed)


def _sampled(source: RowSource, seed: int) -> tuple[HostArray, Any]:
    """Return positions of some rows, and the rows: all of them, in their order, where those are few."""
    # Not 256: rows a power of two apart share places in the caches, and K - K' takes four times as long then.
    count = 248
    if source.n_rows <= count and source.n_blocks == 1 and source.weights is None:
        positions = np.arange(source.n_rows)
        return positions, host_rows_at(source, positions)
    positions = draw_positions(source, count, seed=seed)
    return positions, host_rows_at(source, positions)


def require_positive(
    values: HostArray, kernel: Kernel, *, where: str = "", seen: HostArray | None = None, all_seen: bool = False
) -> None:
    """Refuse eigenvalues that are negative beyond rounding, and say which, relative to what, and for which parameters.

    The lowest one is named of all that were ``seen``, those asked for among them; where these are all there are, also
    how many components have positive ones.

    Examples
    --------
    >>> from gramian.kernels import Sigmoid
    >>> require_positive(np.array([2.0, 0.0]), Sigmoid(gamma=2.0, coef0=-1.0))
    """
    lowest, largest = float(np.min(values, initial=0.0)), float(np.max(values, initial=0.0))
    if _is_rounding(lowest, largest):
        return
    seen = values if seen is None else seen
    lowest, few = float(np.min(seen)), "than there are positive eigenvalues"
    if all_seen:
        floor = max(NEGATIVE_SHARE * largest, len(seen) * eps_of(FLOAT64) * -lowest)
        few = f"than the {np.count_nonzero(seen > floor):,} that have positive eigenvalues"
    advice = (
        f"Check how the matrix was made, or ask for no more components {few}."
        if kernel.is_precomputed
        else f"Check the parameters of {kernel!r}, ask for no more components {few}, or choose another kernel."
    )
    message = (
        f"There are significant negative eigenvalues: the centered kernel matrix{where} has an eigenvalue of "
        f"{lowest:.3g} beside a largest of {largest:.3g}, so it is not positive semidefinite. {advice}"
    )
    raise InputError(message)


def warn_of_negative(values: HostArray, kernel: Kernel, *, where: str = "") -> bool:
    """Say so when a matrix has negative eigenvalues beyond rounding that are left out; tell whether it has."""
    lowest, largest = float(np.min(values, initial=0.0)), float(np.max(values, initial=0.0))
    if _is_rounding(lowest, largest):
        return False
    whose = "" if kernel.is_precomputed else f" of {kernel!r}"
    kept = "The components kept have positive eigenvalues and are right;"
    if largest <= NEGATIVE_SHARE * -lowest:
        kept = "It has no positive eigenvalue beyond rounding, so that no component means anything;"
    message = (
        f"The centered kernel matrix{where}{whose} has an eigenvalue of {lowest:.3g} beside a largest of "
        f"{largest:.3g}, so it is not positive semidefinite. {kept} shares of the variance and errors in feature space "
        "mean nothing for such a matrix."
    )
    warnings.warn(IndefiniteKernelWarning(message, lowest=lowest, largest=largest), stacklevel=users_line())
    return True


def warn_of_rounding(rounding: float, largest: float, kernel: Kernel) -> None:
    """Say so when the rounding of kernel values is as large as all that is left of them once they are centered."""
    if not 0 < largest <= rounding:
        return
    message = (
        f"Kernel values of {kernel!r} are rounded by as much as their centered matrix is large: its eigenvalues, the "
        f"largest {largest:.3g}, are uncertain by {rounding:.3g}, and nothing is known of the components. Center or "
        "scale the columns, or choose a kernel of the distance of two rows."
    )
    warnings.warn(message, PrecisionWarning, stacklevel=users_line())


def lowest_value(operator: SymmetricOperator, *, seed: int) -> float:
    """Return an estimate from above of the smallest eigenvalue: the lowest Ritz value of a short block Krylov run.

    Cost: twelve products of four vectors.
    """
    rng = np.random.default_rng(seed)
    Q = orthonormalized(rng.standard_normal((operator.size, min(4, operator.size))))
    W, last = np.zeros((operator.size, 0)), Q
    for _ in range(12):
        W = np.hstack([W, to_host(operator.apply(last).values)])
        last = orthonormalized(W[:, Q.shape[1] - last.shape[1] :], Q)[:, : operator.size - Q.shape[1]]
        if last.shape[1] == 0:
            break
        Q = np.hstack([Q, last])
    Q = Q[:, : W.shape[1]]
    return float(np.linalg.eigvalsh((Q.T @ W + W.T @ Q) / 2)[0])


def _is_rounding(lowest: float, largest: float) -> bool:
    return lowest >= -NEGATIVE_VALUE or lowest >= -NEGATIVE_SHARE * largest


def _require_finite(K: HostArray, kernel: Kernel) -> None:
    if np.isfinite(K).all():
        return
    i, j = (int(index) for index in np.argwhere(~np.isfinite(K))[0])
    after = (
        ". Scale the columns, choose smaller parameters, or, where the function is your own, make it return finite "
        "numbers."
    )
    before = f"{kernel!r} gives {K[i, j]} for "
    raise KernelRowsError(before, (i, j), after)


def _require_symmetric(K: HostArray, kernel: Kernel) -> None:
    # The largest entry is the largest in size too: each stands there with both signs.
    difference = K - K.T
    if float(difference.max(initial=0.0)) <= 1e-6 * max(float(K.max(initial=0.0)), -float(K.min(initial=0.0))):
        return
    i, j = (int(index) for index in np.unravel_index(int(np.argmax(difference)), K.shape))
    after = (
        f" it gives {K[i, j]:.6g} one way and {K[j, i]:.6g} the other. A kernel must have k(x, y) = k(y, x); "
        "gramian.check_kernel tells more."
    )
    before = f"{kernel!r} is not symmetric: for "
    raise KernelRowsError(before, (i, j), after)


def _require_own_rows_only(kernel: Kernel, rows: Any, K: HostArray | None) -> None:
    """Refuse a function whose values in a smaller block are not those of a larger one that holds the same rows."""
    placed, half = PlacedKernel(kernel), rows.shape[0] // 2
    K = placed.between(rows, rows) if K is None else K
    whole = K[:half, half:]
    piece = placed.between(rows[:half], rows[half:])
    difference = np.abs(piece - whole)
    # float32 within a user's function rounds by less than 1e-5 of the largest value.
    if float(difference.max(initial=0.0)) <= 1e-5 * float(np.abs(K).max(initial=0.0)):
        return
    i, j = (int(index) for index in np.unravel_index(int(np.argmax(difference)), piece.shape))
    message = (
        f"{kernel!r} depends on the block: for the same two rows it gives {whole[i, j]:.6g}, and {piece[i, j]:.6g} "
        "when fewer rows stand beside them. Each value must depend on its own two rows only. Center or normalize the "
        "rows before the fit, or make the matrix and pass kernel='precomputed'."
    )
    raise InputError(message)
