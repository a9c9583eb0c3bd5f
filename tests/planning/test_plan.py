"""Plans: the stated way for each shape, within the budget, and refusals that say what would fit."""

import numpy as np
import pytest
import scipy.sparse as sp

from gramian import PCA, plan
from gramian.eigen import Direct, Krylov, Power
from gramian.errors import MemoryBudgetError


class Shape:
    """Only what a plan looks at."""

    def __init__(self, n, d, dtype="float64"):
        self.shape = (n, d)
        self.dtype = np.dtype(dtype)


@pytest.mark.parametrize(
    "n, d, k, operator, held, solver",
    [
        (1_000_000, 100, None, "covariance", True, Direct),
        (200, 100_000, 50, "gram", True, Direct),
        (4_000, 4_000, 20, "covariance", True, Krylov),
        (4_000, 4_000, None, "covariance", True, Direct),
        (60_000, 50_000, 20, "covariance", False, Krylov),
        (20_000, 90_000, 20, "gram", False, Krylov),
    ],
)
def test_each_shape_has_its_way(n, d, k, operator, held, solver):
    """The smaller side is solved; dense where that is cheap, iterated where it is not, formed only where it pays."""
    chosen = plan(Shape(n, d), k)
    assert (chosen.operator, chosen.held, type(chosen.solver)) == (operator, held, solver)
    assert chosen.reason.startswith("because")


def test_sparse_rows_are_iterated_on_and_never_formed_when_wide():
    """A sparse table of 50,000 columns is applied."""
    X = sp.random(2000, 50_000, 1e-4, format="csr", random_state=0)
    assert not plan(X, 5).held
    assert isinstance(plan(X, 5, svd_solver="power").solver, Power)


def test_work_beyond_the_budget_is_refused_before_it_starts():
    """The sentence gives both sizes and what to do, and the exception carries them."""
    X = np.zeros((3000, 3000))
    with pytest.raises(MemoryBudgetError, match=r"needs .* GB .* memory_budget is 0.00 GB. Ask for fewer") as error:
        PCA(memory_budget=1_000_000).fit(X)
    assert error.value.needed > error.value.budget == 1_000_000


def test_a_small_budget_turns_a_formed_matrix_into_passes():
    """Where forming does not fit, the same rows are applied instead."""
    roomy, tight = plan(Shape(4000, 4000), 5), plan(Shape(4000, 4000), 5, memory_budget=300_000_000)
    assert roomy.held
    assert not tight.held
    assert tight.peak_bytes <= 300_000_000


def test_a_plan_reads_as_a_sentence():
    """Method, matrix, reason and price."""
    words = str(plan(Shape(200, 5000), 10))
    assert "Direct on the n x n Gram matrix (formed), because" in words
    assert "MB beyond the rows" in words


def test_the_plan_is_a_pure_function_of_its_facts():
    """The same facts give the same plan."""
    assert plan(Shape(500, 70), 3) == plan(Shape(500, 70), 3)
