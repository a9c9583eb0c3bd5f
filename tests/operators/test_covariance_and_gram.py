"""The two sides of one problem: both operators against the dense matrices they stand for."""

from functools import partial

import numpy as np
import pytest
from scipy.sparse import csr_array

from gramian.arrays.namespace import from_host
from gramian.models.pca.decomposition import standardization_of
from gramian.operators import Covariance, Gram
from gramian.sources import measure_moments, sparse
from gramian.sources.sparse import SparseRows
from tests.catalog import SOURCES, host, parameters


def _standardized(X, weights, *, scale):
    w = np.ones(len(X)) if weights is None else weights
    mean = (w @ X) / w.sum()
    Xs = X - mean
    if scale:
        Xs = Xs / np.sqrt((w @ Xs**2) / (w.sum() - 1))
    return np.sqrt(w)[:, None] * Xs


def _operator(kind, make, X, weights, *, scale):
    source = make(X, weights=weights)
    moments = measure_moments(source, scatter=False)
    return kind(source, moments, standardization_of(moments, center=True, scale=scale))


CASES = [(Covariance, lambda Xs: Xs.T @ Xs), (Gram, lambda Xs: Xs @ Xs.T)]


@pytest.mark.parametrize("make", parameters(SOURCES))
@pytest.mark.parametrize("kind, dense", CASES, ids=["covariance", "gram"])
@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [(23, 7), (7, 23)])
def test_apply_materialize_trace_and_root_are_those_of_the_dense_matrix(make, kind, dense, scale, weighted, shape):
    """A product, the formed matrix, the trace and the triangle all belong to one and the same matrix."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal(shape) * rng.uniform(0.5, 3.0, shape[1]) + rng.standard_normal(shape[1])
    weights = rng.integers(1, 4, shape[0]).astype(float) if weighted else None
    A = dense(_standardized(X, weights, scale=scale))
    operator = _operator(kind, make, X, weights, scale=scale)
    V = rng.standard_normal((operator.size, 3))
    product = operator.apply(from_host(V, like=operator.like()))
    tolerance = 1e-12 * np.linalg.norm(A)
    np.testing.assert_allclose(host(product.values), A @ V, atol=tolerance * 10)
    np.testing.assert_allclose(host(operator.materialize().matrix), A, atol=tolerance)
    assert operator.trace() == pytest.approx(np.trace(A), rel=1e-12)
    R = operator.root(from_host(V, like=operator.like()))
    np.testing.assert_allclose(R.T @ R, V.T @ A @ V, atol=tolerance * 10)


@pytest.mark.parametrize("make", parameters(SOURCES))
def test_the_way_back_gives_components_times_singular_values(make):
    """Xs'u over the singular value is an eigenvector of the d x d problem with the same eigenvalue (F6)."""
    X = np.random.default_rng(0).standard_normal((9, 20))
    operator = _operator(Gram, make, X, None, scale=False)
    values, U = np.linalg.eigh(host(operator.materialize().matrix))
    features = operator.to_features(from_host(np.ascontiguousarray(U[:, -3:]), like=operator.like()))
    Y = host(features.values)
    np.testing.assert_allclose(features.inner, Y.T @ Y, atol=1e-12 * values[-1])
    np.testing.assert_allclose(np.linalg.norm(Y, axis=0), np.sqrt(values[-3:]), rtol=1e-12)
    C = _standardized(X, None, scale=False)
    np.testing.assert_allclose(C.T @ (C @ Y), Y * values[-3:], atol=1e-10)


def test_a_root_keeps_digits_that_a_gram_matrix_loses():
    """A singular value of 1e-12 beside 1 survives the triangle and not the square."""
    rng = np.random.default_rng(1)
    U, _ = np.linalg.qr(rng.standard_normal((40, 2)) - rng.standard_normal((40, 2)).mean(axis=0))
    U, _ = np.linalg.qr(U - U.mean(axis=0))
    X = U * np.array([1.0, 1e-12])
    operator = _operator(Covariance, SOURCES["dense"], X, None, scale=False)
    s = np.linalg.svd(operator.root(np.eye(2)), compute_uv=False)
    assert s[1] == pytest.approx(1e-12, rel=1e-3)


def test_every_product_and_pass_is_counted():
    """Applications count the passes over the rows, whatever asked for them."""
    X = np.random.default_rng(0).standard_normal((30, 5))
    operator = _operator(Covariance, SOURCES["dense"], X, None, scale=False)
    operator.apply(np.eye(5))
    operator.root(np.eye(5))
    operator.materialize()
    assert operator.applications == 3


