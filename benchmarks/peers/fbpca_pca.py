"""fbpca: Facebook's randomized PCA."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.case import Arrays, Instance
from benchmarks.peers import limits
from benchmarks.peers.peer import Forecast, Ladder, Peer, Setting, answer_from_svd


class FacebookPCA(Peer):
    """``fbpca.pca(X, k)``; beyond its default two iterations with ten extra vectors, its best use."""

    name = "fbpca"
    distribution = "fbpca"
    rank = 30

    def preload(self) -> None:
        """Import the function."""
        import fbpca  # noqa: F401  loading it is the point

    def prepare(self, X: Any) -> Any:
        """Seed NumPy's global state, which fbpca draws from."""
        np.random.seed(0)  # noqa: NPY002  fbpca knows no other way
        return X

    def fit(self, X: Any, instance: Instance, setting: Setting) -> Any:
        """Center and solve."""
        import fbpca

        return fbpca.pca(setting.rows(X), instance.rank_asked, raw=False, **setting.options)

    def ladder(self, instance: Instance) -> Ladder:
        """Doublings of the number of iterations."""
        width = min(instance.rank_asked + 10, instance.side)
        more = tuple(Setting(f"n_iter={q}, l=k+10", {"n_iter": q, "l": width}) for q in (4, 8, 16, 32, 64, 128))
        return Ladder((Setting("n_iter=1", {"n_iter": 1}), Setting("default"), *more), default=1)

    def refusal(self, instance: Instance) -> str | None:
        """It takes a whole number of components, and fewer than all."""
        return limits.needs_room(instance)

    def forecast(self, instance: Instance, rate: float) -> Forecast:
        """Block products."""
        return limits.subspace_price(instance, rate)

    def read(self, fitted: Any, instance: Instance) -> Arrays:
        """From U, s, V'."""
        _, sigma, components = fitted
        return answer_from_svd(sigma, np.asarray(components).T, instance)


PEERS = [FacebookPCA()]
