"""Plans: the stated way for each shape, within the budget, and refusals that say what would fit."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from gramian import PCA, KernelPCA, kernels, plan
from gramian.eigen import Direct, Krylov, Power
from gramian.errors import MemoryBudgetError, ParameterError
from gramian.planning.plan import Facts, plan_pca


def shape(n, d, dtype="float64"):
    """Rows of which only the shape and type are there: one number, seen n d times."""
    return np.broadcast_to(np.zeros(1, dtype), (n, d))


@pytest.mark.parametrize(
    "n, d, k, operator, held, solver",
    [
        (1_000_000, 100, None, "covariance", True, Direct),
        (200, 100_000, 50, "gram", True, Direct),
        (4_000, 4_000, 20, "covariance", False, Krylov),
        (4_000, 4_000, None, "covariance", True, Direct),
        (60_000, 50_000, 20, "covariance", False, Krylov),
        (20_000, 90_000, 20, "gram", False, Krylov),
    ],
)
def test_each_shape_has_its_way(n, d, k, operator, held, solver):
    """The smaller side is solved; dense where that is cheap, iterated where it is not, formed only where it pays."""
    chosen = plan(shape(n, d), k)
    assert (chosen.operator, chosen.held, type(chosen.solver)) == (operator, held, solver)
    assert chosen.reason.startswith("because")


def test_sparse_rows_are_iterated_on_and_never_formed_when_wide():
    """A sparse table of 50,000 columns is applied."""
    X = sp.random_array((2000, 50_000), density=1e-4, format="csr", rng=np.random.default_rng(0))
    assert not plan(X, 5).held
    assert isinstance(plan(X, 5, svd_solver="power").solver, Power)


def test_work_beyond_the_budget_is_refused_before_it_starts():
    """The sentence gives both sizes and what to do, and the exception carries them."""
    X = np.zeros((3000, 3000))
    with pytest.raises(MemoryBudgetError, match=r"needs .* MB .* memory_budget is 1 MB. Ask for fewer") as error:
        PCA(memory_budget=1_000_000).fit(X)
    assert error.value.needed > error.value.budget == 1_000_000


def test_a_small_budget_turns_a_matrix_that_may_be_formed_into_passes():
    """Tall rows are applied first and formed if it pays; where forming does not fit, they are applied to the end."""
    roomy, tight = plan(shape(40_000, 4000), 5), plan(shape(40_000, 4000), 5, memory_budget=200_000_000)
    assert not roomy.held
    assert roomy.forming is not None
    assert "formed when more than" in str(roomy)
    assert tight.forming is None
    assert tight.peak_bytes <= 200_000_000 < roomy.peak_bytes


@pytest.mark.parametrize("n, d, entries, held", [(2000, 20_000, 4_000_000, True), (20_000, 50_000, 10**6, False)])
def test_small_sparse_sides_are_formed_and_large_ones_applied(n, d, entries, held):
    """Forming 2,000 x 2,000 is soon done and proves the answer; 20,000 x 20,000 is not."""
    facts = Facts(n, d, entries, 8, 5, sparse=True, by_columns=False, tol=1e-10, solver="auto", budget=10**10)
    assert plan_pca(facts).held == held


def test_a_plan_reads_as_a_sentence():
    """Method, matrix, reason and price."""
    words = str(plan(shape(200, 5000), 10))
    assert "Direct on the n x n Gram matrix (formed), because" in words
    assert "MB beyond the rows" in words


def test_the_plan_is_a_pure_function_of_its_facts():
    """The same facts give the same plan."""
    assert plan(shape(500, 70), 3) == plan(shape(500, 70), 3)


@pytest.mark.parametrize("n_components", ["auto", "mle", 0.95, None, 7])
def test_a_plan_takes_what_a_fit_takes(n_components):
    """Every way of asking for components is planned as it is fitted."""
    X = np.random.default_rng(0).standard_normal((40, 12))
    chosen = plan(X, n_components)
    assert chosen == PCA(n_components).fit(X).plan_


def test_an_unknown_solver_and_too_many_components_are_refused():
    """A plan refuses what a fit refuses."""
    X = np.zeros((10, 4))
    with pytest.raises(ValueError, match="svd_solver='foo' is not one of auto"):
        plan(X, svd_solver="foo")
    with pytest.raises(ValueError, match="n_components=5 is not a number of components between 0 and"):
        plan(X, 5)


ITERATED = [
    {"kernel": "rbf", "gamma": 0.1, "eigen_solver": "tiled"},
    {"kernel": "sigmoid", "gamma": 1e-3, "eigen_solver": "stored"},
]
OTHERS = [
    {"kernel": "rbf", "gamma": "median"},
    {"kernel": "poly", "degree": 2},
    {"kernel": kernels.Gaussian(0.2) + kernels.Linear(), "eigen_solver": "dense"},
    {"kernel": "laplacian", "tol": 1e-3, "memory_budget": 80_000_000},
]


@pytest.mark.parametrize(
    "asked, n_components",
    # An iteration is for few of the components.
    [(asked, 3) for asked in ITERATED] + [(asked, k) for asked in OTHERS for k in (3, 0.9, None, 10_000)],
    ids=str,
)
@pytest.mark.parametrize("n", [60, 500])
def test_a_kernel_plan_is_that_of_the_fit(n, asked, n_components):
    """Said beforehand from the shape alone, and kept by the fit that follows."""
    X = np.random.default_rng(0).standard_normal((n, 4))
    said = plan(np.broadcast_to(0.0, X.shape), n_components, **asked)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = KernelPCA(n_components, **asked).fit(X)
    assert said == fitted.plan_


def test_a_plan_of_landmarks_and_of_a_given_matrix_is_that_of_the_fit():
    """Landmarks that all count have their plan beforehand; of a matrix nothing is left to choose."""
    X = np.random.default_rng(1).standard_normal((600, 8))
    said = plan(X, 3, kernel="rbf", gamma=0.1, landmarks=40)
    assert said == KernelPCA(3, kernel="rbf", gamma=0.1, landmarks=40, random_state=0).fit(X).plan_
    assert said.way == "landmarks"
    K = kernels.Gaussian(0.1)(X)
    assert plan(K, 3, kernel="precomputed") == KernelPCA(3, kernel="precomputed").fit(K).plan_


def test_a_kernel_plan_refuses_what_its_fit_refuses():
    """A budget that is too small, words that are none, and parameters of the other method."""
    with pytest.raises(MemoryBudgetError, match="Ask for at most"):
        plan(shape(100_000, 50), None, kernel="rbf", memory_budget=10**9)
    for asked, words in (
        ({"kernel": "unknown"}, "kernel='unknown' is not known"),
        ({"kernel": "rbf", "eigen_solver": "best"}, "eigen_solver='best' is not one of auto"),
        ({"kernel": "rbf", "svd_solver": "gram"}, "svd_solver='gram' is of PCA"),
        ({"gamma": 0.1}, "gamma=0.1 is of a kernel PCA: pass kernel= too"),
        ({"landmarks": 5}, "landmarks=5 is of a kernel PCA"),
        ({"degree": 5}, "degree=5 is of a kernel PCA"),
        ({"coef0": 0.0}, "coef0=0.0 is of a kernel PCA"),
    ):
        with pytest.raises(ParameterError, match=words):
            plan(shape(100, 5), 3, **asked)


def test_a_dense_solve_that_takes_over_is_planned_and_told():
    """The plan says what it would take beside the iteration; the model's says that it came to that."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1600, 10)) @ rng.standard_normal((10, 1600))
    before = plan(X, 40)
    assert isinstance(before.solver, Krylov)
    assert before.dense_bytes > before.peak_bytes
    assert "if it ends in doubt" in str(before)
    after = PCA(n_components=40, random_state=0).fit(X).plan_
    assert isinstance(after.solver, Direct)
    assert after.peak_bytes == before.dense_bytes
    assert (after.dense_bytes, after.forming) == (0, None)
    assert after.passes == before.passes + plan(X).passes
    assert after.reason == "because the iteration that was planned ended in doubt"
    small = plan(X, 40, memory_budget=before.peak_bytes)
    assert not small.dense_fits
    assert "doubt" not in str(small)


