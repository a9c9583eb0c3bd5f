"""Gramian itself, at its defaults; and its solvers by name, for setting the plan's thresholds."""

from __future__ import annotations

from typing import Any

from benchmarks.case import Instance
from benchmarks.peers.peer import Ladder, Peer, Setting


class GramianPCA(Peer):
    """``gramian.PCA(n_components=k)``, nothing else said."""

    distribution = "gramian"

    def __init__(self, solver: str = "auto") -> None:
        self.solver = solver
        self.name = "Gramian" if solver == "auto" else f"Gramian {solver}"
        self.rank = 0 if solver == "auto" else 1
        self.only_when_named = solver != "auto"

    def preload(self) -> None:
        """Import the estimator."""

    def ladder(self, instance: Instance) -> Ladder:
        """Only the default: Gramian promises its accuracy without a setting."""
        del instance
        return Ladder((Setting("default"),))

    def fit(self, X: Any, instance: Instance, setting: Setting) -> Any:
        """Fit with every option but the solver at its default."""
        from gramian import PCA

        del setting
        chosen = {} if self.solver == "auto" else {"svd_solver": self.solver}
        return PCA(n_components=instance.n_components, **chosen).fit(X)

    def notes(self, fitted: Any) -> dict[str, Any]:
        """What the plan said it would do, the memory it predicted, and how many components came out."""
        plan = getattr(fitted, "plan_", None)
        facts = {name: getattr(plan, name, None) for name in ("operator", "held", "solver", "reason", "passes")}
        facts["held"] = getattr(plan, "held", False) or "formed on the way" in fitted.certificate_.note
        peak = getattr(plan, "peak_bytes", None)
        return {
            **{name: str(fact) for name, fact in facts.items() if fact is not None},
            "predicted_peak_bytes": None if peak is None else int(peak),
            "components": int(fitted.components_.shape[0]),
        }


PEERS = [
    GramianPCA(),
    *(GramianPCA(solver) for solver in ("full", "covariance_eigh", "gram", "krylov", "power")),
]
