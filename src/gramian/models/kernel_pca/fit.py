"""Kernel principal components: the function that fits them.

:func:`fit_kernel_pca` reads from top to bottom: what was asked, the problem that this poses (with the checks that come
before work), its plan, its solution, the model. Which problem it is, :func:`_posed` says once: a kernel matrix that was
given; features that were asked for, of landmarks or others; or the kernel matrix of the rows.
"""

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gramian.arrays.namespace import HostArray, free_bytes, on_device, to_host
from gramian.eigen.certificate import Certificate
from gramian.eigen.pairs import signs_of
from gramian.errors import (
    MemoryBudgetError,
    NotSupportedError,
    Parameter,
    ParameterError,
    Phrase,
    RankWarning,
    Sentence,
    users_line,
)
from gramian.features.feature_map import FeatureMap, FeatureRecipe
from gramian.features.kernel_error import measure_kernel_error
from gramian.features.nystrom import Landmarks
from gramian.features.polynomial import LARGEST_PHI, MonomialMap, Monomials, n_monomials
from gramian.features.sampling import Resolved, resolve_kernel
from gramian.kernels.blocks import require_on_cpu
from gramian.kernels.centering import RowWeights
from gramian.kernels.kernel import Kernel
from gramian.kernels.widths import DataFacts
from gramian.machine import memory_budget, one_blas_thread
from gramian.models.kernel_pca.approximate import solve_features, solve_landmarks
from gramian.models.kernel_pca.checks import check_on_sample
from gramian.models.kernel_pca.expansion import Expansion, MatrixExpansion, RowExpansion
from gramian.models.kernel_pca.model import KernelPCAModel, KernelPCAOptions, alphas_of
from gramian.models.kernel_pca.solve import Solved, SolveRequest, solve_matrix, solve_rows
from gramian.operators.kernel_tiles import PlacedKernel
from gramian.planning.kernel_plan import WAYS, KernelFacts, KernelPlan, fits, largest_k, plan_kernel_pca
from gramian.sources.progress import say
from gramian.sources.rows import RowSource


class Problem(NamedTuple):
    """What a fit has to solve.

    Attributes
    ----------
    resolved : Resolved
        The kernel with numbers for parameters, and the point that rows are counted from.
    facts : KernelFacts
        What the first plan rests on.
    plan : callable
        From facts to a plan.
    solve : callable
        From a plan and a request to eigenpairs.
    limit : int
        Components that there are at most.
    phi : FeatureMap or None
        The features that were asked for in place of the kernel's.
    """

    resolved: Resolved
    facts: KernelFacts
    plan: Callable[[KernelFacts], KernelPlan]
    solve: Callable[[KernelPlan, SolveRequest], Solved]
    limit: int
    phi: FeatureMap | None = None


class Kept(NamedTuple):
    """How many components are kept, and why; ``None`` when more must be seen first."""

    k: int | None
    reason: str = ""


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
    if options.kernel.is_precomputed or options.landmarks is not None or options.features is not None:
        require_on_cpu(source.like())
    # Passes by workers and short BLAS calls take turns all through; large dense problems ask for the threads.
    with one_blas_thread():
        problem = _posed(source, options)
        facts = problem.facts
        while True:  # until it is known how many components are kept
            plan = problem.plan(facts)
            say(options, f"solving: {plan}")
            solved = problem.solve(plan, _request(options, facts))
            chosen = kept(solved, options.n_components, problem.limit)
            if chosen.k is not None:
                break
            facts = more(facts, solved, options.n_components)
        model = _assembled(source, problem.resolved, solved, plan=plan, options=options, chosen=chosen)
        return model if problem.phi is None else _of_features(model, problem.phi, solved)


def _check(options: KernelPCAOptions) -> None:
    if options.way not in WAYS:
        message = f"way={options.way!r} is not one of {', '.join(WAYS)}."
        raise ParameterError(message)
    if options.landmarks is not None and options.features is not None:
        message = "landmarks and features are two approximations of one kernel. Pass one of them."
        raise ParameterError(message)


def _posed(source: RowSource, options: KernelPCAOptions) -> Problem:
    """Return the problem that was asked for; refuse rows and kernels that have none."""
    if options.kernel.is_precomputed:
        return _given_matrix(source, options)
    say(options, f"measuring {source.n_rows:,} x {source.n_columns:,} rows")
    if options.landmarks is not None or options.features is not None:
        return _asked_features(source, options)
    resolved = resolve_kernel(options.kernel, source, seed=options.seed)
    check_on_sample(source, resolved, centered=options.center, seed=options.seed)

    def solve(plan: KernelPlan, request: SolveRequest) -> Solved:
        if plan.way != "features":
            return solve_rows(source, resolved, plan, request)
        phi, budget = own_map(resolved.kernel, source), options.memory_budget
        return solve_features(source, phi, request, budget=budget, origin=resolved.origin)

    facts = first_facts(source, options, resolved.kernel)
    return Problem(resolved, facts, plan_kernel_pca, solve, source.n_rows)


