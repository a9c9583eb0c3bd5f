"""What must hold for every kernel: tiles, diagonals, types, and that it is a value."""

import pickle

import numpy as np
import pytest

from gramian.kernels import (
    BlockKernel,
    DataFacts,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    PointKernel,
    Polynomial,
    Precomputed,
    Sigmoid,
)
from tests.kernels.catalog import FLOAT32, FLOAT64, KERNELS, cauchy, histogram, rows

every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=repr)


def tile_of(kernel, X, Y, dtype=FLOAT64, **options):
    """One tile, prepared and evaluated."""
    return kernel.evaluate(kernel.prepare(X, dtype=dtype), kernel.prepare(Y, dtype=dtype), **options)


@every_kernel
@pytest.mark.parametrize("split", [1, 7, 70])
def test_tiles_are_pieces_of_the_matrix(kernel, split):
    """Whatever the blocks, the matrix is the same."""
    X = rows(90, 6, seed=0)
    blocks = [kernel.prepare(part, dtype=FLOAT64) for part in (X[:split], X[split:])]
    K = np.block([[kernel.evaluate(left, right) for right in blocks] for left in blocks])
    np.testing.assert_allclose(K, kernel(X), rtol=1e-12, atol=1e-14)


@every_kernel
def test_diagonal_is_that_of_the_matrix(kernel):
    """k(x, x), in float64, also for float32 rows."""
    X = rows(40, 5, seed=1)
    np.testing.assert_allclose(kernel.diagonal(X), np.diag(kernel(X)), rtol=1e-12)
    assert kernel.diagonal(X.astype(FLOAT32)).dtype == FLOAT64


@every_kernel
def test_matrix_is_symmetric(kernel):
    """To rounding; exactly on the diagonal tile of a function of two points."""
    K = kernel(rows(70, 8, seed=2))
    np.testing.assert_allclose(K, K.T, rtol=1e-13)


@every_kernel
@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT64], ids=str)
def test_tile_is_written_where_it_is_wanted(kernel, dtype):
    """Into ``out``, a piece of a larger array too, in the type asked for."""
    X, Y = rows(66, 4, seed=3), rows(20, 4, seed=4)
    whole = np.full((80, 30), -7.0, dtype=dtype)
    given = tile_of(kernel, X, Y, dtype, out=whole[:66, 5:25])
    assert np.shares_memory(given, whole)
    assert np.all(whole[66:] == -7.0)
    assert np.all(whole[:, :5] == -7.0)
    np.testing.assert_array_equal(given, tile_of(kernel, X, Y, dtype))


@every_kernel
@pytest.mark.parametrize("d, seed", [(3, 0), (50, 1)])
def test_float32_tile_is_near_the_float64_one(kernel, d, seed):
    """Within 3e-7 of the norm, and 2e-6 of the largest entry everywhere."""
    X, Y = rows(120, d, seed=seed), rows(100, d, seed=seed + 1)
    origin = X.mean(axis=0)
    kernel = kernel.resolved(DataFacts(d, 1.0, lambda: 1.0))
    tile, exact = (
        kernel.evaluate(*(kernel.prepare(side, dtype=dtype, origin=origin) for side in (X, Y)))
        for dtype in (FLOAT32, FLOAT64)
    )
    assert tile.dtype == FLOAT32
    assert np.linalg.norm(tile - exact) <= 3e-7 * np.linalg.norm(exact)
    assert np.abs(tile - exact).max() <= 2e-6 * np.abs(exact).max()


@every_kernel
def test_blocks_without_rows_or_with_one_are_tiles_too(kernel):
    """Shapes (0, b), (a, 0) and (1, 1)."""
    X = rows(5, 3, seed=5)
    assert tile_of(kernel, X[:0], X).shape == (0, 5)
    assert tile_of(kernel, X, X[:0]).shape == (5, 0)
    assert tile_of(kernel, X[:1], X[:1]).shape == (1, 1)
    assert kernel.diagonal(X[:0]).shape == (0,)


@every_kernel
def test_rows_are_left_as_they_were(kernel):
    """No kernel writes into the rows that it is given, in any order or type."""
    for X in (rows(20, 4, seed=6), np.asfortranarray(rows(20, 4, seed=6)), rows(20, 4, seed=6, dtype=FLOAT32)):
        before = X.copy()
        np.testing.assert_allclose(tile_of(kernel, X, X), kernel(before), rtol=2e-6)
        assert np.array_equal(X, before)