def test_float32_rows_are_multiplied_coarsely_only_when_allowed():
    """An accuracy of 1e-3 is met in float32, and without one the product is a float64 one."""
    X = np.random.default_rng(0).standard_normal((500, 40)).astype(np.float32)
    operator = _operator(Covariance, SOURCES["dense"], X, None, scale=False)
    V = np.random.default_rng(1).standard_normal((40, 4))
    exact = _standardized(X.astype(float), None, scale=False)
    truth = exact.T @ (exact @ V)
    coarse, fine = operator.apply(V, accuracy=1e-3), operator.apply(V)
    error = np.linalg.norm(coarse.values - truth) / np.linalg.norm(truth)
    assert 1e-10 < error < coarse.error < 1e-3
    assert np.linalg.norm(fine.values - truth) / np.linalg.norm(truth) < 1e-13


@pytest.mark.parametrize("kind", [Covariance, Gram])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("dtype, accuracy", [("float64", 1e-8), ("float32", 1e-8), ("float32", 1e-3)])
@pytest.mark.parametrize("shape, offset", [((700, 90), 0.0), ((90, 700), 3.0), ((300, 300), 50.0), ((700, 90), 900.0)])
def test_a_product_in_pieces_keeps_its_stated_error(kind, weighted, scale, dtype, accuracy, shape, offset):
    """However the mean is taken off, and in whichever precision, A V is within the error that comes with it."""
    rng = np.random.default_rng(shape[0])
    X = (rng.standard_normal(shape) + offset * rng.standard_normal(shape[1])).astype(dtype)
    weights = rng.integers(1, 4, shape[0]).astype(float) if weighted else None
    Xs = _standardized(X.astype(float), weights, scale=scale)
    A = Xs.T @ Xs if kind is Covariance else Xs @ Xs.T
    operator = _operator(kind, SOURCES["dense"], X, weights, scale=scale)
    V = np.asfortranarray(np.linalg.qr(rng.standard_normal((operator.size, 12)))[0])
    product = operator.apply(V, accuracy=accuracy)
    allowed = max(product.error, 1e-13) * np.linalg.norm(A, ord=2) * np.sqrt(12)
    assert product.values.dtype == np.float64
    assert np.linalg.norm(product.values - A @ V) <= allowed


@pytest.mark.parametrize("seed, shape, offset", [(0, (2000, 60), 300.0), (1, (500, 400), 100.0), (2, (400, 500), 30.0)])
def test_the_rounding_of_a_mean_costs_a_sum_over_rows_its_square_alone(seed, shape, offset):
    """Products about a float32 mean state an error far below the rounding of the mean, and keep it."""
    rng = np.random.default_rng(seed)
    X = (rng.standard_normal(shape) + offset * rng.standard_normal(shape[1])).astype(np.float32)
    operator = _operator(Covariance, SOURCES["dense"], X, None, scale=False)
    V = np.linalg.qr(rng.standard_normal((shape[1], 5)))[0]
    exact = _standardized(X.astype(float), None, scale=False)
    coarse = operator.apply(V, accuracy=1e-5)
    found = np.linalg.norm(coarse.values - exact.T @ (exact @ V), ord=2) / np.linalg.norm(exact, ord=2) ** 2
    assert found <= coarse.error <= 1e-5
    mean = X.astype(float).mean(axis=0)
    wrong = mean - mean.astype(np.float32)
    assert coarse.error < 8 * np.linalg.norm(wrong) * np.sqrt(shape[0]) / np.linalg.norm(exact)


@pytest.mark.parametrize("columns", [1, 9, 23])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scale", [False, True])
def test_sparse_float32_rows_are_multiplied_in_float64_as_exactly_as_dense_ones(monkeypatch, columns, weighted, scale):
    """The same product every time, in either precision."""
    monkeypatch.setattr(sparse, "PIECE", 30)
    rng = np.random.default_rng(6)
    X = (rng.standard_normal((60, 30)) * (rng.random((60, 30)) < 0.3)).astype(np.float32)
    weights = rng.uniform(0.5, 2.0, 60) if weighted else None
    A = CASES[0][1](_standardized(X.astype(float), weights, scale=scale))
    make = partial(SparseRows, n_blocks=2)
    operator = _operator(
        Covariance, lambda rows, weights: make(csr_array(rows), weights=weights), X, weights, scale=scale
    )
    V = rng.standard_normal((30, columns))
    for accuracy, error in [(1e-9, 1e-13), (1e-9, 1e-13), (1e-4, 1e-5), (1e-4, 1e-5)]:
        values = operator.apply(V, accuracy=accuracy).values
        np.testing.assert_allclose(values, A @ V, atol=error * np.linalg.norm(A) * np.linalg.norm(V))