def _given_matrix(source: RowSource, options: KernelPCAOptions) -> Problem:
    """Return the problem of a kernel matrix that was given instead of rows."""

    def solve(_: KernelPlan, request: SolveRequest) -> Solved:
        return solve_matrix(source, options.kernel, request)

    facts = matrix_facts(source, options)
    return Problem(Resolved(options.kernel, None), facts, matrix_plan, solve, source.n_rows)


def _asked_features(source: RowSource, options: KernelPCAOptions) -> Problem:
    """Return the problem of PCA of features near the kernel's, or of those of an exact map."""
    recipe: Any = options.features
    if options.landmarks is not None:
        recipe = Landmarks(options.kernel, options.landmarks, options.landmark_choice, options.seed)
    if asked_landmarks(options) > 0:
        # A map of m landmarks takes m^3 operations: a budget that is too small is refused before.
        first_plan(source, options)
        # A map reads one half of the landmarks' matrix: a function that is not symmetric would pass for another one.
        resolved = resolve_kernel(recipe.kernel, source)
        check_on_sample(source, resolved, centered=options.center, seed=options.seed)
        recipe = replace(recipe, kernel=resolved.kernel)
    phi: FeatureMap = recipe if isinstance(recipe, FeatureMap) else recipe.fit(source)
    if phi.kernel is None:
        message = "These features stand for no kernel (weights=False): fit PCA to them instead of KernelPCA."
        raise NotSupportedError(message)
    nystrom = phi.by_landmarks

    def solve(_: KernelPlan, request: SolveRequest) -> Solved:
        if nystrom is not None:
            return solve_landmarks(source, nystrom, request)
        return solve_features(source, phi, request, budget=options.memory_budget)

    facts = near_facts(source, options, phi.kernel, phi.n_features, landmarks=nystrom is not None)
    way = "landmarks" if nystrom is not None else "features" if phi.is_exact else "map"
    plan = partial(near_plan, way=way, exact=phi.is_exact)
    return Problem(Resolved(phi.kernel, None), facts, plan, solve, facts.wanted, phi)


def _of_features(model: KernelPCAModel, phi: FeatureMap, solved: Solved) -> KernelPCAModel:
    """Say of a model of features how near they are to the kernel, and what its certificate is about."""
    options = model.options
    warn_of_share(solved, options.n_components)
    say(options, "measuring the error of the approximation")
    # The solve may have left directions out.
    used = phi if solved.features is None or solved.features.phi is None else solved.features.phi
    error = measure_kernel_error(used, model.source, seed=options.seed)
    if phi.is_exact:
        return replace(model, error=error)
    certificate = model.certificate
    said = f"{certificate.note}; " if certificate.note else ""
    note = f"{said}of the approximate kernel: how far K is from it, these bounds do not say"
    return replace(model, approximate=True, error=error, certificate=replace(certificate, note=note))


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
    rows = RowWeights.of(source.n_rows, source.weights)
    weights = rows.weights
    signs = _signs(solved.vectors[:, :k], weights)
    vectors = solved.vectors[:, :k] * signs
    if solved.features is not None:
        expansion: Expansion = solved.features.turned(np.where(np.arange(k) < rank, signs, 0.0))
    elif resolved.kernel.is_precomputed:
        expansion = MatrixExpansion(alphas_of(values, vectors, weights, rank), solved.centering)
    else:
        placed = PlacedKernel.of(resolved.kernel, resolved.origin, centered=options.center)
        expansion = RowExpansion(placed, source, alphas_of(values, vectors, weights, rank), solved.centering)
    alike = "the rows are all alike to this kernel: its centered matrix is zero but for rounding, and has no components"
    return KernelPCAModel(
        eigenvalues=values,
        vectors=vectors,
        shares=values / solved.total if solved.total > 0 else np.zeros_like(values),
        total_variance=solved.total / rows.total,
        kernel=resolved.kernel,
        centering=solved.centering,
        source=source,
        weights=weights,
        n_rows=source.n_rows,
        n_columns=source.n_columns,
        rank=rank,
        plan=plan,
        options=options,
        expansion=expansion,
        verdict=chosen.reason if solved.rank else alike,
        certificate=_of_zeroed(solved.certificate.leading(k), rank),
    )


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


def _request(options: KernelPCAOptions, facts: KernelFacts) -> SolveRequest:
    return SolveRequest(
        facts.wanted,
        facts.tol,
        options.seed,
        options.center,
        partial(say, options),
        options.strict,
        facts.budget,
        nulls=options.n_components is not None and not options.drop_zeros,
    )


