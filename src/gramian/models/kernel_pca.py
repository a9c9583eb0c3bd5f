"""Kernel principal components: the function that fits them."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from gramian.arrays.namespace import HostArray, to_host
from gramian.arrays.precision import FLOAT64
from gramian.eigen.certificate import Certificate
from gramian.errors import NotSupportedError, ParameterError
from gramian.features.feature_map import FeatureMap
from gramian.features.kernel_error import measure_kernel_error
from gramian.features.nystrom import LandmarkMap, Landmarks
from gramian.features.resolving import Resolved, resolve_kernel
from gramian.kernels.precomputed import Precomputed
from gramian.models.kernel_bounds import Proof
from gramian.models.kernel_checks import check_on_sample
from gramian.models.kernel_features import own_map, solve_features
from gramian.models.kernel_how_many import Kept, kept, more, warn_of_share
from gramian.models.kernel_landmarks import solve_landmarks
from gramian.models.kernel_model import KernelPCAModel, KernelPCAOptions, alphas_of
from gramian.models.kernel_planned import (
    asked_landmarks,
    first_facts,
    first_plan,
    matrix_facts,
    near_facts,
    near_plan,
    of_given_matrix,
)
from gramian.models.kernel_precomputed import solve_precomputed
from gramian.models.kernel_projection import Expansion, KernelCentering, MatrixExpansion, RowExpansion
from gramian.models.kernel_solving import Solved, Wish, solve_rows
from gramian.models.spectrum import signs_of
from gramian.operators.kernel_tiles import PlacedKernel
from gramian.planning.kernel_plan import DENSE_SIZE, WAYS, KernelFacts, KernelPlan, plan_kernel_pca
from gramian.planning.machine import one_blas_thread
from gramian.sources.rows import RowSource

__all__ = ["KernelPCAModel", "KernelPCAOptions", "fit_kernel_pca"]

NOTHING = "the rows are all alike to this kernel: its centered matrix is zero but for rounding, and has no components"
"""What is said of constant rows."""


def fit_kernel_pca(source: RowSource, options: KernelPCAOptions) -> KernelPCAModel:
    """Fit kernel principal components to the rows of a source.

    Computes the k leading eigenpairs of the centered kernel matrix, exactly (to ``tol``) and without storing it where
    the plan says so, with a certificate; see :class:`KernelPCAModel`. With ``landmarks`` or ``features`` the model is
    approximate, says so, and carries the measured error of K.

    Cost: see :func:`~gramian.planning.kernel_plan.plan_kernel_pca`; exact, a few times n^2 (d + 2 k + 40) operations.

    Parameters
    ----------
    source : RowSource
        For a :class:`~gramian.kernels.Precomputed` kernel its rows are the kernel matrix.
    options : KernelPCAOptions

    Examples
    --------
    >>> from gramian.kernels import Polynomial
    >>> from gramian.sources import as_source
    >>> t = 2 * np.pi * np.arange(8) / 8
    >>> circle = as_source(10 * np.column_stack([np.cos(t), np.sin(t)]))
    >>> model = fit_kernel_pca(circle, KernelPCAOptions(4, Polynomial(degree=2, gamma=1.0)))
    >>> (model.eigenvalues / 8).round(6)
    array([2500., 2500.,  100.,  100.])
    """
    _check(options)
    if isinstance(options.kernel, Precomputed):
        return _fit_matrix(source, options)
    _say(options, f"measuring {source.n_rows:,} x {source.n_columns:,} rows")
    if options.landmarks is not None or options.features is not None:
        return _fit_approximately(source, options)
    # A thread of BLAS that these few products woke would spin on a core that the workers need next.
    with one_blas_thread():
        resolved = resolve_kernel(options.kernel, source, seed=options.seed)
        check_on_sample(source, resolved, centered=options.center, seed=options.seed)
    # Of few rows all of the work is as short as that.
    with one_blas_thread() if source.n_rows <= DENSE_SIZE else nullcontext():
        return _fit_exactly(source, resolved, options)


def _fit_exactly(source: RowSource, resolved: Resolved, options: KernelPCAOptions) -> KernelPCAModel:
    def solve(plan: KernelPlan, wish: Wish) -> Solved:
        if plan.way != "features":
            return solve_rows(source, resolved, plan, wish)
        phi, budget = own_map(resolved.kernel, source), options.memory_budget
        return solve_features(source, phi, wish, budget=budget, origin=resolved.origin)

    return _fit_until_kept(source, resolved, options, first_facts(source, options, resolved.kernel), solve)


def _fit_matrix(source: RowSource, options: KernelPCAOptions) -> KernelPCAModel:
    def solve(_: KernelPlan, wish: Wish) -> Solved:
        return solve_precomputed(source, options.kernel, wish)

    facts = matrix_facts(source, options)
    model = _fit_until_kept(source, Resolved(options.kernel, None), options, facts, solve)
    return replace(model, plan=of_given_matrix(model.plan))


def _fit_until_kept(
    source: RowSource,
    resolved: Resolved,
    options: KernelPCAOptions,
    facts: KernelFacts,
    solve: Callable[[KernelPlan, Wish], Solved],
) -> KernelPCAModel:
    """Solve for more and more pairs until it is known how many are kept."""
    while True:
        plan = plan_kernel_pca(facts)
        _say(options, f"solving: {plan}")
        solved = solve(plan, _wish(options, facts))
        chosen = kept(solved, options.n_components, source.n_rows)
        if chosen.k is not None:
            return _assembled(source, resolved, solved, plan=plan, options=options, chosen=chosen)
        facts = more(facts, solved, options.n_components)


def _fit_approximately(source: RowSource, options: KernelPCAOptions) -> KernelPCAModel:
    """Fit PCA to features near the kernel's, and measure how near."""
    if asked_landmarks(options) > 0:
        # A map of m landmarks takes m^3 operations: a budget that is too small is refused before.
        first_plan(source, options)
    phi = _map_of(source, options)
    facts = near_facts(source, options, phi.kernel, phi.n_features, landmarks=isinstance(phi, LandmarkMap))
    way = "landmarks" if isinstance(phi, LandmarkMap) else "features" if phi.is_exact else "map"
    plan = near_plan(facts, way, exact=phi.is_exact)
    _say(options, f"solving: {plan}")
    wish = _wish(options, facts)
    if isinstance(phi, LandmarkMap):
        solved = solve_landmarks(source, phi, wish)
    else:
        solved = solve_features(source, phi, wish, budget=options.memory_budget)
    chosen = kept(solved, options.n_components, facts.wanted)
    warn_of_share(solved, options.n_components)
    model = _assembled(source, Resolved(phi.kernel, None), solved, plan=plan, options=options, chosen=chosen)
    _say(options, "measuring the error of the approximation")
    # The solve may have left directions out.
    used = phi if solved.features is None or solved.features.phi is None else solved.features.phi
    error = measure_kernel_error(used, source, seed=options.seed)
    certificate = model.certificate if phi.is_exact else _of_approximation(model.certificate)
    return replace(model, approximate=not phi.is_exact, error=error, certificate=certificate)


