import numpy as np
import pytest
import scipy.sparse as sp

from gramian.sources.dense import DenseRows
from gramian.sources.sparse import SparseRows
from gramian.unmixing.contrast import Cube, Exp, LogCosh, Own
from gramian.unmixing.white_rows import WhiteRows, thinned

RNG = np.random.default_rng(0)
X = RNG.laplace(size=(500, 4)) @ RNG.standard_normal((4, 4)) + 3.0
K = RNG.standard_normal((3, 4))
W = RNG.standard_normal((3, 3))


def _white(source, mean=None):
    return WhiteRows(source, K, X.mean(axis=0) if mean is None else mean, np.eye(3))


def _direct(weights=None):
    """The means by their definition."""
    w = np.ones(500) if weights is None else weights
    z = (X - X.mean(axis=0)) @ K.T
    s = z @ W.T
    psi, slope = np.tanh(s), 1 - np.tanh(s) ** 2
    total = w.sum()
    return (psi.T * w) @ s / total, w @ slope / total, (psi.T * w) @ z / total


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("block_rows", [1, 7, 64, 500])
def test_means_are_those_of_the_definition(block_rows, weighted):
    """One pass gives all means, for any block size, with and without weights."""
    weights = np.arange(500.0) % 3 if weighted else None
    rows = _white(DenseRows(X, block_rows=block_rows, weights=weights))
    cross, slope, against = _direct(weights)
    found = rows.score_moments(W, LogCosh())
    np.testing.assert_allclose(found.cross, cross, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(found.slope, slope, rtol=1e-11)
    np.testing.assert_allclose(rows.score_moments(W, LogCosh(), against_z=True).cross, against, atol=1e-10)


def test_sparse_rows_stay_sparse_and_give_the_same():
    """CSR rows are centered by a correction, never filled."""
    found = _white(SparseRows(sp.csr_array(X))).score_moments(W, LogCosh())
    np.testing.assert_allclose(found.cross, _direct()[0], rtol=1e-10, atol=1e-11)
    against = _white(SparseRows(sp.csr_array(X))).score_moments(W, LogCosh(), against_z=True)
    np.testing.assert_allclose(against.cross, _direct()[2], atol=1e-10)


def test_a_large_mean_costs_no_digits():
    """Rows far from zero are centered before they are multiplied."""
    far = X + 2.0**27
    rows = WhiteRows(DenseRows(far), K, far.mean(axis=0), np.eye(3))
    z = (far - far.mean(axis=0)) @ K.T
    s = z @ W.T
    np.testing.assert_allclose(rows.score_moments(W, LogCosh()).cross, np.tanh(s).T @ s / 500, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("block_rows", [3, 64, 500])
def test_a_sample_does_not_depend_on_blocks(block_rows):
    """One row of each run of five by position, whatever the blocks; its weight comes along."""
    weights = np.arange(500.0) % 3
    taken = _white(DenseRows(X, block_rows=block_rows, weights=weights)).sampled(100)
    z = (X - X.mean(axis=0)) @ K.T
    places = thinned(500, 5)
    np.testing.assert_array_equal(places // 5, np.arange(100))
    np.testing.assert_allclose(taken.source.array, z[places], atol=1e-12)
    np.testing.assert_array_equal(taken.source.weights, weights[places])


@pytest.mark.parametrize("most", [30, 99])
def test_a_sample_of_sparse_and_foreign_rows_is_that_of_dense_ones(most):
    """CSR rows and tensors, in blocks that end inside of a run."""
    torch = pytest.importorskip("torch")
    dense = _white(DenseRows(X)).sampled(most).source.array
    assert len(dense) == -(-500 // -(-500 // most))
    np.testing.assert_allclose(_white(SparseRows(sp.csr_array(X))).sampled(most).source.array, dense, atol=1e-12)
    tensor = _white(DenseRows(torch.asarray(X), block_rows=3)).sampled(most).source.array
    np.testing.assert_allclose(tensor.numpy(), dense, atol=1e-12)


def test_a_sample_sees_every_phase_of_rows_that_repeat():
    """Rows of period ten, thinned by ten: a tenth of the sample at each phase, and two shifts share no row."""
    places = thinned(100_000, 10)
    np.testing.assert_allclose(np.bincount(places % 10) / 10_000, 0.1, atol=0.012)
    assert not np.intersect1d(places, thinned(100_000, 10, shift=5)).size


@pytest.mark.parametrize("block_rows", [7, 500])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_in_single_precision_give_the_same_means_to_their_rounding(block_rows, weighted):
    """Held in float32; weights come along."""
    weights = np.arange(500.0) % 3 if weighted else None
    single = _white(DenseRows(X, block_rows=block_rows, weights=weights)).in_memory(np.dtype(np.float32))
    assert single.source.array.dtype == single.dtype == np.float32
    found = single.score_moments(W, LogCosh())
    np.testing.assert_allclose(found.cross, _direct(weights)[0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found.slope, _direct(weights)[1], rtol=1e-5)
    np.testing.assert_allclose(single.sampled(100).source.array, single.source.array[thinned(500, 5)], rtol=1e-6)


def test_sparse_and_foreign_rows_in_single_precision():
    """The same numbers from CSR rows and tensors."""
    torch = pytest.importorskip("torch")
    single = np.dtype(np.float32)
    dense = _white(DenseRows(X)).in_memory(single).source.array
    sparse = _white(SparseRows(sp.csr_array(X))).in_memory(single).source.array
    np.testing.assert_allclose(sparse, dense, rtol=1e-5, atol=1e-6)
    tensor = _white(DenseRows(torch.asarray(X), block_rows=70)).in_memory(single).source.array
    assert tensor.dtype == torch.float32
    np.testing.assert_allclose(tensor.numpy(), dense, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("contrast", [LogCosh(1.5), Exp(), Cube(), Own(lambda x: (x**3, (3 * x**2).mean(axis=-1)))])
def test_moments_of_turns_are_those_of_the_definition(contrast, weighted):
    """E[psi(s) s], E[psi'(s)] and E[psi'(s_i) s_j^2], from blocks; a function of one's own gives psi alone."""
    weights = np.arange(500.0) % 3 if weighted else None
    w = np.ones(500) if weights is None else weights
    found = _white(DenseRows(X, block_rows=64, weights=weights)).turn_moments(W, contrast)
    s = (X - X.mean(axis=0)) @ K.T @ W.T
    psi, slope = (Cube() if isinstance(contrast, Own) else contrast).evaluate(s)
    np.testing.assert_allclose(found.along, w @ (psi * s) / w.sum(), rtol=1e-7)
    np.testing.assert_allclose(found.slope, w @ slope / w.sum(), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(found.squares, (slope.T * w) @ s**2 / w.sum(), rtol=1e-7, atol=1e-9)


def test_torch_rows_give_the_same():
    """Tensors stay tensors in the pass; means come to the host."""
    torch = pytest.importorskip("torch")
    rows = _white(DenseRows(torch.asarray(X)))
    np.testing.assert_allclose(rows.score_moments(W, LogCosh()).cross, _direct()[0], rtol=1e-10, atol=1e-11)
