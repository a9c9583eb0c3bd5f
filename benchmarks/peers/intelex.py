"""scikit-learn-intelex: its own estimator class, used directly and not as a patch of scikit-learn."""

from __future__ import annotations

from typing import Any

from benchmarks.case import Instance
from benchmarks.peers import limits
from benchmarks.peers.peer import Forecast, Peer, Setting
from benchmarks.peers.scikit_learn import chosen_by_default


class IntelexPCA(Peer):
    """``sklearnex.decomposition.PCA`` with one solver; what oneDAL does not do falls back to scikit-learn."""

    distribution = "scikit-learn-intelex"

    def __init__(self, solver: str, *, rank: int) -> None:
        self.solver = solver
        self.name = "intelex" if solver == "auto" else f"intelex {solver}"
        self.rank = rank

    def preload(self) -> None:
        """Import the estimator."""
        import sklearnex.decomposition  # noqa: F401  loading it is the point

    def fit(self, X: Any, instance: Instance, setting: Setting) -> Any:
        """Fit with this solver and the rest at its default."""
        from sklearnex.decomposition import PCA

        model = PCA(n_components=instance.n_components, svd_solver=self.solver, random_state=0)
        return model.fit(setting.rows(X))

    def refusal(self, instance: Instance) -> str | None:
        """OneDAL takes no sparse rows; there the default is scikit-learn's own and already in the table."""
        if self.solver == "covariance_eigh" and chosen_by_default(instance) in {"covariance_eigh", "full"}:
            return "is what the default does here"
        return limits.needs_dense(instance)

    def does_the_same_work(self, instance: Instance) -> bool:
        """Dense, unless the default falls back to scikit-learn's randomized method."""
        return self.solver != "auto" or instance.rank_asked == instance.side

    def forecast(self, instance: Instance, rate: float) -> Forecast:
        """Price of the covariance, d x d even for wide rows, and of the SVD (a QR first: half of LAPACK's price)."""
        if self.solver == "covariance_eigh":
            return limits.covariance_price(instance, rate)
        if self.solver == "full":
            price = limits.singular_values_price(instance, rate)
            return Forecast(0.5 * price.seconds, price.bytes)
        return Forecast(seconds=0.0)


PEERS = [IntelexPCA(solver, rank=20 + place) for place, solver in enumerate(("auto", "covariance_eigh", "full"))]
