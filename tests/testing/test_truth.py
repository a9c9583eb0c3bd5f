import numpy as np
import pytest

from gramian.testing import centered, jacobi_svd, mpmath_singular_values, orthonormality_error, singular_values
from tests.catalog import HARD, SHAPES


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("n, d", [(20, 8), (8, 20), (10, 10)])
@pytest.mark.parametrize("name", HARD)
def test_long_double_agrees_with_mpmath(name, n, d, center):
    """Two independent ways to more digits than float64 agree to nearly all of long double's."""
    X = HARD[name](n, d) + 0.25
    fast, slow = singular_values(X, center=center), mpmath_singular_values(X, center=center)
    assert np.abs(fast - slow).max() <= 2e-18 * slow[0]


def test_a_mean_of_1e8_costs_no_digit():
    """The centered values of shifted rows are right to the digits of their spread."""
    X = np.random.default_rng(0).standard_normal((15, 5)) + 1e8
    fast, slow = singular_values(X), mpmath_singular_values(X)
    assert np.abs(fast - slow).max() <= 1e-17 * slow[0]


@pytest.mark.parametrize("shape", SHAPES.values())
def test_vectors_belong_to_the_values(shape):
    """|A v| is the singular value, and the vectors are orthonormal."""
    A = centered(np.random.default_rng(1).standard_normal(shape))[:, : shape[1]]
    s, V = jacobi_svd(A)
    live = s > 1e-15 * s[0]
    np.testing.assert_allclose(np.sqrt(((A @ V[:, live]) ** 2).sum(axis=0)), s[live], rtol=1e-16)
    assert orthonormality_error(V[:, live]) <= 1e-14
    assert (np.diff(s) <= 0).all()


@pytest.mark.parametrize("d", [1, 2, 3])
def test_small_and_empty_problems(d):
    """One column, zeros, and odd numbers of columns come out."""
    np.testing.assert_array_equal(singular_values(np.ones((4, d))), np.zeros(d))
    assert singular_values(3 * np.eye(4)[:, :d], center=False).tolist() == [3.0] * d
