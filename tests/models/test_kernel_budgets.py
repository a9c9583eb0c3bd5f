"""Approximate kernel PCA holds its budget: strips shrink with it, and what does not fit is refused."""

import tracemalloc

import numpy as np
import pytest

from gramian.errors import MemoryBudgetError
from gramian.kernels import Gaussian
from gramian.models.kernel_pca import KernelPCAOptions, fit_kernel_pca
from gramian.sources import as_source


def _options(m, budget=None):
    return KernelPCAOptions(5, Gaussian(0.05), landmarks=m, memory_budget=budget)


@pytest.mark.parametrize("n, m", [(5000, 100), (20_000, 100), (4000, 300)])
def test_landmarks_hold_a_small_budget(n, m):
    """The plan's bytes, asked for as the budget, are enough, bound what is used, and give the same values."""
    source = as_source(np.random.default_rng(0).normal(size=(n, 10)))
    free = fit_kernel_pca(source, _options(m))
    budget = 20_000_000 if m == 100 and n == 5000 else 40_000_000
    tracemalloc.start()
    model = fit_kernel_pca(source, _options(m, budget))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= model.plan.peak_bytes <= budget < free.plan.peak_bytes + 10_000_000
    np.testing.assert_allclose(model.eigenvalues, free.eigenvalues, rtol=1e-9)


def test_landmarks_beyond_the_budget_are_refused_with_both_numbers():
    """Before the landmarks are drawn."""
    source = as_source(np.random.default_rng(0).normal(size=(5000, 10)))
    with pytest.raises(MemoryBudgetError, match="Use fewer than these 2,000 landmarks") as refusal:
        fit_kernel_pca(source, _options(2000, 50_000_000))
    assert refusal.value.needed > 50_000_000
