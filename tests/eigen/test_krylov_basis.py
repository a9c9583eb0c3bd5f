"""The identity that a block Krylov basis keeps, A V = V T + R B', after every start, expansion and shrink."""

import numpy as np
import pytest

from gramian.eigen.krylov_basis import KrylovBasis
from gramian.eigen.orthonormal import orthonormalized
from gramian.testing import symmetric_with_spectrum

DTYPES = [np.dtype(np.float32), np.dtype(np.float64)]
BLOCKS = [1, 2, 5]


def started(A, block, dtype, *, capacity=60, seed=0):
    """Return a basis of one Gaussian block."""
    basis = KrylovBasis(capacity, dtype, like=np.empty((len(A), 1)))
    draw = np.random.default_rng(seed).standard_normal((len(A), block))
    expand(basis, A, orthonormalized(draw.astype(dtype)))
    return basis


def expand(basis, A, directions=None, **options):
    """Expand by the directions ahead, or by others, with products in the basis's precision."""
    directions = basis.R if directions is None else directions
    basis.expand(directions, A.astype(directions.dtype) @ directions, **options)


def assert_holds(basis, A, *, units=200, columns=slice(None)):
    """Check the identity and the orthonormality of V and R, to some units of rounding of the basis's precision."""
    tol, scale = units * np.finfo(basis.V.dtype).eps, np.linalg.norm(A, 2) or 1.0
    V, W, R = (part.astype(float) for part in (basis.V, basis.W, basis.R))
    p, b = V.shape[1], R.shape[1]
    assert (basis.T.shape, basis.B.shape) == ((p, p), (p, b))
    both = np.hstack([V, R])
    assert np.abs(both.T @ both - np.eye(p + b)).max() <= tol
    assert np.abs(W - A @ V).max() <= tol * scale
    assert np.abs(basis.T - V.T @ A @ V).max() <= tol * scale
    np.testing.assert_array_equal(basis.T, basis.T.T)
    left = A @ V - V @ basis.T - R @ basis.B.T
    assert np.linalg.norm(left[:, columns], axis=0).max(initial=0.0) <= tol * scale


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", ["geometric", "noise", "indefinite"])
def test_the_identity_holds_after_every_step(name, dtype, block):
    """It holds from the start through expansions, thick restarts, and expansions after them."""
    lam = {"geometric": 0.9 ** np.arange(120), "noise": np.linspace(1, 0.5, 120), "indefinite": np.linspace(1, -2, 120)}
    A, _ = symmetric_with_spectrum(lam[name], seed=block)
    basis = started(A, block, dtype)
    assert_holds(basis, A)
    for _ in range(3):
        while basis.columns + basis.R.shape[1] <= 40:
            expand(basis, A)
            assert_holds(basis, A)
        basis.shrink(basis.ritz().leading(12))
        assert basis.columns == 12
        assert_holds(basis, A)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("block", [3, 5])
def test_a_block_that_loses_rank_leaves_fewer_directions_ahead(dtype, block):
    """A map of rank 4 leads nowhere from the third block on: R has no columns, or what rounding made of none."""
    A, _ = symmetric_with_spectrum(np.concatenate([[3.0, 2.7, 1.4, 0.5], np.zeros(46)]), seed=0)
    basis = started(A, block, dtype)
    widths = []
    while np.linalg.norm(basis.B) > 200 * np.finfo(dtype).eps * np.linalg.norm(A, 2):
        widths.append(basis.R.shape[1])
        expand(basis, A)
        assert_holds(basis, A)
    assert widths == ([3, 1] if block == 3 else [4])
    basis.shrink(basis.ritz().leading(3))
    assert_holds(basis, A)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("block", BLOCKS)
