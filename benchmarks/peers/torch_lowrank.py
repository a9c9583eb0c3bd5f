"""torch.pca_lowrank on the CPU."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import scipy.sparse

from benchmarks.case import Arrays, Instance
from benchmarks.peers import limits
from benchmarks.peers.peer import Forecast, Ladder, Peer, Setting, answer_from_svd


class TorchLowRank(Peer):
    """``torch.pca_lowrank(X, q=k)``; beyond its default two iterations with ten extra vectors."""

    name = "torch.pca_lowrank"
    distribution = "torch"
    rank = 31

    def preload(self) -> None:
        """Import torch."""
        import torch  # noqa: F401  loading it is the point

    def prepare(self, X: Any) -> Any:
        """Wrap the same memory as a tensor; sparse rows become the coordinate form, the only one it takes."""
        import torch

        torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
        if not scipy.sparse.issparse(X):
            return torch.from_numpy(X)
        entries = X.tocoo()
        places = torch.from_numpy(np.vstack([entries.row, entries.col]).astype(np.int64))
        return torch.sparse_coo_tensor(
            places, torch.from_numpy(entries.data), X.shape, check_invariants=False
        ).coalesce()

    def fit(self, X: Any, instance: Instance, setting: Setting) -> Any:
        """Seed and solve."""
        import torch

        torch.manual_seed(0)
        rows = X.double() if setting.in_float64 else X
        return torch.pca_lowrank(rows, **{"q": instance.rank_asked, **setting.options})

    def ladder(self, instance: Instance) -> Ladder:
        """Doublings of the number of iterations."""
        width = min(instance.rank_asked + 10, instance.side)
        more = tuple(Setting(f"niter={q}, q=k+10", {"niter": q, "q": width}) for q in (4, 8, 16, 32, 64, 128))
        return Ladder((Setting("niter=1", {"niter": 1}), Setting("default"), *more), default=1)

    def refusal(self, instance: Instance) -> str | None:
        """It takes a whole number of components, and fewer than all."""
        return limits.needs_room(instance)

    def forecast(self, instance: Instance, rate: float) -> Forecast:
        """Block products; for sparse rows it also makes a dense n x d matrix of means."""
        price = limits.subspace_price(instance, rate)
        if not instance.is_sparse:
            return price
        width = 8 if instance.dtype == "float64" else 4
        return Forecast(price.seconds, price.bytes + 2.0 * instance.n_rows * instance.n_columns * width)

    def read(self, fitted: Any, instance: Instance) -> Arrays:
        """From U, S, V."""
        _, sigma, V = fitted
        return answer_from_svd(sigma.numpy(), V.numpy(), instance)


PEERS = [TorchLowRank()]
