"""SciPy's svds and eigsh on the centered rows, as a careful user writes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

from benchmarks.case import Arrays, Instance
from benchmarks.peers import limits
from benchmarks.peers.peer import Ladder, Peer, Setting, answer_from_svd
from benchmarks.peers.scikit_learn import tolerance_ladder


class SingularValues(Peer):
    """``svds`` of the centered rows: a centered copy when dense, an operator when sparse."""

    name = "SciPy svds"
    distribution = "scipy"
    rank = 40

    def preload(self) -> None:
        """Everything is imported with this file."""

    def fit(self, X: Any, instance: Instance, setting: Setting) -> Any:
        """Center and solve; v0 is seeded."""
        rows = setting.rows(X)
        mean = np.asarray(rows.mean(axis=0)).ravel()
        centered = _centered_operator(rows, mean) if instance.is_sparse else rows - mean
        start = np.random.default_rng(0).standard_normal(instance.side).astype(rows.dtype)
        _, sigma, components = scipy.sparse.linalg.svds(centered, k=instance.rank_asked, v0=start, **setting.options)
        return sigma, components.T

    def ladder(self, instance: Instance) -> Ladder:
        """Tolerances around the house tolerance."""
        return tolerance_ladder(instance, of_singular_values=True)

    def refusal(self, instance: Instance) -> str | None:
        """It takes a whole number of components below the smaller side."""
        return limits.needs_a_few(instance)

    def read(self, fitted: Any, instance: Instance) -> Arrays:
        """Already singular values and right vectors."""
        return answer_from_svd(*fitted, instance)


class Eigenvalues(Peer):
    """``eigsh`` of the covariance or, for wide rows, of the Gram matrix, never formed."""

    name = "SciPy eigsh"
    distribution = "scipy"
    rank = 41

    def preload(self) -> None:
        """Everything is imported with this file."""

    def fit(self, X: Any, instance: Instance, setting: Setting) -> Any:
        """Solve on the smaller side, and map back to the columns where that side is the rows."""
        rows = setting.rows(X)
        centered = _centered_operator(rows, np.asarray(rows.mean(axis=0)).ravel())
        tall = instance.n_rows >= instance.n_columns
        start = np.random.default_rng(0).standard_normal(instance.side).astype(rows.dtype)
        lam, vectors = scipy.sparse.linalg.eigsh(
            centered.T @ centered if tall else centered @ centered.T,
            k=instance.rank_asked,
            v0=start,
            **setting.options,
        )
        sigma = np.sqrt(np.maximum(lam, 0))
        return sigma, vectors if tall else centered.rmatmat(vectors) / sigma

    def ladder(self, instance: Instance) -> Ladder:
        """Tolerances around the house tolerance."""
        return tolerance_ladder(instance, of_singular_values=False)

    def refusal(self, instance: Instance) -> str | None:
        """It takes a whole number of components below the smaller side."""
        return limits.needs_a_few(instance)

    def read(self, fitted: Any, instance: Instance) -> Arrays:
        """Already singular values and right vectors."""
        return answer_from_svd(*fitted, instance)


def _centered_operator(X: Any, mean: np.ndarray) -> scipy.sparse.linalg.LinearOperator:
    """The rows minus their mean, known by its products: a rank-one correction on either side."""
    transposed = X.T.tocsr() if scipy.sparse.issparse(X) else X.T

    def forward(V: np.ndarray) -> np.ndarray:
        return X @ V - mean @ V

    def backward(U: np.ndarray) -> np.ndarray:
        return transposed @ U - np.multiply.outer(mean, U.sum(axis=0))

    return scipy.sparse.linalg.LinearOperator(
        X.shape, matvec=forward, matmat=forward, rmatvec=backward, rmatmat=backward, dtype=X.dtype
    )


PEERS = [SingularValues(), Eigenvalues()]