def test_the_whole_space_can_be_exhausted(dtype, block):
    """When the basis spans everything nothing lies ahead, and the Ritz values are the eigenvalues."""
    lam = np.linspace(2.0, 1.0, 12)
    A, _ = symmetric_with_spectrum(lam, seed=1)
    basis = started(A, block, dtype, capacity=12)
    while not basis.is_whole:
        expand(basis, A)
        assert_holds(basis, A)
    assert basis.R.shape == (12, 0)
    np.testing.assert_allclose(basis.ritz().values, lam, rtol=200 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_along_other_directions_it_holds_for_the_new_columns(dtype):
    """A random search leaves the way that the basis offers; W = A V and T = V'A V stay true of all columns."""
    A, _ = symmetric_with_spectrum(0.9 ** np.arange(80), seed=2)
    basis = started(A, 4, dtype)
    for _ in range(4):
        expand(basis, A)
    basis.shrink(basis.ritz().leading(6))
    draw = np.random.default_rng(5).standard_normal((80, 3)).astype(dtype)
    expand(basis, A, orthonormalized(draw, basis.V), trusted=6)
    assert_holds(basis, A, columns=slice(6, None))
    expand(basis, A)
    assert_holds(basis, A, columns=slice(6, None))


def test_columns_that_do_not_lead_on_are_left_out():
    """Known eigenvectors at the start add nothing: the directions ahead are those of the other columns."""
    A, vectors = symmetric_with_spectrum(0.9 ** np.arange(60), seed=3)
    known = np.ascontiguousarray(vectors[:, :5])
    draw = orthonormalized(np.random.default_rng(0).standard_normal((60, 2)), known)
    basis = KrylovBasis(30, np.dtype(float), like=known)
    expand(basis, A, np.hstack([known, draw]), skip=5)
    assert basis.R.shape[1] == 2
    assert_holds(basis, A)
    expand(basis, A)
    assert_holds(basis, A)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_residuals_are_measured_and_estimated_alike(dtype):
    """|W s - theta V s| is the residual of the true matrix, and |B's| says the same without a long vector."""
    A, _ = symmetric_with_spectrum(0.8 ** np.arange(90), seed=4)
    basis = started(A, 3, dtype)
    for _ in range(5):
        expand(basis, A)
    pairs = basis.ritz().leading(6)
    V = basis.vectors(pairs)
    assert V.dtype == np.float64
    exact = np.linalg.norm(A @ V - V * pairs.values, axis=0)
    for found in (basis.residuals(pairs), basis.estimates(pairs)):
        np.testing.assert_allclose(found, exact, atol=200 * np.finfo(dtype).eps)


def test_added_directions_leave_open_what_lies_ahead():
    """A method that finds its own directions has W = A V and T = V'A V, and no R."""
    A, _ = symmetric_with_spectrum(0.9 ** np.arange(60), seed=7)
    basis = KrylovBasis(30, np.dtype(float), like=np.empty((60, 1)))
    rng = np.random.default_rng(0)
    for _ in range(3):
        directions = orthonormalized(rng.standard_normal((60, 4)), basis.V)
        basis.add(directions, A @ directions)
        assert (basis.R.shape[1], basis.B.shape) == (0, (basis.columns, 0))
        assert_holds(basis, A, columns=slice(0, 0))
    basis.shrink(basis.ritz().leading(5))
    assert_holds(basis, A, columns=slice(0, 0))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_tensors_of_torch_keep_it_too(dtype):
    """The basis lives in the library of its vectors."""
    torch = pytest.importorskip("torch")
    A, _ = symmetric_with_spectrum(0.9 ** np.arange(50), seed=6)
    matrix = torch.from_numpy(A.astype(dtype))
    draw = torch.from_numpy(np.random.default_rng(0).standard_normal((50, 4)).astype(dtype))
    basis = KrylovBasis(30, dtype, like=draw)
    directions = orthonormalized(draw)
    for _ in range(4):
        basis.expand(directions, matrix @ directions)
        directions = basis.R
    basis.shrink(basis.ritz().leading(8))
    V, T, R = basis.V.numpy().astype(float), basis.T, basis.R.numpy()
    tol = 200 * np.finfo(dtype).eps
    assert np.abs(A @ V - V @ T - R @ basis.B.T).max() <= tol
    assert np.abs(V.T @ V - np.eye(8)).max() <= tol
