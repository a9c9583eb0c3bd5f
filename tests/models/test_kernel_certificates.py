"""The certificate of a kernel PCA holds what the rounding of rows and of kernel values does to eigenvalues."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from gramian import KernelPCA, kernels
from gramian.errors import PrecisionWarning
from gramian.kernels.blocks import shifted
from gramian.kernels.combination import Stretched
from tests.catalog import slowly


def truth(K, k=3):
    """Return the leading eigenvalues of a matrix in long double, centered there."""
    K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    return np.linalg.eigvalsh(K.astype(float))[::-1][:k]


def squared_distances(X):
    """Return |x - y|^2 in long double."""
    L = X.astype(np.longdouble)
    return ((L[:, None] - L[None]) ** 2).sum(axis=2)


def products(X):
    """Return x.y in long double."""
    L = X.astype(np.longdouble)
    return L @ L.T


def far_rows(shape, offset, dtype=np.float64, seed=0):
    """Sparse rows, a third of them stored, one column of which is far from zero."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal(shape) * (rng.random(shape) < 0.3)
    X[:, 0] = offset + 2 * rng.standard_normal(shape[0])
    return X.astype(dtype)


def errors_and_bounds(fitted, values):
    """Return how far each eigenvalue is from the truth, and what its certificate allows."""
    return np.abs(fitted.eigenvalues_ - values), np.array([line.value_bound for line in fitted.certificate_.lines])


def error_within_bounds(fitted, values):
    """Return the largest error; infinite where one exceeds its own bound."""
    errors, bounds = errors_and_bounds(fitted, values)
    return errors.max() if (errors <= bounds).all() else np.inf


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6, 1e9])
@pytest.mark.parametrize("shape", [(40, 300), (120, 20)])
def test_a_far_column_of_sparse_rows_costs_no_digits(shape, offset, dtype):
    """Linear and Gaussian kernels of sparse rows are as exact as of dense ones, and within their bounds."""
    X = far_rows(shape, offset, dtype)
    S = sp.csr_array(X)
    linear = truth(products(X - X.astype(np.longdouble).mean(axis=0)))
    assert error_within_bounds(KernelPCA(3).fit(S), linear) < 1e-12 * linear[0]
    gaussian = truth(np.exp(-0.01 * squared_distances(X)))
    assert error_within_bounds(KernelPCA(3, kernel="rbf", gamma=0.01).fit(S), gaussian) < 1e-11
    assert error_within_bounds(KernelPCA(3, kernel="rbf", gamma=0.01, eigen_solver="tiled").fit(S), gaussian) < 1e-6


LOST = 16 * np.finfo(float).eps
"""Rounding of an exponent, relative to gamma times the squared distance from the origin."""


@pytest.mark.parametrize("solver", ["dense", "stored", "tiled"])
@pytest.mark.parametrize("apart", [0.0, 1e4, 1e6, 1e7])
def test_bounds_hold_for_groups_of_rows_that_lie_far_apart(apart, solver):
    """No origin is near all rows then: distances within a group lose digits, and the bounds say how many, not more."""
    X = np.random.default_rng(3).standard_normal((500, 5))
    X[:200] += apart
    squares = squared_distances(X)
    t = np.sqrt(3 * 2 * 0.1 * squares)
    cases = {kernels.Gaussian(0.1): np.exp(-0.1 * squares), kernels.Matern(1.5, 0.1): (1 + t) * np.exp(-t)}
    for kernel, K in cases.items():
        values = truth(K)
        errors, bounds = errors_and_bounds(KernelPCA(3, kernel=kernel, eigen_solver=solver, tol=1e-9).fit(X), values)
        assert (errors <= bounds).all()
        assert (bounds <= (1e-8 + 1e3 * LOST * 0.1 * 5 * apart**2) * values[0]).all()


def apart_in_column(X, far, apart):
    """Move the rows of a group in one column; nearly all of its values are then stored."""
    X[far, 0] += apart


def apart_in_some(X, far, apart):
    """Move a group in a fifth of the columns."""
    X[far] += apart * (np.arange(X.shape[1]) % 5 == 0)


def apart_in_two(X, far, apart):
    """Move one group in a column and the other in another."""
    X[far, 0] += apart
    X[~far, 1] += apart