def _of_approximation(certificate: Certificate) -> Certificate:
    """Say in a certificate that it holds for the approximate kernel alone."""
    said = f"{certificate.note}; " if certificate.note else ""
    return replace(certificate, note=f"{said}of the approximate kernel: how far K is from it, these bounds do not say")


def _map_of(source: RowSource, options: KernelPCAOptions) -> FeatureMap:
    given = options.features
    if options.landmarks is not None:
        given = Landmarks(options.kernel, options.landmarks, options.landmark_choice, options.seed)
    if isinstance(given, Landmarks):
        # A map reads one half of the landmarks' matrix: a function that is not symmetric would pass for another one.
        resolved = resolve_kernel(given.kernel, source)
        check_on_sample(source, resolved, centered=options.center, seed=options.seed)
        given = replace(given, kernel=resolved.kernel)
    phi = given if isinstance(given, FeatureMap) else given.fit(source)  # type: ignore[union-attr]
    if phi.kernel is None:
        message = "These features stand for no kernel (weights=False): fit PCA to them instead of KernelPCA."
        raise NotSupportedError(message)
    return phi


def _assembled(
    source: RowSource,
    resolved: Resolved,
    solved: Solved,
    *,
    plan: KernelPlan,
    options: KernelPCAOptions,
    chosen: Kept,
) -> KernelPCAModel:
    """Put a fitted model together: signs, ranks, shares, and the way rows are projected."""
    k = min(chosen.k or 0, solved.rank) if options.drop_zeros else chosen.k or 0
    rank = min(solved.rank, k)
    values = np.where(np.arange(k) < rank, np.maximum(solved.values[:k], 0.0), 0.0)
    weights = None if source.weights is None else to_host(source.weights).astype(FLOAT64)
    signs = _signs(solved.vectors[:, :k], weights)
    vectors = solved.vectors[:, :k] * signs
    expand = partial(_expansion, source, resolved, solved.centering, centered=options.center)
    known: dict[str, Any] = {
        "eigenvalues": values,
        "vectors": vectors,
        "shares": values / solved.total if solved.total > 0 else np.zeros_like(values),
        "total_variance": solved.total / (source.n_rows if weights is None else float(weights.sum())),
        "kernel": resolved.kernel,
        "centering": solved.centering,
        "source": source,
        "weights": weights,
        "n_rows": source.n_rows,
        "n_columns": source.n_columns,
        "rank": rank,
        "plan": plan,
        "options": options,
        "expansion": expand(alphas_of(values, vectors, weights, rank))
        if solved.features is None
        else solved.features.turned(np.where(np.arange(k) < rank, signs, 0.0)),
        "verdict": chosen.reason if solved.rank else NOTHING,
    }
    rest = partial(_rest, solved.certificate, k, rank)
    if callable(solved.certificate):
        return KernelPCAModel.with_rest_later(rest, known)
    return KernelPCAModel(**known, **rest())


