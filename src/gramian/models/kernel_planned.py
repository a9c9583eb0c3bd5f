"""What a kernel PCA would do with rows, known from their shape and the kernel alone, before any pass."""

from dataclasses import replace

from gramian.errors import ParameterError
from gramian.features.nystrom import Landmarks
from gramian.kernels.kernel import DataFacts, Kernel
from gramian.kernels.precomputed import Precomputed
from gramian.models.kernel_features import own_features
from gramian.models.kernel_how_many import first_look, requested
from gramian.models.kernel_model import KernelPCAOptions
from gramian.planning.kernel_plan import KernelFacts, KernelPlan, plan_kernel_pca
from gramian.planning.plan import default_budget
from gramian.sources.rows import RowSource

HOUSE_TOLERANCE = 1e-6
"""Largest residual, relative to the first eigenvalue, when nothing is said."""

CHEAP = ("Gaussian", "linear", "polynomial", "cosine", "sigmoid")
"""Kernels whose tiles cost little beside the products with them."""

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
    if isinstance(options.kernel, Precomputed):
        return of_given_matrix(plan_kernel_pca(matrix_facts(source, options)))
    unknown = DataFacts(source.n_columns, 1.0, lambda: 1.0, lambda: 1.0)
    kernel = options.kernel.resolved(unknown)
    if m := min(asked_landmarks(options), source.n_rows):
        return near_plan(near_facts(source, options, kernel, m, landmarks=True), "landmarks", exact=False)
    return plan_kernel_pca(first_facts(source, options, kernel))


def first_facts(source: RowSource, options: KernelPCAOptions, kernel: Kernel) -> KernelFacts:
    """Return the facts that the first plan of a fit rests on; ``kernel`` has numbers for parameters."""
    facts = KernelFacts(
        n=source.n_rows,
        d=source.n_columns,
        k=requested(options.n_components, source.n_rows),
        tol=options.tol or HOUSE_TOLERANCE,
        way=options.way,
        budget=options.memory_budget or default_budget(),
        slow=kernel.name not in CHEAP,
        features=own_features(kernel, source),
    )
    return first_look(facts, options.n_components)


def matrix_facts(source: RowSource, options: KernelPCAOptions) -> KernelFacts:
    """Return the facts of a matrix that was given."""
    return replace(first_facts(source, options, options.kernel), features=None, way="dense")


def of_given_matrix(plan: KernelPlan) -> KernelPlan:
    """Say in a plan that there is nothing to choose."""
    return replace(plan, reason="because the matrix was given")


def near_plan(facts: KernelFacts, way: str, *, exact: bool) -> KernelPlan:
    """Return the plan of a fit to features near the kernel's, or to those of an exact map."""
    words = "features were asked for" if exact else "features near the kernel's were asked for"
    return replace(plan_kernel_pca(facts), way=way, reason=f"because {facts.features:,} {words}")


def asked_landmarks(options: KernelPCAOptions) -> int:
    """Return the landmarks that a fit would choose, zero where it is given a map or features of another kind."""
    if options.landmarks is not None:
        return options.landmarks
    return options.features.n_landmarks if isinstance(options.features, Landmarks) else 0


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
    message = (
        f"n_components={k} is more than the {features:,} features of the approximation. Pass at most {features}, or "
        "more landmarks or features."
    )
    raise ParameterError(message)
