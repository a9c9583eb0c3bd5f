"""BLAS's own threads during a fit: none where they would only spin on the cores of Gramian's workers."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from gramian import KernelPCA
from gramian.eigen.direct import Direct
from gramian.machine import blas_threads
from gramian.models.pca.fit import fit_pca
from gramian.sources import DenseRows


def test_threads_are_given_back():
    """After a fit, and after one that fails, BLAS has the threads that it had."""
    before = blas_threads()
    X = np.random.default_rng(0).standard_normal((20_000, 70))
    fit_pca(DenseRows(X))
    assert blas_threads() == before
    X[7, 3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        fit_pca(DenseRows(X))
    assert blas_threads() == before


@pytest.mark.parametrize("n, held", [(300, True), (900, False)])
@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_blas_is_held_for_dense_kernel_problems_of_few_rows(n, held, kernel, monkeypatch):
    """The solver's BLAS is another than NumPy's, whose idle thread would spin beside it."""
    seen, solve = [], Direct.solve

    def watched(self, operator, k, **options):
        seen.append(max(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"))
        return solve(self, operator, k, **options)

    monkeypatch.setattr(Direct, "solve", watched)
    X = np.random.default_rng(0).standard_normal((n, 3))
    with threadpool_limits(2, "blas"):
        KernelPCA(n // 5, kernel=kernel).fit(X @ X.T if kernel == "precomputed" else X)
    assert seen == [1 if held else 2]
