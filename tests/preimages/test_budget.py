"""Pre-images stay within a budget, or are refused before any work."""

import tracemalloc

import numpy as np
import pytest

from gramian import KernelPCA
from gramian.errors import MemoryBudgetError
from gramian.kernels import Gaussian
from gramian.models.kernel_pca import preimage as preimage_ridge
from gramian.models.kernel_pca.expansion import solve_densely
from gramian.models.kernel_pca.preimage import Ridge, candidates, fit_preimage


def _expansion(n, d):
    return solve_densely(np.random.default_rng(n).normal(size=(n, d)), Gaussian(0.1), 4)


def _peak(work):
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@pytest.mark.parametrize("alpha", [1.0, 0.0])
@pytest.mark.parametrize(
    "n, d, exact", [(900, 5, 6000), (300, 100, 6000), pytest.param(2500, 5, 1000, marks=pytest.mark.slow)]
)
def test_a_ridge_takes_what_it_says(n, d, exact, alpha, monkeypatch):
    """All rows, wide rows, and the functions of some of them: within the bytes stated, which are not half too many."""
    monkeypatch.setattr(preimage_ridge, "LARGEST_EXACT", exact)
    monkeypatch.setattr(preimage_ridge, "CENTERS", 600)
    expansion, ridge = _expansion(n, d), Ridge(alpha)
    ridge.fit(expansion)
    peak = _peak(lambda: ridge.fit(expansion))
    stated = ridge.peak_bytes(n, d)
    assert peak <= stated + 1_000_000
    assert alpha == 0.0 or peak >= stated / 3


@pytest.mark.parametrize("method", ["ridge", "auto", Ridge(0.1)])
def test_a_budget_that_is_too_small_is_refused_before_the_fit(method):
    """The sentence has both numbers; the model is not fitted in vain."""
    X, said = np.random.default_rng(0).normal(size=(3000, 40)), []
    model = KernelPCA(3, kernel="rbf", gamma=0.01, pre_image=method, memory_budget=1_000_000, progress=said.append)
    with pytest.raises(MemoryBudgetError, match=r"memory_budget is 1 MB\. To go on") as refusal:
        model.fit(X)
    assert not said
    assert refusal.value.needed > refusal.value.budget == 1_000_000


def test_auto_tries_what_fits():
    """The ridges of 900 rows do not; the other methods do."""
    expansion = _expansion(900, 3)
    budget = Ridge().peak_bytes(900, 3) - 1
    trials = fit_preimage("auto", expansion, budget=budget).choice.trials
    assert [type(trial.method) for trial in trials] == [type(m) for m in candidates() if not isinstance(m, Ridge)]


def test_a_budget_that_suffices_changes_nothing():
    """The same regression, to the last bit."""
    expansion = _expansion(200, 3)
    scores = expansion.scores[:20]
    free, bound = (fit_preimage("ridge", expansion, budget=budget).fitted for budget in (None, 10_000_000))
    np.testing.assert_array_equal(free.rebuild(scores).rows, bound.rebuild(scores).rows)