def apart_from_zero_rows(X, far, apart):
    """Move a group away from rows that are zero, all of them."""
    X[far, 0] += apart
    X[~far] = 0.0


@pytest.mark.filterwarnings("ignore::gramian.errors.KernelWidthWarning")
@pytest.mark.parametrize("solver", ["dense", "tiled"])
@pytest.mark.parametrize("apart", [1e4, *slowly(1e6), 1e7])
@pytest.mark.parametrize("n, d", [(300, 30), *slowly((500, 12))])
@pytest.mark.parametrize("moved", [apart_in_column, apart_in_some, apart_in_two, apart_from_zero_rows])
def test_bounds_hold_for_groups_of_sparse_rows_that_lie_far_apart(moved, n, d, apart, solver):
    """As for dense rows: what distances within a group have lost is in the bounds, alone and in a sum."""
    shape = (n, d)
    rng = np.random.default_rng(1)
    X = rng.standard_normal(shape) * (rng.random(shape) < 0.3)
    moved(X, rng.random(shape[0]) < 0.4, apart)
    squares = squared_distances(X)
    t, K = np.sqrt(3 * 2 * 0.1 * squares), np.exp(-0.1 * squares)
    cosine = kernels.Cosine()
    cases = {
        kernels.Gaussian(0.1): K,
        kernels.Matern(1.5, 0.1): (1 + t) * np.exp(-t),
        kernels.Gaussian(0.1) + cosine: K + cosine(X),
        Stretched(kernels.Gaussian(0.1), (1.0,) * shape[1]): K,
    }
    for kernel, exact in cases.items():
        values = truth(exact)
        fitted = KernelPCA(3, kernel=kernel, eigen_solver=solver, tol=1e-9).fit(sp.csr_array(X))
        errors, bounds = errors_and_bounds(fitted, values)
        assert (errors <= bounds).all()
        assert (bounds <= (1e-6 + 1e3 * LOST * 0.1 * shape[1] * apart**2) * values[0]).all()


@pytest.mark.parametrize("apart", [1e4, 1e7])
def test_bounds_hold_for_far_rows_of_a_kernel_that_is_of_differences_in_part(apart):
    """Columns stretched, and a cosine beside the Gaussian: only the latter can be counted from another point."""
    X = np.random.default_rng(5).standard_normal((300, 4))
    X[:120] += apart
    kernel, cosine = Stretched(kernels.Gaussian(0.1) + kernels.Cosine(), (1.0,) * 4), kernels.Cosine()
    values = truth(np.exp(-0.1 * squared_distances(X)) + cosine(X))
    errors, bounds = errors_and_bounds(KernelPCA(3, kernel=kernel).fit(X), values)
    assert (errors <= bounds).all()
    assert (bounds <= (1e-8 + 1e3 * LOST * 0.1 * 4 * apart**2) * values[0]).all()


@pytest.mark.parametrize("seed", [0, *slowly(*range(1, 6))])
@pytest.mark.parametrize("solver", ["dense", "stored"])
def test_bounds_hold_for_a_few_far_rows_that_a_sample_misses(seed, solver):
    """Three of 1,500 rows lie close together and far away: they lose digits that hardly any sample shows."""
    X = np.random.default_rng(seed).standard_normal((1500, 3))
    X[-3:] += 1e8
    values = truth(np.exp(-1e-3 * squared_distances(X)), 6)
    errors, bounds = errors_and_bounds(KernelPCA(6, kernel="rbf", gamma=1e-3, eigen_solver=solver).fit(X), values)
    assert errors.max() > 1e-4
    assert (errors <= bounds).all()
    assert (bounds <= values[0]).all()


@pytest.mark.parametrize("place", [7, 250])
def test_bounds_hold_beside_one_wild_row(place):
    """The mean is then far from every row."""
    X = np.random.default_rng(4).standard_normal((300, 5))
    X[place] = 1e8
    values = truth(np.exp(-0.1 * squared_distances(X)))
    errors, bounds = errors_and_bounds(KernelPCA(3, kernel="rbf", gamma=0.1).fit(X), values)
    assert (errors <= bounds).all()
    assert (bounds <= 1e-3 * values[0]).all()