@pytest.mark.parametrize("kernel", [kernel for kernel in KERNELS if kernel.is_psd], ids=repr)
@pytest.mark.parametrize("n, d, seed", [(2, 1, 0), (60, 2, 1), (130, 30, 2)])
def test_known_kernels_are_positive_semidefinite(kernel, n, d, seed):
    """No eigenvalue below zero but for rounding, on random points."""
    values = np.linalg.eigvalsh(kernel(rows(n, d, seed=seed)))
    assert values[0] >= -n * 1e-15 * values[-1]


def test_what_is_not_known_to_be_positive_semidefinite_says_so():
    """A negative coef0, a degree that is not whole, tanh, and a user's function."""
    kernels = (Polynomial(coef0=-1), Polynomial(2.5), Sigmoid(), PointKernel(histogram), Linear() + Sigmoid())
    assert not any(kernel.is_psd for kernel in (*kernels, Gaussian() * Sigmoid(), 2 * Sigmoid(), Precomputed()))


@every_kernel
def test_shift_is_seen_where_it_is_said_to_be(kernel):
    """K, or H K H, stays the same under a shift exactly for the kernels that say so; of one's own nothing is known."""
    X = rows(40, 3, seed=7)
    plain, moved = (tile_of(kernel, Z, Z) for Z in (X, X + 1.0))
    own = isinstance(kernel, (BlockKernel, PointKernel))
    assert own or np.allclose(plain, moved, rtol=1e-9) == kernel.shift_invariant
    centered = [K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean() for K in (plain, moved)]
    same = np.allclose(*centered, rtol=0, atol=1e-9 * np.abs(plain).max())
    assert own or same == kernel.shift_invariant_centered


@every_kernel
def test_kernel_is_a_value(kernel):
    """It pickles, compares, hashes, and cannot be changed."""
    again = pickle.loads(pickle.dumps(kernel))
    assert again == kernel
    assert hash(again) == hash(kernel)
    assert repr(again) == repr(kernel)
    assert kernel != Gaussian(123.0)
    field = next(iter(kernel.__dataclass_fields__), "name")
    with pytest.raises(AttributeError):
        setattr(kernel, field, 1)


@pytest.mark.parametrize(
    "kernel, text",
    [
        (Gaussian(sigma=1.0), "Gaussian(gamma=0.5)"),
        (Gaussian(np.float32(0.5)), "Gaussian(gamma=0.5)"),
        (Laplacian("median"), "Laplacian(gamma='median')"),
        (Matern(2.5, length_scale=1), "Matern(nu=2.5, gamma=0.5)"),
        (Polynomial(2.0), "Polynomial(degree=2, gamma=None, coef0=1.0)"),
        (Linear() + 2 * Linear() * Gaussian(1), "Linear() + (2.0 * Linear()) * Gaussian(gamma=1.0)"),
        (2 * (Linear() + Gaussian(1)), "2.0 * (Linear() + Gaussian(gamma=1.0))"),
        (PointKernel(histogram, psd=True), "PointKernel(histogram, psd=True)"),
        (BlockKernel(cauchy, {"scale": 2}, sparse=True), "BlockKernel(cauchy, parameters={'scale': 2}, sparse=True)"),
    ],
)
def test_kernel_prints_as_it_is_written(kernel, text):
    """A kernel shows its parameters; a combination shows itself as a formula."""
    assert repr(kernel) == text


def test_torch_rows_give_the_same_numbers():
    """Kernels that are products and functions of entries follow the array's library."""
    torch = pytest.importorskip("torch")
    X = rows(30, 4, seed=8)
    for kernel in KERNELS[:9]:
        if isinstance(kernel, Laplacian):
            continue
        ours = kernel(torch.asarray(X))
        assert isinstance(ours, torch.Tensor)
        np.testing.assert_allclose(ours.numpy(), kernel(X), rtol=1e-7)
        np.testing.assert_allclose(kernel.diagonal(torch.asarray(X)), kernel.diagonal(X), rtol=1e-12)
