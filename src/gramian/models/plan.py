"""How a fit would go about it, said beforehand."""

from dataclasses import replace
from typing import Any, Literal, overload

from gramian.arrays.namespace import is_elsewhere, on_device
from gramian.errors import ParameterError
from gramian.kernels.named import as_kernel
from gramian.kernels.widths import Gamma
from gramian.models.kernel_pca.fit import EIGEN_SOLVERS, first_plan
from gramian.models.kernel_pca.model import KernelPCAOptions
from gramian.models.pca.fit import first_facts
from gramian.models.pca.model import PCAOptions
from gramian.models.probabilistic.entries import known_entries
from gramian.models.probabilistic.fit import plan_known
from gramian.planning.kernel_plan import KernelPlan
from gramian.planning.missing_plan import MissingPlan
from gramian.planning.plan import SOLVERS, Plan, plan_pca
from gramian.sources.on_device import moved
from gramian.sources.opening import as_source
from gramian.sources.rows import RowSource


@overload
def plan(
    X: Any,
    n_components: float | str | None = None,
    *,
    tol: float = 0.0,
    svd_solver: str = "auto",
    memory_budget: int | None = None,
    device: str | None = None,
) -> Plan: ...


@overload
def plan(
    X: Any,
    n_components: float | str | None = None,
    *,
    memory_budget: int | None = None,
    missing: Literal[True],
    biases: bool | None = None,
) -> MissingPlan: ...


@overload
def plan(
    X: Any,
    n_components: float | str | None = None,
    *,
    tol: float = 0.0,
    memory_budget: int | None = None,
    kernel: Any,
    gamma: Gamma = None,
    degree: float = 3,
    coef0: float = 1.0,
    eigen_solver: str = "auto",
    landmarks: int | None = None,
    device: str | None = None,
) -> KernelPlan: ...


def plan(
    X: Any,
    n_components: float | str | None = None,
    *,
    tol: float = 0.0,
    svd_solver: str = "auto",
    memory_budget: int | None = None,
    kernel: Any = None,
    gamma: Gamma = None,
    degree: float = 3,
    coef0: float = 1.0,
    eigen_solver: str = "auto",
    landmarks: int | None = None,
    missing: bool = False,
    biases: bool | None = None,
    device: str | None = None,
) -> Plan | KernelPlan | MissingPlan:
    """Say how ``PCA(n_components).fit(X)`` would go about it, without touching the numbers; or another method's fit.

    A share of variance, "auto" on a side of thousands of columns begins with the leading components and may go on to
    more: the plan is that of the beginning. On a smaller side its memory is that of all components, should the rule
    keep them; ``plan_`` of a fitted model has that of the ones kept. With landmarks, a fit may find fewer features than
    landmarks.

    Parameters
    ----------
    X : anything that ``fit`` takes
        Only its shape, type and number of stored entries are looked at.
    n_components, tol, svd_solver, memory_budget
        As for :class:`~gramian.PCA`.
    kernel, gamma, degree, coef0, eigen_solver, landmarks
        As for :class:`~gramian.estimators.kernel_pca.KernelPCA`, whose plan it is where a kernel is given; the
        others are refused without one.
    missing, biases : bool
        Whether the plan is that of :class:`~gramian.ProbabilisticPCA`, for which what is known is counted:
        a pass. Without a number of components, that of ten.
    device : str, optional
        As for the estimators: whether the rows fit there as a whole or are streamed is said, and no row is moved.

    Returns
    -------
    Plan, KernelPlan where a kernel is given, or MissingPlan

    Examples
    --------
    >>> import numpy as np
    >>> print(plan(np.zeros((200, 5000)), 10).operator)
    gram
    >>> print(plan(np.broadcast_to(0.0, (100_000, 50)), 10, kernel="rbf", tol=1e-5))
    iteration on the kernel matrix, made in tiles and never stored, because the 100,000 x 100,000 matrix would take
    80 GB: time is spent instead of memory
    about 3 products with 1,106 landmarks first, 2.6e+12 operations, ... MB beyond the rows
    """
    if is_elsewhere(device) and (missing or landmarks is not None or kernel == "precomputed"):
        what = "missing values" if missing else "precomputed kernels" if landmarks is None else "landmarks"
        message = f"device={device!r}, and {what} are handled on the host. Leave device=None with them."
        raise ParameterError(message)
    if missing:
        source = as_source(X, missing=True)
        known = known_entries(source, budget=memory_budget)
        own = known.of_sparse if biases is None else biases
        most = min(source.n_rows, source.n_columns)
        k = int(_at_most(10 if n_components in (None, "auto") else n_components, most))
        return plan_known(known, k, biases=own, budget=memory_budget)
    if kernel is None:
        _require_unset(gamma=gamma, eigen_solver=eigen_solver, landmarks=landmarks)
        _require_unset(degree=None if degree == 3 else degree, coef0=None if coef0 == 1 else coef0)
        _require_known("svd_solver", svd_solver, tuple(SOLVERS))
        options = PCAOptions(n_components=n_components, tol=tol, solver=svd_solver, memory_budget=memory_budget)
        source = _placed(as_source(X), device)
        return replace(plan_pca(first_facts(source, options)), moved=source.moved)
    if svd_solver != "auto":
        message = f"svd_solver={svd_solver!r} is of PCA: a kernel PCA takes eigen_solver."
        raise ParameterError(message)
    _require_known("eigen_solver", eigen_solver, tuple(EIGEN_SOLVERS))
    source = _placed(as_source(X), device, whole=True)
    asked = KernelPCAOptions(
        n_components=_at_most(n_components, source.n_rows),
        kernel=as_kernel(kernel, gamma=gamma, degree=degree, coef0=coef0),
        way=EIGEN_SOLVERS[eigen_solver] if source.n_rows > 1 else "dense",
        tol=tol,
        memory_budget=memory_budget,
        landmarks=landmarks,
    )
    return replace(first_plan(source, asked), moved=source.moved)


def _placed(source: RowSource, device: str | None, *, whole: bool = False) -> RowSource:
    """Return what stands for rows of the host on a device, or the rows where they are."""
    if not is_elsewhere(device) or on_device(source.like()):
        return source
    return moved(source, device, whole=whole, dry=True)


def _at_most(n_components: Any, n: int) -> Any:
    """Return a number of components, as many as there are rows where more are asked for."""
    return min(n_components, n) if isinstance(n_components, int) else n_components


def _require_known(name: str, value: str, words: tuple[str, ...]) -> None:
    if value not in words:
        message = f"{name}={value!r} is not one of {', '.join(words)}."
        raise ParameterError(message)


def _require_unset(**given: Any) -> None:
    """Refuse what is of a kernel PCA where no kernel is given."""
    for name, value in given.items():
        if value not in (None, "auto"):
            message = f"{name}={value!r} is of a kernel PCA: pass kernel= too, such as kernel='rbf'."
            raise ParameterError(message)