@pytest.mark.parametrize("kernel", ["linear", "rbf", "matern"])
def test_new_sparse_rows_are_counted_from_the_same_point(kernel):
    """Scores of sparse rows, stored in the far column or not, are those of the same rows made dense."""
    X, new = far_rows((60, 12), 1e6), far_rows((10, 12), 1e6, seed=1)
    new[:3, 0] = 0.0
    fitted = [KernelPCA(3, kernel=kernel, gamma=0.05).fit(rows) for rows in (sp.csr_array(X), X)]
    for rows in (new, sp.csr_array(new)):
        scores = [model.transform(rows) for model in fitted]
        # A row without the far column is a million away: its scores keep their digits beside that.
        size = np.maximum(np.abs(scores[1]).max(axis=1), 1.0)[:, None]
        assert np.abs((scores[0] - scores[1]) / size).max() < 1e-9
    errors = [model.reconstruction_error(sp.csr_array(new)[3:]) for model in fitted]
    np.testing.assert_allclose(errors[0], errors[1], rtol=1e-6)


def test_a_width_from_sparse_rows_does_not_know_their_offset():
    """Median distance and variance of sparse rows are those of the rows without the far column's mean."""
    X = far_rows((80, 10), 1e9)
    for gamma in ("median", "scale"):
        found = [KernelPCA(2, kernel="rbf", gamma=gamma).fit(rows).gamma_ for rows in (sp.csr_array(X), X)]
        assert found[0] == pytest.approx(found[1], rel=1e-6)
        assert kernels.Gaussian(gamma)(sp.csr_array(X)) == pytest.approx(kernels.Gaussian(gamma)(X), rel=1e-6)


def test_only_far_columns_are_filled():
    """Shifting sparse rows stores no more than the columns that are shifted."""
    S = sp.csr_array(far_rows((50, 30), 1e6))
    origin = kernels.blocks.column_means(S)
    assert np.flatnonzero(origin).tolist() == [0]
    moved = shifted(S, origin)
    assert moved.nnz <= S.nnz
    np.testing.assert_array_equal(moved.toarray(), S.toarray() - origin)
    assert kernels.blocks.column_means(sp.csr_array(far_rows((50, 30), 0.0))) is None


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n, d, solver", [(40, 300, "auto"), (150, 3, "auto"), (150, 60, "tiled")])
@pytest.mark.parametrize("mean", [0.0, 30.0, 1000.0])
def test_polynomial_values_are_within_their_bounds(mean, n, d, solver, dtype):
    """A power of large inner products is rounded, and the bound says by how much: dense, by features, and in tiles."""
    X = (np.random.default_rng(int(mean)).standard_normal((n, d)) + mean).astype(dtype)
    fitted = KernelPCA(3, kernel="poly", eigen_solver=solver).fit(X)
    values = truth((1 + products(X) / d) ** 3)
    error = error_within_bounds(fitted, values)
    assert error < 1e-16 * (1 + mean**2) ** 3 * n + 1e-6 * values[0]


def test_rounding_of_a_row_that_no_sample_sees_is_in_the_bound():
    """One row of 600 is fifty times as long: its kernel values, and their rounding, rule the matrix."""
    X = np.random.default_rng(3).standard_normal((600, 40)) + 20
    X[577] *= 50
    values = truth((1 + products(X) / 40) ** 3)
    errors, bounds = errors_and_bounds(KernelPCA(3, kernel="poly", eigen_solver="dense").fit(X), values)
    assert (errors <= bounds).all()
    assert (bounds[:1] <= 1e-9 * values[0]).all()


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "matern", "cosine"])
@pytest.mark.parametrize("n", [60, 300])
def test_bounds_of_other_kernels_stay_tight(kernel, n):
    """Rounding of values of size one leaves bounds of some n eps: nothing is lost by stating it."""
    X = np.random.default_rng(n).standard_normal((n, 5))
    fitted = KernelPCA(3, kernel=kernel, eigen_solver="dense").fit(X)
    assert fitted.certificate_.lines[0].value_bound < 1e-11 * fitted.eigenvalues_[0]


