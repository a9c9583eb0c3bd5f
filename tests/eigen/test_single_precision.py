"""Iterations in float32, confirmed in float64: what is asked is met at every scale, and what is said holds."""

import numpy as np
import pytest
import scipy.sparse as sp

from gramian import PCA
from gramian.arrays.precision import FLOAT32
from gramian.eigen.certificate import certify
from gramian.eigen.krylov import Krylov
from gramian.eigen.orthonormal import orthonormalized, projected, rotated
from gramian.models.pca.decomposition import standardization_of
from gramian.operators import Covariance, Gram
from gramian.sources import measure_moments
from gramian.sources.dense import DenseRows
from gramian.sources.sparse import SparseRows

SHAPES = [(900, 400), (400, 900)]


def _rows(shape, seed, *, scale=1.0, mean=0.0):
    """Sparse rows whose leading directions stand out by a little."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal(shape) * (rng.random(shape) < 0.1)
    X[:, :30] *= np.linspace(4.0, 2.0, 30)
    X[:, 40] += mean
    return (scale * X).astype(np.float32)


def _operator(X, *, sparse):
    source = SparseRows(sp.csr_array(X)) if sparse else DenseRows(X)
    moments = measure_moments(source, scatter=False)
    kind = Covariance if X.shape[0] >= X.shape[1] else Gram
    return kind(source, moments, standardization_of(moments, center=True, scale=False))


def _matrix(X):
    Z = X.astype(float) - X.astype(float).mean(axis=0)
    return Z.T @ Z if len(X) >= X.shape[1] else Z @ Z.T


@pytest.mark.parametrize("scale", [1e-10, 1.0, 1e11])
@pytest.mark.parametrize("tol", [1e-3, 1e-5, 1e-6, 1e-9])
@pytest.mark.parametrize("block", [1, 8])
@pytest.mark.parametrize("sparse", [True, False], ids=["sparse", "dense"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_tolerance_is_met_and_the_bounds_hold(shape, sparse, block, tol, scale):
    """Residuals of the true matrix and errors of the values are within what is said, whatever the products were."""
    X = _rows(shape, 3, scale=scale)
    operator, A = _operator(X, sparse=sparse), _matrix(X)
    pairs = Krylov(tol=tol, block=block, basis=150).solve(operator, 6, seed=1)
    truth = np.linalg.eigvalsh(A)[::-1]
    V = pairs.vectors
    assert pairs.converged == 6
    assert V.dtype == np.float64
    np.testing.assert_allclose(V.T @ V, np.eye(6), atol=1e-12)
    residuals = np.linalg.norm(A @ V - V * pairs.values, axis=0)
    assert (residuals <= (1.1 * tol + 1e-13) * truth[0]).all()
    lines = certify(operator, pairs, tol=tol).lines
    errors = np.abs(pairs.values - truth[:6])
    assert (errors <= [line.quadratic_bound for line in lines]).all()
    # The matrix that they are measured with is rounded too.
    assert (residuals <= np.array([line.value_bound for line in lines]) + 1e-13 * truth[0]).all()


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_sparse_rows_are_converted_only_where_float32_does_not_reach(shape, seed):
    """One column at a time, a tolerance that float32 products cannot meet is met in float64 from the first one."""

    class Counting(Covariance if shape[0] >= shape[1] else Gram):
        asked = ()

        def apply(self, V, *, accuracy=None):
            product = super().apply(V, accuracy=accuracy)
            self.asked = (*self.asked, (V.shape[1], product.error > 1e-8))
            return product

    X = _rows(shape, seed)
    for tol, single in ((1e-6, True), (1e-9, False)):
        operator = _operator(X, sparse=True)
        operator.__class__ = Counting
        Krylov(tol=tol, block=1, basis=150, search=False).solve(operator, 6)
        assert all(coarse == (single and width == 1) for width, coarse in operator.asked)
        # Confirmed by one product, of the wanted vectors alone.
        assert [width for width, _ in operator.asked if width > 1] == ([6] if single else [])


@pytest.mark.parametrize("offset", [0.0, 30.0, 1e3, 1e5])
@pytest.mark.parametrize("accuracy", [1e-7, 1e-6, 1e-4])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_products_of_sparse_rows_are_as_accurate_as_asked(shape, accuracy, offset):
    """A mean far from the origin makes float32 products worse: then they are float64 ones."""
    X = _rows(shape, 5, mean=offset)
    operator, A = _operator(X, sparse=True), _matrix(X)
    V = np.linalg.qr(np.random.default_rng(0).standard_normal((operator.size, 3)))[0]
    V[:, 0] = np.linalg.eigh(A)[1][:, -1]
    product = operator.apply(V, accuracy=accuracy)
    assert product.error <= accuracy
    wrong = np.linalg.norm(product.values - A @ V, axis=0).max() / np.linalg.norm(A, ord=2)
    assert wrong <= product.error + 1e-13


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_are_orthonormal_to_the_rounding_of_their_type(dtype, seed):
    """What a block adds to a basis comes out in its own precision, and a block inside it adds nothing."""
    rng, eps = np.random.default_rng(seed), np.finfo(dtype).eps
    Q = np.linalg.qr(rng.standard_normal((3000, 20)))[0].astype(dtype)
    block = (Q @ rng.standard_normal((20, 4)) * 100 + rng.standard_normal((3000, 4))).astype(dtype)
    left, _ = projected(block, Q, slice(10, 20))
    new = orthonormalized(left, Q, before=block)
    assert new.dtype == rotated(Q, np.eye(20)).dtype == dtype
    assert np.abs(new.T @ new - np.eye(4)).max() < 20 * eps
    assert np.abs(Q.T @ new).max() < 20 * eps
    inside = (Q @ rng.standard_normal((20, 4))).astype(dtype)
    left, _ = projected(inside, Q, slice(10, 20))
    assert orthonormalized(left, Q, before=inside).shape[1] == 0


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("shape", [(4000, 2500), (2500, 4000)], ids=str)
def test_float32_and_float64_rows_give_the_same_components(shape, seed):
    """The default fit of sparse rows meets 1e-6 from float32 rows, by the eigenvalues and residuals of float64 ones."""
    rng = np.random.default_rng(seed)
    X = sp.random_array(shape, density=0.01, rng=rng, dtype=np.float32).tocsr()
    X.data += np.float32(1) * (X.indices % 50 < 5)
    single, double = PCA(8).fit(X), PCA(8).fit(X.astype(np.float64))
    assert single.components_.dtype == FLOAT32
    np.testing.assert_allclose(single.explained_variance_, double.explained_variance_, rtol=2e-7)
    assert (single.certificate_.residuals <= 1e-6 * single.certificate_.values[0]).all()
    assert single.certificate_.gaps[-1] <= 1.5 * double.certificate_.gaps[-1]
