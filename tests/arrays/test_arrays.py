"""Namespaces, precision and draws."""

import numpy as np
import pytest

from gramian.arrays.namespace import cast, dtype_of, from_host, gaussian, is_torch, namespace_of, to_host
from gramian.arrays.precision import FLOAT32, FLOAT64, rank_threshold, resolve_tolerance, squaring_floor
from gramian.arrays.squares import FEW_NUMBERS, add_squares, completed


def test_torch_goes_to_the_host_and_back():
    """A tensor keeps its library and type on the way back, and never becomes NumPy unasked."""
    torch = pytest.importorskip("torch")
    x = torch.ones((2, 3), dtype=torch.float32)
    assert is_torch(x)
    assert dtype_of(x) == FLOAT32
    back = from_host(to_host(x) * 2, like=x)
    assert is_torch(back)
    assert is_torch(cast(back, FLOAT64))
    assert namespace_of(x).__name__.endswith("torch")


@pytest.mark.parametrize("shape", [(3,), (4, 2)])
def test_draws_are_equal_on_every_library(shape):
    """The same seed gives the same numbers in NumPy and torch."""
    torch = pytest.importorskip("torch")
    here = gaussian(shape, seed=7, like=np.ones(1))
    there = gaussian(shape, seed=7, like=torch.ones(1, dtype=torch.float64))
    np.testing.assert_array_equal(here, to_host(there))


def test_tolerances_come_from_the_type_unless_given():
    """Zero means the house default; anything else is honored."""
    assert resolve_tolerance(0.0, FLOAT64) == 1e-10
    assert resolve_tolerance(0.0, FLOAT32) == 1e-6
    assert resolve_tolerance(1e-13, FLOAT32) == 1e-13


def test_thresholds_grow_with_the_size_and_the_rounding_of_the_input():
    """Rank is decided by the larger of both roundings; the squaring floor falls with the size to a limit."""
    assert rank_threshold(10, 99, 1e-16) == pytest.approx(1e-15)
    assert squaring_floor(10) > squaring_floor(100) > squaring_floor(10**6) == 1e-5


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("m", [1, 5, 300])
def test_sums_of_squares_fill_both_triangles(order, m):
    """Adding two blocks and mirroring gives rows'rows of both."""
    rng = np.random.default_rng(m)
    first, second = rng.standard_normal((7, m)), rng.standard_normal((9, m))
    total = add_squares(add_squares(None, np.asarray(first, order=order)), np.asarray(second, order=order))
    np.testing.assert_allclose(completed(total.matrix), first.T @ first + second.T @ second, atol=1e-12)


@pytest.mark.parametrize("m", [1, 63, 64, 65, 200, 700])
@pytest.mark.parametrize("order", ["C", "F"])
def test_the_lower_triangle_is_the_one_that_counts(m, order):
    """Whatever stands above the diagonal, and however many tiles there are, in either order of memory."""
    matrix = np.asarray(np.random.default_rng(m).standard_normal((m, m)), order=order)
    lower = np.tril(matrix)
    np.testing.assert_array_equal(completed(matrix), lower + np.tril(lower, -1).T)
    np.testing.assert_array_equal(matrix, matrix.T)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("n", [1, 60, 250, 5_000, 20_000])
def test_sums_of_squares_are_within_their_roundings(n, seed):
    """Whatever the values: columns of very different sizes, of one value, with an outlier, of any distribution."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 8))
    X = [
        rng.standard_normal((n, d)) * 10 ** rng.uniform(-9, 9, d),
        rng.choice([0.1, 0.7, 1e9], (n, d), p=[0.6, 0.39, 0.01]),
        np.full((n, d), 0.1 + seed),
        np.exp(20 * rng.standard_normal((n, d))),
    ][seed % 4]
    half = n if X.size <= FEW_NUMBERS else n // 2
    found = add_squares(None, X[:half])
    found = add_squares(found, X[half:]) if half < n else found
    exact = np.array([[(X[:, i].astype(np.longdouble) * X[:, j]).sum() for j in range(d)] for i in range(d)])
    norms = np.sqrt(np.diag(exact))
    assert found.depth == 2 if half == n else found.depth < n
    assert (np.abs(found.matrix - exact) <= found.depth * 2.0**-53 * np.outer(norms, norms)).all()


def test_columns_one_after_the_other_cross_as_they_are():
    """A matrix in Fortran's order arrives in it, with the same numbers: sorting it anew would take longer."""
    torch = pytest.importorskip("torch")
    A = np.asfortranarray(np.arange(12.0).reshape(3, 4))
    there = from_host(A, like=torch.ones(1))
    assert there.stride() == (1, 3)
    np.testing.assert_array_equal(there.numpy(), A)
