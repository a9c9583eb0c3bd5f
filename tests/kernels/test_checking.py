"""check_kernel: what it finds, and what it says."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

import gramian
from gramian.errors import InputError
from gramian.kernels import BlockKernel, Gaussian, PointKernel, Polynomial, Precomputed, Sigmoid, check_kernel
from tests.kernels.catalog import KERNELS, rows


@pytest.mark.parametrize("kernel", [kernel for kernel in KERNELS if kernel.is_psd], ids=repr)
@pytest.mark.parametrize("n, seed", [(1, 0), (60, 1)])
def test_kernels_pass(kernel, n, seed):
    """Nothing speaks against a kernel that is one."""
    check = check_kernel(kernel, rows(n, 4, seed=seed))
    assert check.passed, str(check)
    assert "positive semidefinite on these points" in str(check)


def test_planted_negative_eigenvalue_is_found_and_said():
    """The eigenvalue printed is that of the matrix, beside the largest."""
    X = np.random.default_rng(0).standard_normal((40, 3))
    kernel = Sigmoid(2.0, -1.0)
    values = np.linalg.eigvalsh(kernel(X))
    check = check_kernel(kernel, X)
    assert check.symmetric
    assert not check.positive_semidefinite
    assert not check.passed
    assert check.smallest_eigenvalue == pytest.approx(values[0], rel=1e-9)
    assert check.largest_eigenvalue == pytest.approx(values[-1], rel=1e-9)
    said = f"it has an eigenvalue of {values[0]:.3g} beside a largest of {values[-1]:.3g}"
    assert said in str(check)
    assert "Sigmoid(gamma=2.0, coef0=-1.0) on 40 points" in str(check)


@pytest.mark.parametrize("seed", [0, 1])
def test_conditionally_positive_kernel_is_told_apart(seed):
    """Minus the squared distance has negative eigenvalues, and none once it is centered."""
    X = np.random.default_rng(seed).standard_normal((30, 4))
    check = check_kernel(BlockKernel(lambda A, B: -cdist(A, B, "sqeuclidean")), X)
    assert not check.positive_semidefinite
    assert check.smallest_centered > -1e-10
    assert "centered, as kernel PCA uses it, it has none below zero" in str(check)


def test_asymmetry_is_placed():
    """The worst pair is named by its rows in X, not by those of the sample."""
    X = np.arange(300.0)[:, None]

    def lopsided(x, y):
        return 1.0 + float(x[0] == y[0]) + 0.25 * (x[0] == 7 and y[0] == 250)

    check = check_kernel(lopsided, X, n_points=300)
    assert not check.symmetric
    assert check.asymmetry == 0.25
    assert check.worst_pair == (7, 250)
    assert "differ by 0.25 for rows 7 and 250" in str(check)


def test_function_that_looks_at_the_whole_block_is_found():
    """A kernel that centers each block gives other numbers for other blocks."""

    def block_centered(X, Y):
        return (X - X.mean(axis=0)) @ (Y - Y.mean(axis=0)).T

    check = check_kernel(BlockKernel(block_centered), rows(40, 3, seed=2))
    assert not check.block_independent
    assert not check.passed
    assert "depends on the block" in str(check)


def test_points_are_drawn_by_the_seed():
    """At most n_points of them; parameters are resolved on all rows."""
    X = rows(500, 3, seed=3)
    check = check_kernel("rbf", X, n_points=50, seed=1)
    assert check.n_points == 50
    assert check == check_kernel("rbf", X, n_points=50, seed=1)
    assert check.largest_eigenvalue != check_kernel("rbf", X, n_points=50, seed=2).largest_eigenvalue
    assert check.kernel == Gaussian(1 / 3)


def test_offset_does_not_disturb_the_check():
    """Distances are taken about the mean, as in a fit."""
    X = np.random.default_rng(4).standard_normal((60, 3)) + 1e8
    assert check_kernel(Gaussian(1.0), X).passed


def test_function_in_float32_passes_with_its_own_rounding():
    """1e-10 is too strict for it, and a tolerance can be given."""
    X = np.random.default_rng(5).standard_normal((80, 3))

    def coarse(A, B):
        left, right = A.astype(np.float32), B.astype(np.float32)
        return np.exp(-((left[:, None] - right) ** 2).sum(axis=2) / 20)

    assert not check_kernel(BlockKernel(coarse), X).passed
    assert check_kernel(BlockKernel(coarse), X, rtol=1e-5).passed


def test_precomputed_matrix_is_checked_itself():
    """X is the matrix then."""
    K = Gaussian(0.1)(rows(30, 2, seed=6))
    assert check_kernel("precomputed", K).passed
    check = check_kernel(Precomputed(), K - 2 * np.eye(30))
    assert check.smallest_eigenvalue == pytest.approx(np.linalg.eigvalsh(K)[0] - 2)
    with pytest.raises(InputError, match=r"is square, and X has shape \(30, 4\)"):
        check_kernel("precomputed", K[:, :4])


def test_sparse_points_and_the_public_name():
    """CSR points stay sparse; gramian.check_kernel is the same function."""
    X = sparse.random(50, 300, density=0.05, format="csr", random_state=0)
    assert gramian.check_kernel(Polynomial(2), X).passed
    assert gramian.check_kernel is check_kernel
    assert gramian.kernels.check_kernel is check_kernel


def test_no_points_are_refused():
    """An empty table, or none asked for."""
    with pytest.raises(InputError, match="X has 0 rows"):
        check_kernel("rbf", np.zeros((0, 3)))
    with pytest.raises(InputError, match="n_points=0"):
        check_kernel(PointKernel(np.dot), np.ones((3, 3)), n_points=0)


@pytest.mark.parametrize("slope", [1.0, -1.0, 3.0])
def test_nothing_is_said_of_eigenvalues_where_there_is_no_symmetry(slope):
    """A function that is not symmetric is not positive semidefinite, whatever its symmetric part may be."""
    check = check_kernel(lambda a, b: float(slope * (a[0] - b[0]) + a @ b), rows(40, 3, seed=7))
    assert not check.symmetric
    assert not check.positive_semidefinite
    assert not check.passed
    assert "not symmetric: k(x, y) and k(y, x) differ by" in str(check)
    assert "semidefinite" not in str(check)
