"""Approximate kernel PCA holds its budget: strips shrink with it, and what does not fit is refused."""

import tracemalloc

import numpy as np
import pytest

from gramian.errors import MemoryBudgetError
from gramian.features import Landmarks, Monomials, RandomFourier
from gramian.kernels import Gaussian
from gramian.models.kernel_pca.fit import fit_kernel_pca
from gramian.models.kernel_pca.model import KernelPCAOptions
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


MAPS = {
    "200 Fourier features": (RandomFourier(Gaussian(0.05), 200), 20_000),
    "801 Fourier features": (RandomFourier(Gaussian(0.05), 801), 6000),
    "286 monomials": (Monomials(3, 0.1, 1.0), 20_000),
    "150 landmarks": (Landmarks(Gaussian(0.05), 150), 20_000),
}


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("fitted", [False, True])
def test_a_map_holds_the_budget_that_its_plan_asks_for(name, fitted):
    """Memory is under the plan's, a recipe's fit included; that plan as the budget gives the same values."""
    recipe, n = MAPS[name]
    source = as_source(np.random.default_rng(0).normal(size=(n, 10)))
    given = recipe.fit(source) if fitted else recipe
    free = fit_kernel_pca(source, KernelPCAOptions(5, features=given))
    budget = free.plan.peak_bytes
    tracemalloc.start()
    model = fit_kernel_pca(source, KernelPCAOptions(5, features=given, memory_budget=budget))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= model.plan.peak_bytes <= budget
    np.testing.assert_allclose(model.eigenvalues, free.eigenvalues, rtol=1e-9)


def test_a_map_beyond_the_budget_is_refused_with_both_numbers():
    """Before a feature is made."""
    source = as_source(np.random.default_rng(0).normal(size=(5000, 10)))
    options = KernelPCAOptions(5, features=RandomFourier(Gaussian(0.05), 3000), memory_budget=100_000_000)
    with pytest.raises(MemoryBudgetError, match="Use fewer than these 3,000 landmarks or features") as refusal:
        fit_kernel_pca(source, options)
    assert refusal.value.needed > 100_000_000
