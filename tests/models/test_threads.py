"""BLAS's own threads during a fit: none where they would only spin on the cores of Gramian's workers."""

from contextlib import nullcontext

import numpy as np
import pytest
import scipy.sparse
from threadpoolctl import threadpool_info, threadpool_limits

from gramian import KernelPCA
from gramian.eigen.direct import Direct
from gramian.models.fit_threads import threads_of_fit
from gramian.models.pca import PCAOptions, first_facts, fit_pca
from gramian.planning.machine import blas_threads
from gramian.planning.plan import plan_pca
from gramian.sources import DenseRows, as_source


def _is_held(source, **options):
    plan = plan_pca(first_facts(source, PCAOptions(**options)))
    return not isinstance(threads_of_fit(source, plan), nullcontext)


def test_blas_is_held_for_many_rows_and_a_small_problem():
    """Passes by workers take the time, and the dense problem between them is small."""
    assert _is_held(DenseRows(np.zeros((100_000, 20))))
    assert _is_held(DenseRows(np.zeros((10_000, 500), dtype=np.float32)), n_components=3)


@pytest.mark.parametrize("shape", [(100, 4), (20_000, 600), (50, 90_000)])
def test_blas_keeps_its_threads_elsewhere(shape):
    """One block has no workers; a larger dense problem is faster with threads; wide rows are another way."""
    assert not _is_held(DenseRows(np.zeros(shape)))


def test_sparse_rows_are_left_alone():
    """Their products know no BLAS."""
    assert not _is_held(as_source(scipy.sparse.random(5_000, 30, 0.1, format="csr", random_state=0)))


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
