"""scikit-learn's PCA: what it picks by itself, and each of its solvers."""

from __future__ import annotations

import math
from typing import Any

from benchmarks.case import Instance
from benchmarks.peers import limits
from benchmarks.peers.peer import Forecast, Ladder, Peer, Setting
from benchmarks.principal import TOLERANCE


class ScikitLearnPCA(Peer):
    """``sklearn.decomposition.PCA`` with one solver."""

    distribution = "scikit-learn"

    def __init__(self, solver: str, *, rank: int) -> None:
        self.solver = solver
        self.name = "scikit-learn" if solver == "auto" else f"scikit-learn {solver}"
        self.rank = rank

    def preload(self) -> None:
        """Import the estimator."""
        import sklearn.decomposition  # noqa: F401  loading it is the point

    def fit(self, X: Any, instance: Instance, setting: Setting) -> Any:
        """Fit with this solver, and otherwise only the options of the setting."""
        from sklearn.decomposition import PCA

        model = PCA(n_components=instance.n_components, svd_solver=self.solver, random_state=0, **setting.options)
        return model.fit(setting.rows(X))

    def ladder(self, instance: Instance) -> Ladder:
        """Tolerances for ARPACK, power iterations for the randomized method, a float64 copy for the rest."""
        if self.solver == "arpack":
            return tolerance_ladder(instance, of_singular_values=True)
        if self.solver == "randomized":
            return iteration_ladder(instance)
        return Ladder((Setting("default"),))

    def refusal(self, instance: Instance) -> str | None:
        """Solvers that cannot take this question or these rows."""
        if self.solver == "arpack":
            return limits.needs_a_few(instance)
        if self.solver == "randomized":
            return limits.needs_dense(instance) or limits.needs_room(instance)
        if self.solver == chosen_by_default(instance):
            return "is what the default does here"
        return limits.needs_dense(instance) if self.solver == "full" else None

    def does_the_same_work(self, instance: Instance) -> bool:
        """Dense methods; the default is never left out."""
        del instance
        return self.solver in {"full", "covariance_eigh"}

    def forecast(self, instance: Instance, rate: float) -> Forecast:
        """Price of the dense solvers; the default never picks an impossible one on these cases."""
        prices = {
            "full": limits.singular_values_price,
            "covariance_eigh": limits.covariance_price,
            "randomized": limits.subspace_price,
        }
        return prices[self.solver](instance, rate) if self.solver in prices else Forecast(seconds=0.0)


def chosen_by_default(instance: Instance) -> str:
    """The solver that "auto" means, by scikit-learn's documented rule."""
    n, d, k = instance.n_rows, instance.n_columns, instance.n_components
    if instance.is_sparse:
        return "arpack"
    if d <= 1_000 and n >= 10 * d:
        return "covariance_eigh"
    few = k is not None and 1 <= k < 0.8 * instance.side
    return "randomized" if few and max(n, d) > 500 else "full"


def tolerance_ladder(instance: Instance, *, of_singular_values: bool) -> Ladder:
    """Tolerances around the house tolerance; ARPACK's default, 0, means machine precision.

    ``svds`` squares its tolerance, because it asks ARPACK for eigenvalues; so it is given the root of ours.
    """
    wanted = [factor * TOLERANCE[instance.dtype] for factor in (1e2, 1.0)]
    given = [math.sqrt(tol) if of_singular_values else tol for tol in wanted]
    loose = tuple(Setting(f"tol={tol:.0e}", {"tol": tol}) for tol in given)
    return Ladder((*loose, Setting("default", {"tol": 0})), default=len(loose))


def iteration_ladder(instance: Instance) -> Ladder:
    """Power iterations: fractions and multiples of what "auto" means (7, or 4 for many components)."""
    auto = 7 if instance.rank_asked < 0.1 * instance.side else 4
    fewer = tuple(Setting(f"iterated_power={q}", {"iterated_power": q}) for q in (auto // 4, auto // 2))
    more = tuple(
        Setting(f"iterated_power={auto * factor}", {"iterated_power": auto * factor}) for factor in (2, 4, 8, 16, 32)
    )
    return Ladder((*fewer, Setting("default"), *more), default=len(fewer))


PEERS = [
    ScikitLearnPCA(solver, rank=10 + place)
    for place, solver in enumerate(("auto", "full", "covariance_eigh", "arpack", "randomized"))
]