def _rest(proof: Proof, k: int, rank: int) -> dict[str, Any]:
    whole = proof() if callable(proof) else proof
    return {"certificate": _of_zeroed(whole.leading(k), rank)}


def _of_zeroed(certificate: Certificate, rank: int) -> Certificate:
    """Return the certificate with values beyond the rank zero, as the model has them, and bounds that allow for it."""
    null = np.arange(len(certificate.values)) >= rank
    bounds = certificate.bounds + np.where(null, np.abs(certificate.values), 0.0)
    certificate = replace(certificate, values=np.where(null, 0.0, certificate.values), bounds=bounds)
    return certificate.null_beyond(rank)


def _signs(vectors: HostArray, weights: HostArray | None) -> HostArray:
    """Return signs that make the largest entry of each u positive; of a row of weight w as of w equal rows."""
    if vectors.shape[1] == 0:
        return np.zeros(0)
    if weights is not None:
        vectors = vectors / np.sqrt(np.where(weights > 0, weights, 1.0))[:, None]
    return to_host(signs_of(vectors))


def _expansion(
    source: RowSource, resolved: Resolved, centering: KernelCentering, alphas: HostArray, *, centered: bool
) -> Expansion:
    if isinstance(resolved.kernel, Precomputed):
        return MatrixExpansion(alphas, centering)
    placed = PlacedKernel.of(resolved.kernel, resolved.origin, centered=centered)
    return RowExpansion(placed, source, alphas, centering)


def _wish(options: KernelPCAOptions, facts: KernelFacts) -> Wish:
    say, nulls = partial(_say, options), options.n_components is not None and not options.drop_zeros
    return Wish(facts.wanted, facts.tol, options.seed, options.center, say, options.strict, facts.budget, nulls)


def _say(options: KernelPCAOptions, sentence: str) -> None:
    if options.progress is not None:
        options.progress(sentence)


def _check(options: KernelPCAOptions) -> None:
    if options.way not in WAYS:
        message = f"way={options.way!r} is not one of {', '.join(WAYS)}."
        raise ParameterError(message)
    if options.landmarks is not None and options.features is not None:
        message = "landmarks and features are two approximations of one kernel. Pass one of them."
        raise ParameterError(message)