EIGEN_SOLVERS = {
    "auto": "auto",
    "dense": "dense",
    "arpack": "auto",
    "randomized": "auto",
    "stored": "stored",
    "tiled": "tiled",
}
"""What each ``eigen_solver`` of scikit-learn's and ours asks of a plan."""


def first_plan(source: RowSource, options: KernelPCAOptions) -> KernelPlan:
    """Return the plan that a fit begins with, without a pass over the rows.

    Parameters of the kernel that the rows would give are taken for one: no way depends on their values. Of landmarks,
    all are counted; a fit leaves out those that rounding cannot tell apart.
    """
    if options.kernel.is_precomputed:
        return matrix_plan(matrix_facts(source, options))
    unknown = DataFacts(source.n_columns, 1.0, lambda: 1.0, lambda: 1.0)
    kernel = options.kernel.resolved(unknown)
    if m := min(asked_landmarks(options), source.n_rows):
        return near_plan(near_facts(source, options, kernel, m, landmarks=True), way="landmarks", exact=False)
    return plan_kernel_pca(first_facts(source, options, kernel))


def first_facts(source: RowSource, options: KernelPCAOptions, kernel: Kernel) -> KernelFacts:
    """Return the facts that the first plan of a fit rests on; ``kernel`` has numbers for parameters."""
    facts = KernelFacts(
        n=source.n_rows,
        d=source.n_columns,
        k=requested(options.n_components, source.n_rows),
        tol=options.tol or 1e-6,  # the default of kernels, relative to the first eigenvalue
        way=options.way,
        budget=options.memory_budget or room_for(source),
        slow=not kernel.is_cheap,
        features=own_features(kernel, source),
        pass_bytes=source.pass_bytes,
    )
    return first_look(facts, options.n_components)


def room_for(source: RowSource) -> int:
    """Return the bytes that a fit may take: what is free on the device of the rows, or the budget of the process."""
    like = source.like()
    return free_bytes(like) if on_device(like) else memory_budget()


def own_features(kernel: Kernel, source: RowSource) -> int | None:
    """Return the size of the kernel's own explicit map on rows of so many columns; ``None`` where there is none.

    Examples
    --------
    >>> from gramian.kernels import Polynomial
    >>> from gramian.sources import as_source
    >>> own_features(Polynomial(degree=2, gamma=1.0), as_source(np.zeros((3, 100))))
    5151
    """
    if on_device(source.like()):  # products are quick there, and features would be made on the host
        return None
    form = kernel.polynomial_form
    if form is not None and form.is_linear:
        return source.n_columns
    if form is None or source.is_sparse or not form.has_real_features:
        return None
    size = n_monomials(source.n_columns, int(form.degree), homogeneous=form.coef0 == 0)
    return size if size <= LARGEST_PHI else None


def own_map(kernel: Kernel, source: RowSource) -> MonomialMap | None:
    """Return the kernel's own map; ``None`` for the linear kernel, whose features are the rows."""
    form = kernel.polynomial_form
    return None if form is None or form.is_linear else Monomials(int(form.degree), form.gamma, form.coef0).fit(source)


def matrix_facts(source: RowSource, options: KernelPCAOptions) -> KernelFacts:
    """Return the facts of a matrix that was given."""
    return replace(first_facts(source, options, options.kernel), features=None, way="dense")


def matrix_plan(facts: KernelFacts) -> KernelPlan:
    """Return the plan of a matrix that was given: there is nothing to choose."""
    return replace(plan_kernel_pca(facts), reason="because the matrix was given")


def near_plan(facts: KernelFacts, *, way: str, exact: bool) -> KernelPlan:
    """Return the plan of a fit to features near the kernel's, or to those of an exact map."""
    words = "features were asked for" if exact else "features near the kernel's were asked for"
    return replace(plan_kernel_pca(facts), way=way, reason=f"because {facts.features:,} {words}")


def asked_landmarks(options: KernelPCAOptions) -> int:
    """Return the landmarks that a fit would choose, zero where it is given a map or features of another kind."""
    if options.landmarks is not None:
        return options.landmarks
    return options.features.n_landmarks if isinstance(options.features, FeatureRecipe) else 0


def near_facts(
    source: RowSource, options: KernelPCAOptions, kernel: Kernel, features: int, *, landmarks: bool
) -> KernelFacts:
    """Return the facts of a fit to so many features near the kernel's."""
    k = _within(requested(options.n_components, source.n_rows), features)
    facts = first_facts(source, options, kernel)
    return replace(facts, k=k, features=features, way="features", approximate=True, landmarks=landmarks)


def _within(k: int | None, features: int) -> int:
    if k is None or k <= features:
        return features if k is None else k
    message = Sentence(
        f"{{asked}} is more than the {features:,} features of the approximation. Pass at most {features}, or more "
        "landmarks or features.",
        asked=Parameter("n_components", (k,)),
    )
    raise ParameterError(message, parameter="n_components", value=k)


