"""What a certificate says after batches that follow a fit, and of products that were only measured."""

import numpy as np
import pytest
import scipy.sparse

from gramian import PCA
from gramian.errors import PrecisionWarning


def _rows(n, d, seed, dtype):
    rng = np.random.default_rng(seed)
    return (rng.standard_normal((n, d)) * np.geomspace(5.0, 1.0, d) + 2.0).astype(dtype)


@pytest.mark.filterwarnings("ignore::gramian.errors.PrecisionWarning")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bounds_of_batches_hold_for_what_the_model_holds(dtype):
    """Variances that are kept in float32 are rounded to it, by a part of themselves that the bounds have."""
    pca = PCA(3).fit(_rows(300, 20, 0, dtype)).partial_fit(_rows(80, 20, 1, dtype))
    assert pca.explained_variance_.dtype == dtype
    assert pca.certificate_.stored == (0.0 if dtype == np.float64 else np.finfo(np.float32).eps / 2)
    whole = np.vstack([_rows(300, 20, 0, dtype), _rows(80, 20, 1, dtype)]).astype(float)
    truth = np.linalg.eigvalsh(np.cov(whole.T))[::-1][:3]
    wrong = np.abs(pca.explained_variance_ - truth)
    assert (wrong <= [line.value_bound for line in pca.certificate_.lines]).all()


@pytest.mark.parametrize("dtype, grade", [(np.float32, "measured"), (np.float64, "proved")])
def test_batches_prove_no_more_than_the_fit_before_them(dtype, grade):
    """A fit whose products were only measured is not proved by one more batch; one that is proved stays so."""
    pca = PCA(4).fit(_rows(40_000, 60, 0, dtype))
    assert pca.certificate_.grade == grade
    with pytest.warns(PrecisionWarning, match="left components out"):
        assert pca.partial_fit(_rows(50, 60, 1, dtype)).certificate_.grade == grade


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("mean", [0.1, 1e9])
@pytest.mark.filterwarnings("ignore::gramian.errors.PrecisionWarning")
def test_batches_far_from_the_origin_are_within_their_bounds(mean, center):
    """Sums of a far mean are rounded beside it; with and without centering that is in the bounds."""
    rng = np.random.default_rng(2)
    batches = [mean + rng.integers(0, 3, (40, 30)) for _ in range(12)]
    pca = PCA(3, center=center, memory_budget=16_000)
    for batch in batches:
        pca.partial_fit(batch)
    exact = np.vstack(batches).astype(np.longdouble)
    exact = exact - exact.mean(axis=0) if center else exact
    squares = np.einsum("ij,ik->jk", exact, exact) / (len(exact) - 1)
    truth = np.linalg.eigvalsh(squares.astype(float))[::-1][:3]
    slack = 64 * np.finfo(float).eps * truth[0]
    wrong = np.abs(pca.explained_variance_ - truth)
    assert (wrong <= np.array([line.value_bound for line in pca.certificate_.lines]) + slack).all()


@pytest.mark.parametrize("tol", [1e-6, 1e-4, 1e-2])
def test_sums_over_many_sparse_rows_keep_their_digits_at_any_tolerance(tol):
    """Two hundred thousand entries of 0.1 a column: float32 sums would be off by more than is stated."""
    n = 200_000
    columns = np.concatenate([np.zeros(n, int), np.arange(n) % 40 + 1])
    rows = np.concatenate([np.arange(n), np.arange(n)])
    X = scipy.sparse.csr_array((np.full(2 * n, 0.1, np.float32), (rows, columns)), shape=(n, 41))
    pca = PCA(2, svd_solver="krylov", tol=tol, center=False).fit(X)
    dense = X.toarray().astype(float)
    truth = np.linalg.eigvalsh(dense.T @ dense / (n - 1))[::-1][:2]
    wrong = np.abs(pca.explained_variance_ - truth)
    assert (wrong <= [line.value_bound for line in pca.certificate_.lines]).all()
    assert wrong[0] <= max(tol, 1e-6) * truth[0]


def test_a_whole_basis_of_coarse_products_is_not_proved():
    """Few float32 columns, a loose tolerance: the pairs span the space, but their products were only measured."""
    X = np.random.default_rng(0).standard_normal((30_000, 90)).astype(np.float32)
    certificate = PCA(80, svd_solver="krylov", tol=1e-3).fit(X).certificate_
    assert "proved" not in certificate.grades
