"""Floors: what reading the rows once costs, and what the main product of any direct method costs."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.linalg
import scipy.linalg.blas

from benchmarks.case import Arrays, Instance
from benchmarks.peers.peer import Ladder, Peer, Setting


class Floor(Peer):
    """A cost that is no answer."""

    distribution = "numpy"
    is_floor: ClassVar[bool] = True

    def preload(self) -> None:
        """Everything is imported with this file."""

    def ladder(self, instance: Instance) -> Ladder:
        """There is one way."""
        del instance
        return Ladder((Setting("floor"),))

    def read(self, fitted: Any, instance: Instance) -> Arrays:
        """There is no answer."""
        del fitted, instance
        return {}


class OnePass(Floor):
    """The sum of all entries: every number is read once."""

    name = "floor: one pass (sum)"
    rank = 90

    def fit(self, X: Any, instance: Instance, setting: Setting) -> Any:
        """Sum the stored entries."""
        del setting
        return X.data.sum() if instance.is_sparse else X.sum()


class SymmetricProduct(Floor):
    """SYRK of the smaller side: the scatter or Gram matrix of rows that need no centering."""

    name = "floor: SYRK"
    rank = 91

    def refusal(self, instance: Instance) -> str | None:
        """A sparse product is no SYRK."""
        return "the rows are sparse" if instance.is_sparse else None

    def fit(self, X: Any, instance: Instance, setting: Setting) -> Any:
        """One BLAS call on the memory as it lies: X' is in Fortran order, so nothing is copied."""
        del setting
        syrk = scipy.linalg.blas.dsyrk if X.dtype == np.float64 else scipy.linalg.blas.ssyrk
        return syrk(1.0, X.T, trans=instance.n_rows < instance.n_columns)


class DenseSolve(Floor):
    """SYRK and LAPACK's solver of the whole symmetric eigenproblem, in the precision of the rows.

    Nothing is centered, checked or turned back to rows: no way by the scatter or Gram matrix that takes LAPACK's driver
    as it is takes less.
    """

    name = "floor: SYRK and dense eigensolver"
    rank = 92

    def refusal(self, instance: Instance) -> str | None:
        """Only where all components of a large matrix are asked for is it the floor."""
        side = min(instance.n_rows, instance.n_columns)
        return None if side >= 1_000 and instance.rank_asked == side else "not all components are asked for"

    def fit(self, X: Any, instance: Instance, setting: Setting) -> Any:
        """Divide and conquer, the fastest of LAPACK's drivers for all pairs."""
        matrix = SymmetricProduct().fit(X, instance, setting)
        return scipy.linalg.eigh(matrix, lower=False, driver="evd", overwrite_a=True, check_finite=False)


class BlockProduct(Floor):
    """X' (X V) for k + 10 vectors: one step of any iteration on sparse rows."""

    name = "floor: one block product"
    rank = 93

    def refusal(self, instance: Instance) -> str | None:
        """Dense rows have the SYRK for a floor."""
        return None if instance.is_sparse else "the rows are dense"

    def fit(self, X: Any, instance: Instance, setting: Setting) -> Any:
        """Two sparse products."""
        del setting
        V = np.ones((X.shape[1], instance.rank_asked + 10), dtype=X.dtype)
        return X.T @ (X @ V)


class EstimatorShell(Floor):
    """scikit-learn's own check of its input in an estimator that does nothing else: what its manners cost a call."""

    name = "floor: scikit-learn's validation"
    rank = 94
    distribution = "scikit-learn"

    def preload(self) -> None:
        """Import the base class and the check."""
        import sklearn.utils.validation  # noqa: F401  loading it is the point

    def refusal(self, instance: Instance) -> str | None:
        """Only beside a small table can it be seen."""
        return None if instance.n_rows * instance.n_columns <= 10_000 else "nothing beside rows of this size"

    def fit(self, X: Any, instance: Instance, setting: Setting) -> Any:
        """Check the rows as every scikit-learn estimator does."""
        del instance, setting
        from sklearn.base import BaseEstimator
        from sklearn.utils.validation import validate_data

        return validate_data(BaseEstimator(), X, dtype=[np.float64, np.float32])


def product_rate(dtype: str, *, size: int = 2_000) -> float:
    """Flop/s of a square matrix product, the best of three after one to warm up."""
    from time import perf_counter

    A = np.random.default_rng(0).standard_normal((size, size)).astype(dtype)
    A @ A
    times = []
    for _ in range(3):
        start = perf_counter()
        A @ A
        times.append(perf_counter() - start)
    return 2.0 * size**3 / min(times)


PEERS = [OnePass(), SymmetricProduct(), DenseSolve(), BlockProduct(), EstimatorShell()]