def requested(n_components: Any, n: int) -> int | None:
    """Return how many components are asked for; ``None`` when the spectrum must be seen first.

    Examples
    --------
    >>> requested(3, 7), requested(0.95, 7), requested(None, 7)
    (3, None, None)
    """
    if n_components is None or (isinstance(n_components, float) and 0 < n_components < 1):
        return None
    if isinstance(n_components, str) or int(n_components) != n_components or not 1 <= n_components <= n:
        message = Sentence(
            "{asked} is not a number of components between 1 and {most}. Pass an integer up to {n}, a share such as "
            "0.95, or {others}.",
            asked=Parameter("n_components", (n_components,)),
            most=Phrase(f"n_samples={n}", f"{n}, the number of rows"),
            n=n,
            others=Phrase("None for all with a non-zero eigenvalue", "auto"),
        )
        raise ParameterError(message, parameter="n_components", value=n_components)
    return int(n_components)


def first_look(facts: KernelFacts, n_components: Any) -> KernelFacts:
    """Return the facts of the first solve: for a share all pairs up to 3,000 rows, where they fit, else 64 of them."""
    if facts.k is not None or n_components is None or (facts.n <= 3000 and fits(facts)):
        return facts
    return replace(facts, k=min(64, max(facts.n // 4, 1)))


def kept(solved: Solved, n_components: Any, n: int) -> Kept:
    """Return how many of the pairs found are kept."""
    if n_components is None:
        return Kept(solved.rank, "Every eigenvalue that is not zero.")
    k = requested(n_components, n)
    if k is not None:
        return Kept(k)
    if solved.total <= 0:
        return Kept(min(1, len(solved.values)), "Nothing varies.")
    share = np.cumsum(np.maximum(solved.values, 0.0)) / solved.total
    # The share of all pairs is one but for rounding, and a share that is met to rounding is met.
    reached = np.flatnonzero(share >= float(n_components) - 1e-12)
    if len(reached):
        return Kept(int(reached[0]) + 1, f"It holds at least {float(n_components):g} of the variance.")
    if len(solved.values) < n:
        return Kept(None)
    return Kept(
        len(solved.values), f"All there are: they hold {_share(share[-1])} of the variance, less than was asked."
    )


def warn_of_share(solved: Solved, n_components: Any) -> None:
    """Say so when all components of an approximation hold less than the share that was asked for."""
    if requested(n_components, len(solved.vectors)) is not None or n_components is None or solved.total <= 0:
        return
    have = float(np.maximum(solved.values, 0.0).sum()) / solved.total
    if have >= float(n_components) - 1e-12:
        return
    message = Sentence(
        f"The {len(solved.values):,} components of this approximation hold {_share(have)} of the variance of the rows, "
        "and {asked} asks for more: all of them are kept. Pass more landmarks or features, a smaller share, or fit "
        "exactly.",
        asked=Parameter("n_components", (n_components,)),
    )
    warnings.warn(message, RankWarning, stacklevel=users_line())


def more(facts: KernelFacts, solved: Solved, n_components: Any) -> KernelFacts:
    """Return the facts of the next look: twice the pairs, or more where the values found say that more are needed.

    Raises
    ------
    MemoryBudgetError
        When as many pairs as fit the budget do not hold the share.
    """
    have = float(np.maximum(solved.values, 0.0).sum()) / solved.total
    # What is left would take that many more pairs if all of them were as large as the last one found.
    left, last = float(n_components) - have, max(float(solved.values[-1]), 0.0) / solved.total
    at_least = facts.wanted + (int(left / last) if left < facts.n * last else facts.n)
    wanted = min(max(2 * facts.wanted, at_least), facts.n)
    asked, most = replace(facts, k=wanted), largest_k(facts)
    try:
        plan_kernel_pca(asked)
    except MemoryBudgetError as refusal:
        if facts.wanted < most:
            return replace(facts, k=most)
        message = Sentence(
            f"The first {facts.wanted:,} components of {facts.n:,} rows hold {have:.3f} of the variance, "
            f"{{asked}} asks for more, and no more than {most:,} fit the {{budget}}. Pass a smaller share, a number of "
            "components, a larger {budget}, or a wider kernel.",
            asked=Parameter("n_components", (n_components,)),
            budget=Parameter("memory_budget"),
        )
        raise MemoryBudgetError(message, needed=refusal.needed, budget=facts.budget) from None
    return asked


def _share(value: float) -> str:
    """Return a share in as many digits as tell it from one."""
    digits = max(4, 1 - int(np.floor(np.log10(1 - value)))) if 0 < value < 1 else 4
    return f"{value:.{digits}g}"
