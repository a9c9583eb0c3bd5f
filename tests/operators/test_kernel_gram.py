"""The kernel operator against the dense matrix it stands for: every kernel, source, weight, precision and tile."""

import numpy as np
import pytest
import scipy.sparse as sp

from gramian.errors import NotSupportedError
from gramian.kernels import BlockKernel, ChiSquared, Cosine, Gaussian, Laplacian, Linear, Matern, Polynomial, Sigmoid
from gramian.operators import kernel_gram
from gramian.operators import kernel_gram as kernel_precision
from gramian.operators.kernel_gram import KernelGram
from gramian.sources.dense import DenseRows
from gramian.sources.sparse import SparseRows
from gramian.testing import SymmetricOperatorSuite
from tests.catalog import SOURCES, parameters

KERNELS = {
    "gaussian": Gaussian(0.2),
    "laplacian": Laplacian(0.1),
    "matern": Matern(1.5, 0.3),
    "linear": Linear(),
    "polynomial": Polynomial(3, 0.3, 1.0),
    "sigmoid": Sigmoid(0.05, 0.1),
    "cosine": Cosine(),
    "sum": Gaussian(0.2) + 0.5 * Linear(),
    "own": BlockKernel(lambda X, Y: np.exp(-np.abs(X @ Y.T - 1.0))),
}


def dense_matrix(kernel, X, weights=None, *, centered=True):
    """P D K D P by the definition, in float64."""
    K = kernel(X)
    w = np.ones(len(X)) if weights is None else weights
    if centered:
        C = np.eye(len(X)) - np.outer(np.ones(len(X)), w) / w.sum()
        K = C @ K @ C.T
    return np.sqrt(np.outer(w, w)) * K


