"""Who is measured: Gramian's ways to fit, and scikit-learn's solvers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.kernel_pca.rows import K

Fit = Callable[[np.ndarray, float, float], Any]


@dataclass(frozen=True)
class Way:
    """A way to fit: its name, and ``fit(X, gamma, tol)``."""

    name: str
    fit: Fit


def gramian(**options: Any) -> Fit:
    """Return a fit by ``gramian.KernelPCA``."""

    def fit(X: np.ndarray, gamma: float, tol: float) -> Any:
        from gramian import KernelPCA

        return KernelPCA(K, kernel="rbf", gamma=gamma, tol=tol, random_state=0, **options).fit(X)

    return fit


def scikit_learn(solver: str) -> Fit:
    """Return a fit by ``sklearn.decomposition.KernelPCA`` with one of its solvers, on the rows as they are."""

    def fit(X: np.ndarray, gamma: float, tol: float) -> Any:
        from sklearn.decomposition import KernelPCA

        return KernelPCA(K, kernel="rbf", gamma=gamma, tol=tol, eigen_solver=solver, random_state=0).fit(X)

    return fit


def in_double(fit: Fit) -> Fit:
    """Return a fit on rows converted to float64."""
    return lambda X, gamma, tol: fit(X.astype(np.float64), gamma, tol)


OURS = Way("Gramian", gramian())


def ways_at(n: int) -> list[Way]:
    """Return who is measured at a size: scikit-learn's dense solver only where it takes seconds."""
    arpack, randomized = scikit_learn("arpack"), scikit_learn("randomized")
    ways = [
        OURS,
        Way("scikit-learn arpack, float32", arpack),
        Way("scikit-learn arpack, float64", in_double(arpack)),
        Way("scikit-learn randomized, float32", randomized),
        Way("scikit-learn randomized, float64", in_double(randomized)),
    ]
    if n <= 5_000:
        ways.append(Way("scikit-learn dense, float64", in_double(scikit_learn("dense"))))
    else:
        ways.append(Way("Gramian, budget of a tenth", gramian(memory_budget=int(4 * n**2 / 10))))
    return ways


def way_named(name: str, n: int) -> Way:
    """Return a way by its name."""
    return next(way for way in ways_at(n) if way.name == name)
