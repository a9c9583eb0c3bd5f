"""Singular values of matrices on which squaring loses digits, by default, against long double truth."""

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp

from gramian import PCA, TruncatedSVD
from gramian.testing import orthonormality_error, rows_with_spectrum, singular_values
from tests.accuracy.bounds import assert_singular_values, promised
from tests.catalog import DTYPES, HARD, slowly

SHAPES = [(60, 20), (20, 60), (32, 32), *slowly((300, 40), (40, 300)), (5, 4), (4, 5)]
ORDERS = [4.0, 8.0, 12.0, 16.0]


@cache
def _case(name, n, d, dtype, center):
    X = np.ascontiguousarray(HARD[name](n, d).astype(dtype))
    return X, singular_values(X, center=center)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n, d", SHAPES)
@pytest.mark.parametrize("name", HARD)
def test_default_pca(name, n, d, dtype):
    """PCA().fit keeps every singular value within 35 min(n, d) eps s_1."""
    X, truth = _case(name, n, d, dtype, True)
    pca = PCA().fit(X)
    assert len(pca.singular_values_) == min(n, d)
    assert_singular_values(pca.singular_values_, truth, promised(n, d, truth, dtype))
    assert orthonormality_error(pca.components_.T) <= 10 * min(n, d) * np.finfo(dtype).eps


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n, d", SHAPES)
@pytest.mark.parametrize("name", HARD)
def test_uncentered(name, n, d, dtype):
    """The same without centering."""
    X, truth = _case(name, n, d, dtype, False)
    assert_singular_values(PCA(center=False).fit(X).singular_values_, truth, promised(n, d, truth, dtype))


@pytest.mark.parametrize("n, d", [(60, 20), (20, 60), (32, 32)])
@pytest.mark.parametrize("name", HARD)
def test_truncated_svd(name, n, d):
    """TruncatedSVD's leading values are as good."""
    X, truth = _case(name, n, d, "float64", False)
    svd = TruncatedSVD(n_components=min(n, d) - 1, random_state=0).fit(X)
    assert_singular_values(svd.singular_values_, truth, promised(n, d, truth))


@pytest.mark.parametrize("k", [1, 3, 10])
@pytest.mark.parametrize("n, d", [(60, 20), (20, 60), (32, 32), *slowly((300, 40), (40, 300))])
@pytest.mark.parametrize("name", HARD)
def test_few_components(name, n, d, k):
    """Asking for k components by default is as accurate as asking for all."""
    X, truth = _case(name, n, d, "float64", True)
    assert_singular_values(PCA(n_components=k).fit(X).singular_values_, truth, promised(n, d, truth))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("orders", ORDERS)
@pytest.mark.parametrize("n, d", [(80, 24), (24, 80), (24, 24)])
def test_graded_over_many_orders(n, d, orders, seed):
    """Spectra graded over up to sixteen orders of magnitude, with a mean, over seeds."""
    X = HARD["graded"](n, d, orders=orders, seed=seed) + 0.5
    truth = singular_values(X)
    assert_singular_values(PCA().fit(X).singular_values_, truth, promised(n, d, truth))


@pytest.mark.parametrize("svd_solver", ["full", "covariance_eigh", "gram"])
@pytest.mark.parametrize("n, d", [(60, 20), (20, 60), (32, 32)])
@pytest.mark.parametrize("name", HARD)
def test_named_solvers(name, n, d, svd_solver):
    """Naming a complete solver keeps the promise too: squaring is repaired wherever it costs digits."""
    X, truth = _case(name, n, d, "float64", True)
    found = PCA(svd_solver=svd_solver).fit(X).singular_values_
    assert_singular_values(found, truth, promised(n, d, truth))


@pytest.mark.parametrize("door", [np.ascontiguousarray, sp.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("n, d", [(250, 200), (200, 250)])
def test_an_iteration_on_the_rows_repairs_small_values(n, d, door):
    """Values down to 1e-8 of the first, where squaring has nothing left, keep the promise without the matrix too."""
    s = np.array([1.0, 1e-3, 1e-5, 1e-6, 1e-7, 1e-8])
    X, _ = rows_with_spectrum(n, d, s**2 / (n - 1), seed=1)
    # LAPACK's error is a few eps s_1: a small part of what is allowed at this size.
    truth = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    found = PCA(n_components=6, svd_solver="krylov", random_state=0).fit(door(X)).singular_values_
    assert_singular_values(found, truth, promised(n, d, truth))


@pytest.mark.parametrize("n", [16_384, 200_000, *slowly(1_000_000)])
@pytest.mark.parametrize("seed", range(4))
def test_long_columns_of_two_values_keep_their_digits(n, seed):
    """Products that all round the same way are not summed one after the other."""
    a = np.random.default_rng(seed).random()
    X = np.where(np.arange(n) % 2 == 0, a, -a)[:, None]
    s = np.longdouble(a) * np.sqrt(np.longdouble(n))
    assert_singular_values(PCA().fit(X).singular_values_, [s], promised(n, 1, [s]))


TAILS = {
    "graded over 16 orders": lambda m: np.geomspace(1.0, 1e-16, m),
    "one large": lambda m: np.r_[1.0, np.geomspace(1e-5, 1e-12, m - 1)],
    "down to zero": lambda m: np.r_[np.linspace(1.0, 1e-4, m // 2), np.linspace(1e-5, 0.0, m - m // 2)],
    "half of them zero": lambda m: np.r_[np.geomspace(1.0, 1e-9, m // 2), np.zeros(m - m // 2)],
    "of rank 50": lambda m: np.r_[np.geomspace(1.0, 1e-3, 50), np.zeros(m - 50)],
}


@pytest.mark.parametrize("n, d", [*slowly((700, 700)), (900, 600), (600, 900)])
@pytest.mark.parametrize("name", TAILS)
def test_hundreds_of_small_values_are_repaired_step_by_step(name, n, d):
    """More small values than a triangle is taken for keep the promise, and their components are orthonormal."""
    m = min(n, d)
    s = TAILS[name](m)
    rng = np.random.default_rng(m)
    U, V = (np.linalg.qr(rng.standard_normal((side, m)))[0] for side in (n, d))
    pca = PCA(center=False).fit((U * s) @ V.T)
    assert_singular_values(pca.singular_values_, s, promised(n, d, s))
    assert orthonormality_error(pca.components_.T) <= 10 * m * np.finfo(float).eps
    assert "recomputed" in pca.certificate_.note
