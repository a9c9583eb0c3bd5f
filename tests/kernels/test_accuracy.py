"""How many digits are right: far from the origin, in float32, near zero and near overflow."""

import mpmath
import numpy as np
import pytest
from scipy import sparse

from gramian.errors import InputError
from gramian.kernels import ChiSquared, Cosine, Gaussian, Laplacian, Linear, Matern, Polynomial
from tests.kernels.catalog import FLOAT32, FLOAT64

INVARIANT = [Gaussian(0.02), Laplacian(0.02), Matern(0.5, 0.02), Matern(1.5, 0.02), Matern(2.5, 0.02)]


def tile_of(kernel, X, Y, dtype, origin=None):
    """One tile, prepared and evaluated."""
    return kernel.evaluate(*(kernel.prepare(side, dtype=dtype, origin=origin) for side in (X, Y)))


@pytest.mark.parametrize("kernel", INVARIANT, ids=repr)
@pytest.mark.parametrize("seed", [0, 1])
def test_offset_costs_only_the_rounding_of_the_input(kernel, seed):
    """At offset 1e8 the tile is that of the rows as they were rounded, whether the caller shifts or the kernel."""
    rng = np.random.default_rng(seed)
    far = rng.standard_normal((80, 12)) + 1e8
    Y = far[:30]
    near = far - 1e8  # exact: what the rounding left of the rows
    expected = tile_of(kernel, near, near[:30], FLOAT64)
    mean = far.mean(axis=0)
    by_caller = tile_of(kernel, far - mean, Y - mean, FLOAT64)
    np.testing.assert_allclose(by_caller, expected, rtol=1e-12)
    np.testing.assert_allclose(tile_of(kernel, far, Y, FLOAT64, origin=mean), expected, rtol=1e-12)
    np.testing.assert_allclose(kernel(far, Y), expected, rtol=1e-12)
    np.testing.assert_allclose(tile_of(kernel, far, Y, FLOAT32, origin=mean), expected, rtol=3e-6)


def test_invariant_parts_of_a_sum_are_shifted_and_the_others_are_not():
    """The origin serves the Gaussian beside a polynomial that counts from zero."""
    rng = np.random.default_rng(2)
    far = rng.standard_normal((30, 5)) + 1e5
    kernel = Gaussian(0.1) * Polynomial(2, 1e-10)
    expected = Gaussian(0.1)(far - 1e5) * Polynomial(2, 1e-10)(far)
    np.testing.assert_allclose(kernel(far), expected, rtol=1e-10)
    np.testing.assert_allclose(tile_of(kernel, far, far, FLOAT64, origin=far.mean(axis=0)), expected, rtol=1e-10)


