"""Work that would not fit into what is free now is refused before a row is read."""

import numpy as np
import pytest

from gramian import PCA
from gramian.errors import MemoryBudgetError
from gramian.planning import plan as refusal


@pytest.fixture
def little_memory(monkeypatch):
    """Eighty megabytes free."""
    monkeypatch.setattr(refusal, "available_memory", lambda: 80_000_000)


@pytest.mark.usefixtures("little_memory")
def test_what_does_not_fit_is_refused_with_the_setting_that_would():
    """The sentence names the work, its need, what is free and a budget to set."""
    with pytest.raises(MemoryBudgetError, match=r"rows needs 200 MB .* memory_budget to 80000000") as error:
        refusal.require_free(200_000_000, work="PCA of 10 x 2 rows")
    assert (error.value.needed, error.value.budget) == (200_000_000, 80_000_000)


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("needed", [0, 63 << 20, 79_000_000])
def test_what_fits_is_not(needed):
    """Small needs, and needs within what is free, pass."""
    assert refusal.require_free(needed, work="anything") is None


@pytest.mark.usefixtures("little_memory")
def test_a_refused_fit_leaves_the_former_model_and_a_budget_finds_another_way():
    """With the budget that the sentence names the same rows are solved by an iteration."""
    X = np.random.default_rng(0).standard_normal((2_200, 2_200))
    model = PCA(3).fit(X[:50, :5])
    with pytest.raises(MemoryBudgetError, match="are free now"):
        model.set_params(n_components=None).fit(X)
    assert model.n_features_in_ == 5
    model.set_params(n_components=3, memory_budget=80_000_000).fit(X)
    assert model.plan_.peak_bytes <= 80_000_000
