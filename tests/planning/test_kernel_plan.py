"""Plans of kernel PCA: the stated way for each size, within the budget, and refusals that say what would fit."""

import pytest

from gramian.errors import MemoryBudgetError
from gramian.planning.kernel_plan import KernelFacts, largest_k, plan_kernel_pca

GIGABYTE = 10**9


def facts(**changes):
    """The facts of 20,000 rows of 50 columns."""
    return KernelFacts(
        **({"n": 20_000, "d": 50, "k": 10, "tol": 1e-6, "way": "auto", "budget": 16 * GIGABYTE} | changes)
    )


@pytest.mark.parametrize(
    "changes, way",
    [
        ({"n": 300}, "dense"),
        ({"n": 5000}, "stored"),
        ({"n": 5000, "k": None}, "dense"),
        ({"n": 5000, "budget": GIGABYTE // 10}, "tiled"),
        ({}, "tiled"),
        ({"slow": True}, "stored"),
        ({"slow": True, "budget": GIGABYTE}, "tiled"),
        ({"n": 100_000, "budget": 2 * GIGABYTE}, "tiled"),
        ({"features": 50}, "features"),
        ({"features": 30_000}, "tiled"),
        ({"features": 2000, "budget": GIGABYTE // 2}, "features"),
        ({"features": 2000, "budget": GIGABYTE // 5}, "tiled"),
        ({"features": 50, "way": "tiled"}, "tiled"),
        ({"way": "dense"}, "dense"),
    ],
)
def test_each_size_has_its_way(changes, way):
    """Dense for few rows or many pairs, kept where it pays, tiles beyond, features where they are fewer."""
    plan = plan_kernel_pca(facts(**changes))
    assert plan.way == way
    assert plan.peak_bytes <= facts(**changes).budget
    assert plan.reason.startswith("because")
    assert "MB beyond the rows" in str(plan)


def test_a_tenth_of_the_matrix_is_enough():
    """20,000 rows take a tenth of the 3.2 GB of the matrix; 100,000 rows far less than 2 GB."""
    assert plan_kernel_pca(facts(budget=320_000_000)).way == "tiled"
    assert plan_kernel_pca(facts(n=100_000, tol=1e-5, budget=GIGABYTE)).peak_bytes < GIGABYTE


def test_memory_grows_with_n_alone():
    """Doubling n doubles the memory of tiles, not more."""
    small, large = (plan_kernel_pca(facts(n=n)).peak_bytes for n in (50_000, 100_000))
    assert large <= 2.1 * small


def test_what_does_not_fit_is_refused_with_what_would():
    """The sentence has both sizes and the number of components that fit, and that number does fit."""
    tight = facts(k=4000, budget=GIGABYTE)
    with pytest.raises(
        MemoryBudgetError, match=r"4,000 components needs .* GB .* at most ([\d,]+) components"
    ) as error:
        plan_kernel_pca(tight)
    assert error.value.budget == GIGABYTE < error.value.needed
    fits = largest_k(tight)
    assert 0 < fits < 4000
    assert plan_kernel_pca(facts(k=fits, budget=GIGABYTE)).peak_bytes <= GIGABYTE


def test_the_plan_is_a_pure_function_of_its_facts():
    """The same facts give the same plan."""
    assert plan_kernel_pca(facts()) == plan_kernel_pca(facts())