def _rows(n, d, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def _tiles_of(monkeypatch, side):
    for module in (kernel_gram, kernel_precision):
        monkeypatch.setattr(module, "tile_rows", lambda n: min(n, side))


@pytest.fixture(autouse=True)
def _small_tiles(monkeypatch):
    """Many tiles, also for few rows."""
    _tiles_of(monkeypatch, 16)


class TestGaussianGram(SymmetricOperatorSuite):
    """The operator's contract, without weights."""

    def make_operator(self, seed):
        """Rows, and the centered matrix."""
        X = _rows(37 + seed, 4, seed)
        return KernelGram(DenseRows(X), Gaussian(0.3), origin=X.mean(axis=0)), dense_matrix(Gaussian(0.3), X)

    def test_size_and_type_are_declared(self):
        """The operator says its size and type, and has not been applied to find out."""
        operator, A = self.make_operator(0)
        assert (operator.size, operator.applications) == (len(A), 0)


class TestWeightedKeptGram(SymmetricOperatorSuite):
    """The same with weights, and with the tiles kept."""

    def make_operator(self, seed):
        """Weighted rows, and the centered, weighted matrix."""
        X, w = _rows(40, 3, seed), np.random.default_rng(seed).integers(0, 4, 40).astype(float)
        return KernelGram(DenseRows(X, weights=w), Matern(2.5, 0.4), keep=True), dense_matrix(Matern(2.5, 0.4), X, w)


@pytest.mark.parametrize("centered", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("kernel", parameters(KERNELS))
def test_every_kernel_is_the_dense_matrix(kernel, weighted, centered):
    """Product, matrix, trace, norm and row means are those of one matrix, for every kernel."""
    X = _rows(53, 4, 1)
    w = np.random.default_rng(2).integers(1, 4, 53).astype(float) if weighted else None
    A = dense_matrix(kernel, X, w, centered=centered)
    gram = KernelGram(DenseRows(X, weights=w), kernel, origin=X.mean(axis=0), centered=centered)
    V = _rows(53, 3, 5)
    scale = np.linalg.norm(kernel(X), 2) * (4 if weighted else 1)
    np.testing.assert_allclose(gram.apply(V).values, A @ V, atol=1e-12 * scale * 10)
    np.testing.assert_allclose(gram.materialize().matrix, A, atol=1e-13 * scale)
    np.testing.assert_allclose(gram.trace(), np.trace(A), atol=1e-12 * scale * 10)
    assert gram.sums.squares == pytest.approx(np.sum(A**2), rel=1e-9, abs=1e-10 * scale**2)
    # Means are those of the kernel on rows as the operator places them: moved to the origin for a centered linear one.
    moved = X - X.mean(axis=0) if gram.placed.moves else X
    shares = np.full(53, 1 / 53) if w is None else w / w.sum()
    np.testing.assert_allclose(gram.sums.centering.row_means, kernel(moved) @ shares, atol=1e-12 * scale)


@pytest.mark.parametrize("make", parameters(SOURCES))
@pytest.mark.parametrize("kernel", [Gaussian(0.1), Polynomial(2, 0.2, 1.0)])
def test_every_source_gives_the_same_matrix(make, kernel):
    """Dense of any layout, torch and sparse rows: one matrix."""
    X = _rows(45, 6, 3)
    X[np.abs(X) < 0.4] = 0.0
    gram = KernelGram(make(X), kernel, origin=X.mean(axis=0))
    V = _rows(45, 2, 1)
    np.testing.assert_allclose(gram.apply(V).values, dense_matrix(kernel, X) @ V, atol=1e-10)


def test_kept_tiles_give_the_same_product_to_the_last_bit():
    """Keeping tiles changes where they come from, and nothing else."""
    X, V = _rows(90, 5), _rows(90, 4, 1)
    kept, made = (KernelGram(DenseRows(X), Gaussian(0.2), keep=keep) for keep in (True, False))
    for _ in range(2):
        np.testing.assert_array_equal(kept.apply(V).values, made.apply(V).values)


@pytest.mark.parametrize("n", [40, 39, 33, 17])
@pytest.mark.parametrize("columns", [1, 7, 8, 15, 16])
def test_a_block_as_wide_as_the_last_tile_is_no_other_block(n, columns):
    """Whatever the shapes of tiles and vectors are, no buffer serves two of them at once."""
    X, V = _rows(n, 3), _rows(n, columns, 1)
    gram = KernelGram(DenseRows(X), Gaussian(0.2))
    truth = dense_matrix(Gaussian(0.2), X) @ V
    for _ in range(2):
        np.testing.assert_allclose(gram.apply(V).values, truth, atol=1e-12)


def test_tiles_are_made_once_a_product_or_once_in_all():
    """A counting kernel sees half of the pairs a product, and none once tiles are kept."""
    seen = []

    def counting(X, Y):
        seen.append(len(X) * len(Y))
        return X @ Y.T

    X, V = _rows(100, 3), _rows(100, 2)
    for keep, products in ((False, 2), (True, 1)):
        gram = KernelGram(DenseRows(X), BlockKernel(counting), keep=keep)
        gram.shift  # noqa: B018
        seen.clear()
        gram.apply(V)
        gram.apply(V)
        assert products * 100 * 101 / 2 <= sum(seen) <= products * (100 * 101 / 2 + 100 * 16)


@pytest.mark.parametrize("n", [400, 1500])
def test_single_precision_is_used_where_its_measured_error_allows(n, monkeypatch):
    """The error that comes with a float32 product covers the real one; a finer accuracy brings float64."""
    _tiles_of(monkeypatch, 256)
    X = _rows(n, 5, 4) * [3.0, 2.0, 1.0, 0.5, 0.3]
    kernel = Gaussian(0.05)
    A = dense_matrix(kernel, X)
    V = np.linalg.eigh(A)[1][:, -6:]
    coarse = KernelGram(DenseRows(X), kernel, origin=X.mean(axis=0), accuracy=1e-5).apply(V)
    actual = np.linalg.norm(coarse.values - A @ V, axis=0).max() / np.linalg.norm(A, 2)
    assert 1e-9 < actual <= coarse.error <= 1e-5
    fine = KernelGram(DenseRows(X), kernel, origin=X.mean(axis=0), accuracy=1e-9).apply(V)
    assert np.linalg.norm(fine.values - A @ V) / np.linalg.norm(A, 2) < 1e-13


def test_a_single_precision_product_worse_than_foreseen_is_made_again_in_double(monkeypatch):
    """What a product is wrong by is confirmed on the product itself, not on the sample's forecast alone."""
    X = _rows(300, 5, 4)
    kernel, V = Gaussian(0.05), np.linalg.qr(_rows(300, 3, 5))[0]
    gram, made = KernelGram(DenseRows(X), kernel, origin=X.mean(axis=0), accuracy=1e-4), KernelGram._products
    types = []

    def spoilt(self, vectors, dtype):
        types.append(dtype)
        values = made(self, vectors, dtype)
        return values + np.linalg.norm(values) * 1e-3 * _rows(*values.shape) if dtype == np.float32 else values

    monkeypatch.setattr(KernelGram, "_products", spoilt)
    A = dense_matrix(kernel, X)
    for _ in range(2):
        product = gram.apply(V)
        np.testing.assert_allclose(product.values, A @ V, atol=1e-12 * np.linalg.norm(A, 2))
        assert product.error < 1e-12
    assert types == [np.float32, np.float64, np.float64]
    # What rides along with a product that is not taken is not taken either.
    K = kernel(X)
    np.testing.assert_allclose(gram.sums.centering.row_means, K.mean(axis=0), rtol=1e-14)
    assert gram.trace() == pytest.approx(np.trace(A), rel=1e-13)


def test_a_product_that_is_not_a_number_is_made_again_in_double(monkeypatch):
    """The error of nan is not zero."""
    X = _rows(300, 5, 4)
    kernel, V = Gaussian(0.05), np.linalg.qr(_rows(300, 3, 5))[0]
    made = KernelGram._products
    monkeypatch.setattr(
        KernelGram, "_products", lambda self, V, dtype: made(self, V, dtype) * (np.nan if dtype == np.float32 else 1.0)
    )
    product = KernelGram(DenseRows(X), kernel, origin=X.mean(axis=0), accuracy=1e-4).apply(V)
    np.testing.assert_allclose(product.values, dense_matrix(kernel, X) @ V, atol=1e-12)


@pytest.mark.parametrize("n", [100, 900])
def test_values_beyond_the_range_of_float32_are_made_in_float64(n):
    """Few rows, whose float32 product is not foreseen, included."""
    X = 1e7 * _rows(n, 5, 4)
    kernel, V = Polynomial(3, 1.0, 1.0), np.linalg.qr(_rows(n, 3, 5))[0]
    product = KernelGram(DenseRows(X), kernel, accuracy=1e-4).apply(V)
    A = dense_matrix(kernel, X)
    np.testing.assert_allclose(product.values, A @ V, atol=1e-11 * np.linalg.norm(A, 2))
    assert product.error < 1e-12


@pytest.mark.parametrize("kernel", [Gaussian(0.3), Laplacian(0.3), Matern(0.5, 0.3), Linear()])
def test_an_offset_of_a_hundred_million_costs_the_rounding_of_the_input_alone(kernel):
    """Rows far from the origin give the matrix of the rows that the offset left, to rounding."""
    X = _rows(60, 4, 6)
    far = X + 1e8
    near = far - 1e8
    V = _rows(60, 2)
    gram = KernelGram(DenseRows(far), kernel, origin=far.mean(axis=0))
    np.testing.assert_allclose(gram.apply(V).values, dense_matrix(kernel, near) @ V, atol=1e-9)


def test_rows_that_a_kernel_cannot_take_are_refused():
    """Sparse rows and a kernel that needs dense ones."""
    rows = SparseRows(sp.csr_array(np.abs(_rows(20, 3))))
    with pytest.raises(NotSupportedError, match="sparse"):
        KernelGram(rows, ChiSquared(0.1)).apply(np.ones((20, 1)))