@pytest.mark.parametrize("solver", ["auto", "dense"])
def test_eigenvalues_of_float32_rows_are_found_in_float64(solver):
    """The linear kernel's eigenvalues are not squares of rounded singular values."""
    X = (np.random.default_rng(0).standard_normal((200, 30)) + 1000).astype(np.float32)
    values = truth(products(X - X.astype(np.longdouble).mean(axis=0)))
    assert error_within_bounds(KernelPCA(3, eigen_solver=solver).fit(X), values) < 1e-11 * values[0]


def quadratic_features(X):
    """Return features whose inner product is (x.y / 2 + 1)^2, in long double."""
    pairs = X[:, :, None] * X[:, None, :]
    return np.hstack([X, pairs.reshape(len(X), -1) / 2, np.ones((len(X), 1), X.dtype)])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("offset", [0.0, 1e4])
@pytest.mark.parametrize(
    "n, d, k, kernel",
    [(50, 8, 10, kernels.Linear()), (500, 8, 30, kernels.Linear()), (300, 3, 15, kernels.Polynomial(2, 0.5, 1.0))],
)
def test_more_components_than_features_have_a_line_each(n, d, k, kernel, offset, dtype, weighted):
    """Beyond the features every eigenvalue is zero, is certified as that, and has a unit vector to show for it."""
    rng = np.random.default_rng(n)
    X, w = (rng.standard_normal((n, d)) + offset).astype(dtype), rng.integers(1, 4, n) if weighted else np.ones(n, int)
    fitted = KernelPCA(k, kernel=kernel).fit(X, sample_weight=w if weighted else None)
    lines, U = fitted.certificate_.lines, fitted.eigenvectors_
    assert fitted.plan_.way == "features"
    assert len(lines) == len(fitted.eigenvalues_) == U.shape[1] == fitted.transform(X[:3]).shape[1] == k
    L, shares = X.astype(np.longdouble), w.astype(np.longdouble) / w.sum()
    Phi = L if isinstance(kernel, kernels.Linear) else quadratic_features(L)
    Phi = ((Phi - shares @ Phi) * np.sqrt(w)[:, None]).astype(float)
    values = np.append(np.linalg.svd(Phi, compute_uv=False) ** 2, np.zeros(k))[:k]
    errors, bounds = errors_and_bounds(fitted, values)
    assert (errors <= bounds).all()
    assert (bounds <= 1e-7 * values[0]).all()
    residuals = np.linalg.norm(Phi @ (Phi.T @ U) - U * fitted.eigenvalues_, axis=0)
    rounding = 8 * np.finfo(dtype if isinstance(kernel, kernels.Linear) else float).eps
    assert (residuals <= rounding * np.sqrt(n) * values[0] + bounds).all()
    np.testing.assert_allclose(U.T @ U, np.eye(k), atol=max(1e-9, 1e3 * rounding))
    np.testing.assert_allclose((np.sqrt(w) @ U)[: np.count_nonzero(fitted.eigenvalues_)], 0.0, atol=1e-9)
    scores = fitted.fit_transform(X, sample_weight=w if weighted else None)
    np.testing.assert_allclose(fitted.transform(X), scores, atol=1e3 * rounding * np.abs(scores).max())
    assert {line.grade for line in lines} == {"proved"}
    assert all(line.tie for line in lines if line.value == 0)
    few = KernelPCA(k, kernel=kernel, remove_zero_eig=True).fit(X, sample_weight=w if weighted else None)
    assert len(few.certificate_.lines) == len(few.eigenvalues_) == np.count_nonzero(fitted.eigenvalues_)


def test_where_rounding_is_all_that_is_left_a_warning_says_so():
    """Cubes of 5e15 differ by less than their rounding: a PrecisionWarning, and a bound above the eigenvalue."""
    X = 1e7 + 1e-8 * np.random.default_rng(0).standard_normal((40, 50))
    with pytest.warns(PrecisionWarning, match="nothing is known of the components") as caught:
        fitted = KernelPCA(2, kernel="poly", gamma=1.0).fit(X)
    assert fitted.certificate_.lines[0].value_bound > fitted.eigenvalues_[0]
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KernelPCA(2, kernel="poly", gamma=1.0).fit(1e8 * (X - 1e7))