@pytest.mark.parametrize("d, gamma", [(5, 0.1), (50, 0.01), (50, 0.05), (200, 0.01), (50, 1.0)])
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT64], ids=str)
def test_exponent_of_the_gaussian_is_as_accurate_as_is_said(d, gamma, seed, dtype):
    """A few eps gamma max|x|^2 in the mean square; at worst the sqrt(d) growth of a sum of d + 2 rounded products.

    The worst case is the probabilistic bound sqrt(m) u sum|terms| of Higham and Mary (2019) with m = d + 2, u = eps/2
    and terms that sum to 4 gamma|x|^2 in size; the exponential adds one eps of its own.
    """
    X = np.random.default_rng(seed).standard_normal((200, d))
    difference = X[:, None].astype(np.longdouble) - X
    exact = -gamma * (difference**2).sum(axis=2)
    size = max(1.0, gamma * (X**2).sum(axis=1).max())
    seen = exact > -80  # Further out float32 has no number for the exponential.
    found = np.log(tile_of(Gaussian(gamma), X, X, dtype)[seen].astype(np.longdouble))
    error = (found - exact[seen]).astype(FLOAT64) / (np.finfo(dtype).eps * size)
    assert np.sqrt((error**2).mean()) <= 2.0
    assert np.abs(error).max() <= 2.0 * np.sqrt(d + 2) + 1.0


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
@pytest.mark.parametrize("dtype, rtol", [(FLOAT32, 4e-6), (FLOAT64, 1e-12)], ids=str)
@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_array])
def test_matern_of_rows_that_nearly_meet(nu, dtype, rtol, as_rows):
    """Pairs down to 1e-6 of their length apart: the root of a difference of squares would lose half of the digits."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((70, 6)).astype(FLOAT32).astype(FLOAT64)
    steps = np.logspace(-6, 0, 70)[:, None] * rng.standard_normal((70, 6))
    Y = (X + steps).astype(FLOAT32).astype(FLOAT64)
    kernel = Matern(nu, 0.5)
    t = np.sqrt(2 * nu) * np.sqrt(((X - Y) ** 2).sum(axis=1))
    exact = {0.5: 1.0, 1.5: 1 + t, 2.5: 1 + t + t * t / 3}[nu] * np.exp(-t)
    found = np.diag(tile_of(kernel, as_rows(X), as_rows(Y), dtype))
    np.testing.assert_allclose(found, exact, rtol=rtol)


def test_matern_of_a_crowd_of_equal_rows_is_one():
    """Equal rows far from the origin: every pair is taken again from its difference."""
    X = np.tile(np.random.default_rng(4).standard_normal(20) * 100.0, (300, 1))
    for dtype in (FLOAT32, FLOAT64):
        assert np.array_equal(tile_of(Matern(0.5, 1.0), X, X, dtype), np.ones((300, 300)))


def test_chi_squared_in_higher_precision():
    """Shares of very different sizes, zeros among them, against 50 digits."""
    rng = np.random.default_rng(5)
    X = 10.0 ** rng.uniform(-12, 2, (6, 9)) * (rng.uniform(size=(6, 9)) < 0.8)
    with mpmath.workdps(50):
        for i, j in np.ndindex(6, 6):
            pairs = [(mpmath.mpf(float(a)), mpmath.mpf(float(b))) for a, b in zip(X[i], X[j], strict=True) if a + b > 0]
            exact = float(mpmath.exp(-sum((a - b) ** 2 / (a + b) for a, b in pairs) / 10))
            assert ChiSquared(0.1)(X)[i, j] == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("dtype, tiny", [(FLOAT32, 2e-38), (FLOAT64, 1e-307)], ids=str)
@pytest.mark.parametrize("kernel", [Gaussian(1.0), Laplacian(1.0), Matern(0.5, 1.0), ChiSquared(1.0)], ids=repr)
def test_far_pairs_neither_underflow_nor_raise(kernel, dtype, tiny):
    """What would be zero is the smallest normal number: subnormal numbers make every product slow."""
    X = np.array([[0.0, 0.0], [0.0, 1.0], [3000.0, 4000.0]])
    with np.errstate(all="raise"):
        K = tile_of(kernel, X, X, dtype)
    assert np.array_equal(np.diag(K), np.ones(3))
    assert 0 < K[0, 2] <= tiny


@pytest.mark.parametrize("kernel", [*INVARIANT, Gaussian(3.0), ChiSquared(2.0)], ids=repr)
def test_a_row_meets_itself_at_exactly_one(kernel):
    """In the tile of a block with itself, and no other entry is above one, equal rows among them."""
    X = np.abs(np.random.default_rng(6).standard_normal((150, 7))) + 5.0
    X[100:] = X[:50]
    for dtype in (FLOAT32, FLOAT64):
        ready = kernel.prepare(X, dtype=dtype)
        tile = kernel.evaluate(ready, ready)
        assert np.array_equal(np.diag(tile), np.ones(150))
        assert tile.max() == 1.0
    assert np.array_equal(np.diag(kernel(X)), np.ones(150))


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_cosine_does_not_depend_on_the_size_of_rows(size):
    """Squares of such numbers leave the range of float64."""
    X = np.random.default_rng(7).standard_normal((10, 4))
    np.testing.assert_allclose(Cosine()(X * size), Cosine()(X), rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(Cosine()(sparse.csr_array(X * size)), Cosine()(X), rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_overflow_of_a_polynomial_is_named_before_any_tile(make):
    """The sentence says which power of what, in which type, and what to do."""
    X = make(np.array([[1.0, 1.0], [1e20, 0.0]]))
    with pytest.raises(InputError, match=r"\(gamma x\.x \+ coef0\)\^10 overflows float64 for row 1.*lower the degree"):
        Polynomial(10, 1.0)(X)
    with pytest.raises(InputError, match=r"overflows float32.*Rescale the columns or lower the degree"):
        Polynomial(2, 1.0).prepare(X, dtype=FLOAT32)
    assert np.isfinite(Polynomial(2, 1.0)(X)).all()
    with pytest.raises(InputError, match="overflows float64"):
        Linear()(make(np.array([[1e200]])))


def test_largest_powers_that_fit_are_given():
    """The bound is not timid: k(x, x) just inside the range is computed."""
    X = np.array([[1e10], [-9e9]])
    assert np.isfinite(Polynomial(15, 1.0, 0.0)(X)).all()
    with pytest.raises(InputError, match="lower the degree"):
        Polynomial(16, 1.0, 0.0)(X)


def test_distances_beyond_the_type_are_refused():
    """A row whose scaled square overflows has no exponent."""
    with pytest.raises(InputError, match=r"Row 1 of a block is so far.*overflows float64"):
        Gaussian(1.0).prepare(np.array([[0.0], [1e200]]), dtype=FLOAT64)
    with pytest.raises(InputError, match="overflows float32"):
        Gaussian(1.0).prepare(np.array([[0.0], [1e25]]), dtype=FLOAT32)