def test_the_power_method_is_not_replaced_by_a_dense_solve():
    """What was asked for by name warns where it falls short, and its plan promises no dense solve."""
    found = plan(np.zeros((3000, 60)), 3, svd_solver="power")
    assert (found.dense_fits, found.dense_bytes) == (False, 0)
    assert "in doubt" not in str(found)


@pytest.mark.parametrize("solver", ["full", "gram", "krylov", "power"])
def test_a_solver_that_was_asked_for_is_the_reason(solver):
    """No other reason is given for what a person chose."""
    assert "asked for" in plan(shape(400, 300), 5, svd_solver=solver).reason


def test_a_dense_solve_that_was_asked_for_is_refused_rather_than_replaced():
    """An iteration proves less: where only it fits the budget, "full" is refused; "auto" iterates and says why."""
    with pytest.raises(MemoryBudgetError, match="Direct on"):
        plan(shape(1400, 1300), 5, svd_solver="full", memory_budget=50_000_000)
    assert "memory budget" in plan(shape(1400, 1300), 5, memory_budget=50_000_000).reason


@pytest.mark.parametrize("words", [{"missing": True}, {"kernel": "rbf", "landmarks": 5}, {"kernel": "precomputed"}])
def test_no_device_is_planned_for_what_is_handled_on_the_host(words):
    """What a fit refuses to move, a plan does too."""
    with pytest.raises(ParameterError, match="are handled on the host"):
        plan(np.eye(9), 1, device="cuda", **words)


def test_a_plan_takes_the_missing_cells_that_the_fit_takes():
    """Nulls of a frame and None in lists are missing values to both."""
    frame = pd.DataFrame({"a": [1.0, None, 3.0, 4.0], "b": [2.0, 3.0, 4.0, 1.0]})
    plans = [plan(X, 1, missing=True) for X in (frame, frame.astype("Float64"), [[1, 2], [None, 3], [3, 4], [4, 1]])]
    assert str(plans[0]) == str(plans[1]) == str(plans[2])
